import assert from "node:assert/strict";
import { dirname, join } from "../../src/text/path.ts";
import { journalFolder } from "../../src/session/folder.ts";
import { digest } from "../../src/undo/journal.ts";
import type { FileChange } from "../../src/policy/types.ts";
import { makeWorktree, type TestTree } from "../helpers/worktree.ts";
import { kinds, rig } from "./_rig.ts";

const text = (bytes: Uint8Array | null) => bytes === null ? null : new TextDecoder().decode(bytes);
/** Every file below a directory. */
function filesBelow(root: string): string[] {
  return [...Deno.readDirSync(root)].flatMap(({ name, isDirectory }) =>
    isDirectory ? filesBelow(join(root, name)) : [join(root, name)]
  );
}

Deno.test("the journal has what the guard saw, before anything is changed on disk", async () => {
  using tree = makeWorktree({ files: { a: "old", d: "1" } });
  const seen: unknown[] = [];
  using it = rig(tree, {
    record: async (tool, file: FileChange) => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      const { path, before, written, append, missing } = file;
      const disk = tree.read(path.slice(tree.root.length + 1));
      seen.push([tool, path.slice(tree.work.length + 1), text(before), disk, text(written), append, missing]);
    },
  });
  await it.write("a", "new");
  await it.write("x/y/z", "made");
  await it.write("d", "2", "a");
  await it.call("file_edit", { path: "a", old: "new", new: "newer" });
  assert.deepEqual(seen, [
    ["file_write", "a", "old", "old", "new", false, 0],
    ["file_write", "x/y/z", null, null, "made", false, 2],
    ["file_write", "d", "1", "1", "2", true, 0],
    ["file_edit", "a", "new", "new", "newer", false, 0],
  ]);
});

Deno.test("calls that fail, are refused or only look leave no entry", async () => {
  using tree = makeWorktree({ files: { a: "old" } });
  const seen: string[] = [];
  using it = rig(tree, { record: (_, { path }) => Promise.resolve(void seen.push(path)) });
  await it.call("file_edit", { path: "a", old: "absent", new: "x" });
  await it.write(".git/config", "x");
  await it.call("file_read", { path: "a" });
  assert.deepEqual(seen, []);
});

Deno.test("where the host does not let a change through nothing is written", async () => {
  using tree = makeWorktree({ files: { a: "old" } });
  using it = rig(tree, { record: () => Promise.reject(new Error("no")) });
  const result = await it.write("a", "new");
  assert.match(result.content, /^Error: Nothing was written/);
  assert.equal(tree.read("work/a"), "old");
  assert.equal((await it.write("b/c", "new")).isError, true);
  assert.equal(tree.read("work/b/c"), null);
  assert.throws(() => Deno.statSync(join(tree.work, "b")), Deno.errors.NotFound);
});

Deno.test("a call that ends while its write waits writes nothing, and its worker ends", async () => {
  using tree = makeWorktree({ files: { a: "old" } });
  let waits = () => {}, go = () => {};
  const asked = new Promise<void>((resolve) => waits = resolve);
  const it = rig(tree, {
    record: () => {
      waits();
      return new Promise<void>((resolve) => go = resolve);
    },
  });
  const call = it.write("a", "new");
  await asked;
  it.sandbox.close();
  assert.equal((await call).isError, true);
  go();
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.equal(tree.read("work/a"), "old");
});

Deno.test("a journal that cannot be kept is told once, and work goes on", async () => {
  using tree = makeWorktree({ files: { a: "old" } });
  tree.write("home/.local/state/polyglav", "a file where a folder should be");
  const told: string[] = [];
  using it = rig(tree, { warn: (message) => told.push(message) });
  assert.equal((await it.write("a", "1")).isError, false);
  assert.equal((await it.write("a", "2")).isError, false);
  assert.equal(told.length, 1);
  assert.match(told[0]!, /cannot be taken back/);
});

Deno.test("what is kept is outside the worktree, for the user alone, and the same text once", async () => {
  using tree = makeWorktree({ files: { a: "same", b: "same" } });
  using it = rig(tree);
  await it.write("a", "1");
  await it.write("b", "1");
  await it.write("a", "2");
  const files = filesBelow(join(it.state, "undo"));
  assert.equal(files.length, 3, "the log and two texts");
  for (const file of files) {
    assert.equal(Deno.statSync(file).mode! & 0o777, 0o600, file);
    assert.equal(Deno.statSync(dirname(file)).mode! & 0o777, 0o700);
  }
  assert.deepEqual([...Deno.readDirSync(tree.work)].map(({ name }) => name).sort(), ["a", "b"]);
});

Deno.test("files that are too large, and turns that change too much, say that they cannot be taken back", async () => {
  using tree = makeWorktree({
    files: { "big": new Uint8Array((16 << 20) + 1), "a": "x".repeat(60), "b": "y".repeat(60) },
  });
  using it = rig(tree, { limits: { groups: 5, days: 1, bytes: 1000, group: 100 } });
  for (const path of ["big", "a", "b"]) await it.write(path, "small");
  assert.deepEqual(kinds((await it.undo.plan(it.undo.find())).steps), [
    "big the file was too large to be kept",
    "a restore",
    "b its turn changed more than is kept",
  ]);
});

