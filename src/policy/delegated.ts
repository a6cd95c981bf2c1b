/**
 * What a sub-agent may do: what its caller may, and of that what its role takes along, below the ceiling for
 * sub-agents, in the mode that holds. One function, so that there is one place to be right: what comes out is never
 * wider than the caller, and never narrower than what caller, role, ceiling and mode all allow.
 *
 * Actions are compared per key. Lists are not merged, because one list cannot say exactly what two allow: the caller's
 * and the role's `bash_allow`, `bash_auto` and path rules all hold, side by side (`PolicyInput.within`).
 *
 * @module
 */
import type { ModeSpec, PathRule, Settings, ToolPermission } from "../config/settings.ts";
import type { Action } from "../tool.ts";
import type { Grants } from "./grants.ts";
import { actionAt, type EffectivePolicy, effectivePolicy, prefixesAt, stricter } from "./modes.ts";
import type { PolicyInput, PolicyLimits } from "./tool_policy.ts";

/** What a role takes along. Everything that it leaves out is as the caller has it. */
export interface Carve {
  readonly tool_permission?: ToolPermission;
  /** Ceiling for the role's own sub-agents. */
  readonly grant_permission?: Readonly<Record<string, Action>>;
  readonly ask_policy?: Partial<Settings["ask_policy"]>;
  /** Rules that hold beside the caller's; they never open anything. */
  readonly path_rules?: readonly PathRule[];
}

/** How a sub-agent is opened. */
export interface DelegatedOptions {
  /** Wanted mode; default the caller's. A caller in a mode that changes nothing stays in it. */
  readonly mode?: string;
  /** Text for the sub-agent's system prompt. */
  readonly systemPrompt?: string;
  /** Grants of the sub-agent; the caller's are not inherited. */
  readonly grants?: Grants;
  /** A tool's canonical name, for `tools.allow` of two lists; default: names stand for themselves. */
  readonly canonical?: (name: string) => string;
}

/** What a sub-agent's policy is made from. */
export interface Delegated {
  readonly input: PolicyInput;
  /** Permission keys for which the role asked for more than it gets. */
  readonly reduced: readonly string[];
}

/** An entry of `tools.allow` that no tool has, since an empty list would mean no restriction. */
const NO_TOOL = "nothing";

/**
 * What the policy of a sub-agent is made from: its caller's, narrowed by its role, the ceiling and the mode.
 *
 * @param caller what the caller's own policy was made from
 * @param carve what the role takes along
 * @throws {ConfigError} for a mode that does not exist
 */
export function delegatedPolicy(
  caller: PolicyInput,
  carve: Carve,
  options: DelegatedOptions = {},
): Delegated {
  const own = effectivePolicy(caller.settings, caller.mode);
  const mode = own.readOnly ? caller.mode : options.mode ?? caller.mode;
  const wanted = mode === caller.mode ? own : effectivePolicy(caller.settings, mode);
  const { permission, reduced } = clampActions(caller.settings, own, wanted, carve);
  const within = limits(caller, own, wanted, carve);
  const settings: Settings = {
    ...caller.settings,
    system_prompt: options.systemPrompt ?? caller.settings.system_prompt,
    mode,
    modes: { ...caller.settings.modes, [mode]: modeOf(own, wanted, permission) },
    tool_permission: { ...permission, ...within.base },
    tools: {
      allow: commonNames(own.allow, wanted.allow, options.canonical ?? ((name) => name)),
      deny: [...new Set([...own.deny, ...wanted.deny])],
    },
    grant_permission: ceilingOf(caller.settings, own, carve, permission),
    ask_policy: askPolicy(caller.settings.ask_policy, carve.ask_policy),
    // What a person said yes to for good was about the caller's own calls.
    consent: { tools: [], calls: [] },
  };
  const { grants: _, ...rest } = caller;
  return {
    input: {
      ...rest,
      settings,
      mode,
      within: within.limits,
      ...(options.grants ? { grants: options.grants } : {}),
    },
    reduced,
  };
}

/**
 * The most that may be granted to a sub-agent for a key: what `grant_permission` says; where that is empty, what the
 * caller may do itself; where it is not and lacks the key, nothing.
 */
export function grantCeiling(settings: Settings, mode: string, key: string): Action {
  return ceilingAt(settings.grant_permission, effectivePolicy(settings, mode).permission, key);
}

function ceilingAt(map: Readonly<Record<string, Action>>, own: ToolPermission, key: string): Action {
  if (Object.keys(map).length === 0) return actionAt(own, key) ?? "ask";
  return actionAt(map, key) ?? "deny";
}

function clampActions(
  { grant_permission: ceiling }: Settings,
  own: EffectivePolicy,
  wanted: EffectivePolicy,
  carve: Carve,
): { permission: Record<string, Action>; reduced: string[] } {
  const permission: Record<string, Action> = Object.create(null), reduced: string[] = [];
  const role = carve.tool_permission ?? {};
  const keys = new Set([own.permission, wanted.permission, role, ceiling].flatMap((map) => Object.keys(map)));
  for (const key of keys) {
    if (key === "bash_allow" || key === "bash_auto") continue;
    let action = stricter(actionAt(own.permission, key) ?? "ask", actionAt(wanted.permission, key) ?? "ask");
    // An action that cannot be understood is `ask`, as everywhere.
    if (Object.hasOwn(ceiling, key)) action = stricter(action, actionAt(ceiling, key) ?? "ask");
    const said = Object.hasOwn(role, key) ? actionAt(role, key) ?? "ask" : null;
    if (said !== null && stricter(said, action) !== said) reduced.push(key);
    permission[key] = said === null ? action : stricter(action, said);
  }
  return { permission, reduced };
}

