/**
 * Draws rows at the cursor of a terminal and keeps what stands above them: only what changed is written.
 *
 * @module
 */
import type { Tty } from "../tty.ts";
import { type Layout, type Row, styledWidth } from "./layout.ts";

/** Whatever a terminal believes a character's width to be: a row stays one row. */
const NO_WRAP = "\x1b[?7l";
const WRAP = "\x1b[?7h";

/** The rows of one editor. */
export class Painter {
  readonly #tty: Pick<Tty, "columns" | "rows" | "write">;
  #drawn: readonly Row[] = [];
  /** Drawn row in which the cursor is, and columns before it. */
  #row = 0;
  #column = 0;
  /** First row of the layout that is drawn. */
  #top = 0;

  constructor(tty: Pick<Tty, "columns" | "rows" | "write">) {
    this.#tty = tty;
  }

  /** Shows a layout, as much of it around the cursor as the terminal has rows. */
  draw(layout: Layout): void {
    const height = Math.max(1, this.#tty.rows), { row, before } = layout;
    const most = Math.max(0, layout.rows.length - height);
    this.#top = Math.min(Math.max(Math.min(this.#top, row), row - height + 1), most);
    const rows = layout.rows.slice(this.#top, this.#top + height);
    let out = "", at = this.#row;
    let first = 0;
    while (
      first < rows.length && first < this.#drawn.length && rows[first]!.text === this.#drawn[first]!.text
    ) first++;
    if (first < rows.length || rows.length < this.#drawn.length) {
      first = Math.min(first, rows.length - 1);
      const from = Math.min(first, Math.max(0, this.#drawn.length - 1));
      out += move(from - at) + NO_WRAP;
      at = from;
      if (first > from) {
        out += "\r\n";
        at = first;
      }
      for (let i = first; i < rows.length; i++) {
        const last = i === rows.length - 1;
        out += `\r${rows[i]!.text}\x1b[${last && this.#drawn.length > rows.length ? "J" : "K"}`;
        at = i;
        if (!last) out += "\r\n";
      }
      out += WRAP;
    }
    const cursor = row - this.#top;
    out += `${move(cursor - at)}\r${NO_WRAP}${before}${WRAP}`;
    this.#drawn = rows;
    this.#row = cursor;
    this.#column = styledWidth(before);
    this.#tty.write(out);
  }

  /** Takes the rows away; the cursor is where they began. */
  erase(): void {
    this.#tty.write(`${move(-this.#row)}\r\x1b[J`);
    this.reset();
  }

  /** As {@link erase}, after the terminal has broken rows that became too long for it. */
  eraseResized(): void {
    const columns = Math.max(1, this.#tty.columns);
    let up = Math.floor(this.#column / columns);
    for (const { width } of this.#drawn.slice(0, this.#row)) up += Math.max(1, Math.ceil(width / columns));
    this.#tty.write(`${move(-Math.min(up, Math.max(0, this.#tty.rows - 1)))}\r\x1b[J`);
    this.reset();
  }

  /** Leaves the rows where they are and goes on below them. */
  finish(mark: string = ""): void {
    const last = this.#drawn.length - 1;
    const end = this.#drawn[last]?.text ?? "";
    this.#tty.write(`${move(last - this.#row)}\r${NO_WRAP}${end}${mark}${WRAP}\r\n`);
    this.reset();
  }

  /** Nothing is drawn. */
  reset(): void {
    this.#drawn = [];
    this.#row = this.#column = this.#top = 0;
  }
}

function move(rows: number): string {
  return rows === 0 ? "" : rows < 0 ? `\x1b[${-rows}A` : `\x1b[${rows}B`;
}
