import assert from "node:assert/strict";
import { createServer } from "node:net";
import { join } from "../../src/text/path.ts";
import { makeWorktree } from "../helpers/worktree.ts";
import { guard, names, reader, refused, system, textOf } from "./_guard.ts";

Deno.test("relative and absolute paths are read, and the root is the worktree", () => {
  using tree = makeWorktree({ files: { "a/b.txt": "text" } });
  const workspace = reader(tree);
  assert.equal(workspace.root, tree.work);
  assert.equal(textOf(workspace, "a/b.txt"), "text");
  assert.equal(textOf(workspace, "./a/../a//b.txt"), "text");
  assert.equal(textOf(workspace, join(tree.work, "a/b.txt")), "text");
  assert.equal(workspace.resolve("a/new/file", "read"), join(tree.work, "a/new/file"));
  assert.equal(workspace.resolve("..//work/a", "list"), join(tree.work, "a"));
});

Deno.test("~ is the home of the scope, and nothing without one", () => {
  using tree = makeWorktree();
  tree.write("home/notes", "mine");
  const consented = [{ path: join(tree.home, "notes"), access: "read" as const }];
  assert.equal(textOf(guard(tree, { consented }), "~/notes"), "mine");
  refused(() => reader(tree).readFile("~/notes"), "permission");
  refused(() => reader(tree).resolve("~", "list"), "permission");
  refused(() => guard(tree, { home: undefined }).readFile("~/notes"), "execution", /not known/);
});

Deno.test("links inside the worktree are followed, also chains of them", () => {
  using tree = makeWorktree({
    files: { "real/a.txt": "text" },
    links: { "one": "two", "two": "real", "three/up": "../one/a.txt", "abs": "/" },
  });
  Deno.removeSync(join(tree.work, "abs"));
  Deno.symlinkSync(join(tree.work, "real"), join(tree.work, "abs"));
  const workspace = reader(tree);
  for (const path of ["one/a.txt", "two/a.txt", "three/up", "abs/a.txt"]) {
    assert.equal(textOf(workspace, path), "text", path);
    assert.equal(workspace.resolve(path, "read"), join(tree.work, "real/a.txt"), path);
  }
});

Deno.test("what leads outside is refused, by whatever way", () => {
  using tree = makeWorktree({
    files: { "a.txt": "text" },
    outside: { "secret": "SECRET", "deep/secret": "SECRET" },
    links: {
      "file": "../outside/secret",
      "directory": "../outside",
      "chain": "directory/deep",
      "dangling": "../outside/nothing",
      "through": "dangling/more",
    },
  });
  Deno.mkdirSync(`${tree.work}-sibling`);
  Deno.writeTextFileSync(`${tree.work}-sibling/secret`, "SECRET");
  const workspace = reader(tree);
  const paths = [
    "../outside/secret",
    "a/../../outside/secret",
    "a.txt/../../outside/secret",
    join(tree.outside, "secret"),
    `${tree.work}/../outside/secret`,
    "file",
    "directory/secret",
    "chain/secret",
    "directory/deep/../secret",
    "dangling",
    "through",
    "..",
    "/",
    "/etc/passwd",
    "../work-sibling/secret",
    `${tree.work}-sibling/secret`,
  ];
  for (const path of paths) {
    for (const access of ["list", "read", "write"] as const) {
      // As text, `directory/deep/../secret` is `directory/secret`.
      refused(() => workspace.resolve(path, access), "permission", /outside the worktree/);
    }
    refused(() => workspace.readFile(path), "permission");
    refused(() => workspace.readDirectory(path), "permission");
    refused(() => workspace.status(path), "permission");
    refused(() => workspace.walkDirectory(path), "permission");
    assert.ok(!reads(() => workspace.walkFile(path, new Uint8Array(100))), path);
  }
});

function reads(call: () => Uint8Array | null): boolean {
  try {
    return call() !== null;
  } catch {
    return false;
  }
}

