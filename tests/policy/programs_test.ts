import assert from "node:assert/strict";
import { isDenoName, isExecutable, resolveProgram, resolvePrograms } from "../../src/policy/programs.ts";
import { firstWord } from "../../src/policy/_run.ts";
import { makeWorktree } from "../helpers/worktree.ts";

const files = (list: readonly string[]) => (path: string) => list.includes(path);
const base = { worktree: "/w", realPath: (path: string) => path, windows: false };

type Row = readonly [name: string, path: string, files: readonly string[], found: string | null];
const posix: readonly Row[] = [
  ["git", "/usr/bin:/bin", ["/usr/bin/git", "/bin/git"], "/usr/bin/git"],
  ["git", "/usr/local/bin:/usr/bin", ["/usr/bin/git"], "/usr/bin/git"],
  ["git", "/w/bin:/usr/bin", ["/w/bin/git", "/usr/bin/git"], "/usr/bin/git"],
  ["git", "/w:/usr/bin", ["/w/git", "/usr/bin/git"], "/usr/bin/git"],
  ["git", "/usr/../w/bin:/usr/bin", ["/usr/../w/bin/git", "/w/bin/git", "/usr/bin/git"], "/usr/bin/git"],
  ["git", "bin:.:./x:/usr/bin", ["bin/git", "./git", "/w/bin/git", "/usr/bin/git"], "/usr/bin/git"],
  ["git", ":/usr/bin:", ["/git", "git", "/usr/bin/git"], "/usr/bin/git"],
  ["git", "~/bin:/usr/bin", ["~/bin/git", "/usr/bin/git"], "/usr/bin/git"],
  ["git", "/wide/bin", ["/wide/bin/git"], "/wide/bin/git"],
  ["git", "/usr/bin//", ["/usr/bin/git"], "/usr/bin/git"],
  ["git", "", ["/git"], null],
  ["git", "/usr/bin", [], null],
  ["", "/usr/bin", ["/usr/bin/"], null],
  ["a\0b", "/usr/bin", ["/usr/bin/a\0b"], null],
  ["..", "/usr/bin", [], null],
  ["/opt/x", "/usr/bin", ["/opt/x"], "/opt/x"],
  ["/opt/../opt/x", "", ["/opt/x"], "/opt/x"],
  ["./gradlew", "/usr/bin", ["/w/gradlew"], "/w/gradlew"],
  ["scripts/run", "", ["/w/scripts/run"], "/w/scripts/run"],
  ["scripts/none", "", [], null],
];
for (const [name, path, list, found] of posix) {
  Deno.test(`programs: ${JSON.stringify(name)} on ${JSON.stringify(path)} is ${found}`, () => {
    assert.equal(resolveProgram(name, { ...base, path, exists: files(list) }).path, found);
  });
}

const windows: readonly Row[] = [
  ["git", "C:\\Git\\cmd;C:\\Windows", ["C:\\Git\\cmd/git.exe"], "C:\\Git\\cmd/git.exe"],
  ["git", '"C:\\Program Files\\Git"', ["C:\\Program Files\\Git/git.exe"], "C:\\Program Files\\Git/git.exe"],
  ["npm", "C:\\node", ["C:\\node/npm.cmd"], "C:\\node/npm.cmd"],
  ["npm.cmd", "C:\\node", ["C:\\node/npm.cmd"], "C:\\node/npm.cmd"],
  ["git", "cmd;.;C:x", ["cmd/git.exe", "./git.exe", "C:x/git.exe"], null],
];
for (const [name, path, list, found] of windows) {
  Deno.test(`programs on Windows: ${name} on ${path} is ${found}`, () => {
    assert.equal(resolveProgram(name, { ...base, path, exists: files(list), windows: true }).path, found);
  });
}

Deno.test("programs: PATHEXT decides on Windows", () => {
  const search = { ...base, path: "C:\\x", exists: files(["C:\\x/a.foo"]), windows: true };
  assert.equal(resolveProgram("a", { ...search, pathExt: ".FOO;..\\evil;" }).path, "C:\\x/a.foo");
  assert.equal(resolveProgram("a", search).path, null);
});

