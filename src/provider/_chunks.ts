/**
 * Reads the chunks of a Chat Completions stream and says what they mean, as servers of all kinds send them.
 *
 * Source: the Chat Completions API reference, streaming; the dialects are named where they are handled.
 *
 * @module
 */
import { CallCollector } from "./_calls.ts";
import { ThinkFilter } from "./_think.ts";
import type { FinishReason, ProviderEvent, ToolCall, Usage } from "./provider.ts";

/** Characters of text, thinking and arguments that one reply may have. */
export const MAX_REPLY = 32 * 1024 * 1024;

/** Collects one reply. */
export class ReplyReader {
  readonly #calls = new CallCollector();
  readonly #filter = new ThinkFilter();
  readonly #text = new Halves();
  readonly #thought = new Halves();
  #size = 0;
  #usage: Usage | undefined;
  #finish: FinishReason | null = null;
  #choices = 0;

  /** A finish reason came: what follows is usage at most. */
  get finished(): boolean {
    return this.#finish !== null;
  }

  /** Whether any chunk had a choice. */
  get started(): boolean {
    return this.#choices > 0;
  }

  /** Whether the reply is larger than {@link MAX_REPLY}. */
  get tooLarge(): boolean {
    return this.#size + this.#calls.size > MAX_REPLY;
  }

  /** Takes a chunk (or a whole completion) and returns the events that are certain. */
  push(chunk: unknown): ProviderEvent[] {
    const { choices, usage, x_groq } = record(chunk);
    this.#usage = usageOf(usage) ?? usageOf(record(x_groq).usage) ?? this.#usage;
    if (!Array.isArray(choices)) return [];
    const events: ProviderEvent[] = [];
    for (const item of choices) {
      const choice = record(item);
      if (choice.index !== undefined && choice.index !== 0 && choice.index !== null) continue;
      this.#choices++;
      this.#delta(record(choice.delta ?? choice.message), events);
      if (typeof choice.finish_reason === "string" && choice.finish_reason !== "") {
        this.#finish = finishOf(choice.finish_reason);
      }
    }
    return events;
  }

  /** The end of the stream: what was held back, the calls, and how it ended. */
  end(): ProviderEvent[] {
    const events: ProviderEvent[] = [];
    this.#emit(events, "thinking", this.#thought.end());
    for (const piece of this.#filter.push(this.#text.end())) this.#emit(events, piece.type, piece.text);
    for (const piece of this.#filter.end()) this.#emit(events, piece.type, piece.text);
    if (this.#finish === null) return [...events, this.#done("cut")];
    const calls: ToolCall[] = this.#calls.calls();
    if (calls.length > 0) events.push({ type: "tool_calls", calls });
    const finish = calls.length > 0 && this.#finish === "stop" ? "tool_calls" : this.#finish;
    return [...events, this.#done(calls.length === 0 && finish === "tool_calls" ? "stop" : finish)];
  }

  #done(finish: FinishReason): ProviderEvent {
    return { type: "done", finish, ...(this.#usage ? { usage: this.#usage } : {}) };
  }

  #delta(delta: Record<string, unknown>, events: ProviderEvent[]): void {
    // DeepSeek and vLLM say reasoning_content, OpenRouter and Groq reasoning; a delta may have text beside it.
    const thought = textOf(delta.reasoning_content) || textOf(delta.reasoning);
    if (thought !== "") this.#emit(events, "thinking", this.#thought.push(thought));
    this.#content(delta.content, events);
    if (typeof delta.refusal === "string") this.#content(delta.refusal, events);
    if (Array.isArray(delta.tool_calls)) {
      for (const fragment of delta.tool_calls) this.#calls.add(record(fragment));
    }
    // The form before tools.
    if (typeof delta.function_call === "object" && delta.function_call !== null) {
      this.#calls.add({ index: 0, function: delta.function_call });
    }
  }

  #content(content: unknown, events: ProviderEvent[]): void {
    if (typeof content === "string") {
      if (content === "") return;
      for (const piece of this.#filter.push(this.#text.push(content))) {
        this.#emit(events, piece.type, piece.text);
      }
      return;
    }
    if (!Array.isArray(content)) return;
    // Mistral sends a list of parts, thinking among them.
    for (const item of content) {
      const part = record(item);
      if (typeof part.text === "string") this.#content(part.text, events);
      else if (part.thinking !== undefined) {
        const text = Array.isArray(part.thinking)
          ? part.thinking.map((inner) => textOf(record(inner).text)).join("")
          : textOf(part.thinking);
        this.#emit(events, "thinking", this.#thought.push(text));
      }
    }
  }

  #emit(events: ProviderEvent[], type: "token" | "thinking", text: string): void {
    if (text === "") return;
    this.#size += text.length;
    events.push({ type, text: text.toWellFormed() });
  }
}

/** Keeps the first half of a character that a server split between two deltas. */
class Halves {
  #half = "";

  push(text: string): string {
    const whole = this.#half + text;
    const last = whole.charCodeAt(whole.length - 1);
    this.#half = last >= 0xd800 && last <= 0xdbff ? whole.slice(-1) : "";
    return this.#half === "" ? whole : whole.slice(0, -1);
  }

  end(): string {
    const rest = this.#half;
    this.#half = "";
    return rest;
  }
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? value as Record<string, unknown> : {};
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function finishOf(reason: string): FinishReason {
  switch (reason) {
    case "length":
    case "max_tokens":
    case "model_length":
      return "length";
    case "tool_calls":
    case "function_call":
    case "tool_use":
      return "tool_calls";
    case "content_filter":
      return "content_filter";
    default:
      return "stop";
  }
}

/** Token counts, where they are numbers. */
export function usageOf(value: unknown): Usage | undefined {
  const usage = record(value);
  const prompt = countOf(usage.prompt_tokens ?? usage.input_tokens);
  const completion = countOf(usage.completion_tokens ?? usage.output_tokens);
  if (prompt === null && completion === null) return undefined;
  const sum = (prompt ?? 0) + (completion ?? 0);
  return {
    prompt_tokens: prompt ?? 0,
    completion_tokens: completion ?? 0,
    total_tokens: countOf(usage.total_tokens) ?? sum,
  };
}

function countOf(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? Math.round(value) : null;
}
