/**
 * What was entered in a project, kept over sessions in the user's state directory.
 *
 * One JSON string a line, oldest first. Entries are added under a lock of the operating system, so that programs that
 * run side by side lose nothing; the file is cut to its newest entries when it has grown to twice their number.
 *
 * @module
 */
import { messageOf } from "../errors.ts";
import { dirname, join } from "../text/path.ts";
import { placeName } from "../text/place_name.ts";
import type { LineHistory } from "./input.ts";

/** Entries that are kept. */
const MOST = 1_000;
/** Characters of an entry that is kept. */
const LONGEST = 20_000;
/** A file that is larger is not read to its beginning. */
const LARGEST = 16 * 1024 * 1024;

/** Where a history is, and how much of it is kept. */
export interface HistoryOptions {
  /** The user's state directory (`UserPaths.state`). */
  readonly stateDir: string;
  /** Canonical path of the project. */
  readonly worktree: string;
  /** Entries that are kept; default 1,000. */
  readonly most?: number;
  /** Told once why nothing can be kept. */
  readonly warn?: (message: string) => void;
}

/** The file of a project's history. */
export function historyFile({ stateDir, worktree }: Pick<HistoryOptions, "stateDir" | "worktree">): string {
  return join(stateDir, "history", `${placeName(worktree)}.jsonl`);
}

/** Reads a project's history. What cannot be read or written costs the history, never the program. */
export function openHistory(options: HistoryOptions): LineHistory {
  return new FileHistory(options);
}

class FileHistory implements LineHistory {
  readonly entries: string[];
  readonly #file: string;
  readonly #most: number;
  readonly #warn: (message: string) => void;
  #broken = false;

