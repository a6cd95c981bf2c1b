/**
 * The body of a Chat Completions request. Each message is turned into JSON text once: a long conversation costs a
 * round no more than joining the texts.
 *
 * Source: the Chat Completions API reference, request body.
 *
 * @module
 */
import type { ToolDefinition } from "../tool.ts";
import type { ChatMessage, ChatOptions } from "./provider.ts";

/** What a server turned out not to take, or takes under another name. */
export interface Quirks {
  /** `stream_options` is refused. */
  noStreamOptions?: boolean;
  /** `temperature` is refused. */
  noTemperature?: boolean;
  /** `reasoning_effort` is refused. */
  noReasoning?: boolean;
  /** The token limit is called `max_completion_tokens`. */
  completionTokens?: boolean;
}

/** Makes bodies for one server. */
export class BodyWriter {
  readonly #thinkingField: string | null;
  readonly #messages = new WeakMap<ChatMessage, string>();
  #tools: { readonly of: readonly ToolDefinition[]; readonly text: string } | null = null;

  /** @param thinkingField field in which an assistant's thinking is sent back; null: it is not */
  constructor(thinkingField: string | null) {
    this.#thinkingField = thinkingField;
  }

  /** JSON text of a streaming request. */
  write(
    messages: readonly ChatMessage[],
    tools: readonly ToolDefinition[],
    options: ChatOptions,
    quirks: Quirks,
  ): string {
    const head: Record<string, unknown> = { model: options.model, stream: true };
    if (!quirks.noStreamOptions) head.stream_options = { include_usage: true };
    if (options.temperature !== undefined && options.temperature !== null && !quirks.noTemperature) {
      head.temperature = options.temperature;
    }
    if (options.maxTokens !== undefined && options.maxTokens > 0) {
      head[quirks.completionTokens ? "max_completion_tokens" : "max_tokens"] = options.maxTokens;
    }
    const effort = options.reasoning === "off" ? "none" : options.reasoning;
    if (effort !== undefined && effort !== "auto" && !quirks.noReasoning) head.reasoning_effort = effort;
    const parts = [JSON.stringify(head).slice(0, -1)];
    if (tools.length > 0) parts.push(`,"tools":`, this.#toolsText(tools));
    parts.push(`,"messages":[`);
    const texts: string[] = new Array(messages.length);
    for (let i = 0; i < messages.length; i++) texts[i] = this.#messageText(messages[i]!);
    parts.push(texts.join(","), "]}");
    return parts.join("");
  }

  #messageText(message: ChatMessage): string {
    let text = this.#messages.get(message);
    if (text === undefined) {
      text = JSON.stringify(this.#wire(message));
      this.#messages.set(message, text);
    }
    return text;
  }

  #wire(message: ChatMessage): Record<string, unknown> {
    if (message.role === "tool") {
      const { role, tool_call_id, name, content } = message;
      return { role, tool_call_id, name, content };
    }
    if (message.role !== "assistant") return { role: message.role, content: message.content };
    const { content, thinking, tool_calls } = message;
    return {
      role: "assistant",
      content,
      ...(thinking && this.#thinkingField ? { [this.#thinkingField]: thinking } : {}),
      ...(tool_calls && tool_calls.length > 0
        ? {
          tool_calls: tool_calls.map((call) => ({
            id: call.id,
            type: "function",
            function: { name: call.name, arguments: call.arguments },
          })),
        }
        : {}),
    };
  }

  #toolsText(tools: readonly ToolDefinition[]): string {
    if (this.#tools?.of !== tools) {
      const wire = tools.map(({ name, description, parameters }) => ({
        type: "function",
        function: { name, description, parameters },
      }));
      this.#tools = { of: tools, text: JSON.stringify(wire) };
    }
    return this.#tools.text;
  }
}

/**
 * Learns from a refusal what to leave out or rename.
 *
 * @param message what the server said with its 400 or 422
 * @returns true when the request is worth sending again
 */
export function learnQuirk(quirks: Quirks, message: string, options: ChatOptions): boolean {
  const refuses = (field: RegExp) => field.test(message);
  if (!quirks.completionTokens && options.maxTokens && /max_completion_tokens/.test(message)) {
    return quirks.completionTokens = true;
  }
  if (!quirks.noReasoning && options.reasoning !== "auto" && refuses(/reasoning/i)) {
    return quirks.noReasoning = true;
  }
  if (!quirks.noTemperature && typeof options.temperature === "number" && refuses(/temperature/i)) {
    return quirks.noTemperature = true;
  }
  const unknownField =
    /\b(unknown|unrecognized|unexpected|unsupported|extra|additional)\b.{0,24}\b(field|key|parameter|argument|input|propert|option)/i;
  if (!quirks.noStreamOptions && (refuses(/stream_options|include_usage/i) || unknownField.test(message))) {
    return quirks.noStreamOptions = true;
  }
  return false;
}
