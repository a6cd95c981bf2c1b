/**
 * Ring 3: calls run in workers that have exactly the permissions that were compiled for them.
 *
 * Warm workers are kept by permission set, started when first needed and replaced when they die or hang. A call that
 * needs more than the standing permissions gets a worker of its own. No file tool runs while a command of ours runs, nor
 * the other way round (see {@link SideLock}); children that a command left in the background are the exception.
 *
 * @module
 */
import { messageOf, ToolError, type ToolErrorKind } from "../errors.ts";
import type { Tool, ToolOutput } from "../tool.ts";
import type { CeilingFlags } from "../policy/compile.ts";
import type { CallScope, HopScope, PermissionSet } from "../policy/types.ts";
import type { ConfineSpec } from "./confine.ts";
import { isWithin } from "../text/path.ts";
import { moduleAddress } from "./_module.ts";
import { signalGroup } from "./_exec_signal.ts";
import { Fanout, type Helpers } from "./_fanout.ts";
import { readCeiling, workerPlan } from "./flags.ts";
import { WorkerGroup } from "./_group.ts";
import { type Side, SideLock } from "./_lock.ts";
import {
  type CallSetup,
  type FileChange,
  type HostRequest,
  type ToHost,
  type ToWorker,
  WRITE,
} from "./_protocol.ts";
import type { HopAnswer, HopRequest } from "./_web_protocol.ts";
import type { HopOptions, WebWorkers } from "./web.ts";
import { WorkerHandle } from "./_worker.ts";

/** How a sandbox is made. */
export interface SandboxOptions {
  /** Absolute canonical path of the worktree. */
  readonly worktree: string;
  /** A seam for tests: workers have the permissions of this process, so that policy and guard stand alone. */
  readonly inherit?: boolean;
  /** Most warm workers of one permission set. Default 2. */
  readonly size?: number;
  /** Module of all workers. Default: entry.ts, run_entry.ts or page_entry.ts, by what a tool needs. */
  readonly entry?: URL;
  /** This process's own permissions, where it runs under a ceiling. Default: what the launcher said. */
  readonly ceiling?: CeilingFlags;
}

export type { FileChange, HostRequest } from "./_protocol.ts";
export type { HopAnswer, HopRequest } from "./_web_protocol.ts";

/** What one call brings along. */
export interface CallOptions {
  /** Ends the call; its result says so. */
  readonly signal?: AbortSignal;
  /** The tool's configuration keys and their values. */
  readonly config: Record<string, unknown>;
  /** Milliseconds until the worker is ended. */
  readonly timeout: number;
  readonly onProgress?: (text: string) => void;
  /** Scrubbed environment of child processes. */
  readonly env: Record<string, string>;
  /** Confinement of child processes by the operating system. */
  readonly confine?: ConfineSpec;
  /** Answers what the handler asks of the host; without it every question is refused. */
  readonly answer?: (request: HostRequest) => Promise<unknown>;
  /**
   * Told of every file before the handler writes it, where the call may write there: the handler stands still until this
   * is through. Where it rejects nothing is written.
   */
  readonly onWrite?: (change: FileChange) => Promise<void>;
}

/** What came of a call. */
export type SandboxResult =
  | { readonly ok: true; readonly output: ToolOutput }
  | { readonly ok: false; readonly kind: ToolErrorKind; readonly message: string };

/** Milliseconds that a cancelled call gets to end by itself. */
const GRACE = { command: 700, other: 100 };

interface Job {
  readonly tool: Tool;
  readonly what: "execute" | "preview";
  readonly args: Record<string, unknown>;
  readonly setup: CallSetup;
  readonly options: CallOptions;
  /** Places that it may write. */
  readonly writable: readonly string[];
}

/** Runs tools in workers. */
export class Sandbox {
  readonly #options: SandboxOptions;
  readonly #entry: URL | null;
  readonly #size: number;
  readonly #groups = new Map<string, WorkerGroup>();
  readonly #lock = new SideLock();
  readonly #ceiling: CeilingFlags | null;
  /** Ends a running call; one per call. */
  readonly #running = new Set<(result: SandboxResult) => void>();
  #web: WebWorkers | null = null;
  #scratch: string | null | undefined;
  #madeScratch = false;
  #ids = 0;

