import assert from "node:assert/strict";
import { ensureStateFolder, journalFolder } from "../../src/session/folder.ts";
import { listSessions, readSession, verifySession } from "../../src/session/store.ts";
import { join } from "../../src/text/path.ts";
import { open, sessionTree, turn, writeSample } from "./_session.ts";

const posix = Deno.build.os !== "windows";
const mode = (path: string): number => Deno.lstatSync(path).mode! & 0o777;

Deno.test({
  name: "session files are for their owner alone",
  ignore: !posix,
  async fn() {
    using tree = sessionTree();
    await writeSample(tree.place);
    for (const folder of [".polyglav", ".polyglav/sessions"]) {
      assert.equal(mode(join(tree.work, folder)), 0o700);
    }
    for (const file of [tree.log("s"), tree.anchor("s")]) assert.equal(mode(file), 0o600);
    Deno.chmodSync(tree.log("s"), 0o644);
    (await open(tree.place)).close();
    assert.equal(mode(tree.log("s")), 0o600, "a file that came open to others is closed when it is resumed");
  },
});

Deno.test("a .gitignore keeps sessions, asks, memory and journal out of commits, and the configuration in", async () => {
  using tree = sessionTree();
  await writeSample(tree.place);
  const git = (...args: string[]): string => {
    const { stdout } = new Deno.Command("git", { args: ["-C", tree.work, ...args], stderr: "null" })
      .outputSync();
    return new TextDecoder().decode(stdout);
  };
  git("init", "-q");
  for (const file of ["config.json", "asks.json", "memory/a.md", "journal/a.json", "roles.json"]) {
    tree.write(`work/.polyglav/${file}`, "{}");
  }
  const seen = git("status", "--porcelain", "--untracked-files=all").trim().split("\n").map((line) =>
    line.slice(3)
  );
  assert.deepEqual(seen.sort(), [".polyglav/config.json", ".polyglav/roles.json"]);
});

Deno.test("a .gitignore that is there stays as it is", () => {
  using tree = sessionTree();
  tree.write("work/.polyglav/.gitignore", "mine\n");
  assert.equal(ensureStateFolder(tree.work, "memory"), join(tree.work, ".polyglav/memory"));
  assert.equal(tree.read("work/.polyglav/.gitignore"), "mine\n");
});

Deno.test("sessions and journal stay out of commits whatever .polyglav/.gitignore says", async () => {
  for (const text of ["mine\n", "!*\n", ""]) {
    using tree = sessionTree();
    tree.write("work/.polyglav/.gitignore", text);
    await writeSample(tree.place);
    Deno.writeTextFileSync(join(journalFolder(tree.work)!, "0".repeat(64)), "TOPSECRET");
    const git = (...args: string[]) =>
      new Deno.Command("git", { args: ["-C", tree.work, ...args] }).outputSync();
    git("init", "-q");
    const { stdout } = git("status", "--porcelain", "--untracked-files=all");
    assert.equal(new TextDecoder().decode(stdout), "?? .polyglav/.gitignore\n", text);
    assert.equal(tree.read("work/.polyglav/.gitignore"), text);
  }
});

Deno.test("a link in or above the session files is an error, and nothing is written through it", async () => {
  for (const link of [".polyglav", ".polyglav/sessions"]) {
    using tree = sessionTree();
    if (link !== ".polyglav") Deno.mkdirSync(join(tree.work, ".polyglav"));
    Deno.symlinkSync(tree.outside, join(tree.work, link));
    const unsafe = { kind: "unsafe", message: /is a link/ };
    await assert.rejects(open(tree.place), unsafe);
    assert.throws(() => listSessions(tree.place), unsafe);
    await assert.rejects(readSession(tree.place, "s"), unsafe);
    assert.equal((await verifySession(tree.place, "s")).ok, false);
    assert.deepEqual([...Deno.readDirSync(tree.outside)], []);
  }
});

Deno.test("a link in the place of a log is an error, dangling or not, and its target is neither read nor written", async () => {
  using tree = sessionTree();
  await writeSample(tree.place, "other");
  for (const target of ["secret.txt", "new.txt"]) {
    if (target === "secret.txt") tree.write("outside/secret.txt", "TOPSECRET\n");
    Deno.symlinkSync(join(tree.outside, target), tree.log("s"));
    await assert.rejects(open(tree.place, { trust: true }), { kind: "unsafe", message: /is a link/ });
    await assert.rejects(readSession(tree.place, "s"), { kind: "unsafe" });
    const listed = listSessions(tree.place).find(({ name }) => name === "s")!;
    assert.match(listed.problem!, /is a link/);
    assert.doesNotMatch(JSON.stringify(listed), /TOPSECRET/);
    Deno.removeSync(tree.log("s"));
  }
  assert.equal(tree.read("outside/secret.txt"), "TOPSECRET\n");
  assert.equal(tree.read("outside/new.txt"), null);
});

Deno.test("a link in the place of .gitignore is left alone", async () => {
  using tree = sessionTree();
  Deno.mkdirSync(join(tree.work, ".polyglav"));
  Deno.symlinkSync(join(tree.outside, "new.txt"), join(tree.work, ".polyglav/.gitignore"));
  await writeSample(tree.place);
  assert.equal(tree.read("outside/new.txt"), null);
});

Deno.test({
  name: "a FIFO or a folder in the place of a log is refused without being opened",
  ignore: !posix,
  async fn() {
    using tree = sessionTree();
    await writeSample(tree.place, "other");
    assert.equal(new Deno.Command("mkfifo", { args: [tree.log("s")] }).outputSync().success, true);
    await assert.rejects(open(tree.place, { trust: true }), { kind: "unsafe", message: /special file/ });
    assert.equal((await verifySession(tree.place, "s")).ok, false);
    assert.match(listSessions(tree.place).find(({ name }) => name === "s")!.problem!, /special file/);
    Deno.mkdirSync(tree.log("t"));
    await assert.rejects(open(tree.place, { name: "t" }), { kind: "unsafe", message: /is a folder/ });
  },
});

Deno.test("a file in the place of the folders is an error that says so", async () => {
  using tree = sessionTree();
  tree.write("work/.polyglav", "x");
  await assert.rejects(open(tree.place), { kind: "unsafe", message: /is no folder/ });
});

Deno.test("a state directory that cannot be written is an error that says what to set", async () => {
  using tree = sessionTree();
  tree.write("home/state", "a file");
  await assert.rejects(open(tree.place), { kind: "io", message: /anchor.*XDG_STATE_HOME/ });
});

Deno.test("worktrees with equal folder names and equal session names have anchors of their own", async () => {
  using tree = sessionTree();
  const twin = join(tree.outside, "work");
  Deno.mkdirSync(twin);
  for (const worktree of [tree.work, twin]) {
    const session = await open({ ...tree.place, worktree });
    session.startTurn({ ...turn, prompt: worktree });
    session.close();
  }
  for (const worktree of [tree.work, twin]) {
    assert.equal((await verifySession({ ...tree.place, worktree }, "s")).ok, true);
  }
});

Deno.test("a worktree that is reached through a link is the same worktree", async () => {
  using tree = sessionTree();
  await writeSample(tree.place);
  const link = join(tree.root, "link");
  Deno.symlinkSync(tree.work, link);
  assert.equal((await verifySession({ ...tree.place, worktree: link }, "s")).ok, true);
});
