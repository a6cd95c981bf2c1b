/**
 * The guard's own way of finding out where a path leads. It shares no code with the policy's.
 *
 * @module
 */
import { ToolError } from "../errors.ts";
import { basename, dirname, isAbsolute, join, normalize, toSlashes } from "../text/path.ts";

const MOST_LINKS = 40, LONGEST_NAME = 255, LONGEST_PATH = 4096;
const windows = Deno.build.os === "windows";
const utf8 = new TextEncoder();

/** A path for a message: on one line, and not longer than a line. */
export function shown(path: string): string {
  const text = JSON.stringify(path.length > 120 ? `${path.slice(0, 80)}…${path.slice(-30)}` : path);
  return text.replaceAll("\\\\", "\\");
}

/** Refuses texts that are no paths, or that a system reads as another file than they seem to name. */
export function checkText(path: string): void {
  const refuse = (why: string): never => {
    throw new ToolError(`Cannot use the path ${shown(String(path))}: ${why}`, "invalid_arguments");
  };
  if (typeof path !== "string") refuse("it is not text");
  if (path === "") refuse('it is empty; "." is the worktree');
  if (path.includes("\0")) refuse("it holds a NUL byte");
  if (!path.isWellFormed()) refuse("it is not valid Unicode");
  if (path.length > LONGEST_PATH) refuse(`it is longer than ${LONGEST_PATH} characters`);
  for (const name of toSlashes(path).split("/")) {
    if (name.length > LONGEST_NAME || (name.length > 80 && utf8.encode(name).length > LONGEST_NAME)) {
      refuse(`a name in it is longer than ${LONGEST_NAME} bytes`);
    }
  }
  if (windows) checkWindows(path, refuse);
}

function checkWindows(path: string, refuse: (why: string) => never): void {
  const text = toSlashes(path);
  if (/^\/\/[.?]\//.test(text) || /^\/\?\?\//.test(text)) refuse("it begins with a device prefix");
  const drive = /^[A-Za-z]:\//.test(text);
  for (const name of text.slice(drive ? 3 : 0).split("/")) {
    if (name === "." || name === "..") continue;
    if (/[:<>"|?*]/.test(name)) refuse("it holds a character that no file name has");
    if (/[. ]$/.test(name)) refuse("a name in it ends in a dot or a blank, which Windows drops");
    if (/^(con|prn|aux|nul|conin\$|conout\$|com[\d¹²³]|lpt[\d¹²³])\s*(\.|$)/i.test(name)) {
      refuse("a name in it is a device's");
    }
  }
}

/** The absolute path that a text means. `..` is resolved as text, before links are looked at. */
export function absolute(path: string, worktree: string, home: string | undefined): string {
  const text = toSlashes(path);
  if (text === "~" || text.startsWith("~/")) {
    if (home === undefined) {
      throw new ToolError(`Cannot use the path ${shown(path)}: "~" is not known here; write the whole path`);
    }
    return normalize(`${home}/${text.slice(1)}`);
  }
  if (windows && text.startsWith("/") && !text.startsWith("//")) {
    return normalize(worktree.slice(0, 2) + text);
  }
  return isAbsolute(text) ? normalize(text) : normalize(`${worktree}/${text}`);
}

/** Deno's realpath with `/` and without Windows' verbatim prefix. Throws Deno's errors. */
export function realPath(path: string): string {
  const real = Deno.realPathSync(path);
  if (!windows) return real;
  const text = toSlashes(real);
  return normalize(text.startsWith("//?/UNC/") ? `//${text.slice(8)}` : text.replace(/^\/\/\?\//, ""));
}

/**
 * Where an absolute path leads: every link on the way resolved, also those whose target does not exist; what does
 * not exist is kept as text.
 *
 * @param asked as the caller wrote it, for messages
 * @param known canonical paths that may be believed where the system does not let us look (a single file outside)
 * @throws {ToolError} kind `permission` where we may not look, `execution` for loops and what the system cannot resolve
 */
export function canonical(path: string, asked: string, known: (path: string) => boolean): string {
  return follow(path, asked, known, MOST_LINKS);
}

function follow(path: string, asked: string, known: (path: string) => boolean, left: number): string {
  if (left === 0) throw new ToolError(`Cannot resolve ${shown(asked)}: its links lead in a circle`);
  try {
    return realPath(path);
  } catch (error) {
    const missing = error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory;
    if (!missing) return refuse(error, path, asked, known);
  }
  let target: string | null = null;
  try {
    if (Deno.lstatSync(path).isSymlink) target = toSlashes(Deno.readLinkSync(path));
  } catch (error) {
    const missing = error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory;
    if (!missing) return refuse(error, path, asked, known);
  }
  const parent = dirname(path);
  if (parent === path) return path;
  if (target === null && known(path)) return path;
  const directory = follow(parent, asked, known, left);
  if (target === null) return join(directory, `./${basename(path)}`);
  return follow(isAbsolute(target) ? normalize(target) : join(directory, target), asked, known, left - 1);
}

function refuse(error: unknown, path: string, asked: string, known: (path: string) => boolean): string {
  if (error instanceof Deno.errors.NotCapable || error instanceof Deno.errors.PermissionDenied) {
    if (known(path)) return path;
    if (error instanceof Deno.errors.PermissionDenied) {
      throw new ToolError(`Cannot resolve ${shown(asked)}: the system denies access`);
    }
    throw new ToolError(`Cannot use the path ${shown(asked)}: it leads outside the worktree`, "permission");
  }
  if (error instanceof Deno.errors.FilesystemLoop) {
    throw new ToolError(`Cannot resolve ${shown(asked)}: its links lead in a circle`);
  }
  throw new ToolError(`Cannot resolve ${shown(asked)}: ${reason(error)}`);
}

/** What the system said, without the path that Deno and Node add to it. */
export function reason(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const node = /^[A-Z0-9]+: ([^,]+)/.exec(text);
  return (node?.[1] ??
    text.split(/ \(os error|: (?:open|stat|lstat|realpath|readdir|mkdir|rename|remove|readlink) '/)[0] ??
    text)
    .replace(/\s+/g, " ").slice(0, 200).toLowerCase();
}
