/**
 * Opening a session for an interactive conversation: its log, the root agent, and what its sub-agents share.
 *
 * @module
 */
import type { Settings } from "../../config/settings.ts";
import { Engine } from "../../engine/engine.ts";
import type { Focus, Head, HeadParts, Shared } from "../../engine/heads.ts";
import type { Instructions } from "../../engine/prompt.ts";
import { Todos } from "../../engine/todos.ts";
import { UsageError } from "../../errors.ts";
import type { Provider } from "../../provider/provider.ts";
import { type OpenSession, openSession } from "../../session/store.ts";
import type { Invocation } from "../_command.ts";
import { openShared } from "../_heads.ts";
import type { Host } from "../_host.ts";
import { trustsRun } from "../_load.ts";
import type { Front } from "./front.ts";

/** A conversation that is open. */
export interface Conversation {
  readonly session: OpenSession;
  /** The root agent. */
  readonly head: Head;
  readonly engine: Engine;
  readonly shared: Shared;
}

/** What a conversation is opened with. */
export interface ConversationOptions {
  readonly host: Host;
  readonly front: Pick<Front, "sink" | "warn">;
  readonly provider: Provider;
  /** In force; may change while it is open. */
  readonly settings: Settings;
  readonly values: Invocation["values"];
  readonly instructions: Instructions | null;
  readonly parts: HeadParts;
  /** Name of the session; null: a new one. */
  readonly name: string | null;
  /** Read at every question. */
  readonly unattended: boolean;
  readonly focus: Focus;
}

/**
 * Opens it. Close its session at the end.
 *
 * @throws {SessionError} where the session cannot be opened
 * @throws {UsageError} for a session of a sub-agent
 */
export async function openConversation(options: ConversationOptions): Promise<Conversation> {
  const { host, front: { sink, warn }, provider, settings, values, instructions, focus } = options;
  const session = await openSession({
    worktree: host.worktree,
    stateDir: host.paths.state,
    name: options.name ?? undefined,
    // The variable speaks for the project, not for a session that something else has changed.
    trust: values.trust === true || (trustsRun(values, host.io) && "unanchored"),
    noiseTools: settings.noise_tools,
    maxToolChars: settings.session_tool_max_chars,
    canonicalName: (name) => host.registry.get(name)?.name ?? name,
  });
  try {
    const object = session.object(), first = object.turns[0]?.parts[0];
    if (object.parent_id !== null) {
      throw new UsageError(`session "${session.name}" is a sub-agent's; go on with the one that started it`);
    }
    session.notes.forEach(warn);
    const made = await openShared(host, {
      ...{ sink, instructions, unattended: false, trust: values.trust === true },
      models: (values["approve-model"] ?? []) as readonly string[],
    });
    const shared: Shared = {
      ...made,
      focus,
      get unattended() {
        return options.unattended;
      },
    };
    const about = { role: null, session: session.name, sessionId: session.id, parent: null };
    const parts: HeadParts = { ...options.parts, settings };
    const head: Head = {
      run: shared.runs.start({ ...about, task: first?.type === "user" ? first.text : "" }),
      ...{ session, provider, parts, parent: null, depth: 0, teams: [], task: "", halted: null },
      todos: Todos.of(object),
    };
    head.run.status = "paused";
    const engine = new Engine({
      ...{ provider, session, settings, instructions, sink, worktree: host.worktree },
      dispatcher: parts.dispatcher,
      registry: host.registry,
      policy: host.policy,
      halted: () => head.halted,
    });
    return { session, head, engine, shared };
  } catch (error) {
    session.close();
    throw error;
  }
}
