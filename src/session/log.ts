/**
 * The append-only log of a session: JSON Lines in which every record carries the SHA-256 of the line before, and an
 * anchor outside the worktree that says how long it is and how it ends. README.md beside this file has the details.
 *
 * @module
 */
import { messageOf } from "../errors.ts";
import { sha256 } from "../text/sha256.ts";
import { Anchor, type AnchorState, type Mark, nothing } from "./_anchor.ts";
import { SessionError } from "./error.ts";
import { createFile, openRegular, status, writeAll } from "./folder.ts";
import { parseRecord, type RecordBody, type SessionRecord } from "./records.ts";

/** Lines from this size on are hashed by `crypto.subtle`, which is faster there. */
const largeLine = 8192;
/** No line is longer; so much memory may be needed to read one. */
const longestLine = 256 * 1024 * 1024;
const encoder = new TextEncoder();

/** What is wrong with a log, and where. */
export interface LogFault {
  /** Number of the record, from 1. */
  readonly record: number;
  /** One line. */
  readonly message: string;
}

/** What was read from a log. */
export interface LogScan {
  /** Number and hash of the last whole line. */
  readonly last: Mark;
  /** Hash of the line that was asked for, when there is one. */
  readonly watched: string | null;
  /** The first break of the chain. */
  readonly fault: LogFault | null;
  /** Bytes of whole lines. */
  readonly bytes: number;
  /** Bytes after the last line feed: a record that was not written to its end. */
  readonly torn: Uint8Array;
}

/**
 * Reads a log once, from the start, and hands every readable record to `visit`, also those after a break of the chain.
 *
 * @param watch number of the line whose hash is wanted
 */
export async function scanLog(
  file: Deno.FsFile,
  watch: number,
  visit: (record: SessionRecord) => void,
): Promise<LogScan> {
  let buffer = new Uint8Array(1 << 18), filled = 0, bytes = 0;
  let last = nothing,
    watched: string | null = watch === 0 ? nothing.hash : null,
    fault: LogFault | null = null;
  file.seekSync(0, Deno.SeekMode.Start);
  for (;;) {
    if (filled === buffer.length) {
      if (filled > longestLine) {
        throw new SessionError("the log has a line of more than 256 MB; it is not a session", "io");
      }
      const larger = new Uint8Array(buffer.length * 2);
      larger.set(buffer);
      buffer = larger;
    }
    const got = file.readSync(buffer.subarray(filled));
    if (got === null) break;
    let start = 0, from = filled;
    filled += got;
    for (;;) {
      const end = buffer.subarray(0, filled).indexOf(0x0a, from);
      if (end < 0) break;
      const line = buffer.subarray(start, end), record = parseRecord(line), n = last.n + 1;
      fault ??= faultOf(record, n, last);
      if (record) visit(record);
      last = { n, hash: line.length < largeLine ? sha256(line) : await sha256Large(line) };
      if (n === watch) watched = last.hash;
      start = from = end + 1;
    }
    bytes += start;
    buffer.copyWithin(0, start, filled);
    filled -= start;
  }
  return { last, watched, fault, bytes, torn: buffer.slice(0, filled) };
}

async function sha256Large(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
}

function faultOf(record: SessionRecord | null, n: number, before: Mark): LogFault | null {
  if (!record) return { record: n, message: `record ${n} cannot be read` };
  if (record.n !== n) {
    const what = record.n > n ? `record ${n} is missing` : `a record is there twice`;
    return { record: n, message: `${what} or out of order: line ${n} holds record ${record.n}` };
  }
  if (record.prev !== before.hash) {
    return n === 1
      ? { record: 1, message: "record 1 was changed: it does not begin a chain" }
      : { record: n - 1, message: `record ${n - 1} was changed: record ${n} carries another hash of it` };
  }
  return null;
}

/** How a log and its anchor agree. */
export type LogVerdict =
  /** They agree, or differ by what a killed process leaves behind (`note` says what). */
  | { readonly ok: true; readonly note: string | null; readonly pending: boolean }
  /** There is no anchor on this machine; the chain itself is whole. */
  | { readonly ok: false; readonly kind: "unanchored"; readonly fault: LogFault }
  /** Something else wrote, cut or exchanged the log. */
  | { readonly ok: false; readonly kind: "tampered"; readonly fault: LogFault };

/**
 * Compares a log with its anchor.
 *
 * @param live another process writes this session right now: what it appended since the anchor was read counts as its own
 */
