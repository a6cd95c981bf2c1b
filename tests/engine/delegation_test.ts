import assert from "node:assert/strict";
import { readSession, verifySession } from "../../src/session/store.ts";
import { type Asked, calls, headRig, roles } from "./_heads.ts";

const HELPER = { helper: { system_prompt: "You are the helper." } };
const place = (tree: { work: string; home: string }) => ({
  worktree: tree.work,
  stateDir: `${tree.home}/.local/state/polyglav`,
});

Deno.test("delegation: a role works on the task in a session of its own, and its answer comes back", async () => {
  await using rig = await headRig([
    calls(["delegate", { role: "helper", task: "count the beans" }]),
    { content: "seven beans" },
    { content: "There are seven." },
  ], { files: { ...roles(HELPER), "AGENTS.md": "x" } });
  const result = await rig.run("how many?");
  assert.equal(result.content, "There are seven.");
  assert.match(rig.asked[1]!.system, /^You are the helper\./);
  assert.equal(rig.asked[1]!.last, "count the beans");
  assert.equal(rig.asked[2]!.last, "[delegate helper] seven beans");
  const [name] = rig.session.object().sub_sessions;
  assert.match(name!, /^sub_\d{8}_\d{6}_[0-9a-z]{6}$/);
  const sub = await readSession(place(rig.tree), name!);
  assert.equal(sub.role, "helper");
  assert.equal(sub.parent_id, rig.session.id);
  assert.equal((await verifySession(place(rig.tree), name!)).ok, true);
  const [root, child] = rig.shared.runs.list();
  assert.equal(child!.parent, root);
  assert.equal(child!.status, "ok");
  assert.equal(child!.usage?.total_tokens, 15);
});

