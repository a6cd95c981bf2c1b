import assert from "node:assert/strict";
import { ConfigError } from "../../src/errors.ts";
import type { CeilingFlags } from "../../src/policy/compile.ts";
import type { CallScope } from "../../src/policy/types.ts";
import { ceilingState, launchArguments, programEnvironment } from "../../src/sandbox/launch.ts";
import { dirname, join } from "../../src/text/path.ts";
import { makeWorktree, type TestTree } from "../helpers/worktree.ts";
import { alive, until } from "./_pool.ts";

const SOURCE = dirname(dirname(dirname(decodeURIComponent(new URL(import.meta.url).pathname))));
const LAUNCHER = decodeURIComponent(new URL("./_launcher.ts", import.meta.url).pathname);

function ceiling(tree: TestTree, more: Partial<CeilingFlags> = {}): CeilingFlags {
  return {
    read: [tree.work, SOURCE],
    denyRead: [],
    write: [tree.work, join(tree.home, "state")],
    denyWrite: [join(tree.work, ".git")],
    net: [],
    denyNet: [],
    run: ["/bin/sh"],
    env: ["HOME", "SEEN"],
    sys: [],
    ...more,
  };
}

function start(
  tree: TestTree,
  flags: CeilingFlags,
  args: string[],
  more: { env?: Record<string, string>; audit?: string; cwd?: string; program?: string } = {},
): Deno.ChildProcess {
  const options = JSON.stringify({ flags, worktree: tree.work, audit: more.audit, program: more.program });
  return new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", LAUNCHER, options, ...args],
    cwd: more.cwd ?? tree.work,
    env: more.env,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
}

async function outcome(child: Deno.ChildProcess): Promise<{ code: number; out: string; err: string }> {
  const [out, err, { code }] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.status,
  ]);
  return { code, out, err };
}

/** Starts the program and returns what it printed as JSON. */
async function answer(...args: Parameters<typeof start>): Promise<any> {
  const { code, out, err } = await outcome(start(...args));
  assert.equal(code, 0, err);
  return JSON.parse(out);
}

Deno.test("the program under its ceiling knows it, and gets its arguments and the environment that it may read", async () => {
  using tree = makeWorktree();
  const env = {
    SEEN: "yes",
    HIDDEN: "secret",
    POLYGLAV_CEILING: "{}",
    DENO_AUTH_TOKENS: "token@host",
    NODE_OPTIONS: "--secret",
  };
  const args = ["--flag", "a b", "", "--allow-all", "--", "ü"];
  const said = await answer(tree, ceiling(tree), ["state", ...args], { env });
  assert.equal(said.state, "ceiling");
  assert.deepEqual(said.args, args);
  assert.deepEqual(Object.keys(said.environment).sort(), ["HOME", "POLYGLAV_CEILING", "SEEN"]);
  assert.equal(said.environment.SEEN, "yes");
  assert.notEqual(said.environment.POLYGLAV_CEILING, "{}");
  assert.equal(said.deno, "prompt");
});

Deno.test("not even the host can do more than the ceiling says", async () => {
  using tree = makeWorktree({
    files: { "a.txt": "text", ".git/config": "git" },
    outside: { "secret": "SECRET" },
    links: { "out": "../outside/secret" },
  });
  const read = [join(tree.work, "a.txt"), join(tree.outside, "secret"), "/etc/passwd"];
  const write = [
    join(tree.work, "new"),
    join(tree.work, ".git/config"),
    join(tree.outside, "new"),
    "/tmp/polyglav-x",
  ];
  const said = await answer(tree, ceiling(tree), ["try", JSON.stringify([read, write])]);
  assert.deepEqual(said, [
    ["text", "NotCapable", "NotCapable"],
    ["done", "NotCapable", "NotCapable", "NotCapable"],
    "NotCapable",
    "NotCapable",
  ]);
  assert.equal(tree.read("work/.git/config"), "git");
  assert.equal(tree.read("outside/new"), null);
});

/** Looks around in a worker: states of paths, and raw attempts beside the guard. */
function probe(paths: readonly string[]): string {
  return `
    const state = (name, path) => Deno.permissions.querySync({ name, path }).state;
    const attempt = (call) => { try { call(); return "done"; } catch (e) { return e.name; } };
    return ${JSON.stringify(paths)}.map((path) => [
      state("read", path), state("write", path), attempt(() => Deno.writeTextFileSync(path, "PWNED")),
    ]);`;
}

