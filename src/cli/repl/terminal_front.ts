/**
 * The front over a real terminal.
 *
 * @module
 */
import type { Settings } from "../../config/settings.ts";
import { cleanForTerminal } from "../../text/ansi.ts";
import type { ConsentRules } from "../../ui/consent.ts";
import { Input } from "../../ui/input.ts";
import { createQuestions } from "../../ui/questions.ts";
import { createStyle } from "../../ui/style.ts";
import { createTerminalSink } from "../../ui/terminal.ts";
import { openTty, type Tty } from "../../ui/tty.ts";
import type { Front } from "./front.ts";

/** What a terminal's front is made of. */
export interface TerminalFrontOptions {
  readonly env: (name: string) => string | undefined;
  /** Read anew at every use. */
  readonly settings: Settings;
  /** Loaded with the first question. */
  readonly rules: () => Promise<ConsentRules>;
  /** Default: the terminal of standard input and output. */
  readonly tty?: Tty;
}

/** Opens the terminal: raw mode from here on, so that nothing that is typed is lost or echoed twice. */
export function openFront({ env, settings, rules, tty = openTty({ env }) }: TerminalFrontOptions): Front {
  const input = new Input(tty), style = createStyle(tty.color);
  const loadConfirm = async () => {
    const [{ createConfirm }, loaded] = await Promise.all([import("../../ui/confirm.ts"), rules()]);
    return createConfirm({ input, tty, style, settings, rules: loaded });
  };
  let confirm: ReturnType<typeof loadConfirm> | null = null;
  const question = createQuestions({ input, tty, style, settings });
  const bell = () => {
    if (settings.terminal.bell > 0) tty.write("\x07");
  };
  let titled = false, current = "";
  const title = (text: string) => {
    current = text;
    if (tty.dumb || (!settings.terminal.title && !titled)) return;
    if (text !== "" && settings.terminal.title) {
      // The title that was there is kept by the terminal, and comes back at the end.
      tty.write(
        `${titled ? "" : "\x1b[22;0t"}\x1b]0;${cleanForTerminal(text, { line: true }).slice(0, 200)}\x07`,
      );
      titled = true;
    } else if (titled) {
      tty.write("\x1b]0;\x07\x1b[23;0t");
      titled = false;
    }
  };
  /** A question waits: the bell and the window's title say so. */
  const waiting = async <T>(ask: () => Promise<T>): Promise<T> => {
    const before = current;
    bell();
    if (before !== "") title(`? ${before.replace(/^… /, "")}`);
    try {
      return await ask();
    } finally {
      if (before !== "") title(before);
    }
  };
  const sink = createTerminalSink({
    write: (text) => tty.write(text),
    columns: () => tty.columns,
    style,
    live: !tty.dumb,
    settings,
    prompts: {
      confirm: (request) => waiting(async () => await (await (confirm ??= loadConfirm()))(request)),
      ask: (asked) => waiting(() => question(asked)),
    },
  });
  input.start();
  const text = async (prompt: string, options: { initial?: string; hidden?: boolean }) => {
    sink.pause();
    try {
      return await input.exclusive(async () => {
        const read = await input.readLine({ prompt, fresh: true, lines: "text", ...options });
        return read.kind === "line" ? read.text : null;
      });
    } finally {
      sink.resume();
    }
  };
  let reading = false;
  const print = (lines: string) => {
    if (reading) input.print(lines);
    else sink.print(lines.replace(/\n$/, ""));
  };
  return {
    get columns() {
      return tty.columns;
    },
    style,
    sink,
    print,
    warn: (message) => print(style.yellow(`warning: ${cleanForTerminal(message.trim(), { line: true })}`)),
    async readLine(options) {
      // What the sink still holds comes before the prompt.
      sink.pause();
      reading = true;
      try {
        return await input.readLine(options);
      } finally {
        reading = false;
        sink.resume();
      }
    },
    line: (prompt, initial) => text(prompt, { initial }),
    secret: (prompt) => text(prompt, { hidden: true }),
    ask: (asked) => sink.ask(asked),
    onInterrupt: (listener) => input.onInterrupt(listener),
    title,
    bell,
    close() {
      sink.close();
      title("");
      input.close();
    },
  };
}
