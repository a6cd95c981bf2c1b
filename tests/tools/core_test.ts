import assert from "node:assert/strict";
import { ToolError } from "../../src/errors.ts";
import type { CatalogView, ResolverInput, Tool, ToolContext } from "../../src/tool.ts";
import { groups } from "../../tools/mod.ts";

const core = new Map(groups["polyglav-core"]!.map((tool) => [tool.name, tool]));
const get = (name: string): Tool => core.get(name)!;
const VIEW: CatalogView = {
  roles: new Map([
    ["open", {}],
    ["looker", { tool_permission: { edit: "deny", bash: "deny" } }],
    ["hermit", { tool_permission: { delegate: "deny" } }],
    ["shy", { tool_permission: { delegate: "ask" } }],
    ["eager", { tool_permission: { delegate: "allow" } }],
  ]),
  teams: new Map([["fine", { stages: [{ role: "open" }, { role: "ghost" }] }], ["mixed", {
    stages: [{ role: "shy" }, { role: "hermit" }],
  }], ["shy", { stages: [{ role: "shy" }] }]]),
};
const input = (more: Partial<ResolverInput> = {}): ResolverInput => ({
  settings: {},
  base: "allow",
  catalog: () => VIEW,
  ...more,
});

Deno.test("core tools: they run in the host, without any access, and hand everything over", async () => {
  assert.deepEqual([...core.keys()], ["delegate", "team", "ask", "catalog", "handoff", "todo"]);
  for (const tool of core.values()) {
    assert.deepEqual(tool.access, [], tool.name);
    const seen: unknown[] = [];
    const context = {
      signal: new AbortController().signal,
      progress: () => {},
      host: { call: (...args: unknown[]) => (seen.push(args), Promise.resolve("answer")) },
    } as unknown as ToolContext;
    assert.equal(await tool.execute({ a: 1 }, context), "answer");
    assert.deepEqual(seen, [[tool.name, { a: 1 }, { signal: context.signal, progress: context.progress }]]);
    await assert.rejects(
      async () => await tool.execute({}, { ...context, host: undefined }),
      ToolError,
      tool.name,
    );
    for (const [name, parameter] of Object.entries(tool.parameters.properties)) {
      assert.ok(parameter.description, `${tool.name}.${name} is described`);
    }
  }
});

Deno.test("delegate: a role's word on being delegated to", () => {
  const resolve = (role: string, base: "allow" | "ask" = "allow") => {
    const answer = get("delegate").permissionFn!({ role, task: "t" }, input({ base }));
    return answer !== null && typeof answer === "object" ? answer.action : answer;
  };
  assert.deepEqual(["ghost", "hermit", "shy", "open", "eager"].map((role) => resolve(role)), [
    "deny",
    "deny",
    "ask",
    null,
    null,
  ]);
  assert.equal(resolve("eager", "ask"), null, "the caller's ask stays");
  assert.equal(resolve("constructor"), "deny");
});

Deno.test("delegate: calls run beside each other only where nothing that changes anything is open", () => {
  const beside = (role: string, more: Partial<ResolverInput>) =>
    (get("delegate").parallel as (args: unknown, input: ResolverInput) => boolean)({ role }, input(more));
  const changing = ["edit", "bash"];
  assert.equal(beside("looker", { changing, permission: { edit: "allow", bash: "allow" } }), true);
  assert.equal(beside("open", { changing, permission: { edit: "deny", bash: "deny" } }), true);
  assert.equal(beside("open", { changing, permission: { edit: "deny", bash: "ask" } }), false);
  assert.equal(
    beside("looker", { changing: [...changing, "deploy"], permission: {} }),
    false,
    "a plugin's key",
  );
  assert.equal(beside("looker", {}), false, "nobody said what changes anything");
  assert.equal(beside("open", { readOnly: true }), true);
});

Deno.test("team: the strictest word of its roles counts", () => {
  const resolve = (name: string) => {
    const answer = get("team").permissionFn!({ name, task: "t" }, input());
    return answer !== null && typeof answer === "object" ? answer.action : answer;
  };
  assert.deepEqual(["fine", "mixed", "shy", "ghost"].map(resolve), [null, "deny", "ask", null]);
});

Deno.test("catalog: only looking is left where the mode changes nothing", () => {
  const resolve = (action: string, readOnly: boolean) => {
    const answer = get("catalog").permissionFn!({ action }, input({ readOnly, mode: "plan" }));
    return answer !== null && typeof answer === "object" ? answer.action : answer;
  };
  for (const action of ["list", "show", "validate", "reload"]) {
    assert.equal(resolve(action, true), null, action);
  }
  for (const action of ["save", "remove"]) {
    assert.equal(resolve(action, true), "deny", action);
    assert.equal(resolve(action, false), null, action);
  }
});

Deno.test("todo: its line names the step", () => {
  const status = get("todo").status!;
  assert.equal(status({ action: "add", texts: ["a", "b"] }), "add a; b");
  assert.equal(status({ action: "done", id: 2 }), "done #2");
});
