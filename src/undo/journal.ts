/**
 * The journal's writing side. What a file holds is kept before a tool changes it, by its SHA-256; the line that says so
 * comes after the bytes and before the change.
 *
 * @module
 */
import { messageOf } from "../errors.ts";
import type { FileChange } from "../policy/types.ts";
import { join } from "../text/path.ts";
import { sha256 } from "../text/sha256.ts";
import { beganAt, groupName, groupNames, type Head, undoFolder } from "./_folder.ts";
import type { UndoAuthor, UndoEntry, UndoPlace } from "./types.ts";

/** How much is kept of a worktree: groups, days, bytes of all and of one group. */
export const UNDO_LIMITS = { groups: 500, days: 30, bytes: 256 << 20, group: 64 << 20 } as const;

/** Seconds between two looks at what is too much. */
const TIDY_EVERY = 600;

/** What a {@link Journal} is made of. */
export interface JournalOptions extends UndoPlace {
  /** Told once that nothing can be kept. Writes go on all the same. */
  readonly warn?: (message: string) => void;
  readonly now?: () => Date;
  readonly limits?: { readonly [name in keyof typeof UNDO_LIMITS]: number };
}

interface OpenGroup {
  readonly folder: string;
  /** Where what files held is kept. */
  readonly bytesFolder: string;
  /** Its log, open. */
  readonly log: Deno.FsFile;
  /** What is kept already, by SHA-256. */
  readonly known: Set<string>;
  bytes: number;
}

/** Keeps what tools are about to change. One for a process; several of them may work in one worktree. */
export class Journal {
  readonly #options: JournalOptions;
  readonly #folder: string;
  #author: UndoAuthor = { session: null, turn: null };
  #group: OpenGroup | null = null;
  #tail: Promise<unknown> = Promise.resolve();
  #warned = false;

  /** @param options nothing is made or read before the first write */
  constructor(options: JournalOptions) {
    this.#options = options;
    this.#folder = undoFolder(options);
  }

  /** From now on writes belong to this turn. */
  begin(author: UndoAuthor): void {
    this.#author = author;
    this.close();
  }

  /** Closes what is open; the next write opens it anew, as another group. */
  close(): void {
    this.#group?.log.close();
    this.#group = null;
  }

  /**
   * Keeps what a file holds and takes note of the change. Changes are noted one after another. Never rejects: what
   * cannot be kept is told once.
   */
  record(tool: string, file: FileChange): Promise<void> {
    const done = this.#tail.then(() => this.#record(tool, file)).catch((error) => this.#warn(error));
    this.#tail = done;
    return done;
  }

