/**
 * Modes: what `build`, `plan` and a user's own modes lay over the base policy.
 *
 * @module
 */
import { BUILT_IN_MODES, type Settings, type ToolPermission } from "../config/settings.ts";
import { ConfigError } from "../errors.ts";
import type { Action } from "../tool.ts";

/** The policy that holds in a mode. */
export interface EffectivePolicy {
  readonly mode: string;
  /** Text for the system prompt; empty for build. */
  readonly instruction: string;
  /** Actions and lists by key, the mode's over the base. */
  readonly permission: ToolPermission;
  readonly allow: readonly string[];
  readonly deny: readonly string[];
  /** Where an entry of a list or an action comes from: `tools.deny`, `mode plan: tool_permission.edit`. */
  readonly source: (kind: "allow" | "deny" | "permission", name: string) => string;
  /** Keys that the mode itself denies: no grant lifts those. */
  readonly modeDenied: ReadonlySet<string>;
  /** Nothing may be changed: tools that write or take commands are refused whatever key gates them. */
  readonly readOnly: boolean;
  /** Keys that the user opened in this mode on purpose, which `readOnly` leaves alone. */
  readonly opened: ReadonlySet<string>;
}

/** Names of all modes, built-in ones first. */
export function modeNames(settings: Settings): string[] {
  return [...new Set([...Object.keys(BUILT_IN_MODES), ...Object.keys(settings.modes ?? {})])];
}

/**
 * The policy of a mode.
 *
 * @throws {ConfigError} for a mode that does not exist, and for lists that are not lists of tool names
 */
export function effectivePolicy(settings: Settings, mode: string): EffectivePolicy {
  const builtIn = own(BUILT_IN_MODES, mode), custom = own(settings.modes ?? {}, mode);
  if (!builtIn && !custom) {
    throw new ConfigError(
      `mode ${JSON.stringify(mode)} does not exist; the modes are ${modeNames(settings).join(", ")}`,
    );
  }
  const laid = { ...builtIn?.tool_permission, ...definedOnly(custom?.tool_permission) };
  const permission: Record<string, unknown> = Object.assign(Object.create(null), settings.tool_permission);
  for (const [key, value] of Object.entries(laid)) {
    if (!Array.isArray(value) || value.length > 0) permission[key] = value;
  }
  const baseDeny = names(settings.tools?.deny, "tools.deny"),
    baseAllow = names(settings.tools?.allow, "tools.allow");
  const modeDeny = names(custom?.tools?.deny, `modes.${mode}.tools.deny`);
  const modeAllow = names(custom?.tools?.allow, `modes.${mode}.tools.allow`);
  const plan = mode === "plan";
  const said = Object.entries(custom?.tool_permission ?? {});
  return {
    mode,
    instruction: custom?.system_prompt ?? builtIn?.system_prompt ?? "",
    permission: permission as ToolPermission,
    allow: modeAllow.length > 0 ? modeAllow : baseAllow,
    deny: [...baseDeny, ...modeDeny],
    source(kind, name) {
      if (kind === "permission") {
        return `${own(laid, name) === undefined ? "" : `mode ${mode}: `}tool_permission.${name}`;
      }
      const fromMode = kind === "allow" ? modeAllow.length > 0 : !baseDeny.includes(name);
      return `${fromMode ? `mode ${mode}: ` : ""}tools.${kind}`;
    },
    modeDenied: new Set(Object.keys(laid).filter((key) => laid[key] === "deny")),
    readOnly: plan,
    opened: new Set(
      plan ? said.filter(([, value]) => value === "allow" || value === "ask").map(([key]) => key) : [],
    ),
  };
}

/** The action that stands at a key; null where none stands there or it cannot be understood. */
export function actionAt(permission: ToolPermission, key: string): Action | null {
  const value = own(permission, key);
  return value === "allow" || value === "ask" || value === "deny" ? value : null;
}

/** Prefixes at a list key. `restricts`: something stands there, even if nothing of it can be understood. */
export interface PrefixList {
  readonly restricts: boolean;
  readonly prefixes: readonly string[];
}

