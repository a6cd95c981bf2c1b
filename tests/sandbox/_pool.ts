/**
 * A sandbox whose workers carry the tests' tools.
 *
 * @module
 */
import type { CallScope, GuardScope, PermissionSet } from "../../src/policy/types.ts";
import {
  type CallOptions,
  Sandbox,
  type SandboxOptions,
  type SandboxResult,
} from "../../src/sandbox/pool.ts";
import type { Tool } from "../../src/tool.ts";
import type { TestTree } from "../helpers/worktree.ts";

/** Workers with the tools of _tools.ts. */
export const ENTRY: URL = new URL("./_entry.ts", import.meta.url);

/** A sandbox and short ways to use it; ends its workers when it is disposed. */
export class TestSandbox implements Disposable {
  readonly sandbox: Sandbox;
  readonly #tree: TestTree;

  /** @param options beside worktree and entry */
  constructor(tree: TestTree, options: Partial<SandboxOptions> = {}) {
    this.#tree = tree;
    this.sandbox = new Sandbox({ worktree: tree.work, entry: ENTRY, ...options });
  }

  /** What the tool's standing permissions are. */
  scope(tool: Tool, guard: Partial<GuardScope> = {}, permissions: Partial<PermissionSet> = {}): CallScope {
    const { work, home } = this.#tree,
      writes = tool.access.includes("write"),
      runs = tool.access.includes("run");
    return {
      permissions: {
        read: [work],
        write: writes ? [work] : [],
        run: runs ? tool.programs?.(null, {}) ?? [] : [],
        net: [],
        env: runs ? ["NODE_V8_COVERAGE"] : [],
        ...permissions,
      },
      guard: {
        worktree: work,
        home,
        roots: [{ path: work, access: writes ? "write" : "read" }],
        rules: [],
        consented: [],
        ...guard,
      },
      oneShot: false,
    };
  }

  /** Runs a call with the standing permissions. */
  run(
    tool: Tool,
    args: Record<string, unknown>,
    options: Partial<CallOptions> = {},
    scope: CallScope = this.scope(tool),
  ): Promise<SandboxResult> {
    return this.sandbox.run(tool, args, scope, { config: {}, timeout: 20_000, env: {}, ...options });
  }

  [Symbol.dispose](): void {
    this.sandbox.close();
  }
}

/** A result as one text: the output, or `kind: message`. */
export function shown(result: SandboxResult): string {
  if (!result.ok) return `${result.kind}: ${result.message}`;
  return typeof result.output === "string" ? result.output : JSON.stringify(result.output);
}

/** Waits until a condition holds; fails after a while. */
export async function until(condition: () => boolean, what: string): Promise<void> {
  for (let i = 0; i < 500; i++) {
    if (condition()) return;
    await new Promise((done) => setTimeout(done, 20));
  }
  throw new Error(`it never happened: ${what}`);
}

/** Whether a process runs (a dead one that nobody has waited for does not). */
export function alive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) [ZX]/s.test(Deno.readTextFileSync(`/proc/${pid}/stat`));
  } catch {
    return false;
  }
}
