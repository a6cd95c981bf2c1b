/**
 * The user interface of `polyglav run`: nobody to ask, results on standard output, the rest on standard error.
 *
 * @module
 */
import { cleanForTerminal, TerminalCleaner } from "../text/ansi.ts";
import {
  type ActivitySettings,
  formatActivity,
  formatDetails,
  formatFooter,
  formatOutcome,
} from "./activity.ts";
import type { ConfirmAnswer, UiEvent, UiSink } from "./sink.ts";
import { streamConfirm, streamEvent, streamLine } from "./stream_json.ts";
import { createStyle } from "./style.ts";

/** How a headless run shows itself. */
export interface HeadlessOptions {
  /** Standard output, as is. */
  readonly out: (text: string) => void;
  /** Standard error, as is. */
  readonly err: (text: string) => void;
  /** Shows thinking, activity lines, diffs and progress on standard error. */
  readonly verbose: boolean;
  /** What goes to standard output: the answer as it comes, nothing, or every event as a line of JSON. */
  readonly stream: "text" | "none" | "stream-json";
  /** Colours on standard error. */
  readonly color: boolean;
  readonly settings: ActivitySettings;
  /** Answer to every question: `yes` with --yes, else `no`. */
  readonly answer: "yes" | "no";
}

/** Makes the user interface of a headless run. It never reads standard input. */
export function createHeadlessSink(options: HeadlessOptions): UiSink {
  const sink = new HeadlessSink(options);
  return {
    emit(event) {
      try {
        sink.emit(event);
      } catch { /* a stream that is closed, or an event that cannot be shown: the turn goes on */ }
    },
    confirm(request): Promise<ConfirmAnswer> {
      try {
        if (options.stream === "stream-json") options.out(streamLine(streamConfirm(request, options.answer)));
      } catch { /* as above */ }
      return Promise.resolve(options.answer);
    },
  };
}

class HeadlessSink {
  readonly #options: HeadlessOptions;
  readonly #style;
  readonly #answer = new TerminalCleaner();
  readonly #thinking = new TerminalCleaner();
  /** Standard output stands in the middle of a line. */
  #midAnswer = false;
  #midThinking = false;

  constructor(options: HeadlessOptions) {
    this.#options = options;
    this.#style = createStyle(options.color);
  }

  emit(event: UiEvent): void {
    const { stream, verbose } = this.#options;
    if (stream === "stream-json") this.#options.out(streamLine(streamEvent(event)));
    if (event.type !== "thinking") this.#endThinking();
    switch (event.type) {
      case "thinking":
        if (verbose) this.#think(this.#thinking.push(event.text));
        break;
      case "token":
        if (stream === "text") this.#say(this.#answer.push(event.text));
        break;
      case "tool_start":
        this.#endAnswer();
        if (verbose) {
          this.#line(formatActivity(event.tool ?? event.name, event.args, this.#options.settings));
          if (event.tool) {
            for (const line of formatDetails(event.tool, event.args)) this.#line(this.#style.dim(line));
          }
        }
        break;
      case "tool_progress":
        if (verbose) {
          for (const line of cleanForTerminal(event.text).trimEnd().split("\n")) {
            this.#line(this.#style.dim(line));
          }
        }
        break;
      case "tool_end":
        if (verbose) {
          for (const line of formatOutcome(event, this.#options.settings, this.#style)) this.#line(line);
        }
        break;
      case "retry":
        this.#line(
          this.#style.yellow(
            `warning: ${oneLine(event.reason)}; trying again in ${
              event.seconds.toFixed(1)
            }s (attempt ${event.attempt})`,
          ),
        );
        break;
      case "warning":
        this.#line(this.#style.yellow(`warning: ${oneLine(event.message)}`));
        break;
      case "error":
        this.#endAnswer();
        this.#line(this.#style.red(`error: ${oneLine(event.message)}`));
        break;
      case "turn_end":
        this.#endAnswer();
        if (stream === "text") {
          if (event.status === "cancelled") this.#line(this.#style.dim("(cancelled)"));
          this.#line(this.#style.dim(formatFooter(event.duration, event.usage?.total_tokens ?? null)));
        }
        break;
      case "turn_start":
        break;
    }
  }

  #say(text: string): void {
    if (text === "") return;
    this.#options.out(text);
    this.#midAnswer = !text.endsWith("\n");
  }

  #endAnswer(): void {
    this.#say(this.#answer.end());
    if (this.#midAnswer) this.#options.out("\n");
    this.#midAnswer = false;
  }

  #think(text: string): void {
    if (text === "") return;
    this.#options.err(this.#style.dim(text));
    this.#midThinking = !text.endsWith("\n");
  }

  #endThinking(): void {
    this.#think(this.#thinking.end());
    if (this.#midThinking) this.#options.err("\n");
    this.#midThinking = false;
  }

  #line(text: string): void {
    this.#options.err(`${text}\n`);
  }
}

function oneLine(text: string): string {
  return cleanForTerminal(text.trim(), { line: true });
}
