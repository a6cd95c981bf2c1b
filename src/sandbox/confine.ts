/**
 * Ring 5: the operating system confines the programs that commands start, because what a program does is out of the
 * runtime's hands. `bwrap` (bubblewrap) on Linux, `sandbox-exec` on macOS; configuration in, a wrapped command out.
 *
 * Inside, the file system is read-only but for the worktree (without its protected parts), a private /tmp and
 * `exec.writable`; the user's secrets, other processes and the sockets below /run are not there, and there is no network
 * unless the call may have it.
 *
 * @module
 */
import { ToolError } from "../errors.ts";
import { isWithin, join, toSlashes } from "../text/path.ts";
import { bwrapArguments, bwrapCleanup, type BwrapRights, PRIVATE } from "./_confine_bwrap.ts";
import { probeConfinement, type ProbeInput, runProgram } from "./_confine_probe.ts";
import { CACHES, DISPOSABLE, GIT_PROTECTED, SECRETS } from "./_confine_secrets.ts";
import { seatbeltProfile } from "./_confine_seatbelt.ts";

/** `exec.confine`: use it where it works, refuse to run commands without it, or never. */
export type ConfineMode = "auto" | "require" | "off";

/** What this machine can do; found once by {@link probeConfinement}. Plain data. */
export interface Confinement extends BwrapRights {
  /** Commands can be confined, and a harmless escape was tried and failed. */
  readonly available: boolean;
  /** One line: what is used, or what is missing and how to get it. */
  readonly why: string;
  /** Which program confines. */
  readonly kind: "bwrap" | "sandbox-exec" | null;
  /** Its absolute path: the only program that a confined call's worker has to start. */
  readonly program: string | null;
  /** It can lay private overlays over directories (bubblewrap 0.11). */
  readonly overlays: boolean;
  /** What lies where, as an unconfined look saw it: canonical path by path, only for what exists. */
  readonly found: Readonly<Record<string, { readonly path: string; readonly directory: boolean }>>;
  /** Git directory that the worktree uses beside its own (a linked worktree's or submodule's, or one further up). */
  readonly gitDirectories: readonly string[];
}

/** A path that gets its own mount. */
export interface Mount {
  /** Canonical. */
  readonly path: string;
  readonly directory: boolean;
}

/** What {@link confineCommand} wraps by: plain data, so that it can be sent to a worker. */
export interface ConfineSpec extends BwrapRights {
  readonly kind: "bwrap" | "sandbox-exec";
  /** Absolute path of the confining program. */
  readonly program: string;
  /** Canonical. */
  readonly worktree: string;
  readonly home: string;
  /** Directories outside the worktree that are writable for real. */
  readonly writable: readonly string[];
  /** Directories that look writable, on a private layer that is thrown away. */
  readonly overlays: readonly string[];
  /** Directories that are writable, private and empty. */
  readonly empty: readonly string[];
  /** Folders of the system that are private and empty inside. */
  readonly private: readonly string[];
  /** Git directories: writable, and bound onto themselves so that they cannot be renamed. */
  readonly git: readonly string[];
  /** Read-only although they lie in something writable. */
  readonly protect: readonly Mount[];
  /** Like `protect`, for what does not exist: may not be created. */
  readonly absent: readonly Mount[];
  /** Not seen inside. */
  readonly hide: readonly Mount[];
  /** What covers absent paths stays until {@link Confiner.finish}. */
  readonly later?: boolean;
  readonly network: boolean;
}

/** What a call's confinement is planned from. */
export interface ConfineInput {
  readonly mode: ConfineMode;
  readonly probe: Confinement;
  /** Canonical. */
  readonly worktree: string;
  readonly home: string;
  /** `exec.writable`, `~/` allowed. */
  readonly writable: readonly string[];
  /** Paths that commands may not write although they lie in the worktree, absolute (literal path rules). */
  readonly protect?: readonly string[];
  /** Beyond the list of {@link SECRETS}: the program's own configuration and state directories. */
  readonly hide?: readonly string[];
  /** The call may use the network (`web` is allowed). */
  readonly network: boolean;
}

export { SECRETS } from "./_confine_secrets.ts";
export { BWRAP_PATHS, SEATBELT_PATH } from "./_confine_paths.ts";
export { probeConfinement, type ProbeInput } from "./_confine_probe.ts";

/** What a {@link Confiner} is made of. */
export interface ConfinerOptions {
  /** `exec.confine`. */
  readonly mode: ConfineMode;
  /** Canonical. */
  readonly worktree: string;
  readonly home: string;
  /** `exec.writable`. */
  readonly writable: readonly string[];
  /** See {@link ConfineInput.protect}. */
  readonly protect?: readonly string[];
  /** See {@link ConfineInput.hide}. */
  readonly hide?: readonly string[];
  /**
   * {@link Confiner.finish} will be called: empty files in git directories stay until then, which saves each command a second
   * start of bubblewrap. Where that is not called, because the process was killed, the next confined command takes them away.
   */
  readonly finishes?: boolean;
  /** Default: {@link probeConfinement}. */
  readonly probe?: (input: ProbeInput) => Promise<Confinement>;
}