/** Every list that holds, once each; the last one stands in the settings, the others beside them. */
function limits(
  caller: PolicyInput,
  own: EffectivePolicy,
  wanted: EffectivePolicy,
  carve: Carve,
): { base: { bash_allow?: readonly string[]; bash_auto?: readonly string[] }; limits: PolicyLimits } {
  const layers = [own.permission, wanted.permission, carve.tool_permission ?? {}];
  const allow = unique([
    ...caller.within?.allow ?? [],
    ...layers.map((layer) => prefixesAt(layer, "bash_allow")).filter((list) => list.restricts)
      .map(({ prefixes }) => prefixes.length > 0 ? prefixes : [""]),
  ]);
  const auto = automatic(caller, own, wanted, carve);
  return {
    base: {
      ...(allow.length > 0 ? { bash_allow: allow.at(-1)! } : {}),
      ...(auto.length > 0 ? { bash_auto: auto.at(-1)! } : {}),
    },
    limits: {
      allow: allow.slice(0, -1),
      auto: auto.slice(0, -1),
      rules: [
        ...caller.within?.rules ?? [],
        ...(carve.path_rules && carve.path_rules.length > 0 ? [carve.path_rules] : []),
      ],
    },
  };
}

/**
 * The lists of `bash_auto` that hold together: of each side that asks, its own. A side that allows anyway needs none, and
 * one that asks without a list leaves nothing that runs by itself. A role that does not speak of `bash` is as its caller.
 */
function automatic(
  caller: PolicyInput,
  own: EffectivePolicy,
  wanted: EffectivePolicy,
  { tool_permission: role = {} }: Carve,
): (readonly string[])[] {
  const lists: (readonly string[])[] = [];
  for (const layer of new Set([own, wanted])) {
    if (actionAt(layer.permission, "bash") === "allow") continue;
    const { prefixes } = prefixesAt(layer.permission, "bash_auto");
    if (prefixes.length === 0) return [];
    lists.push(...(layer === own ? caller.within?.auto ?? [] : []), prefixes);
  }
  const said = Object.hasOwn(role, "bash") ? actionAt(role, "bash") ?? "ask" : null;
  const { restricts, prefixes } = prefixesAt(role, "bash_auto");
  if (said === "ask" && prefixes.length === 0) return [];
  if (said !== "allow" && restricts) {
    if (prefixes.length === 0) return [];
    lists.push(prefixes);
  }
  const ceiling = caller.settings.grant_permission;
  if (Object.hasOwn(ceiling, "bash") && actionAt(ceiling, "bash") !== "allow") return [];
  return unique(lists);
}

/**
 * The mode as the sub-agent has it: its text, what it or the caller's mode denies for good, and what the user opened in
 * it on purpose, as far as it came through.
 */
function modeOf(own: EffectivePolicy, wanted: EffectivePolicy, permission: Record<string, Action>): ModeSpec {
  const said: Record<string, Action> = Object.create(null);
  const opened = own.readOnly ? own.opened : wanted.opened;
  for (const key of opened) said[key] = permission[key] ?? "deny";
  for (const key of [...own.modeDenied, ...wanted.modeDenied]) said[key] = "deny";
  return { system_prompt: wanted.instruction, tool_permission: said };
}

function commonNames(
  a: readonly string[],
  b: readonly string[],
  canonical: (name: string) => string,
): readonly string[] {
  if (a === b || b.length === 0) return a;
  if (a.length === 0) return b;
  const fold = (name: string) => canonical(name).toLowerCase();
  const names = new Set(b.map(fold)), both = a.filter((name) => names.has(fold(name)));
  return both.length > 0 ? both : [NO_TOOL];
}

/** The sub-agent's own ceiling: what its role says, else what it may do itself, never above its caller's. */
function ceilingOf(
  settings: Settings,
  own: EffectivePolicy,
  carve: Carve,
  permission: Record<string, Action>,
): Settings["grant_permission"] {
  const caller = settings.grant_permission, role = carve.grant_permission ?? {};
  if (Object.keys(role).length === 0 && Object.keys(caller).length === 0) return {};
  const source = Object.keys(role).length > 0 ? role : permission;
  const ceiling: Record<string, Action> = Object.create(null);
  for (const key of Object.keys(source)) {
    ceiling[key] = stricter(actionAt(source, key) ?? "ask", ceilingAt(caller, own.permission, key));
  }
  return ceiling;
}

/** Who decides: the role may only be stricter about permissions, and free about questions of direction. */
function askPolicy(caller: Settings["ask_policy"], role: Carve["ask_policy"]): Settings["ask_policy"] {
  const order = ["deny", "human", "auto"] as const;
  const permission = role?.permission === undefined
    ? caller.permission
    : order[Math.min(order.indexOf(role.permission), order.indexOf(caller.permission))] ?? "deny";
  return { permission, direction: role?.direction ?? caller.direction };
}

function unique(lists: readonly (readonly string[])[]): (readonly string[])[] {
  const seen = new Map<string, readonly string[]>();
  for (const list of lists) {
    const text = JSON.stringify([...list].sort());
    seen.delete(text);
    seen.set(text, list);
  }
  return [...seen.values()];
}
