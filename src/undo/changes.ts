/**
 * What commands changed of the files that git tracks, by comparing how they look before and after. Git itself is not
 * started: the list is read from its index. The sizes and times of files are compared, not what they hold.
 *
 * Source: the index format of git, gitformat-index(5), versions 2 to 4.
 *
 * @module
 */
import { join } from "../text/path.ts";

/** A tracked file that is not as it was. */
export interface TrackedChange {
  /** Relative to the worktree. */
  readonly path: string;
  readonly kind: "changed" | "removed" | "made";
}

/** How tracked files look at one moment; empty text: there is no such file. Or why that is not known. */
export type Tracked = ReadonlyMap<string, string> | { readonly skipped: string };

/** Most tracked files that are looked at, and most bytes of an index. */
export const MOST_TRACKED = 10_000;
const LARGEST_INDEX = 16 << 20;

/** Looks at the tracked files. Never throws. @param worktree canonical */
export function lookAtTracked(worktree: string): Tracked {
  try {
    const names = trackedFiles(readIndex(worktree));
    const files = new Map<string, string>();
    for (const name of names) files.set(name, lookOf(join(worktree, name)));
    return files;
  } catch (error) {
    return { skipped: error instanceof Skip ? error.message : "the index of git could not be read" };
  }
}

/** What is not as it was, by path. Files that are tracked only since then count as made. */
export function trackedChanges(before: Tracked, after: Tracked): readonly TrackedChange[] {
  if (!(before instanceof Map) || !(after instanceof Map)) return [];
  const changes: TrackedChange[] = [];
  for (const path of [...new Set([...before.keys(), ...after.keys()])].sort()) {
    const was: string | undefined = before.get(path), is: string | undefined = after.get(path);
    // A file that is tracked at one time only was added or dropped by git; it need not have changed.
    if (was === undefined || is === undefined || was === is) continue;
    changes.push({ path, kind: was === "" ? "made" : is === "" ? "removed" : "changed" });
  }
  return changes;
}

/** Watches what commands change, while somebody looks. */
export class ChangeWatch {
  /** Off: nothing is looked at, and it costs nothing. */
  enabled = false;
  /** Why the last command was not watched; null: it was. */
  skipped: string | null = null;
  /** The turn that commands belong to from now on; null: none, the person runs them. */
  turn: number | null = null;
  readonly #worktree: string;
  /** By turn, in the order in which they came. */
  readonly #changes = new Map<number | null, Map<string, TrackedChange["kind"]>>();

  /** @param worktree canonical */
  constructor(worktree: string) {
    this.#worktree = worktree;
  }