Deno.test("links in a circle are an error and not a hang", () => {
  using tree = makeWorktree({ links: { "a": "b", "b": "a", "self": "self", "d/up": "../d/up/x" } });
  const workspace = reader(tree);
  for (const path of ["a", "b/x", "self", "d/up", "d/up/y"]) {
    refused(() => workspace.readFile(path), "execution", /circle/);
    refused(() => workspace.status(path), "execution", /circle/);
  }
});

Deno.test("texts that are no paths are refused with a short message", () => {
  using tree = makeWorktree({ files: { "a.txt": "" } });
  const workspace = reader(tree);
  refused(() => workspace.readFile("a.txt\0.png"), "invalid_arguments", /NUL/);
  refused(() => workspace.readFile(""), "invalid_arguments", /empty/);
  refused(() => workspace.readFile("\ud800"), "invalid_arguments", /Unicode/);
  refused(() => workspace.readFile("n".repeat(256)), "invalid_arguments", /255 bytes/);
  refused(() => workspace.readFile("ü".repeat(128)), "invalid_arguments", /255 bytes/);
  refused(() => workspace.readFile("d/".repeat(3000)), "invalid_arguments", /4096/);
  refused(() => workspace.readFile(7 as unknown as string), "invalid_arguments", /not text/);
  refused(() => workspace.readFile("with\nnewline"), "not_found");
});

Deno.test("what is missing, or below a file, is not found", () => {
  using tree = makeWorktree({ files: { "a.txt": "text" } });
  const workspace = reader(tree);
  for (const path of ["none", "none/at/all", "a.txt/below"]) {
    refused(() => workspace.readFile(path), "not_found");
    refused(() => workspace.readDirectory(path), "not_found");
    assert.equal(workspace.status(path), null);
  }
});

Deno.test("status and listings tell kinds, sizes, modes and links", async () => {
  using tree = makeWorktree({ files: { "a.txt": "12345", "d/x": "" }, links: { "l": "a.txt" } });
  Deno.chmodSync(join(tree.work, "a.txt"), 0o640);
  Deno.linkSync(join(tree.work, "a.txt"), join(tree.work, "hard"));
  await system("mkfifo", join(tree.work, "pipe"));
  const workspace = reader(tree);
  const status = workspace.status("a.txt")!;
  assert.deepEqual({ ...status, modified: 0 }, { kind: "file", size: 5, mode: 0o640, modified: 0, links: 2 });
  assert.ok(Math.abs(status.modified - Date.now()) < 3_600_000);
  assert.equal(workspace.status("l")?.size, 5, "links are followed");
  assert.equal(workspace.status("d")?.kind, "directory");
  assert.equal(workspace.status("pipe")?.kind, "other");
  const kinds = Object.fromEntries(workspace.readDirectory(".").map(({ name, kind }) => [name, kind]));
  assert.deepEqual(kinds, {
    "a.txt": "file",
    "hard": "file",
    "d": "directory",
    "l": "symlink",
    "pipe": "other",
  });
});

Deno.test("maxBytes reads no more than that; an empty and a large file are read whole", () => {
  using tree = makeWorktree({ files: { "a.txt": "0123456789", "empty": "" } });
  const large = crypto.getRandomValues(new Uint8Array(60_000));
  tree.write("work/large", large);
  const workspace = reader(tree);
  assert.equal(new TextDecoder().decode(workspace.readFile("a.txt", { maxBytes: 4 })), "0123");
  assert.equal(workspace.readFile("a.txt", { maxBytes: 0 }).length, 0);
  assert.equal(workspace.readFile("a.txt", { maxBytes: 100 }).length, 10);
  assert.equal(workspace.readFile("empty").length, 0);
  assert.deepEqual(workspace.readFile("large"), large);
});

