/** Attacks on paths, each on each layer alone. @module */
import assert from "node:assert/strict";
import { createServer } from "node:net";
import { join } from "../../src/text/path.ts";
import { makeWorktree } from "../helpers/worktree.ts";
import { system } from "../sandbox/_guard.ts";
import { attack, LAYERS, SECRET, target } from "./_layers.ts";

type Call = readonly [tool: string, args: Record<string, unknown>];

/** Every way in which the tools read a path. */
function reading(paths: readonly string[]): Call[] {
  return paths.flatMap((path): Call[] => [
    ["file_read", { path }],
    ["grep", { pattern: "SECRET", path }],
    ["file_edit", { path, old: "SECRET", new: "PWNED" }],
  ]);
}

/** Every way in which the tools write a path. */
function writing(paths: readonly string[]): Call[] {
  return paths.flatMap((path): Call[] => [
    ["file_write", { path, content: "PWNED" }],
    ["file_write", { path, content: "PWNED", mode: "append" }],
    ["file_edit", { path, old: "SECRET", new: "PWNED" }],
  ]);
}

/** Every way in which the tools list a directory. */
function listing(paths: readonly string[]): Call[] {
  return paths.flatMap((path): Call[] => [
    ["list_dir", { path, depth: 3 }],
    ["glob", { pattern: "**", path }],
    ["glob", { pattern: `${path}/**` }],
    ["grep", { pattern: "SECRET", path, ignored: true }],
  ]);
}

const outside = { "secret": SECRET, "deep/listed": SECRET, [`deep/${SECRET}`]: "" };

attack({
  name: "traversal",
  tree: { files: { "d/a": "" }, outside },
  calls: () => [
    ...reading([
      "../outside/secret",
      "d/../../outside/secret",
      "./.././outside/secret",
      "d/a/../../../outside/secret",
    ]),
    ...writing(["../outside/secret", "../outside/new", "d/../../new", "../new"]),
    ...listing(["..", "../outside", "d/../..", "../outside/deep"]),
    ["glob", { pattern: "../**" }],
    ["glob", { pattern: "../outside/*" }],
    ["glob", { pattern: "{../outside/*,x}" }],
    ["glob", { pattern: "d/../../outside/**" }],
  ],
});

attack({
  name: "absolute paths and the home",
  tree: { outside },
  prepare: (tree) => tree.write("home/.netrc", SECRET),
  calls: (tree) => [
    ...reading([
      join(tree.outside, "secret"),
      "~/.netrc",
      join(tree.home, ".netrc"),
      "/etc/passwd",
      "/etc/shadow",
    ]),
    ...writing([
      join(tree.outside, "secret"),
      join(tree.outside, "new"),
      "~/.netrc",
      "~/.bashrc",
      "/etc/polyglav-x",
    ]),
    ...listing([tree.outside, tree.root, "/root", "~"]),
    ["glob", { pattern: join(tree.outside, "*") }],
  ],
});

attack({
  name: "links to files",
  tree: {
    outside,
    links: {
      "l": "../outside/secret",
      "d/l": "../../outside/secret",
      "chain": "l",
      "env": "/proc/self/environ",
    },
  },
  calls: () => [...reading(["l", "d/l", "chain", "env"]), ...writing(["l", "d/l", "chain"])],
});

attack({
  name: "links to directories",
  tree: {
    files: { "d/x": "" },
    outside,
    links: { "l": "../outside", "d/up": "../..", "chain": "l/deep", "root": "/" },
  },
  calls: () => [
    ...reading(["l/secret", "d/up/outside/secret", "chain/listed", "root/etc/passwd", "l/deep/../secret"]),
    ...writing(["l/secret", "l/new", "l/n/e/w", "d/up/new", "d/up/outside/secret", "chain/new"]),
    ...listing(["l", "d/up", "chain", "root/etc", "d/up/outside", "l/deep"]),
  ],
});

attack({
  name: "links to nowhere",
  tree: { outside, links: { "l": "../outside/new", "d/l": "../../outside/n/e/w", "chain": "l" } },
  calls: () => [...writing(["l", "d/l", "chain", "l/below"]), ...reading(["l", "chain"])],
});

attack({
  name: "links in a circle",
  tree: { links: { "a": "b", "b": "a", "self": "self", "d/l": "../d/l/x" } },
  calls: () => [
    ...reading(["a", "self", "d/l"]),
    ...writing(["a", "self", "d/l", "self/x"]),
    ...listing(["a", "self"]),
  ],
});

