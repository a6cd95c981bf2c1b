/**
 * Runs git so that a repository's own configuration cannot start a program.
 *
 * A repository is data that somebody else may have written, and a dozen of git's settings name programs. They are
 * overridden through the environment (`GIT_CONFIG_COUNT`, git 2.31), which names of any shape survive and which git's own
 * children inherit. Floor: git 2.39.
 *
 * @module
 */
import { ToolError } from "../src/errors.ts";
import {
  GIT_ENVIRONMENT,
  GIT_OVERRIDES,
  gitConfigEntries,
  gitConfigVariables,
} from "../src/text/git_settings.ts";
import { join } from "../src/text/path.ts";
import type { ExecResult, PathUse, ToolContext } from "../src/tool.ts";
import { workingDirectory } from "./_command.ts";

/** Seconds for one git command. */
export const GIT_TIMEOUT = 30;

/** A folder in the worktree that only looks like a repository is not taken for one. */
const BARE = ["safe.bareRepository", "explicit"] as const;

/** Lifted where the commit's own programs (hooks, filters) may run. */
const PROGRAMS_OF_COMMIT = new Set(["core.hooksPath"]);

/** A repository, as far as it was looked at. */
export class Repository {
  readonly #context: ToolContext;
  /** As `exec` takes it. */
  readonly directory: string;
  /** The configuration in force: key (section and variable in lower case) → last value. */
  readonly #config: ReadonlyMap<string, string>;

  private constructor(context: ToolContext, directory: string, config: ReadonlyMap<string, string>) {
    this.#context = context;
    this.directory = directory;
    this.#config = config;
  }

  /**
   * Reads the configuration, which starts nothing.
   *
   * @throws {ToolError} where there is no directory or no git, or where the configuration cannot be overridden
   */
  static async open(context: ToolContext, cwd: string | undefined): Promise<Repository> {
    const directory = workingDirectory(context.workspace, cwd);
    const bare = new Repository(context, directory, new Map());
    const list = await bare.run(["config", "--list", "--includes", "-z"], {
      plain: true,
      raw: true,
      maxBytes: 4 << 20,
    });
    if (list.code !== 0) {
      throw failureOf(list) ?? new ToolError(`git cannot read its configuration: ${oneLine(list.output)}`);
    }
    if (list.droppedBytes > 0) {
      throw new ToolError("the repository's git configuration is larger than 4 MB; git was not run");
    }
    const config = new Map<string, string>();
    for (const [key, value] of gitConfigEntries(list.output)) {
      if (/^(filter|hook|submodule)\./.test(key) && key.includes("\ufffd")) {
        throw new ToolError(
          `the git configuration names ${
            JSON.stringify(key)
          }, which is not valid UTF-8 and cannot be overridden; git was not run`,
        );
      }
      config.set(key, value);
    }
    return new Repository(context, directory, config);
  }

  /** A value of the configuration. */
  setting(key: string): string | undefined {
    return this.#config.get(key);
  }

  /** Names of `<section>.<name>.*` in the configuration. */
  names(section: string): string[] {
    const found = new Set<string>();
    for (const key of this.#config.keys()) {
      if (!key.startsWith(`${section}.`)) continue;
      const end = key.lastIndexOf(".");
      if (end > section.length) found.add(key.slice(section.length + 1, end));
    }
    return [...found];
  }

