/**
 * Attacks are tried on each layer alone: the tools are the bundled ones, called as a model calls them.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { Settings } from "../../src/config/settings.ts";
import { ToolPolicy } from "../../src/policy/tool_policy.ts";
import { type CallResult, Dispatcher } from "../../src/registry/dispatch.ts";
import { Sandbox } from "../../src/sandbox/pool.ts";
import { join } from "../../src/text/path.ts";
import { makeWorktree, type TestTree, type TreeSpec } from "../helpers/worktree.ts";
import { bundledRegistry, policyInputOf } from "../helpers/policy_input.ts";

/** What stands between a call and the disk. */
export interface Layer {
  readonly name: string;
  /** The policy says yes to everything. */
  readonly open: boolean;
  /** Workers have all permissions of the test. */
  readonly inherit: boolean;
}

/** Each layer alone, and the guard quite alone. */
export const LAYERS: readonly Layer[] = [
  { name: "policy open, workers compiled", open: true, inherit: false },
  { name: "policy real, workers with everything", open: false, inherit: true },
  { name: "policy open, workers with everything (the guard alone)", open: true, inherit: true },
];

/** One tree with one layer before it. */
export interface Target extends Disposable {
  readonly tree: TestTree;
  readonly layer: Layer;
  readonly settings: Settings;
  readonly sandbox: Sandbox;
  /** Calls a tool as a model does; nobody is there to say yes. */
  call(tool: string, args: Record<string, unknown>): Promise<CallResult>;
  /** The same where somebody says yes to every question. */
  approved(tool: string, args: Record<string, unknown>): Promise<CallResult>;
}

/** What a secret looks like, wherever it turns up. */
export const SECRET = "SECRET-0f9d";

/** Sets up a layer over a tree. The project is not trusted. */
export function target(tree: TestTree, layer: Layer): Target {
  const { input } = policyInputOf(tree), { settings } = input;
  const policyInput = { ...input, open: layer.open };
  const registry = bundledRegistry();
  const policy = new ToolPolicy(policyInput);
  const sandbox = new Sandbox({ worktree: tree.work, inherit: layer.inherit });
  const dispatcher = new Dispatcher({
    registry,
    policy,
    policyInput,
    sandbox,
    childEnv: { PATH: "/usr/bin:/bin" },
  });
  return {
    tree,
    layer,
    settings,
    sandbox,
    call: (tool, args) => dispatcher.call(tool, args, { confirm: () => Promise.resolve("nobody") }),
    approved: (tool, args) => dispatcher.call(tool, args, { confirm: () => Promise.resolve("yes") }),
    [Symbol.dispose]: () => sandbox.close(),
  };
}

/** Everything on disk below a directory: kind, mode, links and content of each entry. */
export function snapshot(root: string): Record<string, string> {
  const out: Record<string, string> = {};
  const visit = (path: string) => {
    for (const { name } of Deno.readDirSync(path)) {
      const at = join(path, name), info = Deno.lstatSync(at), key = at.slice(root.length + 1);
      if (info.isSymlink) out[key] = `-> ${Deno.readLinkSync(at)}`;
      else if (info.isDirectory) {
        out[key] = "directory";
        visit(at);
      } else if (info.isFile) out[key] = `${(info.mode! & 0o7777).toString(8)} ${Deno.readTextFileSync(at)}`;
      else out[key] = "other";
    }
  };
  visit(root);
  return out;
}

/** An attack: what stands on disk, and the calls, none of which may do anything or tell a secret. */
export interface Attack {
  readonly name: string;
  readonly tree: TreeSpec;
  /** What a tree's description cannot say. */
  readonly prepare?: (tree: TestTree) => void | Promise<void>;
  readonly calls: (tree: TestTree) => readonly (readonly [tool: string, args: Record<string, unknown>])[];
  /** Calls that are not refused, but have nothing to tell (a walk that leaves the secret out). */
  readonly harmless?: boolean;
}

/** Tries an attack on each layer alone and looks at the disk afterwards. */
export function attack(spec: Attack): void {
  for (const layer of LAYERS) {
    Deno.test(`${spec.name} [${layer.name}]`, async () => {
      using tree = makeWorktree(spec.tree);
      await spec.prepare?.(tree);
      using aim = target(tree, layer);
      const before = snapshot(tree.root);
      for (const [tool, args] of spec.calls(tree)) {
        const result = await aim.call(tool, args),
          shown = `${tool} ${JSON.stringify(args)}: ${result.content}`;
        assert.ok(
          !JSON.stringify([result.content, result.details]).includes(SECRET),
          `told the secret: ${shown}`,
        );
        const nothing = tool === "grep" && /^\(no matches for /.test(result.content);
        if (!spec.harmless) assert.ok(result.isError || nothing, `was not refused: ${shown}`);
        assert.deepEqual(snapshot(tree.root), before, `changed the disk: ${shown}`);
      }
    });
  }
}
