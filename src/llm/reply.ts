/**
 * One reply of a model: the stream is collected, told to whoever listens as it comes, and asked for again where that can
 * help. The engine and the request builder both read replies here.
 *
 * @module
 */
import { messageOf } from "../errors.ts";
import type {
  ChatMessage,
  ChatOptions,
  FinishReason,
  Provider,
  ProviderEvent,
  ToolCall,
  Usage,
} from "../provider/provider.ts";

/** What a reply ended as: a finish reason, `error`, or `empty` where nothing came. */
export type ReplyEnd = FinishReason | "error" | "empty";

/** What came of one reply. */
export interface Reply {
  readonly end: ReplyEnd;
  readonly text: string;
  readonly thinking: string;
  readonly calls: readonly ToolCall[];
  readonly usage: Usage | null;
  readonly error: { readonly code: number | string; readonly message: string } | null;
}

/** A piece of text or thinking, as it comes. */
export type ReplyPart = Extract<ProviderEvent, { type: "token" | "thinking" }>;

/** What is asked, and how often. */
export interface ReplyRequest {
  readonly provider: Provider;
  readonly messages: readonly ChatMessage[];
  readonly tools: Parameters<Provider["chat"]>[1];
  readonly options: ChatOptions;
  readonly signal: AbortSignal;
  /** Tries after the first one. */
  readonly retries: number;
  /** Base of the backoff in seconds. */
  readonly delay: number;
  /** Told each piece that is not empty. */
  readonly onPart?: (part: ReplyPart) => void;
  /** Told before a try is made again. */
  readonly onRetry?: (retry: { attempt: number; seconds: number; reason: string }) => void;
  /** Told what a try cost that is made again. */
  readonly onSpent?: (usage: Usage) => void;
}

/** Longest wait that a server may ask for, in seconds. */
const MAX_WAIT = 300;
/** Longest wait of our own backoff, in seconds. */
const MAX_BACKOFF = 30;

/** The message of a stream that ended without saying that it is complete. */
export const CUT = "Stream ended before a completion event";

/** The message of a reply without text, thinking and calls. */
export const EMPTY = "Assistant returned an empty response";

/** Asks for one reply, with retries where nothing had been said yet. Never throws. */
export async function requestReply(request: ReplyRequest): Promise<Reply> {
  for (let attempt = 1;; attempt++) {
    const reply = await readReply(request);
    const wait = retryWait(reply, request, attempt);
    if (wait === null) return reply.reply;
    if (reply.reply.usage) request.onSpent?.(reply.reply.usage);
    request.onRetry?.({ attempt, seconds: wait, reason: reason(reply.reply) });
    if (!await sleep(wait * 1000, request.signal)) return { ...reply.reply, end: "cancelled", error: null };
  }
}

interface Attempt {
  readonly reply: Reply;
  readonly retryable: boolean;
  readonly retryAfter?: number;
}

async function readReply(request: ReplyRequest): Promise<Attempt> {
  const { provider, signal, onPart } = request;
  const texts: string[] = [], thoughts: string[] = [];
  let calls: readonly ToolCall[] = [], usage: Usage | null = null;
  const make = (end: ReplyEnd, error: Reply["error"] = null): Reply => ({
    end,
    text: texts.join(""),
    thinking: thoughts.join(""),
    calls,
    usage,
    error,
  });
  let last: Extract<ProviderEvent, { type: "error" | "done" }> | null = null;
  try {
    for await (const event of provider.chat(request.messages, request.tools, request.options)) {
      if (event.type === "token") {
        if (event.text === "") continue;
        texts.push(event.text);
        onPart?.(event);
      } else if (event.type === "thinking") {
        if (event.text === "") continue;
        thoughts.push(event.text);
        onPart?.(event);
      } else if (event.type === "tool_calls") calls = event.calls;
      else last = event;
      if (signal.aborted) break;
    }
  } catch (error) {
    if (signal.aborted) return { reply: make("cancelled"), retryable: false };
    return { reply: make("error", { code: 0, message: messageOf(error) }), retryable: false };
  }
  if (signal.aborted) return { reply: make("cancelled"), retryable: false };
  if (last?.type === "error") {
    const { code, message, retryable, retryAfter } = last;
    return { reply: make("error", { code, message }), retryable, retryAfter };
  }
  usage = last?.usage ?? null;
  const finish = last?.finish ?? "cut";
  if (finish === "cut") {
    calls = [];
    return { reply: make("error", { code: 0, message: CUT }), retryable: true };
  }
  const complete = finish === "stop" || finish === "tool_calls";
  if (complete && calls.length === 0 && thoughts.length === 0 && texts.every((text) => text.trim() === "")) {
    return { reply: make("empty"), retryable: true };
  }
  return { reply: make(finish), retryable: false };
}

/** Seconds to wait before the next try; null: this reply stands. What was said already is never asked for again. */
function retryWait(attempt: Attempt, request: ReplyRequest, number: number): number | null {
  if (!attempt.retryable || attempt.reply.text !== "" || number > request.retries) return null;
  const asked = attempt.retryAfter ?? 0;
  if (asked > MAX_WAIT) return null;
  const backoff = Math.min(MAX_BACKOFF, request.delay * 2 ** (number - 1));
  return Math.max(asked, backoff * (0.75 + Math.random() / 2));
}

function reason(reply: Reply): string {
  if (reply.end === "empty") return EMPTY;
  const { code, message } = reply.error ?? { code: 0, message: CUT };
  return code && code !== 0 ? `${message} (${code})` : message;
}

/** Waits; false when the signal came first. */
export function sleep(ms: number, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return Promise.resolve(false);
  return new Promise((resolve) => {
    const end = (whole: boolean) => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      resolve(whole);
    };
    const onAbort = () => end(false);
    const timer = setTimeout(() => end(true), ms);
    signal.addEventListener("abort", onAbort, { once: true });
  });
}
