/**
 * Where a path really leads: canonical paths, by realpath of the deepest existing ancestor and the rest, with every
 * link on the way followed, also one whose target does not exist yet.
 *
 * `..` is resolved as text before links are looked at, as Deno's own file calls do.
 *
 * @module
 */
import { basename, dirname, isAbsolute, isWithin, join, normalize, rootOf, toSlashes } from "../text/path.ts";
import { isShare, windowsProblem } from "./_windows.ts";

const LONGEST_PATH = 4096, LONGEST_NAME = 255, MOST_LINKS = 40;
const windows = Deno.build.os === "windows";

/** The two file system calls that canonicalisation needs; both throw Deno's errors. */
export interface LinkReader {
  /** The path with every link resolved; throws `NotFound` where there is nothing. */
  readonly realPath: (path: string) => string;
  /** The text of a link; throws for anything else. */
  readonly readLink: (path: string) => string;
}

/** What paths are resolved against. */
export interface PathBase extends LinkReader {
  /** Absolute canonical path of the worktree. */
  readonly worktree: string;
  /** Absolute path that `~` stands for. */
  readonly home: string;
}

/** Where a path leads. */
export interface Location {
  /** Absolute canonical path with `/`. */
  readonly path: string;
  /** The absolute path as written, `.`, `..` and `~` resolved, links not. */
  readonly spelled: string;
  /** Below the worktree, or the worktree itself. False where that could not be found out. */
  readonly inside: boolean;
  /** Why the path could not be looked at, where it counts as outside for that reason; else null. */
  readonly unseen: string | null;
}

/** A path that must not be used at all; why. */
export interface PathProblem {
  readonly problem: string;
}

/** Deno's own calls. */
export const systemLinks: LinkReader = {
  realPath: (path) => Deno.realPathSync(path),
  readLink: (path) => Deno.readLinkSync(path),
};

/**
 * Why a path's text is refused before anything is looked at, or null: not a text, empty, a NUL byte, broken Unicode,
 * too long, or (on Windows) something that names another file than it seems to.
 */
export function textProblem(path: unknown): string | null {
  if (typeof path !== "string") return "a path must be text";
  if (path === "") return "the path is empty";
  if (path.includes("\0")) return "the path holds a NUL byte";
  if (!path.isWellFormed()) return "the path is not valid Unicode";
  if (path.length > LONGEST_PATH) return `the path is longer than ${LONGEST_PATH} characters`;
  const encoder = new TextEncoder();
  for (const part of toSlashes(path).split("/")) {
    if (
      part.length > LONGEST_NAME ||
      (part.length * 3 > LONGEST_NAME && encoder.encode(part).length > LONGEST_NAME)
    ) {
      return `a name in the path is longer than ${LONGEST_NAME} bytes`;
    }
  }
  return windows ? windowsProblem(path) : null;
}

/** The absolute path that a text means: `~` is the home, everything else resolves against the worktree. */
export function absolutePath(
  path: string,
  base: { readonly worktree: string; readonly home: string },
): string {
  const p = toSlashes(path);
  if (p === "~") return normalize(base.home);
  if (p.startsWith("~/")) return join(base.home, `./${p.slice(2)}`);
  if (windows && rootOf(p) === "/") return normalize(rootOf(base.worktree).replace(/\/$/, "") + p);
  return isAbsolute(p) ? normalize(p) : join(base.worktree, p);
}

/**
 * Finds where a path leads. Never throws: what cannot be looked at (no permission, not in the process's ceiling)
 * counts as outside; what must not be used (see {@link textProblem}, links in a circle) is a {@link PathProblem}.
 *
 * @param path as the caller wrote it
 */
export function locate(path: unknown, base: PathBase): Location | PathProblem {
  const problem = textProblem(path);
  if (problem !== null) return { problem };
  const spelled = absolutePath(path as string, base);
  if (windows && isShare(spelled) && !isWithin(spelled, base.worktree)) {
    return { path: spelled, spelled, inside: false, unseen: "it lies on a network share" };
  }
  const found = follow(spelled, base, MOST_LINKS);
  if ("problem" in found) return found;
  const inside = found.unseen === null && isWithin(found.path, base.worktree);
  return { path: found.path, spelled, inside, unseen: found.unseen };
}

type Found = { readonly path: string; readonly unseen: string | null } | PathProblem;

function follow(path: string, links: LinkReader, left: number): Found {
  if (left === 0) return { problem: "its links lead in a circle" };
  let ancestor = path, rest: string[] = [];
  while (true) {
    const real = attempt(() => clean(links.realPath(ancestor)));
    if (real.ok) {
      return rest.length === 0 ? { path: real.value, unseen: null } : below(real.value, rest, links, left);
    }
    if (real.why === "circle") return { problem: "its links lead in a circle" };
    if (real.why === "other") return { problem: `it cannot be resolved (${real.message})` };
    if (real.why === "hidden") return { path, unseen: "it cannot be looked at" };
    if (dirname(ancestor) === ancestor) return { path, unseen: null };
    rest = [basename(ancestor), ...rest];
    ancestor = dirname(ancestor);
  }
}

/** `directory` is real and `rest[0]` is not there: a link to nowhere, or nothing. */
function below(directory: string, rest: readonly string[], links: LinkReader, left: number): Found {
  const first = join(directory, `./${rest[0]}`);
  const target = attempt(() => toSlashes(links.readLink(first)));
  if (target.ok) {
    const to = isAbsolute(target.value) ? normalize(target.value) : join(directory, target.value);
    return follow(join(to, ...rest.slice(1).map((part) => `./${part}`)), links, left - 1);
  }
  const path = join(directory, ...rest.map((part) => `./${part}`));
  return { path, unseen: target.why === "hidden" ? "it cannot be looked at" : null };
}

type Attempt<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly why: "missing" | "hidden" | "circle" | "other"; readonly message: string };

function attempt<T>(call: () => T): Attempt<T> {
  try {
    return { ok: true, value: call() };
  } catch (error) {
    const message = error instanceof Error ? error.message.split(":")[0] ?? "" : "unknown error";
    const why = error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory
      ? "missing"
      : error instanceof Deno.errors.NotCapable || error instanceof Deno.errors.PermissionDenied
      ? "hidden"
      : error instanceof Deno.errors.FilesystemLoop
      ? "circle"
      : "other";
    return { ok: false, why, message };
  }
}

/** Windows' verbatim prefix removed, `/` throughout. */
function clean(path: string): string {
  const p = toSlashes(path);
  if (!windows) return p;
  return normalize(p.startsWith("//?/UNC/") ? `//${p.slice(8)}` : p.startsWith("//?/") ? p.slice(4) : p);
}
