/**
 * Workers with the same permissions: started when they are needed, kept warm, replaced when they die.
 *
 * @module
 */
import type { WorkerPlan } from "./flags.ts";
import { WorkerHandle } from "./_worker.ts";

interface Waiting {
  readonly take: (worker: WorkerHandle) => void;
  readonly fail: (error: unknown) => void;
}

/** A small pool of equal workers. */
export class WorkerGroup {
  readonly #entry: URL;
  readonly #plan: WorkerPlan | null;
  readonly #size: number;
  #idle: WorkerHandle[] = [];
  #all = new Set<WorkerHandle>();
  #waiting: Waiting[] = [];

  /** @param plan null: the permissions of this process; @param size most workers at a time */
  constructor(entry: URL, plan: WorkerPlan | null, size: number) {
    this.#entry = entry;
    this.#plan = plan;
    this.#size = size;
  }

  /** Starts a worker ahead of its first call, if there is none. */
  warm(): void {
    if (this.#all.size === 0) this.#idle.push(this.#start());
  }

  /** An idle worker, a new one, or the next that becomes idle. */
  // deno-lint-ignore require-await -- so that an aborted signal and a refused worker reject
  async take(signal?: AbortSignal): Promise<WorkerHandle> {
    signal?.throwIfAborted();
    const worker = this.spare(true);
    if (worker) return worker;
    return new Promise((resolve, reject) => {
      const give = () => {
        this.#waiting = this.#waiting.filter((other) => other !== entry);
        reject(signal!.reason);
      };
      const settled = () => signal?.removeEventListener("abort", give);
      const entry: Waiting = {
        take: (worker) => {
          settled();
          resolve(worker);
        },
        fail: (error) => {
          settled();
          reject(error);
        },
      };
      signal?.addEventListener("abort", give, { once: true });
      this.#waiting.push(entry);
    });
  }

  /** A worker that nobody waits for: an idle one, or a new one below the size. @param first an idle one suits even if others wait */
  spare(first = false): WorkerHandle | null {
    if (!first && this.#waiting.length > 0) return null;
    const worker = this.#idle.pop();
    if (worker) return worker;
    return this.#all.size < this.#size ? this.#start() : null;
  }

  /** Gives a worker back. A dead one is forgotten, and replaced when somebody waits. */
  release(worker: WorkerHandle): void {
    worker.onMessage = () => {};
    worker.onDeath = () => this.#forget(worker);
    if (worker.dead) this.#forget(worker);
    else {
      const next = this.#waiting.shift();
      if (next) next.take(worker);
      else this.#idle.push(worker);
    }
  }

  /** Ends all workers. */
  close(): void {
    for (const worker of this.#all) worker.terminate();
    this.#all.clear();
    this.#idle = [];
    for (const { fail } of this.#waiting.splice(0)) fail(new Error("The sandbox was closed"));
  }

  #start(): WorkerHandle {
    const worker = new WorkerHandle(this.#entry, this.#plan);
    worker.onDeath = () => this.#forget(worker);
    this.#all.add(worker);
    return worker;
  }

  #forget(worker: WorkerHandle): void {
    this.#all.delete(worker);
    this.#idle = this.#idle.filter((other) => other !== worker);
    const next = this.#all.size < this.#size ? this.#waiting.shift() : undefined;
    if (!next) return;
    try {
      next.take(this.#start());
    } catch (error) {
      next.fail(error);
    }
  }
}
