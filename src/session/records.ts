/**
 * The records of a session's log and how they are read. The format is described in README.md beside this file.
 *
 * @module
 */
import type { PermissionEntry } from "../policy/types.ts";
import type { Usage } from "../provider/provider.ts";
import type { TurnStatus } from "./turns.ts";

/** What a record says. */
export type RecordBody =
  | {
    readonly type: "session";
    readonly name: string;
    readonly id: string;
    readonly role: string | null;
    readonly parent: string | null;
    readonly version: number;
  }
  | {
    readonly type: "turn";
    readonly model: string;
    readonly provider: string;
    readonly mode: string;
    readonly reasoning: string;
    readonly prompt: string;
  }
  | {
    readonly type: "text";
    readonly kind: "text" | "thinking" | "system";
    readonly text: string;
    readonly round: number;
  }
  | {
    readonly type: "call";
    readonly id: string;
    readonly tool: string;
    readonly input: Readonly<Record<string, unknown>>;
    readonly round: number;
  }
  | {
    readonly type: "result";
    readonly id: string;
    readonly output: string;
    readonly is_error: boolean;
    readonly analysis: string | null;
  }
  | { readonly type: "permission"; readonly entry: PermissionEntry }
  | { readonly type: "error"; readonly code: number | string; readonly message: string }
  | { readonly type: "end"; readonly status: TurnStatus; readonly usage: Usage | null }
  | { readonly type: "sub"; readonly name: string }
  | {
    readonly type: "command";
    readonly text: string;
    readonly summary: string;
    readonly compact_from: number;
  }
  | {
    /** The log was continued although it was not whole. */
    readonly type: "repair";
    /** What was wrong, one line. */
    readonly why: string;
    /** File name of the copy that was kept beside the log, or null where nothing was cut or rewritten. */
    readonly copy: string | null;
  };

/** One line of a log. */
export type SessionRecord = RecordBody & {
  /** Number of the record, from 1. */
  readonly n: number;
  /** SHA-256 of the line before, without its line feed; 64 zeros in the first. */
  readonly prev: string;
  /** ISO 8601. */
  readonly at: string;
};

type Check = (value: unknown) => boolean;

const text: Check = (value) => typeof value === "string";
const textOrNull: Check = (value) => value === null || typeof value === "string";
const whole: Check = (value) => Number.isSafeInteger(value);
const flag: Check = (value) => typeof value === "boolean";
const object: Check = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const oneOf = (...values: readonly string[]): Check => (value) => values.includes(value as string);
const code: Check = (value) => typeof value === "string" || typeof value === "number";
const usage: Check = (value) =>
  value === null ||
  (object(value) &&
    ["prompt_tokens", "completion_tokens", "total_tokens"].every((key) =>
      Number.isFinite((value as Record<string, unknown>)[key])
    ));
const permission: Check = (value) => {
  if (!object(value)) return false;
  const entry = value as Record<string, unknown>;
  return ["tool", "action", "decision", "timestamp", "rule", "reason"].every((key) => text(entry[key])) &&
    (entry.segments === undefined || Array.isArray(entry.segments) && entry.segments.every(object));
};

const shapes: { readonly [T in RecordBody["type"]]: Readonly<Record<string, Check>> } = {
  session: { name: text, id: text, role: textOrNull, parent: textOrNull, version: whole },
  turn: { model: text, provider: text, mode: text, reasoning: text, prompt: text },
  text: { kind: oneOf("text", "thinking", "system"), text, round: whole },
  call: { id: text, tool: text, input: object, round: whole },
  result: { id: text, output: text, is_error: flag, analysis: textOrNull },
  permission: { entry: permission },
  error: { code, message: text },
  end: { status: oneOf("running", "ok", "error", "truncated", "empty", "cancelled"), usage },
  sub: { name: text },
  command: { text, summary: text, compact_from: whole },
  repair: { why: text, copy: textOrNull },
};

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Reads one line (without its line feed); null when it is not a record of ours. Never throws. */
export function parseRecord(line: Uint8Array): SessionRecord | null {
  try {
    const value = JSON.parse(decoder.decode(line));
    if (!object(value) || !whole(value.n) || !text(value.prev) || !text(value.at)) return null;
    const shape = Object.hasOwn(shapes, value.type) ? shapes[value.type as RecordBody["type"]] : undefined;
    if (!shape) return null;
    for (const [key, check] of Object.entries(shape)) {
      if (!Object.hasOwn(value, key) || !check(value[key])) return null;
    }
    return value;
  } catch {
    return null; // not UTF-8, not JSON, or nested deeper than the stack
  }
}
