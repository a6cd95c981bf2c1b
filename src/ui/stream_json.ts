/**
 * What `polyglav run --output stream-json` writes: one JSON object a line, keys in snake_case, in the order in which
 * things happen. New members and new types may be added; readers skip what they do not know.
 *
 * @module
 */
import { cleanJson } from "../text/ansi.ts";
import type { Action, ToolDetails } from "../tool.ts";
import type { SegmentVerdict } from "../policy/types.ts";
import type { Usage } from "../provider/provider.ts";
import type { TurnStatus } from "../session/turns.ts";
import type { ConfirmAnswer, ConfirmRequest, UiEvent } from "./sink.ts";

/** What the policy said of a call. */
export interface StreamDecision {
  readonly action: Action;
  /** The rule that decided, as `polyglav policy explain` names it. */
  readonly rule: string;
  readonly reason: string;
  /** Verdict of each part of a command line. */
  readonly segments?: readonly SegmentVerdict[];
}

/** One line of the stream. */
export type StreamEvent =
  | {
    readonly type: "turn_start";
    readonly session: string;
    readonly model: string;
    readonly provider: string;
    readonly mode: string;
  }
  /** A piece of the model's thinking. */
  | { readonly type: "thinking"; readonly text: string }
  /** A piece of the answer. */
  | { readonly type: "token"; readonly text: string }
  | {
    readonly type: "tool_start";
    readonly id: string;
    readonly name: string;
    readonly args: Readonly<Record<string, unknown>>;
  }
  | { readonly type: "tool_progress"; readonly id: string; readonly text: string }
  /** A call that needed a yes, and the answer that --yes, --no or the lack of a person gave. */
  | {
    readonly type: "confirm";
    readonly name: string;
    readonly args: Readonly<Record<string, unknown>>;
    readonly decision: StreamDecision;
    readonly answer: ConfirmAnswer;
  }
  | {
    readonly type: "tool_end";
    readonly id: string;
    readonly name: string;
    readonly args: Readonly<Record<string, unknown>>;
    /** What the model sees. */
    readonly content: string;
    readonly is_error: boolean;
    readonly is_note: boolean;
    /** What the model does not see, such as a diff. */
    readonly details: ToolDetails | null;
    readonly decision: StreamDecision | null;
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
    readonly usage: Usage | null;
    /** Seconds. */
    readonly duration: number;
    /** Tokens of the conversation at its last request. */
    readonly context?: number;
  };

/** An event of the engine as a line of the stream. */
export function streamEvent(event: UiEvent): StreamEvent {
  switch (event.type) {
    case "tool_start": {
      const { type, id, name, args } = event;
      return { type, id, name, args };
    }
    case "tool_end": {
      const { type, id, name, args, content, isError, isNote, details, decision, outcome, duration } = event;
      return {
        ...{ type, id, name, args, content, is_error: isError, is_note: isNote, details },
        decision: decision && streamDecision(decision),
        outcome,
        duration,
      };
    }
    default:
      return event;
  }
}

/** A question and its answer as a line of the stream. */
export function streamConfirm(request: ConfirmRequest, answer: ConfirmAnswer): StreamEvent {
  const { tool, args, decision } = request;
  return { type: "confirm", name: tool.name, args, decision: streamDecision(decision), answer };
}

/** The line's text, with its line feed; nothing in it acts on a terminal. */
export function streamLine(event: StreamEvent): string {
  return `${cleanJson(JSON.stringify(event))}\n`;
}

function streamDecision(decision: ConfirmRequest["decision"]): StreamDecision {
  const { action, rule, reason, command } = decision;
  return { action, rule, reason, ...(command ? { segments: command.segments } : {}) };
}
