/**
 * What a test's policy is made from: the tree's own configuration, untrusted, and the bundled tools.
 *
 * @module
 */
import { loadConfig } from "../../src/config/load.ts";
import { type UserPaths, userPaths } from "../../src/config/paths.ts";
import type { PolicyInput } from "../../src/policy/tool_policy.ts";
import { ToolRegistry } from "../../src/registry/registry.ts";
import { tools } from "../../tools/mod.ts";
import type { TestTree } from "./worktree.ts";

/** The input over a tree, with HOME in it, and the user's folders. */
export function policyInputOf(tree: TestTree): { readonly input: PolicyInput; readonly paths: UserPaths } {
  const paths = userPaths((name) => name === "HOME" ? tree.home : undefined);
  const { settings } = loadConfig({ worktree: tree.work, paths, trust: false });
  const input = {
    settings,
    mode: settings.mode,
    worktree: tree.work,
    home: tree.home,
    configDir: paths.config,
    stateDir: paths.state,
    shell: "/bin/sh",
    env: { PATH: "/usr/bin:/bin" },
  };
  return { input, paths };
}

/** A registry of all bundled tools. */
export function bundledRegistry(): ToolRegistry {
  const registry = new ToolRegistry();
  for (const tool of tools) registry.register(tool);
  return registry;
}