  constructor(options: HistoryOptions) {
    this.#file = historyFile(options);
    this.#most = Math.max(1, options.most ?? MOST);
    this.#warn = options.warn ?? (() => {});
    try {
      this.entries = parse(readEnd(this.#file)).slice(-this.#most);
    } catch (error) {
      this.entries = [];
      if (!(error instanceof Deno.errors.NotFound)) this.#fail(error);
    }
  }

  add(text: string): void {
    // As in shells: a blank in front keeps a line out.
    if (text.trim() === "" || text.startsWith(" ") || text === this.entries.at(-1)) return;
    this.entries.push(text);
    if (this.entries.length > 2 * this.#most) this.entries.splice(0, this.entries.length - this.#most);
    if (this.#broken || text.length > LONGEST || looksSecret(text)) return;
    try {
      this.#append(text);
    } catch (error) {
      this.#fail(error);
    }
  }

  #append(text: string): void {
    Deno.mkdirSync(dirname(this.#file), { recursive: true, mode: 0o700 });
    // The lock has a file of its own, which is never replaced.
    using lock = Deno.openSync(`${this.#file}.lock`, { write: true, create: true, mode: 0o600 });
    lock.lockSync(true);
    try {
      const torn = endsTorn(this.#file);
      const bytes = new TextEncoder().encode(`${torn ? "\n" : ""}${JSON.stringify(text)}\n`);
      using file = Deno.openSync(this.#file, { append: true, create: true, mode: 0o600 });
      for (let done = 0; done < bytes.length;) done += file.writeSync(bytes.subarray(done));
      this.#trim(file.statSync().size);
    } finally {
      lock.unlockSync();
    }
  }

  /** Cuts the file to its newest entries; under the lock. */
  #trim(size: number): void {
    // A file that is small cannot have too many entries.
    if (size < this.#most * 8) return;
    const entries = parse(readEnd(this.#file));
    if (entries.length < 2 * this.#most && size < LARGEST) return;
    const kept = `${this.#file}.new`;
    let rest = entries.slice(-this.#most);
    while (rest.length > 1 && rest.reduce((sum, entry) => sum + entry.length, 0) > LARGEST / 4) {
      rest = rest.slice(Math.ceil(rest.length / 2));
    }
    Deno.writeTextFileSync(kept, rest.map((entry) => `${JSON.stringify(entry)}\n`).join(""), { mode: 0o600 });
    Deno.renameSync(kept, this.#file);
  }

  #fail(error: unknown): void {
    if (!this.#broken) {
      this.#warn(`the history of entries cannot be kept in ${this.#file}: ${messageOf(error)}`);
    }
    this.#broken = true;
  }
}

function readEnd(path: string): string {
  // Opening what is no file may wait for ever.
  if (!Deno.statSync(path).isFile) throw new Error("it is no regular file");
  using file = Deno.openSync(path, { read: true });
  const { size } = file.statSync();
  const bytes = new Uint8Array(Math.min(size, LARGEST));
  if (size > bytes.length) file.seekSync(size - bytes.length, Deno.SeekMode.Start);
  let done = 0;
  while (done < bytes.length) {
    const read = file.readSync(bytes.subarray(done)) ?? 0;
    if (read === 0) break;
    done += read;
  }
  return new TextDecoder().decode(bytes.subarray(0, done));
}

function parse(text: string): string[] {
  return text.split("\n").flatMap((line) => {
    if (line === "") return [];
    try {
      const entry: unknown = JSON.parse(line);
      return typeof entry === "string" ? [entry] : [];
    } catch {
      return []; // torn
    }
  });
}

/** Whether the last line was not finished: its program was killed. */
function endsTorn(path: string): boolean {
  try {
    using file = Deno.openSync(path, { read: true });
    if (file.statSync().size === 0) return false;
    file.seekSync(-1, Deno.SeekMode.End);
    const last = new Uint8Array(1);
    return file.readSync(last) === 1 && last[0] !== 10;
  } catch {
    return false;
  }
}

/** Beginnings of keys and tokens that are well known, and what is written around others. */
const SECRETS: readonly RegExp[] = [
  /\b(?:sk|pk|rk)[-_](?:[A-Za-z0-9]+[-_])*[A-Za-z0-9]{12,}/,
  /\b(?:gh[pousr]_|github_pat_|glpat-|xox[abeoprs]-|xapp-|npm_|pypi-|hf_|gsk_|tvly-|dop_v1_|ya29\.|AIza|SG\.|whsec_)[A-Za-z0-9_.-]{10,}/,
  /\b(?:AKIA|ASIA)[A-Z0-9]{12,}/,
  /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}/,
  /-----BEGIN [A-Z ]*PRIVATE KEY/,
  /\b(?:bearer|basic)\s+[A-Za-z0-9+/_.=-]{12,}/i,
  /[a-z][a-z0-9+.-]*:\/\/[^\s/:@]*:[^\s/@]+@/i,
  /(?:pass(?:word|wd|phrase)?|secret|token|api[-_ ]?key|access[-_ ]?key|credential)s?["']?\s*(?:[:=]|\bis\b)\s*["']?[^\s"']{4,}/i,
  /--(?:password|token|api-key|secret)[= ]\S+/i,
];

/** Whether a text holds what looks like a key, token or password. */
export function looksSecret(text: string): boolean {
  if (SECRETS.some((pattern) => pattern.test(text))) return true;
  return (text.match(/[A-Za-z0-9+/_=-]{24,}/g) ?? []).some(isRandom);
}

/** A long word without separators whose letters and digits are mixed as nobody writes them. */
function isRandom(word: string): boolean {
  // Names of commits and sums of files are no secrets.
  if (/^[0-9a-f]+$/.test(word)) return word.length !== 40 && word.length !== 64 && word.length >= 32;
  return word.split(/[/_=-]/).some((part) => {
    if (part.length < 20 || !/\d/.test(part) || !/[a-z]/i.test(part)) return false;
    const changes = [...part].filter((c, i) => i > 0 && kind(c) !== kind(part[i - 1]!)).length;
    return changes >= part.length / 4;
  });
}

function kind(character: string): number {
  return character >= "0" && character <= "9" ? 0 : character >= "a" && character <= "z" ? 1 : 2;
}
