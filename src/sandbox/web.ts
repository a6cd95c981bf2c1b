/**
 * Ring 3 for the web: every hop is asked for by a worker that may reach the hop's checked addresses and nothing else.
 *
 * A worker is kept for the next request to the very same addresses, because starting one costs far more than a request. It
 * keeps nothing between requests: no cookies, no cache, no connection.
 *
 * @module
 */
import { moduleAddress } from "./_module.ts";
import { messageOf, ToolError } from "../errors.ts";
import type { CeilingFlags } from "../policy/compile.ts";
import type { HopScope, PermissionSet } from "../policy/types.ts";
import { workerPlan } from "./flags.ts";
import type { FromWeb, HopAnswer, HopRequest, ToWeb } from "./_web_protocol.ts";

/** What a request may use of its caller. */
export interface HopOptions {
  readonly signal?: AbortSignal;
}

/** How the workers are made. */
export interface WebOptions {
  /** A seam for tests: workers have the permissions of this process. */
  readonly inherit: boolean;
  readonly ceiling: CeilingFlags | null;
}

/** Idle workers that are kept. */
const KEPT = 2;
/** Milliseconds that a worker gets beyond its own limit before it is ended. */
const GRACE = 2_000;

type Settle = (result: { readonly answer: HopAnswer } | { readonly error: ToolError }) => void;

/** Makes requests. */
export class WebWorkers {
  readonly #options: WebOptions;
  /** By their addresses; the one used last comes last. */
  readonly #workers = new Map<string, WebWorker>();

  /** @param options nothing is started yet */
  constructor(options: WebOptions) {
    this.#options = options;
  }

  /** Makes one request. @throws {ToolError} where there is no answer */
  async run(scope: HopScope, request: HopRequest, { signal }: HopOptions = {}): Promise<HopAnswer> {
    const key = [...scope.permissions.net].sort().join(" ");
    let worker = this.#workers.get(key);
    if (!worker || worker.dead) worker = this.#start(scope.permissions);
    this.#workers.delete(key);
    this.#workers.set(key, worker);
    try {
      return await worker.ask(scope, request, signal);
    } finally {
      this.#tidy();
    }
  }

  /** Ends all workers. */
  close(): void {
    for (const worker of this.#workers.values()) worker.end("The sandbox was closed");
    this.#workers.clear();
  }

  #start(permissions: PermissionSet): WebWorker {
    const plan = this.#options.inherit ? null : workerPlan(permissions, this.#options.ceiling, true);
    if (plan !== null && plan.permissions.net === false) {
      throw new ToolError(
        `this process may not reach ${permissions.net.join(", ")}: its own ceiling does not let it`,
        "permission",
      );
    }
    return new WebWorker(plan?.permissions ?? null);
  }

  #tidy(): void {
    const idle = [...this.#workers].filter(([, worker]) => worker.idle);
    for (const [key, worker] of idle.slice(0, Math.max(0, idle.length - KEPT))) {
      this.#workers.delete(key);
      worker.end("idle");
    }
  }
}

class WebWorker {
  dead = false;
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Settle>();
  #ids = 0;

  constructor(permissions: Deno.PermissionOptionsObject | null) {
    const options = permissions === null ? { type: "module" } : { type: "module", deno: { permissions } };
    this.#worker = new Worker(moduleAddress("sandbox/web_entry.ts"), options as WorkerOptions);
    this.#worker.onmessage = ({ data }: MessageEvent<FromWeb>) => {
      if (data.type === "crashed") this.end(data.reason);
      else if (data.type === "done") {
        this.#waiting.get(data.id)?.(
          data.ok
            ? { answer: data.answer }
            : { error: new ToolError(data.failure.message, data.failure.kind) },
        );
      }
    };
    this.#worker.onerror = (event) => {
      event.preventDefault();
      this.end(messageOf(event.message || event.error));
    };
    this.#worker.onmessageerror = () => this.end("its answer could not be understood");
  }

  get idle(): boolean {
    return this.#waiting.size === 0;
  }

  ask(scope: HopScope, request: HopRequest, signal: AbortSignal | undefined): Promise<HopAnswer> {
    return new Promise((resolve, reject) => {
      const id = ++this.#ids;
      const settle: Settle = (result) => {
        if (!this.#waiting.delete(id)) return;
        clearTimeout(timer);
        signal?.removeEventListener("abort", abort);
        if ("answer" in result) resolve(result.answer);
        else reject(result.error);
      };
      const abort = () => {
        this.#post({ type: "abort", id });
        settle({ error: new ToolError("The request was cancelled") });
      };
      // A worker that is busy with decompressing does not see its own limit pass.
      const timer = setTimeout(
        () => this.end("it did not finish in time", "timeout"),
        request.timeout + GRACE,
      );
      this.#waiting.set(id, settle);
      if (signal?.aborted) return abort();
      signal?.addEventListener("abort", abort, { once: true });
      this.#post({ type: "hop", id, scope, request });
    });
  }

  /** Ends the worker; what waits for it fails. */
  end(reason: string, kind: "execution" | "timeout" = "execution"): void {
    if (!this.dead) this.#worker.terminate();
    this.dead = true;
    for (const settle of [...this.#waiting.values()]) {
      settle({ error: new ToolError(`the request failed: ${reason}`, kind) });
    }
  }

  #post(message: ToWeb): void {
    if (!this.dead) this.#worker.postMessage(message);
  }
}
