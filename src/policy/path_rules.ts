/**
 * Path rules: the built-in ones, then the user's; the last one that matches wins. They decide what a path's place
 * alone cannot: secrets inside the worktree, the repository's own files, the program's own configuration.
 *
 * A pattern with `/` is anchored to the worktree unless it is absolute or begins `~/`; one without (a `/` at its end
 * aside) matches that name at any depth. What matches a directory covers everything below it. Case does not count.
 *
 * @module
 */
import type { PathRule } from "../config/settings.ts";
import { ConfigError } from "../errors.ts";
import { isAbsolute, isWithin, normalize, rootOf, toSlashes } from "../text/path.ts";
import type { Action } from "../tool.ts";
import {
  compileSegment,
  escapeGlob,
  expandBraces,
  isPattern,
  matches,
  matchesName,
  namesOf,
  type Segment,
} from "./_glob.ts";
import type { GuardRule } from "./types.ts";
import { absolutePath, locate, type PathBase } from "./worktree.ts";

/** A rule, ready to be asked. */
export interface CompiledRule {
  /** `path_rules[3]` for a user's, `path_rules.default(.git)` for a built-in one. */
  readonly name: string;
  readonly rule: PathRule;
  readonly builtIn: boolean;
  /** Alternatives; any of them may match. */
  readonly patterns: readonly CompiledPattern[];
}

/** One alternative of a rule's pattern. */
export interface CompiledPattern {
  /** A name at any depth; otherwise the segments stand for a whole absolute path. */
  readonly anywhere: boolean;
  readonly segments: readonly Segment[];
  /** Absolute glob, or a bare name pattern: the form that the guard gets. */
  readonly text: string;
  /** Absolute path up to the first wildcard; empty for a name pattern. */
  readonly literal: string;
}

/** What the built-in rules need to know beside the worktree. */
export interface RuleBase extends PathBase {
  /** The program's global configuration directory. */
  readonly configDir: string;
  /** Where the anchors of sessions are kept. */
  readonly stateDir?: string;
}

const SECRETS = [
  ".env*",
  "*.pem",
  "*.key",
  "id_rsa*",
  "id_ed25519*",
  ".netrc",
  ".npmrc",
  "credentials*.json",
];

/** Where the program keeps what files held and what calls brought: it may come from a file that needs a yes itself. */
const KEPT = ["sessions", "journal"];

/**
 * The rules that hold before the user's: nothing writes below `.git`; secrets, what the program kept of files, and its
 * own configuration need a yes.
 */
export function builtInRules(
  base: { readonly configDir: string; readonly stateDir?: string },
): readonly PathRule[] {
  const own = [base.configDir, base.stateDir].filter((dir) => dir !== undefined && dir !== "").map((dir) =>
    escape(dir!)
  );
  return [
    { path: ".polyglav", access: "write", action: "ask" },
    ...own.map((path): PathRule => ({ path, access: "write", action: "ask" })),
    { path: ".git", access: "write", action: "deny" },
    ...(Deno.build.os === "windows" ? [{ path: "git~[0-9]", access: "write", action: "deny" } as const] : []),
    ...own.map((path): PathRule => ({ path, access: "read", action: "ask" })),
    ...SECRETS.map((path): PathRule => ({ path, access: "read", action: "ask" })),
    ...KEPT.map((name): PathRule => ({ path: `**/.polyglav/${name}`, access: "read", action: "ask" })),
  ];
}

function escape(path: string): string {
  const p = normalize(path), root = rootOf(p);
  return root + p.slice(root.length).split("/").map(escapeGlob).join("/");
}

/** The rules in force, in order: built-in ones, then `settings.path_rules`. */
export function compileRules(user: readonly PathRule[], base: RuleBase): readonly CompiledRule[] {
  if (!Array.isArray(user)) throw new ConfigError("path_rules must be a list of rules");
  const places = remembered(base);
  return [
    ...builtInRules(base).map((rule) => compileRule(rule, `path_rules.default(${rule.path})`, true, places)),
    ...user.map((rule, index) => compileRule(rule, `path_rules[${index}]`, false, places)),
  ];
}

/** The same base, which asks the system about each path once: the rules are about few places. */
function remembered(base: PathBase): PathBase {
  const known = new Map<string, { readonly path: string } | { readonly error: unknown }>();
  const realPath = (path: string): string => {
    let answer = known.get(path);
    if (!answer) {
      try {
        answer = { path: base.realPath(path) };
      } catch (error) {
        answer = { error };
      }
      known.set(path, answer);
    }
    if ("error" in answer) throw answer.error;
    return answer.path;
  };
  return { ...base, realPath };
}

/**
 * Compiles one rule.
 *
 * @throws {ConfigError} for a rule that cannot be understood: dropping it would let through what it forbids
 */
export function compileRule(rule: PathRule, name: string, builtIn: boolean, base: PathBase): CompiledRule {
  const broken = ruleProblem(rule);
  if (broken) throw new ConfigError(`${name}: ${broken}`);
  let alternatives: string[];
  try {
    alternatives = expandBraces(toSlashes(rule.path));
  } catch {
    throw new ConfigError(`${name}: "${rule.path}" has too many alternatives in braces; write several rules`);
  }
  return { name, rule, builtIn, patterns: alternatives.flatMap((text) => compilePattern(text, base)) };
}

