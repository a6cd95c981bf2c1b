import assert from "node:assert/strict";
import { rig, tool } from "./_harness.ts";

const call = (name: string, args: unknown = {}, id?: string) => ({
  name,
  arguments: args,
  ...(id ? { id } : {}),
});
const deferred = () => Promise.withResolvers<void>();

Deno.test("a turn runs tools until the model answers, and everything is recorded", async () => {
  await using r = await rig([
    { reasoning: "look first", content: "Let me look.", tool_calls: [call("echo", { path: "a" }, "c1")] },
    { content: "It is a." },
  ]);
  const result = await r.run("what is it?");
  assert.deepEqual({ ...result, duration: 0 }, {
    status: "ok",
    content: "It is a.",
    thinking: "look first",
    toolCalls: [{ name: "echo", arguments: { path: "a" } }],
    errors: [],
    denied: [],
    usage: { prompt_tokens: 22, completion_tokens: 14, total_tokens: 36 },
    context: 18,
    duration: 0,
  });
  // Text beside the calls stays in the conversation.
  assert.deepEqual(r.server.requests[1]!.body.messages.slice(1), [
    { role: "user", content: "what is it?" },
    {
      role: "assistant",
      content: "Let me look.",
      tool_calls: [{ id: "c1", type: "function", function: { name: "echo", arguments: '{"path":"a"}' } }],
    },
    { role: "tool", tool_call_id: "c1", name: "echo", content: 'echo {"path":"a"}' },
  ]);
  const [turn] = r.object().turns;
  assert.equal(turn!.status, "ok");
  assert.deepEqual(turn!.usage, result.usage);
  assert.deepEqual(turn!.parts.map((p) => p.type), ["user", "thinking", "text", "tool", "text"]);
  assert.equal(r.object().permissions.length, 1);
  assert.deepEqual(
    r.events.filter((e) => e.type !== "token" && e.type !== "thinking").map((e) => e.type),
    ["turn_start", "tool_start", "tool_end", "turn_end"],
  );
});

Deno.test("parallel calls run beside each other and are answered in order; writes run alone", async () => {
  const log: string[] = [];
  const both = [deferred(), deferred()];
  const meet = (i: number) => async () => {
    log.push(`start ${i}`);
    both[i]!.resolve();
    // Both must have started before either can end.
    await Promise.all(both.map((d) => d.promise));
    if (i === 0) await Promise.resolve().then(() => {});
    log.push(`end ${i}`);
    return `result ${i}`;
  };
  const write = tool("put", () => {
    log.push("put");
    return "result put";
  }, { parallel: false });
  await using r = await rig([
    { tool_calls: [call("one"), call("two"), call("put"), call("put"), call("one")] },
    { content: "done" },
  ], { tools: [tool("one", meet(0)), tool("two", meet(1)), write] });
  const result = await r.run();
  assert.equal(result.status, "ok");
  assert.deepEqual(log.slice(0, 2), ["start 0", "start 1"]);
  assert.deepEqual(log.slice(4, 6), ["put", "put"]);
  const results = r.server.requests[1]!.body.messages.filter((m: { role: string }) => m.role === "tool");
  assert.deepEqual(results.map((m: { content: string }) => m.content), [
    "result 0",
    "result 1",
    "result put",
    "result put",
    "result 0",
  ]);
  const shown = r.events.filter((e) => e.type === "tool_end").map((e) => e.name);
  assert.deepEqual(shown, ["one", "two", "put", "put", "one"]);
});

Deno.test("broken arguments are an error for the model, and {} in the next request", async () => {
  const broken = ['{"path": "a', "not json", "[1]", '"text"', '{"path": "a"} trailing', "5"];
  await using r = await rig([{ tool_calls: broken.map((text) => call("echo", text)) }, { content: "ok" }]);
  const result = await r.run();
  assert.equal(result.status, "ok");
  const { messages } = r.server.requests[1]!.body;
  assert.deepEqual(
    messages[2].tool_calls.map((c: { function: { arguments: string } }) => c.function.arguments),
    broken.map(() => "{}"),
  );
  for (const message of messages.slice(3)) assert.match(message.content, /^Error: /);
  assert.equal(messages.length, 3 + broken.length);
});

