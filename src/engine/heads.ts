/**
 * What the agents of a run share, and what each of them is.
 *
 * @module
 */
import type { Catalog } from "../catalog/catalog.ts";
import type { RoleFields } from "../catalog/types.ts";
import type { Settings } from "../config/settings.ts";
import type { Provider } from "../provider/provider.ts";
import type { ToolRegistry } from "../registry/registry.ts";
import type { OpenSession } from "../session/store.ts";
import type { SessionObject } from "../session/turns.ts";
import type { Action, HostPort } from "../tool.ts";
import type { UiSink } from "../ui/sink.ts";
import type { AskStore } from "./asks.ts";
import type { DispatcherPort } from "./batch.ts";
import type { EnginePolicy } from "./engine.ts";
import type { Instructions } from "./prompt.ts";
import type { Run, Runs } from "./runs.ts";
import type { Todos } from "./todos.ts";

/** A permission that somebody gives to an agent. */
export interface GrantRequest {
  /** Canonical name of the one tool; null: every tool of the key. */
  readonly name: string | null;
  readonly permission: string;
  readonly scope: "once" | "always";
  readonly origin: "human" | "supervisor";
  readonly ceiling: Action;
}

/** What an agent's calls go through. */
export interface HeadParts {
  readonly dispatcher: DispatcherPort;
  readonly policy: EnginePolicy;
  readonly settings: Settings;
  /** Gives a grant; throws PolicyDenied where it may not be. */
  grant(request: GrantRequest): void;
  /** The most that this agent's sub-agents may be granted for a key. */
  ceiling(key: string): Action;
  /** Keys for which the role asked for more than it gets. */
  readonly reduced: readonly string[];
  /** The parts of a sub-agent, no wider than this agent's. */
  open(request: SubRequest): Promise<HeadParts>;
}

/** How a sub-agent is opened. */
export interface SubRequest {
  readonly role: RoleFields;
  /** Wanted mode; default the caller's. */
  readonly mode?: string;
  readonly systemPrompt: string;
  readonly host: HostPort;
}

/** What all agents of a run share. */
export interface Shared {
  readonly catalog: Catalog;
  readonly runs: Runs;
  readonly registry: ToolRegistry;
  readonly asks: AskStore;
  readonly sink: UiSink;
  readonly instructions: Instructions | null;
  readonly worktree: string;
  /** Questions that nobody answers are parked. */
  readonly unattended: boolean;
  /** Models that roles may use beside the run's own. */
  readonly models: readonly string[];
  /** Opens a session of a sub-agent: a new one, or the one of this name. */
  openSession(
    options: { readonly name?: string; readonly role: string; readonly parentId: string },
  ): Promise<OpenSession>;
  readSession(name: string): Promise<SessionObject>;
  /** Where the person's attention can go; absent: there is none (headless). */
  readonly focus?: Focus;
}

/** The part of an interactive session that handoffs go to. */
export interface Focus {
  /** Takes note: when the turn is over, the person talks to the target. */
  handOver(from: Run, target: Run): void;
  /** Whether the person talks to this sub-agent, so that it may hand over as well. */
  holds?(run: Run): boolean;
}

/** One agent at work. */
export interface Head {
  readonly run: Run;
  readonly parent: Head | null;
  readonly session: OpenSession;
  readonly provider: Provider;
  readonly parts: HeadParts;
  /** 0 for the root. */
  readonly depth: number;
  /** Teams that it works in, outermost first. */
  readonly teams: readonly string[];
  /** What it was asked. */
  task: string;
  readonly todos: Todos;
  /** Why its turn ends after the call that runs now, or null. */
  halted: string | null;
}

/** One at a time: people answer one question after another. */
export class Queue {
  #tail: Promise<unknown> = Promise.resolve();

  /** Runs the work when all that came before is over. */
  run<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#tail.then(work);
    this.#tail = result.catch(() => {});
    return result;
  }
}

const queues = new WeakMap<Shared, Queue>();

/** The queue of questions to the person. */
export function questionsOf(shared: Shared): Queue {
  let queue = queues.get(shared);
  if (!queue) queues.set(shared, queue = new Queue());
  return queue;
}
