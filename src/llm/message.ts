/**
 * Messages and blocks as library users write them: the same messages that the program sends.
 *
 * @module
 */
import type { ChatMessage, ToolCall, Usage } from "../provider/provider.ts";
import type { Json } from "../tool.ts";
import { assistantMessage, toolMessage } from "./messages.ts";

/** A call that a model asks for. */
export interface CallBlock {
  /** Tells it from the other blocks. */
  readonly type: "tool_call";
  /** Goes back with the result, so that the model knows which call it answers. */
  readonly id: string;
  /** What is called: a tool's name, and its arguments as the model wrote them (JSON text, possibly broken). */
  readonly function: { readonly name: string; readonly arguments: string };
}

/** One part of what a model said. */
export type Block =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thinking"; readonly text: string }
  | CallBlock;

/** A message of a conversation. */
export type Message = ChatMessage;

/** The ways to make a message. */
export interface MessageMakers {
  /** What the model is to be. */
  system(text: string): Message;
  /** What a person says. */
  user(text: string): Message;
  /** What the model said. */
  assistant(text: string): Message;
  /** What the model said, calls included: `response.content` as it came. */
  assistantFromBlocks(blocks: readonly Block[]): Message;
  /** The result of the call with this id: text, or JSON that becomes text. */
  toolResult(id: string, content: Json): Message;
}

/**
 * Makes messages.
 *
 * @example
 * ```ts
 * import { Message } from "@polyglav/cli/llm";
 *
 * const history: Message[] = [Message.user("What is in a.txt?")];
 * history.push(Message.assistantFromBlocks([
 *   { type: "tool_call", id: "1", function: { name: "read_file", arguments: '{"path":"a.txt"}' } },
 * ]));
 * history.push(Message.toolResult("1", "hello"));
 * ```
 */
export const Message: MessageMakers = Object.freeze({
  system: (text: string): Message => ({ role: "system", content: text }),
  user: (text: string): Message => ({ role: "user", content: text }),
  assistant: (text: string): Message => assistantMessage(text),
  assistantFromBlocks(blocks: readonly Block[]): Message {
    const of = (type: "text" | "thinking") =>
      blocks.flatMap((block) => block.type === type ? [block.text] : []).join("");
    const calls = blocks.flatMap((block): ToolCall[] =>
      block.type === "tool_call" ? [{ id: block.id, ...block.function }] : []
    );
    return assistantMessage(of("text"), { thinking: of("thinking"), calls });
  },
  // The name follows from the call, when the messages are sent.
  toolResult: (id: string, content: Json): Message =>
    toolMessage({ id, name: "", arguments: "" }, textOf(content)),
});

function textOf(content: Json): string {
  return typeof content === "string" ? content : JSON.stringify(content) ?? "";
}

/** A model's answer. */
export interface LlmResponse {
  /** What was said, in parts: thinking, text, calls. */
  readonly content: readonly Block[];
  /** Why it ended; `length`: the token limit cut it. */
  readonly finish: "stop" | "length" | "tool_calls" | "content_filter" | "empty";
  /** Tokens, where the server counts them. */
  readonly usage: Usage | null;
  /** All text, without thinking. Empty where there is none. */
  text(): string;
  /** All thinking. Empty where there is none. */
  thinking(): string;
  /** Whether the model asks for calls. */
  hasToolCalls(): boolean;
  /** The calls that the model asks for, in order. */
  toolCalls(): readonly CallBlock[];
}

/** Makes a response of blocks. */
export function responseOf(
  content: readonly Block[],
  finish: LlmResponse["finish"],
  usage: Usage | null,
): LlmResponse {
  const calls = content.filter((block): block is CallBlock => block.type === "tool_call");
  const of = (type: "text" | "thinking") =>
    content.flatMap((block) => block.type === type ? [block.text] : []).join("");
  return {
    content,
    finish,
    usage,
    text: () => of("text"),
    thinking: () => of("thinking"),
    hasToolCalls: () => calls.length > 0,
    toolCalls: () => calls,
  };
}
