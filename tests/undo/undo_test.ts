import assert from "node:assert/strict";
import { join } from "../../src/text/path.ts";
import { snapshot } from "../security/_layers.ts";
import { makeWorktree } from "../helpers/worktree.ts";
import { kinds, rig } from "./_rig.ts";

const mode = (path: string) => Deno.statSync(path).mode! & 0o777;

Deno.test("a turn is taken back exactly: edited, made, appended to and written twice, modes kept, nothing else", async () => {
  using tree = makeWorktree({
    files: {
      "a.txt": "one\n",
      "b.sh": "#!/bin/sh\n",
      "c.txt": "c\n",
      "other.txt": "other\n",
      "bin": new Uint8Array([0, 255, 1]),
    },
  });
  Deno.chmodSync(join(tree.work, "b.sh"), 0o755);
  const before = snapshot(tree.work);
  using it = rig(tree);
  it.journal.begin({ session: "s", turn: 1 });
  await it.call("file_edit", { path: "a.txt", old: "one", new: "two" });
  await it.call("file_edit", { path: "a.txt", old: "two", new: "three" });
  await it.write("b.sh", "echo\n", "a");
  await it.write("c.txt", "C\n");
  await it.write("bin", "text");
  await it.write("d/e/f.txt", "new\n");
  const after = snapshot(tree.work);
  const plan = await it.undo.plan(it.undo.find("1", "s"));
  assert.deepEqual(kinds(plan.steps), [
    "a.txt restore",
    "b.sh restore",
    "c.txt restore",
    "bin restore",
    "d/e/f.txt remove",
  ]);
  assert.match(plan.steps[0]!.diff, /-three\n\+one$/);
  assert.deepEqual(snapshot(tree.work), after, "a look changes nothing");
  const steps = await it.undo.apply(plan);
  assert.ok(steps.every(({ problem }) => problem === null), JSON.stringify(steps));
  assert.deepEqual(snapshot(tree.work), before);
  assert.equal(mode(join(tree.work, "b.sh")), 0o755);
  assert.throws(() => it.undo.find("1", "s"), /taken back already/);
  assert.throws(() => it.undo.find(), /nothing to take back/);
});

Deno.test("what changed since is left alone and says so; the other files of the turn are taken back", async () => {
  using tree = makeWorktree({ files: { a: "1", b: "1", c: "1" } });
  using it = rig(tree);
  for (const path of ["a", "b", "c"]) await it.write(path, "2");
  await it.write("n", "new");
  tree.write("work/b", "mine");
  tree.write("work/n", "new, and mine");
  const group = it.undo.find();
  assert.deepEqual(kinds((await it.undo.plan(group)).steps), [
    "a restore",
    "b it changed since",
    "c restore",
    "n it changed since",
  ]);
  await it.undo.apply(await it.undo.plan(group));
  assert.deepEqual(["a", "b", "c", "n"].map((path) => tree.read(`work/${path}`)), [
    "1",
    "mine",
    "1",
    "new, and mine",
  ]);
  // Put right by hand, the rest can be taken back too.
  tree.write("work/b", "2");
  tree.write("work/n", "new");
  assert.deepEqual(kinds(await it.undo.apply(await it.undo.plan(it.undo.find()))), ["b restore", "n remove"]);
  assert.deepEqual([tree.read("work/b"), tree.read("work/n")], ["1", null]);
});

Deno.test("a file that changes between the look and the deed is left alone", async () => {
  using tree = makeWorktree({ files: { a: "1" } });
  using it = rig(tree);
  await it.write("a", "2");
  const plan = await it.undo.plan(it.undo.find());
  tree.write("work/a", "3");
  assert.deepEqual(kinds(await it.undo.apply(plan)), ["a it changed since"]);
  assert.equal(tree.read("work/a"), "3");
});

Deno.test("a removed file comes back with its mode, one that the turn made stays away", async () => {
  using tree = makeWorktree({ files: { "x/a": "1" } });
  Deno.chmodSync(join(tree.work, "x/a"), 0o640);
  using it = rig(tree);
  await it.write("x/a", "2");
  await it.write("b", "2");
  Deno.removeSync(join(tree.work, "x"), { recursive: true });
  Deno.removeSync(join(tree.work, "b"));
  assert.deepEqual(kinds(await it.undo.apply(await it.undo.plan(it.undo.find()))), ["x/a create", "b none"]);
  assert.deepEqual([tree.read("work/x/a"), tree.read("work/b")], ["1", null]);
  assert.equal(mode(join(tree.work, "x/a")), 0o640);
});

