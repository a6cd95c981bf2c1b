/**
 * Starts programs, inside a worker of the sandbox: scrubbed environment in, one ordered output of bounded size out, and
 * nothing of the process group left when its time is over.
 *
 * @module
 */
import { ToolError } from "../errors.ts";
import { isAbsolute, isWithin, join, normalize } from "../text/path.ts";
import type { ExecOptions, ExecResult } from "../tool.ts";
import { OutputBuffer } from "./_exec_buffer.ts";
import { DEFAULT_MAX_BYTES, OutputCapture } from "./_exec_capture.ts";
import { type ExitStatus, type StartedProcess, startProcess, type Stdio } from "./_exec_process.ts";
import { signalName } from "./_exec_signal.ts";
import { confineCleanup, confineCommand, confinementFailure, type ConfineSpec } from "./confine.ts";

export { openPipe, OutputCapture, type Pipe } from "./_exec_capture.ts";
export {
  type ExitStatus,
  type StartedProcess,
  type StartOptions,
  startProcess,
  type Stdio,
} from "./_exec_process.ts";
export { signalCode, signalGroup, signalName } from "./_exec_signal.ts";
export { cleanOutput, cleanText } from "./_exec_clean.ts";

/** Milliseconds between SIGTERM and SIGKILL. */
const KILL_DELAY = 400;
/** Milliseconds to wait for others that hold the output after the main process has ended. */
const GRACE = 150;
/** Milliseconds after SIGKILL until a process that cannot be ended is given up. */
const GIVE_UP = 2000;

/** What {@link exec} needs beside the handler's wishes. */
export interface ExecSettings extends ExecOptions {
  /** Absolute path that was checked already. */
  readonly cwd: string;
  /** The child's whole environment, scrubbed. */
  readonly env: Readonly<Record<string, string>>;
  /** Ends the command within a second. */
  readonly signal?: AbortSignal;
  /** Confinement by the operating system (ring 5). */
  readonly confine?: ConfineSpec;
  /** A private folder (0700) that this worker may read and write, for the output's descriptor. */
  readonly captureDirectory?: string;
  /** Told the process group, so that the host can end it when this worker is ended. */
  readonly onSpawn?: (pid: number) => void;
  /** What the confinement's mounts leave on disk stays: others that need it run beside this. */
  readonly keepsMounts?: boolean;
  /** The only programs that may be started, by name: absolute paths, null for what is not there. Absent: found by PATH. */
  readonly programs?: Readonly<Record<string, string | null>>;
}

/**
 * Runs a program to its end, its timeout or the abort of its signal. A group that is ended gets SIGTERM and shortly
 * after SIGKILL.
 *
 * @returns what it did; an aborted command returns its output so far with the signal that ended it
 * @throws {ToolError} where it cannot be started, see {@link startProcess}
 */
export async function exec(argv: readonly string[], options: ExecSettings): Promise<ExecResult> {
  const { confine, signal } = options, maxBytes = options.maxBytes ?? DEFAULT_MAX_BYTES;
  if (signal?.aborted) throw new ToolError("cancelled");
  const found = withProgram(argv, options);
  const { words, detached } = ownSession(
    confine ? confineCommand(found, confine, options.cwd) : found,
    options,
  );
  const output = await openOutput(options.captureDirectory ?? temporary(options.env), maxBytes);
  let child: StartedProcess;
  try {
    child = await startProcess(words, {
      cwd: options.cwd,
      env: options.env,
      stdio: [options.stdin === undefined ? "null" : "pipe", output.stdio, output.stdio],
      detached,
      onSpawn: options.onSpawn,
    });
  } catch (error) {
    output.discard();
    throw error;
  }
  output.attach(child);
  if (options.stdin !== undefined) {
    child.writeStdin(new TextEncoder().encode(options.stdin)).then(() => child.closeStdin());
  }
  const end = await supervise(child, options.timeout, signal);
  const left = await output.finish(end.forced ? 20 : GRACE);
  if (confine && !options.keepsMounts) await cleanUp(confine, options.env);
  const { text, dropped } = output.result(options.raw);
  const notes: string[] = [];
  if (left === "open") {
    notes.push(
      end.forced
        ? "a process left the process group and may still be running"
        : "a background process still holds the output; it goes on, and what it writes from now on is not shown",
    );
  }
  if (end.status === null) notes.push("the process could not be ended and may still be running");
  if (confine) {
    const failure = confinementFailure(confine, found, end.status?.code ?? null, text);
    if (failure) throw failure;
  }
  const status = end.status ?? { code: null, signal: "SIGKILL" };
  const inner = confine && status.code !== null && status.code > 128 ? signalName(status.code - 128) : null;
  return {
    code: inner ? null : status.code,
    signal: inner ?? status.signal,
    output: text,
    timedOut: end.forced === "timeout",
    droppedBytes: dropped,
    notes,
  };
}

/**
 * Takes away what a confined command's mounts left on disk. To be called after each, however it ended; never throws.
 */
export async function cleanUp(confine: ConfineSpec, env: Readonly<Record<string, string>>): Promise<void> {
  const argv = confineCleanup(confine);
  if (!argv) return;
  try {
    const child = await startProcess(argv, {
      cwd: "/",
      env,
      stdio: ["null", "null", "null"],
      detached: false,
    });
    if (await within(GIVE_UP, child.exited) === null) child.kill("SIGKILL");
  } catch { /* what is left is empty, and the next command takes it away */ }
}

/**
 * How a command gets a session of its own. bubblewrap makes one, and what runs inside ends with it; else `setsid` does
 * where this call may start it; else this process forks itself for that, which takes several times as long as to
 * start a program.
 */