Deno.test("delegation: skills of role and call are in the prompt once; missing ones are said and skipped", async () => {
  await using rig = await headRig([
    calls(["delegate", { role: "helper", task: "t", skills: ["django", "ghost", "style"] }]),
    { content: "ok" },
    { content: "done" },
  ], {
    files: {
      ...roles({ helper: { system_prompt: "H.", skills: ["style"] } }),
      ".polyglav/skills/django.md": "Use Django 5.",
      ".polyglav/skills/style/SKILL.md": "---\nname: style\ndescription: how we write\n---\n\nPlain words.",
    },
  });
  await rig.run();
  const { system } = rig.asked[1]!;
  assert.match(system, /## Skills\n\n### style\n\nPlain words\.\n\n### django\n\nUse Django 5\./);
  assert.equal(system.split("Plain words.").length, 2);
  const progress = rig.events.flatMap((event) => event.type === "tool_progress" ? [event.text] : []);
  assert.ok(progress.includes('helper: skill "ghost" does not exist, left out'), progress.join("\n"));
});

Deno.test("delegation: an unknown role is refused before anything runs, with the roles there are", async () => {
  await using rig = await headRig([]);
  const { content, outcome } = await rig.call("delegate", { role: "ghost", task: "haunt" });
  assert.match(
    content,
    /^Error: tool "delegate" is disabled by tool policy: unknown role "ghost"; there are .*programmer/,
  );
  assert.equal(outcome, "denied");
  assert.equal(rig.asked.length, 0);
});

Deno.test("delegation: a role may be closed to delegation, and its word does not loosen the caller's", async () => {
  await using rig = await headRig([{ content: "never" }], {
    files: roles({
      hermit: { tool_permission: { delegate: "deny" } },
      eager: { tool_permission: { delegate: "allow" } },
    }),
    settings: { tool_permission: { delegate: "ask" } },
  });
  assert.match((await rig.call("delegate", { role: "hermit", task: "t" })).content, /not to be delegated to/);
  assert.match(
    (await rig.call("delegate", { role: "eager", task: "t" })).content,
    /needs approval and nobody is here/,
  );
  assert.equal(rig.asked.length, 0);
});

Deno.test("delegation: the depth limit holds", async () => {
  const deeper = (asked: Asked) =>
    asked.messages.some(({ role }) => role === "tool")
      ? { content: `saw: ${asked.last}` }
      : calls(["delegate", { role: "helper", task: "deeper" }]);
  await using rig = await headRig(deeper, { files: roles(HELPER) });
  const { content } = await rig.run();
  assert.match(content!, /delegation depth limit reached \(3\)/);
  assert.equal(rig.shared.runs.list().length, 4, "the root and three levels");
  await using none = await headRig([], {
    files: roles(HELPER),
    settings: { delegate: { parallel: 4, max_depth: 0 } },
  });
  assert.match(
    (await none.call("delegate", { role: "helper", task: "t" })).content,
    /depth limit reached \(0\)/,
  );
});

Deno.test("delegation: what asks is denied in a sub-agent, also where the caller's every question gets a yes", async () => {
  await using rig = await headRig([
    calls(["delegate", { role: "helper", task: "run it" }]),
    calls(["run_command", { command: "echo hi > out.txt" }]),
    { content: "could not" },
    { content: "done" },
  ], { files: roles(HELPER), confirm: () => "yes" });
  await rig.run();
  assert.match(rig.asked[2]!.last, /needs approval and nobody is here/);
  assert.equal(rig.tree.read("work/out.txt"), null);
});

Deno.test("delegation: with a person there, a sub-agent's question names it, one at a time", async () => {
  let open = 0, most = 0;
  const askers: (string | undefined)[] = [];
  await using rig = await headRig(
    (asked) =>
      asked.system.startsWith("You are polyglav")
        ? asked.last === "go"
          ? calls(["delegate", { role: "looker", task: "a" }], ["delegate", { role: "looker", task: "b" }])
          : { content: "done" }
        : asked.messages.some(({ role }) => role === "tool")
        ? { content: "did it" }
        : calls(["list_dir", { path: "../outside" }]),
    {
      files: roles({ looker: { tool_permission: { edit: "deny", bash: "deny", vcs: "deny" } } }),
      person: () => null,
      async confirm(request): Promise<"yes"> {
        askers.push(request.asker);
        most = Math.max(most, ++open);
        await new Promise((resolve) => setTimeout(resolve, 20));
        open--;
        return "yes";
      },
    },
  );
  await rig.run();
  assert.equal(askers.length, 2);
  for (const asker of askers) assert.match(asker!, /^sub_/);
  assert.equal(most, 1);
});

Deno.test("delegation: the configuration comes from the caller; what was written to disk meanwhile does not count", async () => {
  await using rig = await headRig([
    calls(["delegate", { role: "helper", task: "t" }]),
    calls(["run_command", { command: "true" }]),
    { content: "no" },
    { content: "done" },
  ], { files: roles(HELPER), settings: { tool_permission: { bash: "deny" } } });
  rig.tree.write("work/.polyglav/config.json", JSON.stringify({ tool_permission: { bash: "allow" } }));
  await rig.run();
  assert.match(rig.asked[2]!.last, /disabled by tool policy/);
});

Deno.test("delegation: a failed task says why and how to go on; going on keeps what it knew", async () => {
  await using rig = await headRig([
    calls(["delegate", { role: "helper", task: "first" }]),
    { error: "the model fell over" },
    { content: "noted" },
    calls(["delegate", { role: "helper", task: "second", resume: "last" }]),
    { content: "better" },
    { content: "done" },
  ], { files: roles(HELPER) });
  await rig.run();
  const [name] = rig.session.object().sub_sessions;
  assert.equal(
    rig.asked[2]!.last,
    `Error: delegated task failed: the model fell over; to go on there, delegate to helper again with resume "${name}"`,
  );
  await rig.run("again");
  const texts = rig.asked[4]!.messages.map(({ content }) => content);
  assert.deepEqual(texts.slice(1), ["first", "second"]);
  assert.deepEqual(rig.session.object().sub_sessions, [name]);
});

Deno.test("delegation: only an own sub-agent of the same role is resumed", async () => {
  await using rig = await headRig([
    calls(["delegate", { role: "helper", task: "x" }]),
    { content: "ok" },
    { content: "done" },
  ], { files: roles({ ...HELPER, other: {} }) });
  await rig.run();
  const [name] = rig.session.object().sub_sessions, id = name!.slice(-6);
  const tryWith = (role: string, resume: string) => rig.call("delegate", { role, task: "t", resume });
  for (const [role, resume] of [["other", name], ["helper", "root"], ["helper", "../x"], ["helper", "#99"]]) {
    const { content } = await tryWith(role!, resume!);
    assert.match(content, /^Error: Cannot resume ".*": not found/, `${role} ${resume}`);
  }
  for (const resume of [name!, `session:${name}`, `#${id}`, "#2", "2", "last"]) {
    assert.match((await tryWith("helper", resume)).content, /^\[delegate helper\]/, resume);
  }
  assert.equal(rig.session.object().sub_sessions.length, 1);
  await tryWith("helper", "last").then(({ content }) => assert.match(content, /^\[delegate/));
  assert.match(
    (await rig.call("delegate", { role: "helper", task: "t", resume: "last", context: "new" })).content,
    /^\[delegate/,
  );
  assert.equal(rig.session.object().sub_sessions.length, 2);
});

Deno.test("delegation: compact replaces what a resumed session knew by a summary", async () => {
  await using rig = await headRig([
    calls(["delegate", { role: "helper", task: "read everything" }]),
    { content: "a long story" },
    { content: "noted" },
    calls(["delegate", { role: "helper", task: "and now?", resume: "last", context: "compact" }]),
    { content: "SUMMARY: it was read" },
    { content: "fine" },
    { content: "done" },
  ], { files: roles(HELPER) });
  await rig.run();
  await rig.run("again");
  assert.match(rig.asked[4]!.last, /read everything[\s\S]*a long story/);
  assert.match(rig.asked[5]!.system, /SUMMARY: it was read/);
  assert.equal(rig.asked[5]!.messages.length, 2);
});

Deno.test("delegation: no final text is told with what was done", async () => {
  await using rig = await headRig([
    calls(["delegate", { role: "helper", task: "x" }]),
    calls(["file_write", { path: "a.txt", content: "a" }], ["run_command", { command: "ls" }]),
    { content: "" },
    { content: "" },
    { content: "" },
    { content: "done" },
  ], { files: roles(HELPER) });
  const { toolCalls } = await rig.run();
  assert.equal(toolCalls.length, 1);
  const told = rig.session.object().turns[0]!.parts.flatMap((part) =>
    part.type === "tool" ? [part.output] : []
  )[0]!;
  assert.match(
    told,
    /^Error: delegated task failed: Assistant returned an empty response \(no final text; 2 tool calls; wrote: a\.txt; last bash: \$ ls\)/,
  );
});

Deno.test("delegation: independent delegations that may not write run at once, up to the limit; others one by one", async () => {
  const readers = { tool_permission: { edit: "deny", bash: "deny", vcs: "deny", mcp: "deny", web: "deny" } };
  // What would ask is open where somebody may say yes.
  for (
    const [role, parallel, person, expected] of [
      ["reader", 3, true, 3],
      ["reader", 1, false, 1],
      ["writer2", 3, false, 1],
      ["looker", 3, false, 3],
      ["looker", 3, true, 1],
      ["researcher", 3, false, 3],
      ["editor", 3, false, 3],
    ] as const
  ) {
    let now = 0, most = 0;
    await using rig = await headRig(async (asked) => {
      if (asked.last === "go") {
        return calls(
          ...Array.from(
            { length: 6 },
            (_, i) => ["delegate", { role, task: `task ${i}` }] as [string, unknown],
          ),
        );
      }
      if (!asked.last.startsWith("task")) return { content: "done" };
      most = Math.max(most, ++now);
      await new Promise((resolve) => setTimeout(resolve, 30));
      now--;
      return { content: `did ${asked.last}` };
    }, {
      files: roles({
        reader: readers,
        writer2: { tool_permission: { bash: "deny" } },
        looker: { tool_permission: { edit: "deny" } },
      }),
      settings: { delegate: { parallel, max_depth: 3 } },
      ...(person ? { person: () => "no" } : {}),
    });
    await rig.run();
    assert.equal(most, expected, `${role} with ${parallel}${person ? " and a person" : ""}`);
    const answers = rig.asked.at(-1)!.messages.filter(({ role }) => role === "tool").map(({ content }) =>
      content
    );
    assert.deepEqual(
      answers,
      Array.from({ length: 6 }, (_, i) => `[delegate ${role}] did task ${i}`),
      "in order",
    );
  }
});

Deno.test("delegation: cancelling the caller ends its sub-agents", async () => {
  const controller = new AbortController();
  await using rig = await headRig((asked) => {
    if (asked.last === "go") return calls(["delegate", { role: "helper", task: "for ever" }]);
    setTimeout(() => controller.abort(), 10);
    return { hang: true };
  }, { files: roles(HELPER) });
  const { status } = await rig.run("go", controller.signal);
  assert.equal(status, "cancelled");
  const [, child] = rig.shared.runs.list();
  assert.equal(child!.status, "cancelled");
  const sub = await readSession(place(rig.tree), rig.session.object().sub_sessions[0]!);
  assert.equal(sub.turns[0]!.status, "cancelled");
});

Deno.test("delegation: a role's model is used; one that the run saved itself has to be approved", async () => {
  await using rig = await headRig([
    calls(["delegate", { role: "big", task: "t" }]),
    { content: "ok" },
    calls(["catalog", { action: "save", kind: "role", name: "mine", model: "huge" }]),
    calls(["delegate", { role: "mine", task: "t" }]),
    { content: "done" },
  ], { files: roles({ big: { model: "large" } }) });
  await rig.run();
  assert.equal(rig.asked[1]!.model, "large");
  assert.equal(rig.asked[2]!.model, "scripted");
  assert.match(rig.asked[4]!.last, /^Error: role "mine" uses unapproved model "huge"/);
});

Deno.test("delegation: progress names the sub-agent and what it does", async () => {
  await using rig = await headRig([
    calls(["delegate", { role: "helper", task: "t" }]),
    calls(["file_read", { path: "a.txt" }], ["file_read", { path: "nowhere.txt" }]),
    { content: "ok" },
    { content: "done" },
  ], { files: { ...roles(HELPER), "a.txt": "a" } });
  await rig.run();
  const lines = rig.events.flatMap((event) => event.type === "tool_progress" ? [event.text] : []);
  assert.ok(lines.includes("helper: file_read a.txt"), lines.join("\n"));
  assert.ok(
    lines.some((line) => line.startsWith("helper: ! Error: file not found: nowhere.txt")),
    lines.join("\n"),
  );
});
