/**
 * A program for tests in a real terminal: plays a turn of each kind, then waits for a byte of input.
 *
 * usage: _terminal_program.ts SCENE
 */
import { defaults } from "../../src/config/schema.ts";
import { defineTool } from "../../src/tool.ts";
import { createHighlighter } from "../../src/ui/highlight.ts";
import { createStyle } from "../../src/ui/style.ts";
import { createTerminalSink } from "../../src/ui/terminal.ts";

const tool = defineTool({
  ...{
    name: "run_command",
    description: "d",
    category: "exec",
    permission: "bash",
    access: [],
    keyArg: "cmd",
  } as const,
  parameters: { type: "object", properties: { cmd: { type: "string" } } },
  execute: () => "",
});
const encoder = new TextEncoder();
const dumb = Deno.env.get("TERM") === "dumb";
const write = (text: string) => {
  const bytes = encoder.encode(text);
  for (let done = 0; done < bytes.length;) done += Deno.stdout.writeSync(bytes.subarray(done));
};
const style = createStyle(!dumb && !Deno.env.get("NO_COLOR"));
const highlight = createHighlighter(style);
await highlight.open("ts");
const sink = createTerminalSink({
  write,
  highlight,
  columns: () => Deno.consoleSize().columns,
  style,
  live: !dumb,
  settings: { ...defaults(), context_window: 10_000, prices: { scripted: [1, 1] } },
  prompts: {
    confirm: () => {
      write("really? ");
      return pause(600).then(() => (write("y\n"), "yes" as const));
    },
    ask: () => Promise.resolve(null),
  },
});
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
const say = async (text: string, size = 3) => {
  for (let at = 0; at < text.length; at += size) {
    sink.emit({ type: "token", text: text.slice(at, at + size) });
    if (at % 40 === 0) await pause(1);
  }
};

const MARKDOWN = `# The title

Words with **bold**, \`code\` and 中文 or 👩‍👩‍👧 that are wrapped between words.

- first item that goes on and on until it is wrapped
  - second

| Key | Value |
|-----|------:|
| one | 1 |
| 中 | 22 |

\`\`\`ts
const answer = 42; // why
\`\`\`

The end.
`;

const scenes: Record<string, () => Promise<void>> = {
  async markdown() {
    await say(MARKDOWN);
  },
  async live() {
    sink.emit({ type: "thinking", text: "hm" });
    await pause(300);
    const call = { id: "1", tool, name: tool.name, args: { cmd: "make all" } };
    sink.emit({ type: "tool_start", ...call });
    for (let i = 1; i <= 8; i++) {
      sink.emit({
        type: "tool_progress",
        id: "1",
        text: `step ${i} of 8, ${"with a long line ".repeat(8)}\n`,
      });
      await pause(150);
    }
    await sink.confirm({
      tool,
      args: {},
      decision: { action: "ask", rule: "r", reason: "", trail: [], paths: [] },
      preview: () => Promise.resolve(""),
    });
    sink.emit({
      ...{
        type: "tool_end",
        ...call,
        content: "Error: failed",
        isError: true,
        isNote: false,
        details: null,
      } as const,
      ...{ decision: null, outcome: "granted", duration: 1 } as const,
    });
    await say("It failed.");
  },
  async long() {
    for (let i = 0; i < 2000; i++) await say(`line ${i} of a long answer\n`, 1000);
  },
};

write("BEFORE\n");
sink.emit({ type: "turn_start", session: "s", model: "scripted", provider: "p", mode: "build" });
await scenes[Deno.args[0]!]!();
const usage = { prompt_tokens: 1000, completion_tokens: 200, total_tokens: 1200 };
sink.emit({ type: "turn_end", status: "ok", usage, duration: 1.5, context: 1200 });
sink.close();
write("READY\n");
await Deno.stdin.read(new Uint8Array(1));
