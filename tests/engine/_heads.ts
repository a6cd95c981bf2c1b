/**
 * A root agent with everything real but the models: bundled tools, policy, sandbox, catalog, sessions on disk, and the
 * port by which delegate, team, ask, catalog, handoff and todo reach the engine.
 */
import { type Ground, lateCatalog, openShared, partsOf } from "../../src/cli/_heads.ts";
import { loadConfig } from "../../src/config/load.ts";
import { userPaths } from "../../src/config/paths.ts";
import { defaults } from "../../src/config/schema.ts";
import type { Settings } from "../../src/config/settings.ts";
import { deliverAnswers } from "../../src/engine/ask_routes.ts";
import { Engine, type TurnResult } from "../../src/engine/engine.ts";
import type { Focus, Head, HeadParts, Shared } from "../../src/engine/heads.ts";
import { HeadPort } from "../../src/engine/host_port.ts";
import { Todos } from "../../src/engine/todos.ts";
import { Grants } from "../../src/policy/grants.ts";
import { checkCommand } from "../../src/policy/shell_command.ts";
import { type PolicyInput, ToolPolicy } from "../../src/policy/tool_policy.ts";
import type { ChatMessage, Provider, ProviderEvent } from "../../src/provider/provider.ts";
import { type CallResult, Dispatcher } from "../../src/registry/dispatch.ts";
import { ToolRegistry } from "../../src/registry/registry.ts";
import { Sandbox } from "../../src/sandbox/pool.ts";
import { type OpenSession, openSession } from "../../src/session/store.ts";
import type { ToolDefinition } from "../../src/tool.ts";
import type { ConfirmRequest, Question, UiEvent, UiSink } from "../../src/ui/sink.ts";
import { groups } from "../../tools/mod.ts";
import { makeWorktree, type TestTree } from "../helpers/worktree.ts";

/** What a scripted model says. */
export interface Reply {
  readonly content?: string;
  readonly calls?: readonly { readonly name: string; readonly arguments: unknown }[];
  readonly error?: string;
  /** Waits until the request is aborted. */
  readonly hang?: boolean;
}

/** A request as the model sees it. */
export interface Asked {
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ToolDefinition[];
  readonly model: string;
  /** The system message. */
  readonly system: string;
  /** The newest message's text. */
  readonly last: string;
}

/** A model: a list of replies in order, or a function of the request. */
export type Script = readonly Reply[] | ((asked: Asked) => Reply | Promise<Reply>);

export interface HeadRigOptions {
  readonly settings?: Partial<Settings>;
  readonly files?: Readonly<Record<string, string>>;
  readonly mode?: string;
  /** Answers of the person; without it there is none. */
  readonly person?: (question: Question) => string | null | Promise<string | null>;
  readonly confirm?: (request: ConfirmRequest) => "yes" | "no" | Promise<"yes" | "no">;
  readonly unattended?: boolean;
  readonly focus?: Focus;
  /** Every Decision says allow. */
  readonly open?: boolean;
  /** Workers have all permissions. */
  readonly inherit?: boolean;
  readonly trust?: boolean;
  /** The tree of an earlier rig, and the session to go on with. */
  readonly on?: { readonly tree: TestTree; readonly name: string };
  /** Workers of each permission set. */
  readonly size?: number;
}

export interface HeadRig extends AsyncDisposable {
  readonly tree: TestTree;
  readonly asked: Asked[];
  readonly events: UiEvent[];
  readonly shared: Shared;
  readonly head: Head;
  readonly parts: HeadParts & { readonly dispatcher: Dispatcher };
  readonly session: OpenSession;
  readonly warnings: string[];
  run(prompt?: string, signal?: AbortSignal): Promise<TurnResult>;
  /** Calls a tool as the root's model would. */
  call(name: string, args: unknown, signal?: AbortSignal): Promise<CallResult>;
  /** Answers for this session. */
  answers(): ReturnType<typeof deliverAnswers>;
}

class ScriptedProvider implements Provider {
  readonly name = "scripted";
  readonly model = "scripted";
  readonly asked: Asked[] = [];
  #next = 0;

  constructor(readonly script: Script) {}

  async *chat(
    messages: readonly ChatMessage[],
    tools: readonly ToolDefinition[],
    options: { readonly model: string; readonly signal?: AbortSignal },
  ): AsyncGenerator<ProviderEvent> {
    const asked: Asked = {
      messages: [...messages],
      tools,
      model: options.model,
      system: messages[0]?.content ?? "",
      last: messages.at(-1)?.content ?? "",
    };
    this.asked.push(asked);
    const reply = typeof this.script === "function"
      ? await this.script(asked)
      : this.script[this.#next++] ?? { content: "(script exhausted)" };
    if (reply.hang) {
      await new Promise<void>((resolve) => {
        if (options.signal?.aborted) resolve();
        options.signal?.addEventListener("abort", () => resolve(), { once: true });
      });
    }
    if (options.signal?.aborted) {
      yield { type: "done", finish: "cancelled" };
      return;
    }
    if (reply.error !== undefined) {
      yield { type: "error", code: 400, message: reply.error, retryable: false };
      return;
    }
    if (reply.content) yield { type: "token", text: reply.content };
    if (reply.calls) {
      yield {
        type: "tool_calls",
        calls: reply.calls.map((call, i) => ({
          id: `c${this.asked.length}_${i}`,
          name: call.name,
          arguments: typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments),
        })),
      };
    }
    const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
    yield { type: "done", finish: reply.calls ? "tool_calls" : "stop", usage };
  }
}