function turns(tree: TestTree, limits: { groups: number; days: number; bytes: number; group: number }) {
  let time = Date.UTC(2026, 0, 1);
  const it = rig(tree, { limits, now: () => new Date(time) });
  return {
    ...it,
    async turn(number: number, content: string, days = 0) {
      time += days * 86_400_000 + 1;
      it.journal.begin({ session: "s", turn: number });
      await it.write("a", content);
    },
    [Symbol.dispose]: () => it[Symbol.dispose](),
  };
}

for (
  const [name, limits, days, left] of [
    ["number", { groups: 2, days: 1000, bytes: 1e9, group: 1e9 }, 0, [4, 3]],
    ["age", { groups: 100, days: 30, bytes: 1e9, group: 1e9 }, 20, [4, 3]],
    ["size", { groups: 100, days: 1000, bytes: 3000, group: 1e9 }, 0, [4, 3]],
  ] as const
) {
  Deno.test(`old turns make room: by ${name}; the turn itself stays`, async () => {
    using tree = makeWorktree({ files: { a: "0".repeat(1000) } });
    using it = turns(tree, limits);
    for (const turn of [1, 2, 3, 4]) await it.turn(turn, String(turn).repeat(1000), days);
    it.journal.tidy();
    assert.deepEqual(it.undo.groups().map(({ turn }) => turn), left);
  });
}

Deno.test("a torn or foreign log is no reason to fail, and damaged contents are refused", async () => {
  using tree = makeWorktree({ files: { a: "old", b: "old2" } });
  using it = rig(tree);
  await it.write("a", "1");
  await it.write("b", "1");
  const [folder] = [...Deno.readDirSync(join(it.state, "undo"))].map(({ name }) =>
    join(it.state, "undo", name)
  );
  const group = it.undo.find(), at = join(folder!, group.id);
  Deno.writeTextFileSync(join(at, "log.jsonl"), '{"tool":"file_write","path":"/etc/pas', { append: true });
  Deno.mkdirSync(join(folder!, "not-a-group"));
  Deno.mkdirSync(join(folder!, "000000000-0000"));
  Deno.writeTextFileSync(join(folder!, "000000000-0000", "log.jsonl"), '{"v":1,"worktree":"/elsewhere"}\n');
  assert.equal(it.undo.find().entries.length, 2);
  assert.equal(it.undo.groups().length, 1);
  Deno.writeTextFileSync(join(at, group.entries[0]!.before!), "evil");
  Deno.removeSync(join(at, group.entries[1]!.before!));
  assert.deepEqual(kinds(await it.undo.apply(await it.undo.plan(group))), [
    "a what was kept of it is damaged",
    "b what it held is not kept any more",
  ]);
  assert.deepEqual([tree.read("work/a"), tree.read("work/b")], ["1", "1"]);
});

Deno.test("with a folder of the program's own in the worktree the bytes lie there, by their SHA-256, once", async () => {
  using tree = makeWorktree({ files: { a: "same", b: "same", ".polyglav/x": "" } });
  using it = rig(tree, { bytes: () => journalFolder(tree.work) });
  await it.write("a", "1");
  await it.write("b", "1");
  it.journal.begin({ session: "s", turn: 2 });
  await it.write("a", "2");
  const folder = join(tree.work, ".polyglav/journal");
  const kept = [...Deno.readDirSync(folder)].map(({ name }) => name)
    .filter((name) => name !== ".gitignore").sort();
  const hashes = await Promise.all(["same", "1"].map((text) => digest(new TextEncoder().encode(text))));
  assert.deepEqual(kept, hashes.sort());
  assert.equal(Deno.statSync(folder).mode! & 0o777, 0o700);
  assert.deepEqual(filesBelow(join(it.state, "undo")).map((file) => file.split("/").at(-1)), [
    "log.jsonl",
    "log.jsonl",
  ]);
  const [last, first] = it.undo.groups();
  assert.deepEqual(kinds(await it.undo.apply(await it.undo.plan(last!))), ["a restore"]);
  assert.deepEqual(kinds(await it.undo.apply(await it.undo.plan(first!))), ["a restore", "b restore"]);
  assert.deepEqual([tree.read("work/a"), tree.read("work/b")], ["same", "same"]);
});

Deno.test("bytes that a repository brought along or somebody changed are neither trusted nor followed", async () => {
  using tree = makeWorktree({ files: { a: "old", b: "older", ".polyglav/x": "" }, outside: { secret: "s" } });
  const [a, b] = await Promise.all(["old", "older"].map((text) => digest(new TextEncoder().encode(text))));
  tree.write(`work/.polyglav/journal/${a}`, "forged");
  Deno.symlinkSync(join(tree.root, "outside/secret"), join(tree.work, ".polyglav/journal", b!));
  using it = rig(tree, { bytes: () => journalFolder(tree.work) });
  await it.write("a", "1");
  await it.write("b", "1");
  assert.equal(tree.read("outside/secret"), "s");
  const group = it.undo.find();
  Deno.removeSync(join(tree.work, ".polyglav/journal", b!));
  Deno.symlinkSync(join(tree.work, "a"), join(tree.work, ".polyglav/journal", b!));
  assert.deepEqual(kinds(await it.undo.apply(await it.undo.plan(group))), [
    "a restore",
    "b what it held is not kept any more",
  ]);
  assert.deepEqual([tree.read("work/a"), tree.read("work/b")], ["old", "1"]);
});
