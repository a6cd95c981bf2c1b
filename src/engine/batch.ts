/**
 * The calls of one reply: announced in the session, run through the dispatcher, answered in the order of request.
 * Calls that may run beside each other do; writes and commands run alone.
 *
 * @module
 */
import { messageOf } from "../errors.ts";
import { isJsonObject, MAX_DEPTH, nestsTooDeep } from "../llm/messages.ts";
import type { CallIo, CallResult } from "../registry/dispatch.ts";
import type { ToolCall } from "../provider/provider.ts";
import type { Tool } from "../tool.ts";
import type { SessionWriter } from "../session/turns.ts";
import type { UiSink } from "../ui/sink.ts";

/** Calls of one reply that are run; the others are answered with an error. */
export const MAX_CALLS = 128;
/** Parallel calls that run at the same time. */
const WIDTH = 8;
/** How long a cancelled call may take to come back, in milliseconds. */
const GRACE = 2000;

/** What the engine needs of a dispatcher. */
export interface DispatcherPort {
  call(name: string, raw: unknown, io: CallIo): Promise<CallResult>;
  /**
   * Whether a call may run beside others that may, and how many of its tool at a time (null: no limit of its own).
   * Without it the tool's fixed metadata counts.
   */
  beside?(name: string, raw: unknown): { readonly parallel: boolean; readonly limit: number | null };
}

/** What the engine needs to know about tools. */
export interface ToolLookup {
  get(nameOrAlias: string): CallResult["tool"];
}

/** The parts that a batch works with. */
export interface BatchContext {
  readonly dispatcher: DispatcherPort;
  readonly registry: ToolLookup;
  readonly session: SessionWriter;
  readonly sink: UiSink;
  readonly signal: AbortSignal;
  /** Ends the whole turn: a prompt was answered with "cancel". */
  readonly cancel: () => void;
  /** Why no further call is to run (control was handed over), or null. */
  readonly halted?: () => string | null;
  readonly round: number;
  /** The arguments that a call runs with; null: those that the model wrote. */
  readonly refine?: ((tool: CallResult["tool"], raw: string) => Promise<string>) | null;
  /** One line about an ok result for the log, or null. */
  readonly analyse: ((call: CallResult) => Promise<string | null>) | null;
}

/** One answered call. */
export interface Answer {
  /** As called, with an id that is unique in the conversation. */
  readonly call: ToolCall;
  readonly result: CallResult;
  /** The arguments as the model meant them. */
  readonly input: Record<string, unknown>;
  /** The arguments for the history: valid JSON of an object whatever the model wrote. */
  readonly arguments: string;
}

/**
 * Runs a batch.
 *
 * @param calls the calls, ids unique
 * @param cut the reply hit the token limit: a call with incomplete arguments is answered, not run
 * @returns an answer for every call, in order
 */
export async function runBatch(
  calls: readonly ToolCall[],
  cut: boolean,
  context: BatchContext,
): Promise<Answer[]> {
  const jobs = calls.map((call, i) => new Job(call, refusal(call, i, calls.length, cut), context));
  const serial = new Serial();
  for (let i = 0; i < jobs.length;) {
    let end = i + 1;
    if (jobs[i]!.parallel) { while (end < jobs.length && jobs[end]!.parallel) end++; }
    await runGroup(jobs.slice(i, end), serial);
    i = end;
  }
  return jobs.map((job) => job.answer!);
}

async function runGroup(jobs: readonly Job[], serial: Serial): Promise<void> {
  let shown = 0;
  const show = () => {
    while (shown < jobs.length && jobs[shown]!.answer) jobs[shown++]!.show();
  };
  // Tools with a limit of their own have a queue of their own.
  const queues = new Map<string, Job[]>();
  for (const job of jobs) {
    const queue = queues.get(job.queue);
    if (queue) queue.push(job);
    else queues.set(job.queue, [job]);
  }
  const work = async (queue: Job[]) => {
    for (let job = queue.shift(); job; job = queue.shift()) {
      await job.run(serial);
      show();
    }
  };
  await Promise.all(
    [...queues.values()].flatMap((queue) =>
      Array.from({ length: Math.min(queue[0]!.width, queue.length) }, () => work(queue))
    ),
  );
}

/** Why a call is answered without being run, or null. */
function refusal(call: ToolCall, index: number, total: number, cut: boolean): string | null {
  if (cut && !isJsonObject(call.arguments)) {
    return "Error: the reply hit the token limit inside this call, so it was not run. Send it again, smaller: write long content in several parts.";
  }
  if (index >= MAX_CALLS) {
    return `Error: not run: one reply asked for ${total} calls and ${MAX_CALLS} is the most; send the rest in the next reply.`;
  }
  if (nestsTooDeep(call.arguments)) {
    return `Error: the arguments nest deeper than ${MAX_DEPTH} levels; send them flatter.`;
  }
  return null;
}

/** Prompts of parallel calls, one after another. */
class Serial {
  #tail: Promise<unknown> = Promise.resolve();

  run<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#tail.then(work);
    this.#tail = result.catch(() => {});
    return result;
  }
}

class Job {
  readonly parallel: boolean;
  /** Calls of the same queue share one width. */
  readonly queue: string;
  /** How many of the queue run at the same time. */
  readonly width: number;
  answer: Answer | null = null;
  readonly #call: ToolCall;
  readonly #name: string;
  readonly #refusal: string | null;
  readonly #context: BatchContext;
  #announced = false;
  #over = false;

