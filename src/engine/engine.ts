/**
 * The engine: a conversation with a model that acts through tools. One engine is one session in one worktree.
 *
 * @module
 */
import type { Settings } from "../config/settings.ts";
import { PolyglavError } from "../errors.ts";
import { sizeOf } from "../llm/messages.ts";
import type { Provider } from "../provider/provider.ts";
import type { ToolRegistry } from "../registry/registry.ts";
import type { SessionWriter } from "../session/turns.ts";
import type { UiSink } from "../ui/sink.ts";
import type { DispatcherPort } from "./batch.ts";
import { Conversation, rebuild } from "./context.ts";
import { type Instructions, systemPrompt } from "./prompt.ts";
import { Turn, type TurnResult } from "./turn.ts";

export type { TurnResult } from "./turn.ts";
export type { Instructions } from "./prompt.ts";

/** What the engine reads of the policy. */
export interface EnginePolicy {
  /** Name of the mode. */
  readonly mode: string;
  /** The mode's system prompt text, or empty. */
  readonly instruction: string;
  /** The mode changes nothing. */
  readonly readOnly?: boolean;
  /** The action of a tool before its arguments are known. */
  allowed(
    tool: ReturnType<ToolRegistry["list"]>[number],
  ): { readonly action: string; readonly rule?: string };
}

/** The parts of an engine. */
export interface EngineOptions {
  readonly provider: Provider;
  readonly dispatcher: DispatcherPort;
  readonly registry: Pick<ToolRegistry, "get" | "definitions">;
  readonly policy: EnginePolicy;
  readonly session: SessionWriter;
  readonly sink: UiSink;
  readonly settings: Settings;
  /** The project's instructions, already read through policy and guard; null: none. */
  readonly instructions: Instructions | null;
  /** Path of the worktree, for the system prompt. */
  readonly worktree?: string;
  /** Why the turn is to end after the call that runs now (control was handed over), or null. */
  readonly halted?: () => string | null;
}

/** A call that the user makes at the beginning of a turn (`/tool delegate`). */
export interface FirstCall {
  readonly name: string;
  /** JSON text. */
  readonly arguments: string;
}

/** How full the model's window is. */
export interface ContextUse {
  /** Estimate of all that is sent. */
  readonly tokens: number;
  /** Tokens of the window; 0: unknown. */
  readonly window: number;
  readonly parts: readonly { readonly name: string; readonly tokens: number }[];
}

type Definitions = ReturnType<ToolRegistry["definitions"]>;

/** Runs turns. */
export class Engine {
  readonly #options: EngineOptions;
  #conversation: Conversation | null = null;
  #summary = "";
  #tools: { names: string; definitions: Definitions; size: number } | null = null;
  #running = false;

  /** @param options the parts; a session with turns is continued */
  constructor(options: EngineOptions) {
    this.#options = options;
  }

  /**
   * Runs one turn. What model, provider and tools do wrong is in the result; only a fault of the session file or a
   * second turn at the same time throws.
   *
   * @param prompt the user's text
   * @param signal cancels the turn: tools and their children end, the partial answer is kept
   * @param first a call that the user makes: it runs before the model is asked, as if the model had asked for it
   */
  async runTurn(prompt: string, signal: AbortSignal, first?: FirstCall): Promise<TurnResult> {
    if (this.#running) throw new PolyglavError("a turn is already running in this session");
    this.#running = true;
    try {
      return await this.#turn(prompt.toWellFormed(), signal, first);
    } finally {
      this.#running = false;
    }
  }

  /** Forgets the conversation, so that the next turn rebuilds it from the session: after a compaction. */
  forget(): void {
    this.#conversation = null;
  }

  /** How full the model's window is, by estimate, and of what. */
  context(): ContextUse {
    const conversation = this.#resume(), { size } = this.#definitions();
    const share = (chars: number) =>
      Math.round(conversation.tokens() * chars / Math.max(1, conversation.chars));
    const sum = (role: string) =>
      conversation.messages.filter((message) => message.role === role)
        .reduce((total, message) => total + sizeOf(message), 0);
    return {
      tokens: conversation.tokens(size),
      window: this.#options.settings.context_window,
      parts: [
        { name: "system prompt", tokens: share(sum("system")) },
        { name: "tools", tokens: conversation.tokens(size) - conversation.tokens() },
        { name: "your messages", tokens: share(sum("user")) },
        { name: "answers", tokens: share(sum("assistant")) },
        { name: "results of tools", tokens: share(sum("tool")) },
      ],
    };
  }

  async #turn(prompt: string, signal: AbortSignal, first?: FirstCall): Promise<TurnResult> {
    const { provider, policy, session, sink, settings } = this.#options;
    const started = performance.now();
    const conversation = this.#resume();
    const about = { model: provider.model, provider: provider.name, mode: policy.mode };
    sink.emit({ type: "turn_start", session: session.name, ...about });
    session.startTurn({ ...about, reasoning: settings.reasoning, prompt });
    conversation.push({ role: "user", content: prompt });
    const turn = new Turn(
      {
        ...this.#options,
        conversation,
        first,
        tools: () => this.#definitions(),
      },
      signal,
    );
    const result = await turn.run();
    session.endTurn(result.status, result.usage);
    const duration = Math.round(performance.now() - started) / 1000;
    const { status, usage, context } = result;
    sink.emit({ type: "turn_end", status, usage, duration, ...(context === undefined ? {} : { context }) });
    return { ...result, duration };
  }

  /** The conversation, rebuilt from the session at the first turn; the system message is always the current one. */
  #resume(): Conversation {
    const { policy, settings, instructions, worktree, session } = this.#options;
    if (!this.#conversation) {
      const before = rebuild(session.object());
      this.#summary = before.summary;
      this.#conversation = new Conversation([{ role: "system", content: "" }, ...before.messages]);
    }
    this.#conversation.system = systemPrompt({
      systemPrompt: settings.system_prompt,
      modeInstruction: policy.instruction,
      instructions,
      worktree: worktree ?? "",
      summary: this.#summary,
    });
    return this.#conversation;
  }

  /** Schemas of what the policy does not deny; the same array as long as nothing changed. */
  #definitions(): { readonly definitions: Definitions; readonly size: number } {
    const { registry, policy, settings } = this.#options;
    if (!settings.tool_calling) return { definitions: [], size: 0 };
    const definitions = registry.definitions(policy);
    const names = definitions.map((tool) => tool.name).join(" ");
    if (this.#tools?.names !== names) {
      this.#tools = { names, definitions, size: JSON.stringify(definitions).length };
    }
    return this.#tools;
  }
}
