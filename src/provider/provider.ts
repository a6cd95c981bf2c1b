/**
 * What a provider of a model is: a stream of events for a list of messages.
 *
 * @module
 */
import type { ToolDefinition } from "../tool.ts";

/** One requested tool call, arguments as the model wrote them. */
export interface ToolCall {
  /** Goes back with the result. */
  readonly id: string;
  /** As the model wrote it. */
  readonly name: string;
  /** JSON text, possibly broken. */
  readonly arguments: string;
}

/** A message of the conversation, in the provider-neutral form. */
export type ChatMessage =
  | { readonly role: "system"; readonly content: string }
  | { readonly role: "user"; readonly content: string }
  | {
    readonly role: "assistant";
    readonly content: string | null;
    /** Sent back only to providers that want it. */
    readonly thinking?: string;
    readonly tool_calls?: readonly ToolCall[];
  }
  | { readonly role: "tool"; readonly tool_call_id: string; readonly name: string; readonly content: string };

/** Tokens, as the provider counts them. */
export interface Usage {
  /** Of what was sent. */
  readonly prompt_tokens: number;
  /** Of what came back. */
  readonly completion_tokens: number;
  /** Of both. */
  readonly total_tokens: number;
}

/** Why a reply ended. */
export type FinishReason = "stop" | "length" | "tool_calls" | "content_filter" | "cut" | "cancelled";

/** What a provider streams. `error` and `done` are last; exactly one of them comes. */
export type ProviderEvent =
  | { readonly type: "thinking"; readonly text: string }
  | { readonly type: "token"; readonly text: string }
  | { readonly type: "tool_calls"; readonly calls: readonly ToolCall[] }
  | {
    readonly type: "error";
    /** HTTP status, or 0. */
    readonly code: number;
    readonly message: string;
    /** Worth another try. */
    readonly retryable: boolean;
    /** Seconds to wait, from Retry-After. */
    readonly retryAfter?: number;
  }
  | { readonly type: "done"; readonly finish: FinishReason; readonly usage?: Usage };

/** Options of one request. */
export interface ChatOptions {
  /** The model's name. */
  readonly model: string;
  /** Most tokens of the answer; 0 or absent: the provider's default. */
  readonly maxTokens?: number;
  /** Null or absent: not sent. */
  readonly temperature?: number | null;
  /** How much the model thinks first. */
  readonly reasoning?: "auto" | "off" | "low" | "medium" | "high";
  /** Ends the request. */
  readonly signal?: AbortSignal;
}

/** A model behind an interface. */
export interface Provider {
  /** Name as configured: `openai`, `ollama`, `replay`, … */
  readonly name: string;
  /** The model that answers. */
  readonly model: string;
  /** Streams one reply. Never throws for what the server or the network does: that is an `error` event. */
  chat(
    messages: readonly ChatMessage[],
    tools: readonly ToolDefinition[],
    options: ChatOptions,
  ): AsyncIterable<ProviderEvent>;
  /** Loads what the first request needs, so that it overlaps with other work. */
  warm?(): Promise<void>;
  /** Releases connections, writes recordings out. May throw `PolyglavError` for a drift (exit 4). */
  close?(): Promise<void>;
}
