/**
 * A program in a real terminal: tmux holds the pty and says what its screen shows. Each has a tmux server of its own, on
 * a socket in a private folder.
 *
 * @module
 */
import { join } from "../../src/text/path.ts";

/** What to run, and in what terminal. */
export interface PtyOptions {
  /** Program and arguments. */
  readonly command: readonly string[];
  /** Width; 100 by default. */
  readonly columns?: number;
  /** Height; 30 by default. */
  readonly rows?: number;
  /** The whole environment of the program; `TERM` is tmux's own unless it is given. */
  readonly env?: Readonly<Record<string, string>>;
  /** Working directory; the folder for temporary files by default. */
  readonly cwd?: string;
}

/** A running program and its screen. */
export interface Pty extends AsyncDisposable {
  /** Types this text as it is; control characters are sent as the bytes that they are. */
  type(text: string): Promise<void>;
  /** Presses keys by tmux's names: `Enter`, `C-c`, `Up`, `M-Enter`, `BSpace`, `Tab`, `Escape`, … */
  key(...names: string[]): Promise<void>;
  /** Pastes text as a terminal does: bracketed where the program asked for that. */
  paste(text: string): Promise<void>;
  /** Types a line and Enter. */
  line(text: string): Promise<void>;
  /** What is on the screen, lines without trailing blanks. `colors` keeps escape sequences. */
  screen(options?: { readonly colors?: boolean }): Promise<string>;
  /** The screen with everything that scrolled out of it; lines that the terminal wrapped are joined. */
  scrollback(options?: { readonly colors?: boolean }): Promise<string>;
  /**
   * Waits until the scrollback (with `screen: true`: the screen alone) matches.
   *
   * @returns what matched
   * @throws {Error} after `timeout` milliseconds (20,000): shows the screen
   */
  waitFor(
    pattern: RegExp | string,
    options?: { readonly timeout?: number; readonly screen?: boolean; readonly gone?: boolean },
  ): Promise<string>;
  /** Column and row of the cursor, from 0. */
  cursor(): Promise<{ readonly column: number; readonly row: number }>;
  /** What the program set as the title. */
  title(): Promise<string>;
  /** Every byte that the program wrote from the call of this on. @returns reads them */
  record(): Promise<() => Promise<string>>;
  /** Resizes the terminal. */
  resize(columns: number, rows: number): Promise<void>;
  /** Process id of the program. */
  pid(): Promise<number>;
  /** Exit code, once the program ended. Throws when it still runs after `timeout` milliseconds (10,000). */
  exit(timeout?: number): Promise<number>;
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Whether tmux is there; tests of terminals are skipped where it is not. */
export const HAS_TMUX: boolean = (() => {
  try {
    return new Deno.Command("tmux", { args: ["-V"], stdout: "null", stderr: "null" }).outputSync().success;
  } catch {
    return false;
  }
})();

/** Starts a program in a terminal; dispose it with `await using pty = await openPty({ ... })`. */
export async function openPty(options: PtyOptions): Promise<Pty> {
  const { columns = 100, rows = 30, command, env = {} } = options;
  const folder = await Deno.makeTempDir({ prefix: "polyglav-tmux-" });
  const socket = join(folder, "s"), code = join(folder, "code"), config = join(folder, "conf");
  await Deno.writeTextFile(
    config,
    "set -g history-limit 50000\nset -g status off\nset -s escape-time 0\nset -g remain-on-exit on\n" +
      "set -g default-terminal xterm-256color\nset -g allow-rename off\nset -s exit-empty off\n",
  );
  const tmux = async (args: readonly string[], stdin?: string): Promise<string> => {
    const child = new Deno.Command("tmux", {
      args: ["-S", socket, "-f", config, ...args],
      clearEnv: true,
      env: { PATH: Deno.env.get("PATH") ?? "", LANG: "C.UTF-8", LC_ALL: "C.UTF-8", TERM: "xterm-256color" },
      stdin: stdin === undefined ? "null" : "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    if (stdin !== undefined) {
      const writer = child.stdin.getWriter();
      await writer.write(new TextEncoder().encode(stdin));
      await writer.close();
    }
    const { success, stdout, stderr } = await child.output();
    if (!success) throw new Error(`tmux ${args[0]}: ${new TextDecoder().decode(stderr).trim()}`);
    return new TextDecoder().decode(stdout);
  };
  // The shell keeps the exit code; `env -i` keeps the tester's environment out.
  const quoted = (word: string) => `'${word.replaceAll("'", `'\\''`)}'`;
  const term = env.TERM === undefined ? '"TERM=$TERM"' : "";
  const variables = Object.entries(env).map(([name, value]) => quoted(`${name}=${value}`)).join(" ");
  const script = `env -i ${term} ${variables} ${command.map(quoted).join(" ")}; echo $? > ${quoted(code)}`;
  try {
    await tmux([
      ...["new-session", "-d", "-s", "t", "-x", `${columns}`, "-y", `${rows}`],
      ...["-c", options.cwd ?? folder, "sh", "-c", script],
    ]);
  } catch (error) {
    await Deno.remove(folder, { recursive: true });
    throw error;
  }
  const target = ["-t", "t:0.0"];
  const capture = async (extra: readonly string[]) =>
    (await tmux(["capture-pane", "-p", ...extra, ...target])).split("\n").map((l) => l.trimEnd()).join("\n")
      .trimEnd();
  const show = (format: string) => tmux(["display-message", "-p", ...target, format]);
  const bytes = async (text: string) => {
    const hex = [...new TextEncoder().encode(text)].map((b) => b.toString(16).padStart(2, "0"));
    for (let i = 0; i < hex.length; i += 500) {
      await tmux(["send-keys", "-H", ...target, ...hex.slice(i, i + 500)]);
    }
  };
  const pty: Pty = {
    type: bytes,
    async key(...names) {
      await tmux(["send-keys", ...target, ...names]);
    },
    async paste(text) {
      await tmux(["load-buffer", "-b", "p", "-"], text);
      await tmux(["paste-buffer", "-p", "-r", "-d", "-b", "p", ...target]);
    },
    async line(text) {
      await bytes(text);
      await tmux(["send-keys", ...target, "Enter"]);
    },
    screen: ({ colors } = {}) => capture(colors ? ["-e"] : []),
    scrollback: ({ colors } = {}) => capture([...(colors ? ["-e"] : []), "-J", "-S", "-"]),
    async waitFor(pattern, { timeout = 20_000, screen = false, gone = false } = {}) {
      const end = Date.now() + timeout;
      for (;;) {
        const text = screen ? await pty.screen() : await pty.scrollback();
        const found = typeof pattern === "string"
          ? (text.includes(pattern) ? pattern : null)
          : pattern.exec(text)?.[0] ?? null;
        if (gone ? found === null : found !== null) return found ?? "";
        if (Date.now() > end) {
          throw new Error(`the terminal ${gone ? "still shows" : "does not show"} ${pattern}:\n${text}\n--`);
        }
        await pause(40);
      }
    },
    async cursor() {
      const [column = 0, row = 0] = (await show("#{cursor_x} #{cursor_y}")).trim().split(" ").map(Number);
      return { column, row };
    },
    title: async () => (await show("#{pane_title}")).replace(/\n$/, ""),
    async record() {
      const file = join(folder, "raw");
      await tmux(["pipe-pane", ...target, `cat > ${quoted(file)}`]);
      return () => Deno.readTextFile(file);
    },
    async resize(width, height) {
      await tmux(["resize-window", "-t", "t", "-x", `${width}`, "-y", `${height}`]);
    },
    async pid() {
      const shell = Number((await show("#{pane_pid}")).trim());
      const children = await Deno.readTextFile(`/proc/${shell}/task/${shell}/children`);
      return Number(children.trim().split(" ")[0]);
    },
    async exit(timeout = 10_000) {
      const end = Date.now() + timeout;
      for (;;) {
        const text = await Deno.readTextFile(code).catch(() => "");
        if (text.endsWith("\n")) return Number(text.trim());
        if (Date.now() > end) throw new Error(`the program still runs:\n${await pty.screen()}\n--`);
        await pause(40);
      }
    },
    async [Symbol.asyncDispose]() {
      await tmux(["kill-server"]).catch(() => {});
      await Deno.remove(folder, { recursive: true }).catch(() => {});
    },
  };
  return pty;
}
