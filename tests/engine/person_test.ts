/**
 * A person at the prompt: questions of agents that work beside each other queue, name the asker, and end with the turn.
 */
import assert from "node:assert/strict";
import { readSession } from "../../src/session/store.ts";
import { calls, headRig, roles } from "./_heads.ts";

const READER = { tool_permission: { edit: "deny", bash: "deny", vcs: "deny" } };
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

Deno.test("person: questions and confirmations of parallel sub-agents come one at a time, with the asker", async () => {
  let open = 0, most = 0;
  const askers = new Map<string, string[]>();
  const note = async (asker: string | undefined, what: string) => {
    most = Math.max(most, ++open);
    askers.set(asker!, [...askers.get(asker!) ?? [], what]);
    await pause(20);
    open--;
  };
  await using rig = await headRig((asked) => {
    if (asked.last === "go") {
      return calls(
        ...[1, 2, 3].map((i) => ["delegate", { role: "reader", task: `task ${i}` }] as [string, unknown]),
      );
    }
    if (asked.last.startsWith("task")) {
      return calls(["ask", { question: `which for ${asked.last}?` }], ["list_dir", { path: "." }]);
    }
    return {
      content: asked.messages.filter(({ role }) => role === "tool").map(({ content }) => content).join("|"),
    };
  }, {
    files: roles({ reader: READER }),
    settings: { tool_permission: { list: "ask" }, ask_policy: { permission: "auto", direction: "human" } },
    person: async ({ question, asker }) => {
      await note(asker, question);
      return `answer to ${question}`;
    },
    confirm: async ({ asker, tool }) => {
      await note(asker, tool.name);
      return "no" as const;
    },
  });
  const { content } = await rig.run();
  assert.equal(most, 1, "one at a time");
  assert.equal(askers.size, 3);
  for (const [asker, asked] of askers) {
    assert.match(asker, /^sub_/);
    const n = /task (\d)/.exec(asked[0]!)![1];
    assert.deepEqual(asked, [`which for task ${n}?`, "list_dir"]);
    const task = (await readSession(
      { worktree: rig.tree.work, stateDir: `${rig.tree.home}/.local/state/polyglav` },
      asker,
    ))
      .turns[0]!.parts[0]!;
    assert.equal("text" in task ? task.text : "", `task ${n}`, "the name is that of the agent that asks");
  }
  for (const n of [1, 2, 3]) assert.match(content!, new RegExp(`answer to which for task ${n}\\?`));
});

Deno.test("person: a question that is open when the turn is cancelled ends with it, and no other one opens", async () => {
  const controller = new AbortController(), seen: string[] = [];
  await using rig = await headRig((asked) => {
    if (asked.last === "go") {
      return calls(
        ...[1, 2].map((i) => ["delegate", { role: "reader", task: `task ${i}` }] as [string, unknown]),
      );
    }
    return calls(["ask", { question: asked.last }]);
  }, {
    files: roles({ reader: READER }),
    settings: { ask_policy: { permission: "auto", direction: "human" } },
    person: ({ question, signal }) => {
      seen.push(question);
      setTimeout(() => controller.abort(), 10);
      return new Promise((resolve) => signal!.addEventListener("abort", () => resolve(null), { once: true }));
    },
  });
  const { status } = await rig.run("go", controller.signal);
  assert.equal(status, "cancelled");
  assert.equal(seen.length, 1);
  assert.deepEqual(rig.shared.runs.list().map((run) => run.status).slice(1), ["cancelled", "cancelled"]);
});

Deno.test("person: a yes for good holds for the rest of the sub-agent's run, and the audit names it", async () => {
  await using rig = await headRig([
    calls(["delegate", { role: "worker", task: "build" }]),
    calls(["ask", { question: "may I?", kind: "permission", permission: "run_command" }]),
    calls(["run_command", { command: "echo a > a.txt" }]),
    calls(["run_command", { command: "echo b > b.txt" }]),
    { content: "built" },
    calls(["delegate", { role: "worker", task: "again", resume: "last" }]),
    calls(["run_command", { command: "echo c > c.txt" }]),
    { content: "refused" },
    { content: "done" },
  ], {
    files: roles({ worker: { tool_permission: { bash: "deny" }, ask_policy: { permission: "human" } } }),
    settings: { tool_permission: { bash: "allow" } },
    person: () => "always",
  });
  await rig.run();
  assert.equal(rig.tree.read("work/a.txt"), "a\n");
  assert.equal(rig.tree.read("work/b.txt"), "b\n");
  assert.equal(rig.tree.read("work/c.txt"), null, "another run begins without grants");
  const place = { worktree: rig.tree.work, stateDir: `${rig.tree.home}/.local/state/polyglav` };
  const { permissions } = await readSession(place, rig.session.object().sub_sessions[0]!);
  const granted = permissions.filter(({ action }) => action === "grant");
  assert.deepEqual(
    granted.map(({ tool, decision, scope, granted_by }) => [tool, decision, scope, granted_by]),
    [1, 2, 3].map(() => ["run_command", "granted", "always", "human"]),
    "given, used, used again",
  );
});

Deno.test("person: no answer and an empty one cancel the question alone", async () => {
  for (const answer of [null, "", "  "]) {
    await using rig = await headRig([], { person: () => answer });
    const { content, isError } = await rig.call("ask", { question: "which port?" });
    assert.match(content, /^\[cancelled\] No answer given - decide autonomously/);
    assert.equal(isError, false);
    assert.equal(
      (await rig.call("ask", { question: "q", kind: "permission", permission: "bash" })).content,
      '[denied] Permission "bash" declined by the operator.',
    );
  }
});