Deno.test("programs: a link on PATH that leads into the worktree is passed over", () => {
  const search = {
    ...base,
    path: "/a:/b",
    exists: files(["/a/git", "/b/git"]),
    realPath: (path: string) => path === "/a/git" ? "/w/evil/git" : path,
  };
  assert.equal(resolveProgram("git", search).path, "/b/git");
});

Deno.test("programs: Deno is never found, by whatever name", () => {
  const search = { ...base, path: "/bin", exists: () => true };
  for (const name of ["deno", "DENO", "deno.exe", "/usr/bin/deno", "./deno", "denort", "C:\\x\\deno.exe"]) {
    assert.equal(resolveProgram(name, search).problem, "deno", name);
    assert.ok(isDenoName(name), name);
  }
  for (const name of ["denoise", "mydeno", "deno.json", "node", ""]) assert.ok(!isDenoName(name), name);
  const linked = { ...search, realPath: (path: string) => path === "/bin/js" ? "/opt/deno/bin/deno" : path };
  assert.equal(resolveProgram("js", linked).problem, "deno");
  const copied = { ...search, realPath: (path: string) => path };
  assert.equal(resolveProgram(Deno.execPath(), copied).problem, "deno");
});

Deno.test("programs: on a real disk a file without an execute bit and a folder are not found", () => {
  using tree = makeWorktree();
  tree.write("outside/bin/plain", "x");
  tree.write("outside/bin/tool", "x");
  Deno.mkdirSync(`${tree.outside}/bin/folder`);
  Deno.chmodSync(`${tree.outside}/bin/tool`, 0o755);
  tree.write("work/bin/tool", "evil");
  Deno.chmodSync(`${tree.work}/bin/tool`, 0o755);
  Deno.symlinkSync(`${tree.work}/bin/tool`, `${tree.outside}/bin/linked`);
  const search = { path: `${tree.work}/bin:${tree.outside}/bin`, worktree: tree.work };
  assert.equal(resolveProgram("tool", search).path, `${tree.outside}/bin/tool`);
  for (const name of ["plain", "folder", "linked", "none"]) {
    assert.equal(resolveProgram(name, search).problem, "missing", name);
  }
  assert.ok(!isExecutable(`${tree.outside}/bin/plain`));
  Deno.symlinkSync(Deno.execPath(), `${tree.outside}/bin/innocent`);
  assert.equal(resolveProgram("innocent", search).problem, "deno");
});

Deno.test("programs: a program keeps the name by which it is called", () => {
  using tree = makeWorktree();
  tree.write("outside/bin/multi", "x");
  Deno.chmodSync(`${tree.outside}/bin/multi`, 0o755);
  Deno.symlinkSync("multi", `${tree.outside}/bin/applet`);
  const search = { path: `${tree.outside}/bin`, worktree: tree.work };
  assert.equal(resolveProgram("applet", search).path, `${tree.outside}/bin/applet`);
});

Deno.test("programs: several at once, without repeats", () => {
  const search = { ...base, path: "/bin", exists: files(["/bin/a", "/bin/b"]) };
  assert.deepEqual(resolvePrograms(["a", "b", "a", "/bin/a", "c", "deno"], search), {
    paths: ["/bin/a", "/bin/b"],
    deno: ["deno"],
    missing: ["c"],
    byName: { a: "/bin/a", b: "/bin/b", "/bin/a": "/bin/a", c: null, deno: null },
  });
});

Deno.test("programs: the first word of a list entry", () => {
  const table = {
    "git log": "git",
    "  npm  test": "npm",
    "'my tool' x": "my tool",
    '"a b"c d': "a bc",
    "a\\ b c": "a b",
    "": "",
    "'": "",
  };
  for (const [prefix, word] of Object.entries(table)) assert.equal(firstWord(prefix), word, prefix);
});