function scopeFor(tree: TestTree, write: readonly string[], more: Partial<CallScope> = {}): CallScope {
  return {
    permissions: { read: [tree.work], write, run: [], net: [], env: [] },
    guard: { worktree: tree.work, roots: [{ path: tree.work, access: "write" }], rules: [], consented: [] },
    oneShot: false,
    ...more,
  };
}

Deno.test("a worker under a ceiling with denied places gives up all else before it loads a tool", async () => {
  using tree = makeWorktree({ files: { "a.txt": "text", ".git/config": "git" } });
  tree.write("home/state/log", "log");
  const paths = [
    join(tree.work, "a.txt"),
    join(tree.work, ".git/config"),
    join(tree.home, "state/log"),
    join(tree.outside, "new"),
    join(SOURCE, "deno.json"),
    "/tmp/polyglav-nothing",
  ];
  const expected = (read: string) => [
    ["granted", "granted", "done"],
    [read, "denied", "NotCapable"],
    ["prompt", "prompt", "NotCapable"],
    ["prompt", "prompt", "NotCapable"],
    ["prompt", "prompt", "NotCapable"],
    ["prompt", "prompt", "NotCapable"],
  ];
  const calls = [
    { tool: "evil_write", args: { value: probe(paths) }, scope: scopeFor(tree, [tree.work]) },
    { tool: "write", args: { path: "b/c.txt", value: "new" }, scope: scopeFor(tree, [tree.work]) },
    { tool: "read", args: { path: "b/c.txt" }, scope: scopeFor(tree, []) },
  ];
  const ceilings: Partial<CeilingFlags>[] = [
    {},
    { write: true },
    { read: true, write: true },
    { denyRead: [join(tree.work, ".git")] },
  ];
  for (const more of ceilings) {
    const said = await answer(tree, ceiling(tree, more), ["calls", JSON.stringify(calls), tree.work]);
    const read = more.denyRead ? "denied" : "granted";
    assert.deepEqual(said[0], { ok: true, output: expected(read) }, JSON.stringify(more));
    assert.equal(said[1].ok, true, JSON.stringify(said[1]));
    assert.deepEqual(said[2], { ok: true, output: "new" });
    assert.equal(tree.read("work/.git/config"), "git");
    assert.equal(tree.read("home/state/log"), "log");
    Deno.removeSync(join(tree.work, "b"), { recursive: true });
  }
});

Deno.test("under flags written by hand, a global permission with denied places is an error that says what to do", async () => {
  using tree = makeWorktree();
  const calls = JSON.stringify([{
    tool: "write",
    args: { path: "a", value: "x" },
    scope: scopeFor(tree, [tree.work]),
  }]);
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--no-prompt",
      "--unstable-worker-options",
      "--allow-read",
      "--allow-write",
      `--deny-write=${join(tree.work, ".git")}`,
      decodeURIComponent(new URL("./_program.ts", import.meta.url).pathname),
      "calls",
      calls,
      tree.work,
    ],
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const { code, out, err } = await outcome(child);
  assert.equal(code, 0, err);
  const [result] = JSON.parse(out);
  assert.equal(result.ok, false);
  assert.match(result.message, /^Cannot narrow a worker: .* -A .*--allow-write$/);
  assert.equal(tree.read("work/a"), null);
});

Deno.test("an approved call outside gets its path under a ceiling with denied places", async () => {
  using tree = makeWorktree({ outside: { "a": "old", "b": "other" } });
  const path = join(tree.outside, "a"), temporary = join(tree.outside, ".t.tmp");
  const scope = scopeFor(tree, [tree.work, path, temporary], {
    permissions: {
      read: [tree.work, path, temporary],
      write: [tree.work, path, temporary],
      run: [],
      net: [],
      env: [],
    },
    guard: {
      worktree: tree.work,
      roots: [{ path: tree.work, access: "write" }],
      rules: [],
      consented: [{ path, access: "write" }],
      temporary: ".t.tmp",
    },
    oneShot: true,
  });
  const calls = [
    { tool: "write", args: { path, value: "new" }, scope },
    { tool: "evil_write", args: { value: probe([join(tree.outside, "b")]) }, scope },
  ];
  const flags = ceiling(tree, { read: true, write: true });
  const said = await answer(tree, flags, ["calls", JSON.stringify(calls), tree.work]);
  assert.equal(said[0].ok, true, JSON.stringify(said[0]));
  assert.deepEqual(said[1].output, [["prompt", "prompt", "NotCapable"]]);
  assert.equal(tree.read("outside/a"), "new");
  assert.equal(tree.read("outside/b"), "other");
});

