/**
 * One layer of the configuration: the text of a file (or the flags of a command line) as checked dotted keys.
 *
 * @module
 */
import { ConfigError, UsageError } from "../errors.ts";
import { nearest } from "../text/nearest.ts";
import type { Json } from "../tool.ts";
import { JsonError, lineAndColumn, type Parsed, parseJson } from "./_json.ts";
import { showName, showValue } from "./_show.ts";
import { misfit } from "./_values.ts";
import { WORKTREE } from "./paths.ts";
import { knownKeys, lookUp, RESERVED, type SchemaEntry } from "./schema.ts";

/** One key that a layer sets. */
export interface Leaf {
  readonly entry: SchemaEntry;
  readonly value: Json;
  /** How the file spells it: `["tool_permission", "bash"]` or `["tool_permission.bash"]`. */
  readonly spelling: readonly string[];
}

/** A checked layer. */
export interface Layer {
  /** By dotted key. */
  readonly leaves: ReadonlyMap<string, Leaf>;
  /** Names of modes that it mentions. */
  readonly modes: ReadonlySet<string>;
  /** Each one line. */
  readonly warnings: readonly string[];
}

/** A layer that sets nothing. */
export const EMPTY: Layer = { leaves: new Map(), modes: new Set(), warnings: [] };

const MOST_WARNINGS = 20;

/** The text of a configuration file, or a ConfigError that names it. */
export function decode(file: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new ConfigError(`${showName(file)} is not UTF-8 text; save it as UTF-8`);
  }
}

/** Parses a file into an object, or throws a ConfigError that names file, line and column. */
export function parseFile(file: string, text: string): { root: { [key: string]: Json }; parsed: Parsed } {
  let parsed: Parsed;
  try {
    parsed = parseJson(text);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    throw new ConfigError(`${showName(file)}:${lineAndColumn(text, error.offset)}: ${error.message}`);
  }
  const root = parsed.value;
  if (typeof root !== "object" || root === null || Array.isArray(root)) {
    throw new ConfigError(
      `${showName(file)} holds ${showValue(root)}; expected an object, such as {"model": "..."}`,
    );
  }
  return { root, parsed };
}

/**
 * Checks the text of a configuration file.
 *
 * @throws ConfigError that names file, place, key, what stands there and what is expected
 */
export function parseLayer(file: string, text: string): Layer {
  const { root, parsed } = parseFile(file, text);
  return new Reader((message, object, name) => {
    const offset = object && name !== undefined ? parsed.offset(object, name) : undefined;
    const place = offset === undefined ? "" : `:${lineAndColumn(text, offset)}`;
    return `${showName(file)}${place}: ${message}`;
  }, (message) => new ConfigError(message)).read(root);
}

/**
 * Checks flags of the command line, by dotted key; undefined ones are not there.
 *
 * @throws UsageError
 */
export function flagLayer(flags: Readonly<Record<string, unknown>>): Layer {
  const given = Object.fromEntries(Object.entries(flags).filter(([, value]) => value !== undefined));
  const reader = new Reader((message) => `command line: ${message}`, (message) => new UsageError(message));
  const layer = reader.read(given as { [key: string]: Json });
  if (layer.warnings.length > 0) throw new UsageError(layer.warnings[0]!);
  return layer;
}

type Members = { readonly [key: string]: Json };

class Reader {
  readonly #leaves = new Map<string, Leaf>();
  readonly #modes = new Set<string>();
  readonly #warnings: string[] = [];
  #unnamed = 0;

  constructor(
    /** Puts the place before a message. */
    readonly place: (message: string, object?: Members, name?: string) => string,
    readonly error: (message: string) => Error,
  ) {}

