import assert from "node:assert/strict";
import type { ToolPermission } from "../../src/config/settings.ts";
import { ConfigError, PolicyDenied } from "../../src/errors.ts";
import { Grants, type GrantSpec } from "../../src/policy/grants.ts";
import { clampPermission, effectivePolicy, modeNames, prefixesAt, stricter } from "../../src/policy/modes.ts";
import {
  fileEdit,
  fileRead,
  gitCommit,
  policyOf,
  runCommand,
  settings,
  tool,
  webSearch,
} from "./_fixtures.ts";

Deno.test("modes: build and plan are always there, and a user's own beside them", () => {
  assert.deepEqual(modeNames(settings({ modes: {} })), ["build", "plan"]);
  assert.deepEqual(modeNames(settings({ modes: { review: {}, plan: {} } })), ["build", "plan", "review"]);
  assert.equal(policyOf({ modes: {} }).instruction, "");
  assert.match(policyOf({ modes: {} }, { mode: "plan" }).instruction, /read-only/);
  assert.match(policyOf({}, { mode: "plan" }).instruction, /read-only/);
});

Deno.test("modes: one that does not exist is an error that lists those that do", () => {
  for (const mode of ["plna", "", "Plan", "__proto__", "constructor", "toString"]) {
    assert.throws(() => policyOf({ modes: { review: {} } }, { mode }), (error: unknown) => {
      assert.ok(error instanceof ConfigError);
      assert.match(error.message, /build, plan, review/);
      return true;
    }, mode);
  }
});

Deno.test("modes: plan refuses editing, commands, commits and MCP, and says that the mode does", () => {
  const policy = policyOf({ tool_permission: { bash: "allow", vcs: "allow", mcp: "allow" } }, {
    mode: "plan",
  });
  const mcp = tool({ name: "server_tool", permission: "mcp", access: [] });
  for (const subject of [fileEdit, runCommand, gitCommit, mcp]) {
    const { action, rule } = policy.allowed(subject);
    assert.equal(action, "deny", subject.name);
    assert.match(rule, /^mode plan/, subject.name);
  }
  for (const subject of [fileRead, webSearch]) {
    assert.equal(policy.allowed(subject).action, "allow", subject.name);
  }
});

Deno.test("modes: plan holds although a configuration lists no modes at all", () => {
  for (const modes of [{}, { plan: {} }, { plan: { tool_permission: {} } }, undefined]) {
    assert.equal(policyOf({ modes }, { mode: "plan" }).allowed(fileEdit).action, "deny");
  }
});

Deno.test("modes: a user who opens a key of plan on purpose gets that key and no other", () => {
  const over = { modes: { plan: { tool_permission: { vcs: "ask" } } } };
  assert.equal(policyOf(over, { mode: "plan" }).allowed(gitCommit).action, "ask");
  assert.equal(policyOf(over, { mode: "plan" }).allowed(fileEdit).action, "deny");
  assert.equal(policyOf(over, { mode: "plan" }).allowed(runCommand).action, "deny");
});

Deno.test("modes: a mode's actions win per key, its denies are added, its allow list replaces", () => {
  const review = {
    system_prompt: "Review.",
    tool_permission: { edit: "deny", bash: "allow" },
    tools: { deny: ["web_search"], allow: ["file_read", "run_command", "web_search"] },
  };
  const over = { modes: { review }, tools: { deny: ["ls"], allow: ["grep"] } };
  const effective = effectivePolicy(settings(over), "review");
  assert.equal(effective.instruction, "Review.");
  assert.deepEqual(effective.deny, ["ls", "web_search"]);
  assert.deepEqual(effective.allow, ["file_read", "run_command", "web_search"]);
  const policy = policyOf(over, { mode: "review" });
  assert.equal(policy.allowed(runCommand).action, "allow");
  assert.deepEqual(policy.allowed(webSearch).rule, "mode review: tools.deny");
  assert.equal(policy.allowed(fileEdit).action, "deny");
  const empty = effectivePolicy(
    settings({ ...over, modes: { review: { tools: { allow: [], deny: [] } } } }),
    "review",
  );
  assert.deepEqual([empty.allow, empty.deny], [["grep"], ["ls"]]);
});

Deno.test("modes: a mode's command lists replace the base's only when they say something", () => {
  const base = { tool_permission: { bash_allow: ["git"] } };
  const list = (bash_allow: unknown) =>
    prefixesAt(
      effectivePolicy(settings({ ...base, modes: { m: { tool_permission: { bash_allow } } } }), "m")
        .permission,
      "bash_allow",
    );
  assert.deepEqual(list(["ls"]).prefixes, ["ls"]);
  assert.deepEqual(list([]).prefixes, ["git"]);
  assert.deepEqual(list(undefined).prefixes, ["git"]);
});

Deno.test("modes: nothing of the configuration is changed", () => {
  const own = settings({ modes: { m: { tool_permission: { edit: "deny" } } } });
  const before = JSON.stringify(own);
  effectivePolicy(own, "m");
  assert.equal(JSON.stringify(own), before);
});

