/**
 * Text from files of others, made fit for a message of one line.
 *
 * @module
 */
import { cleanForTerminal, cleanJson } from "../text/ansi.ts";

/** A value as JSON, controls escaped, cut to 80 characters. */
export function showValue(value: unknown): string {
  const json = cleanJson(JSON.stringify(value) ?? String(value));
  return json.length > 80 ? `${json.slice(0, 77)}...` : json;
}

/** A name or a path, controls made visible, cut to 200 characters. */
export function showName(name: string): string {
  const safe = cleanForTerminal(name, { line: true });
  return safe.length > 200 ? `${safe.slice(0, 197)}...` : safe;
}