  read(root: Members): Layer {
    this.#walk(root, [], "");
    if (this.#unnamed > 0) this.#warnings.push(this.place(`${this.#unnamed} more keys are unknown`));
    return { leaves: this.#leaves, modes: this.#modes, warnings: this.#warnings };
  }

  #walk(object: Members, spelling: readonly string[], prefix: string): void {
    for (const [name, value] of Object.entries(object)) {
      if (prefix === "" && (name === "$schema" || name === WORKTREE)) continue;
      const key = prefix === "" ? name : `${prefix}.${name}`, found = lookUp(key);
      if (found === null) this.#unknown(key, object, name);
      else if (found === "section") this.#section(key, value, [...spelling, name], object, name);
      else this.#leaf(key, found, value, [...spelling, name], object, name);
    }
  }

  #section(key: string, value: Json, spelling: readonly string[], object: Members, name: string): void {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      const message = `${showName(key)} is ${showValue(value)}; expected an object with keys such as ${
        example(key)
      }`;
      throw this.error(this.place(message, object, name));
    }
    this.#mode(key, object, name);
    this.#walk(value, spelling, key);
  }

  #leaf(
    key: string,
    entry: SchemaEntry,
    value: Json,
    spelling: readonly string[],
    object: Members,
    name: string,
  ): void {
    this.#mode(key, object, name);
    const other = this.#leaves.get(key);
    if (other) {
      const message =
        `${showName(key)} is given twice, as ${spell(other.spelling)} and as ${spell(spelling)}; ` +
        "keep one of them";
      throw this.error(this.place(message, object, name));
    }
    const wrong = misfit(entry, value) ?? badName(key, entry);
    if (wrong !== null) {
      const meant = entry.key.endsWith("*") ? suggestKey(key) : null;
      const hint = meant !== null && meant !== key ? ` (did you mean ${meant}?)` : "";
      throw this.error(this.place(`${showName(key)} ${wrong}${hint}`, object, name));
    }
    if (entry.key === "tool_permission.*" || entry.key === "modes.*.tool_permission.*") {
      this.#unusual(key, object, name);
    }
    this.#leaves.set(key, { entry, value, spelling });
  }

  /** A free permission key is fine for plugins, but may be a slip of the pen. */
  #unusual(key: string, object: Members, name: string): void {
    const carve = key.slice(key.indexOf("tool_permission."));
    const known = lookUp(carve);
    if (known === null || known === "section" || known.key === carve) return;
    const meant = suggestKey(carve);
    const message = `${showName(key)} is no permission key of the bundled tools` +
      (meant === null ? "; it counts only for plugins that bring it" : `; did you mean ${meant}?`);
    this.#warn(message, object, name);
  }

  #unknown(key: string, object: Members, name: string): void {
    const parts = key.split(".");
    const reserved = parts.find((part) => RESERVED.has(part));
    const meant = reserved === undefined ? suggestKey(key) : null;
    const message = reserved !== undefined
      ? `${showName(key)} is ignored: ${reserved} cannot be a name`
      : `${showName(key)} is not a key of the configuration` +
        (meant === null ? "; polyglav config list shows all" : `; did you mean ${meant}?`);
    this.#warn(message, object, name);
  }

  #warn(message: string, object: Members, name: string): void {
    if (this.#warnings.length >= MOST_WARNINGS) this.#unnamed++;
    else this.#warnings.push(this.place(message, object, name));
  }

  #mode(key: string, object: Members, name: string): void {
    const mode = /^modes\.([^.]+)/.exec(key)?.[1];
    if (mode === undefined) return;
    if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(mode)) {
      const message = `${showValue(mode)} cannot be the name of a mode; use letters, digits, - and _`;
      throw this.error(this.place(message, object, name));
    }
    this.#modes.add(mode);
  }
}

/** The known key nearest to a mistyped one, or null: part by part, then as a whole. */
export function suggestKey(key: string): string | null {
  const parts = key.split("."), known = knownKeys(parts[0] === "modes" && parts[1] ? [parts[1]] : undefined);
  let group = 0;
  while (group < parts.length - 1 && lookUp(parts.slice(0, group + 1).join(".")) === "section") group++;
  const prefix = parts.slice(0, group).map((part) => `${part}.`).join("");
  const names = new Set(
    known.filter((name) => name.startsWith(prefix)).map((name) => name.slice(prefix.length).split(".")[0]!),
  );
  if (group === 0) { for (const name of ["grant_permission", "modes", "plugins", "prices"]) names.add(name); }
  const meant = nearest(parts[group]!, names), rest = parts.slice(group + 1);
  if (meant !== null) {
    const whole = [prefix + meant, ...rest].join(".");
    return lookUp(whole) === null ? prefix + meant : whole;
  }
  return group === 0 ? nearest(key, known) : null;
}

/** What is wrong with the free part of a key, as the rest of a sentence, or null. */
export function badName(key: string, entry: SchemaEntry): string | null {
  if (entry.key !== "exec.env.*") return null;
  const name = key.slice("exec.env.".length);
  return /[=\0]/.test(name) ? 'is no variable; its name may not hold "="' : null;
}

function example(section: string): string {
  const name = knownKeys().find((key) => key.startsWith(`${section}.`));
  if (name !== undefined) return JSON.stringify(name.slice(section.length + 1));
  return section === "modes" ? '"plan"' : section.startsWith("modes.") ? '"tool_permission"' : '"name"';
}

function spell(parts: readonly string[]): string {
  return parts.map((part) => showValue(part)).join(" in ");
}
