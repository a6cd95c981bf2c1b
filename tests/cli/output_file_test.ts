import assert from "node:assert/strict";
import { checkOutput } from "../../src/cli/_output_file.ts";
import { UsageError } from "../../src/errors.ts";
import { join } from "../../src/text/path.ts";
import { makeWorktree } from "../helpers/worktree.ts";

Deno.test("a file in the project is written where no link of the project leads out", () => {
  using tree = makeWorktree({
    files: { "real/a.jsonl": "x", "b.jsonl": "x" },
    outside: { "k.txt": "K" },
    links: {
      "out.jsonl": "../outside/k.txt",
      "nothing.jsonl": "../outside/none.txt",
      "loop": "loop",
      "d": "../outside",
      "in.jsonl": "real/a.jsonl",
      "e": "real",
    },
  });
  const check = (path: string) => checkOutput("run: --record", path, tree.work);
  for (const path of ["out.jsonl", "nothing.jsonl", "loop", "d/new.jsonl", "d/k.txt"]) {
    assert.throws(
      () => check(join(tree.work, path)),
      (error) => error instanceof UsageError && /is a link that leads out of the project/.test(error.message),
      path,
    );
  }
  for (const path of ["b.jsonl", "new.jsonl", "no/such/folder.jsonl", "in.jsonl", "e/new.jsonl"]) {
    check(join(tree.work, path));
  }
});

Deno.test("a file elsewhere is the person's own, links included", () => {
  using tree = makeWorktree({ outside: { "k.txt": "K" } });
  Deno.symlinkSync("k.txt", join(tree.outside, "l"));
  for (const path of ["k.txt", "l", "new"]) {
    checkOutput("run: --record", join(tree.outside, path), tree.work);
  }
  // Into the project by a link from elsewhere: what counts is whether it leaves again.
  Deno.symlinkSync(tree.work, join(tree.outside, "w"));
  checkOutput("run: --record", join(tree.outside, "w/new"), tree.work);
  Deno.symlinkSync("../outside/k.txt", join(tree.work, "back"));
  assert.throws(() => checkOutput("run: --record", join(tree.outside, "w/back"), tree.work), UsageError);
});