attack({
  name: "walks do not follow links out of the worktree, or round in circles",
  harmless: true,
  tree: {
    files: { "a.txt": "plain", "d/b.txt": "plain" },
    outside,
    links: { "l": "../outside", "f": "../outside/secret", "d/loop": "..", "d/self": "." },
  },
  calls: () => [
    ["grep", { pattern: "SECRET" }],
    ["grep", { pattern: "SECRET", path: ".", ignored: true }],
    ["grep", { pattern: "", path: "d", ignored: true }],
    ["glob", { pattern: "**" }],
    ["glob", { pattern: "**/*", ignored: true }],
    ["list_dir", { path: ".", depth: 9 }],
  ],
});

attack({
  name: "siblings whose names begin like the worktree's",
  tree: {},
  prepare: (tree) => {
    for (const name of ["work-old", "work2", "workspace", "WORK"]) tree.write(`${name}/secret`, SECRET);
  },
  calls: (tree) => [
    ...reading([
      "../work-old/secret",
      "../work2/secret",
      join(tree.root, "workspace/secret"),
      "../WORK/secret",
    ]),
    ...writing(["../work-old/secret", `${tree.work}2/new`, `${tree.work}-new`]),
    ...listing(["../work-old", `${tree.work}2`]),
  ],
});

attack({
  name: "texts that are no paths",
  tree: { files: { "a.txt": SECRET }, outside },
  calls: () => [
    ...reading(["a.txt\0", "a.txt\0.png", "\0", "../outside/secret\0", "x".repeat(300), "x/".repeat(3000)]),
    ...writing(["new\0", "new\0.txt", "x".repeat(300), "ü".repeat(150), "x/".repeat(3000), "\ud800"]),
    ["file_write", { path: "", content: "PWNED" }],
    ["file_write", { path: ".", content: "PWNED" }],
    ["file_write", { path: "/", content: "PWNED" }],
  ],
});

attack({
  name: "special files",
  tree: { links: { "null": "/dev/null", "tty": "/dev/tty", "zero": "/dev/zero", "mem": "/proc/self/mem" } },
  prepare: async (tree) => {
    await system("mkfifo", join(tree.work, "pipe"));
    if (Deno.uid() === 0) await system("mknod", join(tree.work, "device"), "c", "1", "5");
  },
  calls: (tree) => {
    const made = ["pipe", "null", "tty", "zero", "mem", "/dev/zero", "/proc/self/environ", "/proc/1/environ"];
    if (exists(join(tree.work, "device"))) made.push("device");
    return [...reading(made), ...writing(made)];
  },
});

function exists(path: string): boolean {
  try {
    return Deno.lstatSync(path) !== null;
  } catch {
    return false;
  }
}

attack({
  name: "sockets",
  tree: {},
  prepare: async (tree) => {
    const server = createServer();
    await new Promise<void>((done) => server.listen(join(tree.work, "socket"), done));
    // The file of a socket goes with its server; a second name for it stays.
    Deno.linkSync(join(tree.work, "socket"), join(tree.work, "kept"));
    await new Promise((done) => server.close(done));
  },
  calls: () => [...reading(["kept"]), ...writing(["kept"])],
});

attack({
  name: "the program's own pseudo files",
  tree: { links: { "self": "/proc/self", "sys": "/sys", "fd": "/dev/fd" } },
  calls: () => [
    ...reading([
      "/proc/self/environ",
      "self/environ",
      "/proc/self/cmdline",
      "self/status",
      "/proc/self/fd/0",
      "fd/0",
    ]),
    ...writing(["/proc/self/oom_score_adj", "self/oom_score_adj", "/proc/self/comm"]),
    ...listing(["/proc/self", "self", "sys/kernel", "/dev", "fd"]),
  ],
});

const GIT = {
  ".git/config": "[core]\n",
  ".git/HEAD": "ref: refs/heads/main\n",
  ".git/hooks/pre-commit.sample": "#!/bin/sh\n",
};

attack({
  name: "hooks and configuration of git",
  tree: {
    files: { ...GIT, "sub/a": "" },
    links: { "g": ".git", "hook": ".git/hooks/pre-commit", "config": ".git/config" },
  },
  calls: (tree) =>
    writing([
      ".git/hooks/pre-commit",
      ".git/config",
      ".GIT/hooks/pre-commit",
      ".Git/config",
      "./sub/../.git/config",
      "g/hooks/pre-commit",
      "g/config",
      "hook",
      "config",
      ".git/new/file",
      ".g\u200cit/hooks/pre-commit",
      join(tree.work, ".git/hooks/pre-commit"),
    ]),
});

