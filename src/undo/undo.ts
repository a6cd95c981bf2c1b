/**
 * Taking back what tools wrote: which turns there are, what would happen to each file, and doing it. Exactly the files of
 * the turn are touched, and only where they still are as the turn left them.
 *
 * @module
 */
import { messageOf, PolyglavError } from "../errors.ts";
import { clipDiff, unifiedDiff } from "../text/diff.ts";
import { isWithin, join } from "../text/path.ts";
import { groupNames, readGroup, undoFolder } from "./_folder.ts";
import { digest } from "./journal.ts";
import type { UndoEntry, UndoGroup, UndoPlace } from "./types.ts";

/** How files are reached: through the guard, so that no link leads elsewhere. */
export interface UndoFiles {
  /** What a canonical path holds, and its permission bits; null where nothing is. Throws for anything but a file. */
  read(path: string): { readonly bytes: Uint8Array<ArrayBuffer>; readonly mode: number } | null;
  /** Replaces a file that holds `expected`, or makes it where that is null. @param mode bits; null: as they are */
  write(path: string, bytes: Uint8Array, mode: number | null, expected: Uint8Array | null): void;
  /** Removes a file that holds `expected`, and as many of the directories above it as are empty then, at most `above`. */
  remove(path: string, expected: Uint8Array, above: number): void;
}

/** What becomes of one file. */
export interface UndoStep {
  /** Absolute canonical path. */
  readonly path: string;
  /** Relative to the worktree where it lies in it. */
  readonly shown: string;
  /** `restore`: gets its old text; `remove`: the turn made it; `create`: it is gone and comes back; `none`: as it was. */
  readonly kind: "restore" | "remove" | "create" | "none";
  /** Why it is left alone; null: it can be done. */
  readonly problem: string | null;
  /** Unified diff of what would change; empty where it cannot be shown. */
  readonly diff: string;
}

/** What taking back a turn would do. */
export interface UndoPlan {
  readonly group: UndoGroup;
  readonly steps: readonly UndoStep[];
}

/** Most lines of a step's diff, and most bytes of a file that is compared. */
const DIFF_LINES = 200, DIFF_BYTES = 1 << 20;

/** Takes back what the journal of a worktree has. */
export class Undo {
  readonly #place: UndoPlace;
  readonly #folder: string;
  readonly #files: UndoFiles;

  /** @param files the guard's side */
  constructor(place: UndoPlace, files: UndoFiles) {
    this.#place = place;
    this.#folder = undoFolder(place);
    this.#files = files;
  }

