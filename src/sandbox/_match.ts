/**
 * The guard's own reading of path rules. It shares no code with the policy's matcher, so that a fault in one of the
 * two does not open the other.
 *
 * Names are compared without regard to case. A rule covers what it matches and all that lies below. Matching costs at
 * most pattern × path, whatever the pattern.
 *
 * @module
 */
import type { Action } from "../tool.ts";
import type { GuardRule } from "../policy/types.ts";

const MOST_VARIANTS = 512;

/** One character of a name pattern: itself, any one, any run, or a set. */
type Token = string | { readonly any: 1 | "run" } | { readonly not: boolean; readonly set: readonly Span[] };
type Span = readonly [low: number, high: number];

/** A pattern for one name. `head` and `tail` are plain text, for a quick no. */
interface NamePattern {
  readonly tokens: readonly Token[];
  readonly head: string;
  readonly tail: string;
}

type Step = NamePattern | "**";

/** One compiled alternative of a rule. */
interface CompiledRule {
  readonly access: "read" | "write";
  readonly action: Action;
  readonly source: string;
  /** A pattern without `/`: matches any name below the root. */
  readonly anyName: NamePattern | null;
  /** An absolute pattern, step by step; null for a name pattern. */
  readonly steps: readonly Step[] | null;
  /** The last of `steps`: what the rule matches below a directory that it does not match has such a name. */
  readonly last: NamePattern | null;
  /** Plain folded names at the beginning of `steps`. */
  readonly fixed: readonly string[];
}

/** What the rules say about a path. */
export interface Verdict {
  readonly action: Action;
  /** The pattern that decided, as written; null where no rule matched. */
  readonly pattern: string | null;
}

interface DirectoryCache {
  /** Index of the last rule that already matches the directory. */
  readonly inherited: number;
  /** Rules after it that might match an entry, last first. */
  readonly candidates: readonly number[];
}

const NO_RULE: Verdict = { action: "allow", pattern: null };

/** Compiled path rules of one call. The last rule that matches a path decides; without one the answer is allow. */
export class RuleSet {
  readonly #rules: { readonly read: CompiledRule[]; readonly write: CompiledRule[] } = {
    read: [],
    write: [],
  };
  readonly #caches = { read: new Map<string, DirectoryCache>(), write: new Map<string, DirectoryCache>() };
  readonly #roots: readonly string[];

  /**
   * @param rules in order
   * @param roots canonical directories; a name pattern is compared with the names below the longest that holds the path
   * @throws {RangeError} for a pattern with more than 512 alternatives in braces
   */
  constructor(rules: readonly GuardRule[], roots: readonly string[]) {
    this.#roots = [...roots].sort((a, b) => b.length - a.length);
    for (const rule of rules) {
      for (const text of variants(rule.pattern)) this.#rules[rule.access].push(compile(rule, text));
    }
  }

  /** @param path absolute and canonical; @param access which rules to ask */
  decide(path: string, access: "read" | "write"): Verdict {
    const rules = this.#rules[access];
    if (rules.length === 0) return NO_RULE;
    const cut = path.lastIndexOf("/"), directory = path.slice(0, cut);
    const cache = this.#directory(directory, access), name = fold(path.slice(cut + 1));
    const named = this.#isBelowRoot(directory);
    for (const index of cache.candidates) {
      const rule = rules[index]!;
      const hit = rule.anyName
        ? named && matchName(rule.anyName, name)
        : (rule.last === null || matchName(rule.last, name)) && matchSteps(rule.steps!, split(path));
      if (hit) return { action: rule.action, pattern: rule.source };
    }
    const inherited = rules[cache.inherited];
    return inherited ? { action: inherited.action, pattern: inherited.source } : NO_RULE;
  }

  /** Whether an entry of this directory lies below a root, so that its name counts. */
  #isBelowRoot(directory: string): boolean {
    return this.#roots.length === 0 || this.#rootOf(directory) !== null;
  }

  #rootOf(path: string): string | null {
    return this.#roots.find((root) =>
      path === root || path.startsWith(root.endsWith("/") ? root : `${root}/`)
    ) ??
      null;
  }

  #directory(directory: string, access: "read" | "write"): DirectoryCache {
    const known = this.#caches[access].get(directory);
    if (known) return known;
    const rules = this.#rules[access], names = split(directory), candidates: number[] = [];
    const root = this.#rootOf(directory), below = names.slice(root === null ? 0 : split(root).length);
    let inherited = -1;
    for (let index = rules.length - 1; index >= 0 && inherited < 0; index--) {
      const rule = rules[index]!;
      const hit = rule.anyName
        ? (root !== null || this.#roots.length === 0) && below.some((name) => matchName(rule.anyName!, name))
        : matchSteps(rule.steps!, names);
      if (hit) inherited = index;
      else if (rule.anyName || compatible(rule.fixed, names)) candidates.push(index);
    }
    const made = { inherited, candidates };
    if (this.#caches[access].size > 50_000) this.#caches[access].clear();
    this.#caches[access].set(directory, made);
    return made;
  }
}

