/**
 * Where the user's own files are.
 *
 * @module
 */
import { ConfigError } from "../errors.ts";
import { isAbsolute, join } from "../text/path.ts";

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
