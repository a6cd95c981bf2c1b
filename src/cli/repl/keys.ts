/**
 * Saving a provider's key.
 *
 * @module
 */
import { ConfigError, messageOf } from "../../errors.ts";
import { dirname } from "../../text/path.ts";

/**
 * Puts a key into the file with keys and leaves the others as they are. The file is replaced by one that only the user
 * can read (0600) from its first byte on.
 *
 * @param file absolute path
 * @throws {ConfigError} where the file is broken or cannot be written: nothing is changed then
 */
export function saveKey(file: string, provider: string, key: string): void {
  let path = file, keys: Record<string, unknown> = {};
  try {
    path = Deno.realPathSync(file);
    const value = JSON.parse(Deno.readTextFileSync(path));
    if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Error("not an object");
    keys = value;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) {
      throw new ConfigError(`${file} cannot be understood, so the key was not saved: ${messageOf(error)}`);
    }
  }
  const old = keys[provider];
  const entry = typeof old === "object" && old !== null && !Array.isArray(old)
    ? { ...old, api_key: key }
    : { api_key: key };
  const text = `${JSON.stringify({ ...keys, [provider]: entry }, null, 2)}\n`;
  const temporary = `${path}.${crypto.randomUUID()}`;
  try {
    Deno.mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    Deno.writeTextFileSync(temporary, text, { createNew: true, mode: 0o600 });
    Deno.renameSync(temporary, path);
  } catch (error) {
    try {
      Deno.removeSync(temporary);
    } catch { /* it is not there */ }
    throw new ConfigError(`the key cannot be saved in ${file}: ${messageOf(error)}`);
  }
}
