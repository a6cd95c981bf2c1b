import assert from "node:assert/strict";
import { ConfigError } from "../../src/errors.ts";
import { Grants } from "../../src/policy/grants.ts";
import type { Action, Tool } from "../../src/tool.ts";
import {
  allTools,
  ask,
  codeTest,
  delegate,
  fileEdit,
  fileRead,
  fileWrite,
  git,
  gitCommit,
  glob,
  inputOf,
  listDir,
  policyOf,
  runCommand,
  tool,
  webFetch,
  webSearch,
} from "./_fixtures.ts";
import { ToolPolicy } from "../../src/policy/tool_policy.ts";

type Row = readonly [
  name: string,
  over: Record<string, unknown>,
  tool: Tool,
  args: Record<string, unknown>,
  action: Action,
  rule: string,
];

const INSIDE = { path: "src/a.ts" }, OUTSIDE = { path: "/etc/passwd" };

const rows: readonly Row[] = [
  // 1: names
  [
    "the deny list refuses",
    { tools: { allow: [], deny: ["file_read"] } },
    fileRead,
    INSIDE,
    "deny",
    "tools.deny",
  ],
  [
    "an alias in the deny list refuses the canonical tool",
    { tools: { allow: [], deny: ["view"] } },
    fileRead,
    INSIDE,
    "deny",
    "tools.deny",
  ],
  [
    "an alias with presets in the deny list refuses",
    { tools: { allow: [], deny: ["bash"] } },
    runCommand,
    { command: "ls" },
    "deny",
    "tools.deny",
  ],
  [
    "case does not open the deny list",
    { tools: { allow: [], deny: ["File_Read"] } },
    fileRead,
    INSIDE,
    "deny",
    "tools.deny",
  ],
  [
    "deny wins over allow",
    { tools: { allow: ["file_read"], deny: ["file_read"] } },
    fileRead,
    INSIDE,
    "deny",
    "tools.deny",
  ],
  [
    "an allow list refuses everything else",
    { tools: { allow: ["file_read"], deny: [] } },
    listDir,
    { path: "." },
    "deny",
    "tools.allow",
  ],
  [
    "an alias in the allow list admits the canonical tool",
    { tools: { allow: ["ls"], deny: [] } },
    listDir,
    { path: "." },
    "allow",
    "tool_permission.list",
  ],
  [
    "an allow list does not lift a category deny",
    { tools: { allow: ["file_read"], deny: [] }, tool_permission: { read: "deny" } },
    fileRead,
    INSIDE,
    "deny",
    "tool_permission.read",
  ],
  [
    "an allow list does not lift an ask",
    { tools: { allow: ["run_command"], deny: [] } },
    runCommand,
    { command: "ls" },
    "ask",
    "tool_permission.bash",
  ],
  // 2: categories
  ["the default of bash is ask", {}, runCommand, { command: "ls" }, "ask", "tool_permission.bash"],
  ["the default of vcs is ask", {}, gitCommit, { message: "m" }, "ask", "tool_permission.vcs"],
  ["the default of edit is allow", {}, fileWrite, INSIDE, "allow", "tool_permission.edit"],
  [
    "category deny is final",
    { tool_permission: { edit: "deny" } },
    fileWrite,
    OUTSIDE,
    "deny",
    "tool_permission.edit",
  ],
  [
    "a missing key asks",
    { tool_permission: { read: undefined } },
    fileRead,
    INSIDE,
    "ask",
    "tool_permission.read",
  ],
  [
    "a value that cannot be understood asks",
    { tool_permission: { read: "yes" } },
    fileRead,
    INSIDE,
    "ask",
    "tool_permission.read",
  ],
  [
    "a value of another type asks",
    { tool_permission: { read: ["allow"] } },
    fileRead,
    INSIDE,
    "ask",
    "tool_permission.read",
  ],
  [
    "upper case is not understood",
    { tool_permission: { read: "ALLOW" } },
    fileRead,
    INSIDE,
    "ask",
    "tool_permission.read",
  ],
  [
    "ask stays ask outside",
    { tool_permission: { read: "ask" } },
    fileRead,
    OUTSIDE,
    "ask",
    "tool_permission.read",
  ],
  // 3: resolvers
  [
    "a resolver refines allow to ask",
    { tool_permission: { vcs: "allow" } },
    gitCommit,
    { message: "m", all: "true" },
    "ask",
    "permission_fn",
  ],
  [
    "a resolver that answers null defers",
    { tool_permission: { vcs: "allow" } },
    gitCommit,
    { message: "m" },
    "allow",
    "tool_permission.vcs",
  ],
  [
    "a resolver does not lift a deny",
    { tool_permission: { delegate: "deny" } },
    delegate,
    { role: "tester" },
    "deny",
    "tool_permission.delegate",
  ],
  [
    "a resolver may lift an ask",
    { tool_permission: { delegate: "ask" } },
    delegate,
    { role: "tester" },
    "allow",
    "permission_fn",
  ],
  ["a resolver may deny", {}, delegate, { role: "ghost" }, "deny", "permission_fn"],
  // web
  [
    "web_fetch is gated by read",
    { tool_permission: { read: "ask" } },
    webFetch,
    { url: "https://example.com" },
    "ask",
    "tool_permission.read",
  ],
  [
    "web_fetch is never above web: ask",
    { tool_permission: { web: "ask" } },
    webFetch,
    { url: "https://example.com" },
    "ask",
    "tool_permission.web",
  ],
  [
    "web_fetch is never above web: deny",
    { tool_permission: { web: "deny" } },
    webFetch,
    { url: "https://example.com" },
    "deny",
    "tool_permission.web",
  ],
  [
    "a missing web key asks",
    { tool_permission: { web: undefined } },
    webFetch,
    { url: "https://example.com" },
    "ask",
    "tool_permission.web",
  ],
  [
    "web_fetch of a public page runs",
    {},
    webFetch,
    { url: "https://example.com/a?b" },
    "allow",
    "tool_permission.read",
  ],
  ["loopback asks", {}, webFetch, { url: "http://127.0.0.1:1234/" }, "ask", "web.private"],
  ["metadata is denied", {}, webFetch, { url: "http://169.254.169.254/latest/" }, "deny", "web.private"],
  ["file: is denied", {}, webFetch, { url: "file:///etc/passwd" }, "deny", "web"],
  ["a path is no URL", {}, webFetch, { url: "/etc/passwd" }, "deny", "web"],
  ["a URL that is no text is denied", {}, webFetch, { url: 7 }, "deny", "web"],
  [
    "web_search is gated by web",
    { tool_permission: { web: "deny" } },
    webSearch,
    { query: "q" },
    "deny",
    "tool_permission.web",
  ],
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
  // commands
  [
    "a listed command runs",
    { tool_permission: { bash: "allow", bash_allow: ["echo"] } },
    runCommand,
    { command: "echo a" },
    "allow",
    "tool_permission.bash",
  ],
  [
    "a listed command still asks",
    { tool_permission: { bash: "ask", bash_allow: ["echo"] } },
    runCommand,
    { command: "echo a" },
    "ask",
    "tool_permission.bash",
  ],
  [
    "an unlisted command is denied",
    { tool_permission: { bash: "allow", bash_allow: ["echo"] } },
    runCommand,
    { command: "touch a" },
    "deny",
    "tool_permission.bash_allow",
  ],
  [
    "one unlisted segment denies all",
    { tool_permission: { bash: "allow", bash_allow: ["echo"] } },
    runCommand,
    { command: "echo a && touch b" },
    "deny",
    "tool_permission.bash_allow",
  ],
  [
    "a refused construct denies",
    { tool_permission: { bash: "allow", bash_allow: ["echo"] } },
    runCommand,
    { command: "echo $(x)" },
    "deny",
    "tool_permission.bash_allow",
  ],
  [
    "nothing to check denies",
    { tool_permission: { bash: "allow", bash_allow: ["echo"] } },
    runCommand,
    { command: " " },
    "deny",
    "tool_permission.bash_allow",
  ],
  [
    "a command that is no text is denied",
    { tool_permission: { bash: "allow" } },
    runCommand,
    { command: 5 },
    "deny",
    "tool_permission.bash_allow",
  ],
  [
    "a list that is no list denies",
    { tool_permission: { bash: "allow", bash_allow: "echo" } },
    runCommand,
    { command: "echo a" },
    "deny",
    "tool_permission.bash_allow",
  ],
  [
    "a list of nothing that can be understood denies",
    { tool_permission: { bash: "allow", bash_allow: ["", 3] } },
    runCommand,
    { command: "echo a" },
    "deny",
    "tool_permission.bash_allow",
  ],
  [
    "a redirect inside runs",
    { tool_permission: { bash: "allow", bash_allow: ["echo"] } },
    runCommand,
    { command: "echo a > b.txt" },
    "allow",
    "tool_permission.bash",
  ],
  [
    "a redirect outside is denied",
    { tool_permission: { bash: "allow", bash_allow: ["echo"] } },
    runCommand,
    { command: "echo a > /tmp/x" },
    "deny",
    "tool_permission.bash_allow",
  ],
  [
    "a redirect into .git is denied",
    { tool_permission: { bash: "allow", bash_allow: ["echo"] } },
    runCommand,
    { command: "echo a > .git/hooks/x" },
    "deny",
    "tool_permission.bash_allow",
  ],
  [
    "a redirect into the own configuration is denied",
    { tool_permission: { bash: "allow", bash_allow: ["echo"] } },
    runCommand,
    { command: "echo a > .polyglav/config.json" },
    "deny",
    "tool_permission.bash_allow",
  ],
  [
    "a redirect to a place that a rule opens runs",
    {
      tool_permission: { bash: "allow", bash_allow: ["echo"] },
      path_rules: [{ path: "/data", access: "write", action: "allow" }],
    },
    runCommand,
    { command: "echo a > /data/x" },
    "allow",
    "tool_permission.bash",
  ],
  [
    "bash_auto makes ask allow",
    { tool_permission: { bash: "ask", bash_auto: ["echo"] } },
    runCommand,
    { command: "echo a" },
    "allow",
    "tool_permission.bash_auto",
  ],
  [
    "bash_auto leaves the rest asking",
    { tool_permission: { bash: "ask", bash_auto: ["echo"] } },
    runCommand,
    { command: "echo a && touch b" },
    "ask",
    "tool_permission.bash",
  ],
  [
    "bash_auto does not lift a deny",
    { tool_permission: { bash: "deny", bash_auto: ["echo"] } },
    runCommand,
    { command: "echo a" },
    "deny",
    "tool_permission.bash",
  ],
  [
    "bash_auto does not lift bash_allow",
    { tool_permission: { bash: "ask", bash_auto: ["echo"], bash_allow: ["ls"] } },
    runCommand,
    { command: "echo a" },
    "deny",
    "tool_permission.bash_allow",
  ],
  [
    "bash_auto does not lift the worktree",
    { tool_permission: { bash: "ask", bash_auto: ["echo"] } },
    runCommand,
    { command: "echo a", cwd: "/" },
    "ask",
    "tool_permission.bash",
  ],
  [
    "bash_auto does not cover a redirect outside",
    { tool_permission: { bash: "ask", bash_auto: ["echo"] } },
    runCommand,
    { command: "echo a > /x" },
    "ask",
    "tool_permission.bash",
  ],
  [
    "a dev tool obeys the command list",
    { tool_permission: { bash: "allow", bash_allow: ["git"] } },
    codeTest,
    {},
    "deny",
    "programs",
  ],
  [
    "a dev tool whose program is listed runs",
    { tool_permission: { bash: "allow", bash_allow: ["npm test"] } },
    codeTest,
    {},
    "allow",
    "tool_permission.bash",
  ],
  [
    "a tool that would start Deno is denied",
    { tool_permission: { bash: "allow" } },
    codeTest,
    { target: "deno" },
    "deny",
    "programs",
  ],
  [
    "a listed command that is Deno is denied",
    { tool_permission: { bash: "allow", bash_allow: ["deno"] } },
    runCommand,
    { command: "deno run -A x.ts" },
    "deny",
    "tool_permission.bash_allow",
  ],
  [
    "git is not under the command list",
    { tool_permission: { bash: "allow", bash_allow: ["ls"] } },
    git,
    {},
    "allow",
    "tool_permission.read",
  ],
];

