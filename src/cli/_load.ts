/**
 * Configuration for a command.
 *
 * @module
 */
import { loadConfig, type LoadedConfig } from "../config/load.ts";
import { type UserPaths, userPaths } from "../config/paths.ts";
import type { CliIo, Invocation } from "./_command.ts";
import { resolveWorktree } from "./_worktree.ts";

/** What a command knows about where it runs. */
export interface LoadedSettings {
  /** Canonical. */
  readonly worktree: string;
  readonly paths: UserPaths;
  readonly loaded: LoadedConfig;
}

/** Whether this run trusts the project: `--trust`, or POLYGLAV_TRUST with exactly the value 1. */
export function trustsRun(values: Invocation["values"], io: Pick<CliIo, "env">): boolean {
  return values.trust === true || io.env("POLYGLAV_TRUST") === "1";
}

/**
 * Finds the worktree (`--path`), loads the configuration and prints its warnings to standard error.
 *
 * @param flags what the command line sets, by dotted key (undefined: not given)
 * @param options `quiet`: another process of this run has printed the warnings
 * @throws UsageError, ConfigError
 */
export function loadSettings(
  values: Invocation["values"],
  io: CliIo,
  flags: Readonly<Record<string, unknown>> = {},
  options: { readonly quiet?: boolean } = {},
): LoadedSettings {
  const worktree = resolveWorktree(values, io), paths = userPaths(io.env);
  const loaded = loadConfig({ worktree, paths, flags, trust: trustsRun(values, io) });
  if (!options.quiet) {
    const word = io.env("POLYGLAV_TRUST") ?? "";
    if (word !== "" && word !== "0" && word !== "1") {
      io.err("Warning: POLYGLAV_TRUST counts only when it is 1\n");
    }
    for (const warning of loaded.warnings) io.err(`Warning: ${warning}\n`);
  }
  return { worktree, paths, loaded };
}
