/**
 * The program's own folder in a worktree (`.polyglav/`), and opening files in it without following links.
 *
 * @module
 */
import { messageOf } from "../errors.ts";
import { join } from "../text/path.ts";
import { SessionError } from "./error.ts";

/** What `.polyglav/.gitignore` keeps out of commits. The configuration is not in it. */
const ignored = `# Written by polyglav: what belongs to this machine and not into commits.
/.gitignore
/sessions/
/asks.json
/memory/
/journal/
`;

/**
 * Makes `.polyglav` (0700) with its `.gitignore`, and `.polyglav/<child>` (0700) when a child is named. What exists
 * is left as it is; so that a child stays out of commits even where `.polyglav/.gitignore` does not know it (an older
 * one, the project's own), it has a `.gitignore` of its own.
 *
 * @param worktree absolute canonical path
 * @returns the absolute path of the folder, of the child when one is named
 * @throws {SessionError} when a link or a file stands in the way (`unsafe`), or making it fails (`io`)
 */
export function ensureStateFolder(worktree: string, child?: string): string {
  const home = join(worktree, ".polyglav");
  ensureFolder(home);
  if (status(join(home, ".gitignore")) === null) ignore(home, ignored);
  if (child === undefined) return home;
  const folder = join(home, child);
  ensureFolder(folder);
  if (status(join(folder, ".gitignore")) === null) ignore(folder, "*\n");
  return folder;
}

/**
 * The absolute path of `.polyglav/journal`, where the undo journal keeps what files held; null where there is no
 * `.polyglav` yet (a single call makes none), or something stands in the way.
 */
export function journalFolder(worktree: string): string | null {
  try {
    const home = status(join(worktree, ".polyglav"));
    return home?.isDirectory ? ensureStateFolder(worktree, "journal") : null;
  } catch {
    return null;
  }
}

/**
 * The absolute path of `.polyglav/sessions`, or null when there is none.
 *
 * @throws {SessionError} (`unsafe`) when it or `.polyglav` is a link or no folder
 */
export function findSessionsFolder(worktree: string): string | null {
  let folder = worktree;
  for (const part of [".polyglav", "sessions"]) {
    folder = join(folder, part);
    const found = status(folder);
    if (found === null) return null;
    requireFolder(folder, found);
  }
  return folder;
}

/** What stands at a path, links not followed; null for nothing. @throws {SessionError} (`io`) */
export function status(path: string): Deno.FileInfo | null {
  try {
    return Deno.lstatSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return null;
    throw new SessionError(`cannot look at ${path}: ${messageOf(error)}`, "io", { cause: error });
  }
}

/**
 * Opens a regular file that exists; a link, a FIFO, a socket or a device is refused before it is opened, and what was
 * opened must be what was looked at. (Whoever swaps the file between the two, within microseconds, can make the open
 * wait on a FIFO or follow a link; the link's target is then refused unread.)
 *
 * @returns null when there is no such file
 * @throws {SessionError} `unsafe` or `io`
 */
export function openRegular(path: string, options: Deno.OpenOptions): Deno.FsFile | null {
  const before = status(path);
  if (before === null) return null;
  requireFile(path, before);
  let file: Deno.FsFile;
  try {
    file = Deno.openSync(path, options);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw new SessionError(`cannot open ${path}: ${messageOf(error)}`, "io", { cause: error });
  }
  const after = file.statSync();
  if (after.isFile && after.ino === before.ino && after.dev === before.dev) return file;
  file.close();
  throw new SessionError(
    `${path} was exchanged while it was opened; look at what does that, then try again`,
    "unsafe",
  );
}

/** Creates a file (0600) that must not exist yet, links included. @throws {SessionError} `unsafe` when something stands there, else `io` */
export function createFile(path: string, options: Deno.OpenOptions): Deno.FsFile {
  try {
    return Deno.openSync(path, { ...options, createNew: true, mode: 0o600 });
  } catch (error) {
    if (error instanceof Deno.errors.AlreadyExists) {
      throw new SessionError(`${path} appeared while it was created; try again`, "unsafe", { cause: error });
    }
    throw new SessionError(`cannot create ${path}: ${messageOf(error)}`, "io", { cause: error });
  }
}

/** Writes all bytes, however many calls it takes. */
export function writeAll(file: Deno.FsFile, bytes: Uint8Array): void {
  for (let written = 0; written < bytes.length;) written += file.writeSync(bytes.subarray(written));
}

/** Creates the first of `<base>-1`, `<base>-2`, … that is free and writes the bytes to it; returns its path. */
export function keepCopy(base: string, chunks: Iterable<Uint8Array>): string {
  for (let number = 1;; number++) {
    const path = `${base}-${number}`;
    if (status(path) !== null) continue;
    const file = createFile(path, { write: true });
    try {
      for (const chunk of chunks) writeAll(file, chunk);
      file.syncDataSync();
    } catch (error) {
      throw new SessionError(`cannot keep a copy in ${path}: ${messageOf(error)}`, "io", { cause: error });
    } finally {
      file.close();
    }
    return path;
  }
}

function ensureFolder(path: string): void {
  if (status(path) === null) {
    try {
      Deno.mkdirSync(path, { mode: 0o700 });
    } catch (error) {
      if (!(error instanceof Deno.errors.AlreadyExists)) {
        throw new SessionError(`cannot create ${path}: ${messageOf(error)}`, "io", { cause: error });
      }
    }
  }
  const found = status(path);
  if (found === null) throw new SessionError(`${path} vanished while it was created; try again`, "io");
  requireFolder(path, found);
}

function ignore(folder: string, text: string): void {
  try {
    const file = Deno.openSync(join(folder, ".gitignore"), { write: true, createNew: true, mode: 0o644 });
    writeAll(file, new TextEncoder().encode(text));
    file.close();
  } catch (error) {
    if (!(error instanceof Deno.errors.AlreadyExists)) {
      throw new SessionError(`cannot create ${folder}/.gitignore: ${messageOf(error)}`, "io", {
        cause: error,
      });
    }
  }
}

function requireFolder(path: string, found: Deno.FileInfo): void {
  if (found.isDirectory && !found.isSymlink) return;
  const what = found.isSymlink ? "is a link" : "is no folder";
  throw new SessionError(
    `${path} ${what}; only a real folder is written to: remove or rename it`,
    "unsafe",
  );
}

function requireFile(path: string, found: Deno.FileInfo): void {
  if (found.isFile && !found.isSymlink) return;
  const what = found.isSymlink ? "is a link" : found.isDirectory ? "is a folder" : "is a special file";
  throw new SessionError(`${path} ${what}, not a session's file; remove or rename it`, "unsafe");
}
