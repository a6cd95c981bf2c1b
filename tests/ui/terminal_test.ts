import { deepEqual, equal, match, ok } from "node:assert/strict";
import { defaults } from "../../src/config/schema.ts";
import { defineTool, type Tool } from "../../src/tool.ts";
import { formatCost, formatElapsed, formatTurnFooter } from "../../src/ui/_terminal/footer.ts";
import { statusLine } from "../../src/ui/_terminal/live.ts";
import type { ConfirmRequest, Question, UiEvent } from "../../src/ui/sink.ts";
import { createStyle } from "../../src/ui/style.ts";
import { createTerminalSink, type TerminalOptions, type TerminalSink } from "../../src/ui/terminal.ts";

const tool: Tool = defineTool({
  ...{
    name: "file_read",
    description: "d",
    category: "read",
    permission: "read",
    access: [],
    keyArg: "path",
  } as const,
  parameters: { type: "object", properties: { path: { type: "string" }, offset: { type: "integer" } } },
  execute: () => "",
});
const command: Tool = defineTool({
  ...{
    name: "run_command",
    description: "d",
    category: "exec",
    permission: "bash",
    access: [],
    keyArg: "cmd",
  } as const,
  echo: true,
  parameters: { type: "object", properties: { cmd: { type: "string" } } },
  execute: () => "",
});
const decision = { action: "ask", rule: "bash", reason: "asks", trail: [], paths: [] } as const;
const request = {
  tool: command,
  args: { cmd: "ls" },
  decision,
  preview: () => Promise.resolve(""),
} as ConfirmRequest;
const usage = { prompt_tokens: 29100, completion_tokens: 138, total_tokens: 29238 };

const begin: UiEvent = { type: "turn_start", session: "s", model: "m", provider: "p", mode: "build" };
const end: UiEvent = { type: "turn_end", status: "ok", usage: null, duration: 2.06 };
const token = (text: string): UiEvent => ({ type: "token", text });
const started = (id: string, path: string): UiEvent => ({
  type: "tool_start",
  id,
  tool,
  name: tool.name,
  args: { path },
});
const ended = (
  id: string,
  content: string,
  more: Partial<Extract<UiEvent, { type: "tool_end" }>> = {},
): UiEvent => ({
  ...{
    type: "tool_end",
    id,
    tool,
    name: tool.name,
    args: {},
    content,
    isError: content.startsWith("Error"),
  } as const,
  ...{ isNote: false, details: null, decision: null, outcome: "granted", duration: 1 } as const,
  ...more,
});

interface Made {
  readonly sink: TerminalSink;
  /** Everything that was written. */
  readonly out: () => string;
  readonly writes: string[];
}

function make(options: Partial<TerminalOptions> & { readonly set?: Record<string, unknown> } = {}): Made {
  const writes: string[] = [];
  const { set, ...rest } = options;
  const sink = createTerminalSink({
    write: (text) => writes.push(text),
    columns: () => 80,
    style: createStyle(false),
    live: false,
    settings: { ...defaults(), ...set },
    prompts: { confirm: () => Promise.resolve("yes"), ask: () => Promise.resolve(null) },
    ...rest,
  });
  return { sink, out: () => writes.join(""), writes };
}