  /** Turns that wrote something, the newest first. @param session only of this one; null: single calls */
  groups(session?: string | null): UndoGroup[] {
    return groupNames(this.#folder).reverse()
      .map((name) => readGroup(this.#folder, name, this.#place.worktree))
      .filter((group): group is UndoGroup => group !== null && group.entries.length > 0)
      .filter((group) => session === undefined || group.session === session);
  }

  /**
   * The turn that is meant: the newest that was not taken back, or the one of this number or id.
   *
   * @throws {PolyglavError} where there is none
   */
  find(turn?: string, session?: string | null): UndoGroup {
    const groups = this.groups(session), where = session ? ` in session "${session}"` : "";
    const open = groups.filter((group) => !isUndone(group));
    if (turn === undefined) {
      if (open[0]) return open[0];
      throw new PolyglavError(`there is nothing to take back${where}`);
    }
    const named = (group: UndoGroup) => group.id === turn || String(group.turn) === turn;
    // A number without a session means the session that wrote last.
    const last = groups.find((group) => group.session !== null)?.session;
    const found = [...open, ...groups].filter(named);
    const meant = session === undefined && /^\d+$/.test(turn)
      ? found.find((group) => group.session === last)
      : found[0];
    if (!meant) {
      throw new PolyglavError(`turn ${turn} wrote nothing${where}; polyglav undo --list shows what did`);
    }
    if (isUndone(meant)) throw new PolyglavError(`turn ${turn} was taken back already`);
    return meant;
  }

  /** What taking back a turn would do. Nothing is changed. */
  async plan(group: UndoGroup): Promise<UndoPlan> {
    const steps: UndoStep[] = [];
    for (const [path, entries] of byPath(group)) steps.push((await this.#look(group, path, entries)).step);
    return { group, steps };
  }

  /**
   * Takes a turn back as far as it can be: every file is looked at again.
   *
   * @returns what was done with each file; a step with a problem was left alone
   */
  async apply({ group }: UndoPlan): Promise<readonly UndoStep[]> {
    const steps: UndoStep[] = [], undone = new Set(group.undone);
    for (const [path, entries] of byPath(group)) {
      const { step, now, old } = await this.#look(group, path, entries);
      let problem = step.problem;
      if (problem === null) {
        try {
          const { mode, missing } = entries[0]!;
          if (step.kind === "remove") this.#files.remove(path, now!, missing);
          else if (step.kind !== "none") {
            this.#files.write(path, old!, step.kind === "create" ? mode : null, now);
          }
          undone.add(path);
        } catch (error) {
          problem = messageOf(error);
        }
      }
      steps.push({ ...step, problem });
    }
    const file = join(this.#folder, group.id, "undone.json");
    Deno.writeTextFileSync(file, `${JSON.stringify([...undone])}\n`, { mode: 0o600 });
    return steps;
  }

  #shown(path: string): string {
    const { worktree } = this.#place;
    return isWithin(path, worktree) && path !== worktree ? path.slice(worktree.length + 1) : path;
  }

  async #look(group: UndoGroup, path: string, entries: readonly UndoEntry[]): Promise<{
    readonly step: UndoStep;
    readonly now: Uint8Array<ArrayBuffer> | null;
    readonly old: Uint8Array<ArrayBuffer> | null;
  }> {
    const first = entries[0]!, last = entries.at(-1)!, shown = this.#shown(path);
    const left = (problem: string) => ({
      step: { path, shown, kind: "none", problem, diff: "" } as const,
      now: null,
      old: null,
    });
    const lost = entries.find((entry) => entry.lost !== undefined)?.lost;
    if (lost !== undefined) return left(lost);
    if (entries.some((entry, i) => i > 0 && entry.before !== entries[i - 1]!.after)) {
      return left("something else changed it between the writes of this turn");
    }
    try {
      const found = this.#files.read(path), now = found?.bytes ?? null;
      const is = now === null ? null : await digest(now);
      const old = first.before === null ? null : this.#kept(group, first.before);
      if (old !== null && await digest(old) !== first.before) return left("what was kept of it is damaged");
      const step = (kind: UndoStep["kind"]) => ({
        step: { path, shown, kind, problem: null, diff: diffOf(now, old) },
        now,
        old,
      });
      if (is === first.before) return step("none");
      if (is === null && last.after !== null) {
        // It was removed since; nothing is lost by bringing the old one back.
        return old === null ? step("none") : step("create");
      }
      if (is !== last.after) return left("it changed since");
      return step(old === null ? "remove" : "restore");
    } catch (error) {
      return left(messageOf(error));
    }
  }

  #kept(group: UndoGroup, hash: string): Uint8Array<ArrayBuffer> {
    for (const folder of [join(this.#folder, group.id), this.#place.bytes?.()]) {
      if (!folder) continue;
      try {
        // A link in the worktree is nothing that was kept.
        if (Deno.lstatSync(join(folder, hash)).isFile) return Deno.readFileSync(join(folder, hash));
      } catch { /* not here */ }
    }
    throw new PolyglavError("what it held is not kept any more");
  }
}

/** Whether every file of a turn was taken back. */
export function isUndone({ entries, undone }: UndoGroup): boolean {
  return entries.every(({ path }) => undone.includes(path));
}

/** The writes of a turn that were not taken back, by file, in order. */
function byPath({ entries, undone }: UndoGroup): Map<string, UndoEntry[]> {
  const paths = new Map<string, UndoEntry[]>();
  for (const entry of entries) {
    if (undone.includes(entry.path)) continue;
    const list = paths.get(entry.path);
    if (list) list.push(entry);
    else paths.set(entry.path, [entry]);
  }
  return paths;
}

function diffOf(now: Uint8Array | null, old: Uint8Array | null): string {
  const texts = [now, old].map((bytes) => bytes === null ? "" : textOf(bytes));
  return texts[0] === null || texts[1] === null
    ? ""
    : clipDiff(unifiedDiff(texts[0]!, texts[1]!), DIFF_LINES);
}

function textOf(bytes: Uint8Array): string | null {
  if (bytes.length > DIFF_BYTES || bytes.includes(0)) return null;
  return new TextDecoder().decode(bytes);
}
