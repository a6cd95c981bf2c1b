import assert from "node:assert/strict";
import { systemLinks } from "../../src/policy/worktree.ts";
import { makeWorktree } from "../helpers/worktree.ts";
import {
  fileEdit,
  fileRead,
  fileWrite,
  git,
  glob,
  listDir,
  policyOf,
  runCommand,
  testRows,
} from "./_fixtures.ts";

const INSIDE = { path: "src/a.ts" };
const OUTSIDE = { path: "/etc/passwd" };

testRows([
  // 4: worktree
  ["reading inside runs", {}, fileRead, INSIDE, "allow", "tool_permission.read"],
  ["reading outside asks", {}, fileRead, OUTSIDE, "ask", "worktree"],
  ["climbing out asks", {}, fileRead, { path: "src/../../w2/a" }, "ask", "worktree"],
  [
    "climbing out and in again runs",
    {},
    fileRead,
    { path: "src/../../w/a" },
    "allow",
    "tool_permission.read",
  ],
  ["a sibling that shares the prefix is outside", {}, fileRead, { path: "/w-secrets/a" }, "ask", "worktree"],
  ["the worktree itself is inside", {}, listDir, { path: "/w" }, "allow", "tool_permission.list"],
  ["the home is outside", {}, fileRead, { path: "~/notes.txt" }, "ask", "worktree"],
  [
    "a name that begins with dots is inside",
    {},
    fileRead,
    { path: "..cache/b.txt" },
    "allow",
    "tool_permission.read",
  ],
  ["~name is an ordinary name", {}, fileRead, { path: "~root/a" }, "allow", "tool_permission.read"],
  ["listing outside asks", {}, listDir, { path: ".." }, "ask", "worktree"],
  ["writing outside asks", {}, fileWrite, { path: "../x" }, "ask", "worktree"],
  ["a pattern that climbs asks", {}, glob, { pattern: "../outside/*" }, "ask", "worktree"],
  ["an absolute directory of a glob asks", {}, glob, { pattern: "*", path: "/etc" }, "ask", "worktree"],
  [
    "the directory of a command outside asks",
    { tool_permission: { bash: "allow" } },
    runCommand,
    { command: "ls", cwd: "/" },
    "ask",
    "worktree",
  ],
  ["the directory of git outside asks", {}, git, { cwd: "/srv/other" }, "ask", "worktree"],
  ["no path is never outside", {}, git, {}, "allow", "tool_permission.read"],
  ["a NUL byte is denied", {}, fileRead, { path: "a\0b" }, "deny", "path"],
  ["an empty path is denied", {}, fileRead, { path: "" }, "deny", "path"],
  ["a path that is no text is denied", {}, fileRead, { path: { a: 1 } }, "deny", "path"],
  ["a name that is too long is denied", {}, fileRead, { path: "a".repeat(256) }, "deny", "path"],
  ["a path that is too long is denied", {}, fileRead, { path: "a/".repeat(3000) }, "deny", "path"],
  ["broken Unicode is denied", {}, fileRead, { path: "a\ud800" }, "deny", "path"],
]);

