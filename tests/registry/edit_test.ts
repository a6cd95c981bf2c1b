/** Answers that change a call, and policies that change while a call is asked about. @module */
import assert from "node:assert/strict";
import { LivePolicy } from "../../src/policy/live.ts";
import { checkCommand } from "../../src/policy/shell_command.ts";
import type { PermissionEntry } from "../../src/policy/types.ts";
import { type ConfirmCall, type ConfirmedAs, Dispatcher } from "../../src/registry/dispatch.ts";
import { Sandbox } from "../../src/sandbox/pool.ts";
import { makeWorktree, type TestTree } from "../helpers/worktree.ts";
import { bundledRegistry, policyInputOf } from "../helpers/policy_input.ts";

type Args = Record<string, unknown>;

/** A dispatcher whose questions get these answers, one after the other. */
function rig(tree: TestTree, global: unknown = {}) {
  tree.write("home/.config/polyglav/config.json", JSON.stringify(global));
  const { input } = policyInputOf(tree);
  const policy = new LivePolicy({ ...input, checkCommand });
  const registry = bundledRegistry();
  const sandbox = new Sandbox({ worktree: tree.work });
  const audit: PermissionEntry[] = [], asked: ConfirmCall[] = [];
  const dispatcher = new Dispatcher({
    registry,
    policy,
    policyInput: policy.input,
    sandbox,
    childEnv: { PATH: "/usr/bin:/bin" },
    audit: (entry) => audit.push(entry),
  });
  const call = async (
    name: string,
    args: Args,
    answers: (ConfirmedAs | ((call: ConfirmCall) => ConfirmedAs | Promise<ConfirmedAs>))[],
  ) => {
    audit.length = asked.length = 0;
    const rest = [...answers];
    const result = await dispatcher.call(name, args, {
      confirm: async (request) => {
        asked.push(request);
        const next = rest.shift();
        assert.ok(next !== undefined, "asked once too often");
        return typeof next === "function" ? await next(request) : next;
      },
    });
    assert.equal(rest.length, 0, "asked less often");
    return result;
  };
  return { policy, call, audit, asked, [Symbol.dispose]: () => sandbox.close() };
}

const outcomes = (audit: readonly PermissionEntry[]) =>
  audit.map(({ action, decision }) => `${action} ${decision}`);
const ASKS = { tool_permission: { edit: "ask" } };

Deno.test("an edited command is asked about again, runs as it was edited, and the model is told", async () => {
  using tree = makeWorktree();
  using it = rig(tree);
  const result = await it.call("run_command", { command: "echo one" }, [
    { edit: { command: "echo two" } },
    "yes",
  ]);
  assert.equal(result.isError, false, result.content);
  assert.match(result.content, /^\[the user changed this call to \{"command":"echo two"[^\n]*\}\]\n[^]*two/);
  assert.doesNotMatch(result.content, /one/);
  assert.deepEqual(it.asked.map(({ args }) => args.command), ["echo one", "echo two"]);
  assert.equal(result.args.command, "echo two");
  assert.deepEqual(outcomes(it.audit), ["ask declined", "ask granted"]);
});

Deno.test("an edit that the policy allows runs without another question; one that it denies does not run", async () => {
  using tree = makeWorktree();
  using it = rig(tree, { tool_permission: { bash_auto: ["echo"], edit: "ask" } });
  const free = await it.call("run_command", { command: "id" }, [{ edit: { command: "echo free" } }]);
  assert.match(free.content, /free/);
  assert.deepEqual(outcomes(it.audit), ["ask declined", "allow granted"]);
  const denied = await it.call("file_write", { path: "a", content: "x" }, [
    { edit: { path: ".git/config", content: "x" } },
  ]);
  assert.match(denied.content, /^Error: .*disabled by tool policy[^\n]*\n\[the user changed this call to /);
  assert.equal(denied.outcome, "denied");
  assert.deepEqual(outcomes(it.audit), ["ask declined", "deny denied"]);
  assert.equal(tree.read("work/.git/config"), null);
  assert.equal(tree.read("work/a"), null);
});

Deno.test("an edit may be declined, cancelled, edited again, or make no sense", async () => {
  using tree = makeWorktree();
  using it = rig(tree, ASKS);
  const edit = { edit: { path: "b", content: "y" } };
  const no = await it.call("file_write", { path: "a", content: "x" }, [edit, "no"]);
  assert.deepEqual([no.outcome, no.cancelled], ["declined", false]);
  assert.deepEqual(outcomes(it.audit), ["ask declined", "ask declined"]);
  const cancel = await it.call("file_write", { path: "a", content: "x" }, [edit, "cancel"]);
  assert.equal(cancel.cancelled, true);
  const twice = await it.call("file_write", { path: "a", content: "x" }, [
    edit,
    { edit: { path: "c", content: "z" } },
    "yes",
  ]);
  assert.equal(twice.content.match(/the user changed/g)?.length, 1, twice.content);
  assert.equal(tree.read("work/c"), "z");
  assert.equal(tree.read("work/a") ?? tree.read("work/b"), null);
  const wrong = await it.call("file_write", { path: "a", content: "x" }, [{ edit: { path: 5 } }]);
  assert.equal(wrong.isError, true);
  assert.deepEqual([wrong.brokenArguments, tree.read("work/a")], [false, null]);
});

Deno.test("an edit to a place outside is asked about with that place, and opens it alone", async () => {
  using tree = makeWorktree({ outside: { a: "old", b: "old" } });
  using it = rig(tree, ASKS);
  const result = await it.call("file_write", { path: "a", content: "x" }, [
    { edit: { path: "../outside/a", content: "new" } },
    "yes",
  ]);
  assert.equal(result.isError, false, result.content);
  assert.equal(it.asked[1]!.decision.paths[0]!.consent !== null, true);
  assert.deepEqual([tree.read("outside/a"), tree.read("outside/b")], ["new", "old"]);
});

Deno.test("a mode that comes while a question waits counts for its answer", async () => {
  using tree = makeWorktree();
  using it = rig(tree, ASKS);
  const result = await it.call("file_write", { path: "a", content: "x" }, [async (): Promise<ConfirmedAs> => {
    await it.policy.setMode("plan");
    return "yes";
  }]);
  assert.equal(result.outcome, "denied", result.content);
  assert.equal(tree.read("work/a"), null);
  await it.policy.setMode("build");
  assert.equal((await it.call("file_write", { path: "a", content: "x" }, ["yes"])).isError, false);
  assert.equal(tree.read("work/a"), "x");
});

Deno.test("a place that a person opened for good is open for that call, and no other place with it", async () => {
  using tree = makeWorktree({ outside: { a: "told", b: "untold" }, links: { l: "../outside/a" } });
  using it = rig(tree, {
    consent: {
      calls: [{
        tool: "file_read",
        arguments: { path: "l" },
        paths: [{ path: `${tree.outside}/a`, access: "read" }],
      }],
    },
  });
  assert.match((await it.call("file_read", { path: "l" }, [])).content, /told/);
  assert.equal((await it.call("file_read", { path: "../outside/b" }, ["no"])).outcome, "declined");
  Deno.removeSync(`${tree.work}/l`);
  Deno.symlinkSync("../outside/b", `${tree.work}/l`);
  assert.equal((await it.call("file_read", { path: "l" }, ["no"])).outcome, "declined");
});
