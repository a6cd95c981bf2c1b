/**
 * The single place where it is decided what a tool call may do: name level, category, the tool's own resolver, command
 * rules, worktree and path rules, with the mode on top.
 *
 * Source: "Tool policy" of the tools specification.
 *
 * @module
 */
import type { PathRule, Settings } from "../config/settings.ts";
import { messageOf } from "../errors.ts";
import type { Action, CatalogView, ResolverAnswer, Tool } from "../tool.ts";
import { judgeCommand, programProblem } from "./_command.ts";
import { type PolicyCore, policyCore } from "./_core.ts";
import { brokenHook, judgePath, pathUses } from "./_paths.ts";
import { Verdict } from "./_verdict.ts";
import type { Grant, Grants } from "./grants.ts";
import { liftable, rememberedCall, rememberedTool } from "./consent.ts";
import { actionAt } from "./modes.ts";
import type { CommandPlan, Decision, ResolvedPath } from "./types.ts";
import { decideUrl } from "./web.ts";

/** What a command checker is told beside the command. Directories are absolute and canonical. */
export interface CommandContext {
  readonly prefixes: readonly string[];
  readonly worktree: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly shell: string;
  readonly home: string;
}

/** Checks a command line against prefixes; `checkCommand` of shell_command.ts is one. */
export type CommandCheck = (command: string, context: CommandContext) => CommandPlan;

/** Lists that hold beside those of the settings: what one list alone cannot say exactly. Everything must pass all. */
export interface PolicyLimits {
  /** More lists of `bash_allow`; every part of a command must match in each. */
  readonly allow: readonly (readonly string[])[];
  /** More lists of `bash_auto`; a command that is to run by itself must match in each. */
  readonly auto: readonly (readonly string[])[];
  /** More lists of path rules: in each the last match counts, and the strictest of all decides. They never open. */
  readonly rules: readonly (readonly PathRule[])[];
}

/** What a policy is made from. Keep one object per policy: what is compiled from it is remembered by its identity. */
export interface PolicyInput {
  readonly settings: Settings;
  readonly mode: string;
  /** Absolute canonical path of the worktree. */
  readonly worktree: string;
  /** Absolute path that `~` stands for. */
  readonly home: string;
  /** The global configuration directory: writing and reading in it asks. */
  readonly configDir: string;
  /** Where session anchors are kept: writing and reading in it asks. */
  readonly stateDir?: string;
  /** The user's shell program. */
  readonly shell: string;
  /** The scrubbed environment, for plain variables in commands and for PATH. */
  readonly env: Readonly<Record<string, string>>;
  /** Default: Deno.realPathSync. */
  readonly realPath?: (path: string) => string;
  /** Default: Deno.readLinkSync. */
  readonly readLink?: (path: string) => string;
  /** Whether a path is a program that can be started. Default: a look at the file. */
  readonly isProgram?: (path: string) => boolean;
  /** Programs by which children are confined (bwrap): every tool that starts programs may start these too. */
  readonly wrappers?: readonly string[];
  /** Without one, a command under an allowlist is denied. */
  readonly checkCommand?: CommandCheck;
  readonly grants?: Grants;
  /** What a sub-agent is held to beside its settings; see delegated.ts. */
  readonly within?: PolicyLimits;
  /** Roles and teams, for resolvers that decide by them. */
  readonly catalog?: () => CatalogView;
  /** Test seam: every decision says allow, while paths and plans are made as always. */
  readonly open?: boolean;
}

/** What holds for a tool before any arguments are known. */
export interface StandingDecision {
  readonly action: Action;
  readonly rule: string;
  readonly reason: string;
}

/** Decides about tool calls. Makes no I/O but realpath and readlink. */
export class ToolPolicy {
  /** The mode's name. */
  readonly mode: string;
  /** The mode's text for the system prompt; empty for build. */
  readonly instruction: string;
  /** The mode changes nothing. */
  readonly readOnly: boolean;
  /** Actions by permission key as they stand in the mode. */
  readonly permission: Readonly<Record<string, unknown>>;
  #core: PolicyCore;

  /** @throws {ConfigError} for an unknown mode, and for lists or path rules that cannot be understood */
  constructor(input: PolicyInput) {
    this.#core = policyCore(input);
    this.mode = this.#core.effective.mode;
    this.instruction = this.#core.effective.instruction;
    this.readOnly = this.#core.effective.readOnly;
    this.permission = this.#core.effective.permission;
  }

