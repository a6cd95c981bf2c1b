/**
 * The one table of the configuration (its rows are in _table.ts): every key with its type, default, meaning, bounds,
 * and what the file of a project that the user has not trusted may do with it. Everything else about keys (loading,
 * `polyglav config`, the JSON Schema for editors) is made from it.
 *
 * @module
 */
import type { Json } from "../tool.ts";
import { MODES, type Row, TABLE } from "./_table.ts";
import type { Settings } from "./settings.ts";

export { MODES } from "./_table.ts";

/** What a value looks like. */
export type ValueType =
  | "action"
  | "any"
  | "boolean"
  | "calls"
  | "hosts"
  | "integer"
  | "names"
  | "none"
  | "number"
  | "number or null"
  | "prefixes"
  | "price"
  | "rules"
  | "string";

/**
 * How an untrusted project may narrow a key; each names a function in _narrow.ts.
 *
 * - `lower`: a smaller number (where 0 is unlimited, it counts as the largest); an action nearer to `deny`
 * - `earlier`: a value that stands earlier in `enum`
 * - `only`: nothing but the value of `only`
 * - `append`: adds to the list
 * - `restrict`: keeps those entries of the list that the project names too; an empty list is no restriction
 * - `ceiling`, `mode`, `rules`: grant_permission, mode, path_rules
 */
export type NarrowRule = "lower" | "earlier" | "only" | "append" | "restrict" | "ceiling" | "mode" | "rules";

/** One key of the configuration. */
export interface SchemaEntry {
  /** Dotted; a `*` at the end stands for any name, a `*` in the middle for a name without a dot. */
  readonly key: string;
  readonly type: ValueType;
  /** Null also where there is none (keys with `*`). */
  readonly default: Json;
  /** One line. */
  readonly doc: string;
  /**
   * What the file of an untrusted project may do: `set` the key, only `narrow` what the user allows, or `none`
   * (it is ignored, with a warning).
   */
  readonly project: "set" | "narrow" | "none";
  /** How it may narrow; present exactly where `project` is `narrow`. */
  readonly narrow?: NarrowRule;
  /** The value of rule `only`. */
  readonly only?: Json;
  /** Allowed texts; where `narrow` is `earlier`, the strictest comes first. */
  readonly enum?: readonly string[];
  readonly min?: number;
  readonly max?: number;
  /** 0 means unlimited. */
  readonly unlimited?: true;
}

/** Every key, sorted by name; of two that match a key, the one that spells out more counts. */
export const SCHEMA: readonly SchemaEntry[] = Object.entries(TABLE)
  .map(([key, { project, ...row }]: [string, Row]): SchemaEntry => ({
    ...row,
    key,
    default: row.default ?? null,
    project: project === "set" ? "set" : project ? "narrow" : "none",
    narrow: typeof project === "object" ? project[0] : undefined,
  }))
  .sort((a, b) => a.key < b.key ? -1 : 1);

/** Names that JavaScript's objects give a meaning to; no name in the configuration. */
export const RESERVED: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

/** One part of a key: the entry that ends here, and the parts that may follow. */
interface Part {
  entry?: SchemaEntry;
  readonly next: Map<string, Part>;
}

const tree: Part = { next: new Map() };
for (const entry of SCHEMA) {
  let at = tree;
  for (const part of entry.key.split(".")) {
    let next = at.next.get(part);
    if (next === undefined) at.next.set(part, next = { next: new Map() });
    at = next;
  }
  at.entry = entry;
}

/**
 * What a dotted key is: the entry of the table that it falls under, `"section"` for a group of keys, or null.
 * Names under `tool_permission`, `grant_permission`, `exec.env`, `prices` and `plugins` may have dots, names of modes may not.
 */
export function lookUp(key: string): SchemaEntry | "section" | null {
  const parts = key.split(".");
  return parts.some((part) => RESERVED.has(part)) ? null : descend(tree, parts, 0);
}