const clamps: readonly (readonly [string, ToolPermission, ToolPermission, ToolPermission])[] = [
  ["the stricter of two", { edit: "allow", read: "ask" }, { edit: "ask", read: "allow" }, {
    edit: "ask",
    read: "ask",
  }],
  ["deny on either side", { edit: "deny", bash: "allow" }, { edit: "allow", bash: "deny" }, {
    edit: "deny",
    bash: "deny",
  }],
  ["a key that one side lacks asks", { x: "allow" }, { y: "allow" }, { x: "ask", y: "ask" }],
  ["what cannot be understood asks", { x: "yes" as never }, { x: "allow" }, { x: "ask" }],
  ["lists meet", { bash: "allow", bash_allow: ["git", "npm test", "ls"] }, {
    bash: "allow",
    bash_allow: ["git status", "npm", "cat"],
  }, { bash: "allow", bash_allow: ["git status"] }],
  [
    "an entry that spells out more than the ceiling's does not count",
    {
      bash: "allow",
      bash_allow: ["find . -exec", "ls"],
    },
    { bash: "allow", bash_allow: ["find", "ls"] },
    { bash: "allow", bash_allow: ["ls"] },
  ],
  ["a list against none stays", { bash: "allow" }, { bash: "allow", bash_allow: ["ls"] }, {
    bash: "allow",
    bash_allow: ["ls"],
  }],
  ["none against a list stays", { bash: "allow", bash_allow: ["ls"] }, { bash: "allow" }, {
    bash: "allow",
    bash_allow: ["ls"],
  }],
  ["lists with nothing in common deny", { bash: "allow", bash_allow: ["ls"] }, {
    bash: "allow",
    bash_allow: ["lsof"],
  }, { bash: "deny", bash_allow: [""] }],
  [
    "a list that cannot be understood denies",
    { bash: "allow", bash_allow: "ls" as never },
    { bash: "allow" },
    { bash: "deny", bash_allow: [""] },
  ],
  ["automatic commands only where both agree", { bash_auto: ["ls", "git"] }, { bash_auto: ["git log"] }, {
    bash_auto: ["git log"],
  }],
  ["automatic commands of one side are gone", { bash_auto: ["ls"] }, {}, {}],
];
for (const [name, wanted, ceiling, expected] of clamps) {
  Deno.test(`modes: clamping: ${name}`, () => {
    const clamped = clampPermission(wanted, ceiling);
    assert.deepEqual(clamped, expected);
    assert.deepEqual(clampPermission(clamped, ceiling), expected, "clamping twice changes nothing");
  });
}

Deno.test("modes: stricter is a minimum", () => {
  const order = ["deny", "ask", "allow"] as const;
  order.forEach((a, i) => order.forEach((b, j) => assert.equal(stricter(a, b), order[Math.min(i, j)])));
});

const grant: GrantSpec = {
  name: "run_command",
  permission: "bash",
  scope: "once",
  origin: "human",
  ceiling: "allow",
};

Deno.test("grants: one for a single call is gone once it is taken, one for good is not", () => {
  const grants = new Grants();
  const once = grants.add(grant);
  assert.equal(grants.find(runCommand)?.id, once.id);
  assert.equal(grants.take(once.id), true);
  assert.equal(grants.take(once.id), false, "two calls that saw it cannot both use it");
  assert.equal(grants.find(runCommand), null);
  const always = grants.add({ ...grant, scope: "always" });
  assert.ok(grants.take(always.id) && grants.take(always.id));
  grants.revoke(always.id);
  assert.equal(grants.take(always.id), false);
  assert.equal(grants.take(99), false);
});

Deno.test("grants: one for good is used before one for a single call", () => {
  const grants = new Grants();
  grants.add(grant);
  const always = grants.add({ ...grant, scope: "always" });
  assert.equal(grants.find(runCommand)?.id, always.id);
});

Deno.test("grants: a name and a category both have to fit", () => {
  const grants = new Grants();
  grants.add({ ...grant, name: "run_command", permission: "read" });
  grants.add({ ...grant, name: "file_read", permission: "bash" });
  assert.equal(grants.find(runCommand), null);
  assert.equal(grants.find(fileRead), null);
  grants.add({ ...grant, name: null, permission: "read" });
  assert.notEqual(grants.find(fileRead), null);
});

const refused: readonly (readonly [string, Partial<GrantSpec>])[] = [
  ["above a ceiling of deny", { ceiling: "deny" }],
  ["with a ceiling that cannot be understood", { ceiling: "yes" as never }],
  ["by an agent where a person must", { ceiling: "ask", origin: "supervisor" }],
  ["by an agent for good", { origin: "supervisor", scope: "always" }],
];
for (const [name, over] of refused) {
  Deno.test(`grants: none is given ${name}`, () => {
    const grants = new Grants();
    assert.throws(() => grants.add({ ...grant, ...over }), PolicyDenied);
    assert.deepEqual(grants.list(), []);
  });
}

Deno.test("grants: a person may grant where the ceiling asks, an agent where it allows", () => {
  const grants = new Grants();
  grants.add({ ...grant, ceiling: "ask" });
  grants.add({ ...grant, origin: "supervisor" });
  assert.equal(grants.list().length, 2);
});

Deno.test("grants: what was given cannot be changed from outside", () => {
  const spec = { ...grant };
  const grants = new Grants();
  const given = grants.add(spec);
  (spec as { permission: string }).permission = "edit";
  assert.equal(grants.list()[0]!.permission, "bash");
  assert.throws(() => {
    (given as { scope: string }).scope = "always";
  }, TypeError);
});
