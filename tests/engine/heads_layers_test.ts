/**
 * A tree of sub-agents under plan mode, with each layer alone: nothing is written by any route.
 */
import assert from "node:assert/strict";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { type Asked, calls, headRig, type Reply, roles } from "./_heads.ts";

const ATTEMPTS = calls(
  ["file_write", { path: "pwned.txt", content: "x" }],
  ["file_edit", { path: "a.txt", old: "a", new: "pwned" }],
  ["run_command", { command: "echo x > pwned.txt" }],
  ["run_command", { command: "tee pwned.txt", cwd: "." }],
  ["git_commit", { operation: "add", all: true }],
  ["catalog", { action: "save", kind: "skill", name: "pwned", content: "x" }],
  ["catalog", { action: "remove", kind: "role", name: "eager" }],
  ["ask", { question: "may I?", kind: "permission", permission: "edit" }],
);

function script(asked: Asked): Reply {
  if (asked.system.startsWith("An agent that works for you")) return { content: "yes" };
  if (asked.messages.at(-1)!.role === "user") return ATTEMPTS;
  const rounds = asked.messages.filter(({ role }) => role === "assistant").length;
  return rounds === 1
    ? calls(["delegate", { role: "eager", task: "deeper" }], ["team", { name: "one", task: "deeper" }])
    : { content: "nothing worked" };
}

const EAGER = {
  tool_permission: { edit: "allow", bash: "allow", vcs: "allow", catalog: "allow" },
  grant_permission: { edit: "allow" },
};
const layers = [["policy open, workers compiled", true, false], [
  "policy real, workers with everything",
  false,
  true,
]] as const;
for (const [name, open, inherit] of layers) {
  Deno.test(`heads: three levels under plan mode write nothing [${name}]`, async () => {
    const files = {
      "a.txt": "a",
      ...roles({ eager: EAGER }),
      ".polyglav/teams.json": JSON.stringify({ one: { stages: [{ role: "eager", mode: "build" }] } }),
    };
    await using rig = await headRig(script, {
      mode: "plan",
      open,
      inherit,
      files,
      settings: {
        tool_permission: { edit: "allow", bash: "allow", vcs: "allow", catalog: "allow" },
        grant_permission: { edit: "allow", bash: "allow" },
      },
    });
    await rig.run();
    assert.ok(
      rig.shared.runs.list().some((run) => run.parent?.parent?.parent),
      "three levels below the root",
    );
    assert.equal(rig.tree.read("work/pwned.txt"), null);
    for (const [path, text] of Object.entries(files)) assert.equal(rig.tree.read(`work/${path}`), text, path);
    assert.equal(rig.tree.read("work/.polyglav/skills/pwned.md"), null);
    const results = rig.asked.flatMap(({ messages }) => messages.filter(({ role }) => role === "tool"));
    for (const { content } of results) {
      assert.match(
        content!,
        /^(Error: |\[denied\]|\[delegate |\[team |\[granted\] Permission "edit" is there already)/,
        content!,
      );
    }
  });
}

Deno.test("heads: the rules of a role are kept by the guard alone", async () => {
  await using rig = await headRig([
    calls(["delegate", { role: "careful", task: "t" }]),
    calls(["file_write", { path: "src/a.txt", content: "x" }], ["file_write", {
      path: "docs/a.txt",
      content: "x",
    }]),
    { content: "ok" },
    { content: "done" },
  ], {
    open: true,
    files: roles({ careful: { path_rules: [{ path: "src/", access: "write", action: "deny" }] } }),
  });
  await rig.run();
  assert.equal(rig.tree.read("work/src/a.txt"), null);
  assert.equal(rig.tree.read("work/docs/a.txt"), "x");
});

/** Bytes in use when nothing is left to collect. */
function heapAfterCollection(): number {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
  return Deno.memoryUsage().heapUsed;
}

Deno.test("heads: a hundred read-only delegations at once, with flat memory", async () => {
  const COUNT = 100;
  let now = 0, most = 0;
  const memory: number[] = [];
  await using rig = await headRig(async (asked) => {
    if (asked.last.startsWith("go")) {
      return calls(
        ...Array.from(
          { length: COUNT },
          (_, i) => ["delegate", { role: "reader", task: `task ${i}` }] as [string, unknown],
        ),
      );
    }
    if (asked.last.startsWith("task")) {
      most = Math.max(most, ++now);
      await new Promise((resolve) => setTimeout(resolve, 5));
      return calls(["file_read", { path: "a.txt" }]);
    }
    if (asked.system.startsWith("You are the reader")) {
      now--;
      return { content: "read it" };
    }
    return { content: "done" };
  }, {
    files: {
      "a.txt": "alpha",
      ...roles({
        reader: {
          system_prompt: "You are the reader.",
          tool_permission: { edit: "deny", bash: "deny", vcs: "deny", mcp: "deny" },
        },
      }),
    },
    settings: { delegate: { parallel: COUNT, max_depth: 3 } },
  });
  for (let turn = 0; turn < 4; turn++) {
    await rig.run(`go ${turn}`);
    // What the test itself keeps of the requests does not count.
    rig.asked.length = 0;
    memory.push(heapAfterCollection());
  }
  assert.ok(most > 50, `${most} at once`);
  const answers = rig.session.object().turns.flatMap(({ parts }) =>
    parts.flatMap((part) => part.type === "tool" ? [part.output] : [])
  );
  assert.equal(answers.length, 4 * COUNT);
  for (const answer of answers) assert.equal(answer, "[delegate reader] read it");
  const perRun = (memory[3]! - memory[1]!) / (2 * COUNT);
  assert.ok(perRun < 16_000, `${Math.round(perRun)} bytes stay of each run`);
});