Deno.test("under the launcher nothing is downloaded, not even for a worker, whose permissions would not prevent it", async () => {
  using tree = makeWorktree();
  const calls = ["npm:polyglav-no-such-package@1.0.0", "https://127.0.0.1:8123/evil.ts"].map((name) => ({
    tool: "evil_write",
    args: { value: `return await import(${JSON.stringify(name)})` },
    scope: scopeFor(tree, [tree.work]),
  }));
  const [npm, remote] = await answer(tree, ceiling(tree), ["calls", JSON.stringify(calls), tree.work]);
  assert.equal(npm.ok, false);
  assert.match(npm.message, /cached/i);
  assert.equal(remote.ok, false);
});

Deno.test("under the launcher a worker cannot load code that is not the program's", async () => {
  using tree = makeWorktree({ files: { "evil.mjs": "export default 'PWNED';" } });
  tree.write("outside/evil.mjs", "export default 'PWNED';");
  tree.write("home/state/evil.mjs", "export default 'PWNED';");
  const calls = [join(tree.outside, "evil.mjs"), join(tree.home, "state/evil.mjs"), "/etc/hostname"].map((
    path,
  ) => ({
    tool: "evil_write",
    args: { value: `return (await import(${JSON.stringify(`file://${path}`)})).default` },
    scope: scopeFor(tree, [tree.work]),
  }));
  for (const result of await answer(tree, ceiling(tree), ["calls", JSON.stringify(calls), tree.work])) {
    assert.equal(result.ok, false, JSON.stringify(result));
    assert.match(result.message, /Requires read access/);
  }
});

Deno.test("exit codes are relayed, and a death by a signal is 128 and its number", async () => {
  using tree = makeWorktree();
  for (const code of [0, 1, 3, 130]) {
    assert.equal((await outcome(start(tree, ceiling(tree), ["exit", String(code)]))).code, code);
  }
  const child = start(tree, ceiling(tree), ["wait"]);
  const { line, rest } = await firstLine(child);
  Deno.kill(JSON.parse(line).pid, "SIGKILL");
  assert.equal((await child.status).code, 137);
  await rest;
  await child.stderr.cancel();
});

async function firstLine(child: Deno.ChildProcess): Promise<{ line: string; rest: Promise<string> }> {
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (!text.includes("\n")) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`it ended: ${text}`);
    text += value;
  }
  const rest = (async () => {
    let more = text.slice(text.indexOf("\n") + 1);
    while (true) {
      const { value, done } = await reader.read();
      if (done) return more;
      more += value;
    }
  })();
  return { line: text.slice(0, text.indexOf("\n")), rest };
}

Deno.test("signals reach the program once, and the launcher ends with it", async () => {
  using tree = makeWorktree();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    const child = start(tree, ceiling(tree), ["wait"]);
    const { line, rest } = await firstLine(child);
    const { pid, parent, temporary } = JSON.parse(line);
    assert.equal(parent, child.pid);
    assert.equal(temporary, "prompt");
    child.kill(signal);
    assert.equal((await child.status).code, 40);
    assert.equal(await rest, `${signal}\n`);
    await child.stderr.cancel();
    assert.ok(!alive(pid));
  }
});

Deno.test("a launcher that is killed does not leave the program behind", async () => {
  using tree = makeWorktree();
  const child = start(tree, ceiling(tree), ["wait"]);
  const { line, rest } = await firstLine(child);
  const { pid } = JSON.parse(line);
  child.kill("SIGKILL");
  await child.status;
  await rest;
  await child.stderr.cancel();
  await until(() => !alive(pid), "the program ends");
});

Deno.test("a hostile folder cannot configure the program that is started in it", async () => {
  using tree = makeWorktree({
    files: {
      "deno.json": '{"imports": {"../../src/sandbox/launch.ts": "./evil.ts"}, "unstable": ["kv"]}',
      "evil.ts": 'console.log("PWNED"); export const ceilingState = 0, watchLauncher = 0;',
      "package.json": '{"type": "module", "dependencies": {"evil": "1"}}',
      ".env": "SEEN=from-dotenv",
      ".npmrc": "registry=http://127.0.0.1:9/",
    },
  });
  const said = await answer(tree, ceiling(tree), ["state"], { env: { SEEN: "yes" } });
  assert.equal(said.environment.SEEN, "yes");
});

