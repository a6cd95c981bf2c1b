/**
 * What the file tools share: finding the file that a path means, and saying what is wrong with it.
 *
 * @module
 */
import { ToolError } from "../src/errors.ts";
import { nearest } from "../src/text/nearest.ts";
import { basename, dirname } from "../src/text/path.ts";
import type { FileStatus, Workspace } from "../src/tool.ts";

/** A file or directory that exists. */
export interface Found {
  /** The path as given, or the name that differs from it in Unicode composition alone. */
  readonly path: string;
  readonly status: FileStatus;
}

/** Files that are held in memory as a whole are not larger than this. */
export const LARGEST_FILE: number = 64 * 1024 * 1024;

// deno-lint-ignore no-control-regex
const CONTROLS = /[\x00-\x1f\x7f\u2028\u2029]/g;
const ESCAPES: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** A name or path for a line of its own: control characters are written out. */
export function shownName(name: string): string {
  return name.replace(
    CONTROLS,
    (char) => ESCAPES[char] ?? `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** What stands at a path; a name that only differs in Unicode composition (NFC, NFD) counts as the same. */
export function find(workspace: Workspace, path: string): Found | null {
  const status = workspace.status(path);
  if (status) return { path, status };
  // deno-lint-ignore no-control-regex
  if (/^[\x00-\x7f]*$/.test(path)) return null;
  const composed = basename(path).normalize("NFC");
  const same = siblings(workspace, path).filter((name) => name.normalize("NFC") === composed);
  if (same.length !== 1) return null;
  const other = `${dirname(path)}/${same[0]}`, otherStatus = workspace.status(other);
  return otherStatus && { path: other, status: otherStatus };
}

/**
 * The regular file that a path means.
 *
 * @param advice what to do instead, where the path is a directory
 * @throws {ToolError} `not_found`, naming the nearest name in the same directory; `execution` for what is no file
 */
export function findFile(workspace: Workspace, path: string, advice: string): Found {
  const found = find(workspace, path);
  if (!found) throw missing(workspace, "file", path);
  if (found.status.kind === "directory") {
    throw new ToolError(`${shownName(path)} is a directory (${advice})`);
  }
  if (found.status.kind !== "file") throw irregular(path);
  return found;
}

/** The error for what is neither a file nor a directory. */
export function irregular(path: string): ToolError {
  return new ToolError(`${shownName(path)} is not a regular file (a device, pipe or socket); name a file`);
}

/** The error for a path where there is nothing: `file not found: <path>`, and what may have been meant. */
export function missing(workspace: Workspace, what: "file" | "path", path: string): ToolError {
  const near = nearest(basename(path), siblings(workspace, path));
  const hint = near === null ? "" : ` (did you mean ${shownName(beside(path, near))}?)`;
  return new ToolError(`${what} not found: ${shownName(path)}${hint}`, "not_found");
}

function beside(path: string, name: string): string {
  const directory = dirname(path);
  return directory === "." ? name : directory === "/" ? `/${name}` : `${directory}/${name}`;
}

function siblings(workspace: Workspace, path: string): string[] {
  try {
    return workspace.readDirectory(dirname(path)).map((entry) => entry.name).sort();
  } catch {
    return [];
  }
}

/** An integer argument, or what stands for it. @throws {ToolError} where it is smaller than `least` */
export function atLeast(name: string, value: number, least: number): number {
  if (value >= least) return value;
  throw new ToolError(`${name} must be ${least} or more, got ${value}`, "invalid_arguments");
}
