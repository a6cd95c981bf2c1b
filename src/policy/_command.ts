/**
 * The command step of a decision: whether a command line may run, and whether a shell or the checked tree runs it.
 *
 * @module
 */
import { messageOf } from "../errors.ts";
import type { Action, Tool } from "../tool.ts";
import type { PolicyCore } from "./_core.ts";
import { type JudgedPath, judgePath } from "./_paths.ts";
import { listed } from "./_text.ts";
import { isDenoName, NO_DENO, resolveProgram } from "./programs.ts";
import { firstWord, programSearch, withoutHelpers } from "./_run.ts";
import { actionAt, prefixesAt } from "./modes.ts";
import { describeProblems } from "./_refusal.ts";
import type { CommandPlan } from "./types.ts";

const ALLOW = "tool_permission.bash_allow", AUTO = "tool_permission.bash_auto";

/** What the command rules say. */
export interface CommandVerdict {
  readonly plan: CommandPlan;
  /** Rules in order: a deny, or the allow of `bash_auto`. */
  readonly findings: readonly {
    readonly rule: string;
    readonly action: Action | null;
    readonly reason: string;
  }[];
  /** Every segment matches `bash_auto`: an ask of the category becomes allow. */
  readonly auto: boolean;
  /** The plan's paths, judged; any that is not plainly allowed is a deny. */
  readonly paths: readonly JudgedPath[];
}

/** Judges a command line. Never throws. @param cwd canonical directory that it starts in */
export function judgeCommand(command: unknown, core: PolicyCore, cwd: string): CommandVerdict {
  const allow = prefixesAt(core.effective.permission, "bash_allow");
  const auto = prefixesAt(core.effective.permission, "bash_auto");
  const { allow: alsoAllow = [], auto: alsoAuto = [] } = core.input.within ?? {};
  const denied = (reason: string, plan: CommandPlan, paths: readonly JudgedPath[] = []): CommandVerdict => ({
    plan,
    findings: [{ rule: ALLOW, action: "deny", reason }],
    auto: false,
    paths,
  });
  if (typeof command !== "string") return denied("a command must be text", NOTHING);
  const automatic = auto.prefixes.length > 0
    ? checkAll(command, [auto.prefixes, ...alsoAuto], core, cwd)
    : null;
  const runsItself = automatic !== null && automatic.problem === null;
  if (!allow.restricts) {
    if (runsItself) {
      const reason = `every command matches ${AUTO}`;
      return {
        plan: automatic.plan,
        findings: [{ rule: AUTO, action: "allow", reason }, ...automatic.asks],
        auto: true,
        paths: automatic.paths,
      };
    }
    const plan: CommandPlan = { mode: "shell", segments: [], programs: [core.input.shell], paths: [] };
    const findings = automatic ? [{ rule: AUTO, action: null, reason: automatic.problem ?? "" }] : [];
    return { plan, findings, auto: false, paths: [] };
  }
  const checked = checkAll(command, [allow.prefixes, ...alsoAllow], core, cwd);
  const asks = checked.asks;
  if (checked.problem !== null) {
    const names = checked.prefixes.length > 0
      ? listed(checked.prefixes)
      : "nothing (the list cannot be understood)";
    return denied(`${checked.problem}; allowed: ${names}`, checked.plan, checked.paths);
  }
  const findings = [{ rule: ALLOW, action: null, reason: "every command matches" } as const, ...asks];
  return runsItself
    ? {
      plan: checked.plan,
      findings: [
        { rule: AUTO, action: "allow", reason: `every command matches ${AUTO}` },
        ...findings,
      ],
      auto: true,
      paths: checked.paths,
    }
    : { plan: checked.plan, findings, auto: false, paths: checked.paths };
}

const NOTHING: CommandPlan = { mode: "tree", segments: [], programs: [], paths: [] };

interface Checked {
  readonly plan: CommandPlan;
  /** Why it must not run as a tree; null when it may. */
  readonly problem: string | null;
  readonly paths: readonly JudgedPath[];
  /** What asks although every command matches: writing, where `edit` asks. */
  readonly asks: CommandVerdict["findings"];
}

