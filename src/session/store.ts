/**
 * The sessions of a worktree: open, list, read, verify, export and delete.
 *
 * @module
 */
import { messageOf } from "../errors.ts";
import { join } from "../text/path.ts";
import { readAnchor } from "./_anchor.ts";
import { SessionBuilder } from "./_builder.ts";
import { openLog } from "./_open.ts";
import {
  anchorFolder,
  canonicalWorktree,
  ensureAnchorFolder,
  lockHolder,
  type SessionFiles,
  sessionFiles,
  SessionLock,
  type SessionPlace,
} from "./_place.ts";
import { type OpenSession, Writer } from "./_writer.ts";
import { SessionError } from "./error.ts";
import { ensureStateFolder, findSessionsFolder, openRegular, status } from "./folder.ts";
import { judgeLog, type LogScan, scanLog } from "./log.ts";
import { checkSessionName, newSessionId, newSessionName } from "./names.ts";
import { sessionToMarkdown } from "./markdown.ts";
import { parseRecord } from "./records.ts";
import type { SessionObject } from "./turns.ts";

export type { OpenSession, SessionPlace };
export { checkSessionName, newSessionId, newSessionName, SessionError };

/** How {@link openSession} opens. */
export interface OpenSessionOptions extends SessionPlace {
  /** A session of this name is resumed, or begun; without a name a new one is made up. */
  readonly name?: string;
  /** Beginning of a made-up name. */
  readonly prefix?: string;
  readonly role?: string;
  /** Id of the session on whose behalf this one runs. */
  readonly parentId?: string;
  /** Resume also what cannot be relied on (no anchor on this machine, or changed by something else). */
  readonly trust?: boolean;
  /** Tools whose results are left out of the log; names or aliases. */
  readonly noiseTools: readonly string[];
  /** Most characters of a tool's result in the log; 0: all. */
  readonly maxToolChars: number;
  /** The canonical name of a tool, for aliases; default: names stand for themselves. */
  readonly canonicalName?: (name: string) => string;
  readonly clock?: () => Date;
}

/**
 * Opens a session for writing and locks it until {@link OpenSession.close} or the end of the process. The log is
 * `.polyglav/sessions/<name>.jsonl` in the worktree.
 *
 * @throws {UsageError} for a name that cannot be one
 * @throws {SessionError} `locked`, `untrusted`, `unsafe` or `io`
 */
