/** Run by exec_test.ts in a process of its own: what a process holds can only be counted alone. @module */
import assert from "node:assert/strict";
import { makeWorktree } from "../helpers/worktree.ts";
import { openDescriptors, sh } from "./_exec.ts";

Deno.test(
  "400 commands leave no descriptors, no files and no growing memory",
  async () => {
    using tree = makeWorktree();
    const run = async (count: number) => {
      for (let i = 0; i < count; i++) {
        assert.equal(
          (await sh(tree, `echo ${i}`, { maxBytes: 2000 })).output,
          `${i}\n`,
        );
      }
    };
    await run(50);
    const descriptors = openDescriptors(), before = Deno.memoryUsage();
    await run(350);
    assert.ok(
      openDescriptors() <= descriptors + 2,
      `${openDescriptors()} descriptors, ${descriptors} before`,
    );
    const grown = (Deno.memoryUsage().rss - before.rss) / (1 << 20);
    assert.ok(grown < 60, `grew by ${grown} MB`);
  },
);
