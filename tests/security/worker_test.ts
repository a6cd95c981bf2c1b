/** What a hostile or broken tool can do in its worker, beside the guard: nothing that its permissions do not say. @module */
import assert from "node:assert/strict";
import { join } from "../../src/text/path.ts";
import { makeWorktree, type TestTree } from "../helpers/worktree.ts";
import { shown, TestSandbox } from "../sandbox/_pool.ts";
import { evil, evilRun, evilWrite, read, walk, write } from "../sandbox/_tools.ts";
import { SECRET, snapshot } from "./_layers.ts";

/** Expressions that must fail in a worker with the permissions of a tool that reads, and in one that also writes. */
function escapes(tree: TestTree): Record<string, string> {
  const outside = JSON.stringify(join(tree.outside, "secret")),
    fresh = JSON.stringify(join(tree.outside, "new"));
  const inside = JSON.stringify(join(tree.work, "link"));
  return {
    "reads a file outside": `Deno.readTextFileSync(${outside})`,
    "reads it by node": `(await import("node:fs")).readFileSync(${outside}, "utf8")`,
    "reads it by fetch": `await (await fetch("file://" + ${outside})).text()`,
    "reads a password file": `Deno.readTextFileSync("/etc/passwd")`,
    "reads its own environment from the system": `Deno.readTextFileSync("/proc/self/environ")`,
    "lists the root": `[...Deno.readDirSync("/")]`,
    "writes a file outside": `(Deno.writeTextFileSync(${fresh}, "PWNED"), "done")`,
    "writes it by node": `((await import("node:fs")).writeFileSync(${fresh}, "PWNED"), "done")`,
    "removes a file outside": `(Deno.removeSync(${outside}), "done")`,
    "renames a file into the worktree": `(Deno.renameSync(${outside}, ${inside}), "done")`,
    "copies a file into the worktree": `(Deno.copyFileSync(${outside}, ${inside}), "done")`,
    "links a file outside": `(Deno.symlinkSync(${outside}, ${inside}), "done")`,
    "links it hard": `(Deno.linkSync(${outside}, ${inside}), "done")`,
    "links it by node": `((await import("node:fs")).symlinkSync(${outside}, ${inside}), "done")`,
    "makes a temporary file": `Deno.makeTempFileSync()`,
    "starts a program": `new Deno.Command("/bin/sh", { args: ["-c", "id"] }).outputSync().code`,
    "starts a program by node": `(await import("node:child_process")).execFileSync("/bin/sh", ["-c", "id"])`,
    "starts Deno": `new Deno.Command(Deno.execPath(), { args: ["eval", "1"] }).outputSync().code`,
    "reads a variable": `Deno.env.get("HOME") ?? null`,
    "reads all variables": `Deno.env.toObject()`,
    "sets a variable": `(Deno.env.set("POLYGLAV_TRUST", "1"), "done")`,
    "reads a variable by node": `(await import("node:process")).env.HOME.length`,
    "fetches": `await fetch("http://127.0.0.1:8123/?" + ctx.worktree).then((r) => r.status)`,
    "resolves a name": `await Deno.resolveDns("example.com", "A")`,
    "connects": `(await Deno.connect({ port: 8123 })).close()`,
    "connects to a socket file":
      `(await Deno.connect({ transport: "unix", path: "/run/docker.sock" })).close()`,
    "listens": `Deno.listen({ port: 0 }).addr`,
    "imports remote code": `await import("https://127.0.0.1:8123/evil.ts")`,
    "imports a file outside": `await import("file://" + ${outside})`,
    "imports what it wrote": `await import("file://" + ctx.worktree + "/evil.mjs" + "?" + Date.now())`,
    "asks for more":
      `(await Deno.permissions.request({ name: "read" })).state === "granted" || (() => { throw 0 })()`,
    "loads a library": `Deno.dlopen("libc.so.6", {})`,
    "asks who it is": `Deno.hostname()`,
    "signals the parent": `(Deno.kill(Deno.ppid, "SIGTERM"), "done")`,
    "changes the directory": `(Deno.chdir("/"), Deno.readTextFileSync("etc/passwd"))`,
  };
}

for (const tool of [evil, evilWrite]) {
  Deno.test(`a tool that ${tool.name === "evil" ? "reads" : "reads and writes"} cannot get out of its worker`, async () => {
    using tree = makeWorktree({
      files: { "evil.mjs": "export default 'PWNED';" },
      outside: { "secret": SECRET },
    });
    using pool = new TestSandbox(tree);
    const before = snapshot(tree.root);
    for (const [what, expression] of Object.entries(escapes(tree))) {
      if (tool === evil && what === "imports what it wrote") continue;
      const result = await pool.run(tool, { value: `return await (async () => (${expression}))()` });
      const text = shown(result);
      assert.equal(result.ok, false, `it ${what}: ${text}`);
      assert.ok(!text.includes(SECRET), `it ${what}: ${text}`);
      assert.deepEqual(snapshot(tree.root), before, `it ${what}`);
    }
  });
}

