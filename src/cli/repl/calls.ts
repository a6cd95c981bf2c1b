/**
 * Calls that the person makes: through the same dispatcher, shown as the model's are, and in the session's audit.
 *
 * @module
 */
import type { Head } from "../../engine/heads.ts";
import type { CallResult } from "../../registry/dispatch.ts";
import type { UiSink } from "../../ui/sink.ts";

/** What a call of the person's uses. */
export interface UserCallIo {
  readonly sink: UiSink;
  readonly signal: AbortSignal;
  /** A question was answered with "cancel". */
  readonly cancel: () => void;
  /** Id of the call for the user interface. */
  readonly id: string;
}

/** Runs a call with an agent's permissions. What the tool echoes is left to the caller to show. Never throws. */
export async function userCall(
  { parts: { dispatcher }, session }: Pick<Head, "parts" | "session">,
  name: string,
  args: unknown,
  { sink, signal, cancel, id }: UserCallIo,
): Promise<CallResult> {
  let announced = false;
  const announce = (tool: CallResult["tool"], called: string, given: CallResult["args"]) => {
    if (!announced) sink.emit({ type: "tool_start", id, tool, name: called, args: given });
    announced = true;
  };
  const result = await dispatcher.call(name, args, {
    signal,
    confirm: async (request) => {
      const answer = await sink.confirm(request);
      if (answer === "cancel") cancel();
      return answer;
    },
    onStart: (tool, given) => announce(tool, tool.name, given),
    onDecision: (entry) => session.permission(entry),
    onProgress: (text) => sink.emit({ type: "tool_progress", id, text }),
  });
  announce(result.tool, result.name, result.args);
  const { tool, content, isError, isNote, details, decision, outcome, duration } = result;
  sink.emit({
    ...{ type: "tool_end", id, tool: tool && { ...tool, echo: false }, name: result.name, args: result.args },
    ...{ content, isError, isNote, details, decision, outcome, duration },
  });
  return result;
}
