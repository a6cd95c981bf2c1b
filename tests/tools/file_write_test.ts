import assert from "node:assert/strict";
import { ToolError } from "../../src/errors.ts";
import { fileWrite } from "../../tools/file_write.ts";
import { makeWorktree } from "../helpers/worktree.ts";
import { preview, run, runFully, withMethods, workspaceOf } from "./_workspace.ts";

const posix = Deno.build.os !== "windows";

Deno.test("created, overwritten and appended, with the size of what was given", async () => {
  using tree = makeWorktree({ files: { "f.txt": "a" } });
  assert.equal(
    await run(fileWrite, tree, { path: "deep/dir/f.txt", content: "one\ntwo\n" }),
    `Created ${tree.work}/deep/dir/f.txt (2 lines, 8 chars)`,
  );
  assert.equal(tree.read("work/deep/dir/f.txt"), "one\ntwo\n");
  assert.equal(
    await run(fileWrite, tree, { path: "f.txt", content: "b", mode: "a" }),
    `Appended ${tree.work}/f.txt (1 lines, 1 chars)`,
  );
  assert.equal(tree.read("work/f.txt"), "ab");
  assert.equal(
    await run(fileWrite, tree, { path: "f.txt", content: "ñ😀" }),
    `Overwritten ${tree.work}/f.txt (1 lines, 2 chars)`,
  );
  assert.equal(tree.read("work/f.txt"), "ñ😀");
  assert.equal(
    await run(fileWrite, tree, { path: "new.txt", content: "", mode: "a" }),
    `Created ${tree.work}/new.txt (0 lines, 0 chars)`,
  );
});

Deno.test("any other mode is an error and nothing is written", async () => {
  using tree = makeWorktree({ files: { "f.txt": "keep" } });
  for (const mode of ["x", "append", "W", ""]) {
    assert.match(await run(fileWrite, tree, { path: "f.txt", content: "b", mode }), /^Error: .*mode/, mode);
  }
  assert.equal(tree.read("work/f.txt"), "keep");
});

Deno.test("details carry the whole diff and the path", async () => {
  using tree = makeWorktree({ files: { "f.txt": "a\nb\n" } });
  const { details } = await runFully(fileWrite, tree, { path: "f.txt", content: "a\nc\n" });
  assert.deepEqual(details, { diff: "@@ -1,2 +1,2 @@\n a\n-b\n+c", wrote: [`${tree.work}/f.txt`] });
  const appended = await runFully(fileWrite, tree, { path: "f.txt", content: "d\n", mode: "a" });
  assert.equal(appended.details?.diff, "@@ -1,2 +1,3 @@\n a\n c\n+d");
});

Deno.test("mode bits stay, and a link's target is written", { ignore: !posix }, async () => {
  using tree = makeWorktree({
    files: { "run.sh": "old", "real/a.txt": "old" },
    links: { "link.txt": "real/a.txt" },
  });
  Deno.chmodSync(`${tree.work}/run.sh`, 0o750);
  await run(fileWrite, tree, { path: "run.sh", content: "new" });
  assert.equal(Deno.statSync(`${tree.work}/run.sh`).mode! & 0o777, 0o750);
  assert.equal(
    await run(fileWrite, tree, { path: "link.txt", content: "new" }),
    `Overwritten ${tree.work}/real/a.txt (1 lines, 3 chars)`,
  );
  assert.equal(Deno.lstatSync(`${tree.work}/link.txt`).isSymlink, true);
  assert.equal(tree.read("work/real/a.txt"), "new");
});

Deno.test(
  "a file with several hard links is written in place, and the result says so",
  { ignore: !posix },
  async () => {
    using tree = makeWorktree({ files: { "a.txt": "old" } });
    Deno.linkSync(`${tree.work}/a.txt`, `${tree.work}/b.txt`);
    assert.match(
      await run(fileWrite, tree, { path: "a.txt", content: "new" }),
      /\(1 lines, 3 chars\); written in place/,
    );
    assert.equal(tree.read("work/b.txt"), "new");
  },
);

Deno.test("a file whose lines all end in CRLF keeps them", async () => {
  using tree = makeWorktree({ files: { "w.txt": "a\r\nb\r\n", "mixed.txt": "a\r\nb\n", "one.txt": "a" } });
  assert.match(
    await run(fileWrite, tree, { path: "w.txt", content: "c\nd\n" }),
    /\(2 lines, 4 chars\); kept its CRLF line ends$/,
  );
  assert.equal(tree.read("work/w.txt"), "c\r\nd\r\n");
  await run(fileWrite, tree, { path: "w.txt", content: "e\n", mode: "a" });
  assert.equal(tree.read("work/w.txt"), "c\r\nd\r\ne\r\n");
  await run(fileWrite, tree, { path: "w.txt", content: "explicit\r\nmixed\n" });
  assert.equal(tree.read("work/w.txt"), "explicit\r\nmixed\n");
  await run(fileWrite, tree, { path: "mixed.txt", content: "x\n" });
  assert.equal(tree.read("work/mixed.txt"), "x\n");
  await run(fileWrite, tree, { path: "one.txt", content: "x\n" });
  assert.equal(tree.read("work/one.txt"), "x\n");
});

