/**
 * One process: started without a shell, signalled with its group.
 *
 * @module
 */
import { spawn } from "node:child_process";
import { messageOf, ToolError } from "../errors.ts";
import { isAbsolute } from "../text/path.ts";
import { signalGroup } from "./_exec_signal.ts";

/** Where a standard descriptor of a child leads: an open descriptor, nothing, or a pipe to this process. */
export type Stdio = number | "null" | "pipe";

/** How {@link startProcess} starts. */
export interface StartOptions {
  /** Absolute path that was checked already. */
  readonly cwd: string;
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Standard input, output and error. */
  readonly stdio: readonly [Stdio, Stdio, Stdio];
  /** Leads a process group and session of its own from the start (default true); otherwise it may make one itself. */
  readonly detached?: boolean;
  /** Told the process group, so that the host can end it when this worker is ended. */
  readonly onSpawn?: (pid: number) => void;
  /** The name that the program sees itself by; default: its path. */
  readonly argv0?: string;
}

/** How a process ended. */
export interface ExitStatus {
  /** Exit code; null when a signal ended it. */
  readonly code: number | null;
  /** The signal's name, or null. */
  readonly signal: string | null;
}

/** A process that runs. */
export interface StartedProcess {
  /** Process id, and that of its group where it leads one. */
  readonly pid: number;
  /** Settles when the process itself has ended; never rejects. */
  readonly exited: Promise<ExitStatus>;
  /** Descriptor of this side of the pipe to its standard input, or -1; children may get it as their output. */
  readonly stdinFd: number;
  /** Writes to its standard input (`stdio[0]` is `pipe`); resolves when it may take more, or has closed it. */
  writeStdin(bytes: Uint8Array): Promise<void>;
  /** Ends its standard input. */
  closeStdin(): void;
  /** Calls back for each piece of a `pipe`d output; the promise settles at its end. */
  readOutput(which: 1 | 2, take: (bytes: Uint8Array) => void): Promise<void>;
  /**
   * Copies a `pipe`d output to another process's `pipe`d input, no faster than that one reads. For systems on which a
   * child cannot be given {@link StartedProcess.stdinFd}. Its end is the other's end, unless `last` is false.
   */
  pipeOutput(which: 1 | 2, to: StartedProcess, last?: boolean): void;
  /** Stops reading `pipe`d outputs. */
  closeOutput(): void;
  /** Signals the process alone. */
  kill(signal: "SIGTERM" | "SIGKILL" | "SIGINT"): void;
  /** Signals the process and its whole group. */
  killGroup(signal: "SIGTERM" | "SIGKILL" | "SIGINT"): Promise<void>;
}

/**
 * Starts one program without a shell.
 *
 * @throws {ToolError} `not_found` where there is no such program (`command not found: <argv0>`), `permission` where it
 * may not be started, `execution` for the rest (no such working directory, argument list too long)
 */
export async function startProcess(argv: readonly string[], options: StartOptions): Promise<StartedProcess> {
  const [program, ...args] = argv;
  if (program === undefined || program === "") throw new ToolError("no program to run", "invalid_arguments");
  if (argv.some((word) => word.includes("\0"))) {
    throw new ToolError(
      "an argument holds a NUL character; no program can be given one",
      "invalid_arguments",
    );
  }
  const stdio = options.stdio.map((each) => each === "null" ? "ignore" as const : each);
  const detached = options.detached ?? true;
  let child: ReturnType<typeof spawn>;
  try {
    child = spawn(program, args, {
      cwd: options.cwd,
      env: { ...options.env } as Record<string, string>,
      stdio,
      detached,
      windowsHide: true,
      ...(options.argv0 === undefined ? {} : { argv0: options.argv0 }),
    });
  } catch (error) {
    throw startError(program, options.cwd, error);
  }
  const exited = new Promise<ExitStatus>((settle) => {
    child.once(
      "exit",
      (code: number | null, signal: string | null) => settle({ code: signal ? null : code, signal }),
    );
  });
  const failed = new Promise<never>((_, reject) => {
    child.on("error", (error: Error) => reject(startError(program, options.cwd, error)));
  });
  failed.catch(() => {});
  const pid = child.pid;
  if (pid === undefined) return await failed;
  options.onSpawn?.(pid);
  return new Started(child, pid, exited);
}