/** Checks against each list; the first that refuses decides. */
function checkAll(
  command: string,
  lists: readonly (readonly string[])[],
  core: PolicyCore,
  cwd: string,
): Checked & { readonly prefixes: readonly string[] } {
  let first: (Checked & { readonly prefixes: readonly string[] }) | undefined;
  for (const list of lists) {
    const prefixes = list.filter((prefix) => prefix.trim() !== "");
    const checked = { ...check(command, prefixes, core, cwd), prefixes };
    if (checked.problem !== null) return checked;
    first ??= checked;
  }
  return first!;
}

function check(command: string, prefixes: readonly string[], core: PolicyCore, cwd: string): Checked {
  const { input } = core;
  const failed = (problem: string): Checked => ({ plan: NOTHING, problem, paths: [], asks: [] });
  if (!input.checkCommand) return failed("no checker for commands is at hand");
  let plan: CommandPlan;
  try {
    plan = input.checkCommand(command, {
      prefixes,
      worktree: input.worktree,
      cwd,
      env: input.env,
      shell: input.shell,
      home: input.home,
    });
  } catch (error) {
    return failed(`the command cannot be checked (${messageOf(error)})`);
  }
  const paths = plan.paths.map((use) => judgePath(use, core));
  const writes = writing(paths, core);
  const problem = planProblem(plan, core) ?? pathProblem(paths) ??
    (writes?.action === "deny" ? writes.reason : null);
  return { plan, problem, paths, asks: writes?.action === "ask" ? [writes] : [] };
}

/** A command that writes files does what `edit` gates: it needs that key not to be deny, and asks where it asks. */
function writing(
  paths: readonly JudgedPath[],
  { effective }: PolicyCore,
): { readonly rule: string; readonly action: "ask" | "deny"; readonly reason: string } | null {
  const target = paths.find(({ resolved }) => resolved?.access === "write")?.resolved;
  if (!target) return null;
  const action = actionAt(effective.permission, "edit") ?? "ask";
  if (action === "allow") return null;
  const rule = effective.source("permission", "edit");
  return { rule, action, reason: `the command writes ${target.canonical}, and edit is ${action} [${rule}]` };
}

function planProblem(plan: CommandPlan, core: PolicyCore): string | null {
  const problems = describeProblems(plan);
  if (problems !== "") return problems;
  if (plan.mode !== "tree" || plan.segments.length === 0 || plan.tree === undefined) {
    return "there is no command that could be checked";
  }
  const search = programSearch(core.input);
  const deno = plan.programs.find((name) =>
    isDenoName(name) || resolveProgram(name, search).problem === "deno"
  );
  return deno === undefined ? null : `${deno}: ${NO_DENO}`;
}

/** In a checked command line nobody is asked about a single redirect: what is not plainly allowed is denied. */
function pathProblem(paths: readonly JudgedPath[]): string | null {
  for (const { findings } of paths) {
    const against = findings.find(({ action }) => action === "ask" || action === "deny");
    if (against) {
      return against.action === "deny"
        ? against.reason
        : `${against.reason}, which a checked command may not touch`;
    }
  }
  return null;
}

/**
 * Why a tool that the `bash` key gates, but that takes no command line, may not start its programs under an allowlist;
 * null when it may. The list holds for it as it holds for commands: each program must begin an entry.
 */
export function programProblem(
  tool: Tool,
  args: Readonly<Record<string, unknown>>,
  core: PolicyCore,
): string | null {
  let names: readonly string[];
  try {
    names = tool.programs?.(args, core.input.settings as unknown as Record<string, unknown>) ?? [];
  } catch (error) {
    return `which programs it starts is not known (${messageOf(error)})`;
  }
  const deno = names.find(isDenoName);
  if (deno !== undefined) return `${deno}: ${NO_DENO}`;
  names = withoutHelpers(names);
  const allow = prefixesAt(core.effective.permission, "bash_allow");
  if (tool.permission !== "bash" || tool.commandArg || !allow.restricts) return null;
  if (names.length === 0) return `which programs it starts is not known, and ${ALLOW} is in force`;
  for (const prefixes of [allow.prefixes, ...core.input.within?.allow ?? []]) {
    const first = new Set(prefixes.map(firstWord));
    const other = names.find((name) => !first.has(name));
    if (other !== undefined) return `${other} is not in ${ALLOW}; allowed: ${listed(prefixes)}`;
  }
  return null;
}