function ownSession(
  words: readonly string[],
  { confine, programs }: ExecSettings,
): { readonly words: readonly string[]; readonly detached: boolean } {
  if (confine?.kind === "bwrap") return { words, detached: false };
  const setsid = confine ? null : programs?.setsid;
  return typeof setsid === "string"
    ? { words: [setsid, ...words], detached: false }
    : { words, detached: true };
}

/** Waits for a process; ends its group at the timeout or the abort. `status` null: it could not be ended. */
export async function supervise(
  child: StartedProcess,
  timeout: number,
  signal?: AbortSignal,
): Promise<{ status: ExitStatus | null; forced: "timeout" | "abort" | null }> {
  let forced: "timeout" | "abort" | null = null, stop: (why: "timeout" | "abort") => void = () => {};
  const stopped = new Promise<"timeout" | "abort">((done) => stop = done);
  const timer = setTimeout(() => stop("timeout"), Math.min(timeout, 0x7fffffff));
  const abort = () => stop("abort");
  signal?.addEventListener("abort", abort);
  try {
    if (signal?.aborted) abort();
    const first = await Promise.race([child.exited, stopped]);
    if (typeof first !== "string") return { status: first, forced };
    forced = first;
    await child.killGroup("SIGTERM");
    const gone = await within(KILL_DELAY, child.exited);
    await child.killGroup("SIGKILL");
    return { status: gone ?? await within(GIVE_UP, child.exited), forced };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", abort);
  }
}

async function within<T>(milliseconds: number, promise: Promise<T>): Promise<T | null> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<null>((done) => timer = setTimeout(() => done(null), milliseconds));
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * The file of a listed program.
 *
 * @throws {ToolError} `not_found` where there is none, `permission` where the call may not start a program of this name
 */
export function listedProgram(name: string, programs: Readonly<Record<string, string | null>>): string {
  if (!Object.hasOwn(programs, name)) {
    throw new ToolError(`the sandbox does not let this call start ${name}`, "permission");
  }
  const path = programs[name];
  if (typeof path !== "string") throw new ToolError(`command not found: ${name}`, "not_found");
  return path;
}

/**
 * The command with its program as an absolute path: by the call's list; without one a name by PATH, but never a file that
 * the worktree brought along under that name (the policy searches in the same way), and a relative path from the working
 * directory. A name that is not found stays, and starting it says so.
 */
function withProgram(
  argv: readonly string[],
  { env, cwd, confine, programs }: ExecSettings,
): readonly string[] {
  const [program = "", ...args] = argv;
  if (programs) return [listedProgram(program, programs), ...args];
  if (Deno.build.os === "windows" || program === "" || isAbsolute(program)) return argv;
  if (program.includes("/")) return [join(cwd, program), ...args];
  for (const directory of (env.PATH ?? "").split(":")) {
    if (!isAbsolute(directory) || (confine && isWithin(normalize(directory), confine.worktree))) continue;
    const path = join(directory, program);
    // Where this worker may not look, the list of its programs says which of them was meant.
    if (Deno.permissions.querySync({ name: "run", command: path }).state !== "granted") continue;
    if (isProgram(path) && !(confine && isLinkInto(path, confine.worktree))) return [path, ...args];
  }
  return argv;
}

function isProgram(path: string): boolean {
  try {
    const status = Deno.statSync(path);
    return status.isFile && ((status.mode ?? 0o111) & 0o111) !== 0;
  } catch (error) {
    return error instanceof Deno.errors.NotCapable;
  }
}

function isLinkInto(path: string, worktree: string): boolean {
  try {
    return isWithin(Deno.realPathSync(path), worktree);
  } catch {
    return false;
  }
}

/** The capture, or two pipes where this worker may make nothing on disk (then the order is that of arrival). */
interface Output {
  readonly stdio: Stdio;
  attach(child: StartedProcess): void;
  finish(grace: number): Promise<"closed" | "open">;
  result(raw?: boolean): { text: string; dropped: number };
  discard(): void;
}

async function openOutput(directory: string | null, maxBytes: number): Promise<Output> {
  if (directory === null) return pipedOutput(maxBytes);
  const capture = await OutputCapture.open({ directory, maxBytes });
  return {
    stdio: capture.fd,
    attach: () => capture.closeWriter(),
    finish: (grace) => capture.finish(grace),
    result: (raw) => capture.result(raw),
    discard: () => capture[Symbol.dispose](),
  };
}

function pipedOutput(maxBytes: number): Output {
  const buffer = new OutputBuffer(maxBytes);
  let child: StartedProcess | undefined, closed: Promise<"closed"> = Promise.resolve("closed");
  return {
    stdio: "pipe",
    attach(started) {
      child = started;
      const take = (bytes: Uint8Array) => buffer.push(bytes);
      closed = Promise.all([started.readOutput(1, take), started.readOutput(2, take)]).then(() => "closed");
    },
    async finish(grace) {
      const end = await within(grace, closed);
      if (end === null) child?.closeOutput();
      return end ?? "open";
    },
    result: (raw) => buffer.text(raw),
    discard: () => {},
  };
}

/** A folder for temporary files that these permissions let us write to. */
function temporary(env: Readonly<Record<string, string>>): string | null {
  for (const path of [env.TMPDIR, env.TEMP, Deno.build.os === "windows" ? undefined : "/tmp"]) {
    if (!path || !isAbsolute(path)) continue;
    const granted = (["read", "write"] as const).every((name) =>
      Deno.permissions.querySync({ name, path }).state === "granted"
    );
    if (granted) return path;
  }
  return null;
}
