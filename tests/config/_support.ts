/**
 * Loads configuration from files on disk.
 *
 * @module
 */
import { loadConfig, type LoadedConfig } from "../../src/config/load.ts";
import { type UserPaths, userPaths } from "../../src/config/paths.ts";
import { makeWorktree, type TestTree } from "../helpers/worktree.ts";

/** What the files say (objects become JSON, texts stand as they are) and what the command line adds. */
export interface Setup {
  readonly global?: unknown;
  readonly project?: unknown;
  readonly flags?: Record<string, unknown>;
  readonly trust?: boolean;
}

/** Paths of the user of a tree. */
export function pathsOf(tree: TestTree): UserPaths {
  return userPaths((name) => name === "HOME" || name === "USERPROFILE" ? tree.home : undefined);
}

/** Writes the files into the tree. */
export function write(tree: TestTree, setup: Setup): void {
  const text = (value: unknown) => typeof value === "string" ? value : JSON.stringify(value);
  if (setup.global !== undefined) tree.write("home/.config/polyglav/config.json", text(setup.global));
  if (setup.project !== undefined) tree.write("work/.polyglav/config.json", text(setup.project));
}

/** Writes the files into the tree and loads them. */
export function loadIn(tree: TestTree, setup: Setup): LoadedConfig {
  write(tree, setup);
  return loadConfig({
    worktree: tree.work,
    paths: pathsOf(tree),
    flags: setup.flags,
    trust: setup.trust ?? false,
  });
}

/** Loads from files in a tree of their own. */
export function load(setup: Setup): LoadedConfig {
  using tree = makeWorktree();
  return loadIn(tree, setup);
}

/** The message of what `action` throws; fails when it throws nothing or something that is not for the user. */
export function failure(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    if (error instanceof Error && ["ConfigError", "UsageError"].includes(error.name)) return error.message;
    throw error;
  }
  throw new Error("nothing was thrown");
}
