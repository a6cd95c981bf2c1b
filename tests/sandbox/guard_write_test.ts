import assert from "node:assert/strict";
import { join } from "../../src/text/path.ts";
import { makeWorktree, type TestTree } from "../helpers/worktree.ts";
import { bytes, guard, names, refused, scopeOf, system } from "./_guard.ts";
import { createWorkspace } from "../../src/sandbox/guard.ts";

function mode(path: string): number {
  return Deno.statSync(path).mode! & 0o7777;
}

/** Everything on disk, to see that nothing else changed. */
function disk(tree: TestTree): string[] {
  const out: string[] = [];
  const visit = (path: string) => {
    for (const { name, isDirectory, isSymlink } of Deno.readDirSync(path)) {
      const at = join(path, name), shown = at.slice(tree.root.length + 1);
      if (isDirectory) {
        out.push(`${shown}/`);
        visit(at);
      } else {out.push(
          isSymlink ? `${shown} -> ${Deno.readLinkSync(at)}` : `${shown}: ${Deno.readTextFileSync(at)}`,
        );}
    }
  };
  visit(tree.root);
  return out.sort();
}

Deno.test("a new file is created with its parents and the process's mask", () => {
  using tree = makeWorktree();
  const report = guard(tree).writeFile("a/b/c.txt", bytes("text"));
  assert.deepEqual(report, { path: join(tree.work, "a/b/c.txt"), created: true, inPlace: false });
  assert.equal(tree.read("work/a/b/c.txt"), "text");
  const plain = join(tree.work, "plain");
  Deno.writeTextFileSync(plain, "");
  assert.equal(mode(report.path), mode(plain));
  assert.deepEqual(names(join(tree.work, "a/b")), ["c.txt"]);
});

Deno.test("an existing file is replaced atomically: another inode, the same mode, nothing left over", () => {
  using tree = makeWorktree({ files: { "a.sh": "a longer text than the new one" } });
  const path = join(tree.work, "a.sh");
  Deno.chmodSync(path, 0o750);
  const before = Deno.statSync(path).ino;
  using held = Deno.openSync(path);
  assert.deepEqual(guard(tree).writeFile("a.sh", bytes("new")), { path, created: false, inPlace: false });
  assert.equal(tree.read("work/a.sh"), "new");
  assert.equal(mode(path), 0o750);
  assert.notEqual(Deno.statSync(path).ino, before);
  const old = new Uint8Array(100);
  assert.equal(
    new TextDecoder().decode(old.subarray(0, held.readSync(old)!)),
    "a longer text than the new one",
  );
  assert.deepEqual(names(tree.work), ["a.sh"]);
});

Deno.test("the set-user-id bit does not survive other people's content", () => {
  using tree = makeWorktree({ files: { "a": "old" } });
  Deno.chmodSync(join(tree.work, "a"), 0o4755);
  guard(tree).writeFile("a", bytes("new"));
  assert.equal(mode(join(tree.work, "a")), 0o755);
});

Deno.test("a link stays and its target is replaced, also one that does not exist yet", () => {
  using tree = makeWorktree({ files: { "real": "old" }, links: { "l": "real", "d/dangling": "../sub/new" } });
  assert.equal(guard(tree).writeFile("l", bytes("new")).path, join(tree.work, "real"));
  const report = guard(tree).writeFile("d/dangling", bytes("made"));
  assert.deepEqual(report, { path: join(tree.work, "sub/new"), created: true, inPlace: false });
  assert.deepEqual(disk(tree), [
    "home/",
    "outside/",
    "work/",
    "work/d/",
    "work/d/dangling -> ../sub/new",
    "work/l -> real",
    "work/real: new",
    "work/sub/",
    "work/sub/new: made",
  ]);
});

Deno.test("a file with several hard links is written in place, shorter and longer", () => {
  using tree = makeWorktree({ files: { "a": "a longer text" } });
  Deno.linkSync(join(tree.work, "a"), join(tree.work, "b"));
  for (const text of ["new", "and a much longer text than before"]) {
    assert.equal(guard(tree).writeFile("a", bytes(text)).inPlace, true);
    assert.equal(tree.read("work/a"), text);
    assert.equal(tree.read("work/b"), text);
  }
  assert.deepEqual(names(tree.work), ["a", "b"]);
});

