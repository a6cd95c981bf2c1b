/**
 * Where the user's own files are.
 *
 * @module
 */
import { ConfigError } from "../errors.ts";
import { basename, isAbsolute, join } from "../text/path.ts";
import { sha256 } from "../text/sha256.ts";

/** The user's directories, absolute; none of them has to exist. */
export interface UserPaths {
  /** Home directory. */
  readonly home: string;
  /** Configuration, trust and keys: `~/.config/polyglav`. */
  readonly config: string;
  /** Anchors of sessions and other state: `~/.local/state/polyglav`. */
  readonly state: string;
}

/** The project's configuration, below the worktree. */
export const PROJECT_CONFIG: string = ".polyglav/config.json";

/** The global configuration file. */
export function globalConfigFile(paths: UserPaths): string {
  return join(paths.config, "config.json");
}

/** The name in {@link userProjectFile} that says which project it is about: the canonical worktree. */
export const WORKTREE: string = "$worktree";

/**
 * The user's own configuration for one project: it counts as the global file does, comes after it, and lies where no
 * repository reaches.
 *
 * @param worktree canonical
 */
export function userProjectFile(paths: UserPaths, worktree: string): string {
  const name = basename(worktree).replace(/[^A-Za-z0-9._-]/g, "_").slice(0, 40) || "root";
  const hash = sha256(new TextEncoder().encode(worktree)).slice(0, 16);
  return join(paths.config, "projects", `${name}-${hash}.json`);
}

/** The project's configuration file. */
export function projectConfigFile(worktree: string): string {
  return join(worktree, PROJECT_CONFIG);
}

/**
 * The user's directories from the environment: `XDG_CONFIG_HOME` and `XDG_STATE_HOME` where they are absolute (a
 * relative one is ignored, as the XDG base directory specification says), on Windows `APPDATA` and `LOCALAPPDATA`,
 * else the usual places below the home directory.
 *
 * @param env a variable of the environment
 * @throws ConfigError when there is no home directory
 */
export function userPaths(
  env: (name: string) => string | undefined,
  os: typeof Deno.build.os = Deno.build.os,
): UserPaths {
  const windows = os === "windows";
  const absolute = (name: string) => {
    const value = env(name);
    return value !== undefined && isAbsolute(value) ? value : undefined;
  };
  const home = windows ? absolute("USERPROFILE") ?? absolute("HOME") : absolute("HOME");
  if (home === undefined) {
    const name = windows ? "USERPROFILE" : "HOME", value = env(name);
    throw new ConfigError(
      `${name} is ${
        value ? JSON.stringify(value) : "not set"
      }; set it to your home directory, an absolute path`,
    );
  }
  const config = absolute("XDG_CONFIG_HOME") ?? (windows ? absolute("APPDATA") : undefined) ??
    join(home, ".config");
  const state = absolute("XDG_STATE_HOME") ?? (windows ? absolute("LOCALAPPDATA") : undefined) ??
    join(home, ".local/state");
  return { home: join(home), config: join(config, "polyglav"), state: join(state, "polyglav") };
}
