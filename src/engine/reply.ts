/**
 * A reply of the model, shown as it comes: the llm layer reads it, the user interface is told.
 *
 * @module
 */
import { type Reply, type ReplyRequest, requestReply } from "../llm/reply.ts";
import type { UiSink } from "../ui/sink.ts";

export { CUT, EMPTY, type Reply, type ReplyEnd, sleep } from "../llm/reply.ts";

/** Asks for one reply, with retries where nothing had been said yet. Never throws. */
export function streamReply(
  request: Omit<ReplyRequest, "onPart" | "onRetry"> & { readonly sink: UiSink },
): Promise<Reply> {
  const { sink } = request;
  return requestReply({
    ...request,
    onPart: (part) => sink.emit(part),
    onRetry: (retry) => sink.emit({ type: "retry", ...retry }),
  });
}
