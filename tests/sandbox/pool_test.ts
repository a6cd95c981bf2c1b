import assert from "node:assert/strict";
import { join } from "../../src/text/path.ts";
import { makeWorktree } from "../helpers/worktree.ts";
import { names } from "./_guard.ts";
import { alive, shown, TestSandbox, until } from "./_pool.ts";
import { double, evil, evilRun, evilWrite, list, read, write } from "./_tools.ts";

Deno.test("a call runs in a worker, and its result or its error comes back", async () => {
  using tree = makeWorktree({ files: { "a.txt": "text" } });
  using pool = new TestSandbox(tree);
  assert.deepEqual(await pool.run(read, { path: "a.txt" }), { ok: true, output: "text" });
  assert.deepEqual(await pool.run(list, { path: "." }), { ok: true, output: ["file a.txt"] });
  const missing = await pool.run(read, { path: "none" });
  assert.deepEqual(missing, {
    ok: false,
    kind: "not_found",
    message: 'Cannot read "none": there is no such file or directory',
  });
  assert.match(
    shown(await pool.run(evil, { value: "throw new RangeError('odd')" })),
    /^execution: RangeError: odd$/,
  );
  assert.match(shown(await pool.run(evil, { value: "throw 'text'" })), /^execution: text$/);
  assert.match(shown(await pool.run(evil, { value: "return () => 1" })), /^execution: DataCloneError/);
  assert.equal(shown(await pool.run(read, { path: "a.txt" })), "text");
});

Deno.test("a warm worker is used again; another permission set has another worker", async () => {
  using tree = makeWorktree();
  using pool = new TestSandbox(tree);
  const count = "return globalThis.count = (globalThis.count ?? 0) + 1";
  for (const expected of ["1", "2", "3"]) {
    assert.equal(shown(await pool.run(evil, { value: count })), expected);
  }
  assert.equal(shown(await pool.run(evilWrite, { value: count })), "1");
  const alone = { ...pool.scope(evil), oneShot: true };
  assert.equal(shown(await pool.run(evil, { value: count }, {}, alone)), "1");
  assert.equal(shown(await pool.run(evil, { value: count }, {}, alone)), "1");
  assert.equal(shown(await pool.run(evil, { value: count })), "4");
});

Deno.test("warm starts a worker that the first call finds", async () => {
  using tree = makeWorktree();
  using pool = new TestSandbox(tree, { size: 1 });
  pool.sandbox.warm(pool.scope(evil));
  pool.sandbox.warm(pool.scope(evil));
  pool.sandbox.warm({ ...pool.scope(evil), oneShot: true });
  assert.equal(shown(await pool.run(evil, { value: "return 1" })), "1");
});

Deno.test("calls run side by side up to the size, and the rest waits", async () => {
  using tree = makeWorktree();
  using pool = new TestSandbox(tree, { size: 2 });
  const meet = (mine: string, other: string) => `
    Deno.writeTextFileSync(ctx.worktree + "/${mine}", "");
    for (let i = 0; i < 1000; i++) {
      try { Deno.statSync(ctx.worktree + "/${other}"); return "met"; } catch { await new Promise((d) => setTimeout(d, 10)); }
    }
    return "alone";`;
  const calls = [meet("a", "b"), meet("b", "a"), "return 'third'"].map((value) =>
    pool.run(evilWrite, { value })
  );
  assert.deepEqual((await Promise.all(calls)).map(shown), ["met", "met", "third"]);
});

Deno.test("a worker that loops for ever is ended at the timeout and replaced", async () => {
  using tree = makeWorktree({ files: { "a.txt": "text" } });
  using pool = new TestSandbox(tree, { size: 1 });
  const waiting = pool.run(evil, { value: "while (true);" }, { timeout: 300 });
  const next = pool.run(read, { path: "a.txt" });
  assert.deepEqual(await waiting, {
    ok: false,
    kind: "timeout",
    message: "evil did not finish within 300 ms and was ended",
  });
  assert.equal(shown(await next), "text");
});

