/**
 * The recording format: one JSON object a line, written by `--record` and by hand, played by `--replay`. README.md
 * of this folder describes it for people.
 *
 * @module
 */
import { ConfigError, messageOf } from "../errors.ts";
import type { ChatMessage, FinishReason, ToolCall, Usage } from "./provider.ts";

/** What an exchange expects of one message that came since the last reply. */
export interface Expectation {
  readonly role?: "user" | "tool";
  /** Name of the tool whose result it is. */
  readonly name?: string;
  /** The whole text, normalized. */
  readonly text?: string;
  /** The beginning of a text that is too long to be kept, with its length and digest. */
  readonly head?: string;
  readonly chars?: number;
  readonly sha256?: string;
  /** A part of the text; for recordings written by hand. */
  readonly has?: string;
}

/** One request and its reply. */
export interface RecordedExchange {
  /** Line of the file, from 1. */
  readonly line: number;
  /** Which conversation of the run it belongs to, where that is not the first one: a sub-agent's, a question's. */
  readonly conversation?: string;
  /** Null: nothing is compared. Text stands for a part of any message. */
  readonly expect: readonly (string | Expectation)[] | null;
  readonly thinking: string;
  readonly content: string;
  readonly calls: readonly ToolCall[];
  readonly finish: FinishReason;
  readonly usage: Usage | null;
  readonly error:
    | {
      readonly code: number;
      readonly message: string;
      readonly retryable: boolean;
      readonly retryAfter?: number;
    }
    | null;
}

/** A whole recording. */
export interface Recording {
  readonly provider: string;
  readonly model: string;
  readonly exchanges: readonly RecordedExchange[];
}

/** Texts longer than this are recorded as head, length and digest. */
export const MAX_TEXT = 4000;
const HEAD = 400;

/** Replaces what differs from run to run: the worktree's path, temporary folders, sessions, times, durations, commit ids. */
export function normalizer(worktree: string): (text: string) => string {
  return (text) => {
    const own = worktree.length < 2 ? text : text.replaceAll(worktree, "{WORKTREE}");
    return own
      .replace(/\r\n/g, "\n")
      .replace(/(?:\/private)?(?:\/tmp|\/var\/folders\/[^/\s]+\/[^/\s]+\/T)\/[^/\s"'`:,;)\]]+/g, "{TMP}")
      .replace(/\b(?:sub_)?\d{8}_\d{6}_[0-9a-z]{6}\b/g, "{SESSION}")
      .replace(/\b\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2})?(\.\d+)?(Z|[+-]\d{2}:?\d{2})?/g, "{TIME}")
      .replace(/\b\d+(\.\d+)?\s?(ms|s|seconds?)\b/g, "{DURATION}")
      .replace(
        /\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])(?:[0-9a-f]{40}|[0-9a-f]{7,12})\b/g,
        "{HASH}",
      );
  };
}

/** What came since the model's last reply, system messages aside: what an exchange is compared by. */
export function sinceLastReply(
  messages: readonly ChatMessage[],
): Exclude<ChatMessage, { role: "system" | "assistant" }>[] {
  const out: Exclude<ChatMessage, { role: "system" | "assistant" }>[] = [];
  for (let i = messages.length - 1; i >= 0; i--) {
    const message = messages[i]!;
    if (message.role === "assistant") break;
    if (message.role !== "system") out.push(message);
  }
  return out.reverse();
}

/** What tells a conversation from the others of its run: a digest of its first user message, normalized. */
export async function conversationOf(
  messages: readonly ChatMessage[],
  normalize: (text: string) => string,
): Promise<string> {
  const first = messages.find(({ role }) => role === "user");
  return (await digest(normalize(first?.content ?? ""))).slice(0, 12);
}

/** The expectation that a message makes. */
export async function expectationOf(
  message: Exclude<ChatMessage, { role: "system" | "assistant" }>,
  normalize: (text: string) => string,
): Promise<Expectation> {
  const text = normalize(message.content);
  const who = message.role === "tool" ? { role: message.role, name: message.name } : { role: message.role };
  if (text.length <= MAX_TEXT) return { ...who, text };
  return { ...who, head: text.slice(0, HEAD).toWellFormed(), chars: text.length, sha256: await digest(text) };
}

/** SHA-256 of a text's UTF-8 bytes, as hexadecimal digits. */
export async function digest(text: string): Promise<string> {
  const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(bytes), (b) => b.toString(16).padStart(2, "0")).join("");
}

const KEYS = new Set([
  "type",
  "note",
  "conversation",
  "expect",
  "thinking",
  "content",
  "tool_calls",
  "finish",
  "usage",
  "error",
]);
const FINISHES: readonly FinishReason[] = ["stop", "length", "tool_calls", "content_filter", "cut"];

/**
 * Reads a recording.
 *
 * @param file its name, for messages
 * @throws {ConfigError} that names file and line
 */
