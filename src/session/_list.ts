/**
 * Which sessions a worktree has.
 *
 * @module
 */
import { messageOf } from "../errors.ts";
import { readAnchor } from "./_anchor.ts";
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
import { checkSessionName } from "./names.ts";
import { parseRecord } from "./records.ts";

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
