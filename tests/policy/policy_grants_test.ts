import assert from "node:assert/strict";
import { Grants } from "../../src/policy/grants.ts";
import { ToolPolicy } from "../../src/policy/tool_policy.ts";
import type { Tool } from "../../src/tool.ts";
import { ask, codeTest, delegate, fileRead, fileWrite, inputOf, runCommand, webFetch } from "./_fixtures.ts";

const INSIDE = { path: "src/a.ts" };

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

Deno.test("grants: one does not lift what a mode of the user's own denies", () => {
  const over = { modes: { quiet: { tool_permission: { delegate: "deny" } } } };
  const { policy } = withGrant(over, { ...human, permission: "delegate", scope: "always" }, "quiet");
  assert.equal(policy.resolve(delegate, { role: "tester" }).action, "deny");
  assert.equal(policy.allowed(delegate).action, "deny");
});