export function parseRecording(text: string, file: string): Recording {
  let provider = "replay", model = "replay";
  const exchanges: RecordedExchange[] = [];
  text.replace(/^\uFEFF/, "").split("\n").forEach((raw, i) => {
    if (raw.trim() === "" || raw.trimStart().startsWith("//")) return;
    const fail = (what: string): never => {
      throw new ConfigError(`${file}:${i + 1}: ${what}`);
    };
    let value: unknown;
    try {
      value = JSON.parse(raw);
    } catch (error) {
      fail(`not JSON (${messageOf(error)}); a recording has one JSON object a line`);
    }
    if (!isRecord(value)) return fail("expected a JSON object");
    if (value.type === "recording") {
      if (exchanges.length > 0) fail('the "recording" line must come first');
      if (value.version !== 1) {
        fail(`version ${JSON.stringify(value.version ?? null)} is not known, expected 1`);
      }
      if (typeof value.provider === "string") provider = value.provider;
      if (typeof value.model === "string") model = value.model;
      return;
    }
    if (value.type !== undefined && value.type !== "exchange") {
      fail(`type ${JSON.stringify(value.type)} is not known; use "recording" or "exchange"`);
    }
    exchanges.push(parseExchange(value, i + 1, exchanges.length + 1, fail));
  });
  if (exchanges.length === 0) throw new ConfigError(`${file}: holds no exchange; record one with --record`);
  return { provider, model, exchanges };
}

type Fail = (what: string) => never;

function parseExchange(
  value: Record<string, unknown>,
  line: number,
  number: number,
  fail: Fail,
): RecordedExchange {
  for (const key of Object.keys(value)) {
    if (!KEYS.has(key)) fail(`unknown key "${key}"; known are ${[...KEYS].join(", ")}`);
  }
  const { conversation, expect, thinking = "", content = "", tool_calls = [], finish, usage, error } = value;
  if (conversation !== undefined && typeof conversation !== "string") {
    return fail('"conversation" must be text');
  }
  if (typeof thinking !== "string") return fail('"thinking" must be text');
  if (content !== null && typeof content !== "string") return fail('"content" must be text or null');
  if (!Array.isArray(tool_calls)) return fail('"tool_calls" must be a list');
  const calls = tool_calls.map((call, i) => parseCall(call, `call_${number}_${i + 1}`, fail));
  if (finish !== undefined && !FINISHES.includes(finish as FinishReason)) {
    fail(`"finish" must be one of ${FINISHES.join(", ")}, got ${JSON.stringify(finish)}`);
  }
  return {
    line,
    ...(conversation === undefined ? {} : { conversation }),
    expect: parseExpect(expect, fail),
    thinking,
    content: content ?? "",
    calls,
    finish: (finish as FinishReason | undefined) ?? (calls.length > 0 ? "tool_calls" : "stop"),
    usage: parseUsage(usage, fail),
    error: parseError(error, fail),
  };
}

function parseExpect(expect: unknown, fail: Fail): RecordedExchange["expect"] {
  if (expect === undefined || expect === null) return null;
  const list = Array.isArray(expect) ? expect : [expect];
  return list.map((item) => {
    if (typeof item === "string") return item;
    if (!isRecord(item)) return fail('"expect" must be text, or a list of texts and objects');
    for (const key of ["role", "name", "text", "head", "sha256", "has"]) {
      if (item[key] !== undefined && typeof item[key] !== "string") fail(`"expect": "${key}" must be text`);
    }
    if (item.role !== undefined && item.role !== "user" && item.role !== "tool") {
      fail('"expect": "role" must be "user" or "tool"');
    }
    return item as Expectation;
  });
}

function parseCall(call: unknown, id: string, fail: Fail): ToolCall {
  if (!isRecord(call) || typeof call.name !== "string") {
    return fail('each of "tool_calls" must be an object with a "name"');
  }
  const given = call.arguments ?? {};
  if (typeof given !== "string" && !isRecord(given)) {
    return fail(`"arguments" of ${call.name} must be an object, or text as the model wrote it`);
  }
  return {
    id: typeof call.id === "string" && call.id !== "" ? call.id : id,
    name: call.name,
    arguments: typeof given === "string" ? given : JSON.stringify(given),
  };
}

function parseUsage(usage: unknown, fail: Fail): Usage | null {
  if (usage === undefined || usage === null) return null;
  const { prompt_tokens, completion_tokens, total_tokens } = isRecord(usage)
    ? usage
    : fail('"usage" must be an object');
  if (typeof prompt_tokens !== "number" || typeof completion_tokens !== "number") {
    return fail('"usage" must have the numbers prompt_tokens and completion_tokens');
  }
  return {
    prompt_tokens,
    completion_tokens,
    total_tokens: typeof total_tokens === "number" ? total_tokens : prompt_tokens + completion_tokens,
  };
}

function parseError(error: unknown, fail: Fail): RecordedExchange["error"] {
  if (error === undefined || error === null) return null;
  if (!isRecord(error) || typeof error.message !== "string") {
    return fail('"error" must be an object with a "message"');
  }
  return {
    code: typeof error.code === "number" ? error.code : 0,
    message: error.message,
    retryable: error.retryable === true,
    ...(typeof error.retryAfter === "number" ? { retryAfter: error.retryAfter } : {}),
  };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