Deno.test("a nested worker has no more than its parent", async () => {
  using tree = makeWorktree({ outside: { "secret": SECRET } });
  using pool = new TestSandbox(tree);
  const code = `self.postMessage((() => { try { return Deno.readTextFileSync(${
    JSON.stringify(join(tree.outside, "secret"))
  }); } catch (e) { return e.name; } })())`;
  for (const permissions of ['"inherit"', "{ read: true }", '{ read: ["/"] }', "undefined"]) {
    const value = `
      const url = "data:application/javascript," + encodeURIComponent(${JSON.stringify(code)});
      const options = ${permissions} === undefined ? { type: "module" } : { type: "module", deno: { permissions: ${permissions} } };
      const worker = new Worker(url, options);
      return await new Promise((done) => {
        worker.onmessage = (event) => done(event.data);
        worker.onerror = (event) => { event.preventDefault(); done("error"); };
        setTimeout(() => done("nothing"), 3000);
      });`;
    const text = shown(await pool.run(evil, { value }));
    assert.ok(!text.includes(SECRET), `${permissions}: ${text}`);
    assert.match(text, /NotCapable|escalate|error|nothing/, permissions);
  }
});

Deno.test("a tool that may start programs starts those and no others, and reads nothing more", async () => {
  using tree = makeWorktree({ files: { "script": "#!/bin/sh\necho PWNED" }, outside: { "secret": SECRET } });
  Deno.chmodSync(join(tree.work, "script"), 0o755);
  using pool = new TestSandbox(tree);
  const start = (argv: string[]) =>
    pool.run(evilRun, {
      value: `return (await ctx.exec(${JSON.stringify(argv)}, { timeout: 5000 })).output`,
    }, { env: { PATH: "/usr/bin:/bin" } });
  assert.equal(shown(await start(["/bin/sh", "-c", "echo fine"])).trim(), "fine");
  for (
    const argv of [["/bin/cat", "/etc/passwd"], ["cat", "/etc/passwd"], [join(tree.work, "script")], [
      "./script",
    ]]
  ) {
    const result = await start(argv);
    assert.equal(result.ok, false, shown(result));
  }
  const raw = `return Deno.readTextFileSync(${JSON.stringify(join(tree.outside, "secret"))})`;
  assert.match(shown(await pool.run(evilRun, { value: raw })), /^permission: /);
  assert.match(
    shown(await pool.run(evilRun, { value: `return Deno.writeTextFileSync("x", "")` })),
    /^permission: /,
  );
  for (const tool of [evil, evilWrite]) {
    const value = `return (await ctx.exec(["/bin/sh", "-c", "id"], { timeout: 1000 })).output`;
    assert.match(shown(await pool.run(tool, { value })), /^permission: .* may not start programs/);
  }
});

Deno.test("a command's directory is checked like any path", async () => {
  using tree = makeWorktree({ files: { "a.txt": "" }, links: { "out": "../outside" } });
  using pool = new TestSandbox(tree);
  for (const cwd of ["..", "out", "/", tree.outside, "a.txt", "none", "\0"]) {
    const value = `return (await ctx.exec(["/bin/sh", "-c", "pwd"], { timeout: 5000, cwd: ${
      JSON.stringify(cwd)
    } })).output`;
    const result = await pool.run(evilRun, { value });
    assert.equal(result.ok, false, `${cwd}: ${shown(result)}`);
  }
});

