/**
 * Runs a checked command line without any shell: the tree that shell_command.ts let through is what is executed.
 *
 * Pipelines are connected by the kernel: a reader is started first and its end of the pipe is given to the writer, so
 * that a slow reader holds up the writer and a reader that ends breaks the writer's pipe. Each program leads a process
 * group of its own; a timeout ends all of them. Jobs in the background go on after the call, as they do with `bash -c`,
 * but what would come after them in their chain is not started any more.
 *
 * @module
 */
import { ToolError } from "../errors.ts";
import type { CommandPlan, ShellTree } from "../policy/types.ts";
import type { ExecResult, Workspace } from "../tool.ts";
import { OutputBuffer } from "./_exec_buffer.ts";
import { DEFAULT_MAX_BYTES } from "./_exec_capture.ts";
import { findProgram, guardedFiles, safePath, type ShellHost } from "./_shell_host.ts";
import { TreeRun } from "./_shell_run.ts";
import { dirname, isAbsolute, isWithin, join } from "../text/path.ts";
import { type GitLook, hardenGit, isGit } from "./_shell_git.ts";
import { confineCommand } from "./confine.ts";
import {
  cleanUp,
  exec,
  type ExecSettings,
  listedProgram,
  OutputCapture,
  startProcess,
  type Stdio,
} from "./exec.ts";

/** Milliseconds between SIGTERM and SIGKILL. */
const KILL_DELAY = 400;
/** Milliseconds to wait for background jobs, and for others that hold the output, after the last command has ended. */
const GRACE = 150;
/** Milliseconds after SIGKILL until a process that cannot be ended is given up. */
const GIVE_UP = 2000;

/** What running a tree needs: what {@link exec} needs, and the guard. */
export interface ShellIo extends ExecSettings {
  /** Files, through the guard. */
  readonly workspace: Workspace;
  /** Milliseconds to wait for background jobs, and for others that hold the output, at the end. Default 150. */
  readonly grace?: number;
}

/**
 * Executes a checked command line to its end, its timeout or the abort of its signal.
 *
 * @returns exit status and output of the whole line; notes tell of parts of pipelines that failed and of jobs that go on
 * @throws {ToolError} `permission` where the plan was not let through, or the guard refuses a path: then all that runs
 * is ended
 */
export async function runTree(plan: CommandPlan, io: ShellIo): Promise<ExecResult> {
  const tree = checkedTree(plan);
  if (io.signal?.aborted) throw new ToolError("cancelled");
  const output = await openOutput(io);
  const env = { ...io.env };
  if (env.PATH !== undefined) env.PATH = safePath(env.PATH, io.workspace.root);
  const state = { logical: io.cwd, physical: io.cwd, previous: null, status: 0 };
  const run = new TreeRun(hostOf(io, output), env, state);
  try {
    const end = await supervise(run, tree, io);
    const left = await output.finish(end.forced ? 20 : io.grace ?? GRACE);
    const { text, dropped } = output.result();
    const notes = [...run.notes];
    for (const job of run.jobs) if (!job.over) notes.push(`\`${job.text}\` goes on in the background`);
    if (left === "open" && run.jobs.every((job) => job.over)) {
      notes.push(
        "a background process still holds the output; it goes on, and what it writes from now on is not shown",
      );
    }
    if (end.status === null) notes.push("a process could not be ended and may still be running");
    const signal = end.forced ? "SIGKILL" : run.lastSignal;
    return {
      code: signal === null ? end.status : null,
      signal,
      output: text,
      timedOut: end.forced === "timeout",
      droppedBytes: dropped,
      notes,
    };
  } catch (error) {
    output.discard();
    throw error;
  } finally {
    if (io.confine) await cleanUp(io.confine, io.env);
  }
}

/** The tree of a plan that was let through as a whole, with no program in it that the plan does not name. */
function checkedTree(plan: CommandPlan): ShellTree {
  const { tree } = plan;
  if (
    plan.mode !== "tree" || !tree || plan.refused || plan.segments.some(({ allowed }) => allowed !== true)
  ) {
    throw new ToolError("the command line was not let through by the allowlist", "permission");
  }
  const known = new Set(plan.programs);
  for (const { first, rest } of tree.chains) {
    for (const { commands } of [first, ...rest.map(({ pipeline }) => pipeline)]) {
      for (const { builtin, words } of commands) {
        const name = words[0];
        if (!name || name.pattern !== undefined || (!builtin && !known.has(name.text))) {
          throw new ToolError("the command line names a program that was not checked", "permission");
        }
      }
    }
  }
  return tree;
}

