/**
 * What reads a line, key by key.
 *
 * @module
 */
import type { ReadResult } from "../input.ts";
import type { Key } from "../keys.ts";

/** A reader of one line. */
export interface LineReader {
  /** What came of it; null while it is read. */
  readonly result: ReadResult | null;
  /** Shows the prompt. */
  open(): void;
  /** Takes a key; what it changed is shown by {@link LineReader.show}. */
  handle(key: Key): void | Promise<void>;
  /** Shows what changed since it was last shown. */
  show(): void;
  /** Somebody pressed Ctrl-C while {@link LineReader.handle} works: it comes to an end soon. */
  wake(): void;
  /** Takes what is drawn away. */
  hide(): void;
  /** The terminal has another size, or came back: draws anew. */
  redraw(): void;
  /** Ends reading without a key. */
  stop(kind: "interrupt" | "end"): void;
}

/** Whether a text that is read by blocks is complete; where it is not, the text with the line break that Enter means. */
export function continued(text: string): string | null {
  const trimmed = text.trim();
  if (trimmed.startsWith(BLOCK)) {
    return trimmed.length >= 2 * BLOCK.length && trimmed.endsWith(BLOCK) ? null : `${text}\n`;
  }
  const slashes = /\\+$/.exec(text)?.[0].length ?? 0;
  return slashes % 2 === 1 ? `${text.slice(0, -1)}\n` : null;
}

/** The text of a block without its marks; any other text as it is. */
export function unblocked(text: string): string {
  const trimmed = text.trim();
  if (!trimmed.startsWith(BLOCK) || trimmed.length < 2 * BLOCK.length || !trimmed.endsWith(BLOCK)) {
    return text;
  }
  return trimmed.slice(BLOCK.length, -BLOCK.length).replace(/^[ \t]*\n/, "").replace(/\n[ \t]*$/, "");
}

const BLOCK = '"""';
