/**
 * Which plugins the user enabled, as they were then, and what each was granted: `plugins.json` in the user's
 * configuration.
 *
 * @module
 */
import { ConfigError, messageOf } from "../errors.ts";
import { dirname, join } from "../text/path.ts";
import type { Json } from "../tool.ts";
import { ACCESS_KINDS, type PluginAccess } from "./manifest.ts";

/** One enabled plugin. */
export interface PluginRecord {
  readonly name: string;
  /** Canonical path of the project whose plugin it is; null: one of the user's own. */
  readonly project: string | null;
  /** SHA-256 of what was enabled; see `PluginFolder`. */
  readonly hash: string;
  readonly version: string;
  readonly grant: PluginAccess;
  /** What its code said of its tools. */
  readonly tools: readonly Json[];
  /** ISO 8601. */
  readonly enabled_at: string;
}

/** The file. */
export function recordsFile(configDir: string): string {
  return join(configDir, "plugins.json");
}

/** Where the enabled copy of a plugin lies: it runs from there, so that what runs is what was enabled. */
export function copyFolder(stateDir: string, record: Pick<PluginRecord, "name" | "hash">): string {
  return join(stateDir, "plugins", `${record.name}-${record.hash.slice(0, 16)}`);
}

/**
 * All records.
 *
 * @throws {ConfigError} when the file cannot be understood (that never means "enabled")
 */
export function readRecords(configDir: string): PluginRecord[] {
  const file = recordsFile(configDir);
  let text: string;
  try {
    if (!Deno.statSync(file).isFile) throw new Error("it is no regular file");
    text = Deno.readTextFileSync(file);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw new ConfigError(`${file} cannot be read: ${messageOf(error)}`);
  }
  try {
    const root = JSON.parse(text);
    if (root.version === 1 && Array.isArray(root.plugins) && root.plugins.every(isRecord)) {
      return root.plugins;
    }
  } catch { /* told below */ }
  throw new ConfigError(
    `${file} is no list of enabled plugins; repair it or move it away, then enable your plugins again`,
  );
}

function isRecord(value: unknown): value is PluginRecord {
  const record = value as PluginRecord | null;
  return typeof record === "object" && record !== null && typeof record.name === "string" &&
    (record.project === null || typeof record.project === "string") && /^[0-9a-f]{64}$/.test(record.hash) &&
    typeof record.version === "string" && typeof record.enabled_at === "string" &&
    Array.isArray(record.tools) &&
    typeof record.grant === "object" && record.grant !== null &&
    ACCESS_KINDS.every((kind) =>
      Array.isArray(record.grant[kind]) && record.grant[kind].every((item) => typeof item === "string")
    );
}

/** Replaces the record of the same plugin, or adds one. @throws {ConfigError} */
export function addRecord(configDir: string, record: PluginRecord): void {
  write(configDir, [...readRecords(configDir).filter((other) => !same(other, record)), record]);
}

/** Removes a plugin's record; false: there was none. @throws {ConfigError} */
export function removeRecord(configDir: string, which: Pick<PluginRecord, "name" | "project">): boolean {
  const records = readRecords(configDir), others = records.filter((other) => !same(other, which));
  if (others.length < records.length) write(configDir, others);
  return others.length < records.length;
}

function same(a: Pick<PluginRecord, "name" | "project">, b: Pick<PluginRecord, "name" | "project">): boolean {
  return a.name === b.name && a.project === b.project;
}

function write(configDir: string, plugins: readonly PluginRecord[]): void {
  const file = recordsFile(configDir), temporary = `${file}.${crypto.randomUUID().slice(0, 8)}.tmp`;
  try {
    Deno.mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    Deno.writeTextFileSync(temporary, `${JSON.stringify({ version: 1, plugins }, null, 2)}\n`, {
      createNew: true,
      mode: 0o600,
    });
    Deno.renameSync(temporary, file);
  } catch (error) {
    throw new ConfigError(`${file} cannot be written: ${messageOf(error)}`);
  }
}
