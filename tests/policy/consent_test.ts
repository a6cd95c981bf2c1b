import assert from "node:assert/strict";
import type { ConsentCall } from "../../src/config/settings.ts";
import { compileCall } from "../../src/policy/compile.ts";
import { argumentsText, outsidePaths, placesRemembered } from "../../src/policy/consent.ts";
import { delegatedPolicy } from "../../src/policy/delegated.ts";
import { Grants } from "../../src/policy/grants.ts";
import { checkCommand } from "../../src/policy/shell_command.ts";
import { ToolPolicy } from "../../src/policy/tool_policy.ts";
import type { Tool } from "../../src/tool.ts";
import {
  allTools,
  ask,
  fileRead,
  fileWrite,
  gitCommit,
  inputOf,
  policyOf,
  runCommand,
  webFetch,
  webSearch,
} from "./_fixtures.ts";

type Args = Record<string, unknown>;

/** The rule that "exactly this call" makes of a call. */
function callOf(over: Record<string, unknown>, tool: Tool, args: Args): ConsentCall {
  return { tool: tool.name, arguments: args, paths: outsidePaths(policyOf(over).resolve(tool, args).paths) };
}

function withCall(over: Record<string, unknown>, call: ConsentCall) {
  return { ...over, consent: { tools: [], calls: [call] } };
}

function withTool(over: Record<string, unknown>, name: string) {
  return { ...over, consent: { tools: [name], calls: [] } };
}

const LIFTED: readonly [string, Record<string, unknown>, Tool, Args, exact: boolean, tool: boolean][] = [
  ["a key that asks", {}, runCommand, { command: "make" }, true, true],
  ["web itself", { tool_permission: { web: "ask" } }, webSearch, { query: "x" }, true, true],
  [
    "the cap of what reaches the network",
    { tool_permission: { web: "ask" } },
    webFetch,
    { url: "https://x.invalid/" },
    true,
    false,
  ],
  ["a resolver that asks", { tool_permission: { vcs: "allow" } }, gitCommit, { all: "1" }, true, false],
  ["a place outside", {}, fileRead, { path: "/etc/hostname" }, true, false],
  [
    "a place outside and a key",
    { tool_permission: { edit: "ask" } },
    fileWrite,
    { path: "/x/y" },
    true,
    false,
  ],
  ["a built-in path rule", {}, fileRead, { path: ".env" }, false, false],
  [
    "a path rule of the user's",
    {
      path_rules: [{ path: "a/**", access: "write", action: "ask" }],
    },
    fileWrite,
    { path: "a/b" },
    false,
    false,
  ],
  [
    "a key and a path rule",
    {
      tool_permission: { edit: "ask" },
      path_rules: [{ path: "a/**", access: "write", action: "ask" }],
    },
    fileWrite,
    { path: "a/b" },
    false,
    false,
  ],
  ["a private address", {}, webFetch, { url: "http://127.0.0.1/" }, false, false],
];

for (const [name, over, tool, args, exact, whole] of LIFTED) {
  Deno.test(`consent: ${name}: exactly ${exact}, every call ${whole}`, () => {
    const before = policyOf(over).resolve(tool, args);
    assert.equal(before.action, "ask");
    assert.deepEqual(before.lifts, { exact, tool: whole });
    const byCall = policyOf(withCall(over, callOf(over, tool, args))).resolve(tool, args);
    assert.equal(byCall.action, exact ? "allow" : "ask");
    if (exact) {
      assert.equal(byCall.rule, "consent.calls");
      assert.equal(byCall.lifts, undefined);
    }
    const byTool = policyOf(withTool(over, tool.name)).resolve(tool, args);
    assert.deepEqual([byTool.action, byTool.rule === "consent.tools"], [whole ? "allow" : "ask", whole]);
  });
}

Deno.test("consent: an exact call is that tool with those arguments and no other", () => {
  const args = { command: "make", cwd: "src" };
  const policy = policyOf(withCall({}, callOf({}, runCommand, args)));
  assert.equal(policy.resolve(runCommand, { cwd: "src", command: "make" }).action, "allow");
  for (
    const other of [
      { command: "make" },
      { command: "make ", cwd: "src" },
      { command: "make", cwd: "src/" },
      { command: "make; id", cwd: "src" },
      { command: "MAKE", cwd: "src" },
      { command: "" },
    ]
  ) assert.equal(policy.resolve(runCommand, other).action, "ask", JSON.stringify(other));
  const elsewhere = policyOf(withCall({ tool_permission: { edit: "ask" } }, {
    tool: "file_edit",
    arguments: { path: "a" },
  }));
  assert.equal(elsewhere.resolve(fileWrite, { path: "a" }).action, "ask");
});

