/**
 * A text as rows of a terminal, and where in them the cursor is.
 *
 * @module
 */
import { cleanForTerminal } from "../../text/ansi.ts";
import { displayWidth, graphemes } from "../../text/width.ts";

/** What a text is laid out with. */
export interface LayoutInput {
  readonly text: string;
  readonly cursor: number;
  /** Styled; may have several lines. */
  readonly prompt: string;
  readonly continuation: string;
  /** Columns of the terminal. The last one stays free, so that no row wraps by itself. */
  readonly columns: number;
  /** Rows of the terminal: what is far away from the cursor is left out. */
  readonly rows: number;
}

/** One row. */
export interface Row {
  /** Safe for a terminal. */
  readonly text: string;
  readonly width: number;
}

/** Rows and the cursor among them. */
export interface Layout {
  readonly rows: readonly Row[];
  /** Row of the cursor. */
  readonly row: number;
  /** What stands before the cursor in its row: written again, it brings the cursor there whatever widths a terminal believes in. */
  readonly before: string;
}

const TAB = "    ";
/** A change has no effect on where graphemes begin that lie this far before it. */
const REACH = 64;
/** A prompt leaves at least this many columns, or stands in a row of its own. */
const LEAST = 8;

/** A row of a line. */
interface LineRow extends Row {
  /** Where it begins in its line. */
  readonly from: number;
}

interface WrappedLine {
  readonly line: string;
  readonly room: number;
  readonly lead: number;
  readonly rows: readonly LineRow[];
}

/** Lays out texts; lines that did not change are not measured again. */
export class LayoutMaker {
  #cache = new Map<string, WrappedLine>();
  #last: WrappedLine | null = null;

  /** Rows of a text. */
  layout({ text, cursor, prompt, continuation, columns, rows: height }: LayoutInput): Layout {
    const room = Math.max(4, columns - 1), rows: Row[] = [];
    const start = text.lastIndexOf("\n", cursor - 1) + 1;
    const window = linesAround(text, start, Math.max(10, height));
    const head = window.from === 0 ? prompt.split("\n") : [continuation], lead = head.pop()!;
    for (const line of head) rows.push({ text: line, width: styledWidth(line) });
    const used = new Map<string, WrappedLine>(), widths = new Map<string, number>();
    let row = 0, before = "", at = window.from;
    for (const [index, line] of window.lines.entries()) {
      let shown = index === 0 ? lead : continuation;
      let leadWidth = widths.get(shown) ?? styledWidth(shown);
      widths.set(shown, leadWidth);
      if (leadWidth > room - Math.min(LEAST, room - 1)) {
        if (index === 0) rows.push({ text: shown, width: leadWidth });
        shown = "";
        leadWidth = 0;
      }
      const wrapped = this.#wrap(line, room, leadWidth, used);
      const here = at === start ? cursor - start : -1;
      for (const [i, part] of wrapped.rows.entries()) {
        const lead = i === 0 ? shown : "", next = wrapped.rows[i + 1]?.from ?? Infinity;
        if (here >= part.from && here < next) {
          row = rows.length;
          before = lead + display(line.slice(part.from, here));
        }
        rows.push({ text: lead + part.text, width: part.width + (i === 0 ? leadWidth : 0) });
      }
      at += line.length + 1;
    }
    this.#cache = used;
    return { rows, row, before };
  }

  #wrap(line: string, room: number, lead: number, used: Map<string, WrappedLine>): WrappedLine {
    const cached = this.#cache.get(line);
    if (cached && cached.room === room && cached.lead === lead) {
      used.set(line, cached);
      return cached;
    }
    const last = this.#last;
    const kept = last && last.room === room && last.lead === lead ? unchanged(last, line) : [];
    const wrapped = { line, room, lead, rows: wrap(line, room, lead, kept) };
    this.#last = wrapped;
    used.set(line, wrapped);
    return wrapped;
  }
}

/** The lines around the one that begins at `start`, cut at places that do not change with every step of the cursor. */
function linesAround(text: string, start: number, height: number): { from: number; lines: string[] } {
  let from = start;
  let above = 0;
  for (let at = 0; (at = text.indexOf("\n", at)) >= 0 && at < start; at++) above++;
  let skip = Math.max(0, Math.floor(above / height) - 1) * height;
  if (skip === 0) from = 0;
  else for (from = 0; skip > 0; skip--) from = text.indexOf("\n", from) + 1;
  let end = start;
  for (let below = 0; below <= height; below++) {
    end = text.indexOf("\n", end);
    if (end < 0) break;
    end++;
  }
  return { from, lines: (end < 0 ? text.slice(from) : text.slice(from, end - 1)).split("\n") };
}

/** Rows of a line that begins as another one does, as far as they are the same. */
function unchanged({ line, rows }: WrappedLine, next: string): LineRow[] {
  const most = Math.min(line.length, next.length);
  let same = 0;
  while (same < most && line.charCodeAt(same) === next.charCodeAt(same)) same++;
  const kept: LineRow[] = [];
  for (let i = 0; i + 1 < rows.length && rows[i + 1]!.from <= same - REACH; i++) kept.push(rows[i]!);
  // Where the last one ends is where the next one begins: it is made again.
  kept.pop();
  return kept;
}

/** Rows of one line, after those that are known; the last one has room for the cursor behind it. */
function wrap(line: string, room: number, lead: number, kept: readonly LineRow[]): LineRow[] {
  const rows = [...kept], last = kept.at(-1);
  let from = last ? last.from + lengthOf(last, line) : 0;
  let width = last ? 0 : lead, text = "", at = from, own = 0;
  const push = () => {
    rows.push({ from, text, width: own });
    from = at;
    text = "";
    width = own = 0;
  };
  const rest = from === 0 ? line : line.slice(from);
  const plain = /^[\x20-\x7e]*$/.test(rest);
  for (const grapheme of plain ? rest : graphemes(rest)) {
    const shown = plain ? grapheme : display(grapheme), columns = plain ? 1 : displayWidth(shown);
    if (width + columns > room && (text !== "" || width > 0)) push();
    text += shown;
    width += columns;
    own += columns;
    at += grapheme.length;
  }
  rows.push({ from, text, width: own });
  if (width >= room) rows.push({ from: line.length, text: "", width: 0 });
  return rows;
}

/** Length of the part of the line that a row shows: its graphemes are counted again. */
function lengthOf({ from, text }: LineRow, line: string): number {
  let length = 0, shown = 0;
  for (const grapheme of graphemes(line.slice(from, from + text.length * 2 + REACH))) {
    if (shown >= text.length) break;
    shown += display(grapheme).length;
    length += grapheme.length;
  }
  return length;
}

/** Text of one line as it is shown. */
function display(text: string): string {
  return cleanForTerminal(text.replaceAll("\t", TAB), { line: true });
}

/** Columns of text with colours. */
export function styledWidth(text: string): number {
  // deno-lint-ignore no-control-regex
  return displayWidth(text.replace(/\x1b\[[\d;]*m/g, ""));
}
