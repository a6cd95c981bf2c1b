/**
 * An engine with everything real but the model: registry, policy, dispatcher, session on disk, the provider over HTTP.
 */
import { defaults } from "../../src/config/schema.ts";
import type { Settings } from "../../src/config/settings.ts";
import { Engine, type TurnResult } from "../../src/engine/engine.ts";
import type { Instructions } from "../../src/engine/prompt.ts";
import { ToolPolicy } from "../../src/policy/tool_policy.ts";
import type { Provider } from "../../src/provider/provider.ts";
import { Dispatcher } from "../../src/registry/dispatch.ts";
import { ToolRegistry } from "../../src/registry/registry.ts";
import { Sandbox } from "../../src/sandbox/pool.ts";
import { type OpenSession, openSession } from "../../src/session/store.ts";
import type { SessionObject } from "../../src/session/turns.ts";
import { defineTool, type Tool } from "../../src/tool.ts";
import type { ConfirmAnswer, UiEvent } from "../../src/ui/sink.ts";
import { type ModelServer, type ScriptedReply, startModel } from "../helpers/model_server.ts";
import { makeWorktree, type TestTree } from "../helpers/worktree.ts";
import { providerAt } from "../provider/_collect.ts";

export interface Rig extends AsyncDisposable {
  readonly tree: TestTree;
  readonly server: ModelServer;
  readonly session: OpenSession;
  readonly engine: Engine;
  /** What the user interface was told. */
  readonly events: UiEvent[];
  run(prompt?: string, signal?: AbortSignal): Promise<TurnResult>;
  /** Text of the n-th request's messages: `role: content`. */
  sent(n: number): string[];
  object(): SessionObject;
}

export interface RigOptions {
  readonly settings?: Partial<Settings>;
  readonly tools?: readonly Tool[];
  readonly mode?: string;
  readonly instructions?: Instructions | null;
  readonly confirm?: ConfirmAnswer | (() => Promise<ConfirmAnswer>);
  readonly provider?: (server: ModelServer) => Provider;
  /** Runs with this tree (which the caller disposes) and session name. */
  readonly on?: { readonly tree: TestTree; readonly name: string };
}

/** A tool that runs in the host and says what it got. */
export function tool(
  name: string,
  execute: (args: Record<string, unknown>, signal: AbortSignal) => string | Promise<string>,
  more: Partial<Tool> = {},
): Tool {
  return defineTool(
    {
      name,
      description: `Test tool ${name}.`,
      category: "read",
      permission: "read",
      access: [],
      parameters: { type: "object", properties: { path: { type: "string" }, text: { type: "string" } } },
      ...more,
      execute: (args: Record<string, unknown>, context) => execute(args, context.signal),
    } as Parameters<typeof defineTool>[0],
  );
}

export async function rig(script: readonly ScriptedReply[], options: RigOptions = {}): Promise<Rig> {
  const tree = options.on?.tree ?? makeWorktree();
  const server = startModel(script);
  const settings: Settings = { ...defaults(), stream_retry_delay: 0.01, ...options.settings };
  const registry = new ToolRegistry();
  for (const each of options.tools ?? [tool("echo", (args) => `echo ${JSON.stringify(args)}`)]) {
    registry.register(each);
  }
  const policyInput = {
    settings,
    mode: options.mode ?? "build",
    worktree: tree.work,
    home: tree.home,
    configDir: `${tree.home}/.config`,
    shell: "/bin/sh",
    env: {},
  };
  const policy = new ToolPolicy(policyInput);
  const sandbox = new Sandbox({ worktree: tree.work });
  const dispatcher = new Dispatcher({ registry, policy, policyInput, sandbox, childEnv: {} });
  const session = await openSession({
    worktree: tree.work,
    stateDir: `${tree.home}/.state`,
    name: options.on?.name,
    noiseTools: settings.noise_tools,
    maxToolChars: 0,
  });
  const events: UiEvent[] = [];
  const confirm = options.confirm ?? "nobody";
  const provider = options.provider?.(server) ?? providerAt(server.url);
  const engine = new Engine({
    provider,
    dispatcher,
    registry,
    policy,
    session,
    settings,
    instructions: options.instructions ?? null,
    worktree: tree.work,
    sink: {
      emit: (event) => events.push(event),
      confirm: () => typeof confirm === "function" ? confirm() : Promise.resolve(confirm),
    },
  });
  return {
    tree,
    server,
    session,
    engine,
    events,
    run: (prompt = "go", signal = new AbortController().signal) => engine.runTurn(prompt, signal),
    sent: (n) =>
      server.requests[n]!.body.messages.map((m: { role: string; content: string | null }) =>
        `${m.role}: ${m.content}`
      ),
    object: () => session.object(),
    async [Symbol.asyncDispose]() {
      await provider.close?.().catch(() => {});
      session.close();
      sandbox.close();
      await server[Symbol.asyncDispose]();
      if (!options.on) tree[Symbol.dispose]();
    },
  };
}
