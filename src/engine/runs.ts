/**
 * The runs of a process: the root and every sub-agent below it, with who started whom.
 *
 * @module
 */
import { ToolError } from "../errors.ts";
import type { Usage } from "../provider/provider.ts";
import type { TurnStatus } from "../session/turns.ts";

/** How a run stands. `paused` and `done` come by a handoff. */
export type RunStatus = TurnStatus | "paused" | "done";

/** One agent at work, or one that was. */
export interface Run {
  /** 1, 2, … in the order of start. */
  readonly id: number;
  /** Null for the root. */
  readonly role: string | null;
  /** Name of its session. */
  readonly session: string;
  /** Id of its session. */
  readonly sessionId: string;
  readonly parent: Run | null;
  readonly children: Run[];
  /** Beginning of what it was asked. */
  readonly task: string;
  status: RunStatus;
  /** ISO 8601. */
  readonly startedAt: string;
  endedAt: string | null;
  usage: Usage | null;
}

const SHOWN_TASK = 200;

/** Keeps the runs of a process. */
export class Runs {
  readonly #runs: Run[] = [];
  readonly #clock: () => Date;

  /** @param clock for times */
  constructor(clock: () => Date = () => new Date()) {
    this.#clock = clock;
  }

  /** Notes that a run starts. */
  start(
    about: {
      readonly role: string | null;
      readonly session: string;
      readonly sessionId: string;
      readonly parent: Run | null;
      readonly task: string;
    },
  ): Run {
    const run: Run = {
      id: this.#runs.length + 1,
      ...about,
      task: about.task.slice(0, SHOWN_TASK).toWellFormed(),
      children: [],
      status: "running",
      startedAt: this.#clock().toISOString(),
      endedAt: null,
      usage: null,
    };
    this.#runs.push(run);
    about.parent?.children.push(run);
    return run;
  }

  /** Notes that a run ended; one that was paused or finished by a handoff stays so. */
  end(run: Run, status: TurnStatus, usage: Usage | null): void {
    if (run.status === "running") run.status = status;
    run.usage = usage;
    run.endedAt = this.#clock().toISOString();
  }

  /** All runs, in the order of start. */
  list(): readonly Run[] {
    return this.#runs;
  }

  /**
   * The run that a word stands for, as seen from another: `root`, `parent`, `child` (the first), `sibling` (the first
   * other child of the parent), a run's number (`3`, `#3`), a session's id (`#ab12cd`) or name.
   *
   * @throws {ToolError} where it stands for none
   */
  resolve(from: Run, target: string): Run {
    const word = target.trim(), lower = word.toLowerCase();
    const missing = () => new ToolError(`handoff target not found: ${word.slice(0, 80)}`, "not_found");
    if (word === "") throw new ToolError("handoff needs a target", "invalid_arguments");
    const bare = word.replace(/^#/, "");
    const named: Readonly<Record<string, () => Run | null | undefined>> = {
      root: () => {
        let top = from;
        while (top.parent) top = top.parent;
        return top;
      },
      parent: () => from.parent,
      child: () => from.children[0],
      sibling: () => from.parent?.children.find((other) => other !== from),
    };
    const found = Object.hasOwn(named, lower)
      ? named[lower]!()
      // A session's id may be all digits; with six of them it wins over a run that does not exist.
      : this.#runs.find((run) => /^\d+$/.test(bare) && run.id === Number(bare)) ??
        this.#runs.find((run) => word.startsWith("#") && run.sessionId === bare.toLowerCase()) ??
        this.#runs.find((run) => run.session === word);
    if (!found) throw missing();
    return found;
  }
}