for (const [name, over, subject, args, action, rule] of rows) {
  Deno.test(`policy: ${name}`, () => {
    const decision = policyOf(over).resolve(subject, args);
    assert.deepEqual([decision.action, decision.rule], [action, rule], decision.reason);
    assert.ok(
      decision.trail.some((entry) =>
        entry.rule === rule && entry.action === action && entry.reason === decision.reason
      ),
      "the deciding rule is in the trail",
    );
    assert.doesNotMatch(decision.reason, /\n/);
  });
}

Deno.test("policy: what decides arguments alone does not hide a tool from the schema", () => {
  const policy = policyOf({ tool_permission: { bash: "allow", bash_allow: ["echo"] } });
  for (const subject of allTools) assert.notEqual(policy.allowed(subject).action, "deny", subject.name);
});

Deno.test("policy: what is denied by name, category or the web cap is not in the schema", () => {
  const policy = policyOf({
    tools: { allow: [], deny: ["ls"] },
    tool_permission: { edit: "deny", web: "deny", ask: "deny" },
  });
  const denied = allTools.filter((subject) => policy.allowed(subject).action === "deny").map(({ name }) =>
    name
  );
  assert.deepEqual(denied, ["list_dir", "file_write", "file_edit", "web_fetch", "web_search", "ask"]);
});

