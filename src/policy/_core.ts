/**
 * What tool_policy.ts and compile.ts both work with: the mode's policy, the compiled path rules and the base of paths,
 * made once per PolicyInput.
 *
 * @module
 */
import type { PathRule } from "../config/settings.ts";
import { join } from "../text/path.ts";
import { escapeGlob } from "./_glob.ts";
import { type EffectivePolicy, effectivePolicy } from "./modes.ts";
import { type CompiledRule, compileRule, compileRules, guardRules, type RuleBase } from "./path_rules.ts";
import type { PolicyInput } from "./tool_policy.ts";
import type { GuardRule } from "./types.ts";
import { locate, systemLinks } from "./worktree.ts";

/** Absolute paths of programs, and the names among them that are Deno's. */
export interface RunList {
  readonly paths: readonly string[];
  readonly deno: readonly string[];
  /** Where each that a call may name is, by that name; null: not there, or not to be started. */
  readonly byName: Readonly<Record<string, string | null>>;
}

/** See the module's comment. */
export interface PolicyCore {
  readonly input: PolicyInput;
  readonly effective: EffectivePolicy;
  readonly rules: readonly CompiledRule[];
  /** The rules as the guard gets them. */
  readonly guard: readonly GuardRule[];
  readonly base: RuleBase;
  /** More lists of rules, each compiled; they only make stricter. */
  readonly layers: readonly (readonly CompiledRule[])[];
  /** Lists of programs that were found already, by the names that were asked for. */
  readonly programs: Map<string, RunList>;
}

const cores = new WeakMap<PolicyInput, PolicyCore>();

/**
 * The core of an input.
 *
 * @throws {ConfigError} for an unknown mode, and for lists or rules that cannot be understood
 */
export function policyCore(input: PolicyInput): PolicyCore {
  const known = cores.get(input);
  if (known) return known;
  const base: RuleBase = {
    worktree: input.worktree,
    home: input.home,
    configDir: input.configDir,
    stateDir: input.stateDir,
    realPath: input.realPath ?? systemLinks.realPath,
    readLink: input.readLink ?? systemLinks.readLink,
  };
  const effective = effectivePolicy(input.settings, input.mode);
  const compiled = compileRules(input.settings.path_rules ?? [], base);
  const firstOfUser = compiled.findIndex((rule) => !rule.builtIn);
  const at = firstOfUser < 0 ? compiled.length : firstOfUser;
  const linked = repositoryRules(base);
  // What asks comes before what denies, so that a link of one kind cannot open a place of the other.
  const asks = linked.filter(({ rule }) => rule.action === "ask"),
    denies = linked.filter((rule) => !asks.includes(rule));
  const rules = [...asks, ...compiled.slice(0, at), ...denies, ...compiled.slice(at)];
  const core: PolicyCore = {
    input,
    effective,
    rules,
    guard: guardRules(rules, input.worktree),
    base,
    layers: (input.within?.rules ?? []).map((list, layer) =>
      list.map((rule, index) => compileRule(rule, `role path_rules[${layer}][${index}]`, false, base))
    ),
    programs: new Map(),
  };
  cores.set(input, core);
  return core;
}

/** Where `.polyglav` or `.git` is a link, or `.git` a file that points elsewhere, that place is protected as well. */
function repositoryRules(base: RuleBase): CompiledRule[] {
  const git = join(base.worktree, ".git"), own = join(base.worktree, ".polyglav");
  const found = new Map<string, PathRule["action"]>();
  const add = (path: string, action: PathRule["action"] = "deny") => {
    const place = locate(path, base);
    if ("problem" in place || place.path === git || place.path === own || place.path === base.worktree) {
      return;
    }
    found.set(place.path, action);
  };
  add(own, "ask");
  add(git);
  const pointed = pointer(git);
  if (pointed !== null) {
    const target = join(base.worktree, pointed);
    add(target);
    const common = pointer(join(target, "commondir"), /^(.+)$/m);
    if (common !== null) add(join(target, common));
  }
  return [...found].map(([path, action]) => {
    const rule: PathRule = { path: path.split("/").map(escapeGlob).join("/"), access: "write", action };
    const name = `path_rules.default(${action === "deny" ? ".git" : ".polyglav"}: ${path})`;
    return compileRule(rule, name, true, base);
  });
}

/** The path in a `.git` file (`gitdir: PATH`) or a `commondir` file; null where there is none. */
function pointer(file: string, line: RegExp = /^gitdir:\s*(.+)$/m): string | null {
  try {
    const { isFile, size } = Deno.lstatSync(file);
    if (!isFile || size > 65_536) return null;
    return line.exec(Deno.readTextFileSync(file))?.[1]?.trim() ?? null;
  } catch {
    return null;
  }
}