Deno.test("arguments that are repaired go into the history as they were understood", async () => {
  await using r = await rig([{ tool_calls: [call("echo", '{"path": "a",}')] }, { content: "ok" }]);
  await r.run();
  const { messages } = r.server.requests[1]!.body;
  assert.deepEqual(JSON.parse(messages[2].tool_calls[0].function.arguments), { path: "a" });
  assert.equal(messages[3].content, 'echo {"path":"a"}');
});

Deno.test("an unknown tool lists those that may be used, denied ones left out", async () => {
  await using r = await rig([{ tool_calls: [call("browse")] }, { content: "ok" }], {
    tools: [tool("echo", () => ""), tool("secret", () => "")],
    settings: { tools: { allow: [], deny: ["secret"] } },
  });
  const result = await r.run();
  assert.equal(result.status, "ok");
  assert.equal(r.sent(1)[3], 'tool: Error: unknown tool "browse". Available tools: echo');
  assert.deepEqual(
    r.server.requests[0]!.body.tools.map((t: { function: { name: string } }) => t.function.name),
    ["echo"],
  );
  assert.equal(r.object().permissions.length, 0);
});

Deno.test("a tool that throws or says Error is a result, not the end", async () => {
  const bad = tool("bad", () => {
    throw new TypeError("oh\nno");
  });
  await using r = await rig([{ tool_calls: [call("bad")] }, { content: "ok" }], { tools: [bad] });
  assert.equal((await r.run()).status, "ok");
  assert.equal(r.sent(1)[3], "tool: Error: bad failed: oh no");
});

Deno.test("a denied call is in the result with the rule that decided", async () => {
  await using r = await rig([{ tool_calls: [call("echo")] }, { content: "ok" }], {
    settings: { tool_permission: { ...{}, read: "ask" } },
  });
  const result = await r.run();
  assert.equal(result.status, "ok");
  assert.equal(result.denied.length, 1);
  assert.deepEqual([result.denied[0]!.tool, result.denied[0]!.rule], ["echo", "tool_permission.read"]);
  assert.match(r.sent(1)[3]!, /^tool: Error: /);
  assert.equal(r.object().permissions[0]!.decision, "declined");
});

Deno.test("the same call denied three times in a row ends the turn with an error", async () => {
  const same = { tool_calls: [call("echo", { path: "a" })] };
  await using r = await rig([same, same, same, { content: "never" }], {
    settings: { tool_permission: { read: "deny" } },
  });
  const result = await r.run();
  assert.equal(result.status, "error");
  assert.match(
    result.errors[0]!.message,
    /The same echo call was refused 3 times in a row \[tool_permission\.read\]/,
  );
  assert.equal(r.server.requests.length, 3);
  assert.equal(result.denied.length, 3);
});

Deno.test("denials of different calls, or with a success between, do not end the turn", async () => {
  const denied = (path: string) => ({ tool_calls: [call("echo", { path })] });
  const fine = { tool_calls: [call("fine")] };
  await using r = await rig([denied("a"), denied("a"), fine, denied("a"), denied("b"), denied("a"), {
    content: "end",
  }], {
    tools: [tool("echo", () => ""), tool("fine", () => "ok", { permission: "list" })],
    settings: { tool_permission: { read: "deny", list: "allow" } },
  });
  assert.equal((await r.run()).status, "ok");
});

Deno.test("max_rounds ends a turn that never answers", async () => {
  await using r = await rig(Array.from({ length: 9 }, () => ({ tool_calls: [call("echo")] })), {
    settings: { max_rounds: 3 },
  });
  const result = await r.run();
  assert.equal(result.status, "error");
  assert.equal(result.errors[0]!.code, "max_rounds");
  assert.equal(r.server.requests.length, 3);
});

