/**
 * Ring 2: files as a tool may see them. Every path is made canonical, compared with the call's own copy of the scope,
 * and checked again after it was opened.
 *
 * A leaf beside entry.ts: it needs no policy, no worker and no host, so that library users can have it alone.
 *
 * @module
 */
import * as fs from "node:fs";
import { ToolError } from "../errors.ts";
import { dirname } from "../text/path.ts";
import type { DirectoryEntry, FileKind, FileStatus, Workspace, WriteOptions, WriteReport } from "../tool.ts";
import type { GuardScope } from "../policy/types.ts";
import { realPath, shown } from "./_canonical.ts";
import { type CheckedFile, explain, openChecked, openRaw, readRest, SwappedError, verify } from "./_open.ts";
import { refuseSystem, ScopeCheck } from "./_scope.ts";
import { type Announce, writeBytes } from "./_write.ts";

const LARGEST = 1 << 30;
/**
 * Looks after a walk opened a file (see {@link verify}): at first; after a hundred files in which nothing was swapped; and
 * for good once something was.
 */
const WALK_LOOKS = { first: 12, quiet: 6, alarmed: 32 }, QUIET = 100;

/**
 * Files within a scope.
 *
 * @param scope what may be touched; its paths are canonical
 * @param announce told of every change before it is made; where it throws, nothing is changed
 */
export function createWorkspace(scope: GuardScope, announce?: Announce): Workspace {
  return new GuardedWorkspace(scope, announce);
}

class GuardedWorkspace implements Workspace {
  readonly root: string;
  readonly #check: ScopeCheck;
  /** Directories that this call has read and checked: what walkDirectory and walkFile may build on. */
  readonly #walked = new Set<string>();
  /** The last answer of withheld: a walk asks before it reads. */
  #asked: { readonly path: string; readonly rule: string | null } | null = null;
  #quiet = 0;
  #alarmed = false;

  constructor(scope: GuardScope, readonly announce?: Announce) {
    this.root = scope.worktree;
    this.#check = new ScopeCheck(scope);
  }

  resolve(path: string, access: "list" | "read" | "write"): string {
    return this.#check.resolve(path, access);
  }

  status(path: string): FileStatus | null {
    const real = this.#check.resolve(path, "list");
    const info = infoOf(real, "list");
    return info === null ? null : {
      kind: kindOf(info),
      size: info.size,
      mode: (info.mode ?? 0) & 0o7777,
      modified: info.mtime?.getTime() ?? 0,
      links: info.nlink ?? 1,
    };
  }

  readDirectory(path: string): DirectoryEntry[] {
    const real = this.#check.resolve(path, "list");
    const info = infoOf(real, "list");
    if (info === null) throw notFound("list", path);
    if (!info.isDirectory) throw new ToolError(`Cannot list ${shown(path)}: it is not a directory`);
    return readNames(real);
  }

  readFile(path: string, options: { readonly maxBytes?: number } = {}): Uint8Array {
    const real = this.#check.resolve(path, "read");
    const info = infoOf(real, "read");
    if (info === null) throw notFound("read", path);
    if (!info.isFile) {
      throw new ToolError(
        `Cannot read ${shown(path)}: it is ${info.isDirectory ? "a directory" : "not a regular file"}`,
      );
    }
    const most = options.maxBytes ?? LARGEST;
    const file = openChecked(real, "read");
    try {
      if (options.maxBytes === undefined && file.size > LARGEST) {
        throw new ToolError(`Cannot read ${shown(path)}: it is larger than ${LARGEST} bytes`);
      }
      return most === 0 ? new Uint8Array(0) : readRest(file.descriptor, file.size, most);
    } catch (error) {
      throw explain(error, real, "read");
    } finally {
      file.close();
    }
  }

