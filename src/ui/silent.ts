/**
 * @module
 */
import type { UiSink } from "./sink.ts";

/** A user interface that shows nothing and answers every question alike. */
export function createSilentSink(answer: "yes" | "no" = "no"): UiSink {
  return { emit() {}, confirm: () => Promise.resolve(answer) };
}
