/**
 * Questions that were parked because nobody was there: `.polyglav/asks.json`, until the operator answers and the run is
 * continued.
 *
 * The file lies in the project, where a command may write; an answer, and all the more a permission, has to come from
 * the operator. So each answer is vouched for by a hash outside the project, and one without is not delivered.
 *
 * @module
 */
import { messageOf, PolyglavError, UsageError } from "../errors.ts";
import { createFile, ensureStateFolder, openRegular, status, writeAll } from "../session/folder.ts";
import { dirname, join } from "../text/path.ts";
import { sha256 } from "../text/sha256.ts";
import { readConsent } from "./verdicts.ts";

/** A session on the way from the root to the asker. */
export interface AskPlace {
  readonly session: string;
  /** Null for the root. */
  readonly role: string | null;
}

/** A parked question. */
export interface ParkedAsk {
  readonly id: number;
  readonly question: string;
  /** Name of the session that asked. */
  readonly origin: string;
  /** From the root's session to the asker's. */
  readonly path: readonly AskPlace[];
  readonly context: string;
  readonly options: readonly string[];
  readonly kind: "direction" | "permission";
  /** The tool or key (kind permission), else empty. */
  readonly permission: string;
  /** `delivered`: the asker has the answer. */
  readonly status: "pending" | "answered" | "delivered";
  readonly answer: string | null;
  /** ISO 8601. */
  readonly created_at: string;
  readonly answered_at: string | null;
}

/** What is asked. */
export type NewAsk = Pick<ParkedAsk, "question" | "path" | "context" | "options" | "kind" | "permission">;

const MOST = 1000;
const LIMIT = 8_388_608;

/** Reads and writes the file. Every change is made under a lock, so that processes do not lose each other's. */
export class AskStore {
  readonly #worktree: string;
  readonly #vouchers: string;
  readonly #clock: () => Date;

  /**
   * @param place the worktree's absolute canonical path, and the user's state directory outside of it
   * @param clock for times
   */
  constructor(
    place: { readonly worktree: string; readonly stateDir: string },
    clock: () => Date = () => new Date(),
  ) {
    this.#worktree = place.worktree;
    const hash = sha256(new TextEncoder().encode(place.worktree)).slice(0, 32);
    this.#vouchers = join(place.stateDir, "asks", `${hash}.txt`);
    this.#clock = clock;
  }

  /** Every ask, oldest first. @throws {PolyglavError} when the file cannot be understood */
  list(): ParkedAsk[] {
    const path = this.#path();
    if (status(join(this.#worktree, ".polyglav"))?.isSymlink) {
      throw new PolyglavError(
        `${join(this.#worktree, ".polyglav")} is a link; asks are kept in a real folder only`,
      );
    }
    using file = openRegular(path, { read: true });
    if (!file) return [];
    if (file.statSync().size > LIMIT) {
      throw new PolyglavError(`${path} is larger than ${LIMIT} bytes; move it away`);
    }
    return parse(path, readText(file));
  }

  /** One ask. @throws {UsageError} where there is none */
  get(id: number): ParkedAsk {
    const found = this.list().find((ask) => ask.id === id);
    if (!found) throw new UsageError(`there is no ask #${id}; see: polyglav asks list`);
    return found;
  }

  /** Parks a question. */
  park(ask: NewAsk): ParkedAsk {
    let parked!: ParkedAsk;
    this.#change((asks) => {
      if (asks.length >= MOST) {
        throw new PolyglavError(`${MOST} asks are parked; answer or remove some first`);
      }
      parked = {
        id: Math.max(0, ...asks.map(({ id }) => id)) + 1,
        ...ask,
        origin: ask.path.at(-1)!.session,
        status: "pending",
        answer: null,
        created_at: this.#clock().toISOString(),
        answered_at: null,
      };
      return [...asks, parked];
    });
    return parked;
  }