Deno.test("append adds to the end in place, keeps the inode, and makes a missing file", () => {
  using tree = makeWorktree({ files: { "a": "one" } });
  const before = Deno.statSync(join(tree.work, "a")).ino;
  assert.equal(guard(tree).writeFile("a", bytes(" two"), { append: true }).created, false);
  assert.equal(tree.read("work/a"), "one two");
  assert.equal(Deno.statSync(join(tree.work, "a")).ino, before);
  assert.equal(guard(tree).writeFile("n/new", bytes("first"), { append: true }).created, true);
  assert.equal(tree.read("work/n/new"), "first");
});

Deno.test("exclusive fails on anything that exists and leaves it", () => {
  using tree = makeWorktree({ files: { "a": "old" }, links: { "l": "a" } });
  for (const path of ["a", "l"]) {
    refused(() => guard(tree).writeFile(path, bytes("new"), { exclusive: true }), "execution", /exists/);
  }
  assert.equal(tree.read("work/a"), "old");
  guard(tree).writeFile("b", bytes("new"), { exclusive: true });
  assert.equal(tree.read("work/b"), "new");
  assert.deepEqual(names(tree.work), ["a", "b", "l"]);
});

Deno.test("expected bytes: a file that changed or went away is not written", () => {
  using tree = makeWorktree({ files: { "a": "as it was" } });
  const workspace = guard(tree);
  for (const expected of ["as it wa", "as it was!", "AS IT WAS", ""]) {
    refused(
      () => workspace.writeFile("a", bytes("new"), { expected: bytes(expected) }),
      "execution",
      /changed/,
    );
    refused(
      () => workspace.writeFile("a", bytes("new"), { expected: bytes(expected), append: true }),
      "execution",
      /changed/,
    );
  }
  refused(() => workspace.writeFile("gone", bytes("new"), { expected: bytes("") }), "not_found", /gone/);
  assert.equal(tree.read("work/a"), "as it was");
  workspace.writeFile("a", bytes("new"), { expected: bytes("as it was") });
  workspace.writeFile("a", bytes("!"), { expected: bytes("new"), append: true });
  assert.equal(tree.read("work/a"), "new!");
  assert.deepEqual(names(tree.work), ["a"]);
});

Deno.test("a failed write leaves nothing behind: no temporary file and no new directory", () => {
  using tree = makeWorktree({ files: { "file": "x", "d/keep": "y" } });
  const before = disk(tree), workspace = guard(tree);
  refused(() => workspace.writeFile("d", bytes("new")), "execution", /directory/);
  refused(() => workspace.writeFile("file/below", bytes("new")), "execution", /not a directory/);
  refused(
    () => workspace.writeFile("n/e/w/../../../file/below", bytes("new")),
    "execution",
    /not a directory/,
  );
  // The name of the temporary file is taken: by a link, by a file.
  const taken = createWorkspace(
    scopeOf(tree, {
      roots: [{ path: tree.work, access: "read" }],
      consented: [{ path: join(tree.work, "n"), access: "write" }],
      temporary: join(tree.work, "d/keep"),
    }),
  );
  refused(() => taken.writeFile("n/e/w", bytes("new")), "execution");
  assert.deepEqual(disk(tree), before);
});

Deno.test("outside the worktree nothing is written, whatever leads there", () => {
  using tree = makeWorktree({
    files: { "d/a": "" },
    outside: { "secret": "SECRET" },
    links: {
      "f": "../outside/secret",
      "out": "../outside",
      "dangling": "../outside/new",
      "up": "..",
      "abs": "/tmp",
    },
  });
  const before = disk(tree), workspace = guard(tree);
  const paths = [
    "f",
    "out/new",
    "out/secret",
    "out/n/e/w",
    "dangling",
    "dangling/new",
    "up/outside/secret",
    "up/new",
    "../new",
    "../outside/secret",
    join(tree.outside, "new"),
    `${tree.work}2`,
    `${tree.work}/../new`,
    "/etc/polyglav-test",
    "abs/polyglav-test",
  ];
  for (const path of paths) {
    for (const options of [{}, { append: true }, { exclusive: true }, { expected: bytes("SECRET") }]) {
      refused(() => workspace.writeFile(path, bytes("PWNED"), options), "permission", /outside the worktree/);
    }
  }
  assert.deepEqual(disk(tree), before);
});

