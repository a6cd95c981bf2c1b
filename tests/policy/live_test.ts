import assert from "node:assert/strict";
import { delegatedPolicy } from "../../src/policy/delegated.ts";
import { followMode } from "../../src/policy/follow.ts";
import { Grants } from "../../src/policy/grants.ts";
import { LivePolicy } from "../../src/policy/live.ts";
import { fileWrite, inputOf, runCommand } from "./_fixtures.ts";

Deno.test("live policy: a mode counts from the next decision on, in every answer", async () => {
  const live = new LivePolicy(inputOf());
  const heard: string[] = [];
  const away = live.onChange(() => heard.push(live.mode));
  assert.deepEqual([live.mode, live.readOnly, live.allowed(fileWrite).action], ["build", false, "allow"]);
  await live.setMode("plan");
  assert.deepEqual([live.mode, live.readOnly, live.allowed(fileWrite).action], ["plan", true, "deny"]);
  assert.equal(live.resolve(fileWrite, { path: "a" }).action, "deny");
  assert.equal(live.permission.bash, "deny");
  assert.match(live.instruction, /plan mode/);
  assert.deepEqual([live.input.mode, live.input.settings.mode], ["plan", "plan"]);
  away();
  await live.setMode("build");
  assert.equal(live.resolve(fileWrite, { path: "a" }).action, "allow");
  assert.deepEqual(heard, ["plan"]);
});

Deno.test("live policy: what cannot be a policy leaves the old one in force", async () => {
  const live = new LivePolicy(inputOf());
  const before = live.now();
  await assert.rejects(live.setMode("flan"), /mode "flan" does not exist/);
  await assert.rejects(
    live.change((settings) => ({ ...settings, tools: { allow: ["*"], deny: [] } })),
    /tool/,
  );
  assert.equal(live.now(), before);
});

Deno.test("live policy: the parser of commands is there once a list needs it", async () => {
  const { checkCommand: _, ...input } = inputOf();
  const live = new LivePolicy(input);
  assert.equal(live.resolve(runCommand, { command: "ls" }).action, "ask");
  await live.change((settings) => ({
    ...settings,
    tool_permission: { ...settings.tool_permission, bash_auto: ["ls"] },
  }));
  assert.equal(live.resolve(runCommand, { command: "ls src" }).action, "allow");
  assert.equal(live.resolve(runCommand, { command: "ls; id" }).action, "ask");
});

Deno.test("live policy: changes at the same time are all made, and grants stay", async () => {
  const { checkCommand: _, ...input } = inputOf({}, { grants: new Grants() });
  const live = new LivePolicy(input);
  const list = (prefix: string) =>
    live.change((settings) => ({
      ...settings,
      tool_permission: {
        ...settings.tool_permission,
        bash_auto: [...settings.tool_permission.bash_auto ?? [], prefix],
      },
    }));
  await Promise.all([list("ls"), list("cat"), live.setMode("plan"), list("wc")]);
  assert.equal(live.mode, "plan");
  assert.deepEqual([...live.input.settings.tool_permission.bash_auto!].sort(), ["cat", "ls", "wc"]);
  assert.equal(live.input.grants, input.grants);
});

Deno.test("a sub-agent follows its caller's mode at once, down the tree, and never gets wider than it was opened", async () => {
  const root = new LivePolicy(inputOf({ modes: { careful: { tool_permission: { edit: "ask" } } } }));
  const open = (caller: LivePolicy, edit?: "ask") =>
    followMode(
      caller,
      delegatedPolicy(caller.input, edit ? { tool_permission: { edit } } : {}, { grants: new Grants() })
        .input,
    );
  const sub = open(root), subsub = open(sub), strict = open(root, "ask");
  const actions = () => [sub, subsub, strict].map((live) => live.resolve(fileWrite, { path: "a" }).action);
  assert.deepEqual(actions(), ["allow", "allow", "ask"]);
  await root.setMode("plan");
  assert.deepEqual(actions(), ["deny", "deny", "deny"]);
  assert.deepEqual([sub.readOnly, subsub.mode], [true, "plan"]);
  await root.setMode("careful");
  assert.deepEqual(actions(), ["ask", "ask", "ask"]);
  await root.setMode("build");
  assert.deepEqual(actions(), ["allow", "allow", "ask"]);
  // Opened in plan, it stays there whatever the caller becomes.
  await root.setMode("plan");
  const planned = open(root);
  await root.setMode("build");
  assert.equal(planned.resolve(fileWrite, { path: "a" }).action, "deny");
});

Deno.test("what a person remembers, and what the configuration opens meanwhile, does not widen a running sub-agent", async () => {
  const root = new LivePolicy(inputOf({ tool_permission: { edit: "ask" } }));
  const sub = followMode(root, delegatedPolicy(root.input, {}, { grants: new Grants() }).input);
  await root.change((settings) => ({
    ...settings,
    consent: { tools: ["file_write", "run_command"], calls: [] },
    tool_permission: { ...settings.tool_permission, edit: "allow", bash_auto: ["ls"] },
  }));
  assert.equal(root.resolve(fileWrite, { path: "a" }).action, "allow");
  assert.equal(root.resolve(runCommand, { command: "ls" }).action, "allow");
  assert.equal(sub.resolve(fileWrite, { path: "a" }).action, "ask");
  assert.equal(sub.resolve(runCommand, { command: "ls" }).action, "ask");
  // A mode that it does not know leaves what plan leaves.
  await root.change((settings) => ({ ...settings, mode: "new", modes: { ...settings.modes, new: {} } }));
  assert.equal(sub.resolve(fileWrite, { path: "a" }).action, "deny");
});
