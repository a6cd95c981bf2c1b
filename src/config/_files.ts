/**
 * Reading and writing the configuration's files: only regular files of a sane size, never a FIFO or a device (which
 * would hang), and for a project nothing that a link leads elsewhere.
 *
 * @module
 */
import { ConfigError, messageOf } from "../errors.ts";
import { basename, dirname, isWithin, join, toSlashes } from "../text/path.ts";
import { showName } from "./_show.ts";

/** Most bytes of a configuration file. */
const LIMIT = 1_048_576;

function kindOf(info: Deno.FileInfo): string {
  if (info.isDirectory) return "a directory";
  if (info.isFifo) return "a FIFO";
  if (info.isSocket) return "a socket";
  return info.isCharDevice || info.isBlockDevice ? "a device" : "no regular file";
}

function problem(path: string, what: string): ConfigError {
  return new ConfigError(`${showName(path)} ${what}`);
}

/** The canonical path of `path`, or null where there is nothing. A link to nothing is an error. */
function canonical(path: string): string | null {
  try {
    Deno.lstatSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return null;
    throw problem(path, `cannot be read: ${messageOf(error)}`);
  }
  try {
    return Deno.realPathSync(path);
  } catch (error) {
    throw problem(path, `is a link that cannot be followed: ${messageOf(error)}`);
  }
}

/**
 * The bytes of a configuration file, or null where there is none.
 *
 * @param path absolute
 * @param within the file itself, all links resolved, must be below this canonical directory
 * @throws ConfigError for anything but a regular file of at most 1 MiB, and for a link that leads out of `within`
 */
export function readConfigFile(path: string, within?: string): Uint8Array | null {
  const real = canonical(path);
  if (real === null) return null;
  checkPlace(path, real, within);
  try {
    const info = Deno.statSync(real);
    if (!info.isFile) throw problem(path, `is ${kindOf(info)}; it has to be a regular file`);
    if (info.size > LIMIT) {
      throw problem(path, `has ${info.size} bytes; a configuration file has at most ${LIMIT}`);
    }
    using file = Deno.openSync(real);
    const opened = file.statSync();
    if (opened.ino !== info.ino || opened.dev !== info.dev) {
      throw problem(path, "changed while it was read; try again");
    }
    const bytes = new Uint8Array(info.size + 1);
    let length = 0, read: number | null;
    while (length < bytes.length && (read = file.readSync(bytes.subarray(length))) !== null) length += read;
    if (length > info.size) throw problem(path, "grew while it was read; try again");
    return bytes.subarray(0, length);
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw problem(path, `cannot be read: ${messageOf(error)}`);
  }
}

function checkPlace(path: string, real: string, within?: string): void {
  if (within !== undefined && !isWithin(toSlashes(real), toSlashes(within))) {
    throw problem(
      path,
      `is reached through a link that leads to ${showName(real)}; put the file itself below ${
        showName(within)
      }`,
    );
  }
}

/**
 * Replaces a file at once, by a new file beside it that is renamed over it; a link is kept and its target replaced.
 * Missing directories are made.
 *
 * @param path absolute
 * @param text the whole content
 * @param mode permission bits of the file; a file that exists keeps its own unless `exact`
 * @throws ConfigError when it cannot be written, or a link leads out of `within`
 */
export function writeConfigFile(
  path: string,
  text: string,
  options: { mode: number; directoryMode?: number; exact?: boolean; within?: string },
): void {
  try {
    Deno.mkdirSync(dirname(path), { recursive: true, mode: options.directoryMode });
  } catch (error) {
    throw problem(dirname(path), `cannot be made: ${messageOf(error)}`);
  }
  const existing = canonical(path);
  const target = existing ?? join(Deno.realPathSync(dirname(path)), basename(path));
  checkPlace(path, target, options.within);
  let mode = options.mode;
  const temporary = `${target}.${crypto.randomUUID().slice(0, 8)}.tmp`;
  try {
    if (existing !== null) {
      const info = Deno.statSync(target);
      if (!info.isFile) throw problem(path, `is ${kindOf(info)}; it has to be a regular file`);
      if (!options.exact && info.mode !== null) mode = info.mode & 0o777;
    }
    using file = Deno.openSync(temporary, { write: true, createNew: true, mode: 0o600 });
    let bytes = new TextEncoder().encode(text);
    while (bytes.length > 0) bytes = bytes.subarray(file.writeSync(bytes));
    file.syncSync();
  } catch (error) {
    forget(temporary);
    throw error instanceof ConfigError ? error : problem(path, `cannot be written: ${messageOf(error)}`);
  }
  try {
    if (Deno.build.os !== "windows") Deno.chmodSync(temporary, mode);
    Deno.renameSync(temporary, target);
  } catch (error) {
    forget(temporary);
    throw problem(path, `cannot be written: ${messageOf(error)}`);
  }
}

function forget(path: string): void {
  try {
    Deno.removeSync(path);
  } catch {
    // it was never made
  }
}