Deno.test("a worker that dies is its call's error, and the next call gets a new one", async () => {
  using tree = makeWorktree({ files: { "a.txt": "text" } });
  using pool = new TestSandbox(tree, { size: 1 });
  const deaths: [string, RegExp][] = [
    ["self.close(); await new Promise(() => {})", /^execution: evil failed: it ended its own worker$/],
    ["Deno.exit(7)", /^execution: evil failed: it ended its own worker$/],
    ["(await import('node:process')).exit(7)", /^execution: evil failed: it ended its own worker$/],
    [
      "setTimeout(() => { throw new Error('late') }); await new Promise(() => {})",
      /^execution: evil failed: late$/,
    ],
    [
      "Promise.reject(new TypeError('gone')); await new Promise(() => {})",
      /^execution: evil failed: TypeError: gone$/,
    ],
  ];
  for (const [value, message] of deaths) {
    const dying = pool.run(evil, { value }), next = pool.run(read, { path: "a.txt" });
    assert.match(shown(await dying), message, value);
    assert.equal(shown(await next), "text", value);
  }
});

Deno.test("an answer to another call is not believed", async () => {
  using tree = makeWorktree({ files: { "a.txt": "text" } });
  using pool = new TestSandbox(tree, { size: 1 });
  const value = `
    for (let id = 0; id < 50; id++) if (id !== 1) self.postMessage({ type: "done", id, ok: true, output: "forged" });
    return "mine";`;
  assert.equal(shown(await pool.run(evil, { value })), "mine");
  assert.equal(shown(await pool.run(read, { path: "a.txt" })), "text");
});

Deno.test("cancelling: before the start, in the queue, in a loop, and where the handler listens", async () => {
  using tree = makeWorktree({ files: { "a.txt": "text" } });
  using pool = new TestSandbox(tree, { size: 1 });
  const cancelled = { ok: false, kind: "execution", message: "The call was cancelled" } as const;
  assert.deepEqual(await pool.run(evil, { value: "return 1" }, { signal: AbortSignal.abort() }), cancelled);
  const busy = new AbortController(), queued = new AbortController();
  const loop = pool.run(evil, { value: "while (true);" }, { signal: busy.signal });
  const waits = pool.run(evil, { value: "return 1" }, { signal: queued.signal });
  queued.abort();
  assert.deepEqual(await waits, cancelled);
  busy.abort();
  assert.deepEqual(await loop, cancelled);
  const polite = new AbortController();
  const value = `
    ctx.progress("started");
    await new Promise((done) => ctx.signal.addEventListener("abort", done));
    globalThis.polite = true;
    return "stopped";`;
  const onProgress = () => polite.abort();
  assert.equal(shown(await pool.run(evil, { value }, { signal: polite.signal, onProgress })), "stopped");
  assert.equal(
    shown(await pool.run(evil, { value: "return globalThis.polite" })),
    "true",
    "the worker was kept",
  );
});

Deno.test("progress arrives in order, and arguments, configuration and results are data", async () => {
  using tree = makeWorktree();
  using pool = new TestSandbox(tree);
  const seen: string[] = [];
  const value =
    "ctx.progress('one'); ctx.progress('two'); return [ctx.config, ctx.worktree, new Date(0) instanceof Date]";
  const result = await pool.run(evil, { value }, {
    config: { "a.b": [1, null] },
    onProgress: (text) => seen.push(text),
  });
  assert.deepEqual(result, { ok: true, output: [{ "a.b": [1, null] }, tree.work, true] });
  assert.deepEqual(seen, ["one", "two"]);
  assert.match(shown(await pool.run(evil, { value: () => 1 })), /^execution: evil could not be started: /);
  assert.equal(shown(await pool.run(evil, { value: "return 1" })), "1");
});

Deno.test("huge messages pass both ways", async () => {
  using tree = makeWorktree();
  using pool = new TestSandbox(tree);
  const large = "x".repeat(20_000_000);
  const result = await pool.run(evil, { value: `return "${large}".length + "," + "y".repeat(30_000_000)` });
  assert.ok(result.ok);
  assert.equal(String(result.output).length, 30_000_009);
});

