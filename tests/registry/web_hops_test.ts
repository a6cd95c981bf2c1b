/**
 * The host's decisions about hops, with a recorder in the place of the sandbox: no request is made.
 */
import assert from "node:assert/strict";
import { defaults } from "../../src/config/schema.ts";
import type { Settings } from "../../src/config/settings.ts";
import type { PolicyInput } from "../../src/policy/tool_policy.ts";
import type { HopScope } from "../../src/policy/types.ts";
import { type WebHost, WebRequests, type WebService } from "../../src/registry/web_hops.ts";
import type { HopAnswer, HopRequest } from "../../src/sandbox/pool.ts";
import type { FetchRequest } from "../../src/tool.ts";
import { webSearch } from "../../tools/web_search.ts";

interface Made {
  readonly hops: { readonly scope: HopScope; readonly request: HopRequest }[];
  readonly asked: string[];
  readonly refused: string[];
  fetch(request: FetchRequest): ReturnType<WebRequests["fetch"]>;
}

interface Options {
  readonly settings?: Partial<Settings>;
  readonly open?: boolean;
  readonly names?: Readonly<Record<string, readonly string[]>>;
  readonly answers?: readonly (Partial<HopAnswer> | string)[];
  readonly decided?: { readonly url: unknown; readonly consented: boolean };
  readonly answer?: "yes" | "nobody";
  readonly service?: WebService | null;
}

function make(options: Options): Made {
  const input: PolicyInput = {
    settings: { ...defaults(), ...options.settings },
    mode: "build",
    worktree: "/w",
    home: "/h",
    configDir: "/h/c",
    shell: "/bin/sh",
    env: {},
    open: options.open ?? false,
  };
  const hops: { scope: HopScope; request: HopRequest }[] = [], asked: string[] = [], refused: string[] = [];
  const host: WebHost = {
    policyInput: input,
    resolve: (name) => Promise.resolve(options.names?.[name] ?? []),
    service: () => Promise.resolve(options.service ?? null),
    sandbox: {
      hop: (scope, request) => {
        const given = options.answers?.[hops.length] ?? {};
        hops.push({ scope, request });
        return Promise.resolve({
          status: typeof given === "string" ? 302 : 200,
          statusText: "",
          type: "",
          location: typeof given === "string" ? given : null,
          body: new Uint8Array(0),
          ...(typeof given === "string" ? {} : given),
        });
      },
    },
  };
  const requests = new WebRequests(host, {
    tool: webSearch,
    decided: options.decided ?? { url: undefined, consented: false },
    confirm: ({ reason }) => {
      asked.push(reason);
      return Promise.resolve(options.answer ?? "nobody");
    },
    refuse: ({ reason }) => void refused.push(reason),
  });
  return { hops, asked, refused, fetch: (request) => requests.fetch(request) };
}

const names = { "a.example": ["93.184.216.34"], "b.example": ["10.0.0.5"], "six.example": ["2606:4700::1"] };

Deno.test("a worker gets exactly the checked address and port", async () => {
  for (
    const [url, net] of [
      ["http://a.example/x", ["93.184.216.34:80"]],
      ["https://a.example/x", ["93.184.216.34:443"]],
      ["https://a.example:8443/x", ["93.184.216.34:8443"]],
      ["http://six.example/", ["[2606:4700::1]:80"]],
      ["http://8.8.8.8/", ["8.8.8.8:80"]],
    ] as const
  ) {
    const made = make({ names });
    await made.fetch({ url });
    assert.deepEqual(made.hops.map(({ scope }) => scope.permissions), [
      { read: [], write: [], run: [], env: [], net: [...net] },
    ]);
    assert.deepEqual(made.hops[0]!.scope.opened, []);
  }
});

Deno.test("with an open policy the compiled scope still stops private and forbidden addresses", async () => {
  for (
    const location of [
      "http://127.0.0.1/",
      "http://b.example/",
      "http://169.254.169.254/",
      "http://localhost/",
    ]
  ) {
    const made = make({ open: true, names: { ...names, localhost: ["127.0.0.1"] }, answers: [location] });
    await assert.rejects(made.fetch({ url: "http://a.example/" }));
    assert.equal(made.hops.length, 1, location);
  }
});

Deno.test("with an open policy web.hosts still holds", async () => {
  const made = make({
    open: true,
    names,
    settings: { web: { hosts: ["a.example"], private: false } },
    answers: ["http://six.example/"],
  });
  await assert.rejects(made.fetch({ url: "http://a.example/" }), /web\.hosts/);
  assert.equal(made.hops.length, 1);
});

