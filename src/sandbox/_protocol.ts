/**
 * What host and worker say to each other. Everything is plain data that structured clone carries.
 *
 * @module
 */
import type { FileChange, GuardScope } from "../policy/types.ts";
import type { ToolErrorKind } from "../errors.ts";
import type { FetchRequest } from "../tool.ts";
import type { ConfineSpec } from "./confine.ts";

/** What a worker is told by its name, before anything else: what to give up before a tool is loaded. */
export interface WorkerBirth {
  /** Paths that the process may touch and this worker must not; each is one entry of the process's own lists. */
  readonly drop: readonly { readonly name: "read" | "write"; readonly path: string }[];
}

/** What a call may use, beside its arguments. */
export interface CallSetup {
  readonly guard: GuardScope;
  readonly config: Readonly<Record<string, unknown>>;
  /** The tool may start programs. */
  readonly run: boolean;
  /** Environment of child processes. */
  readonly env: Readonly<Record<string, string>>;
  readonly confine?: ConfineSpec;
  readonly captureDirectory?: string;
  /** Every write is announced, and waits until the host has taken note. */
  readonly journal?: boolean;
}

export type { FileChange };

/** What the host answers a worker that waits with a write: written into the one Int32 of the flag. */
export const WRITE = { waits: 0, go: 1, stop: 2 } as const;

/** What a handler asks of the host while it runs. */
export type HostRequest =
  | { readonly what: "fetch"; readonly request: FetchRequest }
  | { readonly what: "recall"; readonly key: string }
  | { readonly what: "remember"; readonly key: string; readonly value: unknown };

/** Host to worker. */
export type ToWorker =
  | {
    /** The host's answer to the call's question number `ask`. */
    readonly type: "answer";
    readonly id: number;
    readonly ask: number;
    readonly answer:
      | { readonly ok: true; readonly value: unknown }
      | { readonly ok: false; readonly failure: Failure };
  }
  | {
    readonly type: "call";
    readonly id: number;
    readonly tool: string;
    readonly what: "execute" | "preview";
    readonly args: Readonly<Record<string, unknown>>;
    readonly setup: CallSetup;
  }
  | {
    /** Take parts of another worker's call, as long as there are any. */
    readonly type: "parts";
    readonly id: number;
    readonly tool: string;
    readonly inputs: readonly unknown[];
    /** One Int32: index of the next input that nobody has taken. */
    readonly next: SharedArrayBuffer;
    readonly setup: CallSetup;
  }
  | {
    /** All parts of the call's `fanout` that others took are done, or one failed. */
    readonly type: "gathered";
    readonly id: number;
    readonly fanout: number;
    readonly results: readonly PartResult[];
  }
  | { readonly type: "abort"; readonly id: number };

/** One part of a fanout. */
export type PartResult =
  | { readonly index: number; readonly ok: true; readonly value: unknown }
  | { readonly index: number; readonly ok: false; readonly failure: Failure };

/** An error as plain data. */
export interface Failure {
  readonly kind: ToolErrorKind;
  readonly message: string;
}

/** Worker to host. */
export type ToHost =
  | { readonly type: "ready" }
  /** The worker's code ended the worker. */
  | { readonly type: "closed" }
  /** Nobody caught an error. */
  | { readonly type: "crashed"; readonly reason: string }
  | { readonly type: "progress"; readonly id: number; readonly text: string }
  | {
    readonly type: "fanout";
    readonly id: number;
    readonly fanout: number;
    readonly inputs: readonly unknown[];
    readonly next: SharedArrayBuffer;
  }
  | {
    /** The asking worker has no more to take; `mine` are the inputs that it did itself. */
    readonly type: "gather";
    readonly id: number;
    readonly fanout: number;
    readonly mine: readonly number[];
  }
  | { readonly type: "part"; readonly id: number; readonly result: PartResult }
  | { readonly type: "ask"; readonly id: number; readonly ask: number; readonly request: HostRequest }
  | {
    /** The worker stands still until `flag` says what to do. */
    readonly type: "writing";
    readonly id: number;
    readonly flag: SharedArrayBuffer;
    readonly change: FileChange;
  }
  | { readonly type: "spawned"; readonly id: number; readonly pid: number }
  | { readonly type: "settled"; readonly id: number; readonly pids: readonly number[] }
  | { readonly type: "done"; readonly id: number; readonly ok: true; readonly output: unknown }
  | { readonly type: "done"; readonly id: number; readonly ok: false; readonly failure: Failure };
