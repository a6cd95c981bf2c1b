/**
 * The policy's glob matcher. It decides in time proportional to pattern × path, whatever the pattern: no backtracking
 * over segments, none within one beyond the last `*`. The sandbox has a matcher of its own; the two share no code.
 *
 * @module
 */

const MOST_ALTERNATIVES = 256;

type Part =
  | { readonly kind: "literal"; readonly char: string }
  | { readonly kind: "any" }
  | { readonly kind: "star" }
  | {
    readonly kind: "class";
    readonly negated: boolean;
    readonly ranges: readonly (readonly [number, number])[];
  };

/** What one name must look like. */
export interface NamePattern {
  readonly parts: readonly Part[];
  /** Plain text that every match begins with. */
  readonly head: string;
  /** No wildcards: the head is the whole name. */
  readonly plain: boolean;
}

/** One segment of a compiled pattern: `**`, or what one name must look like. */
export type Segment = "**" | NamePattern;

// Code points that HFS+ skips when it compares names (git's fsck list).
const IGNORED = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/gu;

/**
 * The form in which names are compared: without regard to case, to Unicode composition and to the code points that
 * some file systems ignore. Lower, upper and lower again, so that letters which share a form fall together.
 */
export function fold(text: string): string {
  // deno-lint-ignore no-control-regex
  if (/^[\x00-\x7f]*$/.test(text)) return text.toLowerCase();
  return text.normalize("NFD").replace(IGNORED, "").toLowerCase().toUpperCase().toLowerCase().normalize(
    "NFC",
  );
}

/**
 * Writes out `{a,b}` alternatives, nested ones too. A brace without a comma or without its partner is an ordinary
 * character.
 *
 * @throws {RangeError} for more than 256 alternatives
 */
export function expandBraces(pattern: string): string[] {
  let open = [pattern];
  const done: string[] = [];
  while (open.length > 0) {
    const next: string[] = [];
    for (const text of open) {
      const group = firstGroup(text);
      if (!group) done.push(text);
      else {for (const option of group.options) {
          next.push(text.slice(0, group.start) + option + text.slice(group.end));
        }}
    }
    if (next.length + done.length > MOST_ALTERNATIVES) {
      throw new RangeError(`more than ${MOST_ALTERNATIVES} alternatives in braces`);
    }
    open = next;
  }
  return done;
}

function firstGroup(text: string): { start: number; end: number; options: string[] } | null {
  for (let start = 0; start < text.length; start++) {
    if (text[start] === "\\") start++;
    else if (text[start] === "[") start = classEnd(text, start) ?? start;
    else if (text[start] === "{") {
      const group = groupAt(text, start);
      if (group) return { start, ...group };
    }
  }
  return null;
}

function groupAt(text: string, start: number): { end: number; options: string[] } | null {
  const options: string[] = [];
  let depth = 0, from = start + 1;
  for (let i = start; i < text.length; i++) {
    const char = text[i];
    if (char === "\\") i++;
    else if (char === "[") i = classEnd(text, i) ?? i;
    else if (char === "{") depth++;
    else if (char === "," && depth === 1) {
      options.push(text.slice(from, i));
      from = i + 1;
    } else if (char === "}" && --depth === 0) {
      options.push(text.slice(from, i));
      return options.length > 1 ? { end: i + 1, options } : null;
    }
  }
  return null;
}

/** Index of the `]` that closes the class opened at `start`, or null; a class never holds a `/`. */
function classEnd(text: string, start: number): number | null {
  let i = start + 1;
  if (text[i] === "!" || text[i] === "^") i++;
  if (text[i] === "]") i++;
  for (; i < text.length && text[i] !== "/"; i++) if (text[i] === "]") return i;
  return null;
}

/** Whether a segment's text holds anything but ordinary characters. */
export function isPattern(segment: string): boolean {
  return /[*?\\]/.test(segment) || /\[.*\]/.test(segment);
}

