/**
 * The session object as readers see it (`sessions show --output json`).
 *
 * @module
 */
import type { PermissionEntry } from "../policy/types.ts";
import type { Usage } from "../provider/provider.ts";

/** How a turn stands. */
export type TurnStatus = "running" | "ok" | "error" | "truncated" | "empty" | "cancelled";

/** One part of a turn. Timestamps are ISO 8601. */
export type Part =
  | {
    readonly type: "user" | "text" | "thinking" | "system";
    readonly text: string;
    readonly timestamp: string;
    /** Number of the model's reply within the turn; absent for the user's text. */
    readonly round?: number;
  }
  | {
    readonly type: "tool";
    /** The provider's call id. */
    readonly id: string;
    /** As called. */
    readonly tool: string;
    readonly input: Readonly<Record<string, unknown>>;
    readonly output: string;
    readonly is_error: boolean;
    readonly analysis: string | null;
    readonly timestamp: string;
    /** Number of the model's reply (round) within the turn that asked for it. */
    readonly round: number;
    /** `running`: announced, no result yet; `interrupted`: the process ended before the result was recorded. */
    readonly status?: "ok" | "error" | "running" | "interrupted";
  }
  | {
    readonly type: "command";
    readonly text: string;
    readonly summary: string;
    readonly compact_from: number;
    readonly timestamp: string;
  };

/** One turn: a prompt and all that followed until the answer. */
export interface Turn {
  /** 1-based. */
  readonly index: number;
  readonly started_at: string;
  readonly ended_at: string | null;
  readonly status: TurnStatus;
  readonly model: string;
  readonly provider: string;
  readonly mode: string;
  readonly reasoning: string;
  readonly usage: Usage | null;
  readonly parts: readonly Part[];
}

/** One error of a session. */
export interface SessionErrorEntry {
  readonly code: number | string;
  readonly message: string;
  readonly timestamp: string;
}

/** The whole session as one object. */
export interface SessionObject {
  readonly session_name: string;
  readonly session_id: string;
  readonly turns: readonly Turn[];
  readonly errors: readonly SessionErrorEntry[];
  readonly permissions: readonly PermissionEntry[];
  readonly created_at: string;
  readonly updated_at: string;
  readonly parent_id: string | null;
  readonly sub_sessions: readonly string[];
  readonly role: string | null;
  readonly version: number;
}

/** What the engine writes to. Every method appends and flushes before it returns. */
export interface SessionWriter {
  readonly name: string;
  readonly id: string;
  /** The session so far, tool outputs as persisted. */
  object(): SessionObject;
  /** Starts a turn with the user's text; returns its index. */
  startTurn(
    turn: {
      readonly model: string;
      readonly provider: string;
      readonly mode: string;
      readonly reasoning: string;
      readonly prompt: string;
    },
  ): number;
  /** Adds text, thinking or a system line to the running turn. */
  text(type: "text" | "thinking" | "system", text: string, round: number): void;
  /** Announces a tool call before its effect. */
  toolStart(
    call: {
      readonly id: string;
      readonly tool: string;
      readonly input: Readonly<Record<string, unknown>>;
      readonly round: number;
    },
  ): void;
  /** Records a tool call's result after its effect. */
  toolEnd(
    call: {
      readonly id: string;
      readonly output: string;
      readonly is_error: boolean;
      readonly analysis?: string | null;
    },
  ): void;
  permission(entry: PermissionEntry): void;
  error(code: number | string, message: string): void;
  endTurn(status: TurnStatus, usage: Usage | null): void;
  /** Releases the lock. */
  close(): void;
}
