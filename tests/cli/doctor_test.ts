import assert from "node:assert/strict";
import type { DoctorLine } from "../../src/cli/doctor.ts";
import { configure, runCli } from "../helpers/cli.ts";
import { makeWorktree, type TestTree } from "../helpers/worktree.ts";

const ignore = Deno.build.os === "windows";

async function doctor(
  tree: TestTree,
  env: Record<string, string> = {},
): Promise<{ code: number; lines: Map<string, DoctorLine> }> {
  const { code, stdout, stderr } = await runCli(tree, ["doctor", "--output", "json"], { env });
  assert.doesNotMatch(stderr, /at file:|Uncaught/);
  const { lines } = JSON.parse(stdout) as { lines: DoctorLine[] };
  for (const { detail } of lines) assert.doesNotMatch(detail, /\n/);
  return { code, lines: new Map(lines.map((line) => [line.id, line])) };
}

Deno.test({ name: "doctor tries each ring and says what holds", ignore }, async () => {
  using tree = makeWorktree({ files: { "a.txt": "a" } });
  const { code, lines } = await doctor(tree);
  assert.equal(code, 0);
  for (const id of ["policy", "guard", "worker", "ceiling"]) {
    assert.equal(lines.get(id)?.status, "active", JSON.stringify(lines.get(id)));
  }
  assert.match(lines.get("ceiling")!.detail, /reading .* was refused \(flags compiled from the policy\)/);
  assert.match(lines.get("worker")!.detail, /a worker's reading of .* was refused/);
  assert.match(lines.get("policy")!.detail, /is "ask" \[worktree\]/);
  assert.match(lines.get("confinement")!.detail, /bubblewrap|sandbox-exec/);
  assert.match(lines.get("deno")!.detail, new RegExp(`^${Deno.version.deno.replaceAll(".", "\\.")}`));
  assert.deepEqual([...Deno.readDirSync(tree.work)].map(({ name }) => name), ["a.txt"], "nothing is changed");
  assert.deepEqual([...Deno.readDirSync(tree.root)].map(({ name }) => name).sort(), [
    "home",
    "outside",
    "work",
  ]);
});

Deno.test({ name: "doctor names what is missing, and how to get it", ignore }, async () => {
  using tree = makeWorktree();
  configure(tree, {
    exec: { confine: "off" },
    provider: "openai-compatible",
    base_url: "http://127.0.0.1:1/v1",
  });
  const { lines } = await doctor(tree, { PATH: tree.outside, SHELL: "/no/bash" });
  assert.match(lines.get("confinement")!.detail, /switched off.*\(exec\.confine: off\)$/);
  assert.equal(lines.get("confinement")!.status, "missing");
  assert.match(lines.get("environment")!.detail, /through \/proc and the key file/);
  assert.equal(lines.get("provider")!.status, "missing");
  assert.match(lines.get("provider")!.detail, /^openai-compatible at 127\.0\.0\.1:1: .*check base_url/);
  assert.equal(lines.get("git")!.status, "missing");
  assert.match(lines.get("shell")!.detail, /\/no\/bash is not there/);
  assert.match(lines.get("project")!.detail, /is trusted$/);
});

Deno.test({ name: "doctor reaches a provider and tells an untrusted project", ignore }, async () => {
  using tree = makeWorktree();
  const server = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const accepting = (async () => {
    for await (const connection of server) connection.close();
  })();
  configure(tree, { tool_permission: { bash: "allow" } });
  tree.write(
    "home/.config/polyglav/config.json",
    JSON.stringify({
      provider: "openai-compatible",
      base_url: `http://127.0.0.1:${server.addr.port}/v1`,
      exec: { env: { MY_TOKEN: "x", FOO: "1" } },
    }),
  );
  const { lines } = await doctor(tree, { POLYGLAV_TRUST: "0" });
  server.close();
  await accepting;
  assert.deepEqual(lines.get("provider"), {
    id: "provider",
    status: "active",
    detail: `openai-compatible at 127.0.0.1:${server.addr.port} answers`,
  });
  assert.match(
    lines.get("project")!.detail,
    /not trusted: it only narrows \(ignored: .*tool_permission\.bash.*\); polyglav trust$/,
  );
  assert.match(lines.get("environment")!.detail, /of exec\.env not passed on: MY_TOKEN/);
  assert.match(lines.get("config")!.detail, /config\.json$/);
});

Deno.test({ name: "doctor prints one line each as text", ignore }, async () => {
  using tree = makeWorktree();
  const { code, stdout } = await runCli(tree, ["doctor"]);
  assert.equal(code, 0);
  const lines = stdout.trimEnd().split("\n");
  assert.ok(lines.length >= 12);
  for (const line of lines) assert.match(line, /^(active|missing|broken|info) +[a-z]+ +\S/);
});
