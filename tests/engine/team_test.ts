import assert from "node:assert/strict";
import { readSession, verifySession } from "../../src/session/store.ts";
import { catalogPort } from "../../src/engine/host_port.ts";
import { type Asked, calls, headRig, type Reply, roles } from "./_heads.ts";

const AB = roles({ alpha: { system_prompt: "You are alpha." }, beta: { system_prompt: "You are beta." } });
const team = (teams: unknown) => ({ ".polyglav/teams.json": JSON.stringify(teams) });
const place = (tree: { work: string; home: string }) => ({
  worktree: tree.work,
  stateDir: `${tree.home}/.local/state/polyglav`,
});
const DUO = {
  duo: {
    description: "two steps",
    stages: [
      { role: "alpha", task_hint: "Gather facts.", handoff_note: "Pass the facts on." },
      { role: "beta", task_hint: "Write it up." },
    ],
  },
};

Deno.test("team: each stage gets the task, the results before it, the note and its hint", async () => {
  await using rig = await headRig([{ content: "fact one" }, { content: "final text" }], {
    files: { ...AB, ...team(DUO) },
  });
  const { content } = await rig.call("team", { name: "duo", task: "ship the thing" });
  assert.equal(content, "[team duo] final text");
  const [first, second] = rig.asked.map(({ last }) => last);
  const [one] = rig.session.object().sub_sessions;
  assert.equal(
    first,
    "Team: duo (two steps)\n\nOriginal task:\nship the thing\n\nYour stage (alpha):\nGather facts.",
  );
  assert.equal(
    second,
    `Team: duo (two steps)\n\nOriginal task:\nship the thing\n\n## Stage 1 result (${one}):\nfact one\n\n` +
      "Stage 2 handoff from alpha: Pass the facts on.\n\nYour stage (beta):\nWrite it up.",
  );
  for (const name of rig.session.object().sub_sessions) {
    assert.equal((await verifySession(place(rig.tree), name)).ok, true);
  }
});

Deno.test("team: long results are passed on cut, and said to be", async () => {
  await using rig = await headRig([{ content: "word ".repeat(2000) }, { content: "ok" }], {
    files: { ...AB, ...team(DUO) },
  });
  await rig.call("team", { name: "duo", task: "t" });
  const brief = rig.asked[1]!.last;
  assert.ok(brief.length < 4400, String(brief.length));
  assert.match(brief, /word\n\.\.\. \(truncated\)/);
});

const LOOPY = {
  loopy: { stages: ["alpha", "beta"], loop: { from: "alpha", until: "beta", max_iterations: 3 } },
};

