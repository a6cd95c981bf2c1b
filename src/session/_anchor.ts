/**
 * The anchor of a session: how long its log is and what its last record's hash is, kept outside the worktree. One
 * file of three slots of fixed width, each overwritten in place by one write:
 *
 *     next <n> <hash> <check>      record n is about to be written, and will have this hash
 *     done <n> <hash> <check>      record n was written
 *     held <pid> - <check>         process that writes
 *
 * `next` is written before the record and `done` after it, so whenever the process ends, the two say which states of
 * the log are its own doing. `check` only tells a torn slot from a whole one; it is no protection.
 *
 * @module
 */
import { messageOf } from "../errors.ts";
import { SessionError } from "./error.ts";

const slotSize = 128;
const tags = ["next", "done", "held"] as const;
const encoder = new TextEncoder();

/** Number and hash of a record. */
export interface Mark {
  /** 1-based; 0 with 64 zeros stands for the empty log. */
  readonly n: number;
  /** SHA-256 of the record's line. */
  readonly hash: string;
}

/** What an anchor says. A torn slot is null. */
export interface AnchorState {
  readonly next: Mark | null;
  readonly done: Mark | null;
  /** Process id of the last writer. */
  readonly holder: number | null;
}

/** The empty log. */
export const nothing: Mark = { n: 0, hash: "0".repeat(64) };

/** An anchor that is open for writing. */
export class Anchor {
  readonly #file: Deno.FsFile;
  readonly #buffer = new Uint8Array(slotSize);

  private constructor(file: Deno.FsFile) {
    this.#file = file;
  }

  /** Opens the file, creating it (0600) if need be, and notes who writes. @throws {SessionError} `io` */
  static open(path: string, pid: number): Anchor {
    try {
      const fresh = readAnchor(path) === null;
      const anchor = new Anchor(Deno.openSync(path, { read: true, write: true, create: true, mode: 0o600 }));
      if (fresh) anchor.reset(nothing);
      anchor.#write(2, pid, "-");
      return anchor;
    } catch (error) {
      throw new SessionError(`cannot write the session's anchor ${path}: ${messageOf(error)}`, "io", {
        cause: error,
      });
    }
  }

  /** Before record `n` is written. */
  announce(n: number, hash: string): void {
    this.#write(0, n, hash);
  }

  /** After record `n` was written. */
  commit(n: number, hash: string): void {
    this.#write(1, n, hash);
  }

  /** From now on the log ends with this record. */
  reset(mark: Mark): void {
    this.announce(mark.n, mark.hash);
    this.commit(mark.n, mark.hash);
  }

  /** Closes the file. */
  close(): void {
    this.#file.close();
  }

  #write(slot: number, n: number, hash: string): void {
    const body = `${tags[slot]} ${n} ${hash}`;
    encoder.encodeInto(`${body} ${check(body)}`.padEnd(slotSize - 1) + "\n", this.#buffer);
    this.#file.seekSync(slot * slotSize, Deno.SeekMode.Start);
    const written = this.#file.writeSync(this.#buffer);
    if (written !== slotSize) {
      throw new SessionError("cannot write the session's anchor: the disk is full", "io");
    }
  }
}

/** Reads an anchor; null when there is none. @throws {SessionError} `io` */
export function readAnchor(path: string): AnchorState | null {
  let text: string;
  try {
    text = Deno.readTextFileSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw new SessionError(`cannot read the session's anchor ${path}: ${messageOf(error)}`, "io", {
      cause: error,
    });
  }
  if (text === "") return null;
  const fields = tags.map((tag, slot) => parse(tag, text.slice(slot * slotSize, (slot + 1) * slotSize)));
  return { next: mark(fields[0]), done: mark(fields[1]), holder: fields[2] ? Number(fields[2][1]) : null };
}

function mark(fields: readonly string[] | null | undefined): Mark | null {
  return fields && /^[0-9a-f]{64}$/.test(fields[2]!) ? { n: Number(fields[1]), hash: fields[2]! } : null;
}

function parse(tag: string, slot: string): readonly string[] | null {
  const fields = slot.trimEnd().split(" ");
  if (fields.length !== 4 || fields[0] !== tag || !/^\d{1,15}$/.test(fields[1]!)) return null;
  return check(fields.slice(0, 3).join(" ")) === fields[3] ? fields : null;
}

/** FNV-1a, 32 bits. */
function check(text: string): string {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, "0");
}
