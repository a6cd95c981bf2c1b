import assert from "node:assert/strict";
import { BodyWriter, learnQuirk, type Quirks } from "../../src/provider/_body.ts";
import type { ChatMessage } from "../../src/provider/provider.ts";

const MODEL = { model: "m" };
// deno-lint-ignore no-explicit-any
const read = (bytes: Uint8Array): any => JSON.parse(new TextDecoder().decode(bytes));

Deno.test("a growing conversation is written the same as one written at once", () => {
  const live: ChatMessage[] = [{ role: "system", content: "s" }];
  const grown = new BodyWriter(null);
  for (let i = 0; i < 300; i++) {
    live.push({ role: "user", content: `frage ${i} ünïcödé 🙂 ${"x".repeat(i * 3)}` });
    live.push({
      role: "assistant",
      content: null,
      tool_calls: [{ id: `c${i}`, name: "t", arguments: '{"a":"ß"}' }],
    });
    live.push({ role: "tool", tool_call_id: `c${i}`, name: "t", content: "ok" });
    const bytes = grown.write(live, [], MODEL, {});
    if (i % 50 === 0) assert.deepEqual(bytes, new BodyWriter(null).write([...live], [], MODEL, {}));
  }
  assert.equal(read(grown.write(live, [], MODEL, {})).messages.length, 901);
});

Deno.test("replaced, removed and added messages are noticed", () => {
  const live: ChatMessage[] = [{ role: "system", content: "s" }, { role: "user", content: "a" }, {
    role: "user",
    content: "b",
  }];
  const writer = new BodyWriter(null);
  const sent = () =>
    read(writer.write(live, [], MODEL, {})).messages.map((m: { content: string }) => m.content);
  assert.deepEqual(sent(), ["s", "a", "b"]);
  live[1] = { role: "user", content: "A" };
  assert.deepEqual(sent(), ["s", "A", "b"]);
  live.splice(1, 1);
  assert.deepEqual(sent(), ["s", "b"]);
  live.push({ role: "user", content: "c" });
  assert.deepEqual(sent(), ["s", "b", "c"]);
  live.length = 0;
  assert.deepEqual(sent(), []);
});

Deno.test("a body that was handed out does not change when the next one is written", () => {
  const live: ChatMessage[] = [{ role: "user", content: "a" }];
  const writer = new BodyWriter(null);
  const first = writer.write(live, [], MODEL, {});
  const before = first.slice();
  live.push({ role: "user", content: "b" });
  writer.write(live, [], MODEL, {});
  assert.deepEqual(first, before);
});

Deno.test("a quirk is learned once, and only from a message that names it", () => {
  const options = { model: "m", maxTokens: 5, temperature: 1, reasoning: "low" as const };
  const quirks: Quirks = {};
  assert.equal(learnQuirk(quirks, "messages[3].role is wrong", options), false);
  assert.equal(learnQuirk(quirks, "unknown field: stream_options", options), true);
  assert.equal(learnQuirk(quirks, "unknown field: stream_options", options), false);
  assert.equal(learnQuirk(quirks, "temperature: only 1 is supported", options), true);
  assert.equal(learnQuirk(quirks, "reasoning is not supported", options), true);
  assert.equal(learnQuirk(quirks, "use max_completion_tokens", options), true);
  assert.deepEqual(quirks, {
    noStreamOptions: true,
    noTemperature: true,
    noReasoning: true,
    completionTokens: true,
  });
  const body = read(new BodyWriter(null).write([], [], options, quirks));
  assert.deepEqual(body, { model: "m", stream: true, max_completion_tokens: 5, messages: [] });
  assert.equal(learnQuirk({}, "temperature out of range", { model: "m", temperature: null }), false);
});
