/**
 * The body of a Chat Completions request. Each message of a conversation is turned into JSON text once, and what was
 * joined before is only added to: a round of a long conversation costs little more than its new messages.
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

/** The messages of an array, as they were written last: JSON in UTF-8, without the brackets. */
interface Written {
  readonly messages: ChatMessage[];
  bytes: Uint8Array;
  length: number;
}

const encoder = new TextEncoder();

/** Whether an array begins with the same objects as another one. */
function begins(messages: readonly ChatMessage[], start: readonly ChatMessage[]): boolean {
  for (let i = 0; i < start.length; i++) if (messages[i] !== start[i]) return false;
  return true;
}

const END = encoder.encode("]}");

/** Adds text at the end; the room doubles when it is used up. */
function append(written: Written, text: string): void {
  const bytes = encoder.encode(text), needed = written.length + bytes.length;
  if (needed > written.bytes.length) {
    const more = new Uint8Array(Math.max(needed, written.bytes.length * 2));
    more.set(written.bytes.subarray(0, written.length));
    written.bytes = more;
  }
  written.bytes.set(bytes, written.length);
  written.length = needed;
}

/** Makes bodies for one server. */
export class BodyWriter {
  readonly #thinkingField: string | null;
  readonly #written = new WeakMap<readonly ChatMessage[], Written>();
  #tools: { readonly of: readonly ToolDefinition[]; readonly text: string } | null = null;

  /** @param thinkingField field in which an assistant's thinking is sent back; null: it is not */
  constructor(thinkingField: string | null) {
    this.#thinkingField = thinkingField;
  }

  /** JSON of a streaming request, in UTF-8. */
  write(
    messages: readonly ChatMessage[],
    tools: readonly ToolDefinition[],
    options: ChatOptions,
    quirks: Quirks,
  ): Uint8Array<ArrayBuffer> {
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
    const before = encoder.encode(parts.join("")), written = this.#write(messages);
    const body = new Uint8Array(before.length + written.length + 2);
    body.set(before);
    body.set(written.bytes.subarray(0, written.length), before.length);
    body.set(END, before.length + written.length);
    return body;
  }

  #write(messages: readonly ChatMessage[]): Written {
    let written = this.#written.get(messages);
    if (!written || !begins(messages, written.messages)) {
      // The first time, or after a compaction.
      written = { messages: [], bytes: new Uint8Array(16 * 1024), length: 0 };
      this.#written.set(messages, written);
    }
    for (let i = written.messages.length; i < messages.length; i++) {
      const message = messages[i]!;
      const text = JSON.stringify(this.#wire(message));
      append(written, i === 0 ? text : `,${text}`);
      written.messages.push(message);
    }
    return written;
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
  const effort = options.reasoning ?? "auto";
  if (!quirks.noReasoning && effort !== "auto" && refuses(/reasoning/i)) {
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
