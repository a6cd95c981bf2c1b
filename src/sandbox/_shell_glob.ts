/**
 * Wildcards as bash expands them with its default options: `*`, `?`, `[…]`; a leading dot only by a dot; `.` and `..` never;
 * results in the order of their characters' code points.
 *
 * @module
 */

/** One name of a directory. */
export interface GlobEntry {
  readonly name: string;
  /** A directory, or a link that may lead to one. */
  readonly mayDescend: boolean;
}

/** What expansion looks at; paths are as the pattern spells them, relative ones to the working directory. */
export interface GlobSource {
  /** Names in a directory; empty where it cannot be listed. */
  list(directory: string): readonly GlobEntry[];
  /** Whether a path is a directory, links followed. */
  isDirectory(path: string): boolean;
  /** Whether there is anything at a path. */
  exists(path: string): boolean;
}

const MOST = 20_000;

/**
 * The paths that match, sorted; empty where none does.
 *
 * @param pattern a backslash makes the next character ordinary
 * @throws {RangeError} when there are more than 20,000
 */
export function expandPattern(pattern: string, source: GlobSource): string[] {
  let found: string[] = [""];
  for (const { slashes, part } of components(pattern)) {
    const wild = isWild(part), literal = wild ? "" : part.replace(/\\(.)/gs, "$1");
    const next: string[] = [];
    for (const path of found) {
      const base = path + slashes;
      if (part === "") {
        if (base === "" || source.isDirectory(base)) next.push(base);
      } else if (!wild) next.push(base + literal);
      else {
        for (const { name } of source.list(base === "" ? "." : base)) {
          if (matchName(part, name)) next.push(base + name);
        }
      }
      if (next.length > MOST) throw new RangeError(`more than ${MOST} names match`);
    }
    found = next;
    if (found.length === 0) return [];
  }
  const last = components(pattern).at(-1)!;
  if (last.part !== "" && !isWild(last.part)) found = found.filter((path) => source.exists(path));
  return found.sort(byCodePoints);
}

/** The parts between slashes, each with the slashes before it. */
function components(pattern: string): { slashes: string; part: string }[] {
  const parts: { slashes: string; part: string }[] = [];
  for (const [, slashes, part] of pattern.matchAll(/((?:\\?\/)*)((?:\\[^/]|[^/\\]|\\(?=\/))*)/gs)) {
    if (slashes === "" && part === "") continue;
    parts.push({
      slashes: slashes!.replaceAll("\\", ""),
      part: part!.replace(/(?<!\\)((?:\\\\)*)\\$/s, "$1"),
    });
  }
  return parts;
}

/** Whether a component has a wildcard that is not escaped. */
export function isWild(part: string): boolean {
  const bare = part.replace(/\\./gs, "");
  return /[*?]/.test(bare) || /\[/.test(bare);
}

/** Whether a name matches a pattern without slashes. */
export function matchName(pattern: string, name: string): boolean {
  if (name === "." || name === "..") return false;
  const tokens = tokensOf(pattern), chars = [...name];
  if (chars[0] === "." && !(tokens[0]?.kind === "char" && tokens[0].char === ".")) return false;
  let t = 0, c = 0, star = -1, mark = 0;
  while (c < chars.length) {
    const token = tokens[t];
    if (token?.kind === "star") {
      star = t++;
      mark = c;
    } else if (token && matches(token, chars[c]!)) {
      t++;
      c++;
    } else if (star >= 0) {
      t = star + 1;
      c = ++mark;
    } else return false;
  }
  while (tokens[t]?.kind === "star") t++;
  return t === tokens.length;
}

type Token =
  | { readonly kind: "char"; readonly char: string }
  | { readonly kind: "star" | "any" }
  | { readonly kind: "set"; readonly negated: boolean; readonly test: (char: string) => boolean };

function matches(token: Token, char: string): boolean {
  if (token.kind === "char") return token.char === char;
  return token.kind === "set" ? token.test(char) !== token.negated : token.kind === "any";
}

function tokensOf(pattern: string): Token[] {
  const chars = [...pattern], tokens: Token[] = [];
  for (let i = 0; i < chars.length; i++) {
    const char = chars[i]!;
    if (char === "\\" && i + 1 < chars.length) tokens.push({ kind: "char", char: chars[++i]! });
    else if (char === "*") tokens.push({ kind: "star" });
    else if (char === "?") tokens.push({ kind: "any" });
    else if (char === "[") {
      const set = bracket(chars, i);
      if (set) {
        tokens.push(set.token);
        i = set.end;
      } else tokens.push({ kind: "char", char });
    } else tokens.push({ kind: "char", char });
  }
  return tokens;
}

// deno-lint-ignore no-control-regex
const CONTROL = /[\0-\x1f\x7f]/;
/** As in a UTF-8 locale. */
const CLASSES: Readonly<Record<string, RegExp>> = {
  alnum: /[0-9\p{L}\p{M}\p{N}]/u,
  alpha: /[\p{L}\p{M}\p{Nl}]/u,
  ascii: /\p{ASCII}/u,
  blank: /[\t\p{Zs}]/u,
  cntrl: CONTROL,
  digit: /[0-9]/,
  graph: /[^\s\p{C}]/u,
  lower: /\p{Ll}/u,
  print: /[^\p{C}]/u,
  punct: /[^\s\p{C}\p{L}\p{M}\p{N}]/u,
  space: /\s/,
  upper: /\p{Lu}/u,
  word: /[0-9_\p{L}\p{M}\p{N}]/u,
  xdigit: /[0-9A-Fa-f]/,
};

/** The set that begins at `[`, or null where it is not closed and stands for itself. */
function bracket(chars: readonly string[], start: number): { token: Token; end: number } | null {
  let i = start + 1;
  const negated = chars[i] === "!" || chars[i] === "^";
  if (negated) i++;
  const tests: ((char: string) => boolean)[] = [];
  for (let first = true; i < chars.length; first = false) {
    if (chars[i] === "]" && !first) {
      return { token: { kind: "set", negated, test: (char) => tests.some((test) => test(char)) }, end: i };
    }
    if (chars[i] === "[" && chars[i + 1] === ":") {
      const close = chars.indexOf(":", i + 2), name = close > 0 ? chars.slice(i + 2, close).join("") : "";
      const known = CLASSES[name];
      if (close > 0 && chars[close + 1] === "]") {
        if (known) tests.push((char) => known.test(char));
        i = close + 2;
        continue;
      }
    }
    const from = escaped(chars, i);
    if (from === null) return null;
    i = from.next;
    if (chars[i] === "-" && chars[i + 1] !== "]" && i + 1 < chars.length) {
      const to = escaped(chars, i + 1);
      if (to === null) return null;
      const [low, high] = [from.char.codePointAt(0)!, to.char.codePointAt(0)!];
      tests.push((char) => char.codePointAt(0)! >= low && char.codePointAt(0)! <= high);
      i = to.next;
    } else tests.push((char) => char === from.char);
  }
  return null;
}

function escaped(chars: readonly string[], i: number): { char: string; next: number } | null {
  if (chars[i] !== "\\") return { char: chars[i]!, next: i + 1 };
  return i + 1 < chars.length ? { char: chars[i + 1]!, next: i + 2 } : null;
}

/** Order of code points, which is that of the bytes in UTF-8. */
export function byCodePoints(a: string, b: string): number {
  const [left, right] = [[...a], [...b]];
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const difference = left[i]!.codePointAt(0)! - right[i]!.codePointAt(0)!;
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}