  /** @param options see {@link SandboxOptions}; nothing is started yet */
  constructor(options: SandboxOptions) {
    this.#options = options;
    this.#entry = options.entry ?? null;
    this.#size = Math.max(1, options.size ?? 2);
    const note = options.inherit ? null : readCeiling();
    this.#ceiling = options.ceiling ?? note?.flags ?? null;
    if (note?.scratch) this.#scratch = note.scratch;
  }

  /**
   * Runs a tool's handler.
   *
   * @param tool one that the workers' module carries; its name counts
   * @param args cleaned arguments
   * @param scope what the call may do
   * @returns its output, or why there is none; never rejects
   */
  async run(
    tool: Tool,
    args: Record<string, unknown>,
    scope: CallScope,
    call: CallOptions,
  ): Promise<SandboxResult> {
    return await this.#call(tool, "execute", args, scope, call);
  }

  /**
   * Runs a tool's preview, which may read but neither write nor start programs.
   *
   * @throws {ToolError} where there is none
   */
  async preview(
    tool: Tool,
    args: Record<string, unknown>,
    scope: CallScope,
    call: CallOptions,
  ): Promise<string> {
    const reading: CallScope = {
      permissions: { read: scope.permissions.read, write: [], run: [], net: [], env: [] },
      guard: { ...scope.guard, roots: scope.guard.roots.map(({ path }) => ({ path, access: "read" })) },
      oneShot: scope.oneShot,
    };
    const result = await this.#call(tool, "preview", args, reading, call);
    if (!result.ok) throw new ToolError(result.message, result.kind);
    return String(result.output);
  }

  /** Starts a worker for these permissions ahead of the first call, if there is none. Never throws. */
  warm(scope: CallScope): void {
    if (scope.oneShot) return;
    try {
      const { run, read } = scope.permissions;
      const name = run.length > 0 ? "run_entry.ts" : read.length > 0 ? "entry.ts" : "page_entry.ts";
      this.#group(this.#permissions(scope.permissions), this.#entry ?? moduleAddress(`sandbox/${name}`))
        .warm();
    } catch {
      // The first call says why.
    }
  }

  /**
   * Makes one request in a worker that reaches the scope's addresses and nothing else: neither files nor environment.
   * Redirects are not followed.
   *
   * @throws {ToolError} where there is no answer
   */
  async hop(scope: HopScope, request: HopRequest, options: HopOptions): Promise<HopAnswer> {
    if (!this.#web) {
      const { WebWorkers } = await import("./web.ts");
      this.#web ??= new WebWorkers({ inherit: this.#options.inherit ?? false, ceiling: this.#ceiling });
    }
    return await this.#web.run(scope, request, options);
  }

