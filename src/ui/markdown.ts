/**
 * Markdown as it streams in: words appear as they come, in colours where there are some; without colours the text stays
 * as it was written, with lines wrapped between words and the columns of tables in line.
 *
 * @module
 */
import { TerminalCleaner } from "../text/ansi.ts";
import { displayWidth } from "../text/width.ts";
import { readStart, type Start, unquote } from "./_markdown/blocks.ts";
import { InlineStream } from "./_markdown/inline.ts";
import { formatTable, isDelimiter } from "./_markdown/table.ts";
import { MARK, painter, WordWrap } from "./_markdown/wrap.ts";
import type { CodePainter, Highlighter } from "./highlight.ts";
import type { Style } from "./style.ts";

/** How Markdown is shown. */
export interface MarkdownOptions {
  /** Columns of the terminal, asked anew for every line; 0 or infinite: lines are not wrapped. */
  readonly columns: () => number;
  readonly style: Style;
  /** Colours of code; none: code is shown in one colour. */
  readonly highlight?: Highlighter;
}

/** A table longer than this is shown in parts. */
const TABLE_ROWS = 200;
/** Characters of a line of a table or of code that are held until the line ends. */
const LONG_LINE = 20_000;

interface Fence {
  readonly mark: string;
  readonly quotes: number;
  readonly indent: number;
  readonly prefix: string;
  readonly list: boolean;
  painter: CodePainter | null;
}

/**
 * Renders one answer after the other. The input is untrusted: control characters come out visible, and all escapes in
 * the output are this program's own.
 */
export class MarkdownStream {
  readonly #options: MarkdownOptions;
  readonly #cleaner = new TerminalCleaner();
  readonly #wrap: WordWrap;
  readonly #paint: (text: string, marks: number) => string;
  /** Beginning of a line that is not understood yet, or a line that is held. */
  #start = "";
  #inline: InlineStream | null = null;
  #line: "start" | "text" | "plain" | "hold" = "start";
  #fence: Fence | null = null;
  #table: string[] = [];
  #tablePrefix: Start | null = null;
  /** Blank lines that were not written yet. */
  #blanks = 0;
  #empty = true;
  #list = false;
  #indented = false;
  #waiting: Promise<void> | null = null;
  /** Text that waits for the colours of code. */
  #pending = "";
  /** Nothing is waited for any more. */
  #ending = false;

  constructor(options: MarkdownOptions) {
    this.#options = options;
    this.#paint = painter(options.style);
    this.#wrap = new WordWrap(options.columns, this.#paint);
  }

  /** Whether what was returned so far ends within a line. */
  get midLine(): boolean {
    return this.#wrap.midLine;
  }

  /** Something is held back that the next piece or the end brings. */
  get holding(): boolean {
    return this.#start !== "" || this.#table.length > 0 || this.#pending !== "";
  }

  /**
   * Set while colours for code are being loaded: what is pushed is held until it is resolved, then the next `push`
   * (which may be empty) brings it.
   */
  get waiting(): Promise<void> | null {
    return this.#waiting;
  }

  /** The next piece of the answer, cut anywhere; returns what is to be written now. */
  push(piece: string): string {
    const text = this.#pending + this.#cleaner.push(piece);
    this.#pending = "";
    this.#feed(text);
    return this.#wrap.take();
  }

