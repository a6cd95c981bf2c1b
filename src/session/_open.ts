/**
 * Opening a session for writing: what stands on disk is read once, judged and, where that is safe or the user trusts
 * it, continued.
 *
 * @module
 */
import { messageOf } from "../errors.ts";
import { sha256 } from "../text/sha256.ts";
import { Anchor, type Mark, nothing, readAnchor } from "./_anchor.ts";
import { SessionBuilder } from "./_builder.ts";
import type { SessionFiles } from "./_place.ts";
import { SessionError } from "./error.ts";
import { createFile, keepCopy, openRegular, writeAll } from "./folder.ts";
import { judgeLog, type LogScan, scanLog, SessionLog } from "./log.ts";
import type { RecordBody, SessionRecord } from "./records.ts";

/** A log that is ready to be appended to. */
export interface OpenedLog {
  readonly log: SessionLog;
  readonly builder: SessionBuilder;
  readonly anchor: Anchor;
  /** Records that have to be written first: header, repairs. */
  readonly first: readonly RecordBody[];
  readonly resumed: boolean;
}

/** The first record of a new session. */
export type Header = Extract<RecordBody, { type: "session" }>;

/**
 * Opens or creates the log of a session whose lock is held.
 *
 * @param trust resume what cannot be relied on
 * @throws {SessionError} `untrusted` without `trust`, `unsafe`, `io`
 */
export async function openLog(
  files: SessionFiles,
  header: Header,
  trust: boolean | "unanchored",
): Promise<OpenedLog> {
  const name = header.name, known = readAnchor(files.anchor), fully = trust === true;
  const file = openRegular(files.log, { read: true });
  if (!file) {
    const lost = known?.done?.n ?? 0;
    if (lost > 0 && !fully) {
      throw new SessionError(
        `the file of session "${name}" is gone, and its anchor tells of ${lost} records; begin anew with --trust, or forget it with: polyglav sessions delete ${name} --yes`,
        "untrusted",
      );
    }
    const repair = lost > 0 ? [`an earlier file with ${lost} records was gone`] : [];
    return begin(files, header, repair, null);
  }
  const builder = new SessionBuilder();
  let scan: LogScan;
  try {
    scan = await scanLog(file, known?.done?.n ?? 0, (record) => builder.add(record));
  } finally {
    file.close();
  }
  if (scan.last.n === 0 && scan.torn.length === 0 && (known?.done?.n ?? 0) === 0) {
    return begin(files, header, [], nothing); // created, but the process ended before the first record
  }
  const verdict = judgeLog(scan, known, false);
  const stranger = scan.last.n > 0 && builder.header?.name !== name;
  const why = stranger ? foreign(builder, name) : verdict.ok ? verdict.note : verdict.fault.message;
  const fresh = trust !== false && !stranger && !verdict.ok && verdict.kind === "unanchored";
  if ((!verdict.ok || stranger) && !fully && !fresh) {
    throw new SessionError(
      `session "${name}" is resumed only with --trust: ${why}; see: polyglav sessions verify ${name}`,
      "untrusted",
    );
  }
  if (stranger || (!verdict.ok && verdict.kind === "tampered") || scan.last.n === 0) {
    return await rewrite(files, header, why ?? "its first record was torn", verdict.ok || fully);
  }
  const repair: RecordBody[] = [];
  if (scan.torn.length > 0) {
    const copy = cutTorn(files.log, scan);
    repair.push({ type: "repair", why: why ?? "a torn record was cut off", copy });
  } else if (!verdict.ok) {
    repair.push({ type: "repair", why: `resumed with --trust: ${why}`, copy: null });
  }
  const reset = !verdict.ok || verdict.pending;
  const opened = anchored(
    files,
    reset ? scan.last : null,
    (anchor) => SessionLog.resume(files.log, anchor, scan.last, scan.bytes),
  );
  return { ...opened, builder, first: repair, resumed: true };
}

function begin(
  files: SessionFiles,
  header: Header,
  repairs: readonly string[],
  there: Mark | null,
): OpenedLog {
  const opened = anchored(
    files,
    repairs.length > 0 ? nothing : null,
    (anchor) => there ? SessionLog.resume(files.log, anchor, there, 0) : SessionLog.create(files.log, anchor),
  );
  const first = [header, ...repairs.map((why): RecordBody => ({ type: "repair", why, copy: null }))];
  return { ...opened, builder: new SessionBuilder(), first, resumed: false };
}