  /** Ends all workers and what they run. */
  close(): void {
    this.#web?.close();
    this.#web = null;
    for (const end of [...this.#running]) end(failure("execution", "The sandbox was closed"));
    for (const group of this.#groups.values()) group.close();
    this.#groups.clear();
    if (this.#madeScratch && this.#scratch) {
      try {
        Deno.removeSync(this.#scratch, { recursive: true });
      } catch {
        // Something still writes there; the system's cleaning gets it.
      }
      this.#scratch = undefined;
      this.#madeScratch = false;
    }
  }

  async #call(
    tool: Tool,
    what: Job["what"],
    args: Record<string, unknown>,
    scope: CallScope,
    options: CallOptions,
  ): Promise<SandboxResult> {
    const { signal } = options;
    let leave = () => {};
    try {
      signal?.throwIfAborted();
      const run = what === "execute" && tool.access.includes("run");
      leave = await this.#lock.enter(sideOf(tool, what), signal);
      const permissions = this.#permissions(scope.permissions);
      const setup: CallSetup = {
        guard: scope.guard,
        config: options.config,
        run,
        env: options.env,
        confine: options.confine,
        captureDirectory: run ? this.#captureDirectory() ?? undefined : undefined,
        journal: what === "execute" && options.onWrite !== undefined,
      };
      const job: Job = { tool, what, args, setup, options, writable: scope.permissions.write };
      if (scope.oneShot) return await this.#runAlone(job, permissions);
      const group = this.#group(permissions, this.#entryOf(tool));
      const worker = await group.take(signal);
      return await this.#runOn(worker, job, group);
    } catch (error) {
      if (signal?.aborted) return CANCELLED;
      return failure(error instanceof ToolError ? error.kind : "execution", messageOf(error));
    } finally {
      leave();
    }
  }

  /** A worker for this call alone. */
  async #runAlone(job: Job, permissions: PermissionSet): Promise<SandboxResult> {
    const plan = this.#options.inherit ? null : workerPlan(permissions, this.#ceiling, true);
    const worker = new WorkerHandle(this.#entryOf(job.tool), plan);
    const alone: Helpers = { spare: () => null, release: (worker) => worker.terminate() };
    return await this.#runOn(worker, job, alone);
  }

  #runOn(worker: WorkerHandle, job: Job, source: Helpers): Promise<SandboxResult> {
    const { tool, options } = job, { signal } = options;
    const id = ++this.#ids, groups = new Set<number>(), fanouts = new Map<number, Fanout>();
    const waiting = new Set<Int32Array>();
    return new Promise((resolve) => {
      let grace: ReturnType<typeof setTimeout> | undefined, over = false;
      const finish = (result: SandboxResult, end: boolean) => {
        if (over) return;
        over = true;
        clearTimeout(timer);
        clearTimeout(grace);
        signal?.removeEventListener("abort", abort);
        this.#running.delete(stop);
        for (const fanout of fanouts.values()) fanout.end(!result.ok);
        // A worker that stands still would not end, and must not write any more.
        for (const flag of waiting) release(flag, WRITE.stop);
        if (end || worker.dead) {
          worker.terminate();
          void endGroups(groups);
        }
        source.release(worker);
        resolve(result);
      };
      const stop = (result: SandboxResult) => finish(result, true);
      const abort = () => {
        // A worker in a busy loop never reads this.
        worker.post({ type: "abort", id });
        grace = setTimeout(() => stop(CANCELLED), job.setup.run ? GRACE.command : GRACE.other);
      };
      const timer = setTimeout(
        () =>
          stop(
            failure(
              "timeout",
              `${tool.name} did not finish within ${seconds(options.timeout)} and was ended`,
            ),
          ),
        Math.min(options.timeout, 0x7fffffff),
      );
      worker.onDeath = (reason) => stop(failure("execution", `${tool.name} failed: ${reason}`));
      worker.onMessage = (message: ToHost) => {
        if (!("id" in message) || message.id !== id) return;
        if (message.type === "progress") options.onProgress?.(String(message.text));
        else if (message.type === "spawned") {
          if (job.setup.run && Number.isInteger(message.pid)) groups.add(message.pid);
        } else if (message.type === "settled") { for (const pid of message.pids) groups.delete(pid); }
        else if (message.type === "fanout") {
          const { setup } = job, most = this.#size - 1;
          const work = { tool: tool.name, setup, id: () => ++this.#ids, most };
          fanouts.set(message.fanout, new Fanout(message, work, source, (reply) => worker.post(reply)));
        } else if (message.type === "ask") void answer(worker, message, options.answer, () => over);
        else if (message.type === "writing") void note(message, job, waiting, () => over);
        else if (message.type === "gather") fanouts.get(message.fanout)?.gather(message.mine);
        else if (message.type === "done") {
          finish(
            message.ok
              ? { ok: true, output: message.output as ToolOutput }
              : failure(message.failure.kind, message.failure.message),
            false,
          );
        }
      };
      this.#running.add(stop);
      try {
        if (worker.dead) throw new Error("its worker ended");
        worker.post({ type: "call", id, tool: tool.name, what: job.what, args: job.args, setup: job.setup });
      } catch (error) {
        finish(failure("execution", `${tool.name} could not be started: ${messageOf(error)}`), worker.dead);
        return;
      }
      if (signal?.aborted) abort();
      else signal?.addEventListener("abort", abort, { once: true });
    });
  }

  /** The module that carries a tool. */
  #entryOf(tool: Tool): URL {
    const { access } = tool;
    const name = access.includes("run")
      ? "run_entry.ts"
      : access.includes("read") || access.includes("write")
      ? "entry.ts"
      : "page_entry.ts";
    return this.#entry ?? moduleAddress(`sandbox/${name}`);
  }

  #group(permissions: PermissionSet, entry: URL): WorkerGroup {
    const key = entry.href + JSON.stringify(
      (["read", "write", "run", "net", "env"] as const).map((kind) => [...new Set(permissions[kind])].sort()),
    );
    let group = this.#groups.get(key);
    if (!group) {
      const plan = this.#options.inherit ? null : workerPlan(permissions, this.#ceiling, false);
      group = new WorkerGroup(entry, plan, this.#size);
      this.#groups.set(key, group);
    }
    return group;
  }

  /** The call's permissions, and for commands the folder that their output is captured in. */
  #permissions(set: PermissionSet): PermissionSet {
    const folder = set.run.length > 0 ? this.#captureDirectory() : null;
    return folder === null ? set : { ...set, read: [...set.read, folder], write: [...set.write, folder] };
  }

  #captureDirectory(): string | null {
    if (this.#scratch === undefined) {
      try {
        this.#scratch = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "polyglav-" }));
        this.#madeScratch = true;
      } catch {
        this.#scratch = null;
      }
    }
    return this.#scratch;
  }
}