  /** Takes away what is too old or too much. Never throws. */
  tidy(): void {
    if (!this.#group) return;
    try {
      const now = this.#now(), stamp = join(this.#folder, "tidied");
      if (now.getTime() - modified(stamp) < TIDY_EVERY * 1000) return;
      Deno.writeTextFileSync(stamp, "");
      const { groups, days, bytes } = this.#options.limits ?? UNDO_LIMITS;
      let total = 0;
      groupNames(this.#folder).reverse().forEach((name, i) => {
        const folder = join(this.#folder, name);
        total += sizeOf(folder);
        const old = now.getTime() - beganAt(name) > days * 86_400_000;
        const keep = folder === this.#group?.folder || (!old && i < groups && total <= bytes);
        if (!keep) Deno.removeSync(folder, { recursive: true });
      });
      this.#tidyBytes(now, days, bytes);
    } catch {
      // Another process tidies as well, or the next one does.
    }
  }

  /** Takes away what the worktree's folder holds too long or too much of, the oldest first. */
  #tidyBytes(now: Date, days: number, most: number): void {
    const folder = this.#group?.bytesFolder;
    if (folder === undefined || folder === this.#group?.folder) return;
    const kept = [...Deno.readDirSync(folder)].filter(({ name }) => HASH.test(name)).map(({ name }) => {
      const path = join(folder, name), { size, mtime } = Deno.lstatSync(path);
      return { path, size, at: mtime?.getTime() ?? 0 };
    }).sort((a, b) => b.at - a.at);
    let total = 0;
    for (const { path, size, at } of kept) {
      total += size;
      if (total > most || now.getTime() - at > days * 86_400_000) Deno.removeSync(path);
    }
  }

  async #record(tool: string, file: FileChange): Promise<void> {
    const { path, mode, missing, before } = file;
    const hash = before === null ? null : await digest(before);
    const after = file.tooLarge && file.append ? null : await digest(afterOf(file));
    const group = this.#open();
    let lost = file.tooLarge ? "the file was too large to be kept" : undefined;
    if (before !== null && hash !== null && !group.known.has(hash)) {
      const { group: most } = this.#options.limits ?? UNDO_LIMITS;
      if (group.bytes + before.length > most) lost = "its turn changed more than is kept";
      else {
        await keep(join(group.bytesFolder, hash), before, hash);
        group.known.add(hash);
        group.bytes += before.length;
      }
    }
    const entry: UndoEntry = { tool, path, before: hash, mode, after, missing, ...(lost ? { lost } : {}) };
    // A turn that began meanwhile has closed the group.
    if (this.#group === group) append(group.log, entry);
    else {Deno.writeTextFileSync(join(group.folder, "log.jsonl"), lineOf(entry), {
        append: true,
        create: false,
      });}
  }

  #open(): OpenGroup {
    if (this.#group) return this.#group;
    const now = this.#now(), folder = join(this.#folder, groupName(now));
    Deno.mkdirSync(folder, { recursive: true, mode: 0o700 });
    const head: Head = { v: 1, worktree: this.#options.worktree, ...this.#author, at: now.toISOString() };
    const log = Deno.openSync(join(folder, "log.jsonl"), { append: true, createNew: true, mode: 0o600 });
    const bytesFolder = this.#options.bytes?.() ?? folder;
    this.#group = { folder, bytesFolder, log, known: new Set(), bytes: 0 };
    append(log, head);
    return this.#group;
  }

  #now(): Date {
    return this.#options.now?.() ?? new Date();
  }

  #warn(error: unknown): void {
    if (this.#warned) return;
    this.#warned = true;
    this.#options.warn?.(`what tools change cannot be taken back: ${messageOf(error)}`);
  }
}

function afterOf({ before, written, append }: FileChange): Uint8Array<ArrayBuffer> {
  if (!append || before === null) return written;
  const both = new Uint8Array(before.length + written.length);
  both.set(before);
  both.set(written, before.length);
  return both;
}

/** Up to so many bytes it is faster to hash them here than to let another thread do it. */
const SMALL = 16_384;

/** SHA-256 in hexadecimal. */
export async function digest(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  if (bytes.length <= SMALL) return sha256(bytes);
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(hash, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

const HASH = /^[0-9a-f]{64}$/;

/** Keeps bytes under their hash. What is there already stays where it is the same; anything else gives way. */
async function keep(path: string, bytes: Uint8Array<ArrayBuffer>, hash: string): Promise<void> {
  const found = look(path);
  if (found?.isFile && found.size === bytes.length && await digest(Deno.readFileSync(path)) === hash) {
    const now = new Date();
    Deno.utimeSync(path, now, now);
    return;
  }
  if (found) Deno.removeSync(path, { recursive: true });
  const file = Deno.openSync(path, { write: true, createNew: true, mode: 0o600 });
  try {
    writeAll(file, bytes);
  } finally {
    file.close();
  }
}

function look(path: string): Deno.FileInfo | null {
  try {
    return Deno.lstatSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

function lineOf(line: Head | UndoEntry): string {
  return `${JSON.stringify(line)}\n`;
}

function append(log: Deno.FsFile, line: Head | UndoEntry): void {
  writeAll(log, new TextEncoder().encode(lineOf(line)));
}

function writeAll(file: Deno.FsFile, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length;) done += file.writeSync(bytes.subarray(done));
}

function modified(path: string): number {
  try {
    return Deno.statSync(path).mtime?.getTime() ?? 0;
  } catch {
    return 0;
  }
}

function sizeOf(folder: string): number {
  let size = 0;
  for (const { name } of Deno.readDirSync(folder)) size += Deno.statSync(join(folder, name)).size;
  return size;
}
