/**
 * Reads a line on a terminal that can do nothing but print, or without printing anything.
 *
 * @module
 */
import { cleanForTerminal } from "../../text/ansi.ts";
import { displayWidth, graphemes } from "../../text/width.ts";
import type { ReadLineOptions, ReadResult } from "../input.ts";
import type { Key } from "../keys.ts";
import type { Tty } from "../tty.ts";
import { continued, type LineReader, unblocked } from "./reader.ts";

/** A line of text that is only ever added to and cut at its end. */
export class PlainLine implements LineReader {
  result: ReadResult | null = null;
  readonly #tty: Tty;
  readonly #options: ReadLineOptions;
  #text: string;

  constructor(tty: Tty, options: ReadLineOptions) {
    this.#tty = tty;
    this.#options = options;
    this.#text = options.initial ?? "";
  }

  open(): void {
    this.#tty.write(this.#options.prompt);
    this.#echo(this.#text);
  }

  handle(key: Key): void {
    if (key.name === "text" || key.name === "paste") {
      const text = this.#options.hidden ? key.text!.replace(/\n+$/, "") : key.text!;
      this.#text += text;
      this.#echo(text);
    } else if (key.name === "enter") this.#enter(key.alt === true);
    else if (key.name === "backspace") {
      this.#cut(this.#text.length - (graphemes(this.#text).at(-1)?.length ?? 0));
    } else if (key.ctrl && key.name === "u") this.#cut(0);
    else if (key.ctrl && key.name === "w") this.#cut(this.#text.replace(/\S*\s*$/, "").length);
    else if (key.ctrl && key.name === "c") this.stop("interrupt");
    else if (key.ctrl && key.name === "d" && this.#text === "") this.stop("end");
  }

  show(): void {}

  wake(): void {}

  hide(): void {
    this.#tty.write("\n");
  }

  redraw(): void {
    this.#tty.write(`\r${this.#options.prompt}`);
    this.#echo(this.#text);
  }

  stop(kind: "interrupt" | "end"): void {
    this.#tty.write(kind === "interrupt" ? "^C\n" : "\n");
    this.result = kind === "end" ? { kind } : { kind, text: this.#options.hidden ? "" : this.#text };
  }

  #enter(alt: boolean): void {
    const blocks = (this.#options.lines ?? "blocks") === "blocks" && !this.#options.hidden;
    const further = this.#options.hidden
      ? null
      : alt
      ? `${this.#text}\n`
      : blocks
      ? continued(this.#text)
      : null;
    this.#tty.write("\n");
    if (further !== null) {
      this.#text = further;
      this.#tty.write(this.#options.continuation ?? "… ");
      return;
    }
    const text = blocks ? unblocked(this.#text) : this.#text;
    if (!this.#options.hidden && text.trim() !== "") this.#options.history?.add(this.#text);
    this.result = { kind: "line", text };
  }

  /** Keeps the beginning alone; lines that were ended already stay on the screen. */
  #cut(length: number): void {
    const start = this.#text.lastIndexOf("\n") + 1, end = Math.max(start, length);
    if (!this.#options.hidden) {
      const columns = displayWidth(shown(this.#text.slice(end)));
      this.#tty.write("\b \b".repeat(columns));
    }
    this.#text = this.#text.slice(0, end);
  }

  #echo(text: string): void {
    if (!this.#options.hidden) this.#tty.write(shown(text));
  }
}

function shown(text: string): string {
  return cleanForTerminal(text).replaceAll("\t", " ");
}
