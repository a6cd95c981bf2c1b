import assert from "node:assert/strict";
import {
  assistantMessage,
  isJsonObject,
  MAX_DEPTH,
  nestsTooDeep,
  safeName,
  sizeOf,
  toolMessage,
} from "../../src/llm/messages.ts";

Deno.test("an assistant's message has null for no text beside calls, and its text otherwise", () => {
  const calls = [{ id: "a", name: "x", arguments: "{}" }];
  assert.deepEqual(assistantMessage("", { calls }), { role: "assistant", content: null, tool_calls: calls });
  assert.deepEqual(assistantMessage("hi", { thinking: "t" }), {
    role: "assistant",
    content: "hi",
    thinking: "t",
  });
  assert.deepEqual(assistantMessage("", { calls: [] }), { role: "assistant", content: "" });
});

Deno.test("a tool's message names an empty result and is well formed", () => {
  const call = { id: "a", name: "x", arguments: "{}" };
  assert.equal(toolMessage(call, "").content, "(no output)");
  assert.equal(toolMessage(call, "\ud800").content, "\ufffd");
});

Deno.test("names become what every server accepts", () => {
  assert.equal(safeName("file_read"), "file_read");
  assert.equal(safeName("a b\nc"), "a_b_c");
  assert.equal(safeName(""), "unknown");
  assert.equal(safeName("x".repeat(100)).length, 64);
});

Deno.test("a JSON object is told from everything else", () => {
  for (const yes of ["{}", ' {"a":1} ']) assert.equal(isJsonObject(yes), true);
  for (const no of ["", "[]", "null", '"x"', "{", '{"a":1,}', "{} x"]) assert.equal(isJsonObject(no), false);
});

Deno.test("nesting is counted outside of strings", () => {
  assert.equal(nestsTooDeep("[".repeat(MAX_DEPTH)), false);
  assert.equal(nestsTooDeep("[".repeat(MAX_DEPTH + 1)), true);
  assert.equal(nestsTooDeep(JSON.stringify({ a: '["\\"' + "[".repeat(1000) })), false);
  assert.equal(nestsTooDeep("[]".repeat(10_000)), false);
});

Deno.test("the size of a message counts its text and its calls", () => {
  const plain = sizeOf({ role: "user", content: "12345" });
  assert.equal(sizeOf({ role: "user", content: "1234567890" }) - plain, 5);
  const calls = [{ id: "a", name: "x", arguments: "x".repeat(1000) }];
  assert.ok(sizeOf(assistantMessage("", { calls })) > 1000);
});
