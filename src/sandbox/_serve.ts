/**
 * The worker's side of the protocol: builds the context of a call and runs the handler.
 *
 * @module
 */
import { messageOf, PolyglavError, ToolError } from "../errors.ts";
import type { ExecOptions, ExecResult, FetchResponse, Tool, ToolContext, Workspace } from "../tool.ts";
import {
  type CallSetup,
  type Failure,
  type FileChange,
  type HostRequest,
  type PartResult,
  type ToHost,
  type ToWorker,
  type WorkerBirth,
  WRITE,
} from "./_protocol.ts";
import { createWorkspace } from "./guard.ts";
import { harden } from "./_harden.ts";

/** The part of a worker's global that is used; taken before any tool is loaded, so that none can put itself between. */
interface Port {
  readonly name: string;
  postMessage(message: unknown): void;
  addEventListener(type: "message", listener: (event: { data: ToWorker }) => void): void;
}

const port = globalThis as unknown as Port;
const post: (message: ToHost) => void = port.postMessage.bind(port);
const { revokeSync } = Deno.permissions;
const revoke = revokeSync.bind(Deno.permissions);

interface Call {
  readonly abort: AbortController;
  /** Waiting for the results of parts that others do, by number of the fanout. */
  readonly gathered: Map<number, (results: readonly PartResult[]) => void>;
  fanouts: number;
  /** Questions to the host that wait for their answer. */
  readonly asked: Map<number, (answer: (ToWorker & { type: "answer" })["answer"]) => void>;
  asks: number;
}

function newCall(): Call {
  return { abort: new AbortController(), gathered: new Map(), fanouts: 0, asked: new Map(), asks: 0 };
}

const calls = new Map<number, Call>();

/**
 * Gives up what the host said this worker must not have, and makes fast what later calls build on. Comes before any tool
 * is loaded.
 *
 * @throws {Error} where something that was to be given up stays
 */
export function narrow(): void {
  const birth = JSON.parse(port.name || '{"drop":[]}') as WorkerBirth;
  for (const { name, path } of birth.drop) {
    if (revoke({ name, path }).state === "granted") {
      throw new Error(`This worker could not give up ${name} access to ${path}`);
    }
  }
  announceEnd();
  harden();
}

/** Tells the host before the worker ends itself, which nobody would notice else. */
function announceEnd(): void {
  const scope = globalThis as unknown as { close(): void };
  const close = scope.close.bind(scope);
  const end = () => {
    post({ type: "closed" });
    close();
  };
  scope.close = end;
  Deno.exit = end as unknown as typeof Deno.exit;
  // What nobody caught is the call's error. Deno would print it, with our paths, before it tells the host.
  const crash = (event: Event, thrown: unknown) => {
    event.preventDefault();
    post({ type: "crashed", reason: failureOf(thrown).message });
    close();
  };
  addEventListener("error", (event) => crash(event, event.error ?? event.message));
  addEventListener("unhandledrejection", (event) => crash(event, event.reason));
}

/** Answers the host's calls with these tools. */
export function serve(tools: readonly Tool[]): void {
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  port.addEventListener("message", ({ data }) => {
    if (data.type === "abort") calls.get(data.id)?.abort.abort();
    else if (data.type === "answer") calls.get(data.id)?.asked.get(data.ask)?.(data.answer);
    else if (data.type === "gathered") calls.get(data.id)?.gathered.get(data.fanout)?.(data.results);
    else {
      const tool = byName.get(data.tool);
      if (data.type === "parts") void takeParts(data, tool);
      else void runCall(data, tool);
    }
  });
  post({ type: "ready" });
}

async function runCall(message: ToWorker & { type: "call" }, tool: Tool | undefined): Promise<void> {
  const { id } = message;
  const call = newCall();
  calls.set(id, call);
  try {
    if (!tool) throw new ToolError(`The sandbox has no tool "${message.tool}"`);
    const context = contextOf(id, tool, message.setup, call);
    const output = message.what === "preview"
      ? await tool.preview?.(message.args, context) ?? ""
      : await tool.execute(message.args, context);
    post({ type: "done", id, ok: true, output });
  } catch (error) {
    post({ type: "done", id, ok: false, failure: failureOf(error) });
  } finally {
    calls.delete(id);
  }
}

