/**
 * The prompt in a real terminal, with a scripted model.
 *
 * @module
 */
import { cliEnvironment, type CliOptions, MAIN } from "./cli.ts";
import type { ModelServer } from "./model_server.ts";
import { openPty, type Pty, type PtyOptions } from "./tmux.ts";
import type { TestTree } from "./worktree.ts";

/** How the prompt is started. */
export interface ReplOptions extends Pick<PtyOptions, "columns" | "rows"> {
  /** More words of the command line. */
  readonly args?: readonly string[];
  readonly env?: CliOptions["env"];
  /** Default: the tree's worktree. */
  readonly path?: string;
  /** Without waiting for the first prompt. */
  readonly raw?: boolean;
}

/** The prompt, and what tests do with it. */
export interface ReplPty extends Pty {
  /** Waits until the prompt of a mode stands on the screen's last line, with nothing behind it. */
  ready(mode?: string): Promise<void>;
  /** Enters a line at the prompt and waits until the next one. @returns what came in between */
  say(text: string, mode?: string): Promise<string>;
  /** Answers a question with one key, once it takes keys. */
  answer(key: string, pattern?: RegExp): Promise<void>;
}

/** Longer than the quiet time after which a question takes keys. */
const QUIET = 800;

/** Starts `polyglav` in the tree's worktree; `server` null: without a provider of its own. */
export async function openRepl(
  tree: TestTree,
  server: ModelServer | null,
  { args = [], env = {}, raw = false, path = tree.work, ...size }: ReplOptions = {},
): Promise<ReplPty> {
  const model = server
    ? ["--provider", "openai-compatible", "--base-url", server.url, "--model", "scripted"]
    : [];
  const pty = await openPty({
    command: [Deno.execPath(), "run", "-A", MAIN, "--path", path, ...model, ...args],
    env: cliEnvironment(tree, { TERM: "xterm-256color", NO_COLOR: null, ...env }),
    ...size,
  });
  const prompted = async (mode: string, after: number) => {
    for (const end = Date.now() + 20_000;;) {
      const lines = (await pty.scrollback()).split("\n");
      if (lines.length > after && lines.at(-1) === `${mode}>`) return;
      if (Date.now() > end) throw new Error(`no prompt of ${mode}:\n${lines.join("\n")}\n--`);
      await new Promise((resolve) => setTimeout(resolve, 40));
    }
  };
  const repl: ReplPty = {
    ...pty,
    ready: (mode = "build") => prompted(mode, 0),
    async say(text, mode = "build") {
      const before = (await pty.scrollback()).split("\n").length;
      await pty.line(text);
      // Enter begins a new line; the prompt of before is not the next one.
      await prompted(mode, before);
      return (await pty.scrollback()).split("\n").slice(before - 1).join("\n");
    },
    async answer(key, pattern = /approve\? \[[^\]]*\]$/) {
      await pty.waitFor(pattern);
      await new Promise((resolve) => setTimeout(resolve, QUIET));
      await pty.type(key);
    },
  };
  if (!raw) await repl.ready();
  return repl;
}