Deno.test("directories, FIFOs, sockets and devices are not read, and nothing hangs", async () => {
  using tree = makeWorktree({ files: { "d/x": "" } });
  await system("mkfifo", join(tree.work, "pipe"));
  const server = createServer();
  await new Promise<void>((done) => server.listen(join(tree.work, "socket"), done));
  const workspace = reader(tree);
  try {
    refused(() => workspace.readFile("d"), "execution", /directory/);
    for (const path of ["pipe", "socket"]) {
      refused(() => workspace.readFile(path), "execution", /not a regular file/);
      refused(() => guard(tree).writeFile(path, new Uint8Array(1)), "execution", /not a regular file/);
      refused(() => guard(tree).writeFile(path, new Uint8Array(1), { append: true }), "execution");
    }
    workspace.walkDirectory(workspace.resolve(".", "list"));
    for (const path of ["d", "pipe", "socket"]) {
      assert.equal(workspace.walkFile(join(tree.work, path), new Uint8Array(10)), null, path);
    }
  } finally {
    await new Promise((done) => server.close(done));
  }
});

Deno.test("/proc, /sys and /dev are never opened, whatever the roots and the consent say", () => {
  using tree = makeWorktree({ links: { "env": "/proc/self/environ", "null": "/dev/null", "sys": "/sys" } });
  const everything = guard(tree, {
    roots: [{ path: "/", access: "write" }, { path: "/proc", access: "write" }],
    consented: [{ path: "/dev/null", access: "write" }],
  });
  const paths = [
    "/proc/self/environ",
    "/proc",
    "/dev/null",
    "/dev/stdin",
    "/sys/kernel",
    "env",
    "null",
    "sys/kernel",
  ];
  for (const path of paths) {
    refused(() => everything.readFile(path), "permission", /never opened/);
    refused(() => everything.readDirectory(path), "permission");
    refused(() => everything.writeFile(path, new Uint8Array()), "permission");
  }
});

Deno.test("rules refuse reading content but not listing; consent lifts them for exactly that path", () => {
  using tree = makeWorktree({
    files: {
      ".env": "SECRET",
      "d/.env.local": "SECRET",
      "d/a.txt": "a",
      "keys/x": "SECRET",
      "E.PEM": "SECRET",
    },
    links: { "plain": ".env", ".envy": "d/a.txt" },
  });
  const rules = [
    { pattern: ".env*", access: "read" as const, action: "ask" as const },
    { pattern: "*.pem", access: "read" as const, action: "deny" as const },
    { pattern: join(tree.work, "keys/**"), access: "read" as const, action: "deny" as const },
  ];
  const workspace = reader(tree, rules);
  for (const path of [".env", "d/.env.local", "d/../.ENV", "keys/x", "E.PEM", "plain", ".envy"]) {
    if (path.endsWith(".ENV") && workspace.status(".ENV") === null) continue;
    refused(() => workspace.readFile(path), "permission", /path rule/);
    assert.ok(workspace.resolve(path, "list"));
  }
  assert.equal(textOf(workspace, "d/a.txt"), "a");
  assert.deepEqual(workspace.readDirectory("keys").map(({ name }) => name), ["x"]);
  assert.match(workspace.withheld(join(tree.work, ".env")) ?? "", /"\.env\*" \(read: ask\)/);
  assert.equal(workspace.withheld(join(tree.work, "d/a.txt")), null);
  const consented = [{ path: join(tree.work, ".env"), access: "read" as const }];
  const asked = guard(tree, { rules, consented });
  assert.equal(textOf(asked, ".env"), "SECRET");
  assert.equal(asked.withheld(join(tree.work, ".env")), null);
  refused(() => asked.readFile("d/.env.local"), "permission");
});

