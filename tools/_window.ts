/**
 * A window of numbered lines of a text that arrives in pieces and may be too large to hold.
 *
 * @module
 */
import { countChars } from "../src/text/lines.ts";

/** A line of the window: its beginning, and how long it is as a whole. */
export interface WindowLine {
  /** At most as many characters as the window holds in all. */
  readonly text: string;
  /** Length of the whole line, in UTF-16 units. */
  readonly length: number;
}

/** Counts a text's lines and characters and keeps those lines that are asked for, within bounds. */
export class LineWindow {
  /** Code points so far. */
  chars = 0;
  /** The kept lines, from the first that is asked for. */
  readonly kept: WindowLine[] = [];
  readonly #from: number;
  readonly #to: number;
  readonly #room: number;
  #held = 0;
  #ended = 0;
  #line = "";
  #length = 0;

  /**
   * @param from first line asked for, 1-based; @param count how many; @param room most characters that are kept (the
   * line that exceeds it is kept in part, and none after it)
   */
  constructor(from: number, count: number, room: number) {
    this.#from = from;
    this.#to = from + count - 1;
    this.#room = room;
  }

  /** Lines so far. */
  get lines(): number {
    return this.#ended + (this.#length > 0 ? 1 : 0);
  }

  /** Takes the next piece of the text. */
  push(text: string): void {
    this.chars += countChars(text);
    for (let at = 0; at < text.length;) {
      const found = text.indexOf("\n", at), end = found === -1 ? text.length : found;
      this.#take(text, at, end);
      if (found === -1) break;
      this.#endLine();
      at = end + 1;
    }
  }

  /** The text is over: a last line without its `\n` is complete. */
  end(): void {
    if (this.#length > 0) this.#endLine();
  }

  #take(text: string, from: number, to: number): void {
    this.#length += to - from;
    if (!this.#wants()) return;
    const left = this.#room - this.#held - this.#line.length + 1;
    if (left > 0) this.#line += text.slice(from, Math.min(to, from + left));
  }

  #wants(): boolean {
    const number = this.#ended + 1;
    return number >= this.#from && number <= this.#to && this.#held <= this.#room;
  }

  #endLine(): void {
    if (this.#wants()) {
      let text = this.#line, length = this.#length;
      if (text.length === length && text.endsWith("\r")) text = text.slice(0, -1), length--;
      this.kept.push({ text, length });
      this.#held += text.length + 1;
    }
    this.#ended++;
    this.#line = "";
    this.#length = 0;
  }
}