Deno.test("of a name's addresses the public ones are asked, and no other", async () => {
  const mixed = ["127.0.0.1", "93.184.216.34", "169.254.169.254", "10.0.0.1"];
  const made = make({ names: { "m.example": mixed } });
  await made.fetch({ url: "http://m.example/" });
  assert.deepEqual(made.hops[0]!.scope.addresses, ["93.184.216.34"]);
  assert.deepEqual(made.asked, []);
});

Deno.test("consent opens the private address of that hop, and says so to the guard", async () => {
  const made = make({ names, answer: "yes" });
  await made.fetch({ url: "http://b.example/" });
  assert.deepEqual(made.asked.length, 1);
  assert.deepEqual(made.hops[0]!.scope.opened, ["10.0.0.5"]);
});

Deno.test("a name is resolved once for one call", async () => {
  let asked = 0;
  const made = make({
    answers: ["/2", "/3"],
    names: new Proxy(names, {
      get: (target, key) => {
        if (key === "a.example") asked++;
        return target[key as keyof typeof target];
      },
    }),
  });
  await made.fetch({ url: "http://a.example/" });
  assert.equal(asked, 1);
  assert.equal(made.hops.length, 3);
});

const service: WebService = { base: "https://a.example/api/", headers: { "x-key": "SECRET" } };

Deno.test("a service's key goes to its own origin alone", async () => {
  for (
    const [location, keyed] of [
      ["/other", true],
      ["https://six.example/", false],
      ["http://a.example/", false],
      ["https://a.example:444/", false],
    ] as const
  ) {
    const made = make({ names, service, answers: [location] });
    await made.fetch({ url: "search?q=x", service: "search" });
    assert.equal(made.hops[0]!.scope.url, "https://a.example/api/search?q=x");
    assert.deepEqual(made.hops.map(({ request }) => "x-key" in request.headers), [true, keyed], location);
  }
});

Deno.test("a service may be private and beside web.hosts, what it redirects to may not", async () => {
  const settings = { web: { hosts: ["docs.example"], private: false } };
  const own: WebService = { base: "http://127.0.0.1:8080/", headers: {} };
  const made = make({ settings, service: own, answers: ["http://127.0.0.1:9090/"] });
  await assert.rejects(made.fetch({ url: "search?q=x", service: "search" }), /web\.hosts/);
  assert.deepEqual(made.hops.map(({ scope }) => scope.permissions.net), [["127.0.0.1:8080"]]);
  const again = make({ service: own, answers: ["http://127.0.0.1:9090/"] });
  await assert.rejects(again.fetch({ url: "search?q=x", service: "search" }), /needs approval/);
  assert.equal(again.hops.length, 1);
});

Deno.test("a handler cannot lead a service's key elsewhere", async () => {
  for (
    const url of ["https://six.example/", "//six.example/", "@six.example/", "../../x", "\\\\six.example"]
  ) {
    const made = make({ names, service, answers: [] });
    await made.fetch({ url, service: "search" }).catch(() => {});
    for (const { scope } of made.hops) assert.equal(new URL(scope.url).origin, "https://a.example", url);
  }
  // Where the base lacks its final slash, what follows could be part of the host.
  const made = make({ names, service: { ...service, base: "https://a.example" } });
  await assert.rejects(made.fetch({ url: "@six.example/", service: "search" }));
  await assert.rejects(made.fetch({ url: ".six.example/", service: "search" }));
});

Deno.test("services that are unknown or undeclared, and bodies without a service, are refused", async () => {
  const made = make({ names });
  await assert.rejects(made.fetch({ url: "x", service: "search" }), /knows no service/);
  await assert.rejects(made.fetch({ url: "x", service: "mail" }), /does not declare/);
  await assert.rejects(
    made.fetch({ url: "http://a.example/", body: { type: "text/plain", text: "x" } }),
    /only a service takes a body/,
  );
  assert.equal(made.hops.length, 0);
});

Deno.test("a body is sent once: a redirect is asked for without it", async () => {
  const made = make({ names, service, answers: ["/next"] });
  await made.fetch({ url: "search", service: "search", body: { type: "application/json", text: "{}" } });
  assert.deepEqual(made.hops.map(({ request }) => [request.method, request.body]), [["POST", "{}"], [
    "GET",
    undefined,
  ]]);
});

Deno.test("one call cannot make requests without end", async () => {
  const made = make({ names });
  for (let i = 0; i < 50; i++) await made.fetch({ url: "http://a.example/" });
  await assert.rejects(made.fetch({ url: "http://a.example/" }), /at most 50/);
});