Deno.test("consent opens a path outside and what lies below it, for reading or writing as it was given", () => {
  using tree = makeWorktree({ outside: { "a/x": "1", "b": "2", "ab": "3" } });
  const consented = [{ path: join(tree.outside, "a"), access: "read" as const }, {
    path: join(tree.outside, "b"),
    access: "write" as const,
  }];
  const workspace = guard(tree, { consented });
  assert.equal(textOf(workspace, "../outside/a/x"), "1");
  refused(() => workspace.writeFile("../outside/a/x", new Uint8Array()), "permission");
  assert.equal(textOf(workspace, "../outside/b"), "2");
  workspace.writeFile("../outside/b", new TextEncoder().encode("new"));
  assert.equal(tree.read("outside/b"), "new");
  refused(() => workspace.readFile("../outside/ab"), "permission");
  assert.deepEqual(names(tree.outside), ["a", "ab", "b"]);
});

Deno.test("below a directory that was consented to, rules hold as they do in the worktree", () => {
  const rule = (pattern: string, action: "ask" | "deny" | "allow", access: "read" | "write" = "read") => ({
    pattern,
    action,
    access,
  });
  using tree = makeWorktree({
    files: { "private/a": "pa", "private/.env": "pe", "private/no/x": "px" },
    outside: {
      ".env": "e",
      "pub": "p",
      "deep/.env.local": "l",
      "deep/pub": "dp",
      "no/x": "x",
      ".git/config": "c",
      "free.env": "f",
    },
  });
  const rules = [
    rule(".env*", "ask"),
    rule("**/.git", "deny", "write"),
    rule(".git", "deny", "write"),
    rule(join(tree.outside, "no"), "deny"),
    rule(join(tree.work, "private"), "ask"),
    rule(join(tree.work, "private/.env"), "ask"),
    rule(join(tree.work, "private/no"), "deny"),
  ];
  const consent = (path: string, access: "read" | "write" = "read") =>
    guard(tree, { rules, consented: [{ path, access }] });

  const whole = consent(tree.outside);
  assert.equal(textOf(whole, "../outside/pub"), "p");
  assert.equal(textOf(whole, "../outside/deep/pub"), "dp");
  assert.equal(textOf(whole, "../outside/free.env"), "f");
  for (const path of ["../outside/.env", "../outside/deep/.env.local", "../outside/no/x"]) {
    refused(() => whole.readFile(path), "permission", /path rule/);
    assert.notEqual(whole.withheld(join(tree.work, path)), null, path);
    assert.ok(whole.resolve(path, "list"));
  }
  // A walk meets the same rules.
  const buffer = new Uint8Array(100);
  whole.walkDirectory(tree.outside);
  refused(() => whole.walkFile(join(tree.outside, ".env"), buffer), "permission", /path rule/);
  assert.equal(new TextDecoder().decode(whole.walkFile(join(tree.outside, "pub"), buffer)!), "p");

  // A yes to the file itself is one, unless a rule denies it.
  assert.equal(textOf(consent(join(tree.outside, ".env")), "../outside/.env"), "e");
  refused(() => consent(join(tree.outside, "no/x")).readFile("../outside/no/x"), "permission", /path rule/);
  const writes = consent(tree.outside, "write");
  refused(() => writes.writeFile("../outside/.git/config", new Uint8Array()), "permission", /path rule/);
  assert.equal(tree.read("outside/.git/config"), "c");

  // A yes to a directory under a rule that asks lifts that rule below it, and no other.
  const inside = consent(join(tree.work, "private"));
  assert.equal(textOf(inside, "private/a"), "pa");
  refused(() => inside.readFile("private/.env"), "permission", /path rule/);
  refused(() => inside.readFile("private/no/x"), "permission", /path rule/);
});

Deno.test("a read root cannot be written, and a hard link is read like the file that it is", () => {
  using tree = makeWorktree({ files: { "a.txt": "text" } });
  Deno.linkSync(join(tree.work, "a.txt"), join(tree.work, "hard"));
  const workspace = reader(tree);
  assert.equal(textOf(workspace, "hard"), "text");
  refused(() => workspace.writeFile("a.txt", new Uint8Array()), "permission", /only read/);
  assert.equal(tree.read("work/a.txt"), "text");
});