class Started implements StartedProcess {
  readonly #child: ReturnType<typeof spawn>;
  #over = false;

  constructor(
    child: ReturnType<typeof spawn>,
    readonly pid: number,
    readonly exited: Promise<ExitStatus>,
  ) {
    this.#child = child;
    // A process that does not read its input breaks the pipe: no error of ours.
    child.stdin?.on("error", () => {});
    child.stdout?.on("error", () => {});
    child.stderr?.on("error", () => {});
    exited.then(() => this.#over = true);
  }

  get stdinFd(): number {
    const handle = (this.#child.stdin as unknown as { _handle?: { fd?: number } } | null)?._handle;
    return typeof handle?.fd === "number" ? handle.fd : -1;
  }

  writeStdin(bytes: Uint8Array): Promise<void> {
    const stdin = this.#child.stdin;
    if (!stdin || stdin.destroyed) return Promise.resolve();
    return new Promise((done) => stdin.write(bytes, () => done()));
  }

  closeStdin(): void {
    this.#child.stdin?.end();
  }

  readOutput(which: 1 | 2, take: (bytes: Uint8Array) => void): Promise<void> {
    const stream = which === 1 ? this.#child.stdout : this.#child.stderr;
    if (!stream) return Promise.resolve();
    stream.on("data", take);
    return new Promise((done) => stream.once("close", () => done()));
  }

  pipeOutput(which: 1 | 2, to: StartedProcess, last = true): void {
    const stream = which === 1 ? this.#child.stdout : this.#child.stderr;
    const target = to instanceof Started ? to.#child.stdin : null;
    if (!stream || !target || target.destroyed) return void stream?.destroy();
    target.on("close", () => stream.destroy());
    stream.pipe(target, { end: last });
  }

  closeOutput(): void {
    this.#child.stdout?.destroy();
    this.#child.stderr?.destroy();
  }

  kill(signal: "SIGTERM" | "SIGKILL" | "SIGINT"): void {
    if (this.#over) return;
    try {
      this.#child.kill(signal);
    } catch { /* gone */ }
  }

  async killGroup(signal: "SIGTERM" | "SIGKILL" | "SIGINT"): Promise<void> {
    const group = signalGroup(this.pid, signal);
    this.kill(signal);
    await group;
  }
}

function startError(program: string, cwd: string, error: unknown): ToolError {
  const code = (error as { code?: string }).code, message = messageOf(error);
  if (code === "ENOENT" && isGone(cwd)) return new ToolError(`cwd not found: ${cwd}`, "not_found");
  if (code === "ENOENT") return new ToolError(`command not found: ${program}`, "not_found", { cause: error });
  if (code === "EACCES") return new ToolError(`cannot run ${program}: permission denied`, "permission");
  if (code === "E2BIG") return new ToolError(`cannot run ${program}: the argument list is too long`);
  if (error instanceof Deno.errors.NotCapable || /run access|NotCapable|--allow-run/.test(message)) {
    // A name that PATH does not lead to is not among the programs that this worker may start.
    if (!isAbsolute(program)) {
      return new ToolError(`command not found: ${program}`, "not_found", { cause: error });
    }
    return new ToolError(`the sandbox does not let this call start ${program}`, "permission", {
      cause: error,
    });
  }
  return new ToolError(`cannot run ${program}: ${message}`, "execution", { cause: error });
}

/** Whether a directory is known not to be there; where this worker may not look, it is taken to be. */
function isGone(directory: string): boolean {
  try {
    return !Deno.statSync(directory).isDirectory;
  } catch (error) {
    return error instanceof Deno.errors.NotFound;
  }
}