Deno.test("writes of somebody else between those of the turn are not lost", async () => {
  using tree = makeWorktree({ files: { a: "1" } });
  using it = rig(tree);
  await it.write("a", "2");
  tree.write("work/a", "mine");
  await it.write("a", "mine\nand more", "w");
  assert.match(kinds((await it.undo.plan(it.undo.find())).steps)[0]!, /something else changed it/);
});

Deno.test("turns are taken back one after the other, the newest first; an older one is refused before", async () => {
  using tree = makeWorktree({ files: { a: "0" } });
  using it = rig(tree);
  for (const turn of [1, 2, 3]) {
    it.journal.begin({ session: "s", turn });
    await it.write("a", String(turn));
    if (turn === 2) await it.write("b", "2");
  }
  assert.deepEqual(it.undo.groups().map(({ turn }) => turn), [3, 2, 1]);
  assert.deepEqual(kinds((await it.undo.plan(it.undo.find("2"))).steps), ["a it changed since", "b remove"]);
  for (const wanted of ["2", "1", "0"]) {
    await it.undo.apply(await it.undo.plan(it.undo.find()));
    assert.equal(tree.read("work/a"), wanted);
  }
  assert.throws(() => it.undo.find("7"), /turn 7 wrote nothing/);
  assert.throws(() => it.undo.find("1", "other"), /in session "other"/);
});

Deno.test("directories that the turn made go when they are empty, and stay when something else is in them", async () => {
  using tree = makeWorktree({ files: { "keep/a": "1" } });
  using it = rig(tree);
  await it.write("x/y/one", "1");
  await it.write("p/q/two", "2");
  await it.write("keep/b", "3");
  tree.write("work/p/mine", "mine");
  Deno.removeSync(join(tree.work, "keep/a"));
  await it.undo.apply(await it.undo.plan(it.undo.find()));
  assert.deepEqual(snapshot(tree.work), { "keep": "directory", "p": "directory", "p/mine": "644 mine" });
});

Deno.test("no link leads the restoring elsewhere: of the file, of a directory above it, or to nothing", async () => {
  using tree = makeWorktree({
    files: { "d/a": "1", "f": "1", "g": "1", "d/new/x": "" },
    outside: { a: "2", f: "2" },
  });
  using it = rig(tree);
  for (const path of ["d/a", "f", "g", "d/made"]) await it.write(path, "2");
  Deno.removeSync(join(tree.work, "d"), { recursive: true });
  Deno.symlinkSync("../outside", join(tree.work, "d"));
  Deno.removeSync(join(tree.work, "f"));
  Deno.symlinkSync("../outside/f", join(tree.work, "f"));
  Deno.removeSync(join(tree.work, "g"));
  Deno.symlinkSync("../outside/nothing", join(tree.work, "g"));
  tree.write("outside/made", "2");
  const outside = snapshot(tree.outside);
  const steps = await it.undo.apply(await it.undo.plan(it.undo.find()));
  assert.ok(steps.every(({ problem }) => problem !== null), JSON.stringify(steps));
  assert.deepEqual(snapshot(tree.outside), outside);
  assert.equal(Deno.readLinkSync(join(tree.work, "d")), "../outside");
});

Deno.test("a directory or a FIFO in the file's place is left alone, and nothing hangs", async () => {
  using tree = makeWorktree({ files: { a: "1", b: "1" } });
  using it = rig(tree);
  for (const path of ["a", "b"]) await it.write(path, "2");
  for (const path of ["a", "b"]) Deno.removeSync(join(tree.work, path));
  Deno.mkdirSync(join(tree.work, "a"));
  await new Deno.Command("mkfifo", { args: [join(tree.work, "b")] }).output();
  const steps = await it.undo.apply(await it.undo.plan(it.undo.find()));
  assert.ok(steps.every(({ problem }) => problem !== null), JSON.stringify(steps));
});

Deno.test("a write outside that a person said yes to is taken back there, through a link too", async () => {
  using tree = makeWorktree({ outside: { a: "1", b: "1" }, links: { l: "../outside/b" } });
  using it = rig(tree);
  await it.write("../outside/a", "2");
  await it.write("l", "2");
  const plan = await it.undo.plan(it.undo.find());
  assert.deepEqual(plan.steps.map(({ shown }) => shown), [join(tree.outside, "a"), join(tree.outside, "b")]);
  await it.undo.apply(plan);
  assert.deepEqual([tree.read("outside/a"), tree.read("outside/b")], ["1", "1"]);
  assert.equal(Deno.readLinkSync(join(tree.work, "l")), "../outside/b");
});