Deno.test("what a tool did to the globals does not open the next call on the same worker", async () => {
  using tree = makeWorktree({
    files: { "a.txt": "text", ".git/config": "git" },
    outside: { "secret": SECRET },
    links: { "l": "../outside/secret", "d/out": "../../outside" },
  });
  const poison = `
    const attempt = (change) => { try { change(); return "changed"; } catch { return "refused"; } };
    globalThis.poisoned = true;
    return [
      attempt(() => Deno.realPathSync = (path) => path),
      attempt(() => Deno.lstatSync = () => ({ isFile: true })),
      attempt(() => Deno.readDirSync = () => []),
      attempt(() => Deno.permissions.querySync = () => ({ state: "granted" })),
      attempt(() => globalThis.Deno = {}),
      attempt(() => globalThis.postMessage = () => {}),
      attempt(() => globalThis.close = () => {}),
      attempt(() => Array.prototype.some = () => true),
      attempt(() => Array.prototype[Symbol.iterator] = function* () {}),
      attempt(() => String.prototype.startsWith = () => true),
      attempt(() => String.prototype.includes = () => false),
      attempt(() => String.prototype.split = () => []),
      attempt(() => Map.prototype.get = () => undefined),
      attempt(() => Set.prototype.has = () => true),
      attempt(() => RegExp.prototype.exec = () => null),
      attempt(() => RegExp.prototype.test = () => false),
      attempt(() => JSON.parse = () => ({})),
      attempt(() => Uint8Array.prototype.subarray = () => new Uint8Array()),
      attempt(() => TextEncoder.prototype.encode = () => new Uint8Array()),
    ];`;
  for (const inherit of [false, true]) {
    using pool = new TestSandbox(tree, { size: 1, inherit });
    const before = snapshot(tree.root);
    const changed = await pool.run(evilWrite, { value: `"use strict"; ${poison}` });
    assert.ok(changed.ok, shown(changed));
    assert.deepEqual(
      new Set(changed.output as string[]),
      new Set(["refused"]),
      JSON.stringify(changed.output),
    );
    const rules = [{ pattern: ".git", access: "write" as const, action: "deny" as const }];
    const scope = pool.scope(write, { rules });
    const same = await pool.run(evilWrite, { value: "return globalThis.poisoned" }, {}, scope);
    assert.equal(shown(same), "true", "it is the same worker");
    for (
      const path of ["l", "../outside/secret", "d/out/secret", join(tree.outside, "secret"), "d/out/new"]
    ) {
      assert.match(shown(await pool.run(write, { path, value: "PWNED" }, {}, scope)), /^permission: /, path);
    }
    assert.match(
      shown(await pool.run(write, { path: ".git/config", value: "PWNED" }, {}, scope)),
      /^permission: /,
    );
    assert.match(shown(await pool.run(read, { path: "l" }, {}, scope)), /^permission: /);
    assert.ok(!shown(await pool.run(walk, { path: "." }, {}, scope)).includes(SECRET));
    assert.deepEqual(snapshot(tree.root), before);
  }
});

Deno.test("messages that a tool makes up change nothing for others", async () => {
  using tree = makeWorktree({ files: { "a.txt": "text" } });
  using pool = new TestSandbox(tree);
  const junk = [
    "null",
    "1",
    "'text'",
    "[]",
    "{}",
    "{ type: 'ready' }",
    "{ type: 'odd', id: ID }",
    "{ type: 'spawned', id: ID, pid: -1 }",
    "{ type: 'settled', id: ID, pids: 7 }",
    "{ type: 'settled', id: ID }",
    "{ type: 'gather', id: ID, fanout: 99, mine: [] }",
    "{ type: 'gather', id: ID, fanout: 99 }",
    "{ type: 'fanout', id: ID, fanout: 0 }",
    "{ type: 'fanout', id: ID, fanout: 0, inputs: [1, 2, 3], next: 4 }",
    "{ type: 'part', id: ID, result: {} }",
    "{ type: 'part', id: ID }",
    "{ type: 'progress', id: ID, text: { toString: 1 } }",
    "{ type: 'done', id: ID }",
    "{ type: 'done', id: ID, ok: false }",
    "{ type: 'ask', id: ID, ask: 0 }",
    "{ type: 'ask', id: ID, ask: {}, request: { what: 'odd' } }",
  ];
  for (const message of junk) {
    const value = `
      for (let ID = 0; ID < 200; ID++) self.postMessage(${message});
      await new Promise((done) => setTimeout(done, 20));
      return "still here";`;
    assert.ok(typeof shown(await pool.run(evil, { value }, { timeout: 5000 })) === "string", message);
    assert.equal(shown(await pool.run(read, { path: "a.txt" })), "text", message);
  }
});

Deno.test("a process id that a worker without programs reports is not signalled", async () => {
  using tree = makeWorktree();
  using pool = new TestSandbox(tree);
  const child = new Deno.Command("/bin/sleep", { args: ["300"], detached: true }).spawn();
  try {
    const value = `
      for (let id = 0; id < 9; id++) self.postMessage({ type: "spawned", id, pid: ${child.pid} });
      while (true);`;
    assert.match(shown(await pool.run(evil, { value }, { timeout: 300 })), /^timeout: /);
    await new Promise((done) => setTimeout(done, 200));
    assert.ok(Deno.statSync(`/proc/${child.pid}`).isDirectory);
    assert.doesNotMatch(Deno.readTextFileSync(`/proc/${child.pid}/stat`), /\) Z /);
  } finally {
    child.kill("SIGKILL");
    await child.status;
  }
});
