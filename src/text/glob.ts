/**
 * Globs for tools: `*`, `?`, `[a-z]`, `[!a]`, `[[:alpha:]]`, `{a,b}`, `{1..3}`, `**` across directories, `\` before a character
 * that stands for itself (not on Windows). Names that begin with a dot match like any other. Matching takes time
 * proportional to pattern × path, whatever the pattern. A name that equals a segment of the pattern matches it too, so
 * that files with brackets and braces in their names are found by their names.
 *
 * @module
 */
import { toSlashes } from "./path.ts";

const MOST_ALTERNATIVES = 256;
const MAGIC = /[*?[]/;

/** Matches one name against one segment of a pattern. */
export type NameTest = (name: string) => boolean;

/** One segment of a compiled pattern: `**`, or a test for one name. */
export type Segment = "**" | NameTest;

/** A compiled pattern. */
export interface Glob {
  /** The alternatives that braces spell out, each as its segments. */
  readonly alternatives: readonly (readonly Segment[])[];
  /** Only directories match: the pattern ends in `/`. */
  readonly directoryOnly: boolean;
}

/** What of a {@link Glob} is left to match below a directory: for each alternative, positions in its segments. */
export type GlobState = readonly (readonly number[])[];

/**
 * Compiles a relative pattern.
 *
 * @throws {RangeError} for more than 256 alternatives, or `..` after a wildcard
 */
export function compileGlob(pattern: string): Glob {
  return compileAlternatives(expandAlternatives(toSlashes(pattern)), toSlashes(pattern).endsWith("/"));
}

/**
 * Compiles patterns whose braces are written out already into one that matches what any of them does.
 *
 * @throws {RangeError} for `..` after a wildcard
 */
export function compileAlternatives(patterns: readonly string[], directoryOnly: boolean): Glob {
  return { alternatives: patterns.map(compileSegments), directoryOnly };
}

/** Whether a relative path with `/` matches as a whole. */
export function matchGlob(glob: Glob, path: string, isDirectory = false): boolean {
  if (glob.directoryOnly && !isDirectory) return false;
  const names = path.split("/");
  let state: GlobState = startState(glob);
  for (const [i, name] of names.entries()) {
    const last = i === names.length - 1;
    if (last) return matches(glob, state, name);
    state = descend(glob, state, name);
  }
  return false;
}

/** The state at the directory that a pattern is relative to. */
export function startState(glob: Glob): GlobState {
  return glob.alternatives.map((segments) => closure(segments, [0]));
}

/** Whether a name in a directory with this state completes a match. */
export function matches(glob: Glob, state: GlobState, name: string): boolean {
  for (let a = 0; a < state.length; a++) {
    const segments = glob.alternatives[a]!;
    for (const at of state[a]!) {
      if (at !== segments.length - 1) continue;
      const segment = segments[at]!;
      if (segment === "**" || segment(name)) return true;
    }
  }
  return false;
}

/** The state below a directory of that name; see {@link isDead}. */
export function descend(glob: Glob, state: GlobState, name: string): GlobState {
  return state.map((positions, a) => {
    const segments = glob.alternatives[a]!, next: number[] = [];
    for (const at of positions) {
      const segment = segments[at]!;
      if (segment === "**") next.push(at);
      else if (at + 1 < segments.length && segment(name)) next.push(at + 1);
    }
    return closure(segments, next);
  });
}

/** Whether nothing below can match any more. */
export function isDead(state: GlobState): boolean {
  return state.every((positions) => positions.length === 0);
}

/** `**` before other segments also stands for no directory at all. */
function closure(segments: readonly Segment[], positions: readonly number[]): number[] {
  const all = new Set(positions);
  for (const at of all) if (segments[at] === "**" && at + 1 < segments.length) all.add(at + 1);
  return [...all];
}

/** Whether a pattern has something to match by, beyond being a path. */
export function isMagic(pattern: string): boolean {
  return MAGIC.test(pattern) || expandBraces(pattern).length > 1 || (!windows() && pattern.includes("\\"));
}

/**
 * The part of a pattern before its first wildcard, which names a directory, and the rest, for each alternative that
 * braces spell out: `src/{a,b}/*.ts` gives `src/a` with `*.ts` and `src/b` with `*.ts`. The last segment always
 * belongs to the rest. Escapes are resolved in the literal part; it is empty for a pattern that begins with a wildcard
 * and keeps a leading `/`.
 *
 * @throws {RangeError} for more than 256 alternatives
 */
export function literalStarts(pattern: string): { readonly directory: string; readonly rest: string }[] {
  const starts = new Map<string, { directory: string; rest: string }>();
  for (const alternative of expandAlternatives(toSlashes(pattern))) {
    const segments = alternative.split("/");
    let count = 0;
    while (count < segments.length - 1 && !MAGIC.test(segments[count]!)) count++;
    // A trailing slash belongs to the segment before it.
    if (count === segments.length - 1 && segments[count] === "" && count > 0) count--;
    if (count === segments.length - 1 && segments[count] === "..") count++;
    const literal = segments.slice(0, count).map(unescape).join("/");
    const directory = alternative.startsWith("/") && literal === "" && count > 0 ? "/" : literal;
    const rest = segments.slice(count).join("/");
    starts.set(`${directory}\n${rest}`, { directory, rest });
  }
  return [...starts.values()];
}

/**
 * Writes out `{a,b}` alternatives, nested ones too; a brace without a comma or without its partner is an ordinary
 * character.
 *
 * @throws {RangeError} for more than 256 alternatives
 */
export function expandBraces(pattern: string): string[] {
  const done: string[] = [], open = [pattern];
  while (open.length > 0) {
    const text = open.pop()!;
    const brace = findBrace(text);
    if (brace === null) done.push(text);
    else {for (const part of brace.parts.reverse()) {
        open.push(text.slice(0, brace.from) + part + text.slice(brace.to));
      }}
    if (done.length + open.length > MOST_ALTERNATIVES) {
      throw new RangeError(
        `"${shorten(pattern)}" spells out more than ${MOST_ALTERNATIVES} alternatives; use fewer braces`,
      );
    }
  }
  return done;
}

function shorten(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}

/** The alternatives of the braces, and the pattern with its braces as ordinary characters. */
function expandAlternatives(pattern: string): string[] {
  const all = expandBraces(pattern);
  return all.length > 1 ? [...new Set([...all, pattern])] : all;
}

function windows(): boolean {
  return Deno.build.os === "windows";
}

function findBrace(text: string): { from: number; to: number; parts: string[] } | null {
  for (let from = text.indexOf("{"); from !== -1; from = text.indexOf("{", from + 1)) {
    if (isEscaped(text, from)) continue;
    let depth = 0, start = from + 1;
    const parts: string[] = [];
    for (let i = from; i < text.length; i++) {
      const char = text[i];
      if (char === "\\" && !windows()) i++;
      else if (char === "{") depth++;
      else if (char === "," && depth === 1) parts.push(text.slice(start, i)), start = i + 1;
      else if (char === "}" && --depth === 0) {
        parts.push(text.slice(start, i));
        const all = parts.length > 1 ? parts : rangeOf(parts[0]!);
        if (all !== null) return { from, to: i + 1, parts: all };
        break;
      }
    }
  }
  return null;
}

/** What `1..3`, `01..10` or `a..e` spells out, with a step behind a second `..`; null for anything else. */
function rangeOf(text: string): string[] | null {
  const found = /^(-?\d{1,9}|[A-Za-z])\.\.(-?\d{1,9}|[A-Za-z])(?:\.\.(-?\d{1,9}))?$/.exec(text);
  if (!found) return null;
  const [first, last] = [found[1]!, found[2]!], letters = /[A-Za-z]/.test(first);
  if (letters !== /[A-Za-z]/.test(last)) return null;
  const number = (end: string) => letters ? end.charCodeAt(0) : Number(end);
  const from = number(first), to = number(last), step = Math.max(1, Math.abs(Number(found[3] ?? 1)));
  const width = /^-?0\d/.test(first) || /^-?0\d/.test(last) ? Math.max(first.length, last.length) : 0;
  const all: string[] = [];
  for (let at = from; from <= to ? at <= to : at >= to; at += from <= to ? step : -step) {
    if (all.length > MOST_ALTERNATIVES) break;
    const digits = String(Math.abs(at)), sign = at < 0 ? "-" : "";
    all.push(letters ? String.fromCharCode(at) : sign + digits.padStart(width - sign.length, "0"));
  }
  return all;
}

function isEscaped(text: string, at: number): boolean {
  if (windows()) return false;
  let slashes = 0;
  while (text[at - 1 - slashes] === "\\") slashes++;
  return slashes % 2 === 1;
}

function unescape(text: string): string {
  return windows() ? text : text.replace(/\\(.)/gsu, "$1");
}

function compileSegments(pattern: string): Segment[] {
  const segments: Segment[] = [];
  let wild = false;
  for (const text of pattern.split("/")) {
    if (text === "" || text === ".") continue;
    if (text === "..") {
      if (wild) {
        throw new RangeError(`".." after a wildcard is not supported in "${shorten(pattern)}"; put it first`);
      }
      segments.pop();
      continue;
    }
    wild ||= MAGIC.test(text);
    if (text !== "**") segments.push(compileName(text));
    else if (segments[segments.length - 1] !== "**") segments.push("**");
  }
  return segments;
}

/**
 * Compiles one segment of a tool's pattern. A name that equals the pattern matches, and names that differ only in
 * Unicode composition are the same name.
 *
 * @param pattern without `/`
 */
export function compileName(pattern: string): NameTest {
  const test = compileExact(pattern, !windows(), false) ?? (() => false);
  const exact: NameTest = (name) => name === pattern || test(name);
  if (ASCII.test(pattern)) return exact;
  const composed = compileExact(pattern.normalize("NFC"), !windows(), false) ?? (() => false);
  return (name) => exact(name) || (!ASCII.test(name) && composed(name.normalize("NFC")));
}

/**
 * Compiles one segment of a line in .gitignore: a `[` without its `]` matches nothing, and `?` is one byte of UTF-8.
 *
 * @param pattern without `/`
 */
export function compileGitName(pattern: string): NameTest {
  const test = compileExact(bytesOf(pattern), true, true) ?? (() => false);
  return (name) => test(bytesOf(name));
}

const ASCII = /^[\x20-\x7e]*$/;

/** UTF-8 with one character for each byte. */
function bytesOf(text: string): string {
  return ASCII.test(text) ? text : String.fromCharCode(...new TextEncoder().encode(text));
}

function compileExact(pattern: string, escapes: boolean, strict: boolean): NameTest | null {
  if (!MAGIC.test(pattern) && !(escapes && pattern.includes("\\"))) return (name) => name === pattern;
  if (pattern === "*") return () => true;
  const suffix = /^\*([^*?[\\]*)$/.exec(pattern)?.[1];
  if (suffix !== undefined) return (name) => name.endsWith(suffix);
  const tokens = parseName(pattern, escapes, strict);
  return tokens && ((name) => matchTokens(tokens, name));
}

type Token = { readonly kind: "star" } | { readonly kind: "one"; readonly test: (code: number) => boolean };

const CLASSES: Readonly<Record<string, RegExp>> = {
  alnum: /[A-Za-z0-9]/,
  alpha: /[A-Za-z]/,
  blank: /[ \t]/,
  // deno-lint-ignore no-control-regex
  cntrl: /[\x00-\x1f\x7f]/,
  digit: /[0-9]/,
  graph: /[\x21-\x7e]/,
  lower: /[a-z]/,
  print: /[\x20-\x7e]/,
  punct: /[!-/:-@[-`{-~]/,
  space: /[ \t\n\r\f\v]/,
  upper: /[A-Z]/,
  xdigit: /[0-9A-Fa-f]/,
};

/** @param strict null for what is malformed; else its characters stand for themselves */
function parseName(pattern: string, escapes: boolean, strict: boolean): Token[] | null {
  const tokens: Token[] = [], chars = [...pattern];
  for (let i = 0; i < chars.length; i++) {
    const char = chars[i]!;
    if (char === "*") {
      if (tokens[tokens.length - 1]?.kind !== "star") tokens.push({ kind: "star" });
    } else if (char === "?") {
      tokens.push({ kind: "one", test: () => true });
    } else if (char === "[") {
      const set = parseSet(chars, i, escapes);
      if (set) tokens.push({ kind: "one", test: set.test }), i = set.end;
      else if (strict) return null;
      else tokens.push(one("["));
    } else if (char === "\\" && escapes) {
      if (i + 1 === chars.length) {
        if (strict) return null;
        tokens.push(one("\\"));
      } else tokens.push(one(chars[++i]!));
    } else tokens.push(one(char));
  }
  return tokens;
}

function one(char: string): Token {
  const code = char.codePointAt(0)!;
  return { kind: "one", test: (other) => other === code };
}

function parseSet(
  chars: readonly string[],
  open: number,
  escapes: boolean,
): { end: number; test: (code: number) => boolean } | null {
  let i = open + 1;
  const negated = chars[i] === "!" || chars[i] === "^";
  if (negated) i++;
  const tests: ((code: number) => boolean)[] = [];
  for (let first = true; i < chars.length; first = false, i++) {
    let char = chars[i]!;
    if (char === "]" && !first) {
      return { end: i, test: (code) => tests.some((test) => test(code)) !== negated };
    }
    if (char === "[" && chars[i + 1] === ":") {
      const close = chars.indexOf(":", i + 2);
      if (close !== -1 && chars[close + 1] === "]") {
        const named = CLASSES[chars.slice(i + 2, close).join("")];
        if (!named) return null;
        tests.push((code) => named.test(String.fromCodePoint(code)));
        i = close + 1;
        continue;
      }
    }
    if (char === "\\" && escapes && i + 1 < chars.length) char = chars[++i]!;
    const low = char.codePointAt(0)!;
    if (chars[i + 1] === "-" && i + 2 < chars.length && chars[i + 2] !== "]") {
      i += 2;
      if (chars[i] === "\\" && escapes && i + 1 < chars.length) i++;
      const high = chars[i]!.codePointAt(0)!;
      tests.push((code) => code >= low && code <= high);
    } else tests.push((code) => code === low);
  }
  return null;
}

/** Linear: on a mismatch only the last `*` takes one more character. */
function matchTokens(tokens: readonly Token[], name: string): boolean {
  const codes = Array.from(name, (char) => char.codePointAt(0)!);
  let t = 0, c = 0, star = -1, resume = 0;
  while (c < codes.length) {
    const token = tokens[t];
    if (token?.kind === "star") [star, resume] = [t++, c];
    else if (token?.kind === "one" && token.test(codes[c]!)) t++, c++;
    else if (star === -1) return false;
    else [t, c] = [star + 1, ++resume];
  }
  while (tokens[t]?.kind === "star") t++;
  return t === tokens.length;
}