  /**
   * What holds for a tool whatever its arguments: name level and category. `deny` takes it out of the schema and of
   * listings; a tool whose commands or paths may be refused later stays.
   */
  allowed(tool: Tool): StandingDecision {
    const verdict = new Verdict();
    this.#name(tool, verdict);
    this.#category(tool, null, verdict);
    const { action, rule, reason } = verdict;
    return this.#core.input.open ? { action: "allow", rule: "open", reason: OPEN } : { action, rule, reason };
  }

  /**
   * Decides about one call. Never throws: what cannot be understood is denied, with the reason.
   *
   * @param tool as registered
   * @param args after cleaning; not changed
   */
  resolve(tool: Tool, args: Record<string, unknown>): Decision {
    const verdict = new Verdict(), paths: ResolvedPath[] = [];
    let grant: Grant | null = null, command: CommandPlan | undefined, lifts: Decision["lifts"];
    try {
      this.#name(tool, verdict);
      grant = this.#category(tool, args, verdict);
      this.#url(tool, args, verdict);
      const cwd = this.#paths(tool, args, verdict, paths);
      command = this.#command(tool, args, verdict, paths, cwd);
      lifts = this.#remembered(tool, args, verdict, paths);
    } catch (error) {
      verdict.lower("policy", "deny", `the call cannot be judged: ${messageOf(error)}`);
    }
    const open = this.#core.input.open === true;
    return {
      action: open ? "allow" : verdict.action,
      rule: open ? "open" : verdict.rule,
      reason: open ? OPEN : verdict.reason,
      trail: verdict.trail,
      paths,
      ...(command ? { command } : {}),
      ...(lifts && !open ? { lifts } : {}),
      ...(grant && verdict.action !== "deny"
        ? { grant: { id: grant.id, scope: grant.scope, origin: grant.origin } }
        : {}),
    };
  }

