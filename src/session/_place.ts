/**
 * Where the files of a worktree's sessions are: logs inside it, anchors and locks outside.
 *
 * @module
 */
import { messageOf } from "../errors.ts";
import { isAbsolute, join } from "../text/path.ts";
import { placeName } from "../text/place_name.ts";
import { readAnchor } from "./_anchor.ts";
import { SessionError } from "./error.ts";

/** Whose sessions. */
export interface SessionPlace {
  /** Absolute path of the worktree. */
  readonly worktree: string;
  /** The user's state directory, absolute and outside the worktree: anchors and locks are kept below it. */
  readonly stateDir: string;
}

/** The files of one session. */
export interface SessionFiles {
  readonly log: string;
  readonly anchor: string;
  readonly lock: string;
}

/** The worktree's canonical path. @throws {SessionError} `missing` or `io` */
export function canonicalWorktree(path: string): string {
  if (!isAbsolute(path)) throw new SessionError(`the worktree ${path} is not an absolute path`, "io");
  try {
    return join(Deno.realPathSync(path));
  } catch (error) {
    throw new SessionError(`cannot find the worktree ${path}: ${messageOf(error)}`, "missing", {
      cause: error,
    });
  }
}

/** The folder of a worktree's anchors: a readable part and one that tells equal names apart. */
export function anchorFolder(stateDir: string, worktree: string): string {
  return join(stateDir, "anchors", placeName(worktree));
}

/** Makes the folder of anchors (0700). @throws {SessionError} `io` */
export function ensureAnchorFolder(folder: string): void {
  try {
    Deno.mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new SessionError(
      `cannot keep the session's anchor in ${folder}: ${
        messageOf(error)
      }; let XDG_STATE_HOME name a folder that can be written`,
      "io",
      { cause: error },
    );
  }
}

/** The files of a session; its name was checked. */
export function sessionFiles(sessions: string, anchors: string, name: string): SessionFiles {
  return {
    log: join(sessions, `${name}.jsonl`),
    anchor: join(anchors, `${name}.anchor`),
    lock: join(anchors, `${name}.lock`),
  };
}

/** The right to write a session; ends with the process, however it ends. */
export class SessionLock {
  readonly #file: Deno.FsFile;

  private constructor(file: Deno.FsFile) {
    this.#file = file;
  }

  /**
   * Takes the lock. What an ended process held is free.
   *
   * @throws {SessionError} `locked`, with the holder's process id
   */
  static async take(files: SessionFiles, name: string): Promise<SessionLock> {
    for (let attempt = 0; attempt < 10; attempt++) {
      const file = openLock(files.lock);
      // A reader that asks whether the session is in use holds the lock for a moment.
      if (file.tryLockSync(true)) {
        // Deleting a session removes the file; the lock must be the one that others will see.
        if (sameFile(file, files.lock)) return new SessionLock(file);
      }
      file.close();
      await new Promise((resolve) => setTimeout(resolve, 5 + attempt));
    }
    const pid = readAnchor(files.anchor)?.holder;
    throw new SessionError(
      `another process (${
        pid ? `pid ${pid}` : "pid unknown"
      }) writes session "${name}"; wait for it or use another name`,
      "locked",
    );
  }

  /** Gives it back. */
  release(): void {
    this.#file.close();
  }
}

/** Whether a process writes the session now; its id, or 0 when it is not known. Null: none does. */
export function lockHolder(files: SessionFiles): number | null {
  let file: Deno.FsFile;
  try {
    file = Deno.openSync(files.lock, { read: true });
  } catch {
    return null;
  }
  try {
    return file.tryLockSync(false) ? null : readAnchor(files.anchor)?.holder ?? 0;
  } finally {
    file.close();
  }
}

function openLock(path: string): Deno.FsFile {
  try {
    return Deno.openSync(path, { read: true, write: true, create: true, mode: 0o600 });
  } catch (error) {
    throw new SessionError(`cannot lock the session with ${path}: ${messageOf(error)}`, "io", {
      cause: error,
    });
  }
}

function sameFile(file: Deno.FsFile, path: string): boolean {
  try {
    const there = Deno.lstatSync(path), open = file.statSync();
    return there.ino === open.ino && there.dev === open.dev;
  } catch {
    return false;
  }
}