Deno.test("policy: the resolver is not asked for the schema, nor when the category denies", () => {
  let asked = 0;
  const subject = tool({ name: "t", permission: "vcs", access: [], permissionFn: () => (asked++, "allow") });
  assert.equal(policyOf().allowed(subject).action, "ask");
  policyOf({ tool_permission: { vcs: "deny" } }).resolve(subject, {});
  assert.equal(asked, 0);
  policyOf().resolve(subject, {});
  assert.equal(asked, 1);
});

const badAnswers: Record<string, () => unknown> = {
  "throws": () => {
    throw new Error("boom");
  },
  "throws no error": () => {
    throw null;
  },
  "answers undefined": () => undefined,
  "answers a number": () => 1,
  "answers a promise": () => Promise.resolve("allow"),
  "answers an object without an action": () => ({ reason: "x" }),
  "answers in upper case": () => "ALLOW",
  "answers true": () => true,
};
for (const [name, answer] of Object.entries(badAnswers)) {
  Deno.test(`policy: a resolver that ${name} denies`, () => {
    const subject = tool({ name: "t", permission: "read", access: [], permissionFn: answer as never });
    const decision = policyOf().resolve(subject, {});
    assert.deepEqual([decision.action, decision.rule], ["deny", "permission_fn"]);
  });
}