  /** What a person has said yes to for good; where it still asks, what an answer may make a rule of. */
  #remembered(
    tool: Tool,
    args: Record<string, unknown>,
    verdict: Verdict,
    paths: readonly ResolvedPath[],
  ): Decision["lifts"] {
    if (verdict.action !== "ask" || tool.confirm === false) return undefined;
    const lifts = liftable(verdict.asks), { settings } = this.#core.input;
    if (lifts.exact && rememberedCall(tool, args, paths, settings)) {
      verdict.set("consent.calls", "allow", "a person said yes to exactly this call for good");
    } else if (lifts.tool && rememberedTool(tool, settings)) {
      verdict.set(
        "consent.tools",
        "allow",
        `a person said yes to every call of ${tool.name} that only its key asks`,
      );
    } else return lifts;
    return undefined;
  }

  #name(tool: Tool, verdict: Verdict): void {
    const { allow, deny, source } = this.#core.effective;
    const names = new Set([tool.name, ...aliasesOf(tool)].map((name) => name.toLowerCase()));
    const denied = deny.find((entry) => names.has(entry.toLowerCase()));
    if (denied !== undefined) {
      verdict.lower(source("deny", denied), "deny", `${denied} is listed in tools.deny`);
    } else if (allow.length > 0) {
      const listed = allow.find((entry) => names.has(entry.toLowerCase()));
      const rule = source("allow", "");
      if (listed === undefined) verdict.lower(rule, "deny", `tools.allow lists other tools only`);
      else verdict.note(rule, null, `${listed} is listed`);
    }
  }

  /** Category, web cap, the tool's resolver and grants. Returns the grant that lifted something. */
  #category(tool: Tool, args: Record<string, unknown> | null, verdict: Verdict): Grant | null {
    const { permission, source, modeDenied, readOnly, opened, mode } = this.#core.effective;
    const key = tool.permission, found = actionAt(permission, key), rule = source("permission", key);
    if (readOnly && !opened.has(key) && changes(tool)) {
      verdict.lower(`mode ${mode}`, "deny", `mode ${mode} changes nothing`);
      return null;
    }
    const grant = this.#core.input.grants?.find(tool) ?? null;
    const lifted = found === "deny" && grant !== null && !modeDenied.has(key);
    const base = lifted ? "ask" : found ?? "ask";
    verdict.set(
      rule,
      base,
      lifted
        ? `${key} is deny, which a grant lifts`
        : found === null
        ? `${key} has no action that can be understood`
        : `${key} is ${found}`,
      "category",
    );
    if (args && base !== "deny") this.#resolver(tool, args, base, verdict);
    let used = lifted ? grant : null;
    if (grant && verdict.action === "ask" && (lifted || tool.confirm !== false)) {
      used = grant;
      verdict.set(
        "grant",
        "allow",
        `granted ${grant.scope} by ${grant.origin === "human" ? "a person" : "the lead"}`,
      );
    }
    if (tool.urlArg !== undefined || tool.access.includes("net")) {
      const web = actionAt(permission, "web") ?? "ask";
      verdict.lower(
        source("permission", "web"),
        web,
        `what reaches the network is never above web (${web})`,
        key === "web" ? "category" : "cap",
      );
    }
    return used;
  }

  #resolver(tool: Tool, args: Record<string, unknown>, base: Action, verdict: Verdict): void {
    if (!tool.permissionFn) return;
    let answer: ResolverAnswer;
    try {
      answer = tool.permissionFn(structuredClone(args), {
        settings: this.#core.input.settings as unknown as Record<string, unknown>,
        base,
        mode: this.mode,
        readOnly: this.readOnly,
        permission: this.#core.effective.permission,
        catalog: this.#core.input.catalog,
      });
    } catch (error) {
      verdict.lower("permission_fn", "deny", brokenHook(tool, "resolver", error));
      return;
    }
    if (answer === null) return verdict.note("permission_fn", null, "leaves it to the category");
    const action: unknown = typeof answer === "object" ? answer?.action : answer;
    if (action !== "allow" && action !== "ask" && action !== "deny") {
      verdict.lower(
        "permission_fn",
        "deny",
        `${tool.name}'s resolver answered something that cannot be understood`,
      );
      return;
    }
    const given = typeof answer === "object" && typeof answer.reason === "string" ? answer.reason : "";
    const why = given || `${tool.name} says ${action} for these arguments`;
    verdict.set("permission_fn", action, why, "resolver");
  }

  #url(tool: Tool, args: Record<string, unknown>, verdict: Verdict): void {
    // What is left out or empty is asked for by other means; the host decides about every request anyhow.
    if (tool.urlArg === undefined || args[tool.urlArg] === undefined || args[tool.urlArg] === "") return;
    const { action, rule, reason } = decideUrl(args[tool.urlArg], this.#core.input.settings.web);
    verdict.lower(rule, action, reason);
  }

  /** Judges the paths, appends them and returns the canonical directory that a command starts in. */
  #paths(tool: Tool, args: Record<string, unknown>, verdict: Verdict, paths: ResolvedPath[]): string {
    let uses;
    try {
      uses = pathUses(tool, args);
    } catch (error) {
      verdict.lower("path", "deny", brokenHook(tool, "paths", error));
      return this.#core.input.worktree;
    }
    for (const use of uses) {
      const { resolved, findings } = judgePath(use, this.#core);
      for (const { rule, action, reason } of findings) {
        if (action === null || action === "allow") verdict.note(rule, action, reason);
        else verdict.lower(rule, action, reason, rule === "worktree" ? "worktree" : "other");
      }
      if (resolved) paths.push(resolved);
    }
    return paths[0]?.canonical ?? this.#core.input.worktree;
  }

  #command(
    tool: Tool,
    args: Record<string, unknown>,
    verdict: Verdict,
    paths: ResolvedPath[],
    cwd: string,
  ): CommandPlan | undefined {
    if (tool.commandArg === undefined) {
      const problem = programProblem(tool, args, this.#core);
      if (problem !== null) verdict.lower("programs", "deny", problem);
      return undefined;
    }
    const judged = judgeCommand(args[tool.commandArg], this.#core, cwd);
    const asks = verdict.trail.filter(({ action }) => action === "ask");
    const onlyCategory = asks.length === 1 &&
      asks[0]!.rule === this.#core.effective.source("permission", tool.permission);
    for (const { rule, action, reason } of judged.findings) {
      if (action === "deny" || action === "ask") verdict.lower(rule, action, reason, "files");
      else if (judged.auto && action === "allow" && verdict.action === "ask" && onlyCategory) {
        verdict.set(rule, "allow", reason);
      } else verdict.note(rule, action, reason);
    }
    for (const { resolved } of judged.paths) if (resolved) paths.push(resolved);
    return judged.plan;
  }
}

/** Whether a tool can change something or run what it likes: it writes, takes commands, or starts programs under a key that is not for looking. */
function changes(tool: Tool): boolean {
  if (tool.access.includes("write") || tool.commandArg !== undefined) return true;
  return tool.access.includes("run") && tool.permission !== "read" && tool.permission !== "list";
}

const OPEN = "the policy is open (test seam)";

/** The extra names of a tool, in either of the two forms in which they are declared. */
export function aliasesOf(tool: Tool): readonly string[] {
  if (!tool.aliases) return [];
  return Array.isArray(tool.aliases) ? tool.aliases : Object.keys(tool.aliases);
}