/** Most questions that one call may have open. */
const MOST_QUESTIONS = 16;
const open = new WeakMap<WorkerHandle, number>();

/** Answers a handler's question. Bytes that are answered are handed over, not copied. */
async function answer(
  worker: WorkerHandle,
  { id, ask, request }: ToHost & { type: "ask" },
  source: CallOptions["answer"],
  over: () => boolean,
): Promise<void> {
  const waiting = open.get(worker) ?? 0;
  let reply: (ToWorker & { type: "answer" })["answer"];
  open.set(worker, waiting + 1);
  try {
    if (!source) throw new ToolError(`this call may not ask its host to ${request.what}`, "permission");
    if (waiting >= MOST_QUESTIONS) throw new ToolError("too many questions to the host at a time");
    reply = { ok: true, value: await source(request) };
  } catch (error) {
    const kind = error instanceof ToolError ? error.kind : "execution";
    reply = { ok: false, failure: { kind, message: messageOf(error) } };
  } finally {
    open.set(worker, (open.get(worker) ?? 1) - 1);
  }
  if (over() || worker.dead) return;
  const body = reply.ok ? (reply.value as { body?: unknown } | null | undefined)?.body : undefined;
  worker.post(
    { type: "answer", id, ask, answer: reply },
    body instanceof Uint8Array && body.buffer instanceof ArrayBuffer ? [body.buffer] : [],
  );
}

/** Hands a change on, and lets the worker go when it was taken note of. */
async function note(
  { flag, change }: ToHost & { type: "writing" },
  { options, writable }: Job,
  waiting: Set<Int32Array>,
  over: () => boolean,
): Promise<void> {
  // A worker can say anything: what is no flag has nobody waiting behind it.
  if (!(flag instanceof SharedArrayBuffer) || flag.byteLength !== 4) return;
  const state = new Int32Array(flag);
  waiting.add(state);
  let go = false;
  try {
    if (isChange(change) && writable.some((place) => isWithin(change.path, place))) {
      await options.onWrite?.(change);
      go = !over();
    }
  } catch {
    // It is the worker that says so.
  } finally {
    waiting.delete(state);
    release(state, go ? WRITE.go : WRITE.stop);
  }
}

function isChange(change: FileChange): boolean {
  const { path, before, written, mode, missing } = change;
  return typeof path === "string" && (before === null || before instanceof Uint8Array) &&
    written instanceof Uint8Array && (mode === null || Number.isInteger(mode)) && Number.isInteger(missing);
}

function release(state: Int32Array, word: number): void {
  if (Atomics.compareExchange(state, 0, WRITE.waits, word) === WRITE.waits) Atomics.notify(state, 0);
}

const CANCELLED: SandboxResult = { ok: false, kind: "execution", message: "The call was cancelled" };

function failure(kind: ToolErrorKind, message: string): SandboxResult {
  return { ok: false, kind, message };
}

function sideOf(tool: Tool, what: Job["what"]): Side {
  if (what === "execute" && tool.access.includes("run")) return "commands";
  return tool.access.includes("read") || tool.access.includes("write") || what === "preview"
    ? "files"
    : "free";
}

async function endGroups(groups: ReadonlySet<number>): Promise<void> {
  for (const pid of groups) {
    // What confines a command leads no group; with it all that it confines ends.
    if (!await signalGroup(pid, "SIGKILL")) await signalGroup(pid, "SIGKILL", true);
  }
}

function seconds(milliseconds: number): string {
  return milliseconds < 1000 ? `${milliseconds} ms` : `${Math.round(milliseconds / 100) / 10} s`;
}
