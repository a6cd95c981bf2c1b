import assert from "node:assert/strict";
import { listDir } from "../../tools/list_dir.ts";
import { makeWorktree } from "../helpers/worktree.ts";
import { run } from "./_workspace.ts";

Deno.test("directories first, then names without regard to case, sizes in bytes", async () => {
  using tree = makeWorktree({ files: { "b.txt": "hello", "A.txt": "é", "src/x": "", "Lib/y": "" } });
  assert.equal(await run(listDir, tree, {}), ".:\n  Lib/\n  src/\n  A.txt  2\n  b.txt  5");
});

Deno.test("depth gives a tree; the skip list is shown and not opened", async () => {
  using tree = makeWorktree({
    files: {
      "p/src/mod.ts": "x",
      "p/src/deep/leaf.ts": "yy",
      "p/node_modules/lib/i.js": "z",
      "p/b.txt": "hello",
    },
  });
  assert.equal(await run(listDir, tree, { path: "p" }), "p:\n  node_modules/\n  src/\n  b.txt  5");
  assert.equal(
    await run(listDir, tree, { path: "p", depth: 3 }),
    "p:\n  node_modules/\n  src/\n    deep/\n      leaf.ts  2\n    mod.ts  1\n  b.txt  5",
  );
  assert.equal(
    await run(listDir, tree, { path: "p", depth: 2 }),
    "p:\n  node_modules/\n  src/\n    deep/\n    mod.ts  1\n  b.txt  5",
  );
});

Deno.test("a directory of the skip list that is named is opened", async () => {
  using tree = makeWorktree({ files: { "node_modules/lib/dist/i.js": "z" } });
  assert.equal(
    await run(listDir, tree, { path: "node_modules", depth: 3 }),
    "node_modules:\n  lib/\n    dist/\n      i.js  1",
  );
});

Deno.test("the cap counts every entry of the tree", async () => {
  using tree = makeWorktree({ files: Object.fromEntries([0, 1, 2, 3, 4].map((i) => [`d/f${i}.txt`, "x"])) });
  const config = { list_dir_max_entries: 3 };
  assert.equal(
    await run(listDir, tree, { path: "d" }, { config }),
    "d:\n  f0.txt  1\n  f1.txt  1\n  f2.txt  1\n... (showing first 3 of 5 entries)",
  );
  assert.match(
    await run(listDir, tree, { depth: 2 }, { config }),
    /\n\.\.\. \(showing first 3 of 6 entries\)$/,
  );
  assert.doesNotMatch(
    await run(listDir, tree, { path: "d" }, { config: { list_dir_max_entries: 5 } }),
    /showing/,
  );
  assert.doesNotMatch(
    await run(listDir, tree, { path: "d" }, { config: { list_dir_max_entries: 0 } }),
    /showing/,
  );
});

Deno.test("empty is a note", async () => {
  using tree = makeWorktree();
  Deno.mkdirSync(`${tree.work}/e`);
  const result = await run(listDir, tree, { path: "e" });
  assert.equal(result, "e:\n(empty directory)");
  assert.equal(listDir.note!(result), true);
  assert.equal(listDir.note!("e:\n  a/"), false);
});

Deno.test("errors point to what helps", async () => {
  using tree = makeWorktree({ files: { "a.txt": "x", "source/b": "" } });
  assert.equal(
    await run(listDir, tree, { path: "a.txt" }),
    "Error: a.txt is not a directory (use file_read instead)",
  );
  assert.equal(await run(listDir, tree, { path: "nope" }), "Error: path not found: nope");
  assert.equal(
    await run(listDir, tree, { path: "sorce" }),
    "Error: path not found: sorce (did you mean source?)",
  );
  assert.equal(await run(listDir, tree, { depth: -1 }), "Error: depth must be 0 or more, got -1");
});

Deno.test("links are marked and never entered: not in circles, not out of the worktree", async () => {
  using tree = makeWorktree({
    files: { "real/a.txt": "x" },
    outside: { "s.txt": "secret" },
    links: {
      "real/loop": "..",
      "out": "../outside",
      "out.txt": "../outside/s.txt",
      "in.txt": "real/a.txt",
      "gone": "nowhere",
    },
  });
  assert.equal(
    await run(listDir, tree, { depth: 5 }),
    [
      ".:",
      "  real/",
      "    a.txt  1",
      "    loop/  (link)",
      "  gone  (broken link)",
      "  in.txt  1  (link)",
      "  out  (link out of reach)",
      "  out.txt  (link out of reach)",
    ].join("\n"),
  );
  assert.match(await run(listDir, tree, { path: "out" }), /^Error: /);
});

Deno.test("a name with a line break stays on its line", { ignore: Deno.build.os === "windows" }, async () => {
  using tree = makeWorktree({ files: { "a\n  fake.txt": "x" } });
  assert.equal(await run(listDir, tree, {}), ".:\n  a\\n  fake.txt  1");
});

Deno.test("the policy is asked for listing, not for reading", () => {
  assert.deepEqual(listDir.paths!({ path: "x", depth: 1 }), [{ path: "x", access: "list" }]);
});
