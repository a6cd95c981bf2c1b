/**
 * Searching one file's text for matching lines.
 *
 * @module
 */
import { encodingOf } from "../src/text/decode.ts";
import { type Pattern, patternFor } from "./_pattern.ts";

/** A line of a result. */
export interface Line {
  /** 1-based. */
  readonly number: number;
  readonly text: string;
}

/** A matching line, cut for display, and the lines around it. */
export interface Match extends Line {
  readonly before: readonly Line[];
  readonly after: readonly Line[];
}

/** What a file holds. */
export interface FileMatches {
  /** The first matching lines. */
  readonly matches: readonly Match[];
  /** How many lines match in all. */
  readonly count: number;
}

/** How many characters of a line are shown. */
const SHOWN = 120;
/** How much of a long line stands before the match. */
const LEAD = 40;
/** Larger files are searched in pieces of this size. */
const PIECE = 16 * 1024 * 1024;
/** How much of a file decides whether it is text. */
const PROBE = 1024;

const utf8 = new TextDecoder();

/** Whether the bytes are no text, as far as their beginning tells. */
export function looksBinary(bytes: Uint8Array): boolean {
  return bytes.subarray(0, PROBE).indexOf(0) !== -1 && encodingOf(bytes) === "utf-8";
}

/** The text of a file that may hold a match; null where it certainly holds none. Large files are decided on later. */
export function candidateText(bytes: Uint8Array, pattern: Pattern): string | null {
  if (bytes.length > PIECE) return "";
  const text = decode(bytes), { candidate } = patternFor(pattern, text);
  if (candidate === null) return text;
  if (typeof candidate === "string") return text.includes(candidate) ? text : null;
  candidate.lastIndex = 0;
  return candidate.test(text) ? text : null;
}

/**
 * Searches a file.
 *
 * @param decoded what {@link candidateText} said
 * @param most how many matches are kept; the rest is counted
 * @param context lines around each match
 * @returns null for a binary file
 */
export function searchBytes(
  bytes: Uint8Array,
  decoded: string,
  pattern: Pattern,
  most: number,
  context: number,
): FileMatches | null {
  const matches: Match[] = [];
  let count = 0, line = 1;
  for (let from = 0; from < bytes.length;) {
    const to = pieceEnd(bytes, from), whole = to - from === bytes.length;
    const text = whole && decoded !== "" ? decoded : decode(bytes.subarray(from, to));
    const found = searchText(text, pattern, most - matches.length, context, line);
    if (found.count > 0 && text.includes("\0")) return null;
    matches.push(...found.matches);
    count += found.count;
    if (to < bytes.length) line += newlines(text, 0, text.length);
    from = to;
  }
  return { matches, count };
}

function decode(bytes: Uint8Array): string {
  const encoding = encodingOf(bytes);
  return encoding === "utf-8" ? utf8.decode(bytes) : new TextDecoder(encoding).decode(bytes);
}

/** Pieces end at a line end where there is one. */
function pieceEnd(bytes: Uint8Array, from: number): number {
  if (bytes.length - from <= PIECE || encodingOf(bytes) !== "utf-8") return bytes.length;
  const last = bytes.subarray(from, from + PIECE).lastIndexOf(10);
  return from + (last === -1 ? PIECE : last + 1);
}

/** Searches a text; `line` is the number of its first line. */
export function searchText(
  text: string,
  anyPattern: Pattern,
  most: number,
  context: number,
  line = 1,
): FileMatches {
  const pattern = patternFor(anyPattern, text);
  const matches: Match[] = [];
  let count = 0, counted = 0;
  for (let at = 0; at < text.length;) {
    const hit = nextCandidate(text, pattern, at);
    if (hit === -1 || hit >= text.length) break;
    const found = text.indexOf("\n", hit), end = found === -1 ? text.length : found;
    at = end + 1;
    if (pattern.line === null && count >= most) {
      count++;
      continue;
    }
    const start = hit === 0 ? 0 : text.lastIndexOf("\n", hit - 1) + 1;
    let from = hit - start, length = typeof pattern.candidate === "string" ? pattern.candidate.length : 0;
    if (pattern.line !== null) {
      const match = pattern.line.exec(pattern.carriage ? text.slice(start, end) : bare(text, start, end));
      if (match === null) continue;
      from = match.index;
      length = match[0].length;
    }
    if (++count > most) continue;
    line += newlines(text, counted, start);
    counted = start;
    matches.push({
      number: line,
      text: excerpt(bare(text, start, end), from, length),
      before: context > 0 ? linesBefore(text, start, line, context) : [],
      after: context > 0 ? linesAfter(text, end + 1, line, context) : [],
    });
  }
  return { matches, count };
}

function nextCandidate(text: string, { candidate }: Pattern, at: number): number {
  if (candidate === null) return at;
  if (typeof candidate === "string") return text.indexOf(candidate, at);
  candidate.lastIndex = at;
  return candidate.exec(text)?.index ?? -1;
}

/** A line without its line end. */
function bare(text: string, start: number, end: number): string {
  return text.slice(start, end > start && text[end - 1] === "\r" ? end - 1 : end);
}

function newlines(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = text.indexOf("\n", from); at !== -1 && at < to; at = text.indexOf("\n", at + 1)) count++;
  return count;
}

function linesBefore(text: string, start: number, number: number, count: number): Line[] {
  const lines: Line[] = [];
  for (let end = start - 1; lines.length < count && end >= 0;) {
    const from = end === 0 ? 0 : text.lastIndexOf("\n", end - 1) + 1;
    lines.unshift({ number: number - lines.length - 1, text: beginning(bare(text, from, end)) });
    end = from - 1;
  }
  return lines;
}

function linesAfter(text: string, start: number, number: number, count: number): Line[] {
  const lines: Line[] = [];
  for (let from = start; lines.length < count && from < text.length;) {
    const found = text.indexOf("\n", from), end = found === -1 ? text.length : found;
    lines.push({ number: number + lines.length + 1, text: beginning(bare(text, from, end)) });
    from = end + 1;
  }
  return lines;
}

/** A context line keeps its indentation. */
function beginning(line: string): string {
  const text = line.trimEnd();
  return text.length > SHOWN ? `${whole(text.slice(0, SHOWN))}…` : text;
}

/** The part of a line that shows its match: the first 120 characters where the match lies in them. */
export function excerpt(line: string, from: number, length: number): string {
  const text = line.trim(), indent = line.length - line.trimStart().length;
  if (text.length <= SHOWN) return text;
  const at = Math.min(Math.max(from - indent, 0), text.length - 1);
  const end = Math.min(at + length, text.length);
  let start = 0;
  if (end > SHOWN) {
    const lead = Math.min(LEAD, Math.max(SHOWN - length, 10));
    start = Math.max(0, Math.min(at - lead, text.length - SHOWN));
    // A match that begins among the first characters, however long it is, is shown from the beginning.
    if (at < SHOWN / 2 && length > SHOWN) start = 0;
  }
  const part = text.slice(start, start + SHOWN);
  return `${start > 0 ? "…" : ""}${whole(part)}${start + SHOWN < text.length ? "…" : ""}`;
}

/** Without halves of surrogate pairs at the ends. */
function whole(text: string): string {
  return text.replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, "");
}