function ruleProblem(rule: PathRule): string | null {
  if (rule === null || typeof rule !== "object") return "a rule is an object with path, access and action";
  if (typeof rule.path !== "string" || rule.path.trim() === "") {
    return "path must be a pattern that is not empty";
  }
  if (rule.path.includes("\0")) return "path holds a NUL byte";
  if (rule.access !== "read" && rule.access !== "write") {
    return `access is ${JSON.stringify(rule.access)}; it must be "read" or "write"`;
  }
  if (rule.action !== "allow" && rule.action !== "ask" && rule.action !== "deny") {
    return `action is ${JSON.stringify(rule.action)}; it must be "allow", "ask" or "deny"`;
  }
  return null;
}

function compilePattern(text: string, base: PathBase): CompiledPattern[] {
  const bare = text.replace(/\/+$/, "");
  if (
    bare !== "" && bare !== "." && bare !== ".." && bare !== "~" && bare !== "**" && !bare.includes("/") &&
    !isAbsolute(text)
  ) {
    return [{ anywhere: true, segments: [compileSegment(bare)], text: bare, literal: "" }];
  }
  const home = escape(base.home), worktree = escape(base.worktree);
  const whole = absolutePath(text, { worktree, home });
  const parts = whole.slice(rootOf(whole).length).split("/").filter((part) => part !== "");
  const wild = parts.findIndex(isWild);
  const fixed = (wild < 0 ? parts : parts.slice(0, wild)).map(unescapeGlob);
  const literal = normalize(rootOf(whole) + fixed.join("/"));
  const tail = wild < 0 ? [] : parts.slice(wild);
  const spelled = anchored(literal, tail);
  const real = locate(literal, base);
  if ("problem" in real || real.path === literal) return [spelled];
  return [spelled, anchored(real.path, tail)];
}

function anchored(literal: string, tail: readonly string[]): CompiledPattern {
  const root = rootOf(literal);
  const fixed = literal.slice(root.length).split("/").filter((part) => part !== "").map(escapeGlob);
  const first = root.split("/").filter((part) => part !== "").map(escapeGlob);
  const parts = [...fixed, ...tail];
  return {
    anywhere: false,
    segments: [...first, ...parts].map(compileSegment),
    text: root + parts.join("/"),
    literal,
  };
}

function isWild(part: string): boolean {
  return part === "**" || isPattern(part.replace(/\[([*?[{\\])\]/g, ""));
}

function unescapeGlob(part: string): string {
  return part.replace(/\[([*?[{\\])\]/g, "$1");
}

/** A path, cut once for all rules. */
export interface RulePath {
  readonly path: string;
  /** All names, folded. */
  readonly whole: readonly string[];
  /** Below the worktree: the names from there on; else all of them. */
  readonly own: readonly string[];
  readonly inside: boolean;
}

/** Cuts an absolute path for {@link ruleFor}. Names above the worktree do not count as names for paths inside it. */
export function rulePath(path: string, worktree: string): RulePath {
  const inside = isWithin(path, worktree), whole = namesOf(path);
  return { path, whole, own: inside ? whole.slice(namesOf(worktree).length) : whole, inside };
}

/** Whether a rule's pattern covers a path. */
export function covers(compiled: CompiledRule, path: RulePath): boolean {
  return compiled.patterns.some((pattern) => {
    if (!pattern.anywhere) return matches(pattern.segments, path.whole);
    // A name alone says nothing of places outside: it may forbid there, but not open them.
    if (!path.inside && compiled.rule.action === "allow") return false;
    const name = pattern.segments[0]!;
    return name === "**" || path.own.some((own) => matchesName(name, own));
  });
}

/** The last rule for this access that covers the path, or null. */
export function ruleFor(
  rules: readonly CompiledRule[],
  access: "read" | "write",
  path: RulePath,
): CompiledRule | null {
  for (let i = rules.length - 1; i >= 0; i--) {
    const compiled = rules[i]!;
    if (compiled.rule.access === access && covers(compiled, path)) return compiled;
  }
  return null;
}

/**
 * The rules in the form that the guard applies with its own matcher, in the same order. A name pattern with `allow`
 * is anchored to the worktree, since it opens nothing outside.
 */
export function guardRules(rules: readonly CompiledRule[], worktree: string): readonly GuardRule[] {
  const inside = escape(worktree).replace(/\/$/, "");
  return rules.flatMap(({ rule, patterns }) =>
    patterns.map(({ anywhere, text }): GuardRule => ({
      pattern: anywhere && rule.action === "allow" ? `${inside}/**/${text}` : text,
      access: rule.access,
      action: rule.action,
    }))
  );
}

/** What a path needs beyond being inside: nothing, or what the rule says. For texts that explain. */
export function actionOf(rule: CompiledRule | null): Action | null {
  return rule === null ? null : rule.rule.action;
}
