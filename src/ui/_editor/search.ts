/**
 * Ctrl-R: searching the history while the words are typed.
 *
 * @module
 */
import { graphemes } from "../../text/width.ts";
import type { Key } from "../keys.ts";

/** A search from the newest entry to the oldest. */
export class HistorySearch {
  query = "";
  /** The entry that was found; null before anything was. */
  index: number | null = null;
  /** Where in it. */
  offset = 0;
  /** Nothing further has the words. */
  failed = false;
  readonly #entries: readonly string[];

  constructor(entries: readonly string[]) {
    this.#entries = entries;
  }

  /**
   * Takes a key.
   *
   * @returns `on`: the search goes on; `cancel`: as before it; `take`: what was found is kept; `accept`: it is kept, and
   * the key has its usual meaning
   */
  handle(key: Key): "on" | "cancel" | "take" | "accept" {
    if ((key.name === "text" || key.name === "paste") && key.text !== undefined) {
      this.query += key.text.replaceAll("\n", " ");
      this.#find(this.index ?? this.#entries.length - 1, -1);
      return "on";
    }
    if (key.name === "backspace" && !key.ctrl && !key.alt) {
      this.query = this.query.slice(0, this.query.length - (graphemes(this.query).at(-1)?.length ?? 0));
      this.index = null;
      this.#find(this.#entries.length - 1, -1);
      return "on";
    }
    if (key.ctrl && key.name === "r") {
      this.#find((this.index ?? this.#entries.length) - 1, -1);
      return "on";
    }
    if (key.ctrl && key.name === "s") {
      this.#find((this.index ?? -1) + 1, 1);
      return "on";
    }
    if (key.ctrl && (key.name === "g" || key.name === "c")) return "cancel";
    return key.name === "escape" || key.name === "tab" ? "take" : "accept";
  }

  #find(from: number, step: -1 | 1): void {
    this.failed = false;
    if (this.query === "") {
      this.index = null;
      this.offset = 0;
      return;
    }
    const wanted = this.query.toLowerCase(), current = this.index === null ? null : this.#entries[this.index];
    for (let i = from; i >= 0 && i < this.#entries.length; i += step) {
      const entry = this.#entries[i]!, offset = entry.toLowerCase().indexOf(wanted);
      // The same text again is no further find.
      if (offset < 0 || (i !== this.index && entry === current)) continue;
      this.index = i;
      this.offset = Math.min(offset, entry.length);
      return;
    }
    this.failed = true;
  }
}
