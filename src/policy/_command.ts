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
import { listsFor, onLists, programSearch, withoutHelpers } from "./_run.ts";
import { actionAt, prefixesAt } from "./modes.ts";
import { describeProblems } from "./_refusal.ts";
import type { CommandPath, CommandPlan } from "./types.ts";

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
    const segments = automatic?.plan.segments ?? [];
    const plan: CommandPlan = { mode: "shell", segments, programs: [core.input.shell], paths: [] };
    return { plan, findings: notAutomatic(automatic), auto: false, paths: [] };
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
    : {
      plan: checked.plan,
      findings: [...notAutomatic(automatic), ...findings],
      auto: false,
      paths: checked.paths,
    };
}

/** Why a command does not run by itself although a list says what may. */
function notAutomatic(automatic: Checked | null): { rule: string; action: null; reason: string }[] {
  return automatic === null ? [] : [{ rule: AUTO, action: null, reason: automatic.problem ?? "" }];
}

const NOTHING: CommandPlan = { mode: "tree", segments: [], programs: [], paths: [] };

interface Checked {
  readonly plan: CommandPlan;
  /** Why it must not run as a tree; null when it may. */
  readonly problem: string | null;
  readonly paths: readonly JudgedPath[];
  /** What asks although every command matches: files, where `edit` or `read` asks. */
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
  const files = plan.paths.map((use, i) => fileProblem(use, paths[i]!, core));
  // With an open policy the plan goes on as the checker made it: there the guard has to stop what the rules forbid.
  const judged = core.input.open ? plan : withPaths(plan, files);
  const problem = planProblem(judged, core) ?? files.find((each) => each?.action === "deny")?.reason ?? null;
  const asks = files.filter((each) => each !== null && each.action === "ask") as FileProblem[];
  return {
    plan: judged,
    problem,
    paths,
    asks: asks.filter((each, i) => asks.findIndex(({ rule }) => rule === each.rule) === i),
  };
}

interface FileProblem {
  readonly rule: string;
  readonly action: "ask" | "deny";
  readonly reason: string;
}

/**
 * What stands against a path of a checked command. Nobody is asked about a single redirect: what the worktree and the
 * path rules do not plainly allow is denied. A command that writes files does what `edit` gates, one that reads a file by
 * a redirect what `read` gates: it needs that key not to be deny, and asks where it asks.
 */
function fileProblem(
  use: CommandPath,
  { findings, resolved }: JudgedPath,
  core: PolicyCore,
): FileProblem | null {
  // What is replaced is lost as if it were shown: a rule against reading holds, as it does for file_write.
  const lost = use.access === "write"
    ? judgePath({ path: use.path, access: "read" }, core).findings.filter(({ rule }) => rule !== "worktree")
    : [];
  const against = [...findings, ...lost].find(({ action }) => action === "ask" || action === "deny");
  if (against) {
    const reason = against.action === "deny"
      ? against.reason
      : `${against.reason}, which a checked command may not touch`;
    return { rule: against.rule, action: "deny", reason };
  }
  if (use.access === "list") return null;
  const { effective } = core, key = use.access === "write" ? "edit" : "read";
  const action = actionAt(effective.permission, key) ?? "ask";
  if (action === "allow") return null;
  const rule = effective.source("permission", key);
  const does = use.access === "write" ? "writes" : "reads";
  return {
    rule,
    action,
    reason: `the command ${does} ${resolved!.canonical}, and ${key} is ${action} [${rule}]`,
  };
}

/** The plan with a refusal for each segment whose paths are denied. */
function withPaths(plan: CommandPlan, files: readonly (FileProblem | null)[]): CommandPlan {
  const denied = new Map<number, string>();
  files.forEach((file, i) => {
    if (file?.action !== "deny") return;
    for (const at of plan.paths[i]!.segments ?? []) if (!denied.has(at)) denied.set(at, file.reason);
  });
  if (denied.size === 0) return plan;
  const segments = plan.segments.map((segment, at) => {
    const reason = denied.get(at);
    return reason === undefined || segment.allowed !== true
      ? segment
      : { ...segment, allowed: false, reason };
  });
  return { ...plan, segments };
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

/**
 * Why a tool that the `bash` key gates, but that takes no command line, may not start its programs under an allowlist;
 * null when it may start one of those that it chooses from. The list holds for it as it holds for commands: a program
 * must begin an entry, and one that does not is none that the call may start.
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
  const lists = listsFor(tool, core);
  if (lists === null || onLists(names, lists).length > 0) return null;
  if (names.length === 0) return `which programs it starts is not known, and ${ALLOW} is in force`;
  const verb = names.length === 1 ? "is" : "are";
  return `${listed(names)} ${verb} not in ${ALLOW}; allowed: ${listed(lists[0]!)}`;
}
