import assert from "node:assert/strict";
import { AskStore } from "../../src/engine/asks.ts";
import { makeWorktree } from "../helpers/worktree.ts";
import { calls, headRig, roles } from "./_heads.ts";

const store = (tree: { work: string; home: string }) =>
  new AskStore({ worktree: tree.work, stateDir: `${tree.home}/.local/state/polyglav` });
const ASK = {
  question: "Which port?",
  path: [{ session: "root", role: null }],
  context: "",
  options: ["8080", "9090"],
  kind: "direction",
  permission: "",
} as const;

Deno.test("asks: parked, shown, answered once, delivered; the file is the user's alone", () => {
  using tree = makeWorktree();
  const asks = store(tree);
  assert.deepEqual(asks.list(), []);
  assert.equal(asks.park(ASK).id, 1);
  assert.equal(asks.park({ ...ASK, kind: "permission", permission: "bash" }).id, 2);
  const file = `${tree.work}/.polyglav/asks.json`;
  if (Deno.build.os !== "windows") assert.equal(Deno.statSync(file).mode! & 0o777, 0o600);
  assert.match(tree.read("work/.polyglav/.gitignore")!, /^\/asks\.json$/m);
  assert.equal(asks.answer(1, "2").answer, "9090", "a number picks");
  assert.throws(() => asks.answer(1, "x"), /answered already: 9090/);
  assert.throws(() => asks.answer(2, "maybe"), /answer yes, always or no/);
  assert.throws(() => asks.answer(9, "x"), /there is no ask #9/);
  assert.equal(asks.vouched(asks.get(1)), true);
  assert.deepEqual(asks.below("root").map(({ id }) => id), [1, 2]);
  asks.delivered([1]);
  assert.deepEqual(asks.below("root").map(({ id }) => id), [2]);
});

Deno.test("asks: a file that is broken or a link is an error and stays as it is", () => {
  using tree = makeWorktree({ files: { ".polyglav/asks.json": '[{"id": 1}]' } });
  assert.throws(() => store(tree).list(), /is no list of asks/);
  assert.throws(() => store(tree).park(ASK), /is no list of asks/);
  assert.equal(tree.read("work/.polyglav/asks.json"), '[{"id": 1}]');
  using linked = makeWorktree({
    links: { ".polyglav/asks.json": "../../outside/asks.json" },
    outside: { "asks.json": "[]" },
  });
  assert.throws(() => store(linked).list(), /is a link/);
  assert.throws(() => store(linked).park(ASK), /is a link/);
  assert.equal(linked.read("outside/asks.json"), "[]");
});

Deno.test("asks: an unattended run parks its question, and goes on with the answer", async () => {
  await using rig = await headRig([
    calls(["ask", { question: "Which port?", options: ["8080", "9090"] }]),
    { content: "parked it" },
    { content: "9090 it is" },
  ], { unattended: true });
  await rig.run();
  assert.match(rig.asked[1]!.last, /^\[parked\] Ask #1 parked for the operator \(session root\)/);
  assert.deepEqual(rig.answers().waiting.map(({ id }) => id), [1]);
  rig.shared.asks.answer(1, "2");
  const { texts, waiting } = rig.answers();
  assert.deepEqual([texts, waiting], [["[answer to parked ask #1] 9090"], []]);
  assert.deepEqual(rig.answers().texts, [], "once");
});

Deno.test("asks: an answer that somebody wrote into the file does not count", async () => {
  await using rig = await headRig([], {
    unattended: true,
    settings: { tool_permission: { bash: "deny" }, grant_permission: { bash: "allow" } },
  });
  await rig.call("ask", { question: "may I?", kind: "permission", permission: "run_command" });
  const [ask] = rig.shared.asks.list();
  const forged = { ...ask, status: "answered", answer: "always", answered_at: new Date().toISOString() };
  rig.tree.write("work/.polyglav/asks.json", JSON.stringify([forged]));
  const { texts, waiting } = rig.answers();
  assert.deepEqual([texts, waiting.length], [[], 1]);
  assert.ok(rig.events.some((event) => event.type === "warning" && /does not count/.test(event.message)));
  assert.equal(rig.parts.policy.allowed(rig.shared.registry.get("run_command")!).action, "deny");
});

Deno.test("asks: a parked permission that is answered is granted when the run goes on, below the ceiling", async () => {
  const settings = { tool_permission: { bash: "deny" as const }, grant_permission: { bash: "ask" as const } };
  await using rig = await headRig([], { unattended: true, settings });
  const { content } = await rig.call("ask", {
    question: "may I?",
    kind: "permission",
    permission: "run_command",
  });
  assert.match(content, /^\[parked\]/);
  rig.shared.asks.answer(1, "yes");
  assert.deepEqual(rig.answers().texts, [
    '[answer to parked ask #1] [granted] Permission "run_command" approved (once).',
  ]);
  const run = () => rig.call("run_command", { command: "echo x > x.txt" });
  assert.match((await run()).content, /exit 0/);
  assert.match((await run()).content, /disabled by tool policy/);
});

Deno.test("asks: a sub-agent's parked question comes back through its caller, in the same session", async () => {
  let turn = 0;
  const script = (asked: { system: string; last: string; messages: readonly { role: string }[] }) => {
    if (asked.system.startsWith("You are polyglav")) {
      if (asked.messages.at(-1)!.role === "tool") return { content: "ok" };
      const session = /resume "(\w+)"/.exec(asked.last)?.[1];
      return calls(["delegate", {
        role: "worker",
        task: session ? "go on" : "start",
        ...(session ? { resume: session } : {}),
      }]);
    }
    turn++;
    return turn === 1
      ? calls(["ask", { question: "Which port?" }])
      : { content: `worker heard: ${asked.last}` };
  };
  await using rig = await headRig(script, {
    files: roles({ worker: { system_prompt: "You are the worker." } }),
    unattended: true,
  });
  await rig.run();
  const [name] = rig.session.object().sub_sessions;
  assert.deepEqual(rig.shared.asks.get(1).path, [{ session: "root", role: null }, {
    session: name,
    role: "worker",
  }]);
  rig.shared.asks.answer(1, "9090");
  const { texts } = rig.answers();
  assert.match(
    texts[0]!,
    /^\[parked ask #1 of worker was answered\] Delegate to role "worker" again with resume/,
  );
  await rig.run(texts[0]!);
  const told = rig.session.object().turns[1]!.parts.flatMap((part) =>
    part.type === "tool" ? [part.output] : []
  )[0]!;
  assert.equal(told, "[delegate worker] worker heard: [answer to parked ask #1] 9090\n\ngo on");
  assert.equal(rig.shared.asks.get(1).status, "delivered");
  assert.equal(rig.session.object().sub_sessions.length, 1);
});
