/**
 * What is kept so that the changes of tools can be taken back, as data.
 *
 * @module
 */

/** Where the journal of a worktree is. */
export interface UndoPlace {
  /** Absolute canonical path. */
  readonly worktree: string;
  /** The user's state directory, outside the worktree: no repository and no command of a tool reaches it. */
  readonly stateDir: string;
  /**
   * The folder of what files held, by SHA-256, or null where the worktree has none yet; then the state directory holds
   * it. What is kept counts only where a log of the state directory names it and its SHA-256 is right.
   */
  readonly bytes?: () => string | null;
}

/** One write, as the journal has it. */
export interface UndoEntry {
  readonly tool: string;
  /** Canonical. */
  readonly path: string;
  /** SHA-256 of what the file held, in hexadecimal; null: there was none. */
  readonly before: string | null;
  readonly mode: number | null;
  /** SHA-256 of what the tool made of it; null where that is not known. */
  readonly after: string | null;
  readonly missing: number;
  /** Why the write cannot be taken back. */
  readonly lost?: string;
}

/** Who wrote. */
export interface UndoAuthor {
  /** Name of the session; null: a single call (`polyglav tool`). */
  readonly session: string | null;
  /** Number of the turn in the session, from 1; null where there is none. */
  readonly turn: number | null;
}

/** The writes of one turn. */
export interface UndoGroup extends UndoAuthor {
  /** Sorts by time. */
  readonly id: string;
  /** ISO 8601. */
  readonly at: string;
  /** In order. */
  readonly entries: readonly UndoEntry[];
  /** Paths that were taken back since. */
  readonly undone: readonly string[];
}