function play(events: readonly UiEvent[], options: Parameters<typeof make>[0] = {}): string {
  const { sink, out } = make(options);
  for (const event of events) sink.emit(event);
  sink.close();
  return out();
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** What a terminal shows in the end of text and of lines that were erased. */
function screenOf(text: string): string {
  const lines = [""];
  let column = 0;
  // deno-lint-ignore no-control-regex
  for (const [part] of text.matchAll(/\x1b\[\d*[A-Za-z]|[^]/gu)) {
    if (part === "\n") lines.push(""), column = 0;
    else if (part === "\r") column = 0;
    else if (part === "\x1b[K" || part === "\x1b[J") {
      lines.push([...lines.pop()!].slice(0, column).join(""));
    } else if (part.length > 1 && part.endsWith("A")) throw new Error("went up");
    else if (!part.startsWith("\x1b")) {
      const line = [...lines.pop()!];
      line[column++] = part;
      lines.push(line.join(""));
    }
  }
  return lines.join("\n");
}

Deno.test("a whole turn without colours", () => {
  const text = play([
    begin,
    { type: "thinking", text: "hm" },
    token("Let me *look*.\n"),
    started("1", "README.md"),
    ended("1", "text"),
    { ...started("2", "gone.md"), args: { path: "gone.md", offset: 3 } } as UiEvent,
    ended("2", "Error: not found\nmore"),
    token("It says "),
    token("hello"),
    { type: "retry", attempt: 1, seconds: 2, reason: "HTTP 503\nbusy" },
    { type: "warning", message: "careful\x07" },
    { type: "error", code: 500, message: "broke\x1b[2J" },
    { ...end, usage, context: 25_000 } as UiEvent,
  ], { set: { context_window: 200_000, prices: { m: [2.5, 10] } } });
  match(text, /^\+ Thought \d+\.\ds\n\nLet me \*look\*\.\n\n← Read README\.md\n/);
  equal(
    text.slice(text.indexOf("← Read gone")),
    "← Read gone.md [offset=3]\n! Error: not found\n\nIt says hello\n" +
      "warning: HTTP 503↵busy; trying again in 2.0s (attempt 1)\nwarning: careful␇\nerror: broke␛[2J\n" +
      "(2.1s, 29,100 tokens in, 138 out, $0.07, context\n  13% of 200k)\n".replace("\n  ", " "),
  );
});

Deno.test("nothing that others wrote acts on the terminal", () => {
  const bad = "\x1b]0;owned\x07\x1b[2J\r\u202e\x9b";
  const odd = { ...tool, verb: bad, glyph: bad, status: () => `${bad}\n${bad}` } as unknown as Tool;
  for (const live of [false, true]) {
    for (const color of [false, true]) {
      const text = play([
        begin,
        { type: "thinking", text: bad },
        token(`# ${bad}\n\n\`\`\`${bad}\n${bad}\n\`\`\`\n| ${bad} |\n|---|\n| ${bad} |\n`),
        { type: "tool_start", id: "1", tool: odd, name: bad, args: { path: bad } },
        { type: "tool_progress", id: "1", text: bad },
        { type: "tool_start", id: "2", tool: null, name: bad, args: {} },
        { type: "tool_progress", id: "2", text: bad },
        ended("1", `Error: ${bad}`, { tool: odd }),
        ended("2", bad, { tool: command, details: { diff: bad } }),
        { type: "retry", attempt: 1, seconds: 1, reason: bad },
        { type: "warning", message: bad },
        { type: "error", code: 1, message: bad },
        end,
      ], { live, style: createStyle(color), set: { show_thinking: true } });
      // deno-lint-ignore no-control-regex
      const left = text.replace(/\x1b\[\d{1,2}m|\r\x1b\[K/g, "");
      // deno-lint-ignore no-control-regex
      ok(!/[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]/.test(left), JSON.stringify(left));
    }
  }
});

Deno.test("the first character is written at once, the rest of the same moment together", async () => {
  const { sink, writes } = make();
  sink.emit(begin);
  sink.emit(token("H"));
  deepEqual(writes, ["H"]);
  for (const char of "ello there") sink.emit(token(char));
  deepEqual(writes, ["H"]);
  await pause(20);
  deepEqual(writes, ["H", "ello there"]);
  sink.close();
});

Deno.test("a megabyte at once leaves room for other work in between, and arrives whole", async () => {
  const { sink, out } = make();
  const text = "some words of an answer\n".repeat(45_000);
  sink.emit(begin);
  sink.emit(token(text.slice(0, 500_000)));
  for (let at = 500_000; at < text.length; at += 4000) sink.emit(token(text.slice(at, at + 4000)));
  let turns = 0;
  while (out().length < text.length && turns < 10_000) {
    await pause(0);
    turns++;
  }
  ok(turns > 5, `${turns}`);
  equal(out(), text);
  sink.close();
});

Deno.test("other events never overtake the answer", () => {
  const { sink, out } = make();
  sink.emit(begin);
  for (let i = 0; i < 100; i++) sink.emit(token(`word${i} `));
  sink.emit(started("1", "a"));
  sink.close();
  const text = out();
  ok(text.indexOf("word99") > 0 && text.indexOf("word99") < text.indexOf("← Read a"), text);
});

Deno.test("the live line says what goes on, and is gone in the end", async () => {
  const { sink, out } = make({ live: true, columns: () => 30 });
  sink.emit(begin);
  await pause(250);
  const model = "0s Waiting for the model";
  ok(out().startsWith(`⠋ ${model}\r\x1b[K⠙ ${model}`), out());
  sink.emit(started("1", "README.md"));
  sink.emit({ type: "tool_progress", id: "1", text: "one\nsecond line of progress\n" });
  await pause(250);
  match(out(), /0s ← Read README\.md · seco…/);
  sink.emit(ended("1", "x"));
  sink.emit(token("done"));
  await pause(50);
  const length = out().length;
  await pause(250);
  equal(out().length, length, "nothing is drawn within a line");
  sink.emit(end);
  await pause(250);
  equal(screenOf(out()), "← Read README.md\n\ndone\n(2.1s)\n");
  sink.close();
});

Deno.test("with parallel calls each outcome says whose it is", () => {
  equal(
    play([started("1", "a"), started("2", "b"), ended("1", "Error: one"), ended("2", "Error: two")]),
    "← Read a\n← Read b\n← Read a\n! Error: one\n← Read b\n! Error: two\n",
  );
});

Deno.test("settings decide what is shown", () => {
  const events = [started("1", "a"), ended("1", "Error: one"), ended("2", "(empty file)", { isNote: true })];
  equal(play(events, { set: { glyph_lines: false } }), "[file_read: a]\n! Error: one\n(empty file)\n");
  equal(play(events, { set: { show_errors: false } }), "← Read a\n(empty file)\n");
  equal(play(events, { set: { show_notes: false } }), "← Read a\n! Error: one\n");
  equal(play(events, { set: { tool_status_visible: false } }), "! Error: one\n");
  equal(
    play([{ type: "thinking", text: "a\n\nb" }, token("x")], { set: { show_thinking: true } }),
    "~ a\n\n~ b\n\nx\n",
  );
});

Deno.test("a cancelled turn keeps its partial answer and says so", () => {
  equal(
    play([begin, token("half an ans"), { ...end, status: "cancelled" } as UiEvent]),
    "half an ans\n(cancelled)\n(2.1s)\n",
  );
});

Deno.test("40 columns: notes and activity lines are broken between words", () => {
  const text = play([
    begin,
    started("1", "src/a/rather/long/path/to/some.ts and more words behind it"),
    { type: "warning", message: "several words that do not fit into one line of forty columns" },
    { ...end, usage, context: 100 } as UiEvent,
  ], { columns: () => 40, set: { context_window: 128_000 } });
  for (const line of text.split("\n")) ok([...line].length <= 40, line);
  match(text, /\(2\.1s, 29,100 tokens in, 138 out,\n {2}context <1% of 128k\)\n$/);
});

Deno.test("a question has the screen for itself; what happens meanwhile is shown afterwards", async () => {
  let answer: (value: "no") => void = () => {}, asked = 0;
  const { sink, out } = make({
    live: true,
    prompts: {
      confirm: () => {
        asked++;
        return new Promise((resolve) => answer = resolve);
      },
      ask: (question: Question) => Promise.resolve(`${question.question}!`),
    },
  });
  sink.emit(begin);
  sink.emit(token("before"));
  const confirmed = sink.confirm(request), second = sink.ask({ question: "why" });
  await pause(0);
  equal(out(), "before\n\n");
  sink.emit(started("9", "later"));
  sink.emit({ type: "tool_progress", id: "9", text: "x" });
  await pause(250);
  equal(out(), "before\n\n", "no live line, no events");
  answer("no");
  equal(await confirmed, "no");
  equal(await second, "why!");
  equal(asked, 1);
  ok(out().startsWith("before\n\n← Read later\n"), out());
  sink.emit(end);
  sink.close();
});

Deno.test("a prompt that fails is no stuck terminal", async () => {
  const { sink, out } = make({
    prompts: { confirm: () => Promise.reject(new Error("gone")), ask: () => Promise.resolve("ok") },
  });
  let failed = false;
  await sink.confirm(request).catch(() => failed = true);
  ok(failed);
  equal(await sink.ask({ question: "q" }), "ok");
  sink.emit(token("x"));
  equal(out(), "\nx");
  sink.close();
  sink.emit(token("y"));
  equal(out(), "\nx\n");
});

Deno.test("calls outside of a turn have a live line, too", async () => {
  const { sink, out } = make({ live: true });
  sink.emit(started("1", "a"));
  await pause(250);
  match(out(), /0s ← Read a/);
  sink.emit(ended("1", "x"));
  const length = out().length;
  await pause(250);
  equal(out().length, length);
  equal(screenOf(out()), "← Read a\n");
  sink.close();
});

Deno.test("a terminal that became narrower has the whole live line erased", async () => {
  let columns = 60;
  const { sink, out } = make({ live: true, columns: () => columns });
  sink.emit(started("1", "a/long/path/that/takes/more/than/a/narrow/line.ts"));
  await pause(150);
  columns = 25;
  sink.emit(ended("1", "x"));
  // deno-lint-ignore no-control-regex
  match(out(), /\x1b\[2A\r\x1b\[J/);
  sink.close();
});

Deno.test("without a live line progress is told now and then", () => {
  const text = play([
    { type: "tool_start", id: "1", tool: command, name: command.name, args: { cmd: "make" } },
    { type: "tool_progress", id: "1", text: "first\n" },
    { type: "tool_progress", id: "1", text: "second\n" },
    { type: "tool_progress", id: "unknown", text: "x" },
  ]);
  equal(text, "$ Run make\n  first\n");
});

Deno.test("the footer: what is known, in few words", () => {
  const window = 0;
  equal(formatTurnFooter({ seconds: 2.06, usage: null, window }), "(2.1s)");
  equal(formatTurnFooter({ seconds: 65, usage: null, context: 5, window }), "(1m 05s)");
  equal(
    formatTurnFooter({ seconds: 1, usage, price: [1, 2], context: 1000, window: 8192 }),
    "(1.0s, 29,100 tokens in, 138 out, $0.03, context 12% of 8k)",
  );
  deepEqual([0, 0.00001, 0.0031, 0.5, 12.345].map(formatCost), [
    "$0.00",
    "<$0.0001",
    "$0.0031",
    "$0.50",
    "$12.35",
  ]);
  deepEqual([0, 59.9, 60, 3725].map(formatElapsed), ["0s", "59s", "1m 00s", "1h 02m"]);
});

Deno.test("the live line of several calls", () => {
  const running = [{ label: "$ Run a", since: 0, progress: "12%" }, {
    label: "← Read b",
    since: 5000,
    progress: "",
  }];
  const about = { frame: 1, visible: true, otherwise: "Thinking", since: 1000, now: 9000 };
  equal(statusLine({ ...about, running }), "⠙ 9s $ Run a (+1 more) · 12%");
  equal(statusLine({ ...about, running, visible: false }), "⠙ 9s Working (+1 more)");
  equal(statusLine({ ...about, running: [] }), "⠙ 8s Thinking");
});
