/**
 * The host's side of a fanout: other workers of the same permissions take parts of a call. The asking worker takes parts
 * too, so that it ends even where no other worker is to be had.
 *
 * @module
 */
import type { CallSetup, PartResult, ToHost, ToWorker } from "./_protocol.ts";
import type { WorkerHandle } from "./_worker.ts";

/** Where helpers come from and go to. */
export interface Helpers {
  /** Another worker of the same permissions that is free, or null. */
  spare(): WorkerHandle | null;
  /** Gives it back. */
  release(worker: WorkerHandle): void;
}

/** One fanout of one call. */
export class Fanout {
  readonly #results: PartResult[] = [];
  readonly #helpers = new Set<WorkerHandle>();
  readonly #source: Helpers;
  readonly #message: ToHost & { type: "fanout" };
  readonly #answer: (message: ToWorker) => void;
  #wanted: number | null = null;

  /**
   * Hands parts out.
   *
   * @param id of the helpers' jobs
   * @param answer sends to the asking worker
   */
  constructor(
    message: ToHost & { type: "fanout" },
    job: {
      readonly tool: string;
      readonly setup: CallSetup;
      readonly id: () => number;
      readonly most: number;
    },
    source: Helpers,
    answer: (message: ToWorker) => void,
  ) {
    this.#message = message;
    this.#source = source;
    this.#answer = answer;
    const { inputs, next } = message, { tool, setup } = job;
    while (this.#helpers.size < Math.min(job.most, inputs.length - 1)) {
      const helper = source.spare();
      if (!helper) break;
      this.#enlist(helper, { type: "parts", id: job.id(), tool, inputs, next, setup });
    }
  }

  /** The asking worker has no more to take; it did `mine`. */
  gather(mine: readonly number[]): void {
    this.#wanted = this.#message.inputs.length - mine.length;
    this.#settle();
  }

  /**
   * The call is over: helpers find nothing left to take.
   *
   * @param force end those that still work; one that has not loaded yet has taken nothing
   */
  end(force: boolean): void {
    this.#wanted = null;
    Atomics.store(new Int32Array(this.#message.next), 0, this.#message.inputs.length);
    if (!force) return;
    for (const helper of this.#helpers) {
      if (!helper.ready) continue;
      helper.terminate();
      this.#dismiss(helper);
    }
  }

  #enlist(helper: WorkerHandle, message: ToWorker & { type: "parts" }): void {
    this.#helpers.add(helper);
    helper.onDeath = (reason) => {
      this.#dismiss(helper);
      this.#results.push({ index: -1, ok: false, failure: { kind: "execution", message: reason } });
      this.#settle();
    };
    helper.onMessage = (reply) => {
      if (!("id" in reply) || reply.id !== message.id) return;
      if (reply.type === "part") this.#results.push(reply.result);
      else if (reply.type === "done") this.#dismiss(helper);
      else return;
      this.#settle();
    };
    helper.post(message);
  }

  #dismiss(helper: WorkerHandle): void {
    if (this.#helpers.delete(helper)) this.#source.release(helper);
  }

  #settle(): void {
    if (this.#wanted === null) return;
    const failed = this.#results.some((result) => !result.ok);
    if (!failed && this.#results.length < this.#wanted && this.#helpers.size > 0) return;
    this.#wanted = null;
    const { id, fanout } = this.#message;
    this.#answer({ type: "gathered", id, fanout, results: this.#results });
  }
}
