/**
 * Changes single keys of a configuration file and leaves everything else in it as it is: other keys, their order, and
 * whether a key is spelled dotted or nested.
 *
 * @module
 */
import { ConfigError } from "../errors.ts";
import type { Json } from "../tool.ts";
import { readConfigFile, writeConfigFile } from "./_files.ts";
import { decode, parseFile } from "./_layer.ts";
import { showName, showValue } from "./_show.ts";
import { type UserPaths, userProjectFile, WORKTREE } from "./paths.ts";
import { placeOf, type SchemaEntry } from "./schema.ts";

/** The user's own file about a project, as something to change: for the user alone, and it says what it is about. */
export function userConfigFile(paths: UserPaths, worktree: string): ConfigFile {
  return {
    path: userProjectFile(paths, worktree),
    mode: 0o600,
    directoryMode: 0o700,
    head: { [WORKTREE]: worktree },
  };
}

/** A file to change. */
export interface ConfigFile {
  /** Absolute. */
  readonly path: string;
  /** The file itself, all links resolved, must be below this canonical directory. */
  readonly within?: string;
  /** Permission bits of a file that is made. */
  readonly mode: number;
  /** Permission bits of directories that are made. */
  readonly directoryMode: number;
  /** What a file that is made begins with; one that is there must say the same. */
  readonly head?: { readonly [name: string]: Json };
}

type Members = { [key: string]: Json };

/** Where a key stands. */
interface Place {
  readonly object: Members;
  readonly name: string;
  /** Objects from the root down to `object`, each with the name that leads on from it and its dotted key. */
  readonly above: readonly { readonly object: Members; readonly name: string; readonly key: string }[];
}

/**
 * Sets a key and writes the file at once. The value must have been checked.
 *
 * @throws ConfigError when the file cannot be understood, or spells the key twice, or cannot be written
 * @returns the new text
 */
export function setKey(file: ConfigFile, key: string, entry: SchemaEntry, value: Json): string {
  const { root, bom } = open(file), [found, ...more] = find(root, key);
  if (more.length > 0) {
    throw new ConfigError(`${showName(file.path)} spells ${showName(key)} twice; keep one of them`);
  }
  if (found) found.object[found.name] = value;
  else insert(file, root, key, entry, value);
  return save(file, root, bom);
}

/**
 * Removes a key in every spelling, with groups that become empty (but no mode), and writes the file at once.
 *
 * @param group the key is a group: everything below it goes too
 * @throws ConfigError like {@link setKey}
 * @returns whether there was anything to remove
 */
export function unsetKey(file: ConfigFile, key: string, group: boolean): boolean {
  const { root, bom } = open(file), places = [...find(root, key), ...(group ? findBelow(root, key) : [])];
  if (places.length === 0) return false;
  for (const { object, name, above } of places) {
    delete object[name];
    for (const parent of above.toReversed()) {
      const child = parent.object[parent.name];
      if (/^modes\.[^.]+$/.test(parent.key) || !isObject(child) || Object.keys(child).length > 0) break;
      delete parent.object[parent.name];
    }
  }
  save(file, root, bom);
  return true;
}

function open(file: ConfigFile): { root: Members; bom: boolean } {
  const bytes = readConfigFile(file.path, file.within);
  if (bytes === null) return { root: { ...file.head }, bom: false };
  const bom = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  const { root } = parseFile(file.path, decode(file.path, bytes));
  for (const [name, value] of Object.entries(file.head ?? {})) {
    if (root[name] === value) continue;
    throw new ConfigError(
      `${showName(file.path)}: ${name} is ${showValue(root[name] ?? null)}, not ${
        showValue(value)
      }; move the file away`,
    );
  }
  return { root, bom };
}

function save(file: ConfigFile, root: Members, bom: boolean): string {
  const text = `${JSON.stringify(root, null, 2)}\n`;
  writeConfigFile(file.path, bom ? `\ufeff${text}` : text, file);
  return text;
}

function isObject(value: Json | undefined): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Every place whose names, joined by dots, are `key`. */
function find(root: Members, key: string): Place[] {
  return walk(root, (full) => full === key ? "take" : key.startsWith(`${full}.`) ? "enter" : "skip");
}

/** Dotted names that begin with `key` and more, such as `"modes.x.tools.deny"` for `modes.x`. */
function findBelow(root: Members, key: string): Place[] {
  return walk(
    root,
    (full) => full.startsWith(`${key}.`) ? "take" : key.startsWith(`${full}.`) ? "enter" : "skip",
  );
}

function walk(root: Members, judge: (full: string) => "take" | "enter" | "skip"): Place[] {
  const places: Place[] = [];
  const visit = (object: Members, prefix: string, above: Place["above"]) => {
    for (const [name, value] of Object.entries(object)) {
      const full = prefix === "" ? name : `${prefix}.${name}`, verdict = judge(full);
      if (verdict === "take") places.push({ object, name, above });
      else if (verdict === "enter" && isObject(value)) {
        visit(value, full, [...above, { object, name, key: full }]);
      }
    }
  };
  visit(root, "", []);
  return places;
}

/** Adds a key: into the deepest group that is there, dotted where its neighbours are, else nested. */
function insert(file: ConfigFile, root: Members, key: string, entry: SchemaEntry, value: Json): void {
  let object = root, parts = [...placeOf(key, entry)];
  descend: while (parts.length > 1) {
    for (let length = parts.length - 1; length > 0; length--) {
      const name = parts.slice(0, length).join(".");
      if (!Object.hasOwn(object, name)) continue;
      const next = object[name];
      if (!isObject(next)) {
        throw new ConfigError(
          `${showName(file.path)}: ${showName(name)} is ${showValue(next)}; expected an object`,
        );
      }
      object = next;
      parts = parts.slice(length);
      continue descend;
    }
    break;
  }
  const dotted = Object.keys(object).some((name) => name.startsWith(`${parts[0]}.`));
  if (dotted) {
    object[parts.join(".")] = value;
    return;
  }
  for (const part of parts.slice(0, -1)) object = (object[part] = {}) as Members;
  object[parts.at(-1)!] = value;
}