async function takeParts(message: ToWorker & { type: "parts" }, tool: Tool | undefined): Promise<void> {
  const { id } = message;
  const call = newCall();
  calls.set(id, call);
  try {
    if (tool?.part) {
      const context = contextOf(id, tool, message.setup, call);
      await work(tool, message.inputs, message.next, context, (result) => post({ type: "part", id, result }));
    }
  } finally {
    calls.delete(id);
    post({ type: "done", id, ok: true, output: null });
  }
}

/** Takes inputs that nobody has taken until there are none left, or one fails. */
async function work(
  tool: Tool,
  inputs: readonly unknown[],
  next: SharedArrayBuffer,
  context: ToolContext,
  report: (result: PartResult) => void,
): Promise<void> {
  const counter = new Int32Array(next);
  while (true) {
    const index = Atomics.add(counter, 0, 1);
    if (index >= inputs.length) return;
    try {
      report({ index, ok: true, value: await tool.part!(inputs[index], context) });
    } catch (error) {
      Atomics.store(counter, 0, inputs.length);
      report({ index, ok: false, failure: failureOf(error) });
      return;
    }
  }
}

function contextOf(id: number, tool: Tool, setup: CallSetup, call: Call): ToolContext {
  const workspace = createWorkspace(
    setup.guard,
    setup.journal ? (change) => announce(id, change) : undefined,
  );
  const context: ToolContext = {
    worktree: setup.guard.worktree,
    config: setup.config,
    signal: call.abort.signal,
    workspace,
    progress: (text) => post({ type: "progress", id, text: String(text) }),
    exec: (argv, options) =>
      programs(id, tool, setup, async (shared) => {
        const { exec } = await import("./exec.ts");
        return await exec(argv, { ...options, ...shared(options), signal: call.abort.signal });
      }, workspace),
    shell: (command, options) =>
      programs(id, tool, setup, async (shared) => {
        const settings = { ...options, ...shared(options), signal: call.abort.signal };
        return await runShell(command, setup, settings, workspace);
      }, workspace),
    fanout: (inputs) => fanout(id, tool, [...inputs], context, call),
    fetch: async (request) => await ask(id, call, { what: "fetch", request }) as FetchResponse,
    memory: {
      get: (key) => ask(id, call, { what: "recall", key }),
      set: async (key, value) => void await ask(id, call, { what: "remember", key, value }),
    },
  };
  return context;
}

/** Milliseconds that the host has to take note of a change. */
const NOTE_TIME = 20_000;

/** Tells the host what is about to be written, and stands still until it has taken note. */
function announce(id: number, change: FileChange): void {
  const flag = new SharedArrayBuffer(4);
  post({ type: "writing", id, flag, change });
  const state = new Int32Array(flag);
  Atomics.wait(state, 0, WRITE.waits, NOTE_TIME);
  if (Atomics.load(state, 0) !== WRITE.go) {
    throw new ToolError(`Nothing was written to ${change.path}: the host did not let the change through`);
  }
}

/** Asks the host, which decides whether this call may. */
function ask(id: number, call: Call, request: HostRequest): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const number = call.asks++;
    call.asked.set(number, (answer) => {
      call.asked.delete(number);
      if (answer.ok) resolve(answer.value);
      else reject(new ToolError(answer.failure.message, answer.failure.kind));
    });
    post({ type: "ask", id, ask: number, request });
  });
}

/** What every start of a program gets from the host, whatever the handler asks for. */
interface SharedSettings {
  readonly cwd: string;
  readonly env: Record<string, string>;
  readonly confine: CallSetup["confine"];
  readonly captureDirectory: string | undefined;
  readonly programs: CallSetup["guard"]["programs"];
  readonly onSpawn: (pid: number) => void;
}

