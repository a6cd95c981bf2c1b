/**
 * The demo of the first start: the real program on a small project in a temporary folder. Only the model's words are
 * recorded; every call is decided, asked about, sandboxed and recorded as in any session.
 *
 * @module
 */
import { Engine } from "../../engine/engine.ts";
import { createReplayProvider } from "../../provider/replay.ts";
import { openSession } from "../../session/store.ts";
import { join, toSlashes } from "../../text/path.ts";
import type { CliIo } from "../_command.ts";
import { openDispatcher, prepare } from "../_host.ts";
import type { UiSink } from "../../ui/sink.ts";
import type { Repl } from "./repl.ts";

const FILES: Readonly<Record<string, string>> = {
  "shop/README.md": "# Shop\n\nThe total of a cart counts each item as often as it was ordered.\n",
  "shop/src/cart.ts": [
    "export interface Item {",
    "  name: string;",
    "  cents: number;",
    "  quantity: number;",
    "}",
    "",
    "/** The sum of a cart in cents. */",
    "export function total(items: Item[]): number {",
    "  return items.reduce((sum, item) => sum + item.cents, 0);",
    "}",
    "",
  ].join("\n"),
  "private/salaries.txt": "nobody's business\n",
};

const PROMPT = "The total of a cart ignores how many of an item were ordered. Fix it.";

const usage = (prompt_tokens: number, completion_tokens: number) => ({ prompt_tokens, completion_tokens });

const RECORDING: readonly unknown[] = [
  { type: "recording", version: 1, provider: "recorded", model: "recorded-model" },
  {
    expect: ["ignores how many"],
    thinking: "First find where the total is computed.",
    tool_calls: [{ name: "grep", arguments: { pattern: "total\\(", glob: "*.ts" } }],
    usage: usage(2900, 40),
  },
  {
    expect: [{ role: "tool", name: "grep", has: "src/cart.ts" }],
    tool_calls: [{ name: "file_read", arguments: { path: "src/cart.ts" } }, {
      name: "file_read",
      arguments: { path: "README.md" },
    }],
    usage: usage(3100, 44),
  },
  {
    expect: [{ role: "tool", name: "file_read", has: "sum + item.cents, 0" }],
    content: "The reducer adds each price once, but the README says that quantity counts.",
    tool_calls: [{
      name: "file_edit",
      arguments: {
        path: "src/cart.ts",
        old: "sum + item.cents, 0",
        new: "sum + item.cents * item.quantity, 0",
      },
    }],
    usage: usage(3400, 70),
  },
  {
    content:
      "Now I try something that I should not do: reading a file outside of the project. **You are asked.**",
    tool_calls: [{ name: "file_read", arguments: { path: "../private/salaries.txt" } }],
    usage: usage(3600, 52),
  },
  {
    content: [
      "Done:",
      "",
      "- `total` in `src/cart.ts` multiplies each price by its quantity.",
      "- What lies outside of the project is yours to decide.",
      "",
      "```ts",
      "items.reduce((sum, item) => sum + item.cents * item.quantity, 0)",
      "```",
    ].join("\n"),
    usage: usage(3800, 60),
  },
];

/** Plays it. */
export async function playDemo({ front, host: { io } }: Pick<Repl, "front" | "host">): Promise<void> {
  const temporary = toSlashes(Deno.realPathSync(Deno.makeTempDirSync({ prefix: "polyglav-demo-" })));
  try {
    for (const [name, text] of Object.entries(FILES)) {
      const path = join(temporary, name);
      Deno.mkdirSync(join(path, ".."), { recursive: true });
      Deno.writeTextFileSync(path, text);
    }
    const worktree = join(temporary, "shop"), recording = join(temporary, "words.jsonl");
    Deno.writeTextFileSync(recording, RECORDING.map((line) => `${JSON.stringify(line)}\n`).join(""));
    // The demo has a configuration and a state of its own.
    const own: Readonly<Record<string, string>> = {
      XDG_CONFIG_HOME: join(temporary, "config"),
      XDG_STATE_HOME: join(temporary, "state"),
    };
    const apart: CliIo = { ...io, cwd: temporary, env: (name) => own[name] ?? io.env(name) };
    const host = await prepare({ path: worktree }, apart, {}, { quiet: true });
    front.print(front.style.dim(`(a small project in ${worktree}; its prompt:)`));
    front.print(`${front.style.bold(">")} ${PROMPT}`);
    const opened = await openDispatcher(host), controller = new AbortController();
    const release = front.onInterrupt(() => controller.abort());
    const session = await openSession({
      worktree,
      stateDir: host.paths.state,
      noiseTools: [],
      maxToolChars: 0,
    });
    const provider = createReplayProvider(recording, { worktree });
    try {
      const { dispatcher } = opened;
      // What is said in the demo is no rule for anything else: as for a sub-agent, none is offered.
      const sink: UiSink = {
        emit: (event) => front.sink.emit(event),
        confirm: (request) => front.sink.confirm({ ...request, asker: "demo" }),
      };
      const engine = new Engine({
        ...{ provider, dispatcher, session, sink, worktree, instructions: null },
        registry: host.registry,
        policy: host.policy,
        settings: host.settings,
      });
      await engine.runTurn(PROMPT, controller.signal);
      front.print(
        front.style.dim(
          "(that was the demo; its folder is gone now. /connect is the way to a model of your own)",
        ),
      );
    } finally {
      release();
      session.close();
      await provider.close?.().catch(() => {});
      await opened.close();
    }
  } finally {
    Deno.removeSync(temporary, { recursive: true });
  }
}
