/**
 * Messages of a conversation: making them, and making safe what a model wrote before it is sent back to a server.
 *
 * @module
 */
import type { ChatMessage, ToolCall } from "../provider/provider.ts";

/** Names that every server accepts in a tool call: letters, digits, `_` and `-`, at most 64. */
const SAFE_NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** Arguments nested deeper than this are refused: neither servers nor people can read them. */
export const MAX_DEPTH = 100;

/** An assistant's message; empty text becomes null beside tool calls, as servers expect. */
export function assistantMessage(
  text: string,
  options: { readonly thinking?: string; readonly calls?: readonly ToolCall[] } = {},
): ChatMessage {
  const { thinking, calls } = options;
  const some = calls !== undefined && calls.length > 0;
  return {
    role: "assistant",
    content: text === "" && some ? null : text,
    ...(thinking ? { thinking } : {}),
    ...(some ? { tool_calls: calls } : {}),
  };
}

/** The result of a call. Empty text is named, since some servers refuse an empty result. */
export function toolMessage(call: ToolCall, content: string): ChatMessage {
  return {
    role: "tool",
    tool_call_id: call.id,
    name: call.name,
    content: content === "" ? "(no output)" : content.toWellFormed(),
  };
}

/** The name of a call in the form that every server accepts back. */
export function safeName(name: string): string {
  if (SAFE_NAME.test(name)) return name;
  return name.replace(/[^A-Za-z0-9_-]+/g, "_").slice(0, 64) || "unknown";
}

/** Whether the text is one complete JSON object, strictly. */
export function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

/** Whether brackets outside of strings nest deeper than {@link MAX_DEPTH}. Linear, no recursion. */
export function nestsTooDeep(text: string): boolean {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === 0x22) {
      // To the closing quote, over escapes.
      for (i++; i < text.length && text.charCodeAt(i) !== 0x22; i++) if (text.charCodeAt(i) === 0x5c) i++;
    } else if (c === 0x7b || c === 0x5b) {
      if (++depth > MAX_DEPTH) return true;
    } else if (c === 0x7d || c === 0x5d) depth--;
  }
  return false;
}

/** Characters of a message that count towards the context: text, names and arguments. */
export function sizeOf(message: ChatMessage): number {
  let size = 16 + (message.content?.length ?? 0);
  if (message.role === "assistant") {
    for (const call of message.tool_calls ?? []) {
      size += call.name.length + call.arguments.length + call.id.length + 40;
    }
  }
  return size;
}
