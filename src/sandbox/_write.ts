/**
 * Writing: a temporary sibling and a rename where that keeps everything else as it was, in place where it would not.
 *
 * @module
 */
import * as fs from "node:fs";
import { ToolError } from "../errors.ts";
import { dirname, rootOf } from "../text/path.ts";
import type { WriteOptions, WriteReport } from "../tool.ts";
import { realPath, shown } from "./_canonical.ts";
import type { FileChange } from "./_protocol.ts";
import {
  type CheckedFile,
  explain,
  identityAt,
  identityOfOpen,
  openChecked,
  openRaw,
  readRest,
  SwappedError,
  verify,
  writeAll,
} from "./_open.ts";

const LARGEST = 1 << 30;
/** Most bytes of a file that are kept so that its change can be taken back. */
const LARGEST_KEPT = 16 << 20;

/** Told of a change before it is made; the change is made when it returns. */
export type Announce = (change: FileChange) => void;

/**
 * Writes bytes to a canonical path that the scope allows.
 *
 * @param temporary path of the sibling that may be used
 * @throws {ToolError} and leaves neither the temporary file nor new directories behind
 */
export function writeBytes(
  path: string,
  bytes: Uint8Array,
  options: WriteOptions,
  temporary: string,
  announce?: Announce,
): WriteReport {
  const before = identityAtOrNull(path);
  if (before === null) {
    if (options.expected) {
      throw new ToolError(`Cannot write ${shown(path)}: it is gone since it was read`, "not_found");
    }
    const none = { before: null, mode: null, tooLarge: false };
    announce?.({ path, ...none, written: copyOf(bytes), append: false, missing: missingAbove(path).length });
    return createFile(path, bytes, options, temporary);
  }
  if (options.exclusive) throw new ToolError(`Cannot create ${shown(path)}: it exists already`);
  const current = openChecked(path, "read");
  try {
    if (options.expected) compare(current, options.expected, path);
    let { expected } = options;
    if (announce) {
      const kept = current.size > LARGEST_KEPT ? null : contentOf(current);
      announce({
        path,
        before: kept,
        mode: current.mode,
        written: copyOf(bytes),
        append: options.append === true,
        missing: 0,
        tooLarge: kept === null,
      });
      // What was announced is what gets lost, or nothing does.
      if (kept !== null) expected ??= kept;
    }
    if (options.append || current.links > 1) return inPlace(path, bytes, options, current);
    return replace(path, bytes, { ...options, expected }, current, temporary) ??
      inPlace(path, bytes, options, current);
  } finally {
    current.close();
  }
}

/** A copy with a buffer of its own. */
function copyOf(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes);
}

/** All of an open file, whatever was read of it before. */
function contentOf({ descriptor, size }: CheckedFile): Uint8Array<ArrayBuffer> | null {
  const buffer = new Uint8Array(size + 1);
  let length = 0;
  while (length < buffer.length) {
    const read = fs.readSync(descriptor, buffer, length, buffer.length - length, length);
    if (read === 0) return buffer.slice(0, length);
    length += read;
  }
  return null;
}

function identityAtOrNull(path: string): string | null {
  try {
    return identityAt(path);
  } catch (error) {
    throw explain(error, path, "write");
  }
}

function compare(file: CheckedFile, expected: Uint8Array, path: string): void {
  const now = file.size === expected.length
    ? readRest(file.descriptor, file.size, expected.length + 1)
    : null;
  if (now === null || now.length !== expected.length || now.some((byte, i) => byte !== expected[i])) {
    throw new ToolError(`Cannot write ${shown(path)}: it changed since it was read; read it again`);
  }
}

/** Overwrites or appends through the file's own inode: several links, or a directory that takes no new file. */
function inPlace(path: string, bytes: Uint8Array, options: WriteOptions, current: CheckedFile): WriteReport {
  const file = openChecked(path, options.append ? "append" : "write");
  try {
    if (file.identity !== current.identity) throw changed(path);
    writeAll(file.descriptor, bytes);
    if (!options.append) fs.ftruncateSync(file.descriptor, bytes.length);
  } catch (error) {
    throw explain(error, path, "write");
  } finally {
    file.close();
  }
  return { path, created: false, inPlace: !options.append || current.links > 1 };
}

function changed(path: string): SwappedError {
  return new SwappedError(`Cannot write ${shown(path)}: another file took its place meanwhile`);
}

/** Temporary sibling and rename; null where the directory or the owner does not let us. */
function replace(
  path: string,
  bytes: Uint8Array,
  options: WriteOptions,
  current: CheckedFile,
  temporary: string,
): WriteReport | null {
  let made: Temporary;
  try {
    made = makeTemporary(temporary, 0o600);
  } catch (error) {
    if (error instanceof SwappedError) throw error;
    return null;
  }
  try {
    if (!sameOwner(made.file, current)) {
      discard(made);
      return null;
    }
    if (Deno.build.os !== "windows") fs.fchmodSync(made.file.descriptor, current.mode & 0o1777);
    writeAll(made.file.descriptor, bytes);
    finish(made, path, () => {
      if (identityAtOrNull(path) !== current.identity) throw changed(path);
      if (options.expected) recheck(path, current, options.expected);
      current.close();
    });
  } catch (error) {
    discard(made);
    throw explain(error, path, "write");
  }
  return { path, created: false, inPlace: false };
}

