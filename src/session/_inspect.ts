/**
 * Reading and verifying one session.
 *
 * @module
 */
import { messageOf } from "../errors.ts";
import { type AnchorState, readAnchor } from "./_anchor.ts";
import { SessionBuilder } from "./_builder.ts";
import {
  anchorFolder,
  canonicalWorktree,
  lockHolder,
  type SessionFiles,
  sessionFiles,
  type SessionPlace,
} from "./_place.ts";
import { SessionError } from "./error.ts";
import { findSessionsFolder, openRegular } from "./folder.ts";
import { judgeLog, type LogScan, scanLog } from "./log.ts";
import { checkSessionName } from "./names.ts";
import type { SessionObject } from "./turns.ts";

/** What {@link verifySession} found. */
export interface SessionCheck {
  readonly name: string;
  /** The log is exactly what was written, as far as this machine can tell. */
  readonly ok: boolean;
  /** Whole records in the file. */
  readonly records: number;
  /** The record at which something is wrong, from 1; null when nothing is. */
  readonly record: number | null;
  /** One line. */
  readonly message: string;
  /** Hash of the last record. */
  readonly head: string;
}

/** A session as an object, and whether it can be relied on. */
export interface InspectedSession {
  readonly session: SessionObject;
  readonly check: SessionCheck;
}

/**
 * Reads a session, also one that was tampered with (then all that can be read of it), and verifies it.
 *
 * @throws {UsageError} for a name that cannot be one; {SessionError} `missing`, `unsafe`, `io`
 */
export async function inspectSession(place: SessionPlace, name: string): Promise<InspectedSession> {
  const { files, worktree } = locate(place, name);
  for (let attempt = 0;; attempt++) {
    const writer = lockHolder(files), anchor = readAnchor(files.anchor);
    const file = files.log === "" ? null : openRegular(files.log, { read: true });
    if (!file) {
      if (anchor === null) throw missing(name, worktree);
      return goneSession(name, anchor.done?.n ?? 0);
    }
    const builder = new SessionBuilder();
    let scan: LogScan;
    try {
      scan = await scanLog(file, anchor?.done?.n ?? 0, (record) => builder.add(record));
    } finally {
      file.close();
    }
    const check = checkOf(name, builder, scan, anchor, writer);
    // A writer that came or went between the looks at lock, anchor and log is not tampering.
    const moved = !check.ok && attempt < 3 &&
      (lockHolder(files) !== writer || JSON.stringify(readAnchor(files.anchor)) !== JSON.stringify(anchor));
    if (!moved) return { session: builder.object(name, writer !== null), check };
  }
}

/** The session object, whatever {@link verifySession} says of it. @throws as {@link inspectSession} */
export async function readSession(place: SessionPlace, name: string): Promise<SessionObject> {
  return (await inspectSession(place, name)).session;
}

/** Compares a session's chain and anchor. Never throws for what stands on disk. @throws {UsageError} for a bad name */
export async function verifySession(place: SessionPlace, name: string): Promise<SessionCheck> {
  checkSessionName(name);
  try {
    return (await inspectSession(place, name)).check;
  } catch (error) {
    return { name, ok: false, records: 0, record: null, message: messageOf(error), head: "" };
  }
}

/** Paths of a session; `log` is empty where the worktree has no sessions folder. */
export function locate(
  place: SessionPlace,
  name: string,
): { readonly worktree: string; readonly sessions: string | null; readonly files: SessionFiles } {
  checkSessionName(name);
  const worktree = canonicalWorktree(place.worktree), sessions = findSessionsFolder(worktree);
  const files = sessionFiles(sessions ?? "/", anchorFolder(place.stateDir, worktree), name);
  return { worktree, sessions, files: sessions === null ? { ...files, log: "" } : files };
}

/** The error for a session that is not there. */
export function missing(name: string, worktree: string): SessionError {
  return new SessionError(
    `there is no session "${name}" in ${worktree}; see: polyglav sessions list`,
    "missing",
  );
}

function goneSession(name: string, records: number): InspectedSession {
  // An anchor of an empty log is what a process leaves that was killed before its first record.
  const message = records === 0 ? "0 records" : `its file is gone; the anchor tells of ${records} records`;
  const check = { name, ok: records === 0, records: 0, record: records === 0 ? null : 1, message, head: "" };
  return { session: new SessionBuilder().object(name, false), check };
}

function checkOf(
  name: string,
  builder: SessionBuilder,
  scan: LogScan,
  anchor: AnchorState | null,
  writer: number | null,
): SessionCheck {
  const verdict = judgeLog(scan, anchor, writer !== null), records = scan.last.n, head = scan.last.hash;
  const result = (ok: boolean, record: number | null, message: string): SessionCheck => (
    { name, ok, records, record, message, head }
  );
  if (!verdict.ok) return result(false, verdict.fault.record, verdict.fault.message);
  if (records > 0 && builder.header?.name !== name) {
    return result(false, 1, `its file holds session ${JSON.stringify(builder.header?.name ?? "?")}`);
  }
  const notes = [`${records} ${records === 1 ? "record" : "records"}, head ${head.slice(0, 12)}`];
  if (writer !== null) notes.push(`process ${writer || "of unknown id"} writes it now`);
  if (verdict.note !== null) notes.push(verdict.note);
  for (const repair of builder.repairs) {
    notes.push(
      `repaired at record ${repair.n}: ${repair.why}${
        repair.copy === null ? "" : ` (kept as ${repair.copy})`
      }`,
    );
  }
  return result(true, null, notes.join("; "));
}
