/**
 * What the executor of a checked command line touches: files through the guard, programs through exec.ts. Tests put
 * recorders in its place.
 *
 * @module
 */
import fs from "node:fs";
import { ToolError } from "../errors.ts";
import { dirname, isAbsolute, isWithin, normalize, toSlashes } from "../text/path.ts";
import type { DirectoryEntry, FileStatus, Workspace } from "../tool.ts";
import { openChecked } from "./_open.ts";
import type { StartedProcess, Stdio } from "./_exec_process.ts";

/** An open file that a command gets. */
export interface OpenFile {
  readonly fd: number;
  close(): void;
}

/** How a program of a command line is started. */
export interface ProgramStart {
  /** The command's words; the first is its name as written. */
  readonly argv: readonly string[];
  /** Absolute canonical path. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdio: readonly [Stdio, Stdio, Stdio];
}

/** What the executor needs. All paths are absolute; all methods throw `ToolError` where the guard refuses. */
export interface ShellHost {
  /** Starts a program; throws `ToolError` of kind `not_found` where there is none by this name. */
  start(program: ProgramStart): Promise<StartedProcess>;
  /** The descriptor for standard output and error; `pipe`: read them with {@link take}. */
  readonly output: Stdio;
  /** Takes what was written to the output by an own command, or by a program whose output is a `pipe`. */
  take(bytes: Uint8Array): void;
  open(path: string, mode: "read" | "write" | "append"): OpenFile;
  /** Writes all of the bytes. */
  write(file: OpenFile, bytes: Uint8Array): void;
  /** Canonical path. */
  resolve(path: string, access: "list" | "write"): string;
  status(path: string): FileStatus | null;
  list(path: string): readonly DirectoryEntry[];
}

/** The file half of a host, over a workspace. */
export function guardedFiles(
  workspace: Workspace,
): Pick<ShellHost, "open" | "write" | "resolve" | "status" | "list"> {
  // What is replaced is lost as if it were shown: a rule against reading holds, as it does for file_write.
  const resolve = (path: string, access: "list" | "read" | "write") => {
    const real = workspace.resolve(path, access);
    const rule = access === "write" ? workspace.withheld(real) : null;
    if (rule !== null) {
      throw new ToolError(
        `${path} may not be replaced: the rule for ${rule} is against reading it`,
        "permission",
      );
    }
    return real;
  };
  return {
    open(path, mode) {
      const real = resolve(path, mode === "read" ? "read" : "write");
      const file = openFile(real, mode, workspace.status(real) !== null);
      return { fd: file.descriptor, close: () => file.close() };
    },
    write(file, bytes) {
      for (let done = 0; done < bytes.length;) done += fs.writeSync(file.fd, bytes, done);
    },
    resolve,
    status: (path) => workspace.status(path),
    list: (path) => workspace.readDirectory(path),
  };
}

function openFile(real: string, mode: "read" | "write" | "append", exists: boolean) {
  if (mode === "read") return openChecked(real, "read");
  if (!exists) {
    try {
      const created = openChecked(real, "create");
      if (mode === "write") return created;
      created.close();
    } catch (error) {
      // Made by somebody else in between: taken as it is.
      if (!/EEXIST|exists/i.test(String((error as Error).message))) throw error;
    }
  }
  const file = openChecked(real, mode);
  if (mode === "write") fs.ftruncateSync(file.descriptor, 0);
  return file;
}

/** PATH without entries that a repository could fill: relative ones and those in the worktree. */
export function safePath(path: string, worktree: string): string {
  const separator = Deno.build.os === "windows" ? ";" : ":";
  return path.split(separator).filter((entry) => isAbsolute(entry) && !isWithin(normalize(entry), worktree))
    .join(separator);
}

/**
 * The file of a program, where this worker can tell: by what it may see, or by what it may start. Never one that the
 * worktree brought along, be it by an entry of PATH or by a link.
 *
 * @returns an absolute path; null where there is none; undefined where only starting it will show
 */
export function findProgram(
  name: string,
  place: { readonly path: string; readonly cwd: string; readonly worktree: string },
): string | null | undefined {
  if (name.includes("/")) return isAbsolute(name) ? name : `${place.cwd}/${name}`;
  if (Deno.build.os === "windows") return undefined;
  let unknown = false;
  for (const directory of place.path.split(":")) {
    if (!isAbsolute(directory) || isWithin(normalize(directory), place.worktree)) continue;
    const path = `${directory.replace(/\/+$/, "")}/${name}`;
    try {
      const info = Deno.statSync(path);
      const program = info.isFile && ((info.mode ?? 0o111) & 0o111) !== 0;
      if (program && !isWithin(toSlashes(Deno.realPathSync(path)), place.worktree)) return path;
    } catch (error) {
      if (!(error instanceof Deno.errors.NotCapable)) continue;
      unknown = true;
      if (Deno.permissions.querySync({ name: "run", command: path }).state === "granted") return path;
    }
  }
  return unknown ? undefined : null;
}

/** What bash says of an error at a file. */
export function fileMessage(error: unknown): string {
  const { kind, message } = error as ToolError;
  if (kind === "not_found") return "No such file or directory";
  if (/not a directory/.test(message)) return "Not a directory";
  if (/director|not a regular file/.test(message)) return "Is a directory";
  if (/denies access/.test(message)) return "Permission denied";
  return message;
}

/** Whether the guard refused, which ends the whole command line. */
export function isRefusal(error: unknown): boolean {
  return error instanceof ToolError && error.kind === "permission" &&
    !/permission denied/i.test(error.message);
}

/** Whether a path is a link, by its parent's listing. */
export function isLink(path: string, host: Pick<ShellHost, "list">): boolean {
  const name = path.replace(/\/+$/, "").split("/").at(-1);
  if (path.endsWith("/") || name === undefined) return false;
  return host.list(dirname(path)).some((entry) => entry.name === name && entry.kind === "symlink");
}