testRows([
  // path rules
  [
    "writing below .git is denied",
    {},
    fileWrite,
    { path: ".git/hooks/post-commit" },
    "deny",
    "path_rules.default(.git)",
  ],
  ["writing .git itself is denied", {}, fileWrite, { path: ".git" }, "deny", "path_rules.default(.git)"],
  [".GIT is .git", {}, fileWrite, { path: ".GIT/hooks/x" }, "deny", "path_rules.default(.git)"],
  [
    "dots do not hide .git",
    {},
    fileWrite,
    { path: "./.git/../.git/hooks/x" },
    "deny",
    "path_rules.default(.git)",
  ],
  [
    "a code point that a file system ignores does not hide .git",
    {},
    fileWrite,
    { path: ".g\u200cit/config" },
    "deny",
    "path_rules.default(.git)",
  ],
  [
    "a repository further down is protected",
    {},
    fileWrite,
    { path: "vendor/lib/.git/config" },
    "deny",
    "path_rules.default(.git)",
  ],
  [
    "a repository outside is protected",
    {},
    fileWrite,
    { path: "/srv/repo/.git/config" },
    "deny",
    "path_rules.default(.git)",
  ],
  [
    "a folder of ours below .git changes nothing",
    {},
    fileWrite,
    { path: ".git/.polyglav/x" },
    "deny",
    "path_rules.default(.git)",
  ],
  [".gitignore is an ordinary file", {}, fileWrite, { path: ".gitignore" }, "allow", "tool_permission.edit"],
  [
    ".github is an ordinary folder",
    {},
    fileWrite,
    { path: ".github/workflows/ci.yml" },
    "allow",
    "tool_permission.edit",
  ],
  ["reading below .git runs", {}, fileRead, { path: ".git/HEAD" }, "allow", "tool_permission.read"],
  ["editing below .git is denied", {}, fileEdit, { path: ".git/config" }, "deny", "path_rules.default(.git)"],
  [
    "writing the own configuration asks",
    {},
    fileWrite,
    { path: ".polyglav/config.json" },
    "ask",
    "path_rules.default(.polyglav)",
  ],
  [
    "editing the own configuration asks",
    {},
    fileEdit,
    { path: ".Polyglav/config.json" },
    "ask",
    "path_rules.default(.polyglav)",
  ],
  ["reading a key asks", {}, fileRead, { path: "certs/server.PEM" }, "ask", "path_rules.default(*.pem)"],
  ["reading .env asks", {}, fileRead, { path: ".env" }, "ask", "path_rules.default(.env*)"],
  [
    "reading .env.local in a folder asks",
    {},
    fileRead,
    { path: "app/.env.local" },
    "ask",
    "path_rules.default(.env*)",
  ],
  [
    "reading below a folder of secrets asks",
    {},
    fileRead,
    { path: "id_rsa.d/key" },
    "ask",
    "path_rules.default(id_rsa*)",
  ],
  [
    "reading credentials asks",
    {},
    fileRead,
    { path: "credentials-prod.json" },
    "ask",
    "path_rules.default(credentials*.json)",
  ],
  ["writing a new .env runs", {}, fileWrite, { path: ".env" }, "allow", "tool_permission.edit"],
  ["editing .env asks, because it reads", {}, fileEdit, { path: ".env" }, "ask", "path_rules.default(.env*)"],
  ["listing a folder of secrets runs", {}, listDir, { path: ".env.d" }, "allow", "tool_permission.list"],
  [
    "environment.ts is no secret",
    {},
    fileRead,
    { path: "src/environment.ts" },
    "allow",
    "tool_permission.read",
  ],
  [
    "a user's rule may open a secret",
    { path_rules: [{ path: ".env.example", access: "read", action: "allow" }] },
    fileRead,
    { path: ".env.example" },
    "allow",
    "tool_permission.read",
  ],
  [
    "a user's rule may deny",
    { path_rules: [{ path: "secret/", access: "read", action: "deny" }] },
    fileRead,
    { path: "secret/a" },
    "deny",
    "path_rules[0]",
  ],
  [
    "the last rule that matches wins",
    {
      path_rules: [{ path: "a/**", access: "read", action: "deny" }, {
        path: "a/b.txt",
        access: "read",
        action: "allow",
      }],
    },
    fileRead,
    { path: "a/b.txt" },
    "allow",
    "tool_permission.read",
  ],
  [
    "and an earlier one does not",
    {
      path_rules: [{ path: "a/b.txt", access: "read", action: "allow" }, {
        path: "a/**",
        access: "read",
        action: "deny",
      }],
    },
    fileRead,
    { path: "a/b.txt" },
    "deny",
    "path_rules[1]",
  ],
  [
    "a rule for writing says nothing of reading",
    { path_rules: [{ path: "a/**", access: "write", action: "deny" }] },
    fileRead,
    { path: "a/b" },
    "allow",
    "tool_permission.read",
  ],
  [
    "an allow rule does not lift a category deny",
    { tool_permission: { edit: "deny" }, path_rules: [{ path: "**", access: "write", action: "allow" }] },
    fileWrite,
    INSIDE,
    "deny",
    "tool_permission.edit",
  ],
  [
    "an allow rule does not lift tools.deny",
    {
      tools: { allow: [], deny: ["file_write"] },
      path_rules: [{ path: "**", access: "write", action: "allow" }],
    },
    fileWrite,
    INSIDE,
    "deny",
    "tools.deny",
  ],
  [
    "an allow rule does not lift an ask of the category",
    { tool_permission: { read: "ask" }, path_rules: [{ path: "**", access: "read", action: "allow" }] },
    fileRead,
    INSIDE,
    "ask",
    "tool_permission.read",
  ],
  [
    "an allow rule for a place outside opens it",
    { path_rules: [{ path: "/data/**", access: "read", action: "allow" }] },
    fileRead,
    { path: "/data/a/b" },
    "allow",
    "tool_permission.read",
  ],
  [
    "it opens listing too",
    { path_rules: [{ path: "/data", access: "read", action: "allow" }] },
    listDir,
    { path: "/data/a" },
    "allow",
    "tool_permission.list",
  ],
  [
    "it does not open writing",
    { path_rules: [{ path: "/data", access: "read", action: "allow" }] },
    fileWrite,
    { path: "/data/a" },
    "ask",
    "worktree",
  ],
  [
    "it does not open siblings",
    { path_rules: [{ path: "/data", access: "read", action: "allow" }] },
    fileRead,
    { path: "/database/a" },
    "ask",
    "worktree",
  ],
  [
    "a name opens nothing outside",
    { path_rules: [{ path: "*.txt", access: "read", action: "allow" }] },
    fileRead,
    { path: "/etc/a.txt" },
    "ask",
    "worktree",
  ],
  [
    "a name denies outside too",
    { path_rules: [{ path: "*.txt", access: "read", action: "deny" }] },
    fileRead,
    { path: "/etc/a.txt" },
    "deny",
    "path_rules[0]",
  ],
  [
    "a rule for the home opens it",
    { path_rules: [{ path: "~/notes/", access: "read", action: "allow" }] },
    fileRead,
    { path: "~/notes/a.md" },
    "allow",
    "tool_permission.read",
  ],
  [
    "a tool that edits needs both rules outside",
    { path_rules: [{ path: "/data", access: "write", action: "allow" }] },
    fileEdit,
    { path: "/data/a" },
    "ask",
    "worktree",
  ],
  [
    "the own configuration asks from a home worktree",
    {},
    fileRead,
    { path: "~/.config/polyglav/providers.json" },
    "ask",
    "worktree",
  ],
]);