async function programs(
  id: number,
  tool: Tool,
  setup: CallSetup,
  start: (shared: (options: ExecOptions) => SharedSettings) => Promise<ExecResult>,
  workspace: Workspace,
): Promise<ExecResult> {
  if (!setup.run) {
    throw new ToolError(`${tool.name} may not start programs: it does not declare it`, "permission");
  }
  const pids: number[] = [];
  try {
    return await start((options) => ({
      cwd: directoryOf(options.cwd ?? ".", workspace),
      env: { ...setup.env, ...options.env },
      confine: setup.confine,
      captureDirectory: setup.captureDirectory,
      programs: setup.guard.programs,
      onSpawn: (pid) => {
        pids.push(pid);
        post({ type: "spawned", id, pid });
      },
    }));
  } finally {
    if (pids.length > 0) post({ type: "settled", id, pids });
  }
}

function directoryOf(path: string, workspace: Workspace): string {
  const real = workspace.resolve(path, "list");
  const kind = workspace.status(real)?.kind;
  if (kind === undefined) {
    throw new ToolError(`Cannot run in ${path}: there is no such directory`, "not_found");
  }
  if (kind !== "directory") throw new ToolError(`Cannot run in ${path}: it is not a directory`);
  return real;
}

async function runShell(
  command: string,
  setup: CallSetup,
  settings: ExecOptions & SharedSettings & { signal: AbortSignal },
  workspace: Workspace,
): Promise<ExecResult> {
  const plan = setup.guard.command;
  if (!plan) throw new ToolError("This call has no command line that was checked", "permission");
  if (plan.mode === "tree") {
    const { runTree } = await import("./shell.ts");
    return await runTree(plan, { ...settings, workspace });
  }
  const { exec } = await import("./exec.ts");
  const shell = plan.programs[0];
  if (shell === undefined) throw new ToolError("No shell was found; set SHELL to one", "not_found");
  return await exec([shell, ...shellArguments(shell, command)], settings);
}

/** How a shell is told to run one command line. */
function shellArguments(shell: string, command: string): string[] {
  if (/(?:^|[\\/])cmd(?:\.exe)?$/i.test(shell)) return ["/d", "/s", "/c", command];
  if (/(?:^|[\\/])(?:powershell|pwsh)(?:\.exe)?$/i.test(shell)) {
    return ["-NoLogo", "-NoProfile", "-NonInteractive", "-Command", command];
  }
  return ["-c", command];
}

async function fanout(
  id: number,
  tool: Tool,
  inputs: readonly unknown[],
  context: ToolContext,
  call: Call,
): Promise<unknown[]> {
  if (!tool.part) throw new ToolError(`${tool.name} declares no part to fan out to`);
  const fanout = call.fanouts++, mine: PartResult[] = [];
  const next = new SharedArrayBuffer(4);
  if (inputs.length > 1) post({ type: "fanout", id, fanout, inputs, next });
  await work(tool, inputs, next, context, (result) => mine.push(result));
  const results = [...mine];
  if (mine.length < inputs.length && mine.every((result) => result.ok)) {
    const gathered = new Promise<readonly PartResult[]>((resolve) => call.gathered.set(fanout, resolve));
    post({ type: "gather", id, fanout, mine: mine.map(({ index }) => index) });
    results.push(...await gathered);
    call.gathered.delete(fanout);
  }
  const values = new Array<unknown>(inputs.length);
  let done = 0;
  for (const result of results) {
    if (!result.ok) throw new ToolError(result.failure.message, result.failure.kind);
    values[result.index] = result.value;
    done++;
  }
  if (done < inputs.length) throw new ToolError("A part of the work was not done: its worker ended");
  return values;
}

function failureOf(error: unknown): Failure {
  const kind = error instanceof ToolError
    ? error.kind
    : error instanceof Deno.errors.NotCapable
    ? "permission"
    : "execution";
  const text = messageOf(error);
  return { kind, message: error instanceof PolyglavError || text === "" ? text : `${nameOf(error)}${text}` };
}

function nameOf(error: unknown): string {
  return error instanceof Error && error.name !== "Error" ? `${error.name}: ` : "";
}