  /** Looks before a command; the answer, called after it, tells what changed and remembers it. */
  begin(): () => readonly TrackedChange[] {
    if (!this.enabled) return () => [];
    const before = lookAtTracked(this.#worktree);
    this.skipped = before instanceof Map ? null : (before as { skipped: string }).skipped;
    if (this.skipped !== null) return () => [];
    const { turn } = this;
    return () => {
      const changes = trackedChanges(before, lookAtTracked(this.#worktree));
      if (changes.length === 0) return changes;
      const known = this.#changes.get(turn) ?? new Map<string, TrackedChange["kind"]>();
      this.#changes.set(turn, known);
      for (const { path, kind } of changes) known.set(path, after(known.get(path), kind));
      return changes;
    };
  }

  /** All that commands changed since the last {@link clear}, or in one turn alone; by path. */
  list(turn?: number | null): readonly TrackedChange[] {
    const all = new Map<string, TrackedChange["kind"]>();
    for (const [of, changes] of this.#changes) {
      if (turn !== undefined && of !== turn) continue;
      for (const [path, kind] of changes) all.set(path, after(all.get(path), kind));
    }
    return [...all].sort(([a], [b]) => a < b ? -1 : 1).map(([path, kind]) => ({ path, kind }));
  }

  /** Forgets what is listed: another session begins. */
  clear(): void {
    this.#changes.clear();
    this.turn = this.skipped = null;
  }
}

class Skip extends Error {}

/** What two changes of a file are together. */
function after(
  before: TrackedChange["kind"] | undefined,
  kind: TrackedChange["kind"],
): TrackedChange["kind"] {
  return before === "made" && kind === "changed"
    ? "made"
    : before === "removed" && kind === "made"
    ? "changed"
    : kind;
}

function lookOf(path: string): string {
  try {
    const { mtime, size, ino, mode, isSymlink } = Deno.lstatSync(path);
    return `${mtime?.getTime()} ${size} ${ino} ${mode} ${isSymlink}`;
  } catch {
    return "";
  }
}

function readIndex(worktree: string): Uint8Array {
  let folder = join(worktree, ".git");
  const kind = info(folder);
  if (kind === null) throw new Skip("this is no git repository");
  if (kind.isFile) {
    const pointed = kind.size > 4096 ? null : /^gitdir: *(.+?)\s*$/m.exec(Deno.readTextFileSync(folder))?.[1];
    if (!pointed) throw new Skip("the repository of git is elsewhere");
    folder = join(worktree, pointed);
  } else if (!kind.isDirectory) throw new Skip("the repository of git is elsewhere");
  const file = join(folder, "index"), index = info(file);
  if (index === null) throw new Skip("nothing is tracked yet");
  if (!index.isFile) throw new Skip("the index of git is no file");
  if (index.size > LARGEST_INDEX) throw new Skip("the repository is too large to be watched");
  return Deno.readFileSync(file);
}

function info(path: string): Deno.FileInfo | null {
  try {
    return Deno.lstatSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

/** Bytes of an entry before its name: times, device, mode, owner, size, SHA-1 and flags. */
const FIXED = 62;
const EXTENDED = 0x4000, SKIP_WORKTREE = 0x4000;

/** Names of the regular files and links in an index. */
export function trackedFiles(index: Uint8Array): string[] {
  const view = new DataView(index.buffer, index.byteOffset, index.byteLength);
  const broken = () => new Skip("the index of git is of a kind that is not known here");
  if (index.length < 12 || view.getUint32(0) !== 0x44495243) throw broken();
  const version = view.getUint32(4), count = view.getUint32(8);
  if (version < 2 || version > 4) throw broken();
  if (count > MOST_TRACKED) throw new Skip(`git tracks more than ${MOST_TRACKED} files`);
  const names: string[] = [], decoder = new TextDecoder("utf-8", { fatal: true });
  let at = 12, last: Uint8Array = new Uint8Array(0);
  for (let i = 0; i < count; i++) {
    if (at + FIXED > index.length) throw broken();
    const mode = view.getUint32(at + 24),
      flags = view.getUint16(at + 60),
      extended = (flags & EXTENDED) !== 0;
    const skipped = extended && (view.getUint16(at + 62) & SKIP_WORKTREE) !== 0;
    let start = at + FIXED + (extended ? 2 : 0), name: Uint8Array;
    if (version === 4) {
      const [strip, next] = offsetAt(index, start, broken);
      if (strip > last.length) throw broken();
      start = next;
      const end = index.indexOf(0, start);
      if (end < 0) throw broken();
      name = new Uint8Array(last.length - strip + end - start);
      name.set(last.subarray(0, last.length - strip));
      name.set(index.subarray(start, end), last.length - strip);
      at = end + 1;
    } else {
      const end = index.indexOf(0, start);
      if (end < 0) throw broken();
      name = index.subarray(start, end);
      at += (end - at + 8) & ~7;
    }
    last = name;
    const type = mode & 0xf000;
    if (type !== 0x8000 && type !== 0xa000 && type !== 0xe000 && type !== 0x4000) throw broken();
    if (skipped || (type !== 0x8000 && type !== 0xa000)) continue;
    const text = decoder.decode(name);
    if (
      text.split("/").some((part) =>
        part === "" || part === "." || part === ".." || part.toLowerCase() === ".git"
      )
    ) {
      throw broken();
    }
    if (names.at(-1) !== text) names.push(text); // the stages of a conflict
  }
  return names;
}

/** A number in git's variable-length form ("offset encoding"). */
function offsetAt(bytes: Uint8Array, at: number, broken: () => Error): [value: number, next: number] {
  let value = 0;
  for (let i = 0; i < 5; i++) {
    const byte = bytes[at++];
    if (byte === undefined) throw broken();
    value = (value << 7) | (byte & 0x7f);
    if ((byte & 0x80) === 0) return [value, at];
    value++;
  }
  throw broken();
}