Deno.test("policy: a rule does not open a place that could not be looked at", () => {
  const hidden = () => {
    throw new Deno.errors.NotCapable("no");
  };
  const over = { path_rules: [{ path: "/data", access: "read", action: "allow" }] };
  const decision = policyOf(over, { realPath: hidden, readLink: hidden }).resolve(fileRead, {
    path: "/data/x",
  });
  assert.deepEqual([decision.action, decision.rule], ["ask", "worktree"]);
  assert.equal(decision.reason, "/data/x is outside the worktree");
  const inside = policyOf({}, { realPath: hidden, readLink: hidden }).resolve(fileRead, { path: "a" });
  assert.deepEqual([inside.action, inside.reason], [
    "ask",
    "/w/a counts as outside the worktree, because it cannot be looked at",
  ]);
});

Deno.test("policy: a rule holds for the name that was given and for the one that it leads to", () => {
  using tree = makeWorktree({
    files: { "conf/plain": "S=1", "secret/.env": "S=1", "store/config": "" },
    links: { ".env": "conf/plain", "innocent": "secret/.env", "lib/.git": "../store" },
  });
  const policy = policyOf({}, { worktree: tree.work, home: tree.home, ...systemLinks });
  for (const path of [".env", "innocent"]) {
    assert.equal(policy.resolve(fileRead, { path }).action, "ask", path);
  }
  assert.equal(policy.resolve(fileRead, { path: "conf/plain" }).action, "allow");
  assert.equal(policy.resolve(fileWrite, { path: "lib/.git/config" }).action, "deny");
});