  constructor(call: ToolCall, refusal: string | null, context: BatchContext) {
    this.#call = call;
    this.#name = call.name.toWellFormed().slice(0, 200).toWellFormed();
    this.#refusal = refusal;
    this.#context = context;
    const tool = context.registry.get(call.name);
    const free = refusal !== null || tool === null;
    const { parallel, limit } = free ? { parallel: true, limit: null } : besideOf(tool, call, context);
    this.parallel = parallel;
    this.queue = limit === null || tool === null ? "" : tool.name;
    this.width = limit ?? WIDTH;
  }

  async run(serial: Serial): Promise<void> {
    const { session, signal, round } = this.#context;
    const started = performance.now();
    let result: CallResult;
    try {
      session.toolStart({ id: this.#call.id, tool: this.#name, input: this.#input(), round });
      const halted = this.#context.halted?.() ?? null;
      if (this.#refusal !== null) result = this.#answered(this.#refusal);
      else if (halted !== null) result = this.#answered(`Error: not run: ${halted}`);
      else if (signal.aborted) result = this.#answered("Error: cancelled before it ran", true);
      else result = await this.#dispatch(serial, started);
    } catch (error) {
      // Not even the announcement could be written: the call must not run.
      result = this.#answered(`Error: not run: ${messageOf(error)}`);
    }
    this.#over = true;
    if (result.cancelled) this.#context.cancel();
    await this.#record(result);
    const input = isJsonObject(this.#call.arguments) ? this.#input() : { ...result.args };
    this.answer = { call: this.#call, result, input, arguments: this.#history(result) };
  }

  /** Tells the user interface what came of the call. */
  show(): void {
    const { result } = this.answer!;
    this.#announce(result.tool, result.args);
    const { tool, name, args, content, isError, isNote, details, decision, outcome, duration } = result;
    this.#context.sink.emit({
      type: "tool_end",
      id: this.#call.id,
      tool,
      name,
      args,
      content,
      isError,
      isNote,
      details,
      decision,
      outcome,
      duration,
    });
  }

  async #dispatch(serial: Serial, started: number): Promise<CallResult> {
    const { dispatcher, registry, session, sink, signal, cancel, refine } = this.#context;
    const { arguments: raw } = this.#call, tool = registry.get(this.#call.name);
    const args = refine ? await refine(tool, raw) : raw;
    const call = dispatcher.call(this.#call.name, args, {
      signal,
      confirm: (request) =>
        serial.run(async () => {
          if (signal.aborted || this.#over) return "cancel";
          const answer = await sink.confirm(request);
          // At once, so that no further prompt opens.
          if (answer === "cancel") cancel();
          return answer;
        }),
      onStart: (tool, args) => this.#announce(tool, args),
      onDecision: (entry) => {
        if (!this.#over) session.permission(entry);
      },
      onProgress: (text) => {
        if (!this.#over) sink.emit({ type: "tool_progress", id: this.#call.id, text });
      },
    });
    const grace = afterAbort(signal, GRACE);
    try {
      const result = await Promise.race([call, grace.passed]);
      if (result) return result;
      call.catch(() => {});
      return { ...this.#answered("Error: cancelled", true), duration: performance.now() - started };
    } finally {
      grace.stop();
    }
  }

  async #record(result: CallResult): Promise<void> {
    const { session, sink, analyse } = this.#context;
    const analysis = analyse && !result.isError ? await analyse(result) : null;
    try {
      session.toolEnd({
        id: this.#call.id,
        output: result.content,
        is_error: result.isError,
        ...(analysis === null ? {} : { analysis }),
      });
    } catch (error) {
      sink.emit({ type: "warning", message: `the session could not be written: ${messageOf(error)}` });
    }
  }

  #announce(tool: CallResult["tool"], args: Readonly<Record<string, unknown>>): void {
    if (this.#announced) return;
    this.#announced = true;
    const name = tool?.name ?? this.#name;
    this.#context.sink.emit({ type: "tool_start", id: this.#call.id, tool, name, args });
  }

  /** The arguments as the model wrote them, where they are an object. */
  #input(): Record<string, unknown> {
    if (nestsTooDeep(this.#call.arguments)) return {};
    try {
      const value: unknown = JSON.parse(this.#call.arguments);
      if (typeof value === "object" && value !== null && !Array.isArray(value)) {
        return value as Record<string, unknown>;
      }
    } catch { /* broken: the result says so */ }
    return {};
  }

  #history(result: CallResult): string {
    const text = this.#call.arguments;
    if (nestsTooDeep(text)) return "{}";
    if (isJsonObject(text)) return text;
    if (result.brokenArguments || result.isError) return "{}";
    return JSON.stringify(result.args);
  }

  #answered(content: string, cancelled = false): CallResult {
    const tool = this.#context.registry.get(this.#call.name);
    return {
      tool,
      name: tool?.name ?? this.#name,
      args: this.#input(),
      content,
      isError: true,
      failed: true,
      isNote: false,
      brokenArguments: false,
      details: null,
      decision: null,
      outcome: "none",
      cancelled,
      duration: 0,
    };
  }
}

/** Whether a call may run beside others. */
function besideOf(
  tool: Tool,
  call: ToolCall,
  { dispatcher }: BatchContext,
): { readonly parallel: boolean; readonly limit: number | null } {
  if (dispatcher.beside) return dispatcher.beside(call.name, call.arguments);
  const changes = tool.access.some((access) => access === "write" || access === "run");
  return { parallel: typeof tool.parallel === "boolean" ? tool.parallel : !changes, limit: null };
}

/** Resolves to null some time after the abort, so that a call that does not heed it cannot hold the turn. */
function afterAbort(signal: AbortSignal, ms: number): { passed: Promise<null>; stop: () => void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let onAbort = () => {};
  const passed = new Promise<null>((resolve) => {
    onAbort = () => timer = setTimeout(() => resolve(null), ms);
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
  });
  return {
    passed,
    stop: () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
    },
  };
}
