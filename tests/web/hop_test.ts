/**
 * What one hop's worker can do, with a scope that the policy never saw.
 */
import assert from "node:assert/strict";
import { classifyAddress } from "../../src/policy/web.ts";
import type { HopScope } from "../../src/policy/types.ts";
import { placeOf } from "../../src/sandbox/_web_guard.ts";
import { type HopRequest, Sandbox } from "../../src/sandbox/pool.ts";
import { startWeb } from "../helpers/web_server.ts";

const request: HopRequest = {
  method: "GET",
  headers: {},
  firstByteTimeout: 2_000,
  timeout: 4_000,
  maxWire: 1_000,
  maxBody: 1_000,
};

function scopeOf(port: number, over: Partial<HopScope> = {}, net = [`127.0.0.1:${port}`]): HopScope {
  return {
    permissions: { read: [], write: [], run: [], env: [], net },
    url: `http://127.0.0.1:${port}/`,
    host: "127.0.0.1",
    port,
    addresses: ["127.0.0.1"],
    opened: ["127.0.0.1"],
    ...over,
  };
}

function sandboxOf(inherit = false): Sandbox & Disposable {
  const sandbox = new Sandbox({ worktree: Deno.cwd(), inherit });
  return Object.assign(sandbox, { [Symbol.dispose]: () => sandbox.close() });
}

Deno.test("the worker reaches the address that it was made for", async () => {
  await using web = startWeb({ "/": "yes" });
  using sandbox = sandboxOf();
  const answer = await sandbox.hop(scopeOf(web.port), request, {});
  assert.equal(answer.status, 200);
  assert.equal(answer.type, "text/html");
  assert.equal(new TextDecoder().decode(answer.body), "yes");
});

Deno.test("the worker's permissions alone stop a scope that names another address or port", async () => {
  await using web = startWeb({ "/": "no" });
  using sandbox = sandboxOf();
  for (const net of [["127.0.0.1:1"], ["127.0.0.3:" + web.port], []]) {
    await assert.rejects(sandbox.hop(scopeOf(web.port, {}, net), request, {}), /./);
  }
  assert.deepEqual(web.paths(), []);
});

Deno.test("the guard alone stops what the scope does not open", async () => {
  await using web = startWeb({ "/": "no" });
  using sandbox = sandboxOf(true);
  const port = web.port;
  for (
    const over of [
      { opened: [] },
      { opened: ["127.0.0.2"] },
      { addresses: [], opened: "all" as const },
      { url: `http://127.0.0.1:${port + 1}/` },
      { url: `http://user@127.0.0.1:${port}/` },
      { url: `ftp://127.0.0.1:${port}/` },
      { host: "example.com" },
      { url: `http://8.8.8.8:${port}/`, host: "8.8.8.8", opened: "all" as const },
      { url: `http://a.example:${port}/`, host: "a.example", opened: [] },
      { url: `http://a.example:${port}/`, host: "a.example", addresses: ["::ffff:127.0.0.1"], opened: [] },
      { url: `http://a.example:${port}/`, host: "a.example", addresses: ["nonsense"], opened: ["nonsense"] },
    ]
  ) {
    await assert.rejects(sandbox.hop(scopeOf(port, over), request, {}), /^ToolError: Cannot ask for /);
  }
  assert.deepEqual(web.paths(), []);
});

Deno.test("a worker is kept for the same addresses and ended with the sandbox", async () => {
  await using web = startWeb({ "/": "x" });
  const sandbox = sandboxOf();
  for (let i = 0; i < 3; i++) await sandbox.hop(scopeOf(web.port), request, {});
  sandbox.close();
  // A closed sandbox makes new workers; what is left open would fail this test's sanitizers.
  await sandbox.hop(scopeOf(web.port), request, {});
  sandbox.close();
  assert.equal(web.hits.length, 4);
});

Deno.test("closing ends a request that waits", async () => {
  let arrived = () => {};
  const there = new Promise<void>((resolve) => arrived = resolve);
  await using web = startWeb(() => {
    arrived();
    return { delay: 60_000, body: "" };
  });
  const sandbox = sandboxOf();
  const waiting = assert.rejects(
    sandbox.hop(scopeOf(web.port), { ...request, timeout: 60_000, firstByteTimeout: 60_000 }, {}),
    /closed/,
  );
  await there;
  sandbox.close();
  await waiting;
});

Deno.test("a redirect is told, not followed", async () => {
  await using web = startWeb({ "/": { status: 302, headers: { location: "/é" }, body: "x".repeat(5_000) } });
  using sandbox = sandboxOf();
  const { status, location, body } = await sandbox.hop(scopeOf(web.port), request, {});
  assert.deepEqual([status, location, body.length], [302, "/é", 0]);
});

Deno.test("no address is public to the guard that is not public to the policy", () => {
  const known: readonly (readonly [string, string])[] = [
    ["8.8.8.8", "public"],
    ["1.1.1.1", "public"],
    ["2606:4700::1", "public"],
    ["2001:4860:4860::8888", "public"],
    ["172.32.0.1", "public"],
    ["127.0.0.1", "inner"],
    ["10.0.0.1", "inner"],
    ["100.64.0.1", "inner"],
    ["172.16.0.1", "inner"],
    ["192.168.1.1", "inner"],
    ["::1", "inner"],
    ["fd00::1", "inner"],
    ["::ffff:10.0.0.1", "inner"],
    ["::ffff:8.8.8.8", "public"],
    ["64:ff9b::a00:1", "inner"],
    ["2002:7f00:1::", "inner"],
    ["2001:0:1::1", "inner"],
    ["2001:db8::1", "inner"],
    ["169.254.169.254", "never"],
    ["100.100.100.200", "never"],
    ["0.0.0.0", "never"],
    ["255.255.255.255", "never"],
    ["::", "never"],
    ["fe80::1", "never"],
    ["ff02::1", "never"],
    ["fd00:ec2::254", "never"],
    ["::ffff:169.254.169.254", "never"],
    ["name.example", "never"],
    ["", "never"],
  ];
  for (const [address, place] of known) assert.equal(placeOf(address), place, address);
  const random = (n: number) => Math.floor(Math.random() * n);
  for (let i = 0; i < 20_000; i++) {
    const edge = [0, 1, 10, 100, 127, 169, 172, 192, 198, 203, 224, 255][random(12)]!;
    const four = [random(2) ? edge : random(256), random(256), random(256), random(256)].join(".");
    const six = Array.from(
      { length: 8 },
      () => [0, 0xffff, random(65536), 0x2001, 0xfe80, 0xfd00][random(6)]!.toString(16),
    ).join(":");
    for (const address of [four, six, `::ffff:${four}`]) {
      const policy = classifyAddress(address), guard = placeOf(address);
      assert.equal(
        guard === "public" && policy !== "public",
        false,
        `${address}: policy ${policy}, guard ${guard}`,
      );
      // What a yes may open for the policy, the guard must not refuse, or consent would be useless.
      assert.equal(
        policy === "private" && guard === "never",
        false,
        `${address}: policy ${policy}, guard ${guard}`,
      );
      assert.equal(
        policy === "public" && guard !== "public",
        false,
        `${address}: policy ${policy}, guard ${guard}`,
      );
    }
  }
});
