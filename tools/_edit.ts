/**
 * Finding and replacing a text in the bytes of a file: only the bytes that match change.
 *
 * @module
 */
import { encodeText, type Encoding, encodingOf } from "../src/text/decode.ts";

/** A match: bytes from `start` to before `end`. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

const LF = "\n", CRLF = "\r\n";

/** A text to look for in a file's bytes. */
export class Needle {
  readonly #pieces: readonly Uint8Array[];
  readonly #newline: readonly [lf: Uint8Array, cr: Uint8Array];
  /** Bytes of one unit; matches begin at multiples of it. */
  readonly #unit: number;

  /**
   * @param old the text; where it has no `\r`, its `\n` stands for `\r\n` too
   * @param encoding of the file
   */
  constructor(old: string, encoding: Encoding) {
    const texts = old.includes("\r") ? [old] : old.split(LF);
    this.#pieces = texts.map((text) => encodeText(text, encoding));
    this.#newline = [encodeText(LF, encoding), encodeText("\r", encoding)];
    this.#unit = encoding === "utf-8" ? 1 : 2;
  }

  /** All matches, from the beginning on, none over another. */
  findAll(bytes: Uint8Array): Range[] {
    const ranges: Range[] = [];
    for (let at = 0; at <= bytes.length;) {
      const range = this.#next(bytes, at);
      if (range === null) break;
      ranges.push(range);
      at = range.end;
    }
    return ranges;
  }

  #next(bytes: Uint8Array, from: number): Range | null {
    const first = this.#pieces[0]!, begins = first.length > 0 ? first : this.#newline[0];
    for (let at = from; (at = indexOf(bytes, begins, at)) !== -1; at++) {
      if (at % this.#unit !== 0) continue;
      let start = at;
      // A match that begins with a line break begins with the whole of it.
      if (first.length === 0 && at - this.#unit >= from && holds(bytes, this.#newline[1], at - this.#unit)) {
        start -= this.#unit;
      }
      const end = this.#match(bytes, start);
      if (end !== -1) return { start, end };
    }
    return null;
  }

  /** The end of a match that begins here, or -1. */
  #match(bytes: Uint8Array, at: number): number {
    for (const [i, piece] of this.#pieces.entries()) {
      if (i > 0) {
        if (holds(bytes, this.#newline[1], at)) at += this.#unit;
        if (!holds(bytes, this.#newline[0], at)) return -1;
        at += this.#unit;
      }
      if (!holds(bytes, piece, at)) return -1;
      at += piece.length;
    }
    return at;
  }
}

function indexOf(bytes: Uint8Array, piece: Uint8Array, from: number): number {
  for (let at = from; (at = bytes.indexOf(piece[0]!, at)) !== -1; at++) {
    if (holds(bytes, piece, at)) return at;
  }
  return -1;
}

function holds(bytes: Uint8Array, piece: Uint8Array, at: number): boolean {
  if (at + piece.length > bytes.length) return false;
  for (let i = 0; i < piece.length; i++) if (bytes[at + i] !== piece[i]) return false;
  return true;
}

/**
 * The bytes with each range replaced. Line breaks of the new text become those of the place where it goes, unless
 * `old` was written with `\r`: then it is taken as it is.
 */
export function replaceRanges(
  bytes: Uint8Array,
  ranges: readonly Range[],
  old: string,
  replacement: string,
): Uint8Array {
  const encoding = encodingOf(bytes), parts: Uint8Array[] = [];
  const literal = old.includes("\r") || !replacement.includes(LF);
  const plain = encodeText(replacement, encoding);
  const crlf = literal ? plain : encodeText(replacement.replace(/\r?\n/g, CRLF), encoding);
  let at = 0;
  for (const range of ranges) {
    const windows = !literal && lineEndAt(bytes, range, encoding) === CRLF;
    parts.push(bytes.subarray(at, range.start), windows ? crlf : plain);
    at = range.end;
  }
  parts.push(bytes.subarray(at));
  const result = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    result.set(part, offset);
    offset += part.length;
  }
  return result;
}

/** The line end that rules at a match: its own first one, else that of its line, else the first of the file. */
function lineEndAt(bytes: Uint8Array, { start }: Range, encoding: Encoding): string {
  const unit = encoding === "utf-8" ? 1 : 2;
  let at = lineFeed(bytes, start, encoding);
  if (at === -1) at = lineFeed(bytes, 0, encoding);
  return at >= unit && holds(bytes, encodeText("\r", encoding), at - unit) ? CRLF : LF;
}

function lineFeed(bytes: Uint8Array, from: number, encoding: Encoding): number {
  const feed = encodeText(LF, encoding);
  let at = indexOf(bytes, feed, from);
  while (at !== -1 && at % feed.length !== 0) at = indexOf(bytes, feed, at + 1);
  return at;
}