/** The confinement of a run's calls: probes once, when it is first needed, and plans each call. */
export class Confiner {
  readonly #options: ConfinerOptions;
  #found: Promise<Confinement> | undefined;
  /** What is still to be taken away. */
  #left: ConfineSpec | null = null;

  /** @param options what every call's confinement has in common */
  constructor(options: ConfinerOptions) {
    this.#options = options;
  }

  /** What this machine can do. */
  found(): Promise<Confinement> {
    const { worktree, home, writable, hide, probe } = this.#options;
    const paths = [...writable.map((path) => expandHome(path, home)), ...(hide ?? [])];
    return this.#found ??= (probe ?? probeConfinement)({ worktree, home, paths });
  }

  /**
   * A call's confinement; null: it runs without one.
   *
   * @param network the call may use the network
   * @param protect more paths that this call may not write, beside those of the run
   * @throws {ToolError} `permission` where `require` cannot be had
   */
  async plan(network: boolean, protect: readonly string[] = []): Promise<ConfineSpec | null> {
    if (this.#options.mode === "off") return null;
    const all = [...this.#options.protect ?? [], ...protect];
    const spec = planConfinement({ ...this.#options, protect: all, probe: await this.found(), network });
    const { absent = [], kind } = spec ?? {};
    const later = this.#options.finishes === true && kind === "bwrap" && absent.length > 0 &&
      absent.every(({ path, directory }) => !directory && TAKEN_AWAY.test(path));
    if (!spec || !later) return spec;
    const known = this.#left?.absent ?? [];
    this.#left = {
      ...spec,
      absent: [...known, ...absent.filter(({ path }) => known.every((each) => each.path !== path))],
    };
    return { ...spec, later };
  }

  /** Takes away what commands have left on disk; to be called at the end, when no command runs any more. Never throws. */
  async finish(): Promise<void> {
    const left = this.#left;
    this.#left = null;
    if (left) await runProgram(bwrapCleanup(left));
  }
}

/** Files that an earlier run that was killed may have left: empty ones go. */
const TAKEN_AWAY = /\/(config\.worktree|info\/attributes)$/;

/**
 * The confinement of a call, or null where it runs without one (`off`; `auto` on a machine that cannot).
 *
 * @throws {ToolError} `permission` where `require` cannot be had
 */
export function planConfinement(input: ConfineInput): ConfineSpec | null {
  const { probe, mode, worktree, home } = input;
  if (mode === "off") return null;
  if (!probe.available || !probe.kind || !probe.program) {
    if (mode === "auto") return null;
    throw new ToolError(
      `exec.confine is "require", but commands cannot be confined here: ${probe.why}`,
      "permission",
    );
  }
  const known = (path: string): Mount | null => probe.found[path] ?? null;
  const hide: Mount[] = [];
  for (const path of [...SECRETS.map((name) => join(home, name)), ...(input.hide ?? [])]) {
    const mount = known(path);
    // A worktree inside such a folder is what the user wants worked on; its parts are protected otherwise.
    if (mount && !isWithin(worktree, mount.path)) hide.push(mount);
  }
  const writable: string[] = [], overlays: string[] = [], empty: string[] = [];
  const caches = new Set(CACHES.map((name) => join(home, name)));
  const disposable = new Set(DISPOSABLE.map((name) => join(home, name)));
  for (const written of input.writable) {
    const path = expandHome(written, home), mount = known(path);
    if (!mount?.directory || isWithin(worktree, mount.path)) continue;
    if (!caches.has(path)) writable.push(mount.path);
    else if (probe.overlays) overlays.push(mount.path);
    else if (disposable.has(path)) empty.push(mount.path);
  }
  const protect: Mount[] = [], absent: Mount[] = [], git: string[] = [];
  const own = join(worktree, ".git");
  for (const given of [own, ...probe.gitDirectories]) {
    // A `.git` that is a link: the directory that it leads to, where that lies in the worktree.
    const directory = look(given)?.link ? realPathIn(given, worktree) : given;
    const status = directory === null ? null : look(directory) ?? known(directory);
    if (directory === null || !status) continue;
    if (!status.directory) {
      protect.push({ path: directory, directory: false });
      continue;
    }
    git.push(directory);
    // Outside the worktree this process may not look for the submodules one by one.
    const modules = known(join(directory, "modules"));
    if (modules) protect.push(modules);
    for (const part of gitDirectoriesBelow(directory)) {
      if (protect.some(({ path }) => path !== directory && isWithin(part, path))) continue;
      const kept: Mount[] = [], missing: Mount[] = [];
      const every = GIT_PROTECTED.map(({ name, directory: isDirectory }) =>
        addProtected(join(part, name), isDirectory, known, kept, missing)
      ).every(Boolean);
      if (!every) {
        protect.push({ path: part, directory: true });
        if (part === directory) break;
        continue;
      }
      protect.push(...kept);
      absent.push(...missing);
    }
  }
  addProtected(join(worktree, ".polyglav"), true, known, protect, absent);
  for (const path of input.protect ?? []) {
    const status = look(path);
    if (path === own || [...protect, ...absent].some((each) => isWithin(path, each.path))) continue;
    if (status && !status.link) protect.push({ path, directory: status.directory });
    // What does not exist is held by an empty file: neither a file nor a folder can be made there.
    else if (!status && isWithin(path, worktree) && look(parent(path))?.directory) {
      absent.push({ path, directory: false });
    }
  }
  return {
    kind: probe.kind,
    program: probe.program,
    worktree,
    home,
    writable,
    overlays,
    empty,
    private: PRIVATE.flatMap((path) => {
      const mount = known(path);
      return mount?.directory && mount.path === path ? [path] : [];
    }),
    git,
    protect,
    absent,
    hide,
    network: input.network,
    userNamespace: probe.userNamespace,
    root: probe.root,
  };
}

/** `~/x` below the home directory. */
export function expandHome(path: string, home: string): string {
  return path === "~" ? home : path.startsWith("~/") ? join(home, path.slice(2)) : path;
}

/**
 * The wrapped command: pure. `argv` is started inside, in `cwd`.
 *
 * @returns the words to start instead; the first is {@link ConfineSpec.program}
 */
export function confineCommand(argv: readonly string[], spec: ConfineSpec, cwd: string): string[] {
  if (spec.kind === "bwrap") return [spec.program, ...bwrapArguments(spec, cwd), "--", ...argv];
  return [spec.program, "-p", seatbeltProfile(spec), "--", ...argv];
}

/**
 * The command that takes away what {@link confineCommand} leaves on disk (empty mount points of absent protected paths),
 * or null where it leaves nothing, or nothing yet. To be run after every confined command, however that ended.
 */
export function confineCleanup(spec: ConfineSpec): string[] | null {
  return spec.kind === "bwrap" && spec.absent.length > 0 && !spec.later ? bwrapCleanup(spec) : null;
}

/**
 * Tells a confinement that failed from a command that failed.
 *
 * @returns the error to raise instead of a result, or null
 */
export function confinementFailure(
  spec: ConfineSpec,
  argv: readonly string[],
  code: number | null,
  output: string,
): ToolError | null {
  if (spec.kind !== "bwrap" || code !== 1 || !output.startsWith("bwrap: ")) return null;
  const line = output.split("\n", 1)[0]!.slice("bwrap: ".length);
  const program = argv[0] ?? "";
  if (line.startsWith(`execvp ${program}:`)) {
    return line.includes("No such file")
      ? new ToolError(`command not found: ${program}`, "not_found")
      : new ToolError(`cannot run ${program}: ${line.slice(line.lastIndexOf(":") + 2).toLowerCase()}`);
  }
  return new ToolError(
    `the command could not be confined (${line}); it did not run. Fix that or set exec.confine to "off"`,
  );
}

/** @returns false where a link stands in the way: a mount goes through it, so that the link itself stays replaceable */
function addProtected(
  path: string,
  directory: boolean,
  known: (path: string) => Mount | null,
  protect: Mount[],
  absent: Mount[],
): boolean {
  const seen = look(path), status = seen ?? known(path), above = look(parent(path));
  if (seen?.link || above?.link || (!seen && status && status.path !== path)) return false;
  if (status) {
    // An empty one is what an earlier run that was killed left behind: it goes when this one ends.
    const left = seen !== null && !seen.directory && seen.empty &&
      TAKEN_AWAY.test(path);
    (left ? absent : protect).push({ path, directory: status.directory });
  } else if (above?.directory || known(parent(path))?.directory) {
    absent.push({ path, directory });
  } else if (/\/info\/attributes$/.test(path)) {
    // Without `info` the folder itself may not be made.
    absent.push({ path: parent(path), directory: true });
  }
  return true;
}

function realPathIn(path: string, worktree: string): string | null {
  try {
    const real = toSlashes(Deno.realPathSync(path));
    return isWithin(real, worktree) ? real : null;
  } catch {
    return null;
  }
}

/** A git directory and those of its submodules and linked worktrees (which have a configuration of their own). */
function gitDirectoriesBelow(directory: string): string[] {
  const all = [directory];
  const walk = (path: string, depth: number) => {
    for (const name of names(path)) {
      const below = join(path, name);
      if (look(join(below, "HEAD"))) all.push(below);
      if (depth > 0 && all.length < 200) {
        walk(look(join(below, "HEAD")) ? join(below, "modules") : below, depth - 1);
      }
    }
  };
  walk(join(directory, "modules"), 4);
  walk(join(directory, "worktrees"), 0);
  return all;
}

function names(directory: string): string[] {
  try {
    return [...Deno.readDirSync(directory)].filter((each) => each.isDirectory).map((each) => each.name)
      .sort();
  } catch {
    return [];
  }
}

function look(path: string): Mount & { readonly empty: boolean; readonly link: boolean } | null {
  try {
    const status = Deno.lstatSync(path);
    return { path, directory: status.isDirectory, empty: status.size === 0, link: status.isSymlink };
  } catch {
    return null;
  }
}

function parent(path: string): string {
  return path.slice(0, path.lastIndexOf("/")) || "/";
}
