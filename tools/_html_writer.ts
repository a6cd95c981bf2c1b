/**
 * Writes Markdown while a document streams by: blocks with their prefixes, and the inline text of the block that is being
 * written. Work per character is constant, however deep a document nests.
 *
 * @module
 */

/** Where in the page a block stands. */
export interface Region {
  /** In the main part. */
  readonly main: boolean;
  /** In an article. */
  readonly article: boolean;
  /** In a page's head, foot or margin. */
  readonly soft: boolean;
}

/** A finished block: lines without the blank one before it. */
export interface Block {
  readonly text: string;
  /** Follows the block before without a blank line (items of a list). */
  readonly tight: boolean;
  readonly region: Region;
}

/** Deepest nesting of quotes and lists that is shown. */
const DEEPEST = 10;
/** White space that is not a single blank. */
const UNEVEN = /[^\S ]| {2}/;
/** Most inline marks that are open at a time. */
const MOST_MARKS = 8;

interface Indent {
  /** Stands before every line. */
  readonly rest: string;
  /** Stands before the first line instead, once. */
  first: string | null;
  /** Set for a list. */
  readonly list: { next: number | null; begun: boolean } | null;
}

interface Mark {
  readonly tag: string;
  readonly open: string;
  readonly close: string;
  /** What is written inside is left out where this says so. */
  readonly drop: ((inner: string) => boolean) | null;
  /** Index of the first piece inside. */
  at: number;
}

/** Collects blocks. */
export class MarkdownWriter {
  readonly blocks: Block[] = [];
  /** The text of the block that is being written, in pieces. */
  #pieces: string[] = [];
  /** What was written ends with white space, or nothing was. */
  #blank = true;
  #marks: Mark[] = [];
  #indents: Indent[] = [];
  #tight = false;
  readonly #region: () => Region;

  /** @param region where the block stands that is finished now */
  constructor(region: () => Region) {
    this.#region = region;
  }

  /** Appends text, white space collapsed. */
  text(text: string): void {
    let plain = UNEVEN.test(text) ? text.replace(/\s+/g, " ") : text;
    if (this.#blank && plain.charCodeAt(0) === 32) plain = plain.slice(1);
    this.raw(plain);
  }

  /** Appends text as it is. */
  raw(text: string): void {
    if (text === "") return;
    this.#pieces.push(text);
    const last = text.charCodeAt(text.length - 1);
    this.#blank = last === 32 || last === 10;
  }

  /** Begins an inline mark; `open` and `close` go around the text that follows. @param drop says which text is left out */
  mark(tag: string, open: string, close: string = open, drop: Mark["drop"] = null): void {
    if (this.#marks.length >= MOST_MARKS || this.#marks.some((mark) => mark.tag === tag)) return;
    this.#marks.push({ tag, open, close, drop, at: this.#pieces.length });
  }

  /** Ends an inline mark. Marks that were begun inside go on after it. */
  unmark(tag: string): void {
    const index = this.#marks.findIndex((mark) => mark.tag === tag);
    if (index < 0) return;
    const [ended, ...inside] = this.#marks.splice(index) as [Mark, ...Mark[]];
    for (const mark of inside.toReversed()) this.#wrap(mark);
    this.#wrap(ended);
    for (const mark of inside) this.#marks.push({ ...mark, at: this.#pieces.length });
  }

  /** Puts a mark around what was written since. */
  #wrap({ open, close, drop, at }: Mark): void {
    if (at >= this.#pieces.length) return;
    const written = this.#pieces.splice(at).join(""), inner = written.trim();
    if (drop?.(inner)) return;
    if (inner === "") this.#pieces.push(written);
    else {
      const before = written.slice(0, written.length - written.trimStart().length);
      const after = written.slice(written.trimEnd().length);
      this.#pieces.push(before, `${open}${inner}${close}`, after);
    }
  }

  /** Finishes the block that is being written. @param prefix before its text (`## `); makes it one line */
  flush(prefix = ""): void {
    if (this.#pieces.length === 0) return;
    for (const mark of this.#marks.toReversed()) this.#wrap(mark);
    let text = this.#pieces.length === 1 ? this.#pieces[0]! : this.#pieces.join("");
    if (text.includes("\n")) text = text.split("\n").map((line) => line.trim()).join("\n");
    text = text.trim();
    this.#pieces = [];
    this.#blank = true;
    for (const mark of this.#marks) mark.at = 0;
    if (text === "") return;
    if (prefix !== "") text = prefix + text.replace(/\s*\n\s*/g, " ");
    this.#push(text);
  }

  /** Adds a block whose lines stay as they are (code). */
  block(text: string): void {
    this.flush();
    if (text !== "") this.#push(text);
  }

  #push(text: string): void {
    if (this.#indents.length === 0) {
      this.blocks.push({ text, tight: this.#tight, region: this.#region() });
      this.#tight = false;
      return;
    }
    let first = "", rest = "";
    for (const indent of this.#indents) rest += indent.rest;
    for (const indent of this.#indents) {
      first += indent.first ?? indent.rest;
      indent.first = null;
    }
    const lines = text.split("\n").map((line, i) => `${i === 0 ? first : rest}${line}`.trimEnd());
    this.blocks.push({ text: lines.join("\n"), tight: this.#tight, region: this.#region() });
    this.#tight = false;
  }

  /** Begins a quote. */
  quote(): void {
    this.flush();
    this.#indents.push({ rest: "> ", first: null, list: null });
  }

  /** Begins a list. @param start number of its first item; null: bullets */
  list(start: number | null): void {
    this.flush();
    this.#indents.push({ rest: "", first: null, list: { next: start, begun: false } });
  }

  /** Begins an item. @param value its number, where it has one of its own */
  item(value: number | null = null): void {
    this.flush();
    const list = this.#indents.at(-1)?.list;
    let marker = "- ";
    if (list) {
      if (list.next !== null) {
        const number = value ?? list.next;
        list.next = number + 1;
        marker = `${number}. `;
      }
      // Items follow each other without a blank line, and a list in an item follows its text.
      this.#tight = list.begun || this.#indents.some((indent) => /^ +$/.test(indent.rest));
      list.begun = true;
    }
    this.#indents.push({ rest: " ".repeat(marker.length), first: marker, list: null });
  }

  /** Ends the innermost quote, list or item. */
  end(): void {
    this.flush();
    if (this.#indents.pop()?.list) this.#tight = false;
  }

  /** Whether a further level would be shown. */
  get room(): boolean {
    return this.#indents.length < 2 * DEEPEST;
  }
}

/** Blocks as one text. */
export function joinBlocks(blocks: readonly Block[]): string {
  let text = "";
  for (const [i, block] of blocks.entries()) {
    text += `${i === 0 ? "" : block.tight ? "\n" : "\n\n"}${block.text}`;
  }
  return text;
}
