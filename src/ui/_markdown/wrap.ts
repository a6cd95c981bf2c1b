/**
 * Text with marks (bold, code, ...) as lines of a terminal: words are wrapped as they come, and nothing that was written
 * is ever taken back.
 *
 * @module
 */
import { closesLine, displayWidth, graphemes } from "../../text/width.ts";
import type { Style } from "../style.ts";

/** Marks of a run of text; several may be set. */
export const MARK = {
  bold: 1,
  italic: 2,
  code: 4,
  strike: 8,
  heading: 16,
  link: 32,
  dim: 64,
} as const;

/** Some text, and its marks as bits of {@link MARK}. */
export type Run = readonly [text: string, marks: number];

/** Puts the escapes of its marks around text. */
export function painter(style: Style): (text: string, marks: number) => string {
  if (!style.on) return (text) => text;
  const steps: readonly (readonly [number, (text: string) => string])[] = [
    [MARK.code, style.cyan],
    [MARK.italic, style.italic],
    [MARK.strike, style.strike],
    [MARK.link, style.underline],
    [MARK.dim, style.dim],
    [MARK.bold | MARK.heading, style.bold],
  ];
  return (text, marks) => {
    for (const [mark, paint] of steps) if ((marks & mark) !== 0) text = paint(text);
    return text;
  };
}

/** A word that begins where this much room is left (at most half of the line) is written letter by letter. */
const ROOM = 16;

const ASCII = /^[\x20-\x7e]*$/;

/** Wraps words. Where the number of columns is no finite number above 0, lines are left to the terminal. */
export class WordWrap {
  readonly #columns: () => number;
  readonly #paint: (text: string, marks: number) => string;
  #out: string[] = [];
  /** Text of one kind that waits for its escapes. */
  #run = "";
  #runMarks = 0;
  #column = 0;
  #prefix = "";
  #indent = 0;
  #space = "";
  #spaceMarks = 0;
  /** A word has begun, and where it stands: written as it comes, or held until it is whole. */
  #word: "none" | "shown" | "held" = "none";
  #held: Run[] = [];
  #heldWidth = 0;
  #wide = false;

  /** @param columns of the terminal, asked anew for each piece */
  constructor(columns: () => number, paint: (text: string, marks: number) => string) {
    this.#columns = columns;
    this.#paint = paint;
  }

  /** Whether the cursor stands behind something on its line. */
  get midLine(): boolean {
    return this.#column > 0;
  }

  /**
   * Begins a line.
   *
   * @param first in front of it, with its escapes; @param rest in front of the lines that continue it
   * @param width columns of `first` and of `rest`
   */
  begin(first: string, rest: string, width: number): void {
    const limit = this.#columns();
    // On a narrow terminal deep indents leave no room for text.
    const fits = !(limit > 0) || width <= limit / 2;
    this.#prefix = fits ? rest : "";
    this.#indent = fits ? width : 0;
    this.#raw(first);
    this.#column += width;
  }

  /** Adds text without line breaks. */
  text(run: string, marks: number): void {
    const limit = this.#columns();
    if (!(limit > 0) || !Number.isFinite(limit)) {
      this.#add(run, marks);
      this.#column += run.length;
      return;
    }
    for (let at = 0; at < run.length;) {
      const char = run.charCodeAt(at);
      let end = at + 1;
      if (char === 0x20 || char === 0x09) {
        while (end < run.length && isBlank(run.charCodeAt(end))) end++;
        this.#commit();
        this.#space += run.slice(at, end).replaceAll("\t", "    ");
        this.#spaceMarks = marks;
      } else {
        while (end < run.length && !isBlank(run.charCodeAt(end))) end++;
        this.#letters(run.slice(at, end), marks, limit);
      }
      at = end;
    }
  }

  /** Ends the line. */
  end(): void {
    this.#commit();
    this.#space = "";
    this.#raw("\n");
    this.#column = 0;
    this.#wide = false;
  }

  /** Adds what needs no wrapping, escapes included; it is `width` columns wide. */
  raw(text: string, width: number): void {
    this.#commit();
    this.#raw(text);
    this.#column += width;
  }

  /** What came together since the last time. A word at the end of a line may be held back. */
  take(): string {
    this.#flush();
    const text = this.#out.join("");
    this.#out = [];
    return text;
  }

  /** Writes the word that is held back. */
  settle(): void {
    this.#commit();
  }

  #letters(text: string, marks: number, limit: number): void {
    if (ASCII.test(text)) {
      if (this.#wide && !closesLine(text)) this.#commit();
      this.#wide = false;
      this.#piece(text, text.length, marks, limit);
      return;
    }
    let piece = "", size = 0;
    const out = () => {
      if (piece !== "") this.#piece(piece, size, marks, limit);
      [piece, size] = ["", 0];
    };
    for (const part of graphemes(text)) {
      const width = displayWidth(part), wide = width === 2;
      // A line may be broken before and after a wide character.
      if (width > 0 && (wide || this.#wide) && !closesLine(part)) {
        out();
        this.#commit();
      }
      if (width > 0) this.#wide = wide;
      piece += part;
      size += width;
    }
    out();
  }

  #piece(text: string, width: number, marks: number, limit: number): void {
    if (this.#word === "none") {
      const blanks = this.#space.length, room = limit - this.#column - blanks;
      const fresh = this.#column <= this.#indent;
      if (!fresh && width > room) this.#break();
      else if (!fresh && room < Math.min(ROOM, limit / 2)) {
        this.#word = "held";
        this.#held.push([text, marks]);
        this.#heldWidth = width;
        return;
      } else this.#blanks();
      this.#word = "shown";
      this.#show(text, width, marks, limit);
    } else if (this.#word === "shown") this.#show(text, width, marks, limit);
    else {
      this.#held.push([text, marks]);
      this.#heldWidth += width;
      if (this.#heldWidth <= limit - this.#column - this.#space.length) return;
      this.#break();
      this.#word = "shown";
      this.#release(limit);
    }
  }

  /** A word is whole. */
  #commit(): void {
    if (this.#word === "held") {
      this.#blanks();
      this.#release(Infinity);
    }
    this.#word = "none";
  }

  #release(limit: number): void {
    const held = this.#held, width = this.#heldWidth;
    this.#held = [];
    this.#heldWidth = 0;
    for (const [text, marks] of held) this.#add(text, marks);
    this.#move(width, limit);
  }

  #show(text: string, width: number, marks: number, limit: number): void {
    this.#add(text, marks);
    this.#move(width, limit);
  }

  /** The terminal itself breaks what is longer than a line, so that it can be copied whole. */
  #move(width: number, limit: number): void {
    this.#column += width;
    if (this.#column > limit) this.#column = (this.#column - 1) % limit + 1;
  }

  #blanks(): void {
    if (this.#space === "") return;
    this.#add(this.#space, this.#spaceMarks);
    this.#column += this.#space.length;
    this.#space = "";
  }

  #break(): void {
    this.#space = "";
    this.#raw(`\n${this.#prefix}`);
    this.#column = this.#indent;
  }

  #add(text: string, marks: number): void {
    if (marks !== this.#runMarks) this.#flush();
    this.#runMarks = marks;
    this.#run += text;
  }

  #raw(text: string): void {
    this.#flush();
    if (text !== "") this.#out.push(text);
  }

  #flush(): void {
    if (this.#run === "") return;
    this.#out.push(this.#runMarks === 0 ? this.#run : this.#paint(this.#run, this.#runMarks));
    this.#run = "";
  }
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}
