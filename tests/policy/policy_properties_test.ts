import assert from "node:assert/strict";
import { Grants } from "../../src/policy/grants.ts";
import type { Action, Tool } from "../../src/tool.ts";
import { allTools, fileRead, git, policyOf, tool } from "./_fixtures.ts";

const INSIDE = { path: "src/a.ts" };

const human = { name: null, scope: "once", origin: "human", ceiling: "allow" } as const;

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
