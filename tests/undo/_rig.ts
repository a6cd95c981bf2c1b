/**
 * The bundled tools over a tree, with a journal.
 *
 * @module
 */
import { ToolPolicy } from "../../src/policy/tool_policy.ts";
import { type CallResult, Dispatcher } from "../../src/registry/dispatch.ts";
import { Sandbox } from "../../src/sandbox/pool.ts";
import { undoFiles } from "../../src/sandbox/undo_files.ts";
import type { ChangeWatch } from "../../src/undo/changes.ts";
import { Journal, type JournalOptions } from "../../src/undo/journal.ts";
import { Undo, type UndoFiles } from "../../src/undo/undo.ts";
import type { TestTree } from "../helpers/worktree.ts";
import { bundledRegistry, policyInputOf } from "../helpers/policy_input.ts";

/** What a test works with. */
export interface Rig extends Disposable {
  readonly journal: Journal;
  readonly undo: Undo;
  readonly state: string;
  readonly sandbox: Sandbox;
  /** Calls a tool; every question is answered with yes. */
  call(
    tool: string,
    args: Record<string, unknown>,
    io?: { readonly signal?: AbortSignal },
  ): Promise<CallResult>;
  write(path: string, content: string, mode?: "w" | "a"): Promise<CallResult>;
}

/** Makes it. @param options of the journal; `record` stands for the journal's own */
export function rig(
  tree: TestTree,
  options: Partial<JournalOptions> & {
    readonly record?: Journal["record"] | null;
    readonly files?: UndoFiles;
    readonly inherit?: boolean;
    readonly watch?: ChangeWatch;
  } = {},
): Rig {
  const { input: policyInput, paths } = policyInputOf(tree);
  const registry = bundledRegistry();
  const place = { worktree: tree.work, stateDir: paths.state, bytes: options.bytes };
  const journal = new Journal({ ...place, ...options });
  const sandbox = new Sandbox({ worktree: tree.work, inherit: options.inherit });
  const dispatcher = new Dispatcher({
    registry,
    policy: new ToolPolicy(policyInput),
    policyInput,
    sandbox,
    journal: options.record === null ? undefined : options.record ? { record: options.record } : journal,
    watch: options.watch,
    childEnv: { PATH: "/usr/bin:/bin" },
  });
  const call: Rig["call"] = (tool, args, io = {}) =>
    dispatcher.call(tool, args, { confirm: () => Promise.resolve("yes"), ...io });
  return {
    journal,
    undo: new Undo(place, options.files ?? undoFiles),
    state: paths.state,
    sandbox,
    call,
    write: (path, content, mode = "w") => call("file_write", { path, content, mode }),
    [Symbol.dispose]() {
      sandbox.close();
      journal.close();
    },
  };
}

/** What each step of taking back came to. */
export function kinds(steps: readonly { shown: string; kind: string; problem: string | null }[]): string[] {
  return steps.map(({ shown, kind, problem }) => `${shown} ${problem ?? kind}`);
}
