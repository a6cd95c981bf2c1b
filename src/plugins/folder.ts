/**
 * A plugin's folder: all of its files, read once, with one hash over them.
 *
 * @module
 */
import { ConfigError, messageOf } from "../errors.ts";
import { basename, dirname, join } from "../text/path.ts";
import { MANIFEST, parseManifest, type PluginManifest } from "./manifest.ts";

/** A plugin as it lies on disk. */
export interface PluginFolder {
  readonly manifest: PluginManifest;
  /** Bytes by path relative to the folder, sorted. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** SHA-256 over names and contents, hexadecimal. */
  readonly hash: string;
}

const MAX_FILES = 1000;
const MAX_BYTES = 16 << 20;

/** Folders that are no part of a plugin. */
const SKIPPED = new Set([".git", "node_modules"]);

/** The manifest of a folder, alone. @throws {ConfigError} */
export function readManifest(folder: string): PluginManifest {
  const path = join(folder, MANIFEST);
  return parseManifest(new TextDecoder().decode(readFile(path)), path);
}

/**
 * Reads a plugin's folder.
 *
 * @param options `anyName`: the folder need not have the plugin's name
 * @throws {ConfigError} for a bad manifest, a link, a special file, or too much of anything
 */
export async function readPluginFolder(
  folder: string,
  options: { readonly anyName?: boolean } = {},
): Promise<PluginFolder> {
  const files = new Map<string, Uint8Array>();
  let bytes = 0;
  const walk = (relative: string) => {
    const entries = [...Deno.readDirSync(join(folder, relative || "."))].sort((a, b) =>
      a.name < b.name ? -1 : 1
    );
    for (const entry of entries) {
      const path = relative ? `${relative}/${entry.name}` : entry.name;
      if (SKIPPED.has(entry.name)) continue;
      if (entry.isDirectory && !entry.isSymlink) walk(path);
      else {
        const content = readFile(join(folder, path));
        files.set(path, content);
        bytes += content.length;
        if (files.size > MAX_FILES || bytes > MAX_BYTES) {
          throw new ConfigError(
            `${folder} is too large for a plugin: at most ${MAX_FILES} files of ${
              MAX_BYTES >> 20
            } MB together`,
          );
        }
      }
    }
  };
  try {
    if (!Deno.lstatSync(folder).isDirectory) throw new Error("it is no folder");
    walk("");
  } catch (error) {
    throw error instanceof ConfigError
      ? error
      : new ConfigError(`${folder} cannot be read: ${messageOf(error)}`);
  }
  const text = files.get(MANIFEST);
  if (!text) throw new ConfigError(`${folder} has no ${MANIFEST}, so it is no plugin`);
  const manifest = parseManifest(new TextDecoder().decode(text), join(folder, MANIFEST));
  if (!options.anyName && manifest.name !== basename(folder)) {
    throw new ConfigError(`${folder} holds the plugin "${manifest.name}"; its folder must have that name`);
  }
  for (const file of [manifest.entry, ...manifest.provides.skills]) {
    if (file !== null && !files.has(file.replace(/^\.\//, ""))) {
      throw new ConfigError(`${join(folder, MANIFEST)} names ${JSON.stringify(file)}, which is not there`);
    }
  }
  return { manifest, files, hash: await hashOf(files) };
}

/** Writes the files into a new folder, for the owner alone. */
export function writePluginFolder(folder: string, files: ReadonlyMap<string, Uint8Array>): void {
  for (const [path, content] of files) {
    const file = join(folder, path);
    Deno.mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    Deno.writeFileSync(file, content, { createNew: true, mode: 0o600 });
  }
}

function readFile(path: string): Uint8Array {
  let info: Deno.FileInfo;
  try {
    info = Deno.lstatSync(path);
    if (info.isFile && info.size <= MAX_BYTES) return Deno.readFileSync(path);
  } catch (error) {
    throw new ConfigError(`${path} cannot be read: ${messageOf(error)}`);
  }
  const what = info.isFile ? "too large" : info.isSymlink ? "a link" : "no regular file";
  throw new ConfigError(
    `${path} is ${what}; a plugin is made of regular files of at most ${MAX_BYTES >> 20} MB`,
  );
}

async function hashOf(files: ReadonlyMap<string, Uint8Array>): Promise<string> {
  const encoder = new TextEncoder(), parts: Uint8Array[] = [];
  for (const [path, content] of files) {
    // Lengths in front: no two sets of files look the same.
    parts.push(encoder.encode(`${path.length}:${path}:${content.length}:`), content);
  }
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return new Uint8Array(await crypto.subtle.digest("SHA-256", whole)).toHex();
}
