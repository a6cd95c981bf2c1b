/** Writes wait for the host; what a worker says about them is only believed where the call may write. @module */
import assert from "node:assert/strict";
import type { FileChange } from "../../src/sandbox/pool.ts";
import { makeWorktree } from "../helpers/worktree.ts";
import { shown, TestSandbox } from "./_pool.ts";
import { evilWrite, write } from "./_tools.ts";

const forged = (path: string, more: string) =>
  `const flag = new SharedArrayBuffer(4);
   for (let id = 1; id < 5; id++) {
     postMessage({ type: "writing", id, flag, change: { path: ${
    JSON.stringify(path)
  }, before: new Uint8Array([1]),
       mode: 420, written: new Uint8Array([2]), append: false, missing: 0, tooLarge: false }, ${more} });
   }
   Atomics.wait(new Int32Array(flag), 0, 0, 300);
   return String(Atomics.load(new Int32Array(flag), 0));`;

Deno.test("a worker's word about a place that its call may not write is not taken note of", async () => {
  using tree = makeWorktree();
  using pool = new TestSandbox(tree);
  const seen: FileChange[] = [];
  const onWrite = (change: FileChange) => Promise.resolve(void seen.push(change));
  for (const path of ["/etc/passwd", `${tree.outside}/x`, `${tree.work}x`, tree.home]) {
    assert.equal(shown(await pool.run(evilWrite, { value: forged(path, "") }, { onWrite })), "2", path);
  }
  assert.deepEqual(seen, []);
});

Deno.test("messages that make no sense end neither the host nor other calls", async () => {
  using tree = makeWorktree();
  using pool = new TestSandbox(tree);
  const seen: FileChange[] = [];
  const onWrite = (change: FileChange) => Promise.resolve(void seen.push(change));
  const inside = `${tree.work}/a`;
  for (
    const more of [
      "flag: {}",
      "flag: null",
      "flag: new SharedArrayBuffer(0)",
      "flag: new SharedArrayBuffer(1 << 16)",
      "flag: new ArrayBuffer(4)",
      "change: null",
      "change: { path: 5 }",
      `change: { path: ${JSON.stringify(inside)}, before: "text" }`,
      `change: { path: ${JSON.stringify(inside)}, before: null, written: null, mode: null, missing: 0 }`,
    ]
  ) await pool.run(evilWrite, { value: forged(inside, more) }, { onWrite });
  assert.deepEqual(seen, []);
  assert.equal((await pool.run(write, { path: "a", value: "text" }, { onWrite })).ok, true);
  assert.deepEqual(seen.map(({ path }) => path), [inside]);
  assert.equal(tree.read("work/a"), "text");
});

Deno.test("without anybody who takes note, writes do not wait", async () => {
  using tree = makeWorktree();
  using pool = new TestSandbox(tree);
  assert.equal((await pool.run(write, { path: "a", value: "text" })).ok, true);
  assert.equal(tree.read("work/a"), "text");
});

Deno.test("a cancelled call that waits with its write ends, writes nothing, and leaves the pool working", async () => {
  using tree = makeWorktree();
  using pool = new TestSandbox(tree);
  const controller = new AbortController();
  const result = await pool.run(write, { path: "a", value: "text" }, {
    signal: controller.signal,
    onWrite: () => {
      controller.abort();
      return new Promise(() => {});
    },
  });
  assert.equal(result.ok, false);
  assert.equal(tree.read("work/a"), null);
  assert.equal(
    (await pool.run(write, { path: "b", value: "text" }, { onWrite: () => Promise.resolve() })).ok,
    true,
  );
});
