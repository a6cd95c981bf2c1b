/**
 * Path rules of an untrusted project. The last rule that matches wins, so a rule that is added can also *raise* what
 * an earlier one says: `ask` after `deny`. What is added here never does.
 *
 * @module
 */
import type { PathRule } from "./settings.ts";

/**
 * The built-in rules that deny (the policy reads them before the user's): nothing writes below `.git`. Repeated
 * behind a project's `ask`, so that it cannot weaken them.
 */
const BUILT_IN: readonly PathRule[] = (Deno.build.os === "windows" ? [".git", "git~[0-9]"] : [".git"])
  .map((path) => ({ path, access: "write", action: "deny" }));

/**
 * The rules to put behind the user's own, so that no path is allowed more than before.
 *
 * - `allow` is left out, `deny` is taken as it is.
 * - `ask` is taken, followed by the user's rules of the same access that deny. Where a later rule of the user carves
 *   an exception out of one of those, repeating it would undo that exception; then the project's `ask` becomes
 *   `deny` instead, which narrows nothing but what the project named.
 *
 * Whether a project's pattern can reach what a rule of the user denies is not looked at: the project decides where
 * its links lead, so the texts of two patterns prove nothing.
 *
 * @param own the user's rules
 * @param wanted the project's rules
 */
export function narrowRules(own: readonly PathRule[], wanted: readonly PathRule[]): PathRule[] {
  const added: PathRule[] = [];
  for (const rule of wanted) {
    if (rule.action === "allow") continue;
    if (rule.action === "deny") {
      added.push(copy(rule));
      continue;
    }
    const kind = own.filter(({ access }) => access === rule.access);
    const denials = kind.filter(({ action }) => action === "deny");
    const git = rule.access === "write" ? BUILT_IN : [];
    const excepted = kind.some((later, index) =>
      later.action !== "deny" &&
      (kind.slice(0, index).some((other) => other.action === "deny" && mayMeet(later, other)) ||
        (git.length > 0 && later.path.toLowerCase().split(/[\\/]/).includes(".git")))
    );
    if (excepted) added.push({ ...copy(rule), action: "deny" });
    else added.push(...[rule, ...denials, ...git].map(copy));
  }
  return unique(added);
}

function copy({ path, access, action }: PathRule): PathRule {
  return { path, access, action };
}

/** Of equal rules the last one counts. */
function unique(rules: readonly PathRule[]): PathRule[] {
  const last = new Map<string, PathRule>();
  for (const rule of rules) {
    const text = JSON.stringify(rule);
    last.delete(text);
    last.set(text, rule);
  }
  return [...last.values()];
}

/** Whether some path may match both; false only where their texts exclude it. */
function mayMeet(a: PathRule, b: PathRule): boolean {
  const one = fixedParts(a.path), two = fixedParts(b.path);
  if (one === null || two === null) return true;
  return one.slice(0, two.length).every((part, index) => part === two[index]);
}

/** The leading parts of a pattern below the worktree that stand for themselves; null where it is of another kind. */
function fixedParts(pattern: string): string[] | null {
  const parts = pattern.split("/");
  if (parts.length < 2 || parts.some((part) => ["", ".", "..", "~"].includes(part) || part.includes("\\"))) {
    return null;
  }
  const free = parts.findIndex((part) => !/^[A-Za-z0-9_.-]+$/.test(part));
  return parts.slice(0, free < 0 ? parts.length : free).map((part) => part.toLowerCase());
}
