/**
 * The user interface of a session on a terminal: the answer as it streams, what tools do, and one live line that says what
 * is going on. What it writes stays in the scrollback; only the live line is ever erased.
 *
 * @module
 */
import type { Settings } from "../config/settings.ts";
import { cleanForTerminal } from "../text/ansi.ts";
import { wrapText } from "../text/width.ts";
import { formatTurnFooter } from "./_terminal/footer.ts";
import { type Running, statusLine } from "./_terminal/live.ts";
import { TextQueue } from "./_terminal/queue.ts";
import { Screen } from "./_terminal/screen.ts";
import { Thoughts } from "./_terminal/thoughts.ts";
import { formatActivity, formatDetails, formatOutcome } from "./activity.ts";
import { createHighlighter, type Highlighter } from "./highlight.ts";
import { MarkdownStream } from "./markdown.ts";
import type { ConfirmAnswer, ConfirmRequest, Question, UiEvent, UiSink } from "./sink.ts";
import type { Style } from "./style.ts";

/** The settings that the terminal reads, anew for each event. */
export type TerminalSettings = Pick<
  Settings,
  | "glyph_lines"
  | "glyph_params"
  | "show_errors"
  | "show_notes"
  | "show_thinking"
  | "tool_status_visible"
  | "context_window"
  | "prices"
>;

/** Who asks the person in front of the terminal. */
export interface TerminalPrompts {
  confirm(request: ConfirmRequest): Promise<ConfirmAnswer>;
  ask(question: Question): Promise<string | null>;
}

/** What a terminal is made of. */
export interface TerminalOptions {
  /** Writes all of it at once. */
  readonly write: (text: string) => void;
  /** Columns that there are now; 0 or infinite: lines are left to the terminal. */
  readonly columns: () => number;
  readonly style: Style;
  /** The terminal can erase a line; without (TERM=dumb) there is no live line. */
  readonly live: boolean;
  readonly settings: TerminalSettings;
  readonly prompts: TerminalPrompts;
  /** Colours of code; absent: those of highlight.ts, null: none. */
  readonly highlight?: Highlighter | null;
}

/** A user interface with a person in front of it. */
export interface TerminalSink extends UiSink {
  ask(question: Question): Promise<string | null>;
  /** Ends the line, takes the live line away and holds back all events until {@link resume}: somebody else writes. Pairs may nest. */
  pause(): void;
  resume(): void;
  /** Writes lines of the program's own, which must be clean already; a line break is added. */
  print(text: string): void;
  /** Writes what is left and takes the live line away. Further events are ignored. */
  close(): void;
}

/** Milliseconds between two drawings of the live line. */
const FRAME = 100;
/** Most milliseconds that one turn of the event loop spends on text, so that keys are not kept waiting. */
const SLICE = 2;
/** Characters that are rendered between two looks at the clock. */
const STEP = 256;
/** Seconds between two lines of progress where there is no live line. */
const PROGRESS = 5;

/** Makes the user interface of a terminal. */
export function createTerminalSink(options: TerminalOptions): TerminalSink {
  return new Terminal(options);
}

type ToolStart = Extract<UiEvent, { type: "tool_start" }>;
type ToolEnd = Extract<UiEvent, { type: "tool_end" }>;

class Terminal implements TerminalSink {
  readonly #options: TerminalOptions;
  readonly #style: Style;
  readonly #screen: Screen;
  readonly #markdown: MarkdownStream;
  readonly #thoughts: Thoughts;
  /** Pieces of the answer that are not rendered yet. */
  readonly #raw = new TextQueue();
  /** What was written last: paragraphs and lines of activity stand apart. */
  #last: "none" | "text" | "thinking" | "line" = "none";
  #answering = false;
  #thinkingSince: number | null = null;
  #thoughtShown = false;
  #running = new Map<string, Running>();
  #labelled = "";
  #turnSince: number | null = null;
  #waitingSince = 0;
  #model = "";
  #frame = 0;
  #frames: ReturnType<typeof setInterval> | undefined;
  #paused = 0;
  #held: UiEvent[] = [];
  #asking: Promise<unknown> = Promise.resolve();
  #progressAt = -Infinity;
  #closed = false;