Deno.test("team: a reviewer sends work back until its last line passes it", async () => {
  await using rig = await headRig([
    { content: "draft one" },
    { content: "Add tests.\nVERDICT: CHANGES" },
    { content: "draft two" },
    { content: "Good. VERDICT: PASS" },
  ], { files: { ...AB, ...team(LOOPY) } });
  const { content } = await rig.call("team", { name: "loopy", task: "make it" });
  assert.equal(content, "[team loopy] Good. VERDICT: PASS");
  const [, review, again] = rig.asked.map(({ last }) => last);
  assert.match(review!, /Review loop iteration 1\.\n\n## Iteration result 1 \(sub_\w+\):\ndraft one/);
  assert.match(review!, /Your last line decides: "VERDICT: PASS"/);
  assert.match(
    again!,
    /Review loop iteration 2\.\n\n## Findings from the previous review\nAdd tests\.\nVERDICT: CHANGES/,
  );
  assert.match(again!, /## Iteration result 1 \(sub_\w+\):\ndraft one/);
});

Deno.test("team: a quoted instruction passes nothing; at the limit the result says so", async () => {
  const said = 'I was told to end with "VERDICT: PASS" when nothing has to change, but much has to.';
  await using rig = await headRig(
    (asked) => ({ content: asked.system.startsWith("You are beta") ? said : "draft" }),
    { files: { ...AB, ...team(LOOPY) } },
  );
  const { content, isError } = await rig.call("team", { name: "loopy", task: "make it" });
  assert.equal(isError, false);
  assert.equal(content, `[team loopy] ${said} (review loop: not passed after 3 iterations)`);
  assert.equal(rig.asked.length, 6);
});

Deno.test("team: stages before a loop run once and stay known, stages after it too", async () => {
  await using rig = await headRig([
    { content: "plan" },
    { content: "draft" },
    { content: "no\nVERDICT: CHANGES" },
    { content: "draft 2" },
    { content: "VERDICT: PASS" },
    { content: "published" },
  ], {
    files: {
      ...AB,
      ...team({ four: { stages: ["planner", "alpha", "beta", "writer"], loop: { from: 1, until: 2 } } }),
    },
  });
  const { content } = await rig.call("team", { name: "four", task: "t" });
  assert.match(content, /^\[team four\] published/);
  for (const index of [1, 2, 3, 4]) {
    assert.match(rig.asked[index]!.last, /## Stage 1 result \(sub_\w+\):\nplan/);
  }
  const last = rig.asked[5]!.last;
  assert.match(last, /## Stage 2 result \(sub_\w+\):\ndraft 2/);
  assert.match(last, /## Stage 3 result \(sub_\w+\):\nVERDICT: PASS/);
});

Deno.test("team: what cannot work is said before the first stage costs anything", async () => {
  await using rig = await headRig([], {
    files: {
      ...AB,
      ...team({
        ghosts: { stages: ["alpha", "ghost"] },
        empty: { stages: [] },
        moody: { stages: [{ role: "alpha", mode: "plna" }] },
      }),
    },
  });
  for (
    const [name, expected] of [
      [
        "ghosts",
        /^Error: team "ghosts" failed: Unknown role: ghost \(stage 2\); unknown role "ghost"; there are /,
      ],
      ["empty", /^Error: team "empty" has no stages$/],
      ["moody", /^Error: team "moody" failed: stage 1 wants the mode "plna", and there are build, plan$/],
      ["no-such-team", /^Error: unknown team "no-such-team"; there are empty, /],
    ] as const
  ) {
    assert.match((await rig.call("team", { name, task: "t" })).content, expected);
  }
  assert.equal(rig.asked.length, 0);
});

Deno.test("team: a failed stage names itself, its session and how to go on; later stages do not run", async () => {
  await using rig = await headRig([{ content: "fact" }, { error: "no more tokens" }], {
    files: { ...AB, ...team(DUO) },
  });
  const { content } = await rig.call("team", { name: "duo", task: "t" });
  const name = rig.session.object().sub_sessions[1];
  assert.equal(
    content,
    `Error: team "duo" failed: stage 2 (beta, session ${name}): no more tokens; to go on there, delegate to beta with resume "${name}"`,
  );
});

Deno.test("team: a team in itself is a cycle, and nesting has an end", async () => {
  const start = (asked: Asked): Reply => {
    if (asked.messages.at(-1)?.role === "tool") return { content: `saw ${asked.last}` };
    const name = asked.last.includes("Team: outer")
      ? "inner"
      : asked.last.includes("Team: inner")
      ? "third"
      : "outer";
    return calls(["team", { name, task: "t" }]);
  };
  const files = {
    ...AB,
    ...team({ outer: { stages: ["alpha"] }, inner: { stages: ["beta"] }, third: { stages: ["alpha"] } }),
  };
  await using rig = await headRig(start, { files });
  const { content } = await rig.run();
  assert.match(content!, /Team nesting limit reached \(2\): third/);
  // 0 is no limit; a team in itself stays one.
  await using deep = await headRig(start, { files, settings: { max_team_depth: 0 } });
  assert.match(
    (await deep.run()).content!,
    /saw \[team third\] saw .*Team cycle detected: outer -> inner -> third -> outer/s,
  );
  await using cycle = await headRig(
    (asked) =>
      asked.messages.at(-1)?.role === "tool"
        ? { content: `saw ${asked.last}` }
        : calls(["team", { name: "outer", task: "t" }]),
    { files },
  );
  assert.match((await cycle.run()).content!, /Team cycle detected: outer -> outer/);
});

Deno.test("team: a role that asks for more than it gets is named; a stage's mode narrows it", async () => {
  await using rig = await headRig([
    calls(["file_write", { path: "a.txt", content: "a" }]),
    { content: "planned" },
    { content: "done" },
  ], {
    files: {
      ...roles({ alpha: { tool_permission: { edit: "allow", bash: "allow" } }, beta: {} }),
      ...team({ duo: { stages: [{ role: "alpha", mode: "plan" }, "beta"] } }),
    },
  });
  const { content } = await rig.call("team", { name: "duo", task: "t" });
  assert.equal(content, "[team duo] done (reduced permissions for: alpha)");
  assert.match(rig.asked[1]!.last, /^Error: tool "file_write" is disabled by tool policy/);
  assert.match(rig.asked[0]!.system, /plan mode/);
  assert.equal(rig.tree.read("work/a.txt"), null);
  const first = await readSession(place(rig.tree), rig.session.object().sub_sessions[0]!);
  assert.equal(first.turns[0]!.mode, "plan");
});

Deno.test("team: a role that is closed to delegation closes the team", async () => {
  await using rig = await headRig([], {
    files: {
      ...roles({ hermit: { tool_permission: { delegate: "deny" } } }),
      ...team({ one: { stages: ["hermit"] } }),
    },
  });
  assert.match(
    (await rig.call("team", { name: "one", task: "t" })).content,
    /its role hermit is not to be delegated to/,
  );
});

Deno.test("team: without a conversation, what does not exist is said first", async () => {
  await using rig = await headRig([], { files: { ...AB, ...team({ empty: { stages: [] } }) } });
  const port = catalogPort(() => rig.shared.catalog, false);
  const said = async (operation: string, input: Record<string, unknown>) => {
    try {
      return String(await port.call(operation, { task: "t", ...input }));
    } catch (error) {
      return (error as Error).message;
    }
  };
  assert.match(await said("team", { name: "ghost" }), /^unknown team "ghost"; there are empty, /);
  assert.equal(await said("team", { name: "empty" }), 'team "empty" has no stages');
  assert.match(await said("team", { name: "writing" }), /needs a conversation/);
  assert.match(await said("delegate", { role: "ghost" }), /^unknown role "ghost"; there are /);
  assert.match(await said("delegate", { role: "alpha" }), /needs a conversation/);
});