/** Reads `bash_allow` or `bash_auto`. An entry that is empty or no text matches nothing, but still restricts. */
export function prefixesAt(permission: ToolPermission, key: "bash_allow" | "bash_auto"): PrefixList {
  const value: unknown = own(permission, key);
  if (value === undefined || value === null) return { restricts: false, prefixes: [] };
  if (!Array.isArray(value)) return { restricts: true, prefixes: [] };
  const prefixes = value.filter((entry): entry is string => typeof entry === "string" && entry.trim() !== "");
  return { restricts: value.length > 0, prefixes };
}

/** A list that restricts and lets nothing through. */
const MATCHES_NOTHING: readonly string[] = [""];

const ORDER: Readonly<Record<Action, number>> = { deny: 0, ask: 1, allow: 2 };

/** The stricter of two actions. */
export function stricter(a: Action, b: Action): Action {
  return ORDER[a] <= ORDER[b] ? a : b;
}

/**
 * Permissions no wider than a ceiling: per key the stricter action (a key that one side lacks is `ask` there), of
 * `bash_allow` and `bash_auto` the ceiling's entries that the wanted ones cover. Two allowlists with nothing in common
 * deny `bash` and leave a list that matches nothing, because an empty one would mean no restriction.
 *
 * One list cannot say exactly what two lists allow; for a sub-agent, where it has to be exact, see delegated.ts.
 */
export function clampPermission(wanted: ToolPermission, ceiling: ToolPermission): ToolPermission {
  const result: Record<string, Action | readonly string[]> = {};
  for (const key of new Set([...Object.keys(wanted), ...Object.keys(ceiling)])) {
    if (key === "bash_allow" || key === "bash_auto") continue;
    result[key] = stricter(actionAt(wanted, key) ?? "ask", actionAt(ceiling, key) ?? "ask");
  }
  const a = prefixesAt(wanted, "bash_allow"), b = prefixesAt(ceiling, "bash_allow");
  if (a.restricts || b.restricts) {
    const common = a.restricts && b.restricts
      ? commonPrefixes(a.prefixes, b.prefixes)
      : a.restricts
      ? a.prefixes
      : b.prefixes;
    result.bash_allow = common.length > 0 ? common : MATCHES_NOTHING;
    if (common.length === 0) result.bash = "deny";
  }
  const auto = commonPrefixes(
    prefixesAt(wanted, "bash_auto").prefixes,
    prefixesAt(ceiling, "bash_auto").prefixes,
  );
  if (auto.length > 0) result.bash_auto = auto;
  return result;
}

/**
 * The ceiling's prefixes that a wanted one covers. A longer wanted prefix is no narrower than a shorter one of the
 * ceiling: it can spell out an argument that starts a program (`find . -exec`), which the shorter one refuses.
 */
function commonPrefixes(wanted: readonly string[], ceiling: readonly string[]): string[] {
  return [...new Set(ceiling.filter((one) => wanted.some((other) => beginsWith(one, other))))];
}

function beginsWith(text: string, prefix: string): boolean {
  const words = text.trim().split(/\s+/), head = prefix.trim().split(/\s+/);
  return head.every((word, index) => words[index] === word);
}

function names(value: unknown, key: string): readonly string[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new ConfigError(`${key} must be a list of tool names`);
  return value.map((entry) => {
    const name = typeof entry === "string" ? entry.trim() : "";
    if (!/^[\p{L}\p{N}_.:/-]+$/u.test(name)) {
      throw new ConfigError(
        `${key}: ${JSON.stringify(entry)} is not a tool's name; patterns are not supported, list each name`,
      );
    }
    return name;
  });
}

function own<T extends object, K extends keyof T>(object: T, key: K | string): T[K] | undefined {
  return Object.hasOwn(object, key) ? object[key as K] : undefined;
}

function definedOnly(permission: ToolPermission | undefined): ToolPermission {
  return Object.fromEntries(Object.entries(permission ?? {}).filter(([, value]) => value !== undefined));
}