Deno.test("fanout: results in order, also with one worker alone", async () => {
  using tree = makeWorktree();
  const inputs = Array.from({ length: 40 }, (_, i) => i);
  for (const size of [1, 2, 4]) {
    using pool = new TestSandbox(tree, { size });
    for (let round = 0; round < 3; round++) {
      const result = await pool.run(double, { value: JSON.stringify(inputs) });
      assert.deepEqual(result, { ok: true, output: inputs.map((input) => input * 2) });
    }
    assert.deepEqual(await pool.run(double, { value: "[]" }), { ok: true, output: [] });
    const many = await Promise.all(
      [1, 2, 3, 4, 5].map(() => pool.run(double, { value: JSON.stringify(inputs) })),
    );
    for (const result of many) {
      assert.deepEqual(result, {
        ok: true,
        output: inputs.map((input) => input * 2),
      });
    }
  }
});

Deno.test("fanout: more than one worker takes part", async () => {
  using tree = makeWorktree();
  using pool = new TestSandbox(tree, { size: 2 });
  pool.sandbox.warm(pool.scope(double));
  await Promise.all(
    [1, 2].map(() => pool.run(evil, { value: "await new Promise((d) => setTimeout(d, 50))" })),
  );
  const workers = new Set<unknown>();
  const value = JSON.stringify(Array.from({ length: 30 }, () => "worker"));
  const result = await pool.run(double, { value });
  assert.ok(result.ok);
  for (const worker of result.output as unknown[]) workers.add(worker);
  assert.equal(workers.size, 2);
});

Deno.test("fanout: a part that fails, hangs or ends its worker is the call's error, and the pool goes on", async () => {
  using tree = makeWorktree({ files: { "a.txt": "text" } });
  for (const size of [1, 2]) {
    using pool = new TestSandbox(tree, { size });
    const value = (part: string) => JSON.stringify([...Array(10).keys(), part, ...Array(10).keys()]);
    assert.match(shown(await pool.run(double, { value: value("fail") })), /^execution: this part failed$/);
    const hung = await pool.run(double, { value: value("hang") }, { timeout: 500 });
    assert.match(shown(hung), /^timeout: double did not finish/);
    assert.match(
      shown(await pool.run(double, { value: value("close") })),
      /ended its own worker|worker ended/,
    );
    assert.equal(shown(await pool.run(read, { path: "a.txt" })), "text");
    assert.deepEqual(await pool.run(double, { value: "[1,2,3]" }), { ok: true, output: [2, 4, 6] });
  }
});

Deno.test("no file tool runs while a command runs, and the other way round", async () => {
  using tree = makeWorktree({ files: { "a.txt": "text" } });
  using pool = new TestSandbox(tree);
  const order: string[] = [];
  const log = (name: string) => () => order.push(name);
  const slow = (name: string) =>
    `ctx.progress("${name}"); await new Promise((d) => setTimeout(d, 150)); return 1`;
  const calls = [
    pool.run(evilRun, { value: slow("command") }, { onProgress: log("command starts") }).then(
      log("command ends"),
    ),
    pool.run(evil, { value: slow("file") }, { onProgress: log("file starts") }).then(log("file ends")),
    pool.run(evilRun, { value: slow("again") }, { onProgress: log("again starts") }).then(log("again ends")),
  ];
  await Promise.all(calls);
  assert.deepEqual(order, [
    "command starts",
    "command ends",
    "file starts",
    "file ends",
    "again starts",
    "again ends",
  ]);
});