  writeFile(path: string, bytes: Uint8Array, options: WriteOptions = {}): WriteReport {
    const real = this.#check.resolve(path, "write");
    const info = infoOf(real, "write");
    if (info !== null && !info.isFile) {
      throw new ToolError(
        `Cannot write ${shown(path)}: it is ${info.isDirectory ? "a directory" : "not a regular file"}`,
      );
    }
    return writeBytes(real, bytes, options, this.#check.temporaryFor(real), this.announce);
  }

  withheld(canonicalPath: string): string | null {
    const rule = this.#check.ruleAgainst(canonicalPath, "read");
    this.#asked = { path: canonicalPath, rule };
    return rule;
  }

  walkDirectory(directory: string): DirectoryEntry[] {
    if (!this.#walked.has(directory) && !this.#walked.has(dirname(directory))) {
      if (this.#check.resolve(directory, "list") !== directory) {
        throw new ToolError(`Cannot list ${shown(directory)}: it is not a canonical path`, "permission");
      }
    }
    refuseSystem(directory, directory);
    const entries = readNames(directory);
    this.#walked.add(directory);
    return entries;
  }

  walkFile(path: string, buffer: Uint8Array, wanted?: (bytes: Uint8Array) => boolean): Uint8Array | null {
    const cut = path.lastIndexOf("/"), name = path.slice(cut + 1);
    if (!this.#walked.has(path.slice(0, cut) || "/") || name === "" || name === "." || name === "..") {
      if (this.#check.resolve(path, "read") !== path) return null;
    } else {
      const rule = this.#asked?.path === path ? this.#asked.rule : this.#check.ruleAgainst(path, "read");
      if (rule !== null) {
        throw new ToolError(
          `Cannot read ${shown(path)}: the path rule ${rule} does not allow it`,
          "permission",
        );
      }
    }
    const descriptor = quiet(() => openRaw(path, "read"));
    if (descriptor === null) return null;
    try {
      const length = quiet(() => fs.readSync(descriptor, buffer, 0, buffer.length, null));
      if (length === null) return null;
      if (length < buffer.length) {
        const bytes = buffer.subarray(0, length);
        if (wanted && !wanted(bytes)) return null;
        return this.#verify(descriptor, path) && bytes;
      }
      const file = this.#verify(descriptor, path);
      if (file === null || file.size > LARGEST) return null;
      const bytes = quiet(() => readRest(descriptor, file.size, LARGEST, buffer));
      return bytes === null || (wanted && !wanted(bytes)) ? null : bytes;
    } finally {
      fs.closeSync(descriptor);
    }
  }

  /** Verifies what a walk opened; null where it is not what it should be. */
  #verify(descriptor: number, path: string): CheckedFile | null {
    const { first, quiet: few, alarmed } = WALK_LOOKS;
    try {
      const file = verify(descriptor, path, this.#alarmed ? alarmed : this.#quiet < QUIET ? first : few);
      this.#quiet++;
      return file;
    } catch (error) {
      if (error instanceof SwappedError) this.#alarmed = true;
      else if (!(error instanceof ToolError)) throw error;
      return null;
    }
  }
}

/** Null where a file call fails: a walk skips what it cannot read. */
function quiet<T>(call: () => T): T | null {
  try {
    return call();
  } catch (error) {
    if (error instanceof ToolError || typeof (error as { code?: unknown }).code === "string") return null;
    throw error;
  }
}

/** What lies at a canonical path, links not followed; null where nothing does. */
function infoOf(real: string, doing: "list" | "read" | "write"): Deno.FileInfo | null {
  try {
    const info = Deno.lstatSync(real);
    if (info.isSymlink) {
      throw new SwappedError(`Cannot open ${shown(real)}: it became a link after it was checked`);
    }
    return info;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return null;
    throw explain(error, real, doing);
  }
}

function kindOf(info: Pick<Deno.FileInfo, "isFile" | "isDirectory" | "isSymlink">): FileKind {
  return info.isFile ? "file" : info.isDirectory ? "directory" : info.isSymlink ? "symlink" : "other";
}

/** Names in a canonical directory, which must lead to itself before and after. */
function readNames(directory: string): DirectoryEntry[] {
  try {
    const swapped = () =>
      new SwappedError(`Cannot list ${shown(directory)}: it leads elsewhere now than when it was checked`);
    if (realPath(directory) !== directory) throw swapped();
    const entries: DirectoryEntry[] = [];
    for (const entry of Deno.readDirSync(directory)) entries.push({ name: entry.name, kind: kindOf(entry) });
    if (realPath(directory) !== directory) throw swapped();
    return entries;
  } catch (error) {
    throw explain(error, directory, "list");
  }
}

function notFound(doing: "list" | "read", path: string): ToolError {
  return new ToolError(`Cannot ${doing} ${shown(path)}: there is no such file or directory`, "not_found");
}