/** Whether something directly below `names` can begin with the fixed names. */
function compatible(fixed: readonly string[], names: readonly string[]): boolean {
  const length = Math.min(fixed.length, names.length);
  for (let i = 0; i < length; i++) if (fixed[i] !== names[i]) return false;
  return fixed.length <= names.length + 1;
}

function split(path: string): string[] {
  return path.split("/").filter((name) => name !== "").map(fold);
}

// HFS+ skips these when it compares names.
const SKIPPED = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;

/** Text in the form in which names are compared. */
function fold(text: string): string {
  for (let i = 0; i < text.length; i++) {
    if (text.charCodeAt(i) > 0x7f) {
      return text.replace(SKIPPED, "").normalize("NFD").replace(SKIPPED, "").toUpperCase().toLowerCase()
        .normalize("NFC");
    }
  }
  return text.toLowerCase();
}

function compile(rule: GuardRule, text: string): CompiledRule {
  const base = { access: rule.access, action: rule.action, source: rule.pattern };
  const trimmed = text.length > 1 && text.endsWith("/") ? text.slice(0, -1) : text;
  if (!trimmed.includes("/")) {
    return { ...base, anyName: namePattern(trimmed), steps: null, last: null, fixed: [] };
  }
  const parts = trimmed.split("/").filter((part) => part !== "");
  const steps: Step[] = parts.map((part) => part === "**" ? "**" : namePattern(part));
  const fixed: string[] = [];
  for (const step of steps) {
    if (step === "**" || step.tokens.some((token) => typeof token !== "string")) break;
    fixed.push(step.head);
  }
  const last = steps.at(-1) ?? "**";
  return { ...base, anyName: null, steps, last: last === "**" ? null : last, fixed };
}

function namePattern(text: string): NamePattern {
  const chars = Array.from(fold(text)), tokens: Token[] = [];
  for (let i = 0; i < chars.length; i++) {
    const char = chars[i]!;
    if (char === "\\" && i + 1 < chars.length) tokens.push(chars[++i]!);
    else if (char === "?") tokens.push({ any: 1 });
    else if (char === "*") tokens.push({ any: "run" });
    else if (char === "[") {
      const set = readSet(chars, i);
      if (set) {
        tokens.push(set.token);
        i = set.last;
      } else tokens.push(char);
    } else tokens.push(char);
  }
  const plainFrom = tokens.findLastIndex((token) => typeof token !== "string") + 1;
  const plainTo = tokens.findIndex((token) => typeof token !== "string");
  return {
    tokens,
    head: tokens.slice(0, plainTo < 0 ? tokens.length : plainTo).join(""),
    tail: tokens.slice(plainFrom).join(""),
  };
}