/** A name as a pattern that matches it alone. Uses classes, which hold on systems where `\` separates. */
export function escapeGlob(name: string): string {
  return name.replace(/[*?[{]/g, "[$&]").replaceAll("\\", "[\\]");
}

/** Compiles one segment; the text must not hold `/` and is folded here. */
export function compileSegment(text: string): Segment {
  if (text === "**") return "**";
  const source = fold(text), parts: Part[] = [];
  for (let i = 0; i < source.length;) {
    const char = String.fromCodePoint(source.codePointAt(i)!);
    const end = char === "[" ? classEnd(source, i) : null;
    if (end !== null) {
      parts.push(compileClass(source.slice(i + 1, end)));
      i = end + 1;
      continue;
    }
    if (char === "*") {
      if (parts.at(-1)?.kind !== "star") parts.push({ kind: "star" });
    } else if (char === "?") parts.push({ kind: "any" });
    else if (char === "\\" && i + 1 < source.length) {
      const literal = String.fromCodePoint(source.codePointAt(i + 1)!);
      parts.push({ kind: "literal", char: literal });
      i += literal.length;
    } else parts.push({ kind: "literal", char });
    i += char.length;
  }
  const wild = parts.findIndex((part) => part.kind !== "literal" && !isSingle(part));
  const head = (wild < 0 ? parts : parts.slice(0, wild)).map(textOf).join("");
  return { parts, head, plain: wild < 0 };
}

/** A class of one character, as {@link escapeGlob} writes it. */
function isSingle(part: Part): boolean {
  return part.kind === "class" && !part.negated && part.ranges.length === 1 &&
    part.ranges[0]![0] === part.ranges[0]![1];
}

function textOf(part: Part): string {
  if (part.kind === "literal") return part.char;
  return part.kind === "class" ? String.fromCodePoint(part.ranges[0]![0]) : "";
}

function compileClass(body: string): Part {
  const negated = body[0] === "!" || body[0] === "^";
  const points = Array.from(negated ? body.slice(1) : body, (char) => char.codePointAt(0)!);
  const ranges: [number, number][] = [];
  for (let i = 0; i < points.length; i++) {
    const from = points[i]!, to = points[i + 2];
    if (points[i + 1] === 0x2d && to !== undefined) {
      ranges.push([Math.min(from, to), Math.max(from, to)]);
      i += 2;
    } else ranges.push([from, from]);
  }
  return { kind: "class", negated, ranges };
}

function matchesPart(part: Part, char: string): boolean {
  if (part.kind === "any") return true;
  if (part.kind === "literal") return part.char === char;
  if (part.kind === "star") return false;
  const point = char.codePointAt(0)!;
  return part.ranges.some(([from, to]) => point >= from && point <= to) !== part.negated;
}

/** Whether a folded name matches a segment other than `**`. */
export function matchesName(pattern: NamePattern, text: string): boolean {
  if (pattern.plain) return text === pattern.head;
  if (!text.startsWith(pattern.head)) return false;
  const { parts } = pattern, name = Array.from(text);
  let p = 0, n = 0, star = -1, mark = 0;
  while (n < name.length) {
    const part = parts[p];
    if (part?.kind === "star") {
      star = p++;
      mark = n;
    } else if (part && matchesPart(part, name[n]!)) {
      p++;
      n++;
    } else if (star >= 0) {
      p = star + 1;
      n = ++mark;
    } else return false;
  }
  while (parts[p]?.kind === "star") p++;
  return p === parts.length;
}

/** Cuts a path with `/` into folded names; empty parts are dropped. */
export function namesOf(path: string): readonly string[] {
  return path.split("/").filter((part) => part !== "").map(fold);
}

/**
 * Whether the pattern matches the names of a path or of one of its parents (a directory that matches covers what lies
 * below it). `**` stands for any number of names, none included.
 */
export function matches(pattern: readonly Segment[], names: readonly string[]): boolean {
  // Most patterns begin with plain names, which need no sets.
  let plain = 0;
  for (; plain < pattern.length; plain++) {
    const segment = pattern[plain]!;
    if (segment === "**" || !segment.plain) break;
    if (segment.head !== names[plain]) return false;
  }
  let reached = new Set([plain]);
  for (const segment of pattern.slice(plain)) {
    const next = new Set<number>();
    if (segment === "**") {
      for (let i = Math.min(...reached); i <= names.length; i++) next.add(i);
    } else {
      for (const i of reached) if (i < names.length && matchesName(segment, names[i]!)) next.add(i + 1);
    }
    if (next.size === 0) return false;
    reached = next;
  }
  return true;
}