Deno.test("policy: a resolver cannot change the arguments", () => {
  const subject = tool({
    name: "t",
    permission: "read",
    access: ["read"],
    pathArg: "path",
    permissionFn: (args) => {
      args.path = "inside.txt";
      return "allow";
    },
  });
  const args = { path: "/etc/passwd" };
  assert.equal(policyOf().resolve(subject, args).rule, "worktree");
  assert.equal(args.path, "/etc/passwd");
});

Deno.test("policy: a resolver's allow is still under worktree, rules and web cap", () => {
  const liberal = { permissionFn: () => "allow" as const };
  const reads = tool({ name: "t", permission: "read", access: ["read"], pathArg: "path", ...liberal });
  assert.equal(policyOf().resolve(reads, { path: "/x" }).action, "ask");
  assert.equal(policyOf().resolve(reads, { path: ".env" }).action, "ask");
  const fetches = tool({ name: "u", permission: "read", access: ["net"], urlArg: "url", ...liberal }, [
    "url",
  ]);
  const policy = policyOf({ tool_permission: { web: "ask" } });
  assert.equal(policy.resolve(fetches, { url: "https://example.com" }).action, "ask");
});

Deno.test("policy: a tool whose own paths throw or make no sense is denied", () => {
  for (
    const paths of [
      () => {
        throw new Error("x");
      },
      () => "a.txt",
      () => [{ path: "a.txt", access: "execute" }],
      () => [null],
    ]
  ) {
    const subject = tool({ name: "t", permission: "read", access: ["read"], paths: paths as never });
    assert.equal(policyOf().resolve(subject, {}).action, "deny");
  }
});

Deno.test("policy: the default of a path parameter counts as its value", () => {
  const subject = {
    ...fileRead,
    parameters: { type: "object", properties: { path: { type: "string", default: "/etc/hosts" } } },
  } as Tool;
  assert.equal(policyOf().resolve(subject, {}).rule, "worktree");
});

Deno.test("policy: names that JavaScript's objects carry are no configuration", () => {
  for (const permission of ["constructor", "__proto__", "toString", "hasOwnProperty"]) {
    const subject = tool({ name: "t", permission, access: [] });
    assert.equal(policyOf().resolve(subject, {}).action, "ask", permission);
  }
});

