/**
 * Keys and values as people type them.
 *
 * @module
 */
import { UsageError } from "../errors.ts";
import type { Json } from "../tool.ts";
import { readConfigFile } from "./_files.ts";
import { JsonError, parseJson } from "./_json.ts";
import { badName, decode, parseLayer, suggestKey } from "./_layer.ts";
import { showName } from "./_show.ts";
import { expected, misfit } from "./_values.ts";
import { lookUp, type SchemaEntry } from "./schema.ts";

/**
 * The entry of a key that can have a value.
 *
 * @throws UsageError for an unknown key (with the nearest) and for a group of keys
 */
export function entryOf(key: string): SchemaEntry {
  const found = lookUp(key);
  if (found === "section") {
    throw new UsageError(
      `${showName(key)} is a group of keys; name one of them, such as ${showName(key)}.NAME`,
    );
  }
  if (found === null) throw unknownKey(key);
  const wrong = badName(key, found);
  if (wrong !== null) throw new UsageError(`${showName(key)} ${wrong}`);
  return found;
}

/** The error for a key that is none. */
export function unknownKey(key: string): UsageError {
  const meant = suggestKey(key);
  return new UsageError(
    `${showName(key)} is not a key of the configuration` +
      (meant === null ? "; polyglav config list shows all" : `; did you mean ${meant}?`),
  );
}

/**
 * A value as typed: a text as it is where the key wants a text, JSON otherwise.
 *
 * @throws UsageError that says what stands there and what is expected
 */
export function parseValue(key: string, entry: SchemaEntry, text: string): Json {
  let value: Json = text;
  if (entry.type !== "string" && entry.type !== "action") {
    try {
      value = parseJson(text).value;
    } catch (error) {
      if (!(error instanceof JsonError)) throw error;
      if (entry.type !== "any") {
        throw new UsageError(`${showName(key)}: ${showName(text)} is not ${expected(entry)}`);
      }
    }
  }
  const wrong = misfit(entry, value);
  if (wrong !== null) throw new UsageError(`${showName(key)} ${wrong}`);
  return value;
}

/**
 * What one configuration file sets, by dotted key, sorted; empty where there is no file.
 *
 * @param within see {@link readConfigFile}
 * @throws ConfigError when the file cannot be understood
 */
export function keysOf(path: string, within?: string): (readonly [string, Json])[] {
  const bytes = readConfigFile(path, within);
  if (bytes === null) return [];
  const { leaves } = parseLayer(path, decode(path, bytes));
  return [...leaves].map(([key, { value }]) => [key, value] as const).sort(([a], [b]) => a < b ? -1 : 1);
}
