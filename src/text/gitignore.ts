/**
 * The rules of a .gitignore file.
 *
 * Source: gitignore(5), "Pattern format"; where that is silent, what `git check-ignore` of git 2.39 does.
 *
 * @module
 */
import { compileGitName, type NameTest } from "./glob.ts";

/** One rule. */
interface Rule {
  readonly negated: boolean;
  readonly directoryOnly: boolean;
  /** Tests the last name alone; the pattern had no `/`. */
  readonly name?: NameTest;
  /** Tests the path below the rules' directory, segment by segment. */
  readonly path?: readonly ("**" | NameTest)[];
}

/** The rules of one file, and those of the directories above it. */
export interface IgnoreRules {
  /** Path of the file's directory, as the tested paths begin: empty or with a `/` at its end. */
  readonly base: string;
  readonly rules: readonly Rule[];
  /** Rules that count only where these say nothing. */
  readonly above: IgnoreRules | null;
}

/**
 * Reads the text of a .gitignore file.
 *
 * @param text its content
 * @param base directory of the file: empty, or with a `/` at its end
 * @param above the rules that hold there already
 * @returns `above` when the file has no rules
 */
export function parseIgnore(text: string, base: string, above: IgnoreRules | null): IgnoreRules | null {
  const rules: Rule[] = [];
  for (const line of text.replace(/^\uFEFF/, "").split("\n")) {
    const rule = parseRule(line.replace(/\r$/, ""));
    if (rule) rules.push(rule);
  }
  return rules.length > 0 ? { base, rules, above } : above;
}

/**
 * Whether a path is ignored by itself. Its parents are not looked at: a walk does not enter an ignored directory, and
 * nothing below it can be taken back in.
 *
 * @param path path of the entry, beginning with each `base`
 * @param name its last part
 */
export function isIgnored(
  ignore: IgnoreRules | null,
  path: string,
  name: string,
  isDirectory: boolean,
): boolean {
  for (let level = ignore; level !== null; level = level.above) {
    const { rules, base } = level;
    let names: string[] | null = null;
    for (let i = rules.length - 1; i >= 0; i--) {
      const rule = rules[i]!;
      if (rule.directoryOnly && !isDirectory) continue;
      const hit = rule.name
        ? rule.name(name)
        : matchPath(rule.path!, names ??= path.slice(base.length).split("/"));
      if (hit) return !rule.negated;
    }
  }
  return false;
}

function parseRule(line: string): Rule | null {
  if (line.startsWith("#")) return null;
  let text = trimEnd(line);
  const negated = text.startsWith("!");
  if (negated) text = text.slice(1);
  const directoryOnly = text.endsWith("/");
  if (directoryOnly) text = text.slice(0, -1);
  if (text === "") return null;
  if (!text.includes("/")) return { negated, directoryOnly, name: compileGitName(text) };
  const segments = text.replace(/^\//, "").split("/").map((segment) =>
    segment === "**" ? "**" as const : compileGitName(segment)
  );
  return { negated, directoryOnly, path: segments };
}

/** Trailing spaces go, unless a backslash keeps one. */
function trimEnd(line: string): string {
  let end = line.length;
  while (end > 0 && line[end - 1] === " ") {
    let slashes = 0;
    while (line[end - 2 - slashes] === "\\") slashes++;
    if (slashes % 2 === 1) break;
    end--;
  }
  return line.slice(0, end);
}

/** As `**` is greedy only in what the last one takes, time stays proportional to segments × names. */
function matchPath(segments: readonly ("**" | NameTest)[], names: readonly string[]): boolean {
  let s = 0, n = 0, star = -1, resume = 0;
  while (n < names.length) {
    const segment = segments[s];
    if (segment === "**") {
      // At the end it means everything inside, so at least one name.
      if (s === segments.length - 1) return true;
      [star, resume] = [s++, n];
    } else if (segment !== undefined && segment(names[n]!)) s++, n++;
    else if (star === -1) return false;
    else [s, n] = [star + 1, ++resume];
  }
  return s === segments.length;
}