Deno.test("consent: an exact call outside holds only while it leads to the place that was shown", () => {
  const links = new Map([["/w/l", "/outside/shown"]]);
  const realPath = (path: string) => links.get(path) ?? path;
  const readLink = (path: string) => {
    const to = links.get(path);
    if (to === undefined) throw new TypeError("no link");
    return to;
  };
  const first = new ToolPolicy(inputOf({}, { realPath, readLink })).resolve(fileRead, { path: "l" });
  assert.equal(first.action, "ask");
  const call = { tool: "file_read", arguments: { path: "l" }, paths: outsidePaths(first.paths) };
  const input = () => inputOf(withCall({}, call), { realPath, readLink });
  const kept = input(), same = new ToolPolicy(kept).resolve(fileRead, { path: "l" });
  assert.equal(same.action, "allow");
  assert.equal(placesRemembered(fileRead, { path: "l" }, same, kept), true);
  const scope = compileCall(fileRead, same, kept, true);
  assert.deepEqual(scope.guard.consented, [{ path: "/outside/shown", access: "read" }]);
  links.set("/w/l", "/outside/other");
  const moved = input(), other = new ToolPolicy(moved).resolve(fileRead, { path: "l" });
  assert.equal(other.action, "ask");
  assert.equal(placesRemembered(fileRead, { path: "l" }, other, moved), false);
});

Deno.test("consent: places are opened by the configuration, never by an open policy, and a path rule closes them", () => {
  const args = { path: "/outside/a" };
  const open = inputOf({}, { open: true }), decision = new ToolPolicy(open).resolve(fileRead, args);
  assert.equal(decision.action, "allow");
  assert.equal(placesRemembered(fileRead, args, decision, open), false);
  const ruled = inputOf(
    {
      ...withCall({}, callOf({}, fileRead, args)),
      path_rules: [{ path: "/outside/**", access: "read", action: "ask" }],
    },
    { open: true },
  );
  const inRule = new ToolPolicy(ruled).resolve(fileRead, args);
  assert.equal(placesRemembered(fileRead, args, inRule, ruled), false);
});

Deno.test("consent: nothing that is denied is lifted, in any mode", () => {
  const over = (more: Record<string, unknown>) => ({
    ...more,
    consent: {
      tools: allTools.map(({ name }) => name),
      calls: [{ tool: "run_command", arguments: { command: "make" } }, {
        tool: "file_write",
        arguments: { path: "a", content: "b" },
      }],
    },
  });
  const command = { command: "make" };
  assert.equal(policyOf(over({}), { mode: "plan" }).resolve(runCommand, command).action, "deny");
  assert.equal(
    policyOf(over({}), { mode: "plan" }).resolve(fileWrite, { path: "a", content: "b" }).action,
    "deny",
  );
  for (
    const more of [
      { tools: { allow: [], deny: ["run_command"] } },
      { tools: { allow: ["file_read"], deny: [] } },
      { tool_permission: { bash: "deny" } },
      { tool_permission: { bash_allow: ["ls"] } },
    ]
  ) assert.equal(policyOf(over(more)).resolve(runCommand, command).action, "deny", JSON.stringify(more));
  assert.equal(policyOf(over({})).resolve(fileWrite, { path: ".git/config" }).action, "deny");
  assert.equal(policyOf(over({})).resolve(webSearch, {}).action, "allow");
  assert.equal(
    policyOf(over({ tool_permission: { web: "deny" } })).resolve(webFetch, { url: "https://x.invalid" })
      .action,
    "deny",
  );
});

Deno.test("consent: tools that are never confirmed, and a policy without any, are as before", () => {
  const never = policyOf({ tool_permission: { ask: "ask" }, consent: { tools: ["ask"], calls: [] } });
  assert.equal(never.resolve(ask, { question: "?" }).rule, "tool_permission.ask");
  const { consent: _, ...old } = inputOf({}).settings;
  assert.equal(
    new ToolPolicy({ ...inputOf({}), settings: old as never }).resolve(runCommand, { command: "x" }).action,
    "ask",
  );
});

Deno.test("consent: aliases and look-alikes in the configuration open nothing", () => {
  for (const name of ["bash", "run_command ", "RUN_COMMAND", "*", ""]) {
    assert.equal(policyOf(withTool({}, name)).resolve(runCommand, { command: "x" }).action, "ask", name);
  }
});

Deno.test("consent: a sub-agent is exactly as wide as it was before its caller's rules", () => {
  const calls = [{ tool: "run_command", arguments: { command: "make" } }];
  const before = inputOf({}, { checkCommand });
  const after = inputOf({ consent: { tools: allTools.map(({ name }) => name), calls } }, { checkCommand });
  const carves = [{}, { tool_permission: { bash: "allow" } }, { tool_permission: { edit: "ask" } }] as const;
  for (const carve of carves) {
    for (const mode of ["build", "plan"]) {
      const [a, b] = [before, after].map((input) =>
        new ToolPolicy(delegatedPolicy(input, carve, { mode, grants: new Grants() }).input)
      );
      for (const tool of allTools) {
        for (
          const args of [{ command: "make" }, { path: "a" }, { path: "/etc/x" }, { query: "x" }, { all: "1" }]
        ) {
          assert.deepEqual(
            b!.resolve(tool, args),
            a!.resolve(tool, args),
            `${tool.name} ${JSON.stringify(args)}`,
          );
        }
      }
    }
  }
});

Deno.test("consent: arguments are compared whatever the order of their names, at any depth", () => {
  assert.equal(
    argumentsText({ a: 1, b: { d: [1, { y: 1, x: 2 }], c: 2 } }),
    argumentsText({ b: { c: 2, d: [1, { x: 2, y: 1 }] }, a: 1 }),
  );
  assert.notEqual(argumentsText({ a: [1, 2] }), argumentsText({ a: [2, 1] }));
  assert.notEqual(argumentsText({ a: "1" }), argumentsText({ a: 1 }));
});
