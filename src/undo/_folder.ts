/**
 * The journal's folders: one for a worktree, in it one for each turn that wrote, in that `log.jsonl`, what files held
 * (by SHA-256) and, once it was taken back, `undone.json`.
 *
 * @module
 */
import { join } from "../text/path.ts";
import { placeName } from "../text/place_name.ts";
import type { UndoAuthor, UndoEntry, UndoGroup, UndoPlace } from "./types.ts";

/** The folder of a worktree. */
export function undoFolder({ worktree, stateDir }: UndoPlace): string {
  return join(stateDir, "undo", placeName(worktree));
}

/** What a group's name looks like: milliseconds and a random part, in base 36. */
export const GROUP: RegExp = /^[0-9a-z]{9}-[0-9a-z]{4}$/;

/** A name for a group that begins now. */
export function groupName(now: Date): string {
  const random = crypto.getRandomValues(new Uint32Array(1))[0]!.toString(36).padStart(7, "0").slice(-4);
  return `${now.getTime().toString(36).padStart(9, "0")}-${random}`;
}

/** When a group began, in milliseconds. */
export function beganAt(name: string): number {
  return parseInt(name.slice(0, 9), 36);
}

/** Names of a worktree's groups, the oldest first. */
export function groupNames(folder: string): string[] {
  try {
    return [...Deno.readDirSync(folder)].filter(({ name, isDirectory }) => isDirectory && GROUP.test(name))
      .map(({ name }) => name).sort();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

/** The first line of a group's log. */
export interface Head extends UndoAuthor {
  readonly v: 1;
  readonly worktree: string;
  readonly at: string;
}

/** Reads a group; null where its log cannot be understood or is about another worktree. A torn last line is left out. */
export function readGroup(folder: string, name: string, worktree: string): UndoGroup | null {
  let text: string;
  try {
    text = Deno.readTextFileSync(join(folder, name, "log.jsonl"));
  } catch {
    return null;
  }
  const [first, ...rest] = text.split("\n").flatMap((line) => {
    try {
      return line === "" ? [] : [JSON.parse(line) as unknown];
    } catch {
      return [];
    }
  });
  const head = first as Head | undefined;
  if (head?.v !== 1 || head.worktree !== worktree) return null;
  const { session, turn, at } = head;
  return { id: name, session, turn, at, entries: rest.filter(isEntry), undone: undoneOf(join(folder, name)) };
}

function isEntry(value: unknown): value is UndoEntry {
  const entry = value as UndoEntry;
  const hash = (text: unknown) => text === null || (typeof text === "string" && /^[0-9a-f]{64}$/.test(text));
  return typeof entry?.path === "string" && typeof entry.tool === "string" && hash(entry.before) &&
    hash(entry.after) && (entry.mode === null || Number.isInteger(entry.mode)) &&
    Number.isInteger(entry.missing);
}

function undoneOf(folder: string): string[] {
  try {
    const list: unknown = JSON.parse(Deno.readTextFileSync(join(folder, "undone.json")));
    return Array.isArray(list) ? list.filter((path) => typeof path === "string") : [];
  } catch {
    return [];
  }
}
