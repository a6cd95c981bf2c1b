/**
 * What the configuration of a project that the user has not trusted may do: narrow. Every function here takes what
 * the user allows and what the project wants, and returns something that allows no more than the user does.
 *
 * @module
 */
import type { Action, Json } from "../tool.ts";
import type { Layer } from "./_layer.ts";
import { narrowRules } from "./_narrow_rules.ts";
import { placeOf, type SchemaEntry } from "./schema.ts";
import type { ModeSpec, PathRule, Settings, ToolPermission } from "./settings.ts";

/**
 * Stands in a list of allowed names or commands that must not be empty (that would be no restriction) and yet allow
 * nothing: no tool and no program can have this name.
 */
export const NOTHING: string = "/dev/null/nothing";

/** The same for hosts: the domain `invalid` never resolves (RFC 6761). */
export const NO_HOST: string = "nothing.invalid";

/** A key of the project that has no effect, or not its full one. */
export interface Ignored {
  readonly key: string;
  /** One line, after the key. */
  readonly why: string;
}

/** What comes of one key: a value to set, a reason why not (all of) what was wanted, or both. */
interface Outcome {
  readonly value?: Json;
  readonly why?: string;
}

const RANK: Readonly<Record<Action, number>> = { deny: 0, ask: 1, allow: 2 };

/**
 * The keys of an untrusted project that may take effect, as they may.
 *
 * @param project what the project's file says
 * @param flags keys that the command line decides, so that the project's do not matter
 * @param user what the user's own configuration and the command line say
 */
export function narrowLayer(
  project: Layer,
  flags: Layer,
  user: Settings,
): { leaves: [string, SchemaEntry, Json][]; ignored: Ignored[] } {
  const leaves: [string, SchemaEntry, Json][] = [], ignored: Ignored[] = [];
  for (const [key, { entry, value }] of project.leaves) {
    if (flags.leaves.has(key) || same(value, valueAt(user, key, entry))) continue;
    const outcome = narrow(key, entry, value, user);
    if (outcome.value !== undefined) leaves.push([key, entry, outcome.value]);
    if (outcome.why !== undefined) ignored.push({ key, why: outcome.why });
  }
  for (const name of project.modes) {
    const key = `modes.${name}`;
    if (name in user.modes || ignored.some((other) => other.key.startsWith(`${key}.`))) continue;
    ignored.push({ key, why: "a project that is not trusted adds no modes" });
  }
  return { leaves, ignored };
}

/** The value at a dotted key, or undefined. */
export function valueAt(settings: Settings, key: string, entry: SchemaEntry): unknown {
  let at: unknown = settings;
  for (const part of placeOf(key, entry)) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, part)) return undefined;
    at = (at as Record<string, unknown>)[part];
  }
  return at;
}

/** Whether two JSON values are equal, down to the order of names. */
export function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function narrow(key: string, entry: SchemaEntry, value: Json, user: Settings): Outcome {
  if (entry.project === "none") return { why: "only your own configuration may set it" };
  const mode = entry.key.startsWith("modes.") ? key.split(".")[1]! : null;
  if (mode !== null && !(mode in user.modes)) return { why: "a project that is not trusted adds no modes" };
  if (entry.project === "set") return { value };
  switch (entry.narrow) {
    case "lower":
      return entry.type === "action"
        ? lowerAction(key, value as Action, user, mode)
        : lowerNumber(key, entry, value, user);
    case "earlier":
      return earlier(entry, value as string, valueAt(user, key, entry) as string);
    case "only":
      return same(value, entry.only)
        ? { value }
        : { why: `it may only be set to ${JSON.stringify(entry.only)}` };
    case "append":
      return append(value as string[], (valueAt(user, key, entry) ?? []) as string[]);
    case "restrict":
      return restrict(entry, value as string[], restriction(key, entry, user, mode));
    case "ceiling":
      return ceiling(key.slice("grant_permission.".length), value as Action, user.grant_permission);
    case "mode":
      return narrowMode(value as string, user);
    case "rules":
      return rules(value, user.path_rules);
    default:
      return { why: "only your own configuration may set it" };
  }
}

