import assert from "node:assert/strict";
import { Runs } from "../../src/engine/runs.ts";

function tree() {
  const runs = new Runs(() => new Date(0));
  const start = (
    session: string,
    sessionId: string,
    parent: ReturnType<Runs["start"]> | null,
    role: string | null = "r",
  ) => runs.start({ role, session, sessionId, parent, task: `task of ${session}` });
  const root = start("main", "aaaaaa", null, null);
  const left = start("sub_l", "123456", root), right = start("sub_r", "bbbbbb", root);
  return { runs, root, left, right, leaf: start("sub_x", "cccccc", left) };
}

Deno.test("runs: who started whom, and how each ended", () => {
  const { runs, root, left, right, leaf } = tree();
  assert.deepEqual(root.children, [left, right]);
  assert.equal(leaf.parent, left);
  runs.end(leaf, "error", null);
  assert.deepEqual([leaf.status, leaf.endedAt], ["error", "1970-01-01T00:00:00.000Z"]);
  left.status = "paused";
  runs.end(left, "ok", null);
  assert.equal(left.status, "paused", "a handoff's word stays");
  assert.deepEqual(runs.list().map(({ id }) => id), [1, 2, 3, 4]);
});

Deno.test("runs: words, numbers, ids and names resolve as seen from a run", () => {
  const { runs, root, left, right, leaf } = tree();
  for (
    const [from, word, expected] of [
      [leaf, "root", root],
      [leaf, "PARENT", left],
      [root, "child", left],
      [left, "sibling", right],
      [root, "3", right],
      [root, "#4", leaf],
      [root, "#bbbbbb", right],
      [root, "#123456", left],
      [root, "sub_x", leaf],
    ] as const
  ) assert.equal(runs.resolve(from, word), expected, word);
});

Deno.test("runs: what stands for nothing is an error that says so", () => {
  const { runs, root, leaf } = tree();
  for (
    const [from, word] of [[root, "parent"], [leaf, "child"], [leaf, "sibling"], [root, "9"], [
      root,
      "bbbbbb",
    ], [root, "constructor"]] as const
  ) {
    assert.throws(() => runs.resolve(from, word), /handoff target not found: /, word);
  }
  assert.throws(() => runs.resolve(root, " "), /handoff needs a target/);
});