Deno.test("an answer cut for length is continued, and is one message afterwards", async () => {
  await using r = await rig([
    { content: "Part 1,", finish_reason: "length" },
    { content: " part 2,", finish_reason: "length" },
    { content: " end." },
    { content: "next" },
  ]);
  const result = await r.run("write");
  assert.equal(result.status, "ok");
  assert.equal(result.content, "Part 1, part 2, end.");
  assert.deepEqual(r.sent(2).slice(1), [
    "user: write",
    "assistant: Part 1,",
    "user: Continue exactly where you stopped. Do not repeat what was already written.",
    "assistant:  part 2,",
    "user: Continue exactly where you stopped. Do not repeat what was already written.",
  ]);
  await r.run("more");
  assert.deepEqual(r.sent(3).slice(1), ["user: write", "assistant: Part 1, part 2, end.", "user: more"]);
});

Deno.test("an answer that stays cut is truncated, with what there is", async () => {
  await using r = await rig(
    Array.from({ length: 5 }, (_, i) => ({ content: `${i}`, finish_reason: "length" })),
    {
      settings: { max_tokens: 7 },
    },
  );
  const result = await r.run();
  assert.equal(result.status, "truncated");
  assert.equal(result.content, "012");
  assert.equal(result.errors[0]!.message, "Assistant output truncated: max_tokens limit reached (7)");
  assert.equal(r.server.requests.length, 3);
  assert.equal(r.object().turns[0]!.status, "truncated");
});

Deno.test("a call that length cut off is not run; complete ones beside it are", async () => {
  let ran = 0;
  const count = tool("count", () => `ran ${++ran}`);
  await using r = await rig([
    { tool_calls: [call("count", {}), call("count", '{"text": "half a te')], finish_reason: "length" },
    { content: "ok" },
  ], { tools: [count] });
  assert.equal((await r.run()).status, "ok");
  assert.equal(ran, 1);
  const sent = r.sent(1);
  assert.equal(sent[3], "tool: ran 1");
  assert.match(sent[4]!, /^tool: Error: the reply hit the token limit inside this call, so it was not run/);
});

Deno.test("a model that only ever has its calls cut ends truncated", async () => {
  await using r = await rig(
    Array.from(
      { length: 20 },
      () => ({ tool_calls: [call("echo", '{"text": "x')], finish_reason: "length" }),
    ),
  );
  const result = await r.run();
  assert.equal(result.status, "truncated");
  assert.equal(r.server.requests.length, 3);
});

Deno.test("retries: 429, 5xx, a broken connection, a cut stream and an empty reply; then it goes on", async () => {
  const failures = [
    { status: 429, error: "slow", headers: { "retry-after": "0" } },
    { status: 503 },
    { cut: true },
    { unfinished: true },
    { content: "" },
    { reasoning: "lost thought", cut: true },
  ];
  for (const failure of failures) {
    await using r = await rig([failure, failure, { content: "fine" }]);
    const result = await r.run();
    assert.equal(result.status, "ok", JSON.stringify(failure));
    assert.equal(result.content, "fine");
    assert.deepEqual(result.errors, []);
    assert.equal(r.events.filter((e) => e.type === "retry").length, 2);
  }
});

Deno.test("what cannot be cured is not repeated", async () => {
  for (const status of [400, 401, 403, 404]) {
    await using r = await rig([{ status, error: "bad key given" }, { content: "never" }]);
    const result = await r.run();
    assert.equal(result.status, "error");
    assert.deepEqual(result.errors, [{ code: status, message: "bad key given" }]);
    assert.equal(r.server.requests.length, 1);
    assert.equal(r.object().errors[0]!.code, status);
  }
});

Deno.test("retries end: the last error stands", async () => {
  await using r = await rig([{ status: 500, error: "one" }, { status: 500, error: "two" }], {
    settings: { stream_retries: 1 },
  });
  const result = await r.run();
  assert.deepEqual(result.errors, [{ code: 500, message: "two" }]);
  assert.equal(result.content, null);
});

Deno.test("a stream that breaks after text keeps the text and is an error", async () => {
  await using r = await rig([{ content: "half of", cut: true }, { content: "never" }, { content: "later" }]);
  const result = await r.run();
  assert.equal(result.status, "error");
  assert.equal(result.content, "half of");
  assert.deepEqual(result.errors, [{ code: 0, message: "Stream ended before a completion event" }]);
  assert.equal(r.server.requests.length, 1);
  assert.ok(r.object().turns[0]!.parts.some((p) => p.type === "text" && p.text === "half of"));
});

