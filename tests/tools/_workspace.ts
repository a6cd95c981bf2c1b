/**
 * Runs the file tools over the real guard, without a policy or a worker.
 *
 * @module
 */
import type { GuardRule, GuardScope } from "../../src/policy/types.ts";
import { createWorkspace } from "../../src/sandbox/guard.ts";
import type { Tool, ToolContext, ToolDetails, Workspace } from "../../src/tool.ts";
import { cleanArguments, validateArguments } from "../../src/registry/arguments.ts";
import { splitOutput } from "../../src/registry/result.ts";
import { ToolError } from "../../src/errors.ts";
import type { TestTree } from "../helpers/worktree.ts";

/** What a call runs with. */
export interface Setup {
  readonly config?: Readonly<Record<string, unknown>>;
  readonly rules?: readonly GuardRule[];
  /** Canonical paths with consent. */
  readonly consented?: GuardScope["consented"];
  readonly workspace?: Workspace;
  /** Counts the parts that were fanned out. */
  readonly onFanout?: (parts: number) => void;
}

/** A workspace whose root is the tree's `work`, readable and writable. */
export function workspaceOf(tree: TestTree, setup: Setup = {}): Workspace {
  return createWorkspace({
    worktree: tree.work,
    home: tree.home,
    roots: [{ path: tree.work, access: "write" }],
    rules: setup.rules ?? [],
    consented: setup.consented ?? [],
  });
}

/** A workspace with some of its methods replaced. */
export function withMethods(workspace: Workspace, methods: Partial<Workspace>): Workspace {
  return new Proxy(workspace, {
    get(target, name) {
      const value = name in methods ? methods[name as keyof Workspace] : target[name as keyof Workspace];
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** The context that a handler gets. */
export function contextOf(tool: Tool, tree: TestTree, setup: Setup = {}): ToolContext {
  const unavailable = () => Promise.reject(new Error("not available here"));
  const context: ToolContext = {
    worktree: tree.work,
    config: setup.config ?? {},
    signal: new AbortController().signal,
    workspace: setup.workspace ?? workspaceOf(tree, setup),
    exec: unavailable,
    shell: unavailable,
    fetch: unavailable,
    memory: { get: unavailable, set: unavailable },
    progress: () => {},
    fanout: async (inputs) => {
      setup.onFanout?.(inputs.length);
      const results: unknown[] = [];
      for (const input of inputs) {
        // Each part in a context of its own, its input and result as they cross to another worker.
        const other = contextOf(tool, tree, setup);
        results.push(structuredClone(await tool.part!(structuredClone(input), other)));
      }
      return results;
    },
  };
  return context;
}

/** A result with what a user interface gets. */
export interface Ran {
  readonly content: string;
  readonly details: ToolDetails | null;
}

/** Runs a tool as the registry does: arguments cleaned and checked, failures as `Error: …`. */
export async function runFully(
  tool: Tool,
  tree: TestTree,
  args: Record<string, unknown>,
  setup: Setup = {},
): Promise<Ran> {
  try {
    const cleaned = await validateArguments(tool, cleanArguments(tool, args));
    return splitOutput(await tool.execute(cleaned, contextOf(tool, tree, setup)));
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    return { content: `Error: ${error.message}`, details: null };
  }
}

/** The content alone. */
export async function run(
  tool: Tool,
  tree: TestTree,
  args: Record<string, unknown>,
  setup: Setup = {},
): Promise<string> {
  return (await runFully(tool, tree, args, setup)).content;
}

/** The preview of a call. */
export async function preview(tool: Tool, tree: TestTree, args: Record<string, unknown>): Promise<string> {
  return await tool.preview!(
    await validateArguments(tool, cleanArguments(tool, args)),
    contextOf(tool, tree),
  );
}
