/**
 * Opening so that what was opened is what was checked.
 *
 * A path can be swapped between the check and the open, and Deno itself resolves links before it opens (a worker with
 * narrowed permissions opens the link's target even under `O_NOFOLLOW`). So after every open two things are looked at:
 * the canonical path still leads to itself, and what lies there is the very file that the descriptor holds. Someone who
 * swaps a directory above it must show us the worktree at the first look and the other place at the second. Which look
 * comes next is drawn at random, many times, so that guessing succeeds once in two to the number of looks.
 *
 * @module
 */
import * as fs from "node:fs";
import { ToolError } from "../errors.ts";
import { realPath, reason, shown } from "./_canonical.ts";

/** Looks after the open of a single file. */
export const LOOKS = 24;
const { O_RDONLY, O_WRONLY, O_APPEND, O_CREAT, O_EXCL } = fs.constants;
/** Zero on Windows, which has neither. */
const CAREFUL: number = (fs.constants.O_NOFOLLOW ?? 0) | (fs.constants.O_NONBLOCK ?? 0);

/** How a file is opened. None of them truncates, and only `create` makes a file: a new one. */
export type OpenMode = "read" | "write" | "append" | "create";

const FLAGS: Readonly<Record<OpenMode, number>> = {
  read: O_RDONLY | CAREFUL,
  write: O_WRONLY | CAREFUL,
  append: O_WRONLY | O_APPEND | CAREFUL,
  create: O_WRONLY | O_CREAT | O_EXCL | CAREFUL,
};

/** Something took the place of what was checked. */
export class SwappedError extends ToolError {
  /** @param message one line */
  constructor(message: string) {
    super(message, "permission");
  }
}

/** An open regular file that was checked. */
export interface CheckedFile {
  readonly descriptor: number;
  /** Closes the descriptor; once is enough. */
  close(): void;
  readonly size: number;
  /** Permission bits. */
  readonly mode: number;
  readonly links: number;
  readonly owner: number;
  readonly group: number;
  /** Tells files apart: device and inode. */
  readonly identity: string;
}

function identityOf(info: { readonly dev: bigint; readonly ino: bigint }): string {
  return `${info.dev}:${info.ino}`;
}

/** Device and inode of a path, links not followed; null where there is nothing. */
export function identityAt(path: string): string | null {
  const info = fs.lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return info ? identityOf(info) : null;
}

/** Device and inode of an open descriptor. */
export function identityOfOpen(descriptor: number): string {
  return identityOf(fs.fstatSync(descriptor, { bigint: true }));
}

/** Whether two canonical paths are the same text, whatever the file system did to the composition of letters. */
function samePath(a: string, b: string): boolean {
  return a === b || a.normalize("NFC") === b.normalize("NFC");
}

const bits = new Uint8Array(256);
let drawn = bits.length * 8;

/** A random bit. */
function coin(): boolean {
  if (drawn === bits.length * 8) {
    crypto.getRandomValues(bits);
    drawn = 0;
  }
  const bit = (bits[drawn >> 3]! >> (drawn & 7)) & 1;
  drawn++;
  return bit === 1;
}

/**
 * Opens the regular file at a canonical path.
 *
 * @param bits permission bits of a new file, before the process's mask
 * @throws {ToolError} `not_found`, `permission`, or `execution`; the descriptor is closed then
 */
export function openChecked(canonical: string, mode: OpenMode, bits = 0o666): CheckedFile {
  const descriptor = openRaw(canonical, mode, bits);
  try {
    return verify(descriptor, canonical);
  } catch (error) {
    fs.closeSync(descriptor);
    throw error;
  }
}

/** Opens without any check; {@link verify} must follow before anything that was read is used. */
export function openRaw(path: string, mode: OpenMode, bits = 0o666): number {
  try {
    return fs.openSync(path, FLAGS[mode], bits);
  } catch (error) {
    throw explain(error, path, mode === "read" ? "read" : "write");
  }
}

