/**
 * Runs the tools that start programs over the real guard and the real exec, without a policy or a worker.
 *
 * @module
 */
import { ToolError } from "../../src/errors.ts";
import { cleanArguments } from "../../src/registry/arguments.ts";
import { splitOutput } from "../../src/registry/result.ts";
import { exec } from "../../src/sandbox/exec.ts";
import type { ExecOptions, Tool, ToolContext, ToolDetails } from "../../src/tool.ts";
import { environment, sh } from "../sandbox/_exec.ts";
import type { TestTree } from "../helpers/worktree.ts";
import { contextOf, type Setup } from "./_workspace.ts";

/** What a call gave. */
export interface Called {
  readonly content: string;
  readonly details: ToolDetails | null;
}

/** How a call runs. */
export interface CallSetup extends Setup {
  readonly signal?: AbortSignal;
  /** Sees every program that is started. */
  readonly onExec?: (argv: readonly string[], options: ExecOptions) => void;
  /** Added to the children's environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Another directory as the worktree. */
  readonly worktree?: string;
}

/** Calls a tool as the registry does: aliases' presets first, arguments cleaned, a thrown ToolError is `Error: …`. */
export async function call(
  tool: Tool,
  tree: TestTree,
  args: Readonly<Record<string, unknown>>,
  setup: CallSetup = {},
): Promise<Called> {
  const at = setup.worktree ? { ...tree, work: setup.worktree } as TestTree : tree;
  const base = contextOf(tool, at, setup);
  const options = (given: ExecOptions) => ({
    ...given,
    cwd: base.workspace.resolve(given.cwd ?? ".", "list"),
    env: { ...environment(tree), GIT_CONFIG_NOSYSTEM: "1", ...setup.env, ...given.env },
    captureDirectory: tree.root,
    signal: setup.signal,
  });
  const context: ToolContext = {
    ...base,
    exec(argv, given) {
      setup.onExec?.(argv, given);
      return exec(argv, options(given));
    },
    shell: (command, given) => exec(["/bin/sh", "-c", command], options(given)),
  };
  try {
    return splitOutput(await tool.execute(cleanArguments(tool, args), context));
  } catch (error) {
    if (error instanceof ToolError) return { content: `Error: ${error.message}`, details: null };
    throw error;
  }
}

/** Calls a tool by an alias that presets arguments. */
export function callAs(
  tool: Tool,
  alias: string,
  tree: TestTree,
  args: Readonly<Record<string, unknown>>,
  setup: CallSetup = {},
): Promise<Called> {
  const aliases = tool.aliases as Readonly<Record<string, Record<string, unknown>>>;
  if (!Object.hasOwn(aliases, alias)) throw new Error(`no alias ${alias}`);
  return call(tool, tree, { ...aliases[alias], ...args }, setup);
}

/** Runs a script that has to succeed; its output. */
export async function script(tree: TestTree, text: string, cwd: string = tree.work): Promise<string> {
  const result = await sh(tree, text, { cwd, env: { ...environment(tree), GIT_CONFIG_NOSYSTEM: "1" } });
  if (result.code !== 0) throw new Error(`${text}\n${result.output}`);
  return result.output;
}

/** Makes the worktree a repository on `main` with one commit, `first`, of everything in it. */
export async function repository(tree: TestTree): Promise<void> {
  tree.write(
    "home/.gitconfig",
    "[user]\n\tname = Tester\n\temail = tester@example.invalid\n[init]\n\tdefaultBranch = main\n",
  );
  await script(tree, "git init -q -b main . && git add -A && git commit -q --allow-empty -m first");
}