export function judgeLog(scan: LogScan, anchor: AnchorState | null, live: boolean): LogVerdict {
  const { last, torn } = scan,
    tampered = (record: number, message: string): LogVerdict => (
      { ok: false, kind: "tampered", fault: { record, message } }
    );
  if (scan.fault) return { ok: false, kind: "tampered", fault: scan.fault };
  if (!anchor) {
    const fault = {
      record: last.n,
      message: "no anchor on this machine: it may have been written elsewhere or rewritten",
    };
    return { ok: false, kind: "unanchored", fault };
  }
  const { next } = anchor, done = anchor.done ?? (next && last.n === next.n ? next : null);
  if (!done) return tampered(last.n, "the anchor is damaged, so that nothing tells whether the log is whole");
  if (last.n < done.n) {
    const gone = last.n + 1 === done.n ? `record ${done.n} is` : `records ${last.n + 1} to ${done.n} are`;
    return tampered(last.n + 1, `${gone} missing at the end`);
  }
  const hash = last.n === done.n ? last.hash : scan.watched;
  if (hash !== done.hash) {
    return tampered(done.n, `record ${done.n} is not the one that was written; it or one before was changed`);
  }
  if (live) return { ok: true, note: null, pending: false };
  const announced = next !== null && next.n === done.n + 1;
  if (last.n > done.n) {
    if (!announced || last.n > next.n || last.hash !== next.hash) {
      return tampered(done.n + 1, `record ${done.n + 1} was added by something else`);
    }
    if (torn.length > 0) {
      return tampered(next.n, `${torn.length} bytes after record ${next.n} were added by something else`);
    }
    return { ok: true, note: `its writer was ended right after record ${last.n}`, pending: true };
  }
  if (torn.length === 0) return { ok: true, note: null, pending: announced };
  if (!announced) {
    return tampered(last.n, `${torn.length} bytes after record ${last.n} were added by something else`);
  }
  return {
    ok: true,
    note: `record ${next.n} was torn when its writer was ended; ${torn.length} bytes skipped`,
    pending: true,
  };
}

/** A log that is open for appending. */
export class SessionLog {
  readonly #path: string;
  readonly #file: Deno.FsFile;
  readonly #anchor: Anchor;
  #last: Mark;
  #size: number;
  #broken: SessionError | null = null;

  /** @param last number and hash of the last record; @param size bytes up to its end */
  private constructor(path: string, file: Deno.FsFile, anchor: Anchor, last: Mark, size: number) {
    [this.#path, this.#file, this.#anchor, this.#last, this.#size] = [path, file, anchor, last, size];
  }

  /** Creates a log that must not exist yet. @throws {SessionError} */
  static create(path: string, anchor: Anchor): SessionLog {
    return new SessionLog(path, createFile(path, { append: true }), anchor, nothing, 0);
  }

  /** Opens a log whose last record is known from a scan. @throws {SessionError} when it changed since */
  static resume(path: string, anchor: Anchor, last: Mark, size: number): SessionLog {
    const file = openRegular(path, { append: true });
    if (!file) throw new SessionError(`${path} vanished while it was opened; try again`, "io");
    const log = new SessionLog(path, file, anchor, last, size);
    try {
      log.#unchanged();
    } catch (error) {
      file.close();
      throw error;
    }
    return log;
  }

  /** Number of records. */
  get length(): number {
    return this.#last.n;
  }

  /**
   * Appends a record and its anchor. When it returns, both were written; costs the same however long the log is.
   *
   * @throws {SessionError} (`io`) when that failed, or something else changed the file. From then on every append fails.
   */
  append(body: RecordBody, at: Date): SessionRecord {
    if (this.#broken) throw this.#broken;
    const n = this.#last.n + 1;
    const record = { n, prev: this.#last.hash, at: at.toISOString(), ...body };
    const line = encoder.encode(`${JSON.stringify(record)}\n`);
    if (line.length > longestLine) {
      throw new SessionError(
        `a record of ${line.length} bytes is too large for the log; the most is 256 MB`,
        "io",
      );
    }
    const hash = sha256(line.subarray(0, line.length - 1));
    try {
      this.#unchanged();
      this.#anchor.announce(n, hash);
      writeAll(this.#file, line);
      this.#anchor.commit(n, hash);
    } catch (error) {
      this.#broken = error instanceof SessionError
        ? error
        : new SessionError(`cannot write ${this.#path}: ${messageOf(error)}`, "io", { cause: error });
      throw this.#broken;
    }
    this.#size += line.length;
    this.#last = { n, hash };
    return record;
  }

  /** Makes sure that the path still leads to the open file. @throws {SessionError} (`io`) */
  checkPath(): void {
    const there = status(this.#path), open = this.#file.statSync();
    if (there?.ino === open.ino && there?.dev === open.dev && !there.isSymlink) return;
    this.#broken ??= this.#changed("was moved, removed or exchanged");
    throw this.#broken;
  }

  /** Closes the file; the anchor is the caller's. */
  close(): void {
    this.#broken ??= new SessionError("the session is closed", "io");
    this.#file.close();
  }

  #unchanged(): void {
    const now = this.#file.statSync();
    if (now.nlink === 0) throw this.#changed("was removed");
    if (now.size !== this.#size) throw this.#changed("was changed");
  }

  #changed(what: string): SessionError {
    return new SessionError(
      `${this.#path} ${what} by another program while this session writes it; nothing more is recorded`,
      "io",
    );
  }
}