Deno.test("policy: a list entry that is no tool's name is an error, because it would not do what it says", () => {
  for (const entry of ["git*", "*", "", " ", "file read", 7, null, { name: "x" }]) {
    for (const list of ["allow", "deny"]) {
      assert.throws(
        () => policyOf({ tools: { allow: [], deny: [], [list]: [entry] } }),
        ConfigError,
        String(entry),
      );
    }
  }
  assert.throws(() => policyOf({ tools: { allow: "file_read", deny: [] } }), ConfigError);
  assert.doesNotThrow(() => policyOf({ tools: { allow: [], deny: ["server.tool", "Server__tool", "a-b"] } }));
});

Deno.test("policy: a checker that throws denies, and so does having none", () => {
  const over = { tool_permission: { bash: "allow", bash_allow: ["echo"] } };
  const broken = policyOf(over, {
    checkCommand: () => {
      throw new Error("parser died");
    },
  });
  assert.match(broken.resolve(runCommand, { command: "echo" }).reason, /parser died/);
  assert.equal(broken.resolve(runCommand, { command: "echo" }).action, "deny");
  assert.equal(
    policyOf(over, { checkCommand: undefined }).resolve(runCommand, { command: "echo" }).action,
    "deny",
  );
});

Deno.test("policy: a checker that says yes without a tree is not believed", () => {
  const over = { tool_permission: { bash: "allow", bash_allow: ["echo"] } };
  const segments = [{ text: "echo", allowed: true, reason: "echo" }];
  const policy = policyOf(over, {
    checkCommand: () => ({ mode: "tree", segments, programs: [], paths: [] }),
  });
  assert.equal(policy.resolve(runCommand, { command: "echo" }).action, "deny");
  const shell = policyOf(over, {
    checkCommand: () => ({ mode: "shell", tree: { chains: [] }, segments, programs: [], paths: [] }),
  });
  assert.equal(shell.resolve(runCommand, { command: "echo" }).action, "deny");
});

Deno.test("policy: a refusal names what is refused and what is allowed", () => {
  const policy = policyOf({ tool_permission: { bash: "allow", bash_allow: ["echo", "git status"] } });
  const { reason } = policy.resolve(runCommand, { command: "echo a && touch b" });
  for (const part of ["touch", "touch b", "echo, git status"]) assert.ok(reason.includes(part), reason);
});

Deno.test("policy: without a list the user's shell runs the command", () => {
  const { command } = policyOf({ tool_permission: { bash: "allow" } }).resolve(runCommand, {
    command: "a | b",
  });
  assert.deepEqual(command, { mode: "shell", segments: [], programs: ["/bin/sh"], paths: [] });
});

Deno.test("policy: a path under consent says why, and one that is plain does not", () => {
  const outside = policyOf().resolve(fileRead, OUTSIDE).paths[0]!;
  assert.deepEqual(outside, {
    path: "/etc/passwd",
    access: "read",
    canonical: "/etc/passwd",
    inside: false,
    consent: "/etc/passwd is outside the worktree",
  });
  assert.equal(policyOf().resolve(fileRead, INSIDE).paths[0]!.consent, null);
  assert.match(policyOf().resolve(fileRead, { path: ".env" }).paths[0]!.consent!, /\.env/);
});

Deno.test("policy: open says allow to everything and still finds out where paths lead", () => {
  const policy = policyOf({ tools: { allow: [], deny: ["file_read"] } }, { open: true });
  const decision = policy.resolve(fileRead, OUTSIDE);
  assert.deepEqual([decision.action, decision.rule], ["allow", "open"]);
  assert.equal(decision.paths[0]!.inside, false);
  assert.notEqual(decision.paths[0]!.consent, null);
  assert.equal(policy.allowed(fileRead).action, "allow");
});

Deno.test("policy: it never throws, whatever the arguments", () => {
  const cyclic: Record<string, unknown> = {};
  cyclic.self = cyclic;
  const values = [
    null,
    undefined,
    0,
    NaN,
    [],
    {},
    () => 1,
    Symbol("s"),
    cyclic,
    new Date(),
    "\ud800",
    "\0",
    "a".repeat(1e5),
  ];
  for (const subject of allTools) {
    for (const value of values) {
      const args = Object.fromEntries(Object.keys(subject.parameters.properties).map((key) => [key, value]));
      for (const over of [{}, { tool_permission: { bash: "allow", bash_allow: ["a"], bash_auto: ["b"] } }]) {
        const { action } = policyOf(over).resolve(subject, args);
        assert.ok(["allow", "ask", "deny"].includes(action));
      }
    }
  }
});

// Grants

