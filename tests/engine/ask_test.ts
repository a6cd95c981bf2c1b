import assert from "node:assert/strict";
import { readSession } from "../../src/session/store.ts";
import type { Question } from "../../src/ui/sink.ts";
import { type Asked, calls, headRig, type HeadRigOptions, roles, type Script } from "./_heads.ts";

const WORKER = roles({ worker: { system_prompt: "You are the worker." } });
const NOBODY = /^Error: ask has no one to answer \(no lead agent and no interactive terminal\)/;

/** A root that delegates, a worker that asks, then says what it was told. */
function asking(ask: Record<string, unknown>, lead = "Use 9090."): Script {
  return (asked: Asked) => {
    if (asked.system.startsWith("An agent that works for you asks")) return { content: lead };
    if (asked.system.startsWith("You are polyglav")) {
      return asked.messages.at(-1)!.role === "tool"
        ? { content: "done" }
        : calls(["delegate", { role: "worker", task: "set up the server" }]);
    }
    return asked.messages.at(-1)!.role === "tool" ? { content: `told: ${asked.last}` } : calls(["ask", ask]);
  };
}

async function told(
  ask: Record<string, unknown>,
  options: HeadRigOptions & { lead?: string } = {},
): Promise<string> {
  await using rig = await headRig(asking(ask, options.lead), { files: WORKER, ...options });
  const { status } = await rig.run();
  assert.equal(status, "ok");
  return rig.session.object().turns[0]!.parts.flatMap((part) => part.type === "tool" ? [part.output] : [])[0]!
    .replace("[delegate worker] told: ", "");
}

Deno.test("ask: nobody at the root is an error that says so, whatever the target", async () => {
  await using rig = await headRig([]);
  for (const target of [undefined, "human", "lead"]) {
    assert.match((await rig.call("ask", { question: "which port?", target })).content, NOBODY);
  }
});

Deno.test("ask: the lead decides with question, context, options and task before it", async () => {
  await using rig = await headRig(
    asking({ question: "Which port?", context: "80 is taken", options: ["8080", "9090"], target: "lead" }),
    { files: WORKER },
  );
  await rig.run();
  const consulted = rig.asked.find(({ system }) => system.startsWith("An agent"))!;
  assert.equal(
    consulted.last,
    "Question: Which port?\nContext: 80 is taken\nOptions: 8080 / 9090\nDelegated task: set up the server",
  );
  assert.deepEqual(consulted.tools, []);
  assert.ok(rig.asked.some(({ last }) => last === "Use 9090."), "the answer comes back bare");
});

Deno.test("ask: who answers a question of direction", async () => {
  const asked: Question[] = [];
  const person = (question: Question) => {
    asked.push(question);
    return "8080";
  };
  assert.equal(await told({ question: "q" }), "Use 9090.", "no person: the lead");
  assert.equal(await told({ question: "q" }, { person }), "8080");
  assert.match(asked[0]!.asker!, /^sub_/);
  assert.equal(await told({ question: "q", target: "lead" }, { person }), "Use 9090.");
  assert.equal(
    await told({ question: "q" }, {
      person,
      settings: { ask_policy: { permission: "auto", direction: "lead" } },
    }),
    "Use 9090.",
  );
  assert.equal(await told({ question: "q", target: "lead" }, { person, lead: "" }), "8080", "a silent lead");
  assert.match(await told({ question: "q", target: "lead" }, { lead: "" }), NOBODY);
  assert.match(await told({ question: "q" }, { person: () => null }), /^\[cancelled\] No answer given/);
});

Deno.test("ask: an empty question and a permission without a name are errors", async () => {
  await using rig = await headRig([]);
  assert.match((await rig.call("ask", { question: " " })).content, /^Error: the question is empty/);
  assert.match(
    (await rig.call("ask", { question: "may I?", kind: "permission" })).content,
    /^Error: a permission request names the tool or the key/,
  );
  assert.match(
    (await rig.call("ask", { question: "may I?", kind: "permission", permission: "fly" })).content,
    /^Error: "fly" is no tool and no permission key; keys are /,
  );
});

const BASH = {
  tool_permission: { bash: "deny" },
  grant_permission: { bash: "allow", read: "allow", ask: "allow" },
} as const;
const MAY = { question: "May I run the build?", kind: "permission", permission: "run_command" };

