/**
 * Decisions for people: every rule that was looked at, in order, and the one that decided.
 *
 * @module
 */
import type { Action, Tool } from "../tool.ts";
import { visible } from "./_text.ts";
import { isDenoName } from "./programs.ts";
import type { Decision, PermissionSet } from "./types.ts";

/** A decision as plain data, for `--output json`. */
export interface Explanation {
  readonly tool: string;
  readonly action: Action;
  readonly rule: string;
  readonly reason: string;
  readonly trail: readonly {
    readonly rule: string;
    readonly action: Action | null;
    readonly reason: string;
    readonly decided: boolean;
  }[];
  readonly paths: readonly {
    readonly path: string;
    readonly access: string;
    readonly canonical: string;
    readonly inside: boolean;
    readonly needs_consent: string | null;
  }[];
  readonly command: {
    readonly mode: "shell" | "tree";
    readonly segments: readonly {
      readonly text: string;
      readonly allowed: boolean;
      readonly reason: string;
    }[];
    readonly refused: { readonly construct: string; readonly segment: string } | null;
  } | null;
  readonly permissions: PermissionSet | null;
  /** What the call may start (`--allow-run`), as absolute paths. */
  readonly programs: readonly string[];
}

/**
 * The decision as data.
 *
 * @param permissions what the call would run with, where it is known
 * @param programs absolute paths of what the tool may ever start, for a call without permissions
 */
export function explanation(
  decision: Decision,
  tool: Tool,
  permissions: PermissionSet | null = null,
  programs: readonly string[] = [],
): Explanation {
  const decisive = decisiveIndex(decision);
  const { command } = decision;
  return {
    tool: tool.name,
    action: decision.action,
    rule: decision.rule,
    reason: decision.reason,
    trail: decision.trail.map(({ rule, action, reason }, index) => ({
      rule,
      action,
      reason,
      decided: index === decisive,
    })),
    paths: decision.paths.map(({ path, access, canonical, inside, consent }) => ({
      path,
      access,
      canonical,
      inside,
      needs_consent: consent,
    })),
    command: command
      ? {
        mode: command.mode,
        segments: command.segments.map(({ text, allowed, reason }) => ({ text, allowed, reason })),
        refused: command.refused ?? null,
      }
      : null,
    permissions,
    programs: (permissions?.run ?? programs).filter(named),
  };
}

/**
 * The decision as text: a first line with the action, then the rules in order with `>` before the one that decided, the
 * paths, the segments of a command and the permissions. Ends without a newline; free of control characters.
 *
 * @param programs absolute paths of what the tool may ever start; shown where the call has no permissions
 */
export function explain(
  decision: Decision,
  tool: Tool,
  permissions: PermissionSet | null = null,
  programs: readonly string[] = [],
): string {
  const data = explanation(decision, tool, permissions, programs);
  const lines = [`${data.tool}: ${data.action} (${data.rule}: ${data.reason})`, "rules, in order:"];
  const width = Math.max(0, ...data.trail.map(({ rule }) => rule.length));
  for (const { rule, action, reason, decided } of data.trail) {
    lines.push(`${decided ? ">" : " "} ${rule.padEnd(width)}  ${(action ?? "-").padEnd(5)}  ${reason}`);
  }
  if (data.trail.length === 0) lines.push("  none");
  if (data.paths.length > 0) lines.push("paths:");
  for (const { path, access, canonical, inside, needs_consent } of data.paths) {
    const state = needs_consent === null
      ? inside ? "inside" : "outside, opened by a rule"
      : `needs a yes: ${needs_consent}`;
    lines.push(`  ${access.padEnd(5)}  ${path === canonical ? path : `${path} -> ${canonical}`}  (${state})`);
  }
  if (data.command) {
    const { mode, segments: verdicts } = data.command, tree = mode === "tree";
    const [yes, no] = tree ? ["allowed", "refused"] : ["on it    ", "not on it"];
    const how = verdicts.length > 0 ? ", because not all of it is on tool_permission.bash_auto:" : "";
    lines.push(tree ? "command, run without a shell:" : `command, run by the shell${how}`);
    for (const { text, allowed, reason } of verdicts) {
      lines.push(`  ${allowed ? yes : no}  ${text}  (${reason})`);
    }
    const { refused, segments } = data.command;
    if (refused && !segments.some(({ text, allowed }) => !allowed && text === refused.segment)) {
      lines.push(`  refused  ${refused.segment}  (${refused.construct})`);
    }
  }
  if (permissions) lines.push("permissions of its worker:", ...permissionLines(permissions));
  else if (data.programs.length > 0) {
    lines.push("programs that its calls may start:", `  --allow-run=${data.programs.join(",")}`);
  }
  return lines.map(visible).join("\n");
}

function permissionLines(permissions: PermissionSet): string[] {
  const kinds = ["read", "write", "run", "net", "env"] as const;
  const lines = kinds.filter((kind) => permissions[kind].length > 0).map((kind) =>
    `  --allow-${kind}=${permissions[kind].filter((value) => kind !== "run" || named(value)).join(",")}`
  );
  return lines.length > 0 ? lines : ["  none"];
}

/** Deno's own name never stands in a list of programs. */
function named(program: string): boolean {
  return !isDenoName(program);
}

function decisiveIndex(decision: Decision): number {
  return decision.trail.findLastIndex(({ rule, action, reason }) =>
    rule === decision.rule && action === decision.action && reason === decision.reason
  );
}
