import assert from "node:assert/strict";
import { ChangeWatch, lookAtTracked, trackedChanges, trackedFiles } from "../../src/undo/changes.ts";
import { join } from "../../src/text/path.ts";
import { makeWorktree, type TestTree } from "../helpers/worktree.ts";
import { rig } from "./_rig.ts";

async function git(tree: TestTree, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await new Deno.Command("git", {
    args: ["-c", "user.name=t", "-c", "user.email=t@t.invalid", ...args],
    cwd: tree.work,
    env: { HOME: tree.home, GIT_CONFIG_NOSYSTEM: "1" },
  }).output();
  assert.equal(code, 0, new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout);
}

const FILES = { "a.txt": "a", "dir/b.txt": "b", "dir/deep/c": "c", "ü ñ.txt": "x", "z": "z" };

async function repository(version: "2" | "3" | "4" = "2"): Promise<TestTree> {
  const tree = makeWorktree({ files: { ...FILES, "untracked": "u" }, links: { link: "a.txt" } });
  await git(tree, "init", "-q");
  await git(tree, "add", ...Object.keys(FILES), "link");
  if (version === "3") {
    Deno.writeTextFileSync(join(tree.work, "later"), "x");
    await git(tree, "add", "-N", "later");
  }
  if (version === "4") await git(tree, "update-index", "--index-version", "4");
  return tree;
}

for (const version of ["2", "3", "4"] as const) {
  Deno.test(`the files of an index of version ${version} are those that git lists`, async () => {
    using tree = await repository(version);
    const index = Deno.readFileSync(join(tree.work, ".git/index"));
    assert.equal(index[7], Number(version));
    const listed = (await git(tree, "ls-files", "-z")).split("\0").filter((name) => name !== "");
    assert.deepEqual(trackedFiles(index), listed);
  });
}

Deno.test("what changed, went and came is told; what is as it was, or not tracked, is not", async () => {
  using tree = await repository();
  Deno.removeSync(join(tree.work, "z"));
  const before = lookAtTracked(tree.work);
  assert.deepEqual(trackedChanges(before, lookAtTracked(tree.work)), []);
  tree.write("work/a.txt", "longer");
  Deno.removeSync(join(tree.work, "dir/b.txt"));
  tree.write("work/z", "again");
  tree.write("work/untracked", "changed");
  tree.write("work/new", "new");
  assert.deepEqual(trackedChanges(before, lookAtTracked(tree.work)), [
    { path: "a.txt", kind: "changed" },
    { path: "dir/b.txt", kind: "removed" },
    { path: "z", kind: "made" },
  ]);
});

Deno.test("no repository, a broken index and one with paths that climb are skipped with a reason", async () => {
  using none = makeWorktree();
  assert.match((lookAtTracked(none.work) as { skipped: string }).skipped, /no git repository/);
  using tree = await repository();
  const file = join(tree.work, ".git/index"), index = Deno.readFileSync(file);
  const reason = (bytes: Uint8Array) => {
    Deno.writeFileSync(file, bytes);
    const look = lookAtTracked(tree.work);
    return look instanceof Map ? null : (look as { skipped: string }).skipped;
  };
  assert.equal(reason(index), null);
  for (let cut = 0; cut < index.length - 80; cut += 7) {
    assert.notEqual(reason(index.slice(0, cut)), undefined);
  }
  assert.notEqual(reason(index.slice(0, 70)), null);
  assert.notEqual(reason(new Uint8Array(100)), null);
  const many = index.slice();
  new DataView(many.buffer).setUint32(8, 5_000_000);
  assert.match(reason(many)!, /more than/);
  const climbing = new Uint8Array(index);
  const at = new TextDecoder("latin1").decode(index).indexOf("dir/b.txt");
  climbing.set(new TextEncoder().encode("../"), at);
  assert.notEqual(reason(climbing), null);
  Deno.removeSync(join(tree.work, ".git"), { recursive: true });
  Deno.symlinkSync("/etc", join(tree.work, ".git"));
  assert.notEqual(reason0(tree), null);
});

function reason0(tree: TestTree): string | null {
  const look = lookAtTracked(tree.work);
  return look instanceof Map ? null : (look as { skipped: string }).skipped;
}

Deno.test("a linked worktree of git is watched too", async () => {
  using tree = await repository();
  await git(tree, "commit", "-q", "-m", "x");
  await git(tree, "worktree", "add", "-q", join(tree.root, "second"));
  const second = join(tree.root, "second");
  const before = lookAtTracked(second);
  assert.ok(before instanceof Map);
  Deno.writeTextFileSync(join(second, "a.txt"), "other");
  assert.deepEqual(trackedChanges(before, lookAtTracked(second)), [{ path: "a.txt", kind: "changed" }]);
});

Deno.test("a command's result tells the tracked files that it changed, while somebody looks", async () => {
  using tree = await repository();
  const changes = new ChangeWatch(tree.work);
  using it = rig(tree, { watch: changes });
  const command = { command: "echo more >> a.txt; rm z; echo x > new" };
  assert.equal((await it.call("run_command", command)).details?.changed, undefined);
  tree.write("work/z", "z");
  changes.enabled = true;
  const result = await it.call("run_command", command);
  const told = [{ path: "a.txt", kind: "changed" }, { path: "z", kind: "removed" }];
  assert.deepEqual(result.details?.changed, told);
  await it.call("run_command", { command: "echo y > dir/deep/c; exit 3" });
  await it.call("file_read", { path: "a.txt" });
  assert.deepEqual(changes.list(), [
    ...told.slice(0, 1),
    { path: "dir/deep/c", kind: "changed" },
    ...told.slice(1),
  ]);
  // By turn; and two changes of a file are one.
  changes.turn = 7;
  tree.write("work/z", "z");
  await it.call("run_command", { command: "rm a.txt" });
  await it.call("run_command", { command: "echo x > a.txt" });
  assert.deepEqual(changes.list(7), [{ path: "a.txt", kind: "changed" }]);
  assert.equal(changes.list(null).length, 3);
  // A command that fails or is cancelled has changed what it changed.
  const stopped = new AbortController();
  const cancelled = it.call("run_command", { command: "echo x >> dir/b.txt; touch begun; sleep 303.5" }, {
    signal: stopped.signal,
  });
  while (tree.read("work/begun") === null) await new Promise((resolve) => setTimeout(resolve, 20));
  stopped.abort();
  const { cancelled: is, details } = await cancelled;
  assert.deepEqual([is, details?.changed], [true, [{ path: "dir/b.txt", kind: "changed" }]]);
  changes.clear();
  assert.deepEqual(changes.list(), []);
});
