import assert from "node:assert/strict";
import { ConfigError } from "../../src/errors.ts";
import type { Tool } from "../../src/tool.ts";
import {
  allTools,
  delegate,
  fileRead,
  fileWrite,
  gitCommit,
  listDir,
  policyOf,
  runCommand,
  testRows,
  tool,
  webFetch,
  webSearch,
} from "./_fixtures.ts";

const INSIDE = { path: "src/a.ts" };
const OUTSIDE = { path: "/etc/passwd" };

testRows([
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
]);

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