/** A call of a script. */
export function calls(...list: readonly [name: string, args: unknown][]): Reply {
  return { calls: list.map(([name, args]) => ({ name, arguments: args })) };
}

export async function headRig(script: Script, options: HeadRigOptions = {}): Promise<HeadRig> {
  const tree = options.on?.tree ?? makeWorktree({ files: options.files });
  const paths = userPaths((name) => name === "HOME" ? tree.home : undefined);
  const base = defaults();
  const settings: Settings = {
    ...base,
    stream_retry_delay: 0.01,
    ...options.settings,
    exec: { ...base.exec, confine: "off", ...options.settings?.exec },
    tool_permission: { ...base.tool_permission, ...options.settings?.tool_permission },
  };
  const registry = new ToolRegistry();
  for (const [owner, tools] of Object.entries(groups)) {
    for (const tool of tools) registry.register(tool, owner);
  }
  const warnings: string[] = [];
  const loaded = loadConfig({ worktree: tree.work, paths, trust: true });
  const place = { worktree: tree.work, paths, loaded: { ...loaded, settings } };
  const catalog = lateCatalog(place, options.trust ?? true, (message) => warnings.push(message));
  await catalog.load();
  const policyInput: PolicyInput = {
    settings,
    mode: options.mode ?? "build",
    worktree: tree.work,
    home: tree.home,
    configDir: paths.config,
    stateDir: paths.state,
    shell: "/bin/sh",
    env: { PATH: "/usr/bin:/bin" },
    checkCommand,
    grants: new Grants(),
    catalog: () => catalog.loaded!.view(),
    open: options.open,
  };
  const sandbox = new Sandbox({ worktree: tree.work, inherit: options.inherit, size: options.size });
  const ground: Ground = {
    registry,
    dispatcher: (more) => new Dispatcher({ registry, sandbox, childEnv: { PATH: "/usr/bin:/bin" }, ...more }),
    checker: () => Promise.resolve(checkCommand),
  };
  const events: UiEvent[] = [];
  const sink: UiSink = {
    emit: (event) => void events.push(event),
    confirm: (request) => Promise.resolve(options.confirm?.(request) ?? "nobody"),
    ...(options.person ? { ask: (question) => Promise.resolve(options.person!(question)) } : {}),
  };
  const shared: Shared = {
    ...await openShared({ ...place, registry, catalog }, {
      sink,
      instructions: null,
      trust: false,
      unattended: options.unattended ?? false,
      models: [],
    }),
    ...(options.focus ? { focus: options.focus } : {}),
  };
  const port = new HeadPort(shared, () => head);
  const parts = partsOf(ground, policyInput, new ToolPolicy(policyInput), port);
  const session = await openSession({
    worktree: tree.work,
    stateDir: paths.state,
    name: options.on?.name ?? "root",
    noiseTools: [],
    maxToolChars: 0,
  });
  const provider = new ScriptedProvider(script);
  const run = shared.runs.start({
    role: null,
    session: session.name,
    sessionId: session.id,
    parent: null,
    task: "go",
  });
  const head: Head = {
    run,
    parent: null,
    session,
    provider,
    parts,
    depth: 0,
    teams: [],
    task: "go",
    todos: Todos.of(session.object()),
    halted: null,
  };
  const engine = new Engine({
    provider,
    dispatcher: parts.dispatcher,
    registry,
    policy: parts.policy,
    session,
    settings,
    instructions: null,
    sink,
    halted: () => head.halted,
  });
  return {
    tree,
    asked: provider.asked,
    events,
    shared,
    head,
    parts,
    session,
    warnings,
    run: (prompt = "go", signal = new AbortController().signal) => engine.runTurn(prompt, signal),
    call: (name, args, signal) =>
      parts.dispatcher.call(name, args, { confirm: () => Promise.resolve("nobody"), signal }),
    answers: () => deliverAnswers(shared, head),
    [Symbol.asyncDispose]() {
      session.close();
      sandbox.close();
      if (!options.on) tree[Symbol.dispose]();
      return Promise.resolve();
    },
  };
}

/** Roles of tests, as a file. */
export function roles(spec: Readonly<Record<string, unknown>>): Record<string, string> {
  return { ".polyglav/roles.json": JSON.stringify(spec) };
}
