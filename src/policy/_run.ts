/**
 * Which programs a tool may start, as absolute paths.
 *
 * @module
 */
import { messageOf, PolicyDenied } from "../errors.ts";
import { basename } from "../text/path.ts";
import type { Tool } from "../tool.ts";
import type { PolicyCore, RunList } from "./_core.ts";
import { prefixesAt } from "./modes.ts";
import { type ProgramSearch, resolvePrograms } from "./programs.ts";
import type { PolicyInput } from "./tool_policy.ts";

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

/** What the sandbox itself starts beside a command: to make the pipe for its output, and to end its process group. */
const HELPERS: ReadonlySet<string> = new Set(["mkfifo", "kill", "taskkill"]);
/** Of these, the ones that this system does not have: looking for them would be looking in vain at each call. */
const FOREIGN: ReadonlySet<string> = new Set(Deno.build.os === "windows" ? ["mkfifo", "kill"] : ["taskkill"]);

/** Names without the sandbox's own helpers. */
export function withoutHelpers(names: readonly string[]): readonly string[] {
  return names.filter((name) => !HELPERS.has(name));
}

/** Of absolute paths, those of the sandbox's own helpers. */
export function helpersOf(paths: readonly string[]): readonly string[] {
  return paths.filter((path) => HELPERS.has(basename(path).replace(/\.exe$/i, "")));
}

/** The first word of an entry of a command list, quotes removed. */
export function firstWord(prefix: string): string {
  const word = /^(?:'[^']*'|"[^"]*"|\\.|[^\s'"\\])+/.exec(prefix.trim())?.[0] ?? "";
  return word.replace(
    /'([^']*)'|"([^"]*)"|\\(.)/g,
    (_, single, double, escaped) => single ?? double ?? escaped,
  );
}

/**
 * Whether an allowlist holds for a tool that the `bash` key gates, but that takes no command line; the lists then, all of
 * which must let a program through.
 */
export function listsFor(tool: Tool, core: PolicyCore): readonly (readonly string[])[] | null {
  if (tool.permission !== "bash" || tool.commandArg !== undefined) return null;
  const allow = prefixesAt(core.effective.permission, "bash_allow");
  return allow.restricts ? [allow.prefixes, ...core.input.within?.allow ?? []] : null;
}

/** Of programs by name, those that begin an entry of each list. */
export function onLists(names: readonly string[], lists: readonly (readonly string[])[]): readonly string[] {
  return names.filter((name) => lists.every((list) => list.some((prefix) => firstWord(prefix) === name)));
}

/**
 * The programs that calls of a tool may start, from configuration alone. Under an allowlist they are those that begin
 * its entries (for a tool that takes no command line: those of its own that do), with the tool's helpers; a shell is not
 * among them then. With confinement what confines is added.
 *
 * @param mode how a command line is run; for tools that take none it does not count
 * @throws {PolicyDenied} when the tool cannot say what it starts
 */
export function programsOf(tool: Tool, mode: "shell" | "tree", core: PolicyCore): RunList {
  if (!tool.access.includes("run")) return { paths: [], deno: [], byName: {} };
  const { input, effective } = core;
  let names: readonly string[];
  try {
    names = tool.programs?.(null, input.settings as unknown as Record<string, unknown>) ?? [];
  } catch (error) {
    throw new PolicyDenied(
      `${tool.name} cannot say which programs it starts: ${messageOf(error)}`,
      "programs",
    );
  }
  // What the sandbox starts for itself is no program of the call: no name leads there.
  let own = withoutHelpers(names);
  if (tool.commandArg !== undefined) {
    const allow = prefixesAt(effective.permission, "bash_allow");
    const auto = prefixesAt(effective.permission, "bash_auto");
    if (allow.restricts || mode === "tree") {
      const also = input.within?.[allow.restricts ? "allow" : "auto"] ?? [];
      own = (allow.restricts ? allow : auto).prefixes.map(firstWord).filter((name) =>
        name !== "" && also.every((list) => list.some((prefix) => firstWord(prefix) === name))
      );
    } else if (own.length === 0) own = ["$shell"];
  } else {
    const lists = listsFor(tool, core);
    if (lists) own = onLists(own, lists);
  }
  const helpers = names.filter((name) => HELPERS.has(name) && !FOREIGN.has(name));
  const callable = own.map((name) => name === "$shell" ? input.shell : name);
  const wanted = [...callable, ...helpers, ...input.wrappers ?? []];
  const key = JSON.stringify([callable, wanted]), known = core.programs.get(key);
  if (known) return known;
  const { paths, deno, missing, byName } = resolvePrograms(wanted, programSearch(input));
  const mine = new Set(callable);
  const list: RunList = {
    paths,
    deno,
    byName: Object.fromEntries(Object.entries(byName).filter(([name]) => mine.has(name))),
  };
  // What is missing may be installed during the run; what was found stays.
  if (missing.length === 0) core.programs.set(key, list);
  return list;
}
