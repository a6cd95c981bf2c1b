import assert from "node:assert/strict";
import { compact } from "../../src/engine/compaction.ts";
import { CONTINUE, Conversation, INTERRUPTED, rebuild } from "../../src/engine/context.ts";
import { BASE_PROMPT, capInstructions, MAX_INSTRUCTIONS, systemPrompt } from "../../src/engine/prompt.ts";
import type { ChatMessage } from "../../src/provider/provider.ts";
import type { Part, SessionObject, Turn } from "../../src/session/turns.ts";
import { makeWorktree } from "../helpers/worktree.ts";
import { rig, tool } from "./_harness.ts";

const AT = "2026-01-01T00:00:00Z";

function session(...turns: Part[][]): SessionObject {
  return {
    session_name: "s",
    session_id: "abcdef",
    turns: turns.map((parts, i): Turn => ({
      index: i + 1,
      started_at: AT,
      ended_at: AT,
      status: "ok",
      model: "m",
      provider: "p",
      mode: "build",
      reasoning: "auto",
      usage: null,
      parts,
    })),
    errors: [],
    permissions: [],
    created_at: AT,
    updated_at: AT,
    parent_id: null,
    sub_sessions: [],
    role: null,
    version: 1,
  };
}

const said = (type: "user" | "text" | "thinking", text: string, round?: number): Part => ({
  type,
  text,
  timestamp: AT,
  ...(round ? { round } : {}),
});
const ran = (id: string, round: number, more: Partial<Extract<Part, { type: "tool" }>> = {}): Part => ({
  type: "tool",
  id,
  tool: "grep",
  input: { pattern: id },
  output: `result ${id}`,
  is_error: false,
  analysis: null,
  timestamp: AT,
  round,
  status: "ok",
  ...more,
});

Deno.test("a session is rebuilt round by round, ids kept, text and thinking with their calls", () => {
  const { messages } = rebuild(session(
    [
      said("user", "q"),
      said("thinking", "hm", 1),
      said("text", "I look.", 1),
      ran("a", 1),
      ran("b", 1),
      ran("c", 2),
      said("text", "Done.", 3),
    ],
    [said("user", "q2"), said("text", "part one", 1), said("text", ", part two", 1)],
  ));
  const call = (id: string) => ({ id, name: "grep", arguments: `{"pattern":"${id}"}` });
  const result = (id: string) => ({ role: "tool", tool_call_id: id, name: "grep", content: `result ${id}` });
  assert.deepEqual(messages, [
    { role: "user", content: "q" },
    { role: "assistant", content: "I look.", thinking: "hm", tool_calls: [call("a"), call("b")] },
    result("a"),
    result("b"),
    { role: "assistant", content: null, tool_calls: [call("c")] },
    result("c"),
    { role: "assistant", content: "Done." },
    { role: "user", content: "q2" },
    { role: "assistant", content: "part one, part two" },
  ]);
});

Deno.test("a call without a recorded result is answered with an honest error", () => {
  const { messages } = rebuild(
    session([said("user", "q"), ran("a", 1, { output: "", is_error: true, status: "interrupted" })]),
  );
  assert.deepEqual(messages[2], { role: "tool", tool_call_id: "a", name: "grep", content: INTERRUPTED });
});

Deno.test("a compacted session begins with its summary", () => {
  const { messages, summary } = rebuild(session(
    [said("user", "old")],
    [said("user", "newer"), {
      type: "command",
      text: "/compact",
      summary: "They talked.",
      compact_from: 2,
      timestamp: AT,
    }],
  ));
  assert.equal(summary, "Summary of earlier conversation:\n\nThey talked.");
  assert.deepEqual(messages, [{ role: "user", content: "newer" }]);
});

Deno.test("a resumed engine sends what the first one saw", async () => {
  using tree = makeWorktree();
  const on = { tree, name: "s1" };
  let before: unknown[];
  {
    await using first = await rig([
      {
        reasoning: "r",
        content: "Looking.",
        tool_calls: [{ id: "x1", name: "echo", arguments: { path: "a" } }],
      },
      { content: "noted banana" },
      { content: "end" },
    ], { on });
    await first.run("remember this");
    await first.run("and?");
    before = first.server.requests[2]!.body.messages;
  }
  await using second = await rig([{ content: "it was banana" }], { on });
  await second.run("which?");
  const { messages } = second.server.requests[0]!.body;
  assert.deepEqual(messages.slice(0, before.length), before);
  assert.deepEqual(messages.slice(before.length), [
    { role: "assistant", content: "end" },
    { role: "user", content: "which?" },
  ]);
  assert.equal(second.object().turns.length, 3);
});

