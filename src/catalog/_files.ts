/**
 * The catalog's files. In a project nothing is reached through a link, so that a repository cannot point elsewhere; the
 * user's own files may be links.
 *
 * @module
 */
import { ConfigError, messageOf, ToolError } from "../errors.ts";
import { dirname, join } from "../text/path.ts";

const LIMIT = 1_048_576;

/**
 * The bytes of a regular file, or null where there is none.
 *
 * @param below the directory from which on no part of the path may be a link; null: links are followed
 * @throws {ConfigError} for a link, anything but a regular file, and a file over 1 MiB
 */
export function readFile(path: string, below: string | null): Uint8Array | null {
  try {
    if (below !== null) refuseLinks(path, below);
    const info = Deno.statSync(path);
    if (!info.isFile) throw new ConfigError(`${path} is no regular file`);
    if (info.size > LIMIT) throw new ConfigError(`${path} has ${info.size} bytes, more than ${LIMIT}`);
    using file = Deno.openSync(path);
    const opened = file.statSync();
    if (opened.ino !== info.ino || opened.dev !== info.dev) {
      throw new ConfigError(`${path} changed while it was read; try again`);
    }
    const bytes = new Uint8Array(info.size);
    let length = 0, read: number | null;
    while (length < bytes.length && (read = file.readSync(bytes.subarray(length))) !== null) length += read;
    return bytes.subarray(0, length);
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return null;
    throw new ConfigError(`${path} cannot be read: ${messageOf(error)}`);
  }
}

/** Names in a directory; none where there is no such directory. @throws {ConfigError} */
export function readNames(path: string, below: string | null): Deno.DirEntry[] {
  try {
    if (below !== null) refuseLinks(path, below);
    return [...Deno.readDirSync(path)].sort((a, b) => a.name < b.name ? -1 : 1);
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return [];
    throw new ConfigError(`${path} cannot be read: ${messageOf(error)}`);
  }
}

function refuseLinks(path: string, below: string): void {
  for (let at = path; at !== below && at !== dirname(at); at = dirname(at)) {
    if (Deno.lstatSync(at).isSymlink) {
      throw new ConfigError(`${at} is a link; put the file itself there`);
    }
  }
}

/** Text of UTF-8 bytes. @throws {ConfigError} */
export function decode(path: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new ConfigError(`${path} is not UTF-8 text; save it as UTF-8`);
  }
}

/**
 * Replaces a file at once: written beside in `workshop`, then renamed over.
 *
 * @param workshop a folder of the same file system that may be written
 * @throws {ToolError}
 */
export function replaceFile(path: string, text: string, workshop: string, below: string): void {
  const temporary = join(workshop, `.catalog-${crypto.randomUUID()}.tmp`);
  try {
    for (const at of [path, dirname(path)]) {
      try {
        refuseLinks(at, below);
      } catch (error) {
        if (!(error instanceof Deno.errors.NotFound)) throw error;
      }
    }
    using file = Deno.openSync(temporary, { write: true, createNew: true, mode: 0o600 });
    const bytes = new TextEncoder().encode(text);
    for (let done = 0; done < bytes.length;) done += file.writeSync(bytes.subarray(done));
    file.syncSync();
    Deno.renameSync(temporary, path);
  } catch (error) {
    try {
      Deno.removeSync(temporary);
    } catch { /* it was never made */ }
    throw error instanceof ConfigError
      ? new ToolError(error.message)
      : new ToolError(`${path} cannot be written: ${messageOf(error)}`);
  }
}

/** Removes a file that is no link. @throws {ToolError} */
export function removeFile(path: string, below: string): void {
  try {
    refuseLinks(path, below);
    Deno.removeSync(path);
  } catch (error) {
    throw new ToolError(`${path} cannot be removed: ${messageOf(error)}`);
  }
}