Deno.test("an empty reply that stays empty has the status empty", async () => {
  await using r = await rig(Array.from({ length: 5 }, () => ({ content: "" })));
  const result = await r.run();
  assert.equal(result.status, "empty");
  assert.equal(result.content, null);
  assert.equal(result.errors[0]!.message, "Assistant returned an empty response");
  assert.equal(r.server.requests.length, 3);
});

Deno.test("a content filter keeps the text and is an error", async () => {
  await using r = await rig([{ content: "some", finish_reason: "content_filter" }]);
  const result = await r.run();
  assert.equal(result.status, "error");
  assert.equal(result.content, "some");
});

Deno.test("an abort while text streams keeps the text", async () => {
  await using r = await rig([{ content: "so far", hang: true }]);
  const controller = new AbortController();
  const watch = setInterval(() => {
    if (r.events.some((e) => e.type === "token")) controller.abort();
  }, 5);
  const result = await r.run("go", controller.signal);
  clearInterval(watch);
  assert.equal(result.status, "cancelled");
  assert.equal(result.content, "so far");
  const [turn] = r.object().turns;
  assert.equal(turn!.status, "cancelled");
  assert.ok(turn!.parts.some((p) => p.type === "text" && p.text === "so far"));
});

Deno.test("an abort while tools run ends them, and every call has a record and an answer", async () => {
  const controller = new AbortController();
  const wait = tool("wait", (_args, signal) =>
    new Promise((resolve) => {
      signal.addEventListener("abort", () => resolve("ended"), { once: true });
      setTimeout(() => controller.abort(), 5);
    }), { parallel: false });
  let ran = 0;
  const after = tool("after", () => `${++ran}`, { parallel: false });
  await using r = await rig([{ tool_calls: [call("wait"), call("after")] }, { content: "resumed" }], {
    tools: [wait, after],
  });
  const result = await r.run("go", controller.signal);
  assert.equal(result.status, "cancelled");
  assert.equal(ran, 0);
  const parts = r.object().turns[0]!.parts.filter((p) => p.type === "tool");
  assert.deepEqual(parts.map((p) => [p.tool, p.is_error, p.status]), [["wait", true, "error"], [
    "after",
    true,
    "error",
  ]]);
  // The next turn of the same engine goes on with a conversation in which every call is answered.
  await r.run("again");
  const { messages } = r.server.requests[1]!.body;
  assert.equal(messages.filter((m: { role: string }) => m.role === "tool").length, 2);
  assert.equal(messages.at(-1).content, "again");
});

Deno.test("a tool that does not heed the abort cannot hold the turn", async () => {
  const controller = new AbortController();
  const release = deferred();
  const deaf = tool("deaf", async () => {
    setTimeout(() => controller.abort(), 5);
    await release.promise;
    return "late";
  });
  await using r = await rig([{ tool_calls: [call("deaf")] }], { tools: [deaf] });
  const result = await r.run("go", controller.signal);
  assert.equal(result.status, "cancelled");
  const part = r.object().turns[0]!.parts.find((p) => p.type === "tool");
  assert.equal(part!.output, "Error: cancelled");
  release.resolve();
});

Deno.test("cancel at a prompt ends the turn; no declines just that call", async () => {
  const settings = { tool_permission: { read: "ask" as const } };
  let ran = 0;
  const tools = [tool("echo", () => `${++ran}`)];
  await using cancelled = await rig([{ tool_calls: [call("echo"), call("echo")] }, { content: "never" }], {
    settings,
    tools,
    confirm: "cancel",
  });
  assert.equal((await cancelled.run()).status, "cancelled");
  assert.equal(cancelled.server.requests.length, 1);
  await using no = await rig([{ tool_calls: [call("echo")] }, { content: "ok" }], {
    settings,
    tools,
    confirm: "no",
  });
  assert.equal((await no.run()).status, "ok");
  assert.equal(ran, 0);
  await using yes = await rig([{ tool_calls: [call("echo")] }, { content: "ok" }], {
    settings,
    tools,
    confirm: "yes",
  });
  assert.equal((await yes.run()).status, "ok");
  assert.equal(ran, 1);
});