const human = { name: null, scope: "once", origin: "human", ceiling: "allow" } as const;

function withGrant(over: Record<string, unknown>, grant: Parameters<Grants["add"]>[0], mode = "build") {
  const grants = new Grants();
  grants.add(grant);
  return { grants, policy: new ToolPolicy(inputOf(over, { grants, mode })) };
}

Deno.test("grants: one lifts an ask and says whose it was", () => {
  const { policy, grants } = withGrant({}, { ...human, permission: "bash", name: "run_command" });
  const decision = policy.resolve(runCommand, { command: "ls" });
  assert.deepEqual([decision.action, decision.rule], ["allow", "grant"]);
  assert.deepEqual(decision.grant, { id: 1, scope: "once", origin: "human" });
  assert.equal(grants.list().length, 1, "a look uses nothing up");
});

Deno.test("grants: one lifts a category deny and brings the tool into the schema until it is used", () => {
  const { policy, grants } = withGrant({ tool_permission: { bash: "deny" } }, {
    ...human,
    permission: "bash",
  });
  assert.equal(policy.allowed(runCommand).action, "allow");
  const { grant, action } = policy.resolve(runCommand, { command: "ls" });
  assert.equal(action, "allow");
  assert.equal(grants.take(grant!.id), true);
  assert.equal(policy.allowed(runCommand).action, "deny");
  assert.equal(policy.resolve(runCommand, { command: "ls" }).action, "deny");
});

const above: readonly [string, Record<string, unknown>, Tool, Record<string, unknown>, string][] = [
  ["tools.deny", { tools: { allow: [], deny: ["bash"] } }, runCommand, { command: "ls" }, "deny"],
  ["tools.allow", { tools: { allow: ["file_read"], deny: [] } }, runCommand, { command: "ls" }, "deny"],
  [
    "bash_allow",
    { tool_permission: { bash: "deny", bash_allow: ["echo"] } },
    runCommand,
    { command: "ls" },
    "deny",
  ],
  [
    "a path rule that denies",
    { tool_permission: { edit: "ask" } },
    fileWrite,
    { path: ".git/config" },
    "deny",
  ],
  ["a path rule that asks", { tool_permission: { edit: "deny" } }, fileWrite, {
    path: ".polyglav/config.json",
  }, "ask"],
  ["the worktree", { tool_permission: { edit: "deny" } }, fileWrite, { path: "/etc/x" }, "ask"],
  ["a resolver's deny", { tool_permission: { delegate: "deny" } }, delegate, { role: "ghost" }, "deny"],
  [
    "the web cap",
    { tool_permission: { read: "ask", web: "deny" } },
    webFetch,
    { url: "https://example.com" },
    "deny",
  ],
  [
    "forbidden addresses",
    { tool_permission: { read: "ask" } },
    webFetch,
    { url: "http://169.254.169.254" },
    "deny",
  ],
];
for (const [name, over, subject, args, action] of above) {
  Deno.test(`grants: one does not beat ${name}`, () => {
    const { policy } = withGrant(over, { ...human, permission: subject.permission, scope: "always" });
    assert.equal(policy.resolve(subject, args).action, action);
  });
}

Deno.test("grants: one does not beat the mode", () => {
  const { policy } = withGrant(
    { tool_permission: { bash: "allow" } },
    { ...human, permission: "bash" },
    "plan",
  );
  assert.equal(policy.resolve(runCommand, { command: "ls" }).action, "deny");
  assert.equal(policy.allowed(runCommand).action, "deny");
});

Deno.test("grants: one for a tool holds for that tool alone", () => {
  const { policy } = withGrant({}, { ...human, permission: "bash", name: "code_test" });
  assert.equal(policy.resolve(runCommand, { command: "ls" }).action, "ask");
  assert.equal(policy.resolve(codeTest, {}).action, "allow");
});

Deno.test("grants: one is not used where nothing asks", () => {
  const { policy } = withGrant({}, { ...human, permission: "read" });
  assert.equal(policy.resolve(fileRead, INSIDE).grant, undefined);
  const asks = withGrant({ tool_permission: { ask: "ask" } }, { ...human, permission: "ask" });
  assert.equal(
    asks.policy.resolve(ask, { question: "?" }).grant,
    undefined,
    "a tool that is never confirmed",
  );
});

// Properties