export async function openSession(options: OpenSessionOptions): Promise<OpenSession> {
  const clock = options.clock ?? (() => new Date()), canonical = options.canonicalName ?? ((name) => name);
  const id = newSessionId();
  const name = options.name === undefined
    ? checkSessionName(newSessionName(clock(), id, options.prefix))
    : checkSessionName(options.name);
  const worktree = canonicalWorktree(options.worktree);
  const sessions = ensureStateFolder(worktree, "sessions"),
    anchors = anchorFolder(options.stateDir, worktree);
  ensureAnchorFolder(anchors);
  const files = sessionFiles(sessions, anchors, name), lock = await SessionLock.take(files, name);
  try {
    const header = {
      type: "session",
      name,
      id,
      role: options.role ?? null,
      parent: options.parentId ?? null,
    } as const;
    const opened = await openLog(files, { ...header, version: 1 }, options.trust ?? false);
    const { log, builder, anchor, first, resumed } = opened;
    if (resumed) builder.abandon();
    for (const body of first) builder.add(log.append(body, clock()));
    if (resumed) tighten(files.log, sessions);
    const notes = first.flatMap((body) =>
      body.type === "repair"
        ? [
          `session "${name}": ${body.why}${
            body.copy === null ? "" : ` (kept as ${join(sessions, body.copy)})`
          }`,
        ]
        : []
    );
    return new Writer(name, builder.header?.id ?? id, notes, resumed, {
      log,
      builder,
      limits: {
        noise: new Set(options.noiseTools.map(canonical)),
        canonical,
        maxToolChars: options.maxToolChars,
      },
      clock,
      release: () => {
        anchor.close();
        lock.release();
      },
    });
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** One session in a listing. */
export interface SessionSummary {
  readonly name: string;
  readonly role: string | null;
  /** ISO 8601; null where the first record cannot be read. */
  readonly created_at: string | null;
  /** Last change of the file, ISO 8601. */
  readonly updated_at: string | null;
  /** Number of records by the anchor; null without one. */
  readonly records: number | null;
  readonly bytes: number;
  /** Beginning of the first prompt. */
  readonly prompt: string;
  /** Process that writes it now; 0 when its id is not known. */
  readonly writer: number | null;
  /** Why the file was not opened. */
  readonly problem: string | null;
}

/** The sessions of a worktree, last changed first. Reads only the beginning of each. @throws {SessionError} `unsafe`, `io` */
export function listSessions(place: SessionPlace): SessionSummary[] {
  const worktree = canonicalWorktree(place.worktree), sessions = findSessionsFolder(worktree);
  if (sessions === null) return [];
  const anchors = anchorFolder(place.stateDir, worktree);
  return namesIn(sessions, ".jsonl")
    .map((name) => summarize(sessionFiles(sessions, anchors, name), name))
    .sort((a, b) => (b.updated_at ?? "").localeCompare(a.updated_at ?? "") || (a.name < b.name ? -1 : 1));
}

/** Names of all sessions that have a file or an anchor, in order. @throws {SessionError} `unsafe`, `io` */
export function sessionNames(place: SessionPlace): string[] {
  const worktree = canonicalWorktree(place.worktree), sessions = findSessionsFolder(worktree);
  const names = new Set(namesIn(anchorFolder(place.stateDir, worktree), ".anchor"));
  for (const name of sessions === null ? [] : namesIn(sessions, ".jsonl")) names.add(name);
  return [...names].sort();
}

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

/** Formats of {@link exportSession}. */
export type ExportFormat = "markdown" | "json" | "jsonl";

/** A session as text: Markdown for people, the session object, or the log as it stands. @throws as {@link inspectSession} */
export async function exportSession(
  place: SessionPlace,
  name: string,
  format: ExportFormat,
): Promise<string> {
  if (format !== "jsonl") {
    const session = await readSession(place, name);
    return format === "json" ? `${JSON.stringify(session, null, 2)}\n` : sessionToMarkdown(session);
  }
  const { files, worktree } = locate(place, name);
  const file = files.log === "" ? null : openRegular(files.log, { read: true });
  if (!file) throw missing(name, worktree);
  try {
    return await new Response(file.readable).text();
  } catch (error) {
    throw new SessionError(`cannot read ${files.log}: ${messageOf(error)}`, "io", { cause: error });
  }
}

/**
 * Deletes a session: its log, the copies that were kept of it, and its anchor.
 *
 * @returns absolute paths of the files that were removed
 * @throws {UsageError} for a bad name; {SessionError} `missing`, `locked`, `unsafe`, `io`
 */
export async function deleteSession(place: SessionPlace, name: string): Promise<string[]> {
  const { files, worktree, sessions } = locate(place, name);
  const copies = sessions === null ? [] : copiesOf(sessions, name);
  const found = [files.log, files.anchor, ...copies].filter((path) => path !== "" && status(path) !== null);
  if (found.length === 0) throw missing(name, worktree);
  ensureAnchorFolder(anchorFolder(place.stateDir, worktree));
  const lock = await SessionLock.take(files, name);
  try {
    for (const path of found) Deno.removeSync(path);
    Deno.removeSync(files.lock);
  } catch (error) {
    throw new SessionError(`cannot delete session "${name}": ${messageOf(error)}`, "io", { cause: error });
  } finally {
    lock.release();
  }
  return found;
}

/** Paths of a session; `log` is empty where the worktree has no sessions folder. */
function locate(
  place: SessionPlace,
  name: string,
): { readonly worktree: string; readonly sessions: string | null; readonly files: SessionFiles } {
  checkSessionName(name);
  const worktree = canonicalWorktree(place.worktree), sessions = findSessionsFolder(worktree);
  const files = sessionFiles(sessions ?? "/", anchorFolder(place.stateDir, worktree), name);
  return { worktree, sessions, files: sessions === null ? { ...files, log: "" } : files };
}

function missing(name: string, worktree: string): SessionError {
  return new SessionError(
    `there is no session "${name}" in ${worktree}; see: polyglav sessions list`,
    "missing",
  );
}

function goneSession(name: string, records: number): InspectedSession {
  const message = records === 0
    ? "it was never written"
    : `its file is gone; the anchor tells of ${records} records`;
  const check = { name, ok: false, records: 0, record: records === 0 ? null : 1, message, head: "" };
  return { session: new SessionBuilder().object(name, false), check };
}

function checkOf(
  name: string,
  builder: SessionBuilder,
  scan: LogScan,
  anchor: ReturnType<typeof readAnchor>,
  writer: number | null,
): SessionCheck {
  const verdict = judgeLog(scan, anchor, writer !== null), records = scan.last.n, head = scan.last.hash;
  const result = (ok: boolean, record: number | null, message: string): SessionCheck => (
    { name, ok, records, record, message, head }
  );
  if (!verdict.ok) return result(false, verdict.fault.record, verdict.fault.message);
  if (records > 0 && builder.header?.name !== name) {
    return result(false, 1, `its file holds session "${builder.header?.name ?? "?"}"`);
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

function summarize(files: SessionFiles, name: string): SessionSummary {
  const anchor = readAnchor(files.anchor), writer = lockHolder(files), records = anchor?.done?.n ?? null;
  const empty = {
    name,
    role: null,
    created_at: null,
    updated_at: null,
    records,
    bytes: 0,
    prompt: "",
    writer,
  };
  try {
    const file = openRegular(files.log, { read: true });
    if (!file) return { ...empty, problem: "it vanished" };
    try {
      const { size, mtime } = file.statSync(), builder = new SessionBuilder();
      for (const line of firstLines(file, 1 << 16)) {
        const record = parseRecord(line);
        if (record) builder.add(record);
      }
      const { created_at, role, turns } = builder.object(name, false), prompt = turns[0]?.parts[0];
      return {
        ...empty,
        role,
        created_at: created_at || null,
        updated_at: mtime?.toISOString() ?? null,
        bytes: size,
        prompt: prompt?.type === "user" ? prompt.text.slice(0, 200) : "",
        problem: builder.header === null && size > 0 ? "its first record cannot be read" : null,
      };
    } finally {
      file.close();
    }
  } catch (error) {
    return { ...empty, problem: messageOf(error) };
  }
}

function* firstLines(file: Deno.FsFile, most: number): Iterable<Uint8Array> {
  const buffer = new Uint8Array(most), filled = file.readSync(buffer) ?? 0;
  for (let start = 0;;) {
    const end = buffer.subarray(0, filled).indexOf(0x0a, start);
    if (end < 0) return;
    yield buffer.subarray(start, end);
    start = end + 1;
  }
}

/** Base names of the entries that end with `suffix` and are names of sessions. */
function namesIn(folder: string, suffix: string): string[] {
  try {
    return [...Deno.readDirSync(folder)].flatMap(({ name }) => {
      const base = name.endsWith(suffix) ? name.slice(0, -suffix.length) : "";
      return isName(base) ? [base] : [];
    });
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw new SessionError(`cannot list ${folder}: ${messageOf(error)}`, "io", { cause: error });
  }
}

function isName(text: string): boolean {
  try {
    return checkSessionName(text) === text;
  } catch {
    return false;
  }
}

function copiesOf(sessions: string, name: string): string[] {
  const copy = /^\.jsonl\.(torn|kept)-\d+$/;
  return [...Deno.readDirSync(sessions)]
    .filter((entry) => entry.name.startsWith(name) && copy.test(entry.name.slice(name.length)))
    .map((entry) => join(sessions, entry.name));
}

/** Files that came from elsewhere (a checkout, a copy) may be open to others. */
function tighten(log: string, sessions: string): void {
  if (Deno.build.os === "windows") return;
  try {
    Deno.chmodSync(log, 0o600);
    Deno.chmodSync(sessions, 0o700);
  } catch { /* somebody else's file: reading and appending worked, so it stays as it is */ }
}
