/**
 * Ctrl-C: the first one cancels what runs, the second one leaves at once.
 *
 * @module
 */
import { EXIT } from "../errors.ts";
import type { CliIo } from "./_command.ts";

/** A supervisor may pass on a signal that the terminal has sent to this process too. */
const SAME_KEYPRESS_MS = 250;

const listening = new Set<() => void>();

/** Cancels what runs, as a first Ctrl-C does, and leaves soon whatever happens: for a program that was left alone. */
export function cancelAndLeave(): void {
  for (const listener of listening) listener();
  setTimeout(() => Deno.exit(EXIT.cancelled), listening.size > 0 ? 2000 : 0);
}

/**
 * Aborts the controller at SIGINT or SIGTERM.
 *
 * @returns stops listening
 */
export function onSignals(controller: AbortController, io: Pick<CliIo, "err">): () => void {
  let first = 0;
  const listener = () => {
    const now = performance.now();
    if (first === 0) {
      first = now;
      controller.abort(new DOMException("cancelled by a signal", "AbortError"));
    } else if (now - first > SAME_KEYPRESS_MS) {
      io.err("polyglav: left at the second signal; what ran may not have been recorded\n");
      Deno.exit(EXIT.cancelled);
    }
  };
  const signals: Deno.Signal[] = Deno.build.os === "windows"
    ? ["SIGINT", "SIGBREAK"]
    : ["SIGINT", "SIGTERM", "SIGHUP"];
  for (const signal of signals) Deno.addSignalListener(signal, listener);
  listening.add(listener);
  return () => {
    listening.delete(listener);
    for (const signal of signals) Deno.removeSignalListener(signal, listener);
  };
}
