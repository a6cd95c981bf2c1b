import assert from "node:assert/strict";
import { Sandbox, type SandboxResult } from "../../src/sandbox/pool.ts";
import type { CallScope } from "../../src/policy/types.ts";
import { grep } from "../../tools/grep.ts";
import { makeWorktree, type TestTree } from "../helpers/worktree.ts";
import { run } from "./_workspace.ts";

/** grep in workers, with the permission to read the worktree and nothing else. */
function start(
  tree: TestTree,
): { search(args: object, timeout?: number): Promise<SandboxResult> } & Disposable {
  const sandbox = new Sandbox({ worktree: tree.work });
  const scope: CallScope = {
    permissions: { read: [tree.work], write: [], run: [], net: [], env: [] },
    guard: {
      worktree: tree.work,
      home: tree.home,
      roots: [{ path: tree.work, access: "read" }],
      rules: [],
      consented: [],
    },
    oneShot: false,
  };
  const defaults = { path: ".", glob: "*", context: 0, ignored: false };
  return {
    search: (args, timeout = 60_000) =>
      sandbox.run(grep, { ...defaults, ...args }, scope, { config: {}, timeout, env: {} }),
    [Symbol.dispose]: () => sandbox.close(),
  };
}

Deno.test("a pattern that never ends is given up, and the next search works", async () => {
  using tree = makeWorktree({ files: { "a.txt": `${"a".repeat(64)}!\n` } });
  using workers = start(tree);
  const endless = await workers.search({ pattern: "(a+)+$" }, 1_500);
  assert.equal(endless.ok, false);
  assert.equal(endless.ok === false && endless.kind, "timeout");
  const next = await workers.search({ pattern: "aaa!" });
  assert.match(next.ok ? String(next.output) : next.message, /^a\.txt:1: a+!$/);
});

Deno.test("grep has a time limit and says what to do when it is reached", () => {
  assert.ok(typeof grep.timeout === "number" && grep.timeout < 20_000);
  assert.match(grep.timeoutHint!, /simplify the pattern/);
});

Deno.test("several workers find what one finds", async () => {
  const files: Record<string, string> = {};
  for (let d = 0; d < 70; d++) {
    for (let f = 0; f < 12; f++) {
      files[`d${d % 7}/e${d}/f${f}.txt`] = `line\nneedle ${d}-${f}\n`.repeat(f % 3);
    }
  }
  using tree = makeWorktree({ files });
  using workers = start(tree);
  for (const pattern of ["needle \\d+-1$", "needle", "absent"]) {
    const result = await workers.search({ pattern });
    assert.equal(result.ok && result.output, await run(grep, tree, { pattern }));
  }
});
