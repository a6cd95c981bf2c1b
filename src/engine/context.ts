/**
 * What is sent to the model: the messages of the conversation, kept from round to round, and rebuilt from a
 * session's log only when one is resumed.
 *
 * @module
 */
import { assistantMessage, safeName, sizeOf, toolMessage } from "../llm/messages.ts";
import type { ChatMessage, ToolCall } from "../provider/provider.ts";
import type { SessionObject, Turn } from "../session/turns.ts";

/** Characters a token, until a provider has counted. */
const CHARS_PER_TOKEN = 4;

/** What stands for the result of a call that a crash or a cancel cut off. */
export const INTERRUPTED =
  "Error: this call was interrupted before its result was recorded; it may or may not have taken effect. Check before you repeat it.";

/** What the user's side says when a reply ran into the token limit. */
export const CONTINUE = "Continue exactly where you stopped. Do not repeat what was already written.";

/** The messages of one conversation with their size. The first one is the system message. */
export class Conversation {
  #messages: ChatMessage[];
  #chars = 0;
  #ids = new Set<string>();
  #minted = 0;
  #perToken = CHARS_PER_TOKEN;

  /** @param messages the conversation so far, the system message first */
  constructor(messages: readonly ChatMessage[]) {
    this.#messages = [...messages];
    for (const message of messages) this.#count(message);
  }

  /** The messages, live: do not keep the array. */
  get messages(): readonly ChatMessage[] {
    return this.#messages;
  }

  /** Number of messages. */
  get length(): number {
    return this.#messages.length;
  }

  /** Characters of all messages. */
  get chars(): number {
    return this.#chars;
  }

  /** Estimate of the tokens of all messages and `extra` characters. */
  tokens(extra = 0): number {
    return Math.ceil((this.#chars + extra) / this.#perToken);
  }

  /** Learns from a provider's own count of a request whose messages and tools had `chars` characters. */
  calibrate(promptTokens: number, chars: number): void {
    if (promptTokens < 50 || chars < 200) return;
    this.#perToken = Math.min(8, Math.max(1, chars / promptTokens));
  }

  /** Adds a message. */
  push(message: ChatMessage): void {
    this.#messages.push(message);
    this.#count(message);
  }

  /** Replaces the message at an index. */
  replace(index: number, message: ChatMessage): void {
    const old = this.#messages[index];
    if (!old || old === message) return;
    this.#chars += sizeOf(message) - sizeOf(old);
    this.#messages[index] = message;
  }

  /** Removes `count` messages from `index` on. */
  remove(index: number, count: number): void {
    for (const message of this.#messages.splice(index, count)) this.#chars -= sizeOf(message);
  }

  /** Removes everything after the first `length` messages. */
  truncate(length: number): void {
    this.remove(length, this.#messages.length - length);
  }

  /** The system message's text. */
  get system(): string {
    return this.#messages[0]?.content ?? "";
  }

  /** Sets the system message's text. */
  set system(text: string) {
    if (text !== this.system) this.replace(0, { role: "system", content: text });
  }

  /** An id that no other call of the conversation has: the given one where it is free. */
  claimId(id: string): string {
    let free = id;
    while (free === "" || this.#ids.has(free)) free = `call_${++this.#minted}_${randomPart()}`;
    this.#ids.add(free);
    return free;
  }

  #count(message: ChatMessage): void {
    this.#chars += sizeOf(message);
    if (message.role === "assistant") { for (const call of message.tool_calls ?? []) this.#ids.add(call.id); }
  }
}

function randomPart(): string {
  return crypto.getRandomValues(new Uint32Array(1))[0]!.toString(36);
}

/** A conversation as the log has it. */
export interface Rebuilt {
  /** Without the system message. */
  readonly messages: readonly ChatMessage[];
  /** Summary of what a `/compact` left out, or empty. */
  readonly summary: string;
}

/**
 * The messages of a session's turns. Calls keep their ids and stand with the text and thinking of their round; a
 * call without a recorded result gets an honest error, so that every call is answered.
 */
export function rebuild(session: SessionObject): Rebuilt {
  let from = 0, summary = "";
  for (const turn of session.turns) {
    for (const part of turn.parts) {
      if (part.type === "command" && part.summary) [from, summary] = [part.compact_from, part.summary];
    }
  }
  const messages: ChatMessage[] = [];
  for (const turn of session.turns) if (turn.index >= from) addTurn(messages, turn);
  return { messages, summary: summary ? `Summary of earlier conversation:\n\n${summary}` : "" };
}

function addTurn(messages: ChatMessage[], turn: Turn): void {
  let text = "", thinking = "", round = -1;
  let calls: ToolCall[] = [], results: ChatMessage[] = [];
  const flush = () => {
    if (text !== "" || calls.length > 0) {
      messages.push(assistantMessage(text, { thinking, calls }), ...results);
    }
    [text, thinking, round, calls, results] = ["", "", -1, [], []];
  };
  for (const part of turn.parts) {
    if (part.type === "user") {
      flush();
      messages.push({ role: "user", content: part.text });
    } else if (part.type === "text" || part.type === "thinking") {
      if (calls.length > 0) flush();
      if (part.type === "text") text += part.text;
      else thinking += part.text;
    } else if (part.type === "tool") {
      if (calls.length > 0 && part.round !== round) flush();
      round = part.round;
      const call = { id: part.id, name: safeName(part.tool), arguments: JSON.stringify(part.input) };
      calls.push(call);
      results.push(toolMessage(call, isOpen(part) ? INTERRUPTED : part.output));
    }
  }
  flush();
}

/** Whether a call was announced, but its result never recorded. */
function isOpen(part: Extract<Turn["parts"][number], { type: "tool" }>): boolean {
  return part.status === "interrupted" || part.status === "running";
}