  /**
   * Runs one git command, hardened.
   *
   * @param options.programs the commit's own hooks and filters may run
   * @param options.plain nothing is overridden: only for reading the configuration
   */
  async run(
    args: readonly string[],
    options: {
      raw?: boolean;
      maxBytes?: number;
      programs?: boolean;
      plain?: boolean;
      timeout?: number;
    } = {},
  ): Promise<ExecResult> {
    const settings = GIT_OVERRIDES.filter(([key]) => !(options.programs && PROGRAMS_OF_COMMIT.has(key)));
    const pairs: (readonly [string, string])[] = options.plain ? [BARE] : [...settings];
    if (!options.programs && !options.plain) {
      for (const name of this.names("filter")) {
        for (const part of ["clean", "smudge", "process"]) pairs.push([`filter.${name}.${part}`, ""]);
        pairs.push([`filter.${name}.required`, "false"]);
      }
      for (const name of this.names("hook")) pairs.push([`hook.${name}.enabled`, "false"]);
    }
    for (const name of this.names("submodule")) pairs.push([`submodule.${name}.ignore`, "dirty"]);
    const env = { ...GIT_ENVIRONMENT, ...gitConfigVariables(pairs) };
    try {
      return await this.#context.exec(["git", "--no-pager", "--no-optional-locks", ...args], {
        cwd: this.directory,
        timeout: (options.timeout ?? GIT_TIMEOUT) * 1000,
        env,
        maxBytes: options.maxBytes,
        raw: options.raw,
      });
    } catch (error) {
      if (error instanceof ToolError && error.message === "command not found: git") {
        throw new ToolError("git is not installed or not on PATH", "not_found", { cause: error });
      }
      throw error;
    }
  }

  /**
   * The repository's top directory, absolute.
   *
   * @throws {ToolError} where there is no repository, or where its configuration moves the working tree somewhere else
   */
  async top(): Promise<string> {
    const result = await this.run(["rev-parse", "--show-toplevel"], { raw: true });
    if (result.code !== 0) throw failureOf(result) ?? new ToolError(oneLine(result.output));
    const top = result.output.replace(/\r?\n$/, "");
    const here = this.#context.workspace.resolve(this.directory, "list");
    if (here !== top && !here.startsWith(top.endsWith("/") ? top : `${top}/`)) {
      throw new ToolError(
        `the repository's core.worktree points to ${top}, which does not hold this directory; git was not run`,
        "permission",
      );
    }
    return top;
  }
}

/** Git's own refusals as one clear line; null for any other result. */
export function failureOf(result: ExecResult): ToolError | null {
  if (result.timedOut) return new ToolError(`git command timed out after ${GIT_TIMEOUT}s`, "timeout");
  if (result.code !== 128 && result.code !== 129) return null;
  if (/not a git repository|cannot use bare repository|must be run in a work tree/.test(result.output)) {
    return new ToolError("this directory is not in a git repository (git init makes one)", "not_found");
  }
  const dubious = /dubious ownership in repository at '([^\n]*)'/.exec(result.output);
  if (dubious) {
    return new ToolError(
      `git refuses this repository because another user owns it; if you trust it: git config --global --add safe.directory ${
        dubious[1]
      }`,
      "permission",
    );
  }
  return null;
}

/**
 * Refuses what git could take for an option or read as something else than a name.
 *
 * @param what `rev` or `path`
 */
export function checkWord(what: string, value: string | undefined): void {
  if (value === undefined || value === "") return;
  if (value.startsWith("-")) {
    throw new ToolError(`${what} must not begin with "-", got ${JSON.stringify(value)}`, "invalid_arguments");
  }
  // deno-lint-ignore no-control-regex
  if (/[\x00-\x1f\x7f]/.test(value)) {
    throw new ToolError(
      `${what} must not hold control characters, got ${JSON.stringify(value)}`,
      "invalid_arguments",
    );
  }
}

/** The paths that a call touches: its working directory, its path below that, and the path in a `rev` like `HEAD:file`. */
export function gitPaths(args: { cwd?: string; path?: string; rev?: string }, whole = false): PathUse[] {
  const uses: PathUse[] = [], { cwd, path, rev } = args;
  if (cwd) uses.push({ path: cwd, access: "list" });
  if (path) uses.push({ path: cwd ? join(cwd, plainPath(path)) : plainPath(path), access: "read" });
  else if (whole) uses.push({ path: cwd || ".", access: "read" });
  const file = rev === undefined ? null : /^[^:]*:(?:[0-3]:)?([^/].*)$/.exec(rev)?.[1];
  if (file) uses.push({ path: cwd && file.startsWith("./") ? join(cwd, file) : file, access: "read" });
  return uses;
}

/** Without wildcards: the directory that a glob starts in. */
function plainPath(path: string): string {
  const wild = path.search(/[*?[\\]/);
  if (wild === -1) return path;
  const cut = path.lastIndexOf("/", wild);
  return cut === -1 ? "." : path.slice(0, cut) || "/";
}

/** A path as a pathspec: wildcards match, but a leading `:` is no magic. */
export function pathspec(path: string): string {
  return path.startsWith(":") ? `:(literal)${path}` : path;
}

/** Text on one line. */
export function oneLine(text: string): string {
  return text.trim().replace(/\s*\n\s*/g, " ").slice(0, 300);
}