Deno.test("an audit file lists what the runtime was asked for", async () => {
  using tree = makeWorktree({ files: { "a.txt": "text" } });
  const audit = join(tree.home, "audit.jsonl");
  await answer(tree, ceiling(tree), ["try", JSON.stringify([[join(tree.work, "a.txt")], []])], { audit });
  const lines = Deno.readTextFileSync(audit).trim().split("\n").map((line) => JSON.parse(line));
  assert.ok(lines.some((line) => JSON.stringify(line).includes(join(tree.work, "a.txt"))));
});

Deno.test("the launcher's private folder is gone when the program has ended", async () => {
  using tree = makeWorktree();
  const temporary = join(tree.home, "tmp");
  Deno.mkdirSync(temporary);
  const said = await answer(tree, ceiling(tree), ["state"], { env: { TMPDIR: temporary } });
  const note = JSON.parse(said.environment.POLYGLAV_CEILING);
  assert.equal(dirname(note.scratch), temporary);
  assert.deepEqual([...Deno.readDirSync(temporary)], []);
});

Deno.test("a ceiling under which Deno itself could be started is refused, by whatever name", () => {
  using tree = makeWorktree();
  const options = { mainModule: "file:///main.ts", args: [], env: {}, worktree: tree.work };
  const link = join(tree.home, "innocent");
  Deno.symlinkSync(Deno.execPath(), link);
  for (const program of [Deno.execPath(), link]) {
    const flags = ceiling(tree, { run: ["/bin/sh", program] });
    assert.throws(() => launchArguments({ ...options, flags }, null), ConfigError);
  }
});

Deno.test("a remote program does not take the configuration of the folder that it is started in", () => {
  using tree = makeWorktree();
  const options = { flags: ceiling(tree), args: ["x"], env: {}, worktree: tree.work };
  const remote = launchArguments({ ...options, mainModule: "https://example.com/main.ts" }, null);
  assert.deepEqual(remote.slice(-3), ["--no-config", "https://example.com/main.ts", "x"]);
  const local = launchArguments({ ...options, mainModule: "file:///p/main.ts" }, null);
  assert.ok(!local.includes("--no-config"));
  assert.equal(local[0], "run");
});

Deno.test("the environment: what may be read, what Deno needs, nothing that could hand decisions to others", () => {
  const env = {
    HOME: "/h",
    OPENAI_API_KEY: "k",
    DENO_DIR: "/d",
    DENO_CERT: "c",
    DENO_TLS_CA_STORE: "s",
    DENO_NO_UPDATE_CHECK: "1",
    DENO_AUTH_TOKENS: "t",
    DENO_PERMISSION_BROKER_PATH: "/b",
    DENO_AUDIT_PERMISSIONS: "/a",
    DENO_V8_FLAGS: "--f",
    deno_auth_tokens: "t",
    POLYGLAV_CEILING: "{}",
    LC_ALL: "C",
    XDG_STATE_HOME: "/s",
    https_proxy: "p",
    HTTP_PROXY: "p",
    GIT_DIR: "/g",
    LD_PRELOAD: "/l",
    NODE_OPTIONS: "n",
    AWS_SECRET_ACCESS_KEY: "a",
  };
  assert.deepEqual(programEnvironment(env, ["HOME", "OPENAI_API_KEY", "POLYGLAV_CEILING"]), {
    HOME: "/h",
    OPENAI_API_KEY: "k",
    DENO_DIR: "/d",
    DENO_CERT: "c",
    DENO_TLS_CA_STORE: "s",
    DENO_NO_UPDATE_CHECK: "1",
    LC_ALL: "C",
    XDG_STATE_HOME: "/s",
    https_proxy: "p",
    HTTP_PROXY: "p",
  });
});

Deno.test("a process that may start Deno is a launcher, whatever its environment says", () => {
  Deno.env.set("POLYGLAV_CEILING", "{}");
  try {
    assert.equal(ceilingState(), "launcher");
  } finally {
    Deno.env.delete("POLYGLAV_CEILING");
  }
});