Deno.test("an append keeps a file's UTF-16", async () => {
  using tree = makeWorktree({ files: { "u.txt": Uint8Array.of(0xff, 0xfe, 0x61, 0) } });
  await run(fileWrite, tree, { path: "u.txt", content: "é", mode: "a" });
  assert.deepEqual(Deno.readFileSync(`${tree.work}/u.txt`), Uint8Array.of(0xff, 0xfe, 0x61, 0, 0xe9, 0));
});

Deno.test("nothing is written outside, through links that dangle either", async () => {
  using tree = makeWorktree({
    files: { "a.txt": "" },
    outside: { "s.txt": "SECRET" },
    links: { "drop.txt": "../outside/pwned", "sub/drop2.txt": "../../outside/pwned", "out": "../outside" },
  });
  for (
    const path of [
      "drop.txt",
      "sub/drop2.txt",
      "out/pwned",
      "../outside/pwned",
      `${tree.outside}/pwned`,
      "../outside/s.txt",
    ]
  ) {
    for (const mode of ["w", "a"]) {
      assert.match(await run(fileWrite, tree, { path, content: "owned", mode }), /^Error: /, path);
    }
  }
  assert.deepEqual([...Deno.readDirSync(tree.outside)].map((entry) => entry.name), ["s.txt"]);
  assert.equal(tree.read("outside/s.txt"), "SECRET");
});

Deno.test("a directory, a name that asks for one, half a surrogate", async () => {
  using tree = makeWorktree({ files: { "d/a": "" } });
  assert.equal(
    await run(fileWrite, tree, { path: "d", content: "x" }),
    "Error: d is a directory; add a file name",
  );
  assert.equal(
    await run(fileWrite, tree, { path: "n/", content: "x" }),
    "Error: n/ names a directory; add a file name",
  );
  assert.match(await run(fileWrite, tree, { path: "a.txt", content: "\ud800" }), /^Error: /);
  assert.equal(tree.read("work/a.txt"), null);
});

Deno.test("a failed write is an error", async () => {
  using tree = makeWorktree({ files: { "a.txt": "old" } });
  const workspace = withMethods(workspaceOf(tree), {
    writeFile: () => {
      throw new ToolError("Cannot write a.txt: no space left on device");
    },
  });
  assert.equal(
    await run(fileWrite, tree, { path: "a.txt", content: "new" }, { workspace }),
    "Error: Cannot write a.txt: no space left on device",
  );
});

Deno.test("the preview of a new file shows its beginning", async () => {
  using tree = makeWorktree();
  assert.equal(
    await preview(fileWrite, tree, { path: "n.txt", content: "a\nb\n" }),
    `n.txt\n+ a\n+ b\n(${tree.work}/n.txt - 2 lines, 4 chars, created)`,
  );
  const long = (await preview(fileWrite, tree, { path: "n.txt", content: "x\n".repeat(30) })).split("\n");
  assert.equal(long.length, 23);
  assert.equal(long[21], "+ … (30 lines total)");
  assert.equal(tree.read("work/n.txt"), null);
});

Deno.test("the preview of a change is a diff, also of an append", async () => {
  using tree = makeWorktree({ files: { "a.txt": "1\n2\n", "big.txt": "x\n".repeat(100), "b.bin": "a\0" } });
  assert.equal(
    await preview(fileWrite, tree, { path: "a.txt", content: "1\n3\n" }),
    `a.txt\n@@ -1,2 +1,2 @@\n 1\n-2\n+3\n(${tree.work}/a.txt - 2 lines, 4 chars, overwritten)`,
  );
  assert.equal(
    await preview(fileWrite, tree, { path: "a.txt", content: "3\n", mode: "a" }),
    `a.txt\n@@ -1,2 +1,3 @@\n 1\n 2\n+3\n(${tree.work}/a.txt - 1 lines, 2 chars, appended)`,
  );
  const cut = (await preview(fileWrite, tree, { path: "big.txt", content: "y\n" })).split("\n");
  assert.equal(cut.length, 43);
  assert.match(cut[41]!, /^… \(62 more diff lines\)$/);
  assert.match(await preview(fileWrite, tree, { path: "a.txt", content: "1\n2\n" }), /\n\(no change\)\n/);
  assert.match(
    await preview(fileWrite, tree, { path: "b.bin", content: "x" }),
    /\n\(binary or large file; no diff\)\n/,
  );
});
