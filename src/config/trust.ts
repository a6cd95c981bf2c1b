/**
 * Which projects the user trusts to configure more than narrowing. Recorded in `trust.json` of the user's
 * configuration directory, by canonical worktree and by the SHA-256 of the files that the user looked at: a file that
 * changed, came or went since is not trusted.
 *
 * @module
 */
import { ConfigError } from "../errors.ts";
import { join } from "../text/path.ts";
import { sha256 } from "../text/sha256.ts";
import { readConfigFile, writeConfigFile } from "./_files.ts";
import { decode, parseFile } from "./_layer.ts";
import { PROJECT_CONFIG, type UserPaths } from "./paths.ts";
import { showName } from "./_show.ts";

/** A file below the worktree and what it held. */
export interface TrustedFile {
  /** Relative to the worktree, with `/`. */
  readonly path: string;
  /** SHA-256 of its bytes, hexadecimal; null: it was not there. */
  readonly sha256: string | null;
}

/** One trusted project. */
export interface TrustRecord {
  /** Canonical path of the worktree. */
  readonly worktree: string;
  /** Sorted by path. */
  readonly files: readonly TrustedFile[];
  /** ISO 8601. */
  readonly trusted_at: string;
}

/** What to look at. */
export interface TrustQuery {
  readonly paths: UserPaths;
  /** Canonical. */
  readonly worktree: string;
  /** The files that act once they are trusted, relative to the worktree; default: the project's configuration. */
  readonly files?: readonly string[];
  /** Content of files that were read before (null: not there), so that what is checked is what is used. */
  readonly contents?: ReadonlyMap<string, Uint8Array | null>;
}

/** The files that trust is about when a caller names none. */
export const TRUSTED_FILES: readonly string[] = [PROJECT_CONFIG];

/** Where trust is recorded. */
export function trustFile(paths: UserPaths): string {
  return join(paths.config, "trust.json");
}

/**
 * The hashes of files below a worktree, sorted by path.
 *
 * @param contents see {@link TrustQuery}
 * @throws ConfigError when one cannot be read, or is reached through a link that leads out of `.polyglav`
 */
export function hashFiles(
  worktree: string,
  files: readonly string[],
  contents?: ReadonlyMap<string, Uint8Array | null>,
): TrustedFile[] {
  return [...new Set(files)].sort().map((path) => {
    const known = contents?.get(path);
    const bytes = known !== undefined
      ? known
      : readConfigFile(join(worktree, path), join(worktree, ".polyglav"));
    return { path, sha256: bytes === null ? null : sha256(bytes) };
  });
}

function hashesOf(query: TrustQuery): TrustedFile[] {
  return hashFiles(query.worktree, query.files ?? TRUSTED_FILES, query.contents);
}

/**
 * Whether the user trusts each of these files of the worktree exactly as it is now, whatever became of others that were
 * trusted with it (a changed role does not end the trust in the configuration). Reads nothing of the worktree when
 * there is no record of it.
 *
 * @throws ConfigError when the record cannot be understood (that never means "trusted")
 */
export function isTrusted(query: TrustQuery): boolean {
  const record = listTrust(query.paths).find(({ worktree }) => worktree === query.worktree);
  if (record === undefined) return false;
  const known = new Map(record.files.map(({ path, sha256 }) => [path, sha256]));
  return hashesOf(query).every(({ path, sha256 }) => known.has(path) && known.get(path) === sha256);
}

/**
 * All records, sorted by worktree.
 *
 * @throws ConfigError when `trust.json` cannot be understood
 */
export function listTrust(paths: UserPaths): TrustRecord[] {
  const file = trustFile(paths), bytes = readConfigFile(file);
  if (bytes === null) return [];
  const broken = () =>
    new ConfigError(
      `${
        showName(file)
      } is no list of trusted projects; repair it or move it away, then trust your projects again`,
    );
  const { root } = parseFile(file, decode(file, bytes));
  if (root.version !== 1 || !Array.isArray(root.projects)) throw broken();
  const records = root.projects.map((value) => {
    const record = value as unknown as TrustRecord | null;
    if (typeof record !== "object" || record === null || !isRecord(record)) throw broken();
    return record;
  });
  if (new Set(records.map(({ worktree }) => worktree)).size < records.length) throw broken();
  return records.sort((a, b) => a.worktree < b.worktree ? -1 : 1);
}

/** Paths that a record may name: below `.polyglav`, without detours, as only those are ever recorded. */
const FILE = /^\.polyglav(?:\/(?!\.\.?(?:\/|$))[^/\0]+)+$/;

function isRecord(record: TrustRecord): boolean {
  return typeof record.worktree === "string" && typeof record.trusted_at === "string" &&
    Array.isArray(record.files) && record.files.length > 0 &&
    record.files.every((file: TrustedFile | null) =>
      typeof file === "object" && file !== null && typeof file.path === "string" && FILE.test(file.path) &&
      (file.sha256 === null || (typeof file.sha256 === "string" && /^[0-9a-f]{64}$/.test(file.sha256)))
    );
}

/**
 * Records that the user trusts the files of the query as they are now, in place of an earlier record of the worktree.
 *
 * @param now time of the record
 * @throws ConfigError when the record cannot be read or written (a broken one is never replaced)
 */
export function recordTrust(query: TrustQuery, now: Date): TrustRecord {
  const record = { worktree: query.worktree, files: hashesOf(query), trusted_at: now.toISOString() };
  const others = listTrust(query.paths).filter(({ worktree }) => worktree !== query.worktree);
  save(query.paths, [...others, record]);
  return record;
}

/**
 * Adds files to what the user trusts of a worktree, as they are now; what else is recorded stays as it was.
 *
 * @throws ConfigError like {@link recordTrust}
 */
export function extendTrust(query: TrustQuery, now: Date): TrustRecord {
  const records = listTrust(query.paths);
  const old = records.find(({ worktree }) => worktree === query.worktree)?.files ?? [];
  const files = new Map([...old, ...hashesOf(query)].map((file) => [file.path, file]));
  const record: TrustRecord = {
    worktree: query.worktree,
    files: [...files.values()].sort((a, b) => a.path < b.path ? -1 : 1),
    trusted_at: now.toISOString(),
  };
  save(query.paths, [...records.filter(({ worktree }) => worktree !== query.worktree), record]);
  return record;
}

/**
 * Ends the trust in a worktree; false when there was none.
 *
 * @throws ConfigError like {@link recordTrust}
 */
export function revokeTrust(paths: UserPaths, worktree: string): boolean {
  const records = listTrust(paths), others = records.filter((record) => record.worktree !== worktree);
  if (others.length === records.length) return false;
  save(paths, others);
  return true;
}

function save(paths: UserPaths, projects: readonly TrustRecord[]): void {
  const text = `${JSON.stringify({ version: 1, projects }, null, 2)}\n`;
  writeConfigFile(trustFile(paths), text, { mode: 0o600, directoryMode: 0o700, exact: true });
}
