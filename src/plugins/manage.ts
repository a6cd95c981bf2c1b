/**
 * Installing, enabling and removing plugins. Nothing here runs a plugin's code but {@link describePlugin}, which does it
 * in the plugin's host.
 *
 * @module
 */
import { ConfigError, messageOf } from "../errors.ts";
import type { PluginLink } from "../sandbox/_plugin_protocol.ts";
import { dirname, join } from "../text/path.ts";
import type { Json, Tool } from "../tool.ts";
import { accessOf, accessWords, grantedAccess } from "./access.ts";
import { pluginTools } from "./description.ts";
import { type PluginFolder, readPluginFolder, writePluginFolder } from "./folder.ts";
import { ACCESS_KINDS, type PluginAccess } from "./manifest.ts";
import { addRecord, copyFolder, type PluginRecord, readRecords, removeRecord } from "./records.ts";
import { PluginRunner } from "./runner.ts";

/** The user's directories that plugins are kept in. */
export interface PluginPlaces {
  readonly configDir: string;
  readonly stateDir: string;
}

/**
 * Copies a plugin into a folder of plugins, in place of an older version of it.
 *
 * @param source folder of the plugin, of any name
 * @param target folder of plugins
 * @returns what was installed, and whether an older version made room
 * @throws {ConfigError}
 */
export async function installPlugin(
  source: string,
  target: string,
): Promise<{ folder: PluginFolder; path: string; replaced: boolean }> {
  const folder = await readPluginFolder(source, { anyName: true });
  const { name } = folder.manifest, path = join(target, name);
  if (name.startsWith("polyglav-")) {
    throw new ConfigError(
      `${source} calls itself ${name}; names that begin with polyglav- belong to the program`,
    );
  }
  const fresh = join(target, `.${name}.${crypto.randomUUID().slice(0, 8)}`);
  try {
    Deno.mkdirSync(target, { recursive: true, mode: 0o700 });
    writePluginFolder(fresh, folder.files);
    const replaced = remove(path);
    Deno.renameSync(fresh, path);
    return { folder, path, replaced };
  } catch (error) {
    remove(fresh);
    throw error instanceof ConfigError
      ? error
      : new ConfigError(`${path} cannot be written: ${messageOf(error)}`);
  }
}

/** Keeps a copy of what is enabled and records it. @throws {ConfigError} */
export function enablePlugin(
  { manifest, files, hash }: PluginFolder,
  places: PluginPlaces,
  options: {
    readonly project: string | null;
    readonly grant: PluginAccess;
    readonly tools: readonly Json[];
    readonly now: Date;
  },
): PluginRecord {
  const { project, grant, tools, now } = options, { name, version } = manifest;
  const record: PluginRecord = { name, project, hash, version, grant, tools, enabled_at: now.toISOString() };
  copyPlugin(places.stateDir, record, files);
  addRecord(places.configDir, record);
  sweep(places);
  return record;
}

/** Writes the copy that a plugin runs from, where it is not there yet. @returns its folder */
export function copyPlugin(
  stateDir: string,
  what: Pick<PluginRecord, "name" | "hash">,
  files: ReadonlyMap<string, Uint8Array>,
): string {
  const path = copyFolder(stateDir, what);
  const fresh = `${path}.${crypto.randomUUID().slice(0, 8)}`;
  try {
    Deno.mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writePluginFolder(fresh, files);
    // One that is there already may have been changed since.
    remove(path);
    Deno.renameSync(fresh, path);
    return path;
  } catch (error) {
    remove(fresh);
    throw new ConfigError(`${path} cannot be written: ${messageOf(error)}`);
  }
}

/** Takes a plugin's record and copy away; false: it was not enabled. @throws {ConfigError} */
export function disablePlugin(
  which: { readonly name: string; readonly project: string | null },
  places: PluginPlaces,
): boolean {
  const was = removeRecord(places.configDir, which);
  sweep(places);
  return was;
}

/** Removes copies that no record needs any more. */
export function sweep({ configDir, stateDir }: PluginPlaces): void {
  const needed = new Set(readRecords(configDir).map((record) => copyFolder(stateDir, record)));
  const place = join(stateDir, "plugins");
  try {
    for (const { name } of [...Deno.readDirSync(place)]) {
      if (!needed.has(join(place, name))) remove(join(place, name));
    }
  } catch {
    // There is none.
  }
}

function remove(path: string): boolean {
  try {
    Deno.removeSync(path, { recursive: true });
    return true;
  } catch {
    return false;
  }
}

/**
 * Has a plugin's code describe its tools, in its host, and checks what it says.
 *
 * @param link starts the host
 * @param load milliseconds until it must have answered
 * @throws {ConfigError} for what the code says; {ToolError} for what it does
 */
export async function describePlugin(
  { manifest }: PluginFolder,
  grant: PluginAccess,
  link: PluginLink,
  load?: number,
): Promise<{ described: Json[]; tools: Tool[] }> {
  if (manifest.entry === null) return { described: [], tools: [] };
  const runner = new PluginRunner(link, { load });
  try {
    const described = await runner.describe(manifest.name);
    const access = accessOf(grantedAccess(manifest.access, grant));
    const plugin = { name: manifest.name, access, announced: manifest.provides.tools, programs: [] };
    const tools = pluginTools(described, plugin, () => Promise.reject(new Error("only described")));
    return { described: described as Json[], tools };
  } finally {
    runner.close();
  }
}

/**
 * What the user grants: words such as `net:api.example.com`, a kind for all of it, or `all`.
 *
 * @throws {ConfigError} for a word that the plugin does not ask for
 */
export function parseGrant(words: readonly string[], asked: PluginAccess): PluginAccess {
  const grant = { read: [], write: [], net: [], run: [], env: [] } as Record<keyof PluginAccess, string[]>;
  for (const word of words) {
    const kinds = word === "all" ? ACCESS_KINDS : ACCESS_KINDS.filter((kind) => kind === word);
    const [kind, ...rest] = word.split(":"), value = rest.join(":");
    if (kinds.length > 0) { for (const kind of kinds) grant[kind].push(...asked[kind]); }
    else if (
      ACCESS_KINDS.includes(kind as keyof PluginAccess) && asked[kind as keyof PluginAccess].includes(value)
    ) {
      grant[kind as keyof PluginAccess].push(value);
    } else {
      const words = accessWords(asked);
      throw new ConfigError(
        `--allow ${word}: the plugin does not ask for that; it asks for ${
          words.length > 0 ? words.join(", ") : "nothing"
        }`,
      );
    }
  }
  return grant;
}