Deno.test("write rules refuse in every spelling; a new protected directory is not made", () => {
  using tree = makeWorktree({
    files: { ".git/config": "x", ".git/hooks/sample": "x", "sub/.git/HEAD": "x", "a": "" },
    links: { "g": ".git", "c": ".git/config", "h": ".git/hooks/pre-commit" },
  });
  const rules = [{ pattern: ".git", access: "write" as const, action: "deny" as const }, {
    pattern: join(tree.work, ".polyglav/**"),
    access: "write" as const,
    action: "ask" as const,
  }];
  const before = disk(tree), workspace = guard(tree, { rules });
  const paths = [
    ".git",
    ".git/config",
    ".git/hooks/pre-commit",
    ".GIT/hooks/pre-commit",
    ".Git/new/dir/file",
    "sub/.git/HEAD",
    "sub/.gIt/hooks/x",
    "new/.git/hooks/x",
    "./a/../.git/config",
    "g/hooks/pre-commit",
    "g/config",
    "c",
    "h",
    ".polyglav/config.json",
    ".POLYGLAV/config.json",
    ".polyglav",
    ".g\u200cit/hooks/x",
    join(tree.work, ".git/config"),
  ];
  for (const path of paths) {
    if (path === ".polyglav") continue;
    for (const options of [{}, { append: true }, { exclusive: true }]) {
      refused(() => workspace.writeFile(path, bytes("PWNED"), options), "permission", /path rule/);
    }
  }
  assert.deepEqual(disk(tree), before);
  workspace.writeFile(".github/x", bytes("fine"));
  workspace.writeFile(".gitignore", bytes("fine"));
  assert.equal(tree.read("work/.github/x"), "fine");
});

Deno.test("a consented file outside is replaced through the sibling that the host chose", () => {
  using tree = makeWorktree({ outside: { "a": "old" } });
  const path = join(tree.outside, "a");
  Deno.chmodSync(path, 0o600);
  const workspace = guard(tree, { consented: [{ path, access: "write" }], temporary: ".chosen.tmp" });
  assert.deepEqual(workspace.writeFile("../outside/a", bytes("new")), {
    path,
    created: false,
    inPlace: false,
  });
  assert.equal(tree.read("outside/a"), "new");
  assert.equal(mode(path), 0o600);
  assert.deepEqual(names(tree.outside), ["a"]);
  refused(() => workspace.writeFile("../outside/b", bytes("new")), "permission");
  refused(() => workspace.writeFile("../outside/.chosen.tmp", bytes("new")), "permission");
});

Deno.test("a read-only directory is written in place where the file itself may be written", async () => {
  if (Deno.uid() === 0) {
    // Root passes every mode: an immutable directory would need more than a test may ask for, so take a user.
    using tree = makeWorktree({ files: { "d/a": "old" } });
    await system("chmod", "777", tree.root, tree.work, join(tree.work, "d/a"));
    await system("chmod", "555", join(tree.work, "d"));
    const script = decodeURIComponent(new URL("./_write_as.ts", import.meta.url).pathname);
    const deno = Deno.execPath();
    const { code, stdout, stderr } = await run(deno, ["run", "-A", script, tree.work]);
    assert.equal(code, 0, stderr);
    assert.deepEqual(JSON.parse(stdout), { path: join(tree.work, "d/a"), created: false, inPlace: true });
    assert.equal(tree.read("work/d/a"), "new");
    assert.deepEqual(names(join(tree.work, "d")), ["a"]);
    return;
  }
  using tree = makeWorktree({ files: { "d/a": "old" } });
  Deno.chmodSync(join(tree.work, "d"), 0o555);
  try {
    assert.equal(guard(tree).writeFile("d/a", bytes("new")).inPlace, true);
    assert.equal(tree.read("work/d/a"), "new");
  } finally {
    Deno.chmodSync(join(tree.work, "d"), 0o755);
  }
});

async function run(
  program: string,
  args: string[],
): Promise<{ code: number; stdout: string; stderr: string }> {
  const child = new Deno.Command(program, { args, stdout: "piped", stderr: "piped" }).spawn();
  const [stdout, stderr, { code }] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.status,
  ]);
  return { code, stdout, stderr };
}