function readSet(chars: readonly string[], open: number): { token: Token; last: number } | null {
  let i = open + 1;
  const not = chars[i] === "!" || chars[i] === "^";
  if (not) i++;
  const first = i, set: Span[] = [];
  for (; i < chars.length; i++) {
    if (chars[i] === "]" && i > first) return { token: { not, set }, last: i };
    const low = chars[i]!.codePointAt(0)!;
    if (chars[i + 1] === "-" && chars[i + 2] !== undefined && chars[i + 2] !== "]") {
      const high = chars[i + 2]!.codePointAt(0)!;
      set.push(low <= high ? [low, high] : [high, low]);
      i += 2;
    } else set.push([low, low]);
  }
  return null;
}

function matchName(pattern: NamePattern, name: string): boolean {
  if (!name.startsWith(pattern.head) || !name.endsWith(pattern.tail)) return false;
  return greedy(pattern.tokens, Array.from(name), isRun, matchToken);
}

function isRun(token: Token): boolean {
  return typeof token !== "string" && "any" in token && token.any === "run";
}

function matchToken(token: Token, char: string): boolean {
  if (typeof token === "string") return token === char;
  if ("any" in token) return true;
  const point = char.codePointAt(0)!;
  return token.set.some(([low, high]) => low <= point && point <= high) !== token.not;
}

/** Matches the names or a beginning of them: what lies below a match is matched too. */
function matchSteps(steps: readonly Step[], names: readonly string[]): boolean {
  const open: Step[] = [...steps, "**"];
  return greedy(open, names, (step) => step === "**", (step, name) => step !== "**" && matchName(step, name));
}

/** The usual two-finger match: on a mismatch only the last run grows. */
function greedy<P, T>(
  pattern: readonly P[],
  text: readonly T[],
  run: (part: P) => boolean,
  one: (part: P, item: T) => boolean,
): boolean {
  let p = 0, t = 0, back = -1, from = 0;
  while (t < text.length) {
    if (p < pattern.length && run(pattern[p]!)) {
      back = p++;
      from = t;
    } else if (p < pattern.length && one(pattern[p]!, text[t]!)) {
      p++;
      t++;
    } else if (back >= 0) {
      p = back + 1;
      t = ++from;
    } else return false;
  }
  while (p < pattern.length && run(pattern[p]!)) p++;
  return p === pattern.length;
}

/** Writes out `{a,b}`; braces without a comma or a partner are ordinary. */
function variants(pattern: string): string[] {
  const done: string[] = [], work = [pattern];
  while (work.length > 0) {
    const text = work.pop()!, group = braces(text);
    if (!group) done.push(text);
    else {for (const option of group.options) {
        work.push(text.slice(0, group.from) + option + text.slice(group.to));
      }}
    if (done.length + work.length > MOST_VARIANTS) {
      throw new RangeError(`path rule "${pattern}" has more than ${MOST_VARIANTS} alternatives in braces`);
    }
  }
  return done;
}

function braces(text: string): { from: number; to: number; options: string[] } | null {
  for (let from = 0; from < text.length; from++) {
    if (text[from] === "\\") from++;
    else if (text[from] === "[") from = skipSet(text, from);
    else if (text[from] === "{") {
      const options: string[] = [];
      let depth = 1, start = from + 1, i = start;
      for (; i < text.length && depth > 0; i++) {
        if (text[i] === "\\") i++;
        else if (text[i] === "[") i = skipSet(text, i);
        else if (text[i] === "{") depth++;
        else if ((text[i] === "}" && --depth === 0) || (text[i] === "," && depth === 1)) {
          options.push(text.slice(start, i));
          start = i + 1;
        }
      }
      if (depth === 0 && options.length > 1) return { from, to: i, options };
    }
  }
  return null;
}

/** Index of the `]` that ends the set at `open`, or `open` itself where none does. */
function skipSet(text: string, open: number): number {
  let i = open + 1;
  if (text[i] === "!" || text[i] === "^") i++;
  if (text[i] === "]") i++;
  for (; i < text.length && text[i] !== "/"; i++) if (text[i] === "]") return i;
  return open;
}
