/**
 * What a model thinks, as a dim block.
 *
 * @module
 */
import { TerminalCleaner } from "../../text/ansi.ts";
import { MARK, painter, WordWrap } from "../_markdown/wrap.ts";
import type { Style } from "../style.ts";

/** Wraps thinking as it streams, untrusted as it is; without colours `~` marks its lines. */
export class Thoughts {
  readonly #wrap: WordWrap;
  readonly #prefix: string;
  readonly #cleaner = new TerminalCleaner();
  #blanks = 0;
  #empty = true;

  /** @param columns of the terminal, asked anew for each piece */
  constructor(columns: () => number, style: Style) {
    this.#wrap = new WordWrap(columns, painter(style));
    this.#prefix = style.on ? "  " : "~ ";
  }

  /** Whether what was returned so far ends within a line. */
  get midLine(): boolean {
    return this.#wrap.midLine;
  }

  /** The next piece; returns what is to be written now. */
  push(piece: string): string {
    this.#add(this.#cleaner.push(piece));
    return this.#wrap.take();
  }

  /** The rest, to the end of its line. */
  end(): string {
    this.#add(this.#cleaner.end());
    this.#wrap.settle();
    if (this.#wrap.midLine) this.#wrap.end();
    [this.#blanks, this.#empty] = [0, true];
    return this.#wrap.take();
  }

  #add(text: string): void {
    const wrap = this.#wrap;
    text.split("\n").forEach((line, i) => {
      if (i > 0) {
        if (wrap.midLine) wrap.end();
        else if (!this.#empty) this.#blanks = 1;
      }
      if (line === "") return;
      if (!wrap.midLine) {
        if (this.#blanks > 0) wrap.end();
        [this.#blanks, this.#empty] = [0, false];
        wrap.begin(this.#prefix, this.#prefix, 2);
      }
      wrap.text(line, MARK.dim);
    });
  }
}