function lowerNumber(key: string, entry: SchemaEntry, value: Json, user: Settings): Outcome {
  const size = (n: unknown) => entry.unlimited && n === 0 ? Infinity : n as number;
  const most = valueAt(user, key, entry);
  return size(value) <= size(most) ? { value } : { why: `it may only be lower than yours, which is ${most}` };
}

function lowerAction(key: string, value: Action, user: Settings, mode: string | null): Outcome {
  const name = key.slice(key.indexOf("tool_permission.") + "tool_permission.".length);
  // A key that a mode leaves to the base may only be denied there: anything else in a mode can also open what the
  // mode itself closes (plan refuses whatever writes, unless the key was opened on purpose).
  const said = mode === null ? undefined : own(user.modes[mode]?.tool_permission, name);
  const most = mode === null ? actionOf(name, user) : said ?? "deny";
  return RANK[value] <= RANK[most] ? { value } : { why: `it may only be ${NO_MORE[most]}` };
}

const NO_MORE: Readonly<Record<Action, string>> = {
  deny: "deny",
  ask: "ask or deny",
  allow: "allow, ask or deny",
};

function own(map: ToolPermission | undefined, name: string): Action | undefined {
  return map && Object.hasOwn(map, name) ? map[name] as Action : undefined;
}

/** The action of a permission key, in a mode where one is given; a key that nobody set is `ask`. */
function actionOf(name: string, user: Settings, mode?: ModeSpec): Action {
  return own(mode?.tool_permission, name) ?? own(user.tool_permission, name) ?? "ask";
}

function earlier(entry: SchemaEntry, value: string, most: string): Outcome {
  const order = entry.enum ?? [];
  return order.indexOf(value) <= order.indexOf(most)
    ? { value }
    : { why: `you have ${JSON.stringify(most)}, and it may only be stricter` };
}

function append(wanted: readonly string[], list: readonly string[]): Outcome {
  const more = wanted.filter((name) => !list.includes(name));
  return more.length > 0 ? { value: [...list, ...more] } : { why: "it may only add to your list" };
}

/** The list that a `restrict` key has to stay within; in a mode, the one that is in force there. */
function restriction(
  key: string,
  entry: SchemaEntry,
  user: Settings,
  mode: string | null,
): readonly string[] {
  if (mode === null) return valueAt(user, key, entry) as readonly string[];
  return entry.type === "prefixes" ? bashAllow(user, user.modes[mode]) : toolsAllow(user, user.modes[mode]);
}

function bashAllow(user: Settings, mode?: ModeSpec): readonly string[] {
  return prefixes("bash_allow", user, mode);
}

/** A mode's list where it has one that is not empty, else the base's. */
function prefixes(key: "bash_allow" | "bash_auto", user: Settings, mode?: ModeSpec): readonly string[] {
  const inMode = mode?.tool_permission?.[key] ?? [];
  return inMode.length > 0 ? inMode : user.tool_permission[key] ?? [];
}

function toolsAllow(user: Settings, mode?: ModeSpec): readonly string[] {
  const inMode = mode?.tools?.allow ?? [];
  return inMode.length > 0 ? inMode : user.tools.allow;
}

function restrict(entry: SchemaEntry, wanted: readonly string[], most: readonly string[]): Outcome {
  if (wanted.length === 0) return { why: "an empty list would lift your restriction" };
  if (most.length === 0) return { value: [...wanted] };
  const both = entry.type === "prefixes"
    ? commonPrefixes(most, wanted)
    : entry.type === "hosts"
    ? commonHosts(most, wanted)
    : commonNames(most, wanted);
  const rest = wanted.find((name) => !both.includes(name));
  return {
    value: both.length > 0 ? both : [entry.type === "hosts" ? NO_HOST : NOTHING],
    why: rest === undefined
      ? undefined
      : `it may only keep what your list has, and ${JSON.stringify(rest)} is not in it`,
  };
}

function commonNames(mine: readonly string[], theirs: readonly string[]): string[] {
  const named = new Set(theirs.map((name) => name.toLowerCase()));
  return mine.filter((name) => named.has(name.toLowerCase()));
}

