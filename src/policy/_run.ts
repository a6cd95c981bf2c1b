/**
 * Which programs a tool may start, as absolute paths.
 *
 * @module
 */
import { messageOf, PolicyDenied } from "../errors.ts";
import type { Tool } from "../tool.ts";
import type { PolicyCore } from "./_core.ts";
import { prefixesAt } from "./modes.ts";
import { type ProgramSearch, resolvePrograms } from "./programs.ts";
import type { PolicyInput } from "./tool_policy.ts";
import type { Decision } from "./types.ts";

/** How programs are searched for with this input. */
export function programSearch(input: PolicyInput): ProgramSearch {
  return {
    path: input.env.PATH ?? input.env.Path ?? "",
    pathExt: input.env.PATHEXT,
    worktree: input.worktree,
    exists: input.isProgram,
    realPath: input.realPath,
  };
}

/**
 * The programs that a call, or (decision null) any call of the tool, may start. Under an allowlist they are those that
 * begin its entries; a shell is not among them then.
 */
export function programsOf(
  tool: Tool,
  decision: Decision | null,
  mode: "shell" | "tree",
  core: PolicyCore,
): { readonly paths: readonly string[]; readonly deno: readonly string[] } {
  if (!tool.access.includes("run")) return { paths: [], deno: [] };
  const search = programSearch(core.input);
  if (tool.commandArg !== undefined) {
    const allow = prefixesAt(core.effective.permission, "bash_allow");
    const auto = prefixesAt(core.effective.permission, "bash_auto");
    if (allow.restricts || mode === "tree") {
      const names = (allow.restricts ? allow : auto).prefixes.map((prefix) => prefix.trim().split(/\s+/)[0]!);
      return { paths: resolvePrograms(names, search).paths, deno: [] };
    }
  }
  let names: readonly string[];
  try {
    names = tool.programs?.(null, core.input.settings as unknown as Record<string, unknown>) ?? [];
    if (tool.commandArg !== undefined && names.length === 0) names = ["$shell"];
  } catch (error) {
    throw new PolicyDenied(
      `${tool.name} cannot say which programs it starts: ${messageOf(error)}`,
      "programs",
    );
  }
  const found = resolvePrograms(names.map((name) => name === "$shell" ? core.input.shell : name), search);
  return { paths: found.paths, deno: decision === null || found.paths.length > 0 ? [] : found.deno };
}