function descend(at: Part, parts: readonly string[], index: number): SchemaEntry | "section" | null {
  const part = parts[index];
  if (part === undefined) return at.entry ?? "section";
  const exact = part === "*" ? undefined : at.next.get(part),
    found = exact && descend(exact, parts, index + 1);
  const any = at.next.get("*");
  if (found || any === undefined) return found ?? null;
  if (any.entry) return parts.slice(index).join(".") === "" ? null : any.entry;
  return part === "" ? null : descend(any, parts, index + 1);
}

/** The parts of a dotted key as places in {@link Settings}: `exec.env.A.B` is exec, env, "A.B". */
export function placeOf(key: string, entry: SchemaEntry): readonly string[] {
  const parts = key.split("."), places = entry.key.split(".");
  if (places.at(-1) !== "*" || parts.length === places.length) return parts;
  return [...parts.slice(0, places.length - 1), parts.slice(places.length - 1).join(".")];
}

/** All keys that can be spelled without knowing names, for suggestions. @param modes names of modes to spell */
export function knownKeys(modes: readonly string[] = Object.keys(MODES)): string[] {
  return SCHEMA.flatMap(({ key }) => {
    if (!key.includes("*")) return [key];
    return key.startsWith("modes.*.") && !key.endsWith("*")
      ? modes.map((name) => key.replace("*", name))
      : [];
  });
}

/** The defaults as dotted keys and values, modes included. */
export function defaultLeaves(): [string, SchemaEntry, Json][] {
  const fixed = SCHEMA.filter(({ key }) => !key.includes("*"));
  const leaves = fixed.map((entry): [string, SchemaEntry, Json] => [entry.key, entry, entry.default]);
  for (const [name, mode] of Object.entries(MODES)) {
    for (const [key, value] of Object.entries(mode)) {
      const dotted = `modes.${name}.${key}`;
      leaves.push([dotted, lookUp(dotted) as SchemaEntry, value]);
    }
  }
  return leaves;
}

/**
 * Builds settings from dotted keys: later ones replace earlier ones. Groups that take any name have no prototype, so
 * that a look-up by a strange name finds nothing.
 *
 * @param leaves key, its entry, its value
 * @param modes names of modes that exist even if nothing is set in them
 */
export function assemble(
  leaves: Iterable<readonly [string, SchemaEntry, Json]>,
  modes: Iterable<string>,
): Settings {
  const group = () => Object.create(null) as Record<string, unknown>;
  const settings: Record<string, unknown> = {
    tool_permission: group(),
    grant_permission: group(),
    modes: group(),
    prices: group(),
    exec: { env: group() },
    plugins: group(),
  };
  const place = (path: readonly string[], value: unknown) => {
    let at = settings;
    for (const part of path.slice(0, -1)) {
      if (!Object.hasOwn(at, part)) at[part] = path[0] === "modes" ? group() : {};
      at = at[part] as Record<string, unknown>;
    }
    const name = path.at(-1)!;
    at[name] = merge(at[name], value);
  };
  for (const name of modes) place(["modes", name], group());
  for (const [key, entry, value] of leaves) {
    place(placeOf(key, entry), value);
  }
  return settings as unknown as Settings;
}

/** A copy of `value`; where both are objects (settings of plugins), `value` over `base` per key at any depth. */
function merge(base: unknown, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((element) => merge(undefined, element));
  if (typeof value !== "object" || value === null) return value;
  const result = Object.create(null) as Record<string, unknown>;
  if (typeof base === "object" && base !== null && !Array.isArray(base)) Object.assign(result, base);
  for (const [name, part] of Object.entries(value)) result[name] = merge(result[name], part);
  return result;
}

/** The settings of a user who has configured nothing; a new value each time. */
export function defaults(): Settings {
  return assemble(defaultLeaves(), Object.keys(MODES));
}