/**
 * The user's prefixes that the project's cover. A longer prefix of the project is no narrower than a shorter one of
 * the user: it can spell out an argument that starts a program (`find . -exec`), which the shorter one refuses.
 */
function commonPrefixes(mine: readonly string[], theirs: readonly string[]): string[] {
  const words = (prefix: string) => prefix.trim().split(/\s+/);
  return mine.filter((prefix) => {
    const long = words(prefix);
    return theirs.some((other) => words(other).every((word, index) => word === long[index]));
  });
}

/** Hosts that both lists name; `*.` covers what lies below, a name without a port any port. */
function commonHosts(mine: readonly string[], theirs: readonly string[]): string[] {
  const covers = (pattern: string, host: string) => {
    const bare = /^[^:]+:\d+$|\]:\d+$/.test(host) ? host.slice(0, host.lastIndexOf(":")) : host;
    return pattern === host || pattern === bare ||
      (pattern.startsWith("*.") && (host.endsWith(pattern.slice(1)) || bare.endsWith(pattern.slice(1))));
  };
  const [a, b] = [mine, theirs].map((hosts) => hosts.map((host) => host.toLowerCase())) as [
    string[],
    string[],
  ];
  return [
    ...new Set([
      ...a.filter((host) => b.some((pattern) => covers(pattern, host))),
      ...b.filter((host) => a.some((pattern) => covers(pattern, host))),
    ]),
  ];
}

/**
 * An own ceiling that is empty means "what the caller may do", in whatever mode it is; once it has a key, a missing
 * one is deny. So only a ceiling that has the key can be lowered to anything but deny.
 */
function ceiling(name: string, value: Action, map: Readonly<Record<string, Action>>): Outcome {
  const most = Object.hasOwn(map, name) ? map[name]! : "deny";
  return RANK[value] <= RANK[most] ? { value } : { why: `it may only be ${NO_MORE[most]}` };
}

/** The only mode that a project can ask for is `plan`, the one that promises to change nothing. */
function narrowMode(wanted: string, user: Settings): Outcome {
  const plan = user.modes.plan;
  if (wanted !== "plan" || plan === undefined) return { why: "it may only be set to plan" };
  return modeWithin(user, plan, user.modes[user.mode])
    ? { value: wanted }
    : { why: `your mode plan allows more than your mode ${user.mode}` };
}

/** Whether nothing is allowed in mode `to` that is not allowed in mode `from`. */
function modeWithin(user: Settings, to: ModeSpec, from?: ModeSpec): boolean {
  const maps = [user.tool_permission, to.tool_permission, from?.tool_permission];
  for (const name of new Set(maps.flatMap((map) => Object.keys(map ?? {})))) {
    if (name === "bash_allow" || name === "bash_auto") continue;
    if (RANK[actionOf(name, user, to)] > RANK[actionOf(name, user, from)]) return false;
    // What a mode itself denies cannot be granted, unlike what the base denies.
    if (own(from?.tool_permission, name) === "deny" && own(to.tool_permission, name) !== "deny") return false;
  }
  return within(bashAllow(user, to), bashAllow(user, from)) &&
    within(toolsAllow(user, to), toolsAllow(user, from)) &&
    prefixes("bash_auto", user, to).every((prefix) => prefixes("bash_auto", user, from).includes(prefix)) &&
    (from?.tools?.deny ?? []).every((name) => to.tools?.deny?.includes(name));
}

/** Whether list `a` restricts at least as much as list `b`, an empty one being no restriction. */
function within(a: readonly string[], b: readonly string[]): boolean {
  return b.length === 0 || (a.length > 0 && a.every((name) => b.includes(name)));
}

function rules(value: Json, own: readonly PathRule[]): Outcome {
  const wanted = value as unknown as readonly PathRule[];
  const added = narrowRules(own, wanted);
  const allows = wanted.some(({ action }) => action === "allow");
  return {
    value: added.length > 0 ? [...own, ...added] as unknown as Json : undefined,
    why: allows
      ? "its rules that allow are left out"
      : added.length === 0
      ? "it may only add rules"
      : undefined,
  };
}
