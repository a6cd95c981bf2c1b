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
import { type CompiledRule, compileRule, compileRules, type RuleBase } from "./path_rules.ts";
import type { PolicyInput } from "./tool_policy.ts";
import { locate, systemLinks } from "./worktree.ts";

/** See the module's comment. */
export interface PolicyCore {
  readonly input: PolicyInput;
  readonly effective: EffectivePolicy;
  readonly rules: readonly CompiledRule[];
  readonly base: RuleBase;
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
  const rules = [...compiled.slice(0, at), ...repositoryRules(base), ...compiled.slice(at)];
  const core: PolicyCore = { input, effective, rules, base };
  cores.set(input, core);
  return core;
}

/** Where `.git` is a link or a file that points elsewhere, that place is protected as `.git` itself is. */
function repositoryRules(base: RuleBase): CompiledRule[] {
  const git = join(base.worktree, ".git"), found = new Set<string>();
  const add = (path: string) => {
    const place = locate(path, base);
    if (!("problem" in place) && place.path !== git && place.path !== base.worktree) found.add(place.path);
  };
  add(git);
  const pointed = pointer(git);
  if (pointed !== null) {
    const target = join(base.worktree, pointed);
    add(target);
    const common = pointer(join(target, "commondir"), /^(.+)$/m);
    if (common !== null) add(join(target, common));
  }
  return [...found].map((path) => {
    const rule: PathRule = {
      path: path.split("/").map(escapeGlob).join("/"),
      access: "write",
      action: "deny",
    };
    return compileRule(rule, `path_rules.default(.git: ${path})`, true, base);
  });
}

/** The path in a `.git` file (`gitdir: PATH`) or a `commondir` file; null where there is none. */
function pointer(file: string, line: RegExp = /^gitdir:\s*(.+)$/m): string | null {
  try {
    if (!Deno.lstatSync(file).isFile) return null;
    return line.exec(Deno.readTextFileSync(file))?.[1]?.trim() ?? null;
  } catch {
    return null;
  }
}