Deno.test("children of a command die with its worker: cancelled, timed out, or the sandbox closed", async () => {
  using tree = makeWorktree();
  const start = `
    ctx.exec(["/bin/sh", "-c", "echo $$ > pid; sleep 300 & echo $! > child; wait"], { timeout: 300_000 });
    while (true) try { if (Deno.readTextFileSync(ctx.worktree + "/child")) break; } catch { await new Promise((d) => setTimeout(d, 10)); }
    ctx.progress("running");
    while (true);`;
  for (const way of ["cancel", "timeout", "close"]) {
    using pool = new TestSandbox(tree);
    const abort = new AbortController();
    const onProgress = () => {
      if (way === "cancel") abort.abort();
      else if (way === "close") pool.sandbox.close();
    };
    // A busy machine may need longer than the timeout to start the command at all.
    for (let timeout = 2000; tree.read("work/child") === null; timeout *= 2) {
      const result = await pool.run(evilRun, { value: start }, {
        signal: abort.signal,
        timeout: way === "timeout" ? timeout : 60_000,
        onProgress,
        env: { PATH: "/usr/bin:/bin" },
      });
      assert.equal(result.ok, false, shown(result));
    }
    const pids = ["pid", "child"].map((name) => Number(tree.read(`work/${name}`)));
    assert.ok(pids.every((pid) => pid > 1), way);
    await until(() => !pids.some(alive), `${way}: the children end`);
    for (const name of ["pid", "child"]) Deno.removeSync(join(tree.work, name));
  }
});

Deno.test("a closed sandbox starts again when it is used, and leaves no folder of its own", async () => {
  using tree = makeWorktree({ files: { "a.txt": "text" } });
  using pool = new TestSandbox(tree);
  const value = `return Deno.permissions.querySync({ name: "write", path: "/tmp" }).state`;
  assert.match(shown(await pool.run(evilRun, { value })), /prompt|denied/);
  pool.sandbox.close();
  pool.sandbox.close();
  assert.equal(shown(await pool.run(read, { path: "a.txt" })), "text");
});

Deno.test("a preview reads, but cannot write, even where the call may", async () => {
  using tree = makeWorktree({ files: { "a.txt": "text" } });
  using pool = new TestSandbox(tree);
  const call = { config: {}, timeout: 10_000, env: {} };
  assert.equal(
    await pool.sandbox.preview(write, { path: "a.txt" }, pool.scope(write), call),
    "would write over text",
  );
  await assert.rejects(
    pool.sandbox.preview(write, { path: "none" }, pool.scope(write), call),
    /no such file/,
  );
  assert.equal(await pool.sandbox.preview(read, { path: "a.txt" }, pool.scope(read), call), "");
});

Deno.test("a write that fails at its last step leaves neither the temporary file nor a change", async () => {
  using tree = makeWorktree({ outside: { "a": "old" } });
  using pool = new TestSandbox(tree);
  const path = join(tree.outside, "a"), temporary = join(tree.outside, ".t.tmp");
  const guard = { consented: [{ path, access: "write" as const }], temporary: ".t.tmp" };
  // The worker may write the sibling, but not the file itself, so that the rename fails.
  const scope = pool.scope(write, guard, { read: [tree.work, path, temporary], write: [temporary] });
  const result = await pool.run(write, { path, value: "new" }, {}, { ...scope, oneShot: true });
  assert.equal(result.ok, false, shown(result));
  assert.equal(tree.read("outside/a"), "old");
  assert.deepEqual(names(tree.outside), ["a"]);
});

Deno.test("a consented file outside is written by a worker that may touch it and its sibling alone", async () => {
  using tree = makeWorktree({ outside: { "a": "old", "b": "other" } });
  using pool = new TestSandbox(tree);
  for (const name of ["a", "new"]) {
    const path = join(tree.outside, name), temporary = join(tree.outside, ".t.tmp");
    const guard = { consented: [{ path, access: "write" as const }], temporary: ".t.tmp" };
    const scope = {
      ...pool.scope(write, guard, { read: [tree.work, path, temporary], write: [path, temporary] }),
      oneShot: true,
    };
    const result = await pool.run(write, { path: `../outside/${name}`, value: "written" }, {}, scope);
    assert.deepEqual(result, { ok: true, output: { path, created: name === "new", inPlace: false } });
    assert.equal(tree.read(`outside/${name}`), "written");
    const other = await pool.run(write, { path: "../outside/b", value: "written" }, {}, scope);
    assert.match(shown(other), /^permission: /);
  }
  assert.equal(tree.read("outside/b"), "other");
  assert.deepEqual(names(tree.outside), ["a", "b", "new"]);
});
