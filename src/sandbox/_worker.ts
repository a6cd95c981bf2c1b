/**
 * The host's side of one worker.
 *
 * @module
 */
import { messageOf } from "../errors.ts";
import type { WorkerPlan } from "./flags.ts";
import type { ToHost, ToWorker } from "./_protocol.ts";

/** One worker: made at once, usable at once (messages wait until it is ready). */
export class WorkerHandle {
  /** Gets every message of the job that the worker does now. */
  onMessage: (message: ToHost) => void = () => {};
  /** The worker ended by itself: why. Called once. */
  onDeath: (reason: string) => void = () => {};
  /** Its entry has loaded. */
  ready = false;
  /** It can take no more jobs. */
  dead = false;
  readonly #worker: Worker;

  /**
   * @param plan its permissions; null: those of this process (a seam for tests)
   * @throws {Error} where Deno refuses the permissions
   */
  constructor(entry: URL, plan: WorkerPlan | null) {
    const options = plan === null ? { type: "module", name: "" } : {
      type: "module",
      name: JSON.stringify(plan.birth),
      deno: { permissions: plan.permissions },
    };
    this.#worker = new Worker(entry, options as WorkerOptions);
    this.#worker.onmessage = ({ data }: MessageEvent<ToHost>) => {
      try {
        if (data.type === "ready") this.ready = true;
        else if (data.type === "closed") this.#die("it ended its own worker");
        else if (data.type === "crashed") this.#die(String(data.reason));
        else if (!this.dead) this.onMessage(data);
      } catch (error) {
        // A tool can say anything; only its own call may suffer from it.
        this.#die(`its worker's message could not be understood: ${messageOf(error)}`);
      }
    };
    this.#worker.onerror = (event) => {
      event.preventDefault();
      this.#die(messageOf(event.message || event.error));
    };
    this.#worker.onmessageerror = () => this.#die("its answer could not be understood");
  }

  /** @throws {Error} for something that cannot be cloned */
  post(message: ToWorker, transfer: Transferable[] = []): void {
    this.#worker.postMessage(message, transfer);
  }

  /** Ends it, whatever it does. */
  terminate(): void {
    this.dead = true;
    this.#worker.terminate();
  }

  #die(reason: string): void {
    if (this.dead) return;
    this.terminate();
    this.onDeath(reason);
  }
}