async function supervise(
  run: TreeRun,
  tree: ShellTree,
  io: ShellIo,
): Promise<{ status: number | null; forced: "timeout" | "abort" | null }> {
  let stop: (why: "timeout" | "abort") => void = () => {};
  const stopped = new Promise<"timeout" | "abort">((done) => stop = done);
  const timer = setTimeout(() => stop("timeout"), Math.min(io.timeout, 0x7fffffff));
  const abort = () => stop("abort");
  io.signal?.addEventListener("abort", abort);
  if (io.signal?.aborted) abort();
  const work = run.run(tree);
  work.catch(() => {});
  try {
    const first = await Promise.race([work, stopped]);
    if (typeof first === "number") {
      await within(io.grace ?? GRACE, Promise.all(run.jobs.map((job) => job.done)));
      run.stopped = true;
      return { status: first, forced: null };
    }
    await endAll(run, work);
    return { status: await within(GIVE_UP, work.catch(() => 1)), forced: first };
  } catch (error) {
    await endAll(run, Promise.resolve());
    throw error;
  } finally {
    clearTimeout(timer);
    io.signal?.removeEventListener("abort", abort);
  }
}

/** Ends all that was started, the groups of programs that have ended themselves included. */
async function endAll(run: TreeRun, work: Promise<unknown>): Promise<void> {
  run.stopped = true;
  await Promise.all([...run.live].map((child) => child.killGroup("SIGTERM")));
  const jobs = Promise.all(run.jobs.map((job) => job.done));
  await within(KILL_DELAY, Promise.all([work.catch(() => {}), jobs]));
  await Promise.all(run.started.map((child) => child.killGroup("SIGKILL")));
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

function hostOf(io: ShellIo, output: Output): ShellHost {
  return {
    ...guardedFiles(io.workspace),
    output: output.stdio,
    take: (bytes) => output.take(bytes),
    async start({ argv, cwd, env, stdio }) {
      const name = argv[0]!;
      const path = io.programs
        ? listedProgram(name, io.programs)
        : findProgram(name, { path: env.PATH ?? "", cwd, worktree: io.workspace.root });
      // A name that is not found here must not be looked for by the program that confines.
      if (path === null || (path === undefined && io.confine)) {
        throw new ToolError(`command not found: ${name}`, "not_found");
      }
      let words = [path ?? name, ...argv.slice(1)];
      if (isGit(name)) {
        const safe = await hardenGit(words, gitLook(words[0]!, cwd, env, io));
        words = [...safe.argv];
        env = { ...env, ...safe.env };
      }
      return await startProcess(io.confine ? confineCommand(words, io.confine, cwd) : words, {
        cwd,
        env,
        stdio,
        onSpawn: io.onSpawn,
        // bubblewrap makes a session of its own, and what runs inside ends with it.
        detached: io.confine?.kind !== "bwrap",
        ...(io.confine ? {} : { argv0: name }),
      });
    },
  };
}

/** Looks at a repository as git itself would from this directory. */
function gitLook(git: string, cwd: string, env: Readonly<Record<string, string>>, io: ShellIo): GitLook {
  const { workspace } = io;
  return {
    async run(words, more) {
      const { programs: _, ...settings } = io, limit = 4 << 20;
      const options = {
        ...settings,
        cwd,
        env: { ...env, ...more },
        raw: true,
        maxBytes: limit,
        keepsMounts: true,
      };
      const { code, output, droppedBytes, timedOut } = await exec([git, ...words], {
        ...options,
        timeout: 10_000,
      });
      return { code: timedOut ? null : code, output, complete: droppedBytes === 0 };
    },
    modules(directories) {
      const at = directories.reduce((path, next) => isAbsolute(next) ? next : join(path, next), cwd);
      let text = "";
      for (let directory = join(at); isWithin(directory, workspace.root); directory = dirname(directory)) {
        try {
          text += `${
            new TextDecoder().decode(
              workspace.readFile(join(directory, ".gitmodules"), { maxBytes: 1 << 20 }),
            )
          }\n`;
        } catch { /* none here */ }
        if (directory === workspace.root) break;
      }
      return text;
    },
    inside(path) {
      try {
        return isWithin(workspace.resolve(path, "list"), workspace.root);
      } catch {
        return false;
      }
    },
  };
}

/** What takes the line's output: one pipe for all, or (where this worker can make none) one for each program. */
interface Output {
  readonly stdio: Stdio;
  take(bytes: Uint8Array): void;
  finish(grace: number): Promise<"closed" | "open">;
  result(): { text: string; dropped: number };
  discard(): void;
}

async function openOutput(io: ShellIo): Promise<Output> {
  const maxBytes = io.maxBytes ?? DEFAULT_MAX_BYTES;
  if (io.captureDirectory === undefined) {
    const buffer = new OutputBuffer(maxBytes);
    return {
      stdio: "pipe",
      take: (bytes) => buffer.push(bytes),
      finish: () => Promise.resolve("closed"),
      result: () => buffer.text(),
      discard: () => {},
    };
  }
  const capture = await OutputCapture.open({ directory: io.captureDirectory, maxBytes });
  return {
    stdio: capture.fd,
    take: (bytes) => capture.write(new TextDecoder().decode(bytes)),
    finish: (grace) => capture.finish(grace),
    result: () => capture.result(),
    discard: () => capture[Symbol.dispose](),
  };
}