  constructor(options: TerminalOptions) {
    const { write, columns, style, live, highlight } = options;
    this.#options = options;
    this.#style = style;
    this.#screen = new Screen({ write, columns, live, paint: style.dim }, () => this.#slice());
    this.#markdown = new MarkdownStream({
      columns,
      style,
      highlight: highlight === undefined ? createHighlighter(style) : highlight ?? undefined,
    });
    this.#thoughts = new Thoughts(columns, style);
  }

  emit(event: UiEvent): void {
    try {
      if (this.#closed) return;
      if (event.type === "tool_progress") this.#progress(event.id, event.text);
      else if (this.#paused > 0) this.#held.push(event);
      else this.#handle(event);
    } catch { /* an event that cannot be shown: the turn goes on */ }
  }

  confirm(request: ConfirmRequest): Promise<ConfirmAnswer> {
    return this.#prompt(() => this.#options.prompts.confirm(request));
  }

  ask(question: Question): Promise<string | null> {
    return this.#prompt(() => this.#options.prompts.ask(question));
  }

  pause(): void {
    if (this.#paused++ > 0) return;
    this.#endText();
    this.#stopFrames();
    this.#screen.erase();
  }

  resume(): void {
    if (this.#paused === 0 || --this.#paused > 0) return;
    const held = this.#held;
    this.#held = [];
    for (const event of held) this.emit(event);
    this.#startFrames();
  }

  print(text: string): void {
    if (this.#closed) return;
    this.#endText();
    this.#screen.write(`${text}\n`);
    this.#screen.flush();
    this.#last = "line";
  }

  close(): void {
    if (this.#closed) return;
    this.#endText();
    this.#stopFrames();
    this.#screen.close();
    this.#closed = true;
  }

  /** One question after the other, with nothing else on the screen. */
  #prompt<T>(ask: () => Promise<T>): Promise<T> {
    const answer = this.#asking.then(async () => {
      this.pause();
      try {
        // Questions stand apart from text as lines do.
        this.#screen.write(this.#section("line"));
        this.#screen.flush();
        return await ask();
      } finally {
        this.#last = "line";
        this.#waitingSince = performance.now();
        this.resume();
      }
    });
    this.#asking = answer.catch(() => {});
    return answer;
  }

  #handle(event: Exclude<UiEvent, { type: "tool_progress" }>): void {
    switch (event.type) {
      case "turn_start":
        this.#endText();
        this.#model = event.model;
        this.#last = "none";
        this.#running.clear();
        this.#turnSince = this.#waitingSince = performance.now();
        this.#startFrames();
        break;
      case "thinking":
        this.#think(event.text);
        break;
      case "token":
        this.#token(event.text);
        break;
      case "tool_start":
        this.#toolStart(event);
        break;
      case "tool_end":
        this.#toolEnd(event);
        break;
      case "retry":
        this.#note(
          this.#style.yellow,
          `warning: ${oneLine(event.reason)}; trying again in ${
            event.seconds.toFixed(1)
          }s (attempt ${event.attempt})`,
        );
        break;
      case "warning":
        this.#note(this.#style.yellow, `warning: ${oneLine(event.message)}`);
        break;
      case "error":
        this.#note(this.#style.red, `error: ${oneLine(event.message)}`);
        break;
      case "turn_end": {
        this.#endText();
        this.#running.clear();
        this.#turnSince = null;
        this.#stopFrames();
        const { settings } = this.#options, { duration: seconds, usage, context } = event;
        const price = Object.hasOwn(settings.prices, this.#model) ? settings.prices[this.#model] : undefined;
        if (event.status === "cancelled") this.#note(this.#style.dim, "(cancelled)");
        this.#note(
          this.#style.dim,
          formatTurnFooter({ seconds, usage, price, context, window: settings.context_window }),
        );
        this.#screen.erase();
        break;
      }
    }
  }

  // The answer

  #token(text: string): void {
    if (text === "") return;
    this.#endThinking();
    this.#answering = true;
    if (this.#screen.busy || !this.#raw.empty || this.#markdown.waiting) {
      this.#raw.push(text);
      this.#screen.wake();
      return;
    }
    // The beginning at once; of a large piece the rest follows in slices.
    this.#say(this.#markdown.push(text.slice(0, STEP)));
    if (text.length > STEP) {
      this.#raw.push(text.slice(STEP));
      this.#screen.wake();
    }
  }

  /** Renders what came in, for a few milliseconds; whether there is more. */
  #slice(): boolean {
    const { waiting } = this.#markdown;
    if (waiting) {
      waiting.then(() => {
        if (!this.#closed && this.#paused === 0) this.#screen.wake();
      });
      return false;
    }
    const until = performance.now() + SLICE;
    if (this.#answering) this.#say(this.#markdown.push(""));
    while (!this.#raw.empty && performance.now() < until && !this.#markdown.waiting) {
      this.#say(this.#markdown.push(this.#raw.take(STEP)));
    }
    return !this.#raw.empty || this.#markdown.waiting !== null;
  }

  #say(text: string): void {
    if (text === "") return;
    this.#waitingSince = performance.now();
    this.#screen.write(this.#section("text") + text);
  }

  /** The answer or the thinking so far is complete. */
  #endText(): void {
    this.#endThinking();
    if (this.#answering) {
      this.#answering = false;
      this.#say(this.#markdown.push(this.#raw.rest()) + this.#markdown.end());
    }
    this.#screen.flush();
  }

  /** Text, thinking and lines stand apart by a blank line: what is to be written before the next of a kind. */
  #section(kind: "text" | "thinking" | "line"): string {
    const apart = this.#last !== "none" && this.#last !== kind;
    this.#last = kind;
    return apart ? "\n" : "";
  }

  // Thinking

  #think(text: string): void {
    if (text === "") return;
    if (this.#thinkingSince === null) {
      this.#endText();
      this.#thinkingSince = performance.now();
      this.#thoughtShown = this.#options.settings.show_thinking;
    }
    if (this.#thoughtShown) this.#thought(this.#thoughts.push(text));
  }

  #thought(text: string): void {
    if (text === "") return;
    this.#screen.write(this.#section("thinking") + text);
  }

  #endThinking(): void {
    if (this.#thinkingSince === null) return;
    const seconds = (performance.now() - this.#thinkingSince) / 1000;
    this.#thinkingSince = null;
    this.#waitingSince = performance.now();
    if (this.#thoughtShown) this.#thought(this.#thoughts.end());
    else this.#lines([this.#style.dim(`+ Thought ${seconds.toFixed(1)}s`)]);
  }

  // Tools

  #toolStart({ id, tool, name, args }: ToolStart): void {
    this.#endText();
    const { settings } = this.#options, label = formatActivity(tool ?? name, args, settings);
    this.#running.set(id, { label, since: performance.now(), progress: "" });
    this.#startFrames();
    if (!settings.tool_status_visible) return;
    this.#lines(this.#wrapped(label).map(this.#style.dim));
    if (tool) this.#lines(formatDetails(tool, args).map(this.#style.dim));
    this.#labelled = id;
  }

  #toolEnd(event: ToolEnd): void {
    this.#endText();
    const label = this.#running.get(event.id)?.label;
    this.#running.delete(event.id);
    this.#waitingSince = performance.now();
    if (this.#turnSince === null && this.#running.size === 0) {
      this.#stopFrames();
      this.#screen.erase();
    }
    const { settings } = this.#options;
    if (!settings.tool_status_visible && !event.isError) return;
    const lines = formatOutcome(event, settings, this.#style);
    // With other calls in between, it is said whose outcome this is.
    if (
      lines.length > 0 && label !== undefined && this.#labelled !== event.id && settings.tool_status_visible
    ) {
      this.#lines(this.#wrapped(label).map(this.#style.dim));
      this.#labelled = event.id;
    }
    this.#lines(lines);
  }

  #progress(id: string, text: string): void {
    const running = this.#running.get(id);
    const line = running && lastLine(text);
    if (!running || line === undefined || line === "") return;
    running.progress = line;
    if (this.#options.live || this.#paused > 0 || !this.#options.settings.tool_status_visible) return;
    const now = performance.now();
    if (now - this.#progressAt < PROGRESS * 1000) return;
    this.#progressAt = now;
    this.#lines([this.#style.dim(`  ${line}`)]);
  }

  #note(paint: (text: string) => string, text: string): void {
    this.#endText();
    const apart = this.#last === "thinking";
    if (!apart && this.#last !== "none") this.#last = "line";
    this.#lines(this.#wrapped(text).map(paint));
  }

  #lines(lines: readonly string[]): void {
    if (lines.length === 0) return;
    this.#screen.write(this.#section("line") + lines.map((line) => `${line}\n`).join(""));
  }

  #wrapped(text: string): string[] {
    const columns = this.#options.columns();
    return columns > 0 && Number.isFinite(columns) ? wrapText(text, columns, { indent: "  " }) : [text];
  }

  // The live line

  #startFrames(): void {
    if (!this.#options.live || this.#frames !== undefined || this.#paused > 0) return;
    if (this.#turnSince === null && this.#running.size === 0) return;
    this.#frames = setInterval(() => this.#drawFrame(), FRAME);
  }

  #stopFrames(): void {
    clearInterval(this.#frames);
    this.#frames = undefined;
  }

  #drawFrame(): void {
    if (this.#markdown.midLine || this.#thoughts.midLine || this.#screen.busy) return;
    const thinking = this.#thinkingSince;
    this.#screen.draw(statusLine({
      frame: this.#frame++,
      running: [...this.#running.values()],
      visible: this.#options.settings.tool_status_visible,
      otherwise: thinking !== null ? "Thinking" : this.#answering ? "Writing" : "Waiting for the model",
      since: thinking ?? this.#waitingSince,
      now: performance.now(),
    }));
  }
}

function oneLine(text: string): string {
  return cleanForTerminal(text.trim(), { line: true });
}

/** The last line with something in it, clean and not too long. */
function lastLine(text: string): string {
  const line = text.slice(-2000).trimEnd().split(/[\r\n]/).at(-1)!.trim();
  return cleanForTerminal(line.slice(0, 300).toWellFormed(), { line: true });
}