/**
 * Checks that an open descriptor is a regular file and the one that the canonical path names.
 *
 * @param looks how many times one of the two things is looked at, beyond once each
 * @throws {SwappedError} where something was swapped
 */
export function verify(descriptor: number, canonical: string, looks: number = LOOKS): CheckedFile {
  const info = fs.fstatSync(descriptor, { bigint: true });
  const device = Number(info.dev), inode = Number(info.ino);
  const leadsToItself = () => samePath(realPath(canonical), canonical);
  const isTheFile = () => {
    const now = Deno.lstatSync(canonical);
    return !now.isSymlink && now.dev === device && (now.ino ?? inode) === inode;
  };
  let same: boolean;
  try {
    same = isTheFile() && leadsToItself();
    for (let look = 0; same && look < looks; look++) same = coin() ? isTheFile() : leadsToItself();
  } catch {
    same = false;
  }
  if (!same) {
    throw new SwappedError(
      `Cannot open ${shown(canonical)}: it leads elsewhere now than when it was checked`,
    );
  }
  if (!info.isFile()) throw new ToolError(`Cannot open ${shown(canonical)}: it is not a regular file`);
  let open = true;
  return {
    descriptor,
    close() {
      if (open) fs.closeSync(descriptor);
      open = false;
    },
    size: Number(info.size),
    mode: Number(info.mode) & 0o7777,
    links: Number(info.nlink),
    owner: Number(info.uid),
    group: Number(info.gid),
    identity: identityOf(info),
  };
}

/**
 * Reads from the descriptor's position to the end, at most `most` bytes.
 *
 * @param start bytes that were read already and come first
 */
export function readRest(
  descriptor: number,
  size: number,
  most: number,
  start?: Uint8Array,
): Uint8Array<ArrayBuffer> {
  const begun = start?.length ?? 0;
  let buffer = new Uint8Array(Math.min(Math.max(size, begun) + 1, most)), length = begun;
  if (start) buffer.set(start.subarray(0, buffer.length));
  while (length < most) {
    if (length === buffer.length) {
      const larger = new Uint8Array(Math.min(most, buffer.length * 2 + 4096));
      larger.set(buffer);
      buffer = larger;
    }
    const read = fs.readSync(descriptor, buffer, length, buffer.length - length, null);
    if (read === 0) break;
    length += read;
  }
  return buffer.subarray(0, Math.min(length, most));
}

/** Writes all of the bytes at the descriptor's position. */
export function writeAll(descriptor: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length;) {
    done += fs.writeSync(descriptor, bytes, done, bytes.length - done, null);
  }
}

/** The error of a file call as the tool's error. */
export function explain(error: unknown, path: string, doing: "list" | "read" | "write"): ToolError {
  if (error instanceof ToolError) return error;
  const code = (error as { code?: string }).code ?? "";
  if (error instanceof Deno.errors.NotFound || code === "ENOENT") {
    return new ToolError(`Cannot ${doing} ${shown(path)}: there is no such file`, "not_found");
  }
  if (error instanceof Deno.errors.NotCapable || code === "ERR_ACCESS_DENIED") {
    return new ToolError(`Cannot ${doing} ${shown(path)}: this call has no permission for it`, "permission", {
      cause: error,
    });
  }
  if (error instanceof Deno.errors.PermissionDenied || code === "EACCES" || code === "EPERM") {
    return new ToolError(`Cannot ${doing} ${shown(path)}: the system denies access`, "execution");
  }
  if (code === "EISDIR") return new ToolError(`Cannot ${doing} ${shown(path)}: it is a directory`);
  if (code === "ELOOP") {
    return new SwappedError(`Cannot open ${shown(path)}: it became a link after it was checked`);
  }
  if (code === "ENXIO") return new ToolError(`Cannot open ${shown(path)}: it is not a regular file`);
  return new ToolError(`Cannot ${doing} ${shown(path)}: ${reason(error)}`);
}
