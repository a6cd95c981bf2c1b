/**
 * The web tools with everything real: registry, policy, dispatcher, sandbox and its workers, a server on loopback. Names
 * are resolved by the test.
 */
import { defaults } from "../../src/config/schema.ts";
import type { Settings } from "../../src/config/settings.ts";
import { type PolicyInput, ToolPolicy } from "../../src/policy/tool_policy.ts";
import type { PermissionEntry } from "../../src/policy/types.ts";
import { type CallResult, type ConfirmCall, Dispatcher } from "../../src/registry/dispatch.ts";
import { ToolRegistry } from "../../src/registry/registry.ts";
import { LIMITS, type WebService } from "../../src/registry/web_hops.ts";
import { Sandbox } from "../../src/sandbox/pool.ts";
import { webFetch } from "../../tools/web_fetch.ts";
import { webSearch } from "../../tools/web_search.ts";
import { makeWorktree } from "../helpers/worktree.ts";

export type Answer = "yes" | "no" | "cancel" | "nobody";

export interface RigOptions {
  readonly settings?: Partial<Settings>;
  /** Addresses by name; a function is asked anew each time. */
  readonly names?: Readonly<Record<string, readonly string[] | (() => readonly string[])>>;
  /** One layer alone: the policy says yes to everything. */
  readonly open?: boolean;
  /** One layer alone: workers have all permissions. */
  readonly inherit?: boolean;
  readonly confirm?: Answer | ((call: ConfirmCall) => Answer);
  readonly service?: WebService;
  readonly limits?: Partial<Record<keyof typeof LIMITS, number>>;
  readonly mode?: string;
}

export interface Rig extends Disposable {
  call(name: string, args: unknown, signal?: AbortSignal): Promise<CallResult>;
  /** The result of web_fetch without its frame. */
  read(url: string, offset?: number): Promise<string>;
  /** Another run with the same sandbox, as a sub-agent is. */
  other(): Rig;
  readonly asked: ConfirmCall[];
  readonly audit: PermissionEntry[];
}

export const OPEN_WEB = { hosts: [], private: true };

export function rig(options: RigOptions = {}, sandbox?: Sandbox): Rig {
  const tree = makeWorktree();
  const settings: Settings = { ...defaults(), ...options.settings };
  const input: PolicyInput = {
    settings,
    mode: options.mode ?? "build",
    worktree: tree.work,
    home: tree.home,
    configDir: `${tree.home}/.config`,
    shell: "/bin/sh",
    env: {},
    open: options.open ?? false,
  };
  const registry = new ToolRegistry().register(webSearch).register(webFetch);
  const pool = sandbox ?? new Sandbox({ worktree: tree.work, inherit: options.inherit ?? false });
  const dispatcher = new Dispatcher({
    registry,
    policy: new ToolPolicy(input),
    policyInput: input,
    sandbox: pool,
    childEnv: {},
    web: {
      resolve: (host) => {
        const found = options.names?.[host];
        if (!found) return Promise.reject(new Error(`${host} could not be resolved: there is no such name`));
        return Promise.resolve(typeof found === "function" ? found() : found);
      },
      service: (name) => Promise.resolve(name === "search" ? options.service ?? null : null),
      limits: { ...LIMITS, ...options.limits },
    },
  });
  const asked: ConfirmCall[] = [], audit: PermissionEntry[] = [];
  const result: Rig = {
    asked,
    audit,
    call: (name, args, signal) =>
      dispatcher.call(name, args, {
        signal,
        confirm: (call) => {
          asked.push(call);
          const { confirm = "nobody" } = options;
          return Promise.resolve(typeof confirm === "function" ? confirm(call) : confirm);
        },
        onDecision: (entry) => audit.push(entry),
      }),
    read: async (url, offset) => unframed((await result.call("web_fetch", { url, offset })).content),
    other: () => rig(options, pool),
    [Symbol.dispose]() {
      if (!sandbox) pool.close();
      tree[Symbol.dispose]();
    },
  };
  return result;
}

/** What stands in the frame; the whole text where there is none. */
export function unframed(content: string): string {
  const found =
    /^\[untrusted web content: [^\n]*\]\n\([^\n]*\)\n\n([\s\S]*?)\n\n\[end of untrusted web content\]([\s\S]*)$/
      .exec(content);
  return found ? found[1]! + found[2]! : content;
}