attack({
  name: "the program's own configuration",
  tree: {
    files: { ".polyglav/config.json": "{}", "a": "" },
    links: { "p": ".polyglav", "c": ".polyglav/config.json" },
  },
  prepare: (tree) => tree.write("home/.config/polyglav/config.json", "{}"),
  calls: (tree) =>
    writing([
      ".polyglav/config.json",
      ".Polyglav/config.json",
      ".polyglav/roles.json",
      ".polyglav/skills/x.md",
      "p/config.json",
      "c",
      "a/../.polyglav/config.json",
      join(tree.home, ".config/polyglav/config.json"),
      "~/.config/polyglav/config.json",
    ]),
});

attack({
  name: "secrets inside the worktree",
  tree: {
    files: {
      ".env": SECRET,
      "d/.env.local": SECRET,
      "server.pem": SECRET,
      "d/TLS.KEY": SECRET,
      "id_rsa": SECRET,
      "d/id_ed25519": SECRET,
      ".netrc": SECRET,
      ".npmrc": SECRET,
      "credentials.json": SECRET,
    },
    links: { "plain": ".env", "d/k": "TLS.KEY", "x": "id_rsa" },
  },
  calls: (tree) =>
    [
      ".env",
      "d/../.env",
      "d/.env.local",
      "server.pem",
      "d/TLS.KEY",
      "id_rsa",
      "d/id_ed25519",
      ".netrc",
      ".npmrc",
      "credentials.json",
      "plain",
      "d/k",
      "x",
      join(tree.work, ".env"),
    ].map((path) => ["file_read", { path }]),
});

attack({
  name: "walks leave the content of secrets out",
  harmless: true,
  tree: {
    files: {
      ".env": `A=${SECRET}`,
      "d/.env.local": SECRET,
      "d/server.pem": SECRET,
      "id_rsa": SECRET,
      "a": "plain",
    },
    links: { "plain": ".env" },
  },
  calls: () => [
    ["grep", { pattern: "SECRET" }],
    ["grep", { pattern: "SECRET", path: ".", ignored: true }],
    ["grep", { pattern: "SECRET", path: "d", glob: "*.pem", ignored: true }],
    ["grep", { pattern: "SECRET", path: "d", glob: ".env*", ignored: true }],
  ],
});

attack({
  name: "what the program kept of files that need a yes",
  tree: {
    files: {
      ".polyglav/journal/0f": SECRET,
      ".polyglav/sessions/s.jsonl": SECRET,
      "d/.polyglav/journal/0f": SECRET,
    },
    links: { "plain": ".polyglav/journal/0f", "j": ".polyglav/journal" },
  },
  calls: (tree) =>
    [
      ".polyglav/journal/0f",
      ".POLYGLAV/Journal/0f",
      ".polyglav/sessions/s.jsonl",
      "d/.polyglav/journal/0f",
      "plain",
      "j/0f",
      join(tree.work, ".polyglav/journal/0f"),
    ].map((path) => ["file_read", { path }]),
});

attack({
  name: "walks leave what the program kept of files out",
  harmless: true,
  tree: {
    files: { ".polyglav/journal/0f": SECRET, ".polyglav/sessions/s.jsonl": SECRET },
    links: { "j": ".polyglav/journal" },
  },
  calls: () => [
    ["grep", { pattern: "SECRET", ignored: true }],
    ["grep", { pattern: "SECRET", path: ".polyglav", ignored: true }],
    ["grep", { pattern: "SECRET", glob: ".polyglav/**", ignored: true }],
  ],
});

attack({
  name: "upper and lower case",
  tree: { files: { ".ENV": SECRET, "d/.Env.Local": SECRET, "SERVER.PEM": SECRET, ".GIT/config": "x" } },
  calls: () => [
    ...[".ENV", "d/.Env.Local", "SERVER.PEM"].map((path): Call => ["file_read", { path }]),
    ...writing([".GIT/config", ".GIT/hooks/x", ".POLYGLAV/config.json"]),
  ],
});

attack({
  name: "a file where a directory is meant, and the other way round",
  tree: { files: { "file": "x", "d/keep": "x" } },
  calls: () => [
    ...writing(["file/below", "d", "d/", "file/../d"]),
    ...reading(["file/below", "d"]),
  ],
});

/** A hard link cannot be told from the file itself: reading is as good as a copy that was made before. */
Deno.test("a hard link to a file outside is written in place, and says so", async () => {
  for (const layer of LAYERS) {
    using tree = makeWorktree({ outside: { "shared": "old" } });
    Deno.linkSync(join(tree.outside, "shared"), join(tree.work, "hard"));
    using aim = target(tree, layer);
    const result = await aim.call("file_write", { path: "hard", content: "new" });
    assert.equal(result.isError, false, result.content);
    assert.match(result.content, /hard link|in place/);
    assert.equal(tree.read("outside/shared"), "new");
  }
});
