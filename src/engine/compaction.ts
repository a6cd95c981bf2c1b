/**
 * Keeps what is sent below the model's window: the oldest tool results are replaced by a marker that says so and
 * names the tool to call again, then the oldest turns are left out. The session's log keeps everything.
 *
 * @module
 */
import type { ChatMessage } from "../provider/provider.ts";
import { CONTINUE, type Conversation } from "./context.ts";

/** The newest messages are never touched. */
const KEEP = 6;
/** After a compaction the context is this share of the limit, so that the next one is not due at once. */
const TARGET = 0.6;
/** Results shorter than this are not worth a marker. */
const WORTH = 200;

/** What a compaction left out. */
export interface Compaction {
  /** Tool results replaced by a marker. */
  readonly results: number;
  /** Whole turns left out. */
  readonly turns: number;
  /** Estimated tokens before and after. */
  readonly before: number;
  readonly after: number;
}

/**
 * Compacts when the estimate is over `limit` tokens.
 *
 * @param extra characters that go with every request beside the messages (tool schemas)
 * @returns what was left out, or null where nothing had to be
 */
export function compact(conversation: Conversation, limit: number, extra: number): Compaction | null {
  const before = conversation.tokens(extra);
  if (before <= limit) return null;
  const target = limit * TARGET;
  const results = dropResults(conversation, target, extra);
  const turns = conversation.tokens(extra) > limit ? dropTurns(conversation, target, extra) : 0;
  return { results, turns, before, after: conversation.tokens(extra) };
}

function dropResults(conversation: Conversation, target: number, extra: number): number {
  let dropped = 0;
  for (let i = 1; i < conversation.length - KEEP && conversation.tokens(extra) > target; i++) {
    const message = conversation.messages[i]!;
    if (message.role !== "tool" || message.content.length < WORTH) continue;
    conversation.replace(i, { ...message, content: marker(message) });
    dropped++;
  }
  return dropped;
}

function marker(message: Extract<ChatMessage, { role: "tool" }>): string {
  return `[This result (${message.content.length} characters) was left out to save context. Call ${message.name} again if you need it.]`;
}

/** Removes whole turns from the front; the running one always stays. */
function dropTurns(conversation: Conversation, target: number, extra: number): number {
  let dropped = 0;
  while (conversation.tokens(extra) > target) {
    const next = conversation.messages.findIndex((message, i) =>
      i > 1 && message.role === "user" && message.content !== CONTINUE
    );
    if (next === -1) break;
    conversation.remove(1, next - 1);
    dropped++;
  }
  return dropped;
}
