/**
 * What tools that start programs have in common: limits, the working directory, and the shape of the result.
 *
 * @module
 */
import { ToolError } from "../src/errors.ts";
import { type ExecResult, type ToolResult, toolResult, type Workspace } from "../src/tool.ts";

/** What makes the pipe for a command's output, and what ends its process group (on Windows the latter alone). */
export const HELPERS: readonly string[] = ["mkfifo", "kill", "taskkill"];

/** Bytes of output kept where results are not capped. */
const UNCAPPED = 16 << 20;

/** Seconds within 1..600 as milliseconds. */
export function milliseconds(seconds: number): number {
  if (!(seconds >= 1 && seconds <= 600)) {
    throw new ToolError(
      `timeout must be 1 to 600 seconds, got ${seconds}; for longer work start it in the background`,
      "invalid_arguments",
    );
  }
  return seconds * 1000;
}

/**
 * The working directory as `exec` takes it.
 *
 * @throws {ToolError} where there is no such directory
 */
export function workingDirectory(workspace: Workspace, cwd: string | undefined): string {
  if (cwd === undefined || cwd === "") return ".";
  const status = workspace.status(cwd);
  if (!status) throw new ToolError(`cwd not found: ${cwd}`, "not_found");
  if (status.kind !== "directory") throw new ToolError(`cwd is not a directory: ${cwd}`, "invalid_arguments");
  return cwd;
}

/**
 * Most bytes of output to keep, so that the result stays below the cap as a whole.
 *
 * @param cap `tool_max_result_chars`; 0 = unlimited
 * @param head what stands above the output
 */
export function outputBytes(cap: unknown, head: string): number {
  const max = Number(cap ?? 0);
  return max > 0 ? Math.max(400, max - head.length - 200) : UNCAPPED;
}

/** `$ <command>` and, only when one was given, `[cwd: <cwd>]`. */
export function headOf(command: string, cwd: string | undefined): string {
  return cwd === undefined || cwd === "" ? `$ ${command}` : `$ ${command}\n[cwd: ${cwd}]`;
}

/** `exit 3`, or `exit 137 (SIGKILL)` where a signal ended it. */
export function exitLine(result: Pick<ExecResult, "code" | "signal">): string {
  if (result.signal === null) return `exit ${result.code}`;
  const number = SIGNALS[result.signal];
  return number === undefined ? `killed by ${result.signal}` : `exit ${128 + number} (${result.signal})`;
}

const SIGNALS: Readonly<Record<string, number>> = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGQUIT: 3,
  SIGILL: 4,
  SIGTRAP: 5,
  SIGABRT: 6,
  SIGBUS: 7,
  SIGFPE: 8,
  SIGKILL: 9,
  SIGSEGV: 11,
  SIGPIPE: 13,
  SIGALRM: 14,
  SIGTERM: 15,
};

/** What {@link commandResult} puts together. */
export interface CommandReport {
  /** As the person should see it. */
  readonly command: string;
  readonly cwd?: string;
  /** Lines between the head and `exit`. */
  readonly why?: readonly string[];
  /** Lines after `exit`. */
  readonly after?: readonly string[];
  readonly result: ExecResult;
  /** Seconds, for the message. */
  readonly timeout: number;
  /** What timed out, for the message: `command`, `git command`. */
  readonly what?: string;
}

/** The result of a command: head, exit line, output, notes; an `Error:` with the output so far where time ran out. */
export function commandResult(report: CommandReport): ToolResult {
  const { result, timeout } = report;
  const output = result.output.replace(/\n+$/, "");
  const notes = result.notes.map((note) => `(${note})`);
  const failed = result.timedOut || result.signal !== null || result.code !== 0;
  const details = {
    exitCode: result.code,
    signal: result.signal,
    failed,
    timedOut: result.timedOut,
    droppedBytes: result.droppedBytes,
  };
  const body = [...(output === "" ? [] : [output]), ...notes];
  if (result.timedOut) {
    const error = `Error: ${report.what ?? "command"} timed out after ${timeout}s`;
    return toolResult([error, ...body].join("\n"), details);
  }
  const head = [headOf(report.command, report.cwd), ...(report.why ?? []), exitLine(result)];
  return toolResult([...head, ...(report.after ?? []), ...body].join("\n"), details);
}
