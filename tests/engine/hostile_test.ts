import assert from "node:assert/strict";
import { MAX_CALLS } from "../../src/engine/batch.ts";
import { chunk, sse } from "../helpers/model_server.ts";
import { rig, tool } from "./_harness.ts";

const raw = (...deltas: unknown[]) => ({
  pieces: [...deltas.map((delta) => sse(chunk(delta))), sse(chunk({}, "tool_calls")), sse("[DONE]")],
});
const fragment = (index: number, name: string, args: string, id = `c${index}`) => ({
  tool_calls: [{ index, id, function: { name, arguments: args } }],
});

/** Each message of the last request must be acceptable to a strict server. */
// deno-lint-ignore no-explicit-any
function assertValid(body: any): void {
  const open = new Set<string>();
  for (const message of body.messages) {
    assert.ok(["system", "user", "assistant", "tool"].includes(message.role));
    assert.ok(message.content === null || typeof message.content === "string");
    assert.ok((message.content ?? "").isWellFormed());
    for (const call of message.tool_calls ?? []) {
      assert.match(call.function.name, /^[A-Za-z0-9_-]{1,64}$/);
      const args = JSON.parse(call.function.arguments);
      assert.ok(typeof args === "object" && args !== null && !Array.isArray(args));
      assert.ok(!open.has(call.id));
      open.add(call.id);
    }
    if (message.role === "tool") {
      assert.ok(open.delete(message.tool_call_id), `unasked ${message.tool_call_id}`);
    }
  }
  assert.equal(open.size, 0);
}

const HOSTILE_NAMES = [
  "",
  "\u0000",
  "a\nb",
  "\ud800",
  "../../etc",
  "x".repeat(5000),
  "__proto__",
  "constructor",
  "toString",
  "écho",
  "echo\u001b[2J",
];
const HOSTILE_ARGUMENTS = [
  '{"path":"\\u0000"}',
  '{"path":"\\ud800"}',
  `{"path":"${"\u0007"}"}`,
  '{"__proto__":{"polluted":1},"constructor":1}',
  `{"path":"${"x".repeat(300_000)}"}`,
  `${'{"a":'.repeat(50_000)}1${"}".repeat(50_000)}`,
  "[".repeat(100_000),
  `{"path":${"[".repeat(20_000)}${"]".repeat(20_000)}}`,
  "null",
  "1e999",
  "\ufeff{}",
  "{'single':1}",
];

Deno.test("names that no tool has, however odd, are answered and leave a valid history", async () => {
  await using r = await rig([
    raw(...HOSTILE_NAMES.map((name, i) => fragment(i, name, "{}"))),
    { content: "ok" },
  ]);
  const result = await r.run();
  assert.equal(result.status, "ok");
  assertValid(r.server.requests[1]!.body);
  const results = r.server.requests[1]!.body.messages.filter((m: { role: string }) => m.role === "tool");
  assert.equal(results.length, HOSTILE_NAMES.length);
  for (const { content } of results) assert.match(content, /^Error: unknown tool /);
  for (const { content } of results) assert.ok(content.length < 300);
});

Deno.test("arguments of any shape are answered, recorded and leave a valid history", async () => {
  await using r = await rig([
    raw(...HOSTILE_ARGUMENTS.map((args, i) => fragment(i, "echo", args))),
    { content: "ok" },
  ]);
  const result = await r.run();
  assert.equal(result.status, "ok");
  assertValid(r.server.requests[1]!.body);
  assert.equal(result.toolCalls.length, HOSTILE_ARGUMENTS.length);
  assert.doesNotThrow(() => JSON.stringify(result));
  assert.doesNotThrow(() => JSON.stringify(r.object()));
  assert.equal(({} as { polluted?: number }).polluted, undefined);
  const parts = r.object().turns[0]!.parts.filter((p) => p.type === "tool");
  assert.deepEqual(
    parts.map((p) => p.status === "ok" || p.status === "error"),
    HOSTILE_ARGUMENTS.map(() => true),
  );
});

Deno.test("thousands of calls in one reply are bounded, and every one that is kept is answered", async () => {
  let ran = 0;
  const count = tool("count", () => `${++ran}`);
  await using r = await rig([
    {
      pieces: [
        ...Array.from({ length: 5000 }, (_, i) => sse(chunk(fragment(i, "count", "{}")))),
        sse(chunk({}, "tool_calls")),
      ],
    },
    { content: "ok" },
  ], { tools: [count] });
  assert.equal((await r.run()).status, "ok");
  assert.equal(ran, MAX_CALLS);
  assertValid(r.server.requests[1]!.body);
  const last = r.server.requests[1]!.body.messages.at(-1);
  assert.match(last.content, /^Error: not run: one reply asked for/);
});

Deno.test("text with NUL, escapes and lone halves passes into session and history", async () => {
  await using r = await rig([
    {
      pieces: [
        'data: {"choices":[{"index":0,"delta":{"content":"a\\u0000\\u001b[2J\\ud800 b"},"finish_reason":"stop"}]}\n\n',
      ],
    },
    { content: "ok" },
  ]);
  const result = await r.run("\ud800 lone prompt");
  assert.equal(result.content, "a\u0000\u001b[2J\ufffd b");
  await r.run("next");
  assertValid(r.server.requests[1]!.body);
  assert.ok(
    r.object().turns[0]!.parts.every((p) =>
      p.type === "tool" || p.type === "command" || p.text.isWellFormed()
    ),
  );
});

Deno.test("a result with lone halves of characters is sent whole", async () => {
  await using r = await rig([{ tool_calls: [{ name: "odd" }, { name: "none" }] }, { content: "ok" }], {
    tools: [tool("odd", () => "x\ud83d"), tool("none", () => "")],
  });
  await r.run();
  assertValid(r.server.requests[1]!.body);
  assert.deepEqual(r.sent(1).slice(3), ["tool: x\ufffd", "tool: (no output)"]);
});

Deno.test("an abort at any moment leaves a turn that is ended and a conversation that goes on", async () => {
  for (const after of [0, 1, 2, 3, 5, 8, 13, 21]) {
    await using r = await rig([
      { reasoning: "hm", content: "looking", tool_calls: [{ name: "echo" }, { name: "echo" }] },
      { content: "fine" },
      { content: "fine" },
      { content: "fine" },
    ]);
    const controller = new AbortController();
    const timer = setTimeout(() => controller.abort(), after);
    const result = await r.run("go", controller.signal);
    clearTimeout(timer);
    assert.ok(result.status === "cancelled" || result.status === "ok");
    assert.equal(r.object().turns[0]!.status, result.status);
    assert.equal((await r.run("again")).status, "ok");
    assertValid(r.server.requests.at(-1)!.body);
  }
});

Deno.test("a full disk or a closed session stops the call instead of running it unrecorded", async () => {
  let ran = 0;
  const count = tool("count", () => `${++ran}`);
  await using r = await rig([{ tool_calls: [{ name: "count" }] }, { content: "ok" }], { tools: [count] });
  r.session.toolStart = () => {
    throw new Error("no space left on device");
  };
  const result = await r.run();
  assert.equal(ran, 0);
  assert.equal(result.status, "ok");
  assert.equal(r.sent(1)[3], "tool: Error: not run: no space left on device");
});
