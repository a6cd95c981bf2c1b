/**
 * The sessions of a worktree: open, list, read, verify, export and delete.
 *
 * @module
 */
import { messageOf } from "../errors.ts";
import { join } from "../text/path.ts";
import {
  inspectSession,
  locate,
  missing,
  readSession,
  type SessionCheck,
  verifySession,
} from "./_inspect.ts";
import type { InspectedSession } from "./_inspect.ts";
import { listSessions, sessionNames, type SessionSummary } from "./_list.ts";
import { openLog } from "./_open.ts";
import {
  anchorFolder,
  canonicalWorktree,
  ensureAnchorFolder,
  sessionFiles,
  SessionLock,
  type SessionPlace,
} from "./_place.ts";
import { type OpenSession, Writer } from "./_writer.ts";
import { SessionError } from "./error.ts";
import { ensureStateFolder, openRegular, status } from "./folder.ts";
import { sessionToMarkdown } from "./markdown.ts";
import { checkSessionName, newSessionId, newSessionName } from "./names.ts";

export type { InspectedSession, OpenSession, SessionCheck, SessionPlace, SessionSummary };
export { checkSessionName, newSessionId, newSessionName, SessionError };
export { inspectSession, listSessions, readSession, sessionNames, verifySession };

/** How {@link openSession} opens. */
export interface OpenSessionOptions extends SessionPlace {
  /** A session of this name is resumed, or begun; without a name a new one is made up. */
  readonly name?: string;
  /** Beginning of a made-up name. */
  readonly prefix?: string;
  readonly role?: string;
  /** Id of the session on whose behalf this one runs. */
  readonly parentId?: string;
  /**
   * Resume also what cannot be relied on: no anchor on this machine, or changed by something else. `"unanchored"`: the
   * former alone.
   */
  readonly trust?: boolean | "unanchored";
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

function copiesOf(sessions: string, name: string): string[] {
  const copy = /^\.jsonl\.((torn|kept)-\d+|[0-9a-f-]{36}\.new)$/;
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