  /**
   * Records the operator's answer; the number of one of the options stands for it.
   *
   * @throws {UsageError} for an unknown or answered ask, and for an answer to a permission that is neither yes nor no
   */
  answer(id: number, text: string): ParkedAsk {
    const ask = this.get(id);
    if (ask.status !== "pending") throw new UsageError(`ask #${id} is answered already: ${ask.answer}`);
    const option = /^\d+$/.test(text.trim()) ? ask.options[Number(text) - 1] : undefined;
    const answer = option ?? text.trim();
    if (answer === "") throw new UsageError(`the answer to ask #${id} is empty`);
    if (ask.kind === "permission" && readConsent(answer) === "unclear") {
      throw new UsageError(`ask #${id} is about a permission; answer yes, always or no`);
    }
    const answered = this.#update(id, {
      status: "answered",
      answer,
      answered_at: this.#clock().toISOString(),
    });
    try {
      Deno.mkdirSync(dirname(this.#vouchers), { recursive: true, mode: 0o700 });
      Deno.writeTextFileSync(this.#vouchers, `${voucher(answered)}\n`, { append: true, mode: 0o600 });
    } catch (error) {
      throw new PolyglavError(`${this.#vouchers} cannot be written: ${messageOf(error)}`);
    }
    return answered;
  }

  /** Whether the operator gave this answer, on this machine. */
  vouched(ask: ParkedAsk): boolean {
    try {
      return Deno.readTextFileSync(this.#vouchers).split("\n").includes(voucher(ask));
    } catch {
      return false;
    }
  }

  /** The answers for a session have reached it. */
  delivered(ids: readonly number[]): void {
    for (const id of ids) this.#update(id, { status: "delivered" });
  }

  /** Asks whose way leads through this session and that are not delivered. */
  below(session: string): ParkedAsk[] {
    return this.list().filter((ask) =>
      ask.status !== "delivered" && ask.path.some((place) => place.session === session)
    );
  }

  #update(id: number, change: Partial<ParkedAsk>): ParkedAsk {
    let changed!: ParkedAsk;
    this.#change((asks) => asks.map((ask) => ask.id === id ? changed = { ...ask, ...change } : ask));
    return changed;
  }

  #path(): string {
    return join(this.#worktree, ".polyglav/asks.json");
  }

  #change(edit: (asks: ParkedAsk[]) => ParkedAsk[]): void {
    const workshop = ensureStateFolder(this.#worktree, "sessions"), path = this.#path();
    const lockPath = join(workshop, "asks.lock");
    using lock = openRegular(lockPath, { read: true, write: true }) ??
      createFile(lockPath, { read: true, write: true });
    lock.lockSync(true);
    const next = edit(this.list());
    const temporary = join(workshop, `.asks-${crypto.randomUUID()}.tmp`);
    try {
      const file = createFile(temporary, { write: true });
      try {
        writeAll(file, new TextEncoder().encode(`${JSON.stringify(next, null, 2)}\n`));
        file.syncDataSync();
      } finally {
        file.close();
      }
      Deno.renameSync(temporary, path);
    } catch (error) {
      try {
        Deno.removeSync(temporary);
      } catch { /* it was never made */ }
      throw error instanceof PolyglavError
        ? error
        : new PolyglavError(`${path} cannot be written: ${messageOf(error)}`);
    }
  }
}

/** What stands for an answered ask, without how far it was delivered. */
function voucher({ status: _, ...ask }: ParkedAsk): string {
  const { id, question, origin, path, kind, permission, answer, created_at, answered_at } = ask;
  const text = JSON.stringify([
    id,
    question,
    origin,
    path,
    kind,
    permission,
    answer,
    created_at,
    answered_at,
  ]);
  return sha256(new TextEncoder().encode(text));
}

function readText(file: Deno.FsFile): string {
  const bytes = new Uint8Array(file.statSync().size);
  let length = 0, read: number | null;
  while (length < bytes.length && (read = file.readSync(bytes.subarray(length))) !== null) length += read;
  return new TextDecoder().decode(bytes.subarray(0, length));
}

function parse(path: string, text: string): ParkedAsk[] {
  const broken = () => new PolyglavError(`${path} is no list of asks; repair it or move it away`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw broken();
  }
  if (!Array.isArray(value) || !value.every(isAsk)) throw broken();
  return value;
}

function isAsk(value: unknown): value is ParkedAsk {
  if (typeof value !== "object" || value === null) return false;
  const ask = value as Record<string, unknown>;
  const place = (item: unknown) =>
    typeof (item as AskPlace | null)?.session === "string" &&
    ["string", "object"].includes(typeof (item as AskPlace).role);
  return Number.isSafeInteger(ask.id) &&
    ["question", "origin", "context", "permission", "created_at"].every((key) =>
      typeof ask[key] === "string"
    ) && (ask.kind === "direction" || ask.kind === "permission") &&
    ["pending", "answered", "delivered"].includes(ask.status as string) &&
    (ask.answer === null || typeof ask.answer === "string") &&
    Array.isArray(ask.options) && ask.options.every((option) => typeof option === "string") &&
    Array.isArray(ask.path) && ask.path.length > 0 && ask.path.every(place);
}