Deno.test("compaction replaces the oldest results first, says so, and keeps the newest", () => {
  const messages: ChatMessage[] = [{ role: "system", content: "s" }, { role: "user", content: "q" }];
  for (let i = 0; i < 20; i++) {
    messages.push({
      role: "assistant",
      content: null,
      tool_calls: [{ id: `c${i}`, name: "grep", arguments: "{}" }],
    });
    messages.push({ role: "tool", tool_call_id: `c${i}`, name: "grep", content: `${i} `.repeat(1000) });
  }
  const conversation = new Conversation(messages);
  const before = conversation.tokens();
  assert.equal(compact(conversation, before, 0), null);
  const done = compact(conversation, Math.floor(before * 0.9), 0)!;
  assert.ok(done.results > 0 && done.turns === 0);
  assert.ok(done.after <= before * 0.6);
  assert.equal(conversation.length, messages.length);
  assert.equal(
    conversation.messages[3]!.content,
    "[This result (2000 characters) was left out to save context. Call grep again if you need it.]",
  );
  assert.equal(conversation.messages.at(-1)!.content, messages.at(-1)!.content);
  assert.equal(conversation.chars, new Conversation(conversation.messages).chars);
});

Deno.test("compaction leaves out the oldest turns when results are not enough, never the running one", () => {
  const messages: ChatMessage[] = [{ role: "system", content: "s" }];
  for (let i = 0; i < 10; i++) {
    messages.push({ role: "user", content: `question ${i} ${"x".repeat(4000)}` }, {
      role: "assistant",
      content: "answer",
    });
  }
  messages.push({ role: "user", content: "now" }, { role: "assistant", content: "half" }, {
    role: "user",
    content: CONTINUE,
  });
  const conversation = new Conversation(messages);
  const done = compact(conversation, 1500, 0)!;
  assert.ok(done.turns >= 9);
  assert.equal(conversation.messages[0]!.role, "system");
  assert.equal(conversation.messages[1]!.role, "user");
  assert.deepEqual(conversation.messages.slice(-3), messages.slice(-3));
  const tiny = compact(conversation, 1, 0)!;
  assert.equal(done.turns + tiny.turns, 10);
  assert.deepEqual(conversation.messages.slice(1).map((m) => m.content), ["now", "half", CONTINUE]);
});

Deno.test("a full window is compacted in the middle of a turn, with a warning; the session keeps all", async () => {
  const big = tool("big", () => "data ".repeat(400));
  await using r = await rig([...Array.from({ length: 12 }, () => ({ tool_calls: [{ name: "big" }] })), {
    content: "ok",
  }], {
    tools: [big],
    settings: { context_window: 4000, compact_threshold: 0.8 },
  });
  assert.equal((await r.run()).status, "ok");
  const last = r.server.requests.at(-1)!.text;
  assert.match(last, /was left out to save context\. Call big again/);
  assert.ok(
    r.events.some((e) =>
      e.type === "warning" && /context compacted: \d+ tool results? left out/.test(e.message)
    ),
  );
  for (const part of r.object().turns[0]!.parts) {
    if (part.type === "tool") assert.equal(part.output, "data ".repeat(400));
  }
});

Deno.test("a server that says the context is too long gets a shorter one, once", async () => {
  const big = tool("big", () => "data ".repeat(400));
  const calls = Array.from({ length: 8 }, () => ({ tool_calls: [{ name: "big" }] }));
  const refuse = { status: 400, error: "This model's maximum context length is 8192 tokens." };
  await using r = await rig([...calls, refuse, { content: "ok" }], { tools: [big] });
  const result = await r.run();
  assert.equal(result.status, "ok");
  assert.ok(r.server.requests[9]!.text.length < r.server.requests[8]!.text.length * 0.7);
  await using again = await rig([...calls, refuse, refuse, { content: "never" }], { tools: [big] });
  const failed = await again.run();
  assert.equal(failed.status, "error");
  assert.equal(failed.errors[0]!.code, 400);
});

Deno.test("the estimate learns from the provider's own count", () => {
  const conversation = new Conversation([{ role: "user", content: "x".repeat(4000) }]);
  assert.ok(Math.abs(conversation.tokens() - 1004) < 10);
  conversation.calibrate(2000, conversation.chars);
  assert.ok(Math.abs(conversation.tokens() - 2000) < 10);
  conversation.calibrate(0, 0);
  assert.ok(Math.abs(conversation.tokens() - 2000) < 10);
});

Deno.test("instructions are cut at a line, and say so", () => {
  const text = Array.from({ length: 3000 }, (_, i) => `rule ${i}`).join("\n");
  const cut = capInstructions(text);
  assert.ok(cut.length <= MAX_INSTRUCTIONS + 20);
  assert.match(cut, /\nrule \d+\n\.\.\. \(truncated\)$/);
  assert.equal(capInstructions("short\n"), "short");
  assert.match(capInstructions("y".repeat(30_000)), /y\n\.\.\. \(truncated\)$/);
});

Deno.test("the prompt is short, and a configured one takes its place", () => {
  const parts = { systemPrompt: "", modeInstruction: "", instructions: null, worktree: "/w", summary: "" };
  assert.equal(systemPrompt(parts), `${BASE_PROMPT}\n\nWorktree: /w`);
  assert.ok(BASE_PROMPT.length < 1200);
  assert.equal(
    systemPrompt({ ...parts, systemPrompt: "Mine.", worktree: "", summary: "Sum." }),
    "Sum.\n\nMine.",
  );
});