Deno.test("prompts of parallel calls come one after another", async () => {
  let open = 0, most = 0;
  await using r = await rig([{
    tool_calls: [call("echo", { path: "1" }), call("echo", { path: "2" }), call("echo", { path: "3" })],
  }, { content: "ok" }], {
    settings: { tool_permission: { read: "ask" } },
    confirm: async () => {
      most = Math.max(most, ++open);
      await new Promise((resolve) => setTimeout(resolve, 2));
      open--;
      return "yes";
    },
  });
  assert.equal((await r.run()).status, "ok");
  assert.equal(most, 1);
});

Deno.test("without tool_calling no tools are sent", async () => {
  await using r = await rig([{ content: "ok" }], { settings: { tool_calling: false } });
  await r.run();
  assert.equal("tools" in r.server.requests[0]!.body, false);
});

Deno.test("tool_analysis goes to the log and not into the conversation", async () => {
  await using r = await rig([
    { tool_calls: [call("echo", { path: "a" })] },
    { content: "It shows a.\nAnd more." },
    { content: "done" },
  ], { settings: { tool_analysis: true } });
  const result = await r.run();
  assert.equal(result.content, "done");
  assert.equal(result.usage!.total_tokens, 54);
  const part = r.object().turns[0]!.parts.find((p) => p.type === "tool");
  assert.equal(part!.analysis, "It shows a.");
  assert.ok(!JSON.stringify(r.server.requests[2]!.body).includes("It shows a."));
  assert.equal("tools" in r.server.requests[1]!.body, false);
});

Deno.test("the system message: instructions, prompt, worktree, mode", async () => {
  await using r = await rig([{ content: "a plan" }], {
    mode: "plan",
    settings: { system_prompt: "Speak plainly." },
    instructions: { file: "AGENTS.md", text: "# Rules\n\nUse tabs only.\n" },
  });
  await r.run();
  const [system, user] = r.server.requests[0]!.body.messages;
  assert.equal(user.role, "user");
  assert.equal(system.role, "system");
  assert.ok(
    system.content.startsWith(
      "Project instructions (AGENTS.md):\n\n# Rules\n\nUse tabs only.\n\nSpeak plainly.\n\nWorktree: ",
    ),
  );
  assert.match(system.content, /read-only/);
});

Deno.test("ids that a server gives twice are made unique over the whole conversation", async () => {
  const again = { tool_calls: [call("echo", {}, "call_0")] };
  await using r = await rig([again, again, { content: "ok" }]);
  await r.run();
  const ids = r.server.requests[2]!.body.messages.flatMap((m: { tool_calls?: { id: string }[] }) =>
    m.tool_calls ?? []
  ).map((c: { id: string }) => c.id);
  assert.equal(ids[0], "call_0");
  assert.equal(new Set(ids).size, 2);
  const answers = r.server.requests[2]!.body.messages.filter((m: { role: string }) => m.role === "tool").map((
    m: { tool_call_id: string },
  ) => m.tool_call_id);
  assert.deepEqual(answers, ids);
});

Deno.test("two turns at the same time are refused", async () => {
  await using r = await rig([{ content: "slow", delay_ms: 30 }]);
  const first = r.run();
  await assert.rejects(r.run(), /already running/);
  assert.equal((await first).status, "ok");
});

Deno.test("the provider's failure to be a provider is an error of the turn", async () => {
  await using r = await rig([], {
    provider: () => ({
      name: "broken",
      model: "m",
      // deno-lint-ignore require-yield
      async *chat() {
        await Promise.resolve();
        throw new Error("provider bug");
      },
    }),
  });
  const result = await r.run();
  assert.equal(result.status, "error");
  assert.equal(result.errors[0]!.message, "provider bug");
  assert.equal(r.object().turns[0]!.status, "error");
});
