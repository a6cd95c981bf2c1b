/**
 * Which file a program's name means: the first one on PATH, but never one that the worktree brought along, and never
 * Deno itself.
 *
 * @module
 */
import { basename, isAbsolute, isWithin, join, normalize, toSlashes } from "../text/path.ts";

/** What finding a program needs. */
export interface ProgramSearch {
  /** The PATH variable. */
  readonly path: string;
  /** Absolute canonical path of the worktree: nothing in it is found by name. */
  readonly worktree: string;
  /** Whether a path is a file that can be started. Default: {@link isExecutable}. */
  readonly exists?: (path: string) => boolean;
  /** Default: `Deno.realPathSync`. */
  readonly realPath?: (path: string) => string;
  /** The PATHEXT variable, on Windows. */
  readonly pathExt?: string;
  /** Default: the system that this runs on. */
  readonly windows?: boolean;
}

/** A program that was found, or why it was not. */
export type ProgramFound =
  | { readonly path: string; readonly problem: null }
  | { readonly path: null; readonly problem: "missing" | "deno" };

/** What the refusal to start Deno says. */
export const NO_DENO =
  "nothing that polyglav starts may be Deno itself, because it could start again without any limits";

/** Whether a path is a regular file with an execute bit (on Windows: a regular file). */
export function isExecutable(path: string): boolean {
  // Most places hold no such program, and a stack trace costs more than the look.
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  try {
    const info = Deno.statSync(path);
    return info.isFile && (Deno.build.os === "windows" || info.mode === null || (info.mode & 0o111) !== 0);
  } catch {
    return false;
  } finally {
    Error.stackTraceLimit = limit;
  }
}

/** Whether a name or path is Deno's, by its last part. */
export function isDenoName(program: string): boolean {
  return /^deno(?:rt)?(?:\.(?:exe|cmd|bat|com|ps1))?$/i.test(
    basename(toSlashes(program).replaceAll("\\", "/")),
  );
}

/**
 * Finds a program: a name by PATH (relative and empty entries skipped, and every entry and every file that lies in the
 * worktree, where a repository could put its own `git`), a text with a separator as the path that it is, relative to the
 * worktree. The path is returned as it stands on PATH, because many programs look at the name by which they were started.
 */
export function resolveProgram(name: string, search: ProgramSearch): ProgramFound {
  const windows = search.windows ?? Deno.build.os === "windows";
  const exists = search.exists ?? isExecutable;
  if (name === "" || name.includes("\0")) return { path: null, problem: "missing" };
  if (isDenoName(name)) return { path: null, problem: "deno" };
  if (name.includes("/") || (windows && name.includes("\\"))) {
    const path = isAbsolute(name) ? normalize(name) : join(search.worktree, name);
    const found = withExtensions(path, search, windows).find(exists);
    return found === undefined ? { path: null, problem: "missing" } : unlessDeno(found, search);
  }
  for (const directory of directories(search, windows)) {
    for (const path of withExtensions(`${directory}/${name}`, search, windows)) {
      if (!exists(path)) continue;
      if (isWithin(real(path, search), search.worktree)) continue;
      return unlessDeno(windows ? path : normalize(path), search);
    }
  }
  return { path: null, problem: "missing" };
}

/** Finds several programs: the paths without repeats, and the names that are Deno's or are not there. */
export function resolvePrograms(
  names: readonly string[],
  search: ProgramSearch,
): {
  readonly paths: readonly string[];
  readonly deno: readonly string[];
  readonly missing: readonly string[];
  /** Where each is, by name; null for those that are missing or Deno's. */
  readonly byName: Readonly<Record<string, string | null>>;
} {
  const paths = new Set<string>(), deno: string[] = [], missing: string[] = [];
  const byName: Record<string, string | null> = Object.create(null);
  for (const name of new Set(names)) {
    const found = resolveProgram(name, search);
    byName[name] = found.path;
    if (found.problem === null) paths.add(found.path);
    else (found.problem === "deno" ? deno : missing).push(name);
  }
  return { paths: [...paths], deno, missing, byName: { ...byName } };
}

/** What {@link directories} said last: the same for all programs of a call. */
let last = { key: "", found: [] as readonly string[] };

/** The entries of PATH that programs are looked for in, without a slash at the end and without repeats. */
function directories({ path, worktree }: ProgramSearch, windows: boolean): readonly string[] {
  const key = JSON.stringify([path, worktree, windows]);
  if (last.key !== key) {
    const found = path.split(windows ? ";" : ":").map((entry) => entry.replace(/^"(.*)"$/, "$1"))
      .filter((entry) => absolute(entry, windows) && !isWithin(normalize(entry), worktree))
      .map((entry) => entry.replace(/[\\/]+$/, ""));
    last = { key, found: [...new Set(found)] };
  }
  return last.found;
}

function withExtensions(path: string, search: ProgramSearch, windows: boolean): string[] {
  if (!windows) return [path];
  const extensions = (search.pathExt || ".COM;.EXE;.BAT;.CMD").split(";").filter((part) =>
    /^\.[A-Za-z0-9]+$/.test(part)
  );
  const has = extensions.some((extension) => path.toLowerCase().endsWith(extension.toLowerCase()));
  return has ? [path] : extensions.map((extension) => path + extension.toLowerCase());
}

function absolute(directory: string, windows: boolean): boolean {
  return windows ? /^[A-Za-z]:[\\/]/.test(directory) || isAbsolute(directory) : directory.startsWith("/");
}

function unlessDeno(path: string, search: ProgramSearch): ProgramFound {
  const target = real(path, search);
  const own = denoPath();
  if (
    isDenoName(path) || isDenoName(target) || (own !== null && (path === own || target === real(own, search)))
  ) {
    return { path: null, problem: "deno" };
  }
  return { path, problem: null };
}

function real(path: string, search: ProgramSearch): string {
  try {
    return toSlashes((search.realPath ?? Deno.realPathSync)(path));
  } catch {
    return path;
  }
}

function denoPath(): string | null {
  try {
    return normalize(Deno.execPath());
  } catch {
    return null;
  }
}
