/**
 * The path step of a decision: which paths a call touches, where they lead and what the rules say of them.
 *
 * @module
 */
import { messageOf } from "../errors.ts";
import { isWithin } from "../text/path.ts";
import type { Action, PathUse, Tool } from "../tool.ts";
import type { PolicyCore } from "./_core.ts";
import { visible } from "./_text.ts";
import { type CompiledRule, ruleFor, rulePath } from "./path_rules.ts";
import type { ResolvedPath } from "./types.ts";
import { locate } from "./worktree.ts";

/** One path, judged. */
export interface JudgedPath {
  /** Null where the path must not be used at all. */
  readonly resolved: ResolvedPath | null;
  /** What the worktree and the rules say, in order. */
  readonly findings: readonly {
    readonly rule: string;
    readonly action: Action | null;
    readonly reason: string;
  }[];
}

/**
 * The paths that a call touches: what the tool's `paths` says; else its path argument, or the schema's default for it,
 * with the strongest of the tool's access. A tool that reads and writes touches the path in both ways.
 *
 * @throws {Error} when the tool's `paths` throws or answers something else than a list of uses
 */
export function pathUses(tool: Tool, args: Readonly<Record<string, unknown>>): readonly PathUse[] {
  if (tool.paths) {
    const uses: unknown = tool.paths(args);
    if (!Array.isArray(uses)) throw new Error(`its list of paths cannot be understood`);
    for (const use of uses) {
      if (use?.access !== "list" && use?.access !== "read" && use?.access !== "write") {
        throw new Error(`its list of paths holds an access that cannot be understood`);
      }
    }
    return uses;
  }
  if (!tool.pathArg) return [];
  const path = args[tool.pathArg] ?? tool.parameters.properties[tool.pathArg]?.default;
  if (path === undefined || path === null) return [];
  return accessOf(tool).map((access) => ({ path: path as string, access }));
}

function accessOf(tool: Tool): readonly PathUse["access"][] {
  const has = (access: "read" | "write" | "run") => tool.access.includes(access);
  if (has("write")) return has("read") ? ["read", "write"] : ["write"];
  if (tool.access.length === 0 && (tool.permission === "edit" || tool.permission === "vcs")) return ["write"];
  if (tool.permission === "list" || (has("run") && !has("read"))) return ["list"];
  return ["read"];
}

/** Judges one path. Never throws. */
export function judgePath(use: PathUse, core: PolicyCore): JudgedPath {
  const place = locate(use.path, core.base);
  if ("problem" in place) {
    const shown = typeof use.path === "string" ? JSON.stringify(use.path.slice(0, 80)) : "a path";
    return {
      resolved: null,
      findings: [{ rule: "path", action: "deny", reason: `${shown} cannot be used: ${place.problem}` }],
    };
  }
  const findings: { rule: string; action: Action | null; reason: string }[] = [];
  const path = rulePath(place.path, core.input.worktree),
    verb = use.access === "write" ? "writing" : "reading";
  const rule = ruleFor(core.rules, use.access === "write" ? "write" : "read", path);
  let consent: string | null = null;
  const say = (name: string, action: Action | null, reason: string) => {
    findings.push({ rule: name, action, reason });
    if (action === "ask") consent ??= visible(reason);
  };
  if (!place.inside) {
    const lifts = place.unseen === null && rule !== null && !rule.builtIn && rule.rule.action === "allow";
    // Where a path cannot be looked at (the process may not), it counts as outside by what it says.
    const where = place.unseen === null || !isWithin(place.path, core.input.worktree)
      ? `${place.path} is outside the worktree`
      : `${place.path} counts as outside the worktree, because ${place.unseen}`;
    if (lifts) say(rule.name, "allow", `${where}; the rule for ${rule.rule.path} opens it`);
    else say("worktree", "ask", where);
  }
  if (use.access !== "list") {
    const spelled = place.spelled === place.path
      ? null
      : ruleFor(core.rules, use.access, rulePath(place.spelled, core.input.worktree));
    for (const found of new Set([rule, spelled])) {
      if (found === null || (found !== rule && found.rule.action === "allow")) continue;
      if (found.rule.action !== "allow" || place.inside) {
        say(found.name, found.rule.action, ruleReason(found, verb, place.path));
      }
    }
  }
  if (use.access !== "list") {
    const spelled = rulePath(place.spelled, core.input.worktree);
    for (const layer of core.layers) {
      for (const found of new Set([ruleFor(layer, use.access, path), ruleFor(layer, use.access, spelled)])) {
        if (found === null || found.rule.action === "allow") continue;
        say(found.name, found.rule.action, ruleReason(found, verb, place.path));
      }
    }
  }
  return {
    resolved: { path: use.path, access: use.access, canonical: place.path, inside: place.inside, consent },
    findings,
  };
}

function ruleReason(found: CompiledRule, verb: string, path: string): string {
  const says = { allow: "is allowed", ask: "needs a yes", deny: "is denied" }[found.rule.action];
  return `${verb} ${path} ${says} by the ${found.builtIn ? "built-in " : ""}rule for ${found.rule.path}`;
}

/** Why a tool's own description of a call could not be used. */
export function brokenHook(tool: Tool, hook: string, error: unknown): string {
  return `${tool.name}'s ${hook} failed: ${messageOf(error)}`;
}
