/**
 * What the engine tells a user interface, as one closed union of events, and what it may ask of it.
 *
 * @module
 */
import type { Tool, ToolDetails } from "../tool.ts";
import type { Decision } from "../policy/types.ts";
import type { TurnStatus } from "../session/turns.ts";
import type { Usage } from "../provider/provider.ts";

/** What happens in a turn. */
export type UiEvent =
  | {
    readonly type: "turn_start";
    readonly session: string;
    readonly model: string;
    readonly provider: string;
    readonly mode: string;
  }
  | { readonly type: "thinking"; readonly text: string }
  | { readonly type: "token"; readonly text: string }
  | {
    readonly type: "tool_start";
    readonly id: string;
    readonly tool: Tool | null;
    readonly name: string;
    readonly args: Readonly<Record<string, unknown>>;
  }
  | { readonly type: "tool_progress"; readonly id: string; readonly text: string }
  | {
    readonly type: "tool_end";
    readonly id: string;
    readonly tool: Tool | null;
    readonly name: string;
    readonly args: Readonly<Record<string, unknown>>;
    readonly content: string;
    readonly isError: boolean;
    readonly isNote: boolean;
    readonly details: ToolDetails | null;
    /** Null for an unknown tool. */
    readonly decision: Decision | null;
    readonly outcome: "granted" | "declined" | "denied" | "none";
    /** Milliseconds. */
    readonly duration: number;
  }
  | { readonly type: "retry"; readonly attempt: number; readonly seconds: number; readonly reason: string }
  | { readonly type: "warning"; readonly message: string }
  | { readonly type: "error"; readonly code: number | string; readonly message: string }
  | {
    readonly type: "turn_end";
    readonly status: TurnStatus;
    readonly usage: Usage | null; /** Seconds. */
    readonly duration: number;
    /** Tokens of the conversation at its last request, as the provider counted what was sent and what came back. */
    readonly context?: number;
  };

/** A call that needs the user's yes. */
export interface ConfirmRequest {
  readonly tool: Tool;
  readonly args: Readonly<Record<string, unknown>>;
  readonly decision: Decision;
  /** Preview of what will happen; computed only when called. */
  readonly preview: () => Promise<string>;
  /** Session of the sub-agent whose call it is; absent for the one that the person talks to. */
  readonly asker?: string;
}

/** A question that an agent asks a person. */
export interface Question {
  readonly question: string;
  readonly context?: string;
  /** Suggested answers; a number may stand for one. */
  readonly options?: readonly string[];
  /** A permission is asked for: the tool or key. The answer is yes, always or no. */
  readonly permission?: string;
  /** Session of the sub-agent that asks; absent for the one that the person talks to. */
  readonly asker?: string;
  readonly signal?: AbortSignal;
}

/**
 * Yes for this call, no for this call, no and the whole turn with it, or nobody was there to answer (headless). With
 * `edit` the person has changed the arguments: the call is decided anew with them, and asked about again where the
 * policy still asks.
 */
export type ConfirmAnswer = "yes" | "no" | "cancel" | "nobody" | {
  readonly edit: Readonly<Record<string, unknown>>;
};

/** A user interface. */
export interface UiSink {
  /** Shows an event. Never throws. */
  emit(event: UiEvent): void;
  /** Asks; a sink without anyone to ask answers at once and never reads stdin. */
  confirm(request: ConfirmRequest): Promise<ConfirmAnswer>;
  /**
   * Asks a person, and resolves to the answer, or null where none was given in time. Only a sink with a person in front
   * of it has this; questions come one at a time.
   */
  ask?(question: Question): Promise<string | null>;
}