  /** The answer is over; returns the rest of it, to the end of its last line. Then a new answer may begin. */
  end(): string {
    this.#waiting = null;
    this.#ending = true;
    this.#feed(this.#pending + this.#cleaner.end());
    this.#pending = "";
    if (this.#start !== "" || this.#line !== "start") this.#endLine(true);
    this.#endTable();
    this.#wrap.settle();
    if (this.#wrap.midLine) this.#wrap.end();
    const rest = this.#wrap.take();
    this.#fence = null;
    this.#blanks = 0;
    this.#ending = false;
    [this.#empty, this.#list, this.#indented] = [true, false, false];
    return rest;
  }

  #feed(text: string): void {
    for (let at = 0; at < text.length;) {
      if (this.#waiting) {
        this.#pending = text.slice(at);
        return;
      }
      const end = text.indexOf("\n", at);
      if (end === -1) return this.#piece(text.slice(at));
      if (end > at) this.#piece(text.slice(at, end));
      this.#endLine(false);
      at = end + 1;
    }
  }

  /** A part of a line. */
  #piece(text: string): void {
    if (this.#line === "text") return this.#inline ? this.#inline.push(text) : this.#wrap.text(text, 0);
    if (this.#line === "plain") return this.#code(text);
    this.#start += text;
    if (this.#fence) this.#fencePiece(this.#fence);
    else if (this.#line === "start") this.#decide(false);
    if (this.#line === "hold" && this.#start.length > LONG_LINE) this.#giveUp();
  }

  /** @param last no line break follows */
  #endLine(last: boolean): void {
    if (this.#fence && this.#line !== "text") return this.#fenceLine(this.#fence, last);
    if (this.#line === "start") this.#decide(true);
    switch (this.#line as string) {
      case "text":
        this.#inline?.end();
        this.#finish(last);
        break;
      case "plain":
        this.#finish(last);
        break;
      case "hold":
        this.#table.push(this.#start);
        // Something that only looks like a table ends where its second line is no delimiter.
        if (this.#table.length === 2 && !isDelimiter(this.#tableText(1))) this.#endTable();
        else if (this.#table.length >= TABLE_ROWS) this.#endTable();
        break;
    }
    this.#start = "";
    this.#inline = null;
    this.#line = "start";
  }

  #finish(last: boolean): void {
    if (!last) this.#wrap.end();
  }

  /** Finds out what the line is. */
  #decide(whole: boolean): void {
    const start = readStart(this.#start, whole, this.#list || this.#inTable());
    if (start === null) return;
    const inTable = start.leaf === "table" && this.#tablePrefix?.quotes === start.quotes;
    if (this.#table.length > 0 && !inTable) this.#endTable();
    if (start.leaf === "blank") return this.#blank(start);
    const rest = this.#start.slice(start.at);
    if (start.leaf === "indented" && !(this.#indented || this.#blanks > 0 || this.#empty)) {
      return this.#open({ ...start, leaf: "text" }, rest);
    }
    this.#indented = start.leaf === "indented";
    if (start.bullet !== "") this.#list = true;
    else if (start.indent === 0 && start.leaf !== "fence") this.#list = false;
    switch (start.leaf) {
      case "table":
        this.#tablePrefix ??= start;
        this.#line = "hold";
        return;
      case "fence":
        return this.#openFence(start);
      case "rule":
        return this.#rule(start);
      default:
        return this.#open(start, rest);
    }
  }

  #inTable(): boolean {
    return this.#table.length > 0;
  }

  #blank(start: Start): void {
    this.#start = "";
    if (start.quotes > 0) {
      this.#prefix(start);
      this.#wrap.end();
    } else if (!this.#empty) this.#blanks++;
  }

  /** Blank lines before something are written when it comes: an answer ends without. With colours one is enough. */
  #gap(): void {
    const count = this.#options.style.on ? Math.min(1, this.#blanks) : this.#blanks;
    for (let i = 0; i < count; i++) this.#wrap.end();
    this.#blanks = 0;
    this.#empty = false;
  }

  /** Begins a line with its quotes, indent and bullet. */
  #prefix(start: Start): void {
    this.#gap();
    const { style } = this.#options;
    const quote = style.on ? style.dim("│ ").repeat(start.quotes) : "> ".repeat(start.quotes);
    const indent = " ".repeat(start.indent);
    const symbol = /^[-*+]$/.test(start.bullet) && style.on ? "•" : start.bullet;
    const bullet = symbol === "" ? "" : `${style.on ? style.cyan(symbol) : symbol} `;
    const under = " ".repeat(symbol === "" ? 0 : symbol.length + 1);
    this.#wrap.begin(
      `${quote}${indent}${bullet}`,
      `${quote}${indent}${under}`,
      2 * start.quotes + start.indent + under.length,
    );
  }

  #open(start: Start, rest: string): void {
    this.#prefix(start);
    const { style } = this.#options, code = start.leaf === "indented";
    this.#start = "";
    this.#line = code ? "plain" : "text";
    if (code) return this.#code(rest);
    if (start.leaf === "heading" && (!style.on || start.level > 2)) {
      this.#wrap.text(`${"#".repeat(start.level)} `, MARK.heading);
    }
    if (!style.on) return this.#wrap.text(rest, 0);
    const base = start.leaf === "heading"
      ? MARK.heading | (start.level === 1 ? MARK.link : 0)
      : start.quotes > 0
      ? MARK.italic
      : 0;
    this.#inline = new InlineStream((text, marks) => this.#wrap.text(text, marks), base);
    this.#inline.push(rest);
  }

  #rule(start: Start): void {
    const { style } = this.#options, columns = this.#options.columns();
    this.#prefix(start);
    const width = Number.isFinite(columns) && columns > 0 ? Math.min(columns, 60) : 60;
    const line = style.on ? style.dim("─".repeat(Math.max(3, width - 2 * start.quotes))) : this.#start.trim();
    this.#wrap.raw(line, line.length);
    this.#start = "";
    this.#line = "plain";
  }

  #code(text: string): void {
    this.#wrap.raw(this.#paint(text, MARK.code), displayWidth(text));
  }

  // Tables

  #tableText(index: number): string {
    return unquote(this.#table[index]!, this.#tablePrefix?.quotes ?? 0).rest;
  }

  /** Shows the table that was held, or the lines as text where it is none. */
  #endTable(): void {
    const lines = this.#table.map((_, i) => this.#tableText(i)), start = this.#tablePrefix;
    const raw = this.#table;
    [this.#table, this.#tablePrefix] = [[], null];
    if (start === null || raw.length === 0) return;
    if (lines.length >= 2 && isDelimiter(lines[1]!)) {
      const columns = this.#options.columns(), room = columns - 2 * start.quotes - start.indent;
      for (
        const line of formatTable(lines, columns > 0 ? Math.max(1, room) : Infinity, this.#options.style)
      ) {
        this.#prefix(start);
        this.#wrap.raw(line, 1);
        this.#wrap.end();
      }
      return;
    }
    const kept = this.#start;
    for (const line of lines) {
      this.#open({ ...start, leaf: "text" }, line.trimStart());
      this.#inline?.end();
      this.#wrap.end();
    }
    this.#inline = null;
    this.#line = "start";
    this.#start = kept;
  }

  /** A line that is too long to be held is text. */
  #giveUp(): void {
    const text = this.#start, start = this.#tablePrefix;
    this.#start = "";
    if (this.#table.length === 0) this.#tablePrefix = null;
    this.#endTable();
    if (this.#fence) {
      this.#line = "plain";
      return this.#code(text);
    }
    this.#open({ ...start!, leaf: "text" }, text);
  }

  // Code

  #openFence(start: Start): void {
    const { mark, info } = start.fence!, { style, highlight } = this.#options;
    this.#prefix(start);
    this.#wrap.raw(this.#paint(`${mark}${info}`, MARK.dim), displayWidth(`${mark}${info}`));
    this.#start = "";
    // The rest of its own line is none of the code.
    this.#line = "text";
    const under = start.indent + (start.bullet === "" ? 0 : start.bullet.length + 1);
    const quote = style.on ? style.dim("│ ") : "> ";
    const fence: Fence = {
      mark,
      quotes: start.quotes,
      indent: under,
      prefix: quote.repeat(start.quotes) + " ".repeat(under),
      list: start.bullet !== "",
      painter: null,
    };
    this.#fence = fence;
    const language = /^[^\s{,:]*/.exec(info)![0];
    const found = style.on && language !== "" ? highlight?.open(language) ?? null : null;
    if (found === null) return;
    if (found instanceof Promise && this.#ending) return;
    if (!(found instanceof Promise)) {
      fence.painter = found;
      return;
    }
    const waiting = found.then((code) => void (fence.painter = code), () => {}).finally(() => {
      if (this.#waiting === waiting) this.#waiting = null;
    });
    this.#waiting = waiting;
  }

  /** A part of a line of code: written at once, unless it may be the closing fence or is to be coloured as a whole. */
  #fencePiece(fence: Fence): void {
    if (fence.painter || /^[\s>]*[`~]*\s*$/.test(this.#start)) {
      this.#line = "hold";
      return;
    }
    const { found, rest } = unquote(this.#start, fence.quotes);
    if (found < fence.quotes) return void (this.#line = "hold");
    this.#codeStart(fence);
    this.#start = "";
    this.#line = "plain";
    this.#code(dedent(rest, fence.indent));
  }

  #codeStart(fence: Fence): void {
    this.#gap();
    this.#wrap.begin(fence.prefix, "", 2 * fence.quotes + fence.indent);
  }

  #fenceLine(fence: Fence, last: boolean): void {
    const line = this.#start, held = this.#line !== "plain";
    this.#start = "";
    this.#line = "start";
    if (!held) return this.#finish(last);
    const { found, rest } = unquote(line, fence.quotes);
    if (found < fence.quotes) {
      // The quote ended, and its code with it.
      this.#fence = null;
      this.#start = line;
      return this.#endLine(last);
    }
    const text = dedent(rest, fence.indent), mark = text.trim();
    if (last && line === "") return;
    this.#codeStart(fence);
    if (mark.length >= fence.mark.length && mark === fence.mark[0]!.repeat(mark.length)) {
      this.#wrap.raw(this.#paint(mark, MARK.dim), mark.length);
      this.#fence = null;
      if (fence.list) this.#list = true;
    } else if (fence.painter) this.#wrap.raw(fence.painter.line(text), displayWidth(text));
    else this.#code(text);
    this.#finish(last);
  }
}

/** Takes the indent of a fence off a line of its code. */
function dedent(line: string, indent: number): string {
  let at = 0;
  while (at < indent && line[at] === " ") at++;
  return line.slice(at);
}