/** Opens the anchor, sets it to `reset` if given, and opens the log; neither stays open when that fails. */
function anchored(
  files: SessionFiles,
  reset: Mark | null,
  open: (anchor: Anchor) => SessionLog,
): { anchor: Anchor; log: SessionLog } {
  const anchor = Anchor.open(files.anchor, Deno.pid);
  try {
    if (reset) anchor.reset(reset);
    return { anchor, log: open(anchor) };
  } catch (error) {
    anchor.close();
    throw error;
  }
}

function foreign(builder: SessionBuilder, name: string): string {
  const other = builder.header?.name;
  return other === undefined
    ? "its first record is missing"
    : `its file holds session ${JSON.stringify(other)}, not "${name}"`;
}

/** Keeps the bytes of the torn record beside the log, then cuts them off. Returns the copy's file name. */
function cutTorn(path: string, scan: LogScan): string {
  const copy = keepCopy(`${path}.torn`, [scan.torn]);
  const file = openRegular(path, { read: true, write: true });
  if (!file) throw new SessionError(`${path} vanished while it was opened; try again`, "io");
  try {
    if (file.statSync().size !== scan.bytes + scan.torn.length) {
      throw new SessionError(`${path} was changed while it was opened; try again`, "io");
    }
    file.truncateSync(scan.bytes);
  } finally {
    file.close();
  }
  return fileName(copy);
}

/** Keeps the whole file beside the log, then replaces the log by a new chain of all records that can be read. */
async function rewrite(
  files: SessionFiles,
  header: Header,
  why: string,
  trusted: boolean,
): Promise<OpenedLog> {
  if (!trusted) {
    throw new SessionError(`session "${header.name}" is resumed only with --trust: ${why}`, "untrusted");
  }
  const file = openRegular(files.log, { read: true });
  if (!file) throw new SessionError(`${files.log} vanished while it was opened; try again`, "io");
  const records: SessionRecord[] = [];
  let copy: string;
  try {
    copy = fileName(keepCopy(`${files.log}.kept`, chunks(file)));
    await scanLog(file, 0, (record) => records.push(record));
  } finally {
    file.close();
  }
  const old = records.find((record) => record.type === "session");
  const bodies: (RecordBody & { at?: string })[] = [
    { ...header, ...(old ? { id: old.id, role: old.role, parent: old.parent, at: old.at } : {}) },
    ...records.filter((record) => record.type !== "session"),
  ];
  const builder = new SessionBuilder(), { last, size } = replace(files.log, bodies, builder);
  const opened = anchored(files, last, (anchor) => SessionLog.resume(files.log, anchor, last, size));
  return { ...opened, builder, first: [{ type: "repair", why, copy }], resumed: true };
}

function replace(
  path: string,
  bodies: readonly (RecordBody & { at?: string })[],
  builder: SessionBuilder,
): { last: Mark; size: number } {
  const temporary = `${path}.${crypto.randomUUID()}.new`, file = createFile(temporary, { write: true });
  let last = nothing, size = 0;
  try {
    for (const body of bodies) {
      const record = { ...body, n: last.n + 1, prev: last.hash, at: body.at ?? new Date().toISOString() };
      const { n, prev, at, ...rest } = record;
      const line = new TextEncoder().encode(`${JSON.stringify({ n, prev, at, ...rest })}\n`);
      writeAll(file, line);
      last = { n, hash: sha256(line.subarray(0, line.length - 1)) };
      size += line.length;
      builder.add(record as SessionRecord);
    }
    file.syncDataSync();
    file.close();
    Deno.renameSync(temporary, path);
  } catch (error) {
    try {
      file.close();
    } catch { /* it is closed */ }
    try {
      Deno.removeSync(temporary);
    } catch { /* the first error is the one to report */ }
    throw new SessionError(`cannot write ${temporary}: ${messageOf(error)}`, "io", { cause: error });
  }
  return { last, size };
}

function* chunks(file: Deno.FsFile): Iterable<Uint8Array> {
  file.seekSync(0, Deno.SeekMode.Start);
  const buffer = new Uint8Array(1 << 18);
  for (;;) {
    const got = file.readSync(buffer);
    if (got === null) return;
    yield buffer.subarray(0, got);
  }
}

function fileName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
