/**
 * What a person said yes to for good: single calls, and tools. It lifts an `ask` of the tool's key, the exact call also
 * one of the tool's resolver, of the network's cap, of a checked command's files and of the very places outside the
 * worktree that were shown. It never lifts a deny, a mode, a path rule or a web rule, and sub-agents do not inherit it.
 *
 * @module
 */
import type { Settings } from "../config/settings.ts";
import type { Tool } from "../tool.ts";
import type { PolicyCore } from "./_core.ts";
import { policyCore } from "./_core.ts";
import type { AskKind } from "./_verdict.ts";
import { ruleFor, rulePath } from "./path_rules.ts";
import type { PolicyInput } from "./tool_policy.ts";
import type { Decision, ResolvedPath } from "./types.ts";

const EXACT: ReadonlySet<AskKind> = new Set(["category", "resolver", "cap", "worktree", "files"]);

/** What of a question may be remembered, by what asks. */
export function liftable(asks: ReadonlySet<AskKind>): { readonly exact: boolean; readonly tool: boolean } {
  const kinds = [...asks];
  return {
    exact: kinds.length > 0 && kinds.every((kind) => EXACT.has(kind)),
    tool: kinds.length === 1 && kinds[0] === "category",
  };
}

/** Arguments as a text that is the same for equal ones, whatever the order of their names. */
export function argumentsText(args: unknown): string {
  return JSON.stringify(args, (_, value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).sort(([a], [b]) => a < b ? -1 : a > b ? 1 : 0));
  });
}

/** The places outside the worktree that a call needs a yes for. */
export function outsidePaths(
  paths: readonly ResolvedPath[],
): { readonly path: string; readonly access: "list" | "read" | "write" }[] {
  return paths.filter(({ consent }) => consent !== null)
    .map(({ canonical, access }) => ({ path: canonical, access }));
}

/** Whether exactly this call, leading to the same places as then, is one that a person said yes to for good. */
export function rememberedCall(
  tool: Pick<Tool, "name" | "parameters">,
  args: Readonly<Record<string, unknown>>,
  paths: readonly ResolvedPath[],
  settings: Settings,
): boolean {
  const calls = (settings.consent?.calls ?? []).filter((call) => call.tool === tool.name);
  if (calls.length === 0) return false;
  const whole = (given: object) => argumentsText({ ...defaultsOf(tool), ...given });
  const text = whole(args), outside = outsidePaths(paths);
  return calls.some((call) =>
    whole(call.arguments) === text &&
    outside.every(({ path, access }) =>
      call.paths?.some((known) => known.path === path && known.access === access) ?? false
    )
  );
}

/** What a call that leaves an argument out runs with. */
function defaultsOf({ parameters }: Pick<Tool, "parameters">): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(parameters.properties).filter(([, schema]) => schema.default !== undefined)
      .map(([name, schema]) => [name, schema.default]),
  );
}

/** Whether a person said yes for good to every call of the tool that nothing but its key asks. */
export function rememberedTool(tool: Pick<Tool, "name">, settings: Settings): boolean {
  return settings.consent?.tools.includes(tool.name) ?? false;
}

/**
 * Whether the places outside the worktree that a call touches are opened by a yes for good. Read from the configuration
 * here, not from a decision's action; a path rule against one of them closes all.
 */
export function placesRemembered(
  tool: Tool,
  args: Readonly<Record<string, unknown>>,
  decision: Decision,
  input: PolicyInput,
): boolean {
  if (!rememberedCall(tool, args, decision.paths, input.settings)) return false;
  const core = policyCore(input);
  return decision.paths.every((path) => path.consent === null || (!path.inside && !ruled(path, core)));
}

function ruled({ canonical, access }: ResolvedPath, core: PolicyCore): boolean {
  if (access === "list") return false;
  const place = rulePath(canonical, core.input.worktree);
  return [core.rules, ...core.layers].some((rules) =>
    (ruleFor(rules, access, place)?.rule.action ?? "allow") !== "allow"
  );
}