Deno.test("ask: a lead's yes grants one use, which the audit names, and no second one", async () => {
  let step = 0;
  await using rig = await headRig((asked) => {
    if (asked.system.startsWith("An agent")) return { content: "yes - once" };
    if (asked.system.startsWith("You are polyglav")) {
      return asked.messages.at(-1)!.role === "tool"
        ? { content: "done" }
        : calls(["delegate", { role: "worker", task: "build" }]);
    }
    step++;
    if (step === 1) return calls(["ask", MAY]);
    if (step === 2) {
      assert.ok(asked.tools.some(({ name }) => name === "run_command"), "granted, so it is offered");
      return calls(["run_command", { command: "echo one > ok1.txt" }]);
    }
    if (step === 3) {
      assert.ok(!asked.tools.some(({ name }) => name === "run_command"), "used up");
      return calls(["run_command", { command: "echo two > ok2.txt" }]);
    }
    return { content: "built" };
  }, { files: WORKER, settings: BASH });
  await rig.run();
  assert.equal(rig.tree.read("work/ok1.txt"), "one\n");
  assert.equal(rig.tree.read("work/ok2.txt"), null);
  const sub = await readSession(
    { worktree: rig.tree.work, stateDir: `${rig.tree.home}/.local/state/polyglav` },
    rig.session.object().sub_sessions[0]!,
  );
  const audit = sub.permissions.map(({ tool, action, decision, scope, granted_by }) =>
    [tool, action, decision, scope, granted_by].filter(Boolean).join(" ")
  );
  assert.deepEqual(audit, [
    "ask allow granted",
    "run_command grant granted once supervisor",
    "run_command grant granted once supervisor",
    "run_command deny denied",
  ]);
});

const answers:
  readonly (readonly [why: string, options: HeadRigOptions & { lead?: string }, expected: RegExp])[] = [
    [
      "a lead's no",
      { settings: BASH, lead: "You should not do that" },
      /^\[denied\] Permission "run_command" not approved by the lead\.$/,
    ],
    [
      "above the ceiling",
      { settings: { ...BASH, grant_permission: { read: "allow" } } },
      /^\[denied\] Permission "run_command" cannot be granted \(above the delegation ceiling\)\.$/,
    ],
    [
      "denied and no ceiling of its own",
      { settings: { tool_permission: { bash: "deny" } } },
      /above the delegation ceiling/,
    ],
    [
      "grants disabled",
      { settings: { ...BASH, ask_policy: { permission: "deny", direction: "human" } } },
      /^\[denied\] Permission "run_command" grants are disabled\.$/,
    ],
    [
      "a person's yes",
      { settings: { ...BASH, grant_permission: { bash: "ask" } }, person: () => "y" },
      /^\[granted\] Permission "run_command" approved \(once\)\.$/,
    ],
    ["a person's always", {
      settings: { ...BASH, grant_permission: { bash: "ask" } },
      person: () => "always",
    }, /approved \(always\)\.$/],
    ["yes, but not always", {
      settings: { ...BASH, grant_permission: { bash: "ask" } },
      person: () => "yes, but not always",
    }, /approved \(once\)\.$/],
    [
      "a person's no",
      { settings: { ...BASH, grant_permission: { bash: "ask" } }, person: () => "nope" },
      /declined by the operator\.$/,
    ],
    [
      "only a person may, and nobody is there",
      { settings: { ...BASH, grant_permission: { bash: "ask" } } },
      NOBODY,
    ],
    ["the policy wants a person, and one is there", {
      settings: { ...BASH, ask_policy: { permission: "human", direction: "human" } },
      person: () => "no",
      lead: "yes",
    }, /declined by the operator/],
    ["a lead's always is once", { settings: BASH, lead: "yes always" }, /approved for one use\.$/],
    [
      "by name closed",
      { settings: { ...BASH, tools: { allow: [], deny: ["run_command"] } } },
      /^\[denied\] Permission "run_command" cannot be granted \(tools\.deny\)\.$/,
    ],
    [
      "by mode closed",
      { settings: BASH, mode: "plan" },
      /^\[denied\] Permission "run_command" cannot be granted \(mode plan.*\)\.$/,
    ],
    [
      "there already",
      { settings: { tool_permission: { bash: "allow" } } },
      /^\[granted\] Permission "run_command" is there already/,
    ],
  ];
for (const [why, options, expected] of answers) {
  Deno.test(`ask: a permission: ${why}`, async () => assert.match(await told(MAY, options), expected));
}

Deno.test("ask: an alias stands for its tool, a key for all of its tools", async () => {
  assert.match(
    await told({ ...MAY, permission: "bash" }, { settings: BASH, lead: "Yes." }),
    /Permission "bash" approved for one use/,
  );
  assert.match(
    await told({ ...MAY, permission: "edit" }, {
      settings: { tool_permission: { edit: "deny" }, grant_permission: { edit: "allow" } },
      lead: "Yes.",
    }),
    /Permission "edit" approved for one use/,
  );
});