/** The bytes once more, right before the rename: someone may have written while we did. */
function recheck(path: string, current: CheckedFile, expected: Uint8Array): void {
  const again = new Uint8Array(Math.min(expected.length + 1, LARGEST));
  const read = fs.readSync(current.descriptor, again, 0, again.length, 0);
  if (read !== expected.length || expected.some((byte, i) => byte !== again[i])) {
    throw new ToolError(`Cannot write ${shown(path)}: it changed since it was read; read it again`);
  }
}

function sameOwner(file: CheckedFile, current: CheckedFile): boolean {
  if (file.owner === current.owner && file.group === current.group) return true;
  try {
    fs.fchownSync(file.descriptor, current.owner, current.group);
    return true;
  } catch {
    return false;
  }
}

interface Temporary {
  readonly path: string;
  readonly file: CheckedFile;
}

function makeTemporary(path: string, bits: number): Temporary {
  const descriptor = openRaw(path, "create", bits);
  try {
    return { path, file: verify(descriptor, path) };
  } catch (error) {
    const made = identityOfOpen(descriptor);
    fs.closeSync(descriptor);
    // Somewhere a file without content was made; directories are being swapped, so it takes some tries to meet it again.
    for (let tries = 0; tries < 50 && !removed(path, made); tries++);
    throw error;
  }
}

function discard(made: Temporary): void {
  made.file.close();
  removed(made.path, made.file.identity);
}

/** Removes a file of ours if it lies there; false where it does not. */
function removed(path: string, identity: string): boolean {
  try {
    if (identityAt(path) !== identity) return false;
    Deno.removeSync(path);
    return true;
  } catch {
    return false;
  }
}

/** Closes the temporary file and renames it onto the path, after a last look at both. */
function finish(made: Temporary, path: string, look: () => void): void {
  made.file.close();
  if (!leadsToItself(made.path) || identityAt(made.path) !== made.file.identity) throw changed(path);
  look();
  Deno.renameSync(made.path, path);
  // The system finds the two names one after the other: a directory swapped just between them cannot be prevented.
  if (identityAt(path) !== made.file.identity) {
    throw new SwappedError(
      `Cannot vouch for ${
        shown(path)
      }: directories changed places while it was written, and it may lie elsewhere`,
    );
  }
}

function createFile(path: string, bytes: Uint8Array, options: WriteOptions, temporary: string): WriteReport {
  const made = makeParents(path);
  try {
    if (options.exclusive || options.append) {
      writeNew(path, bytes);
    } else if (!createByRename(path, bytes, temporary)) writeNew(path, bytes);
  } catch (error) {
    for (const directory of made.reverse()) removeEmpty(directory);
    throw explain(error, path, "write");
  }
  return { path, created: true, inPlace: false };
}

function createByRename(path: string, bytes: Uint8Array, temporary: string): boolean {
  let made: Temporary;
  try {
    made = makeTemporary(temporary, 0o666);
  } catch (error) {
    // No permission for a sibling: a single file outside that the user said yes to.
    if (error instanceof ToolError && error.cause instanceof Deno.errors.NotCapable) return false;
    throw error;
  }
  try {
    writeAll(made.file.descriptor, bytes);
    finish(made, path, () => {
      if (identityAtOrNull(path) !== null) throw changed(path);
    });
  } catch (error) {
    discard(made);
    throw error;
  }
  return true;
}

/** Creates the file itself; fails where it exists. */
function writeNew(path: string, bytes: Uint8Array): void {
  const made = makeTemporary(path, 0o666);
  try {
    writeAll(made.file.descriptor, bytes);
  } catch (error) {
    discard(made);
    throw error;
  }
  made.file.close();
}

/** The directories above a path that are not there, the innermost first. */
function missingAbove(path: string): string[] {
  const missing: string[] = [];
  for (let at = dirname(path); at !== rootOf(at); at = dirname(at)) {
    if (isDirectory(at)) break;
    missing.push(at);
  }
  return missing;
}

/** Makes the missing directories one by one, each checked; returns those that it made. */
function makeParents(path: string): string[] {
  const missing = missingAbove(path), made: string[] = [];
  for (const directory of missing.reverse()) {
    try {
      Deno.mkdirSync(directory);
      made.push(directory);
    } catch (error) {
      const exists = error instanceof Deno.errors.AlreadyExists;
      if (!exists || !isDirectory(directory)) {
        for (const path of made.reverse()) removeEmpty(path);
        if (!exists) throw explain(error, directory, "write");
        throw new ToolError(`Cannot write ${shown(path)}: ${shown(directory)} is not a directory`);
      }
    }
    if (!leadsToItself(directory)) throw changed(path);
  }
  return made;
}

function leadsToItself(path: string): boolean {
  try {
    return realPath(path) === path;
  } catch {
    return false;
  }
}

function isDirectory(path: string): boolean {
  try {
    return Deno.lstatSync(path).isDirectory;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    // A single file outside: its directory may not be looked at, and must exist.
    if (error instanceof Deno.errors.NotCapable) return true;
    if (error instanceof Deno.errors.NotADirectory) return false;
    throw explain(error, path, "write");
  }
}

function removeEmpty(directory: string): void {
  try {
    Deno.removeSync(directory);
  } catch {
    // Someone else put something there; it stays.
  }
}