function* cases(): Generator<[Tool, Record<string, unknown>]> {
  const paths = ["a", "/x", "../y", ".git/a", ".polyglav/b", ".env", "~/z", "\0"];
  for (const subject of allTools) {
    const names = Object.keys(subject.parameters.properties);
    for (const path of paths) {
      yield [
        subject,
        Object.fromEntries(names.map((name) => [name, name === "url" ? "https://example.com" : path])),
      ];
    }
    yield [subject, { command: "echo a", url: "http://10.0.0.1/", role: "tester" }];
  }
}

Deno.test("property: plan mode never allows what writes or takes commands, whatever is configured", () => {
  const lenient = Object.fromEntries(allTools.map(({ permission }) => [permission, "allow"]));
  const configurations: Record<string, unknown>[] = [
    {},
    { tool_permission: lenient },
    { tool_permission: { ...lenient, bash_auto: ["echo"], bash_allow: ["echo"] } },
    {
      tool_permission: lenient,
      path_rules: [{ path: "/**", access: "write", action: "allow" }, {
        path: "**",
        access: "write",
        action: "allow",
      }],
    },
    { tool_permission: lenient, tools: { allow: allTools.map(({ name }) => name), deny: [] } },
  ];
  const sly = [
    tool({
      name: "sly_write",
      permission: "read",
      access: ["read", "write"],
      pathArg: "path",
      permissionFn: () => "allow",
    }),
    tool({
      name: "sly_shell",
      permission: "list",
      access: ["run"],
      commandArg: "path",
      permissionFn: () => "allow",
    }),
    tool({ name: "sly_run", permission: "web", access: ["run"], permissionFn: () => "allow" }),
  ];
  for (const over of configurations) {
    const grants = new Grants();
    for (const { permission } of allTools) grants.add({ ...human, permission, scope: "always" });
    const policy = policyOf(over, { mode: "plan", grants });
    for (const subject of sly) {
      assert.equal(policy.resolve(subject, { path: "a" }).action, "deny", subject.name);
    }
    for (const [subject, args] of cases()) {
      const changes = subject.access.includes("write") || subject.commandArg ||
        subject.permission === "bash" || subject.permission === "vcs";
      if (changes) assert.equal(policy.resolve(subject, args).action, "deny", subject.name);
      if (changes) assert.equal(policy.allowed(subject).action, "deny", subject.name);
    }
    assert.notEqual(policy.resolve(fileRead, INSIDE).action, "deny");
    assert.notEqual(policy.resolve(git, {}).action, "deny");
  }
});

Deno.test("property: a deny added anywhere never makes a decision wider", () => {
  const order: Record<Action, number> = { deny: 0, ask: 1, allow: 2 };
  const keys = [...new Set(allTools.map(({ permission }) => permission)), "web"];
  const bases: Record<string, unknown>[] = [
    {},
    { tool_permission: { bash: "allow", bash_auto: ["echo"], vcs: "allow" } },
    { tool_permission: { bash: "ask", bash_allow: ["echo"], bash_auto: ["echo"] } },
    {
      path_rules: [{ path: "/**", access: "read", action: "allow" }, {
        path: "/**",
        access: "write",
        action: "allow",
      }],
    },
  ];
  const additions: ((base: Record<string, unknown>) => Record<string, unknown>)[] = [
    ...keys.map((key) => (base: Record<string, unknown>) => ({
      ...base,
      tool_permission: { ...base.tool_permission as object, [key]: "deny" },
    })),
    ...allTools.map(({ name }) => (base: Record<string, unknown>) => ({
      ...base,
      tools: { allow: [], deny: [name] },
    })),
    ...["**", ".env*", "a", "/x", "~/"].flatMap((path) =>
      ["read", "write"].map((access) => (base: Record<string, unknown>) => ({
        ...base,
        path_rules: [...base.path_rules as [] ?? [], { path, access, action: "deny" }],
      }))
    ),
    (base) => ({ ...base, modes: { build: { tools: { deny: ["file_read", "run_command"] } } } }),
    (base) => ({ ...base, modes: { build: { tool_permission: { edit: "deny" } } } }),
  ];
  for (const base of bases) {
    const before = policyOf(base);
    for (const add of additions) {
      const after = policyOf(add(base));
      for (const [subject, args] of cases()) {
        const [old, now] = [before.resolve(subject, args), after.resolve(subject, args)];
        assert.ok(
          order[now.action] <= order[old.action],
          `${subject.name} ${JSON.stringify(args)}: ${old.action} -> ${now.action}`,
        );
      }
    }
  }
});
