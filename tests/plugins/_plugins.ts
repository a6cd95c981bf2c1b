/** Plugins of the fixtures in a real host, without any policy in front. @module */
import { hostCode } from "../../src/cli/_plugins.ts";
import { PluginRunner } from "../../src/plugins/runner.ts";
import {
  type PluginHostCode,
  type PluginPermissions,
  type PluginPlan,
  ProcessLink,
} from "../../src/sandbox/plugin_process.ts";
import type { TestTree } from "../helpers/worktree.ts";

/** A plugin of the fixtures. */
export const fixture = (name: string): string =>
  decodeURIComponent(new URL(`../fixtures/plugins/${name}`, import.meta.url).pathname);

export const NONE: PluginPermissions = {
  read: [],
  denyRead: [],
  write: [],
  denyWrite: [],
  net: [],
  run: [],
  env: [],
};

/** The environment of hosts in tests: Deno's cache, and something to steal. */
export function hostEnv(more: Record<string, string> = {}): Record<string, string> {
  const env: Record<string, string> = { DENO_NO_UPDATE_CHECK: "1", NO_COLOR: "1", ...more };
  for (const name of ["DENO_DIR", "HOME", "XDG_CACHE_HOME"]) {
    const value = Deno.env.get(name);
    if (value !== undefined) env[name] = value;
  }
  return env;
}

export function plan(tree: TestTree, name: string, more: Partial<PluginPlan> = {}): PluginPlan {
  return {
    name,
    root: fixture(name),
    entry: name === "word-stats" ? "mod.ts" : "mod.js",
    permissions: NONE,
    memory: 128,
    worktree: tree.work,
    env: hostEnv(),
    ...more,
  };
}

/** A runner over hosts of this process. */
export function runnerOf(
  plans: readonly PluginPlan[],
  options: { readonly load?: number; readonly code?: PluginHostCode } = {},
): PluginRunner {
  return new PluginRunner(new ProcessLink(plans, options.code ?? hostCode()), options);
}

/** A folder with a plugin made of this module. */
export function pluginOf(
  tree: TestTree,
  name: string,
  module: string,
  manifest: Record<string, unknown> = {},
): string {
  const folder = `plugins/${name}`;
  tree.write(`${folder}/mod.js`, module);
  tree.write(
    `${folder}/manifest.json`,
    JSON.stringify({
      name,
      version: "1.0.0",
      description: "A test.",
      polyglav: "*",
      entry: "mod.js",
      provides: { tools: ["one"] },
      ...manifest,
    }),
  );
  return `${tree.root}/${folder}`;
}

/** A tool named `one` whose handler has this body. */
export const one = (body: string, more = ""): string =>
  `export default [{ name: "one", description: "d", parameters: { type: "object", properties: {} }, ${more}` +
  ` execute: async (args, context) => { ${body} } }];`;
