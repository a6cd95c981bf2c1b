/**
 * How many columns of a terminal text takes, and cutting and wrapping by columns. Text is without escape sequences.
 *
 * Sources: UAX #11 (East Asian Width; ambiguous characters are narrow), UAX #29 (grapheme clusters), UTS #51 (emoji).
 *
 * @module
 */
import { eastAsianWidth } from "get-east-asian-width";

/** Columns between tab stops. */
const TAB = 8;

const ASCII = /^[\x20-\x7e]*$/;
/** Characters that join with others, or whose width is not that of one code point. */
const JOINS =
  /[\p{Cc}\p{M}\p{Cf}\u{1100}-\u{11ff}\u{a960}-\u{a97f}\u{d7b0}-\u{d7ff}\u{1f1e6}-\u{1f1ff}\u{1f3fb}-\u{1f3ff}]/u;
const ZERO = /^(?:\p{Mn}|\p{Me}|\p{Cf}|\p{Cc}|[\u{1160}-\u{11ff}\u{d7b0}-\u{d7ff}])$/u;
const PICTURE = /^(?:\p{Extended_Pictographic}|[0-9#*]\ufe0f?\u20e3)/u;
const FLAG = /^[\u{1f1e6}-\u{1f1ff}]{2}/u;
const WIDENED = /[\ufe0f\u200d\u20e3]|[\u{1f3fb}-\u{1f3ff}]/u;

let segmenter: Intl.Segmenter | undefined;

/** The characters as a reader counts them: a letter with its accents, a flag, a family of emoji are one each. */
export function graphemes(text: string): string[] {
  if (ASCII.test(text)) return text.split("");
  if (!JOINS.test(text)) return [...text];
  segmenter ??= new Intl.Segmenter("und", { granularity: "grapheme" });
  return Array.from(segmenter.segment(text), (part) => part.segment);
}

/**
 * Columns that one line of text takes; control characters and line breaks take none.
 *
 * @param start column in which it starts, from 0: tabs go to the next multiple of 8
 */
export function displayWidth(text: string, start: number = 0): number {
  if (ASCII.test(text)) return text.length;
  let column = start;
  if (!JOINS.test(text)) {
    for (const char of text) column += codeWidth(char.codePointAt(0)!);
  } else {
    for (const part of graphemes(text)) column += part === "\t" ? TAB - column % TAB : clusterWidth(part);
  }
  return column - start;
}

/** Width of a code point that stands alone: 1 or 2. */
function codeWidth(code: number): number {
  return code < 0x1100 ? 1 : eastAsianWidth(code);
}

/** Width of one grapheme. */
function clusterWidth(cluster: string): number {
  const first = cluster.codePointAt(0)!;
  if (first < 0x7f && cluster.length === 1) return first < 0x20 ? 0 : 1;
  if (FLAG.test(cluster)) return 2;
  if (PICTURE.test(cluster) && WIDENED.test(cluster)) return 2;
  let width = 0;
  for (const char of cluster) if (!ZERO.test(char)) width += codeWidth(char.codePointAt(0)!);
  return width;
}

/**
 * The longest beginning that fits into `columns`; no grapheme is cut in two.
 *
 * @param ellipsis put at the end of what was cut, within `columns`
 */
export function cutToWidth(text: string, columns: number, ellipsis: string = ""): string {
  if (ASCII.test(text) && text.length <= columns) return text;
  if (displayWidth(text) <= columns) return text;
  const room = Math.max(0, columns - displayWidth(ellipsis));
  let width = 0, out = "";
  for (const part of graphemes(text)) {
    const next = part === "\t" ? TAB - width % TAB : clusterWidth(part);
    if (width + next > room) break;
    width += next;
    out += part;
  }
  return displayWidth(ellipsis) <= columns ? out + ellipsis : out;
}

/** How {@link wrapText} indents. */
export interface WrapOptions {
  /** In front of every line that continues another one; counted. */
  readonly indent?: string;
}

/**
 * Breaks text into lines of at most `columns`: between words where it can, within a word (or between wide characters)
 * where it must. Blanks at the beginning of a line of the text stay, those at a break go. At least one line comes out.
 */
export function wrapText(text: string, columns: number, options: WrapOptions = {}): string[] {
  const out: string[] = [];
  for (const line of text.split("\n")) wrapLine(line, Math.max(1, columns), options.indent ?? "", out);
  return out;
}

function wrapLine(text: string, columns: number, indent: string, out: string[]): void {
  // An indent that leaves no room is none.
  const prefix = displayWidth(indent) < columns ? indent : "";
  let line = "", width = 0, empty = true;
  const next = () => {
    out.push(line.trimEnd());
    [line, width, empty] = [prefix, displayWidth(prefix), true];
  };
  for (const piece of pieces(text)) {
    if (/^[ \t]/.test(piece)) {
      const blanks = displayWidth(piece, width);
      if (width + blanks > columns) next();
      // Blanks at a break go.
      else if (!empty || out.length === 0 || line === "") [line, width] = [line + piece, width + blanks];
      continue;
    }
    const size = displayWidth(piece);
    if (width + size > columns && !empty) next();
    if (width + size <= columns) [line, width, empty] = [line + piece, width + size, false];
    else {
      for (const part of graphemes(piece)) {
        const each = clusterWidth(part);
        if (width + each > columns && !empty) next();
        [line, width, empty] = [line + part, width + each, false];
      }
    }
  }
  out.push(line.trimEnd());
}

/** Blanks, words, and wide characters one by one. */
function pieces(text: string): string[] {
  if (ASCII.test(text)) return text.match(/ +|[^ ]+/g) ?? [];
  const out: string[] = [];
  for (const run of text.match(/[ \t]+|[^ \t]+/g) ?? []) {
    if (ASCII.test(run) || /^[ \t]/.test(run)) {
      out.push(run);
      continue;
    }
    let word = "";
    for (const part of graphemes(run)) {
      const wide = clusterWidth(part) === 2;
      if (wide && word !== "" && !CLOSES.test(part)) {
        out.push(word);
        word = "";
      } else if (!wide && word !== "" && isWide(word) && !CLOSES.test(part)) {
        out.push(word);
        word = "";
      }
      word += part;
    }
    if (word !== "") out.push(word);
  }
  return out;
}

/** Punctuation that does not begin a line. */
const CLOSES = /^[、。，．！？）」』】〉》〕：；…ー,.!?)\]}:;]/u;

/** Whether a line may be broken after this. */
function isWide(text: string): boolean {
  return displayWidth(graphemes(text).at(-1) ?? "") === 2;
}

/** Whether a line may not begin with this (it stays with what is before it). */
export function closesLine(text: string): boolean {
  return CLOSES.test(text);
}
