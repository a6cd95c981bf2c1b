import assert from "node:assert/strict";
import { defineTool } from "../../src/tool.ts";
import { createHeadlessSink, type HeadlessOptions } from "../../src/ui/headless.ts";
import { createSilentSink } from "../../src/ui/silent.ts";
import type { UiEvent } from "../../src/ui/sink.ts";

const tool = defineTool({
  ...{
    name: "file_read",
    description: "d",
    category: "read",
    permission: "read",
    access: [],
    keyArg: "path",
  } as const,
  parameters: { type: "object", properties: { path: { type: "string" } } },
  execute: () => "",
});
const decision = { action: "ask", rule: "worktree", reason: "outside", trail: [], paths: [] } as const;
const args = { path: "a.txt" };
const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 29238 };

const turnEvents: readonly UiEvent[] = [
  { type: "turn_start", session: "s", model: "m", provider: "p", mode: "build" },
  { type: "thinking", text: "hm" },
  { type: "thinking", text: "m" },
  { type: "token", text: "let me look\x1b[2J" },
  { type: "tool_start", id: "1", tool, name: "file_read", args },
  { type: "tool_progress", id: "1", text: "half" },
  {
    ...{
      type: "tool_end",
      id: "1",
      tool,
      name: "file_read",
      args,
      content: "Error: no",
      isError: true,
    } as const,
    ...{ isNote: false, details: null, decision, outcome: "denied", duration: 3 } as const,
  },
  { type: "retry", attempt: 1, seconds: 2, reason: "HTTP 503\nbusy" },
  { type: "warning", message: "careful\x07" },
  { type: "token", text: "the " },
  { type: "token", text: "answer" },
  { type: "error", code: 500, message: "broke" },
  { type: "turn_end", status: "ok", usage, duration: 2.06 },
];

function run(
  options: Partial<HeadlessOptions>,
  events: readonly UiEvent[] = turnEvents,
): { out: string; err: string } {
  let out = "", err = "";
  const sink = createHeadlessSink({
    out: (text) => out += text,
    err: (text) => err += text,
    ...{ verbose: false, stream: "text", color: false, answer: "no" },
    settings: { glyph_lines: true, glyph_params: true, show_errors: true, show_notes: true },
    ...options,
  });
  for (const event of events) sink.emit(event);
  return { out, err };
}

Deno.test("text: the answer goes to standard output, whole lines between rounds and at the end", () => {
  const { out, err } = run({});
  assert.equal(out, "let me look␛[2J\nthe answer\n");
  assert.equal(
    err,
    "warning: HTTP 503↵busy; trying again in 2.0s (attempt 1)\nwarning: careful␇\nerror: broke\n(2.1s, 29,238 tokens)\n",
  );
});

Deno.test("verbose adds thinking, activity, progress and outcome to standard error", () => {
  const { out, err } = run({ verbose: true });
  assert.equal(out, "let me look␛[2J\nthe answer\n");
  assert.ok(err.startsWith("hmm\n← Read a.txt\nhalf\n! Error: no\nwarning: "));
});

Deno.test("none: nothing on standard output, warnings and errors still on standard error, no footer", () => {
  const { out, err } = run({ stream: "none" });
  assert.equal(out, "");
  assert.match(err, /^warning: .*\nwarning: .*\nerror: broke\n$/);
});

Deno.test("stream-json: every event is one line of plain data", () => {
  const { out, err } = run({ stream: "stream-json" });
  const lines = out.trimEnd().split("\n").map((line) => JSON.parse(line));
  assert.deepEqual(lines.map((line) => line.type), turnEvents.map((event) => event.type));
  assert.deepEqual(lines[4], { type: "tool_start", id: "1", name: "file_read", args });
  assert.deepEqual(lines[6], {
    ...{
      type: "tool_end",
      id: "1",
      name: "file_read",
      args,
      content: "Error: no",
      is_error: true,
      is_note: false,
    },
    ...{
      details: null,
      decision: { action: "ask", rule: "worktree", reason: "outside" },
      outcome: "denied",
      duration: 3,
    },
  });
  assert.deepEqual(lines[3].text, "let me look\x1b[2J");
  assert.equal(out.includes("\x1b"), false);
  assert.match(err, /error: broke/);
  assert.doesNotMatch(err, /tokens/);
});

Deno.test("colours are escapes only when asked for", () => {
  assert.equal(run({ verbose: true }).err.includes("\x1b"), false);
  const { err } = run({ color: true });
  assert.ok(err.includes("\x1b[31merror: broke\x1b[39m\n"));
  assert.ok(err.includes("\x1b[2m(2.1s, 29,238 tokens)\x1b[22m\n"));
});

Deno.test("a turn that was cancelled says so, and an empty answer leaves standard output empty", () => {
  const { out, err } = run({}, [{ type: "turn_end", status: "cancelled", usage: null, duration: 1 }]);
  assert.deepEqual({ out, err }, { out: "", err: "(cancelled)\n(1.0s)\n" });
});

Deno.test("an answer that ends with a newline gets no second one, and a split character stays whole", () => {
  const pieces: UiEvent[] = ["a\ud83d", "\ude00\r", "\n"].map((text) => ({ type: "token", text }));
  assert.equal(
    run({}, [...pieces, { type: "turn_end", status: "ok", usage: null, duration: 1 }]).out,
    "a😀\n",
  );
});

Deno.test("questions are answered at once by what was decided on the command line", async () => {
  const lines: string[] = [];
  const request = { tool, args, decision, preview: () => Promise.reject(new Error("never asked for")) };
  for (const answer of ["yes", "no"] as const) {
    const sink = createHeadlessSink({
      ...{
        out: (text: string) => lines.push(text),
        err() {},
        verbose: false,
        stream: "stream-json",
        color: false,
      } as const,
      settings: { glyph_lines: true, glyph_params: true, show_errors: true, show_notes: true },
      answer,
    });
    assert.equal(await sink.confirm(request), answer);
    assert.equal(await createSilentSink(answer).confirm(request), answer);
  }
  assert.deepEqual(JSON.parse(lines[0]!), {
    ...{ type: "confirm", name: "file_read", args, answer: "yes" },
    decision: { action: "ask", rule: "worktree", reason: "outside" },
  });
});

Deno.test("a stream that is closed never breaks the turn", () => {
  const fail = (): never => {
    throw new Deno.errors.BrokenPipe("gone");
  };
  for (const stream of ["text", "stream-json"] as const) run({ stream, out: fail, err: fail, verbose: true });
  createSilentSink().emit(turnEvents[0]!);
});
