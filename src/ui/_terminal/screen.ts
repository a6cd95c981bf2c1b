/**
 * The bottom of the terminal: text that stays, and one line below it that comes and goes.
 *
 * @module
 */
import { cutToWidth, displayWidth } from "../../text/width.ts";

/** What a screen works with. */
export interface ScreenOptions {
  readonly write: (text: string) => void;
  readonly columns: () => number;
  /** The terminal can erase a line. */
  readonly live: boolean;
  /** Puts colours around the live line. */
  readonly paint: (text: string) => string;
}

/**
 * Writes at once what comes first, and what else comes in the same turn of the event loop together. The live line is
 * erased before anything else is written; nothing but that line is ever erased.
 */
export class Screen {
  readonly #options: ScreenOptions;
  #buffer: string[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Columns of the live line as it stands there; 0: there is none. */
  #drawn = 0;
  #shown = "";
  readonly #onTick: () => boolean;

  /** @param onTick is called once in each turn in which something is written; true: there is more to come */
  constructor(options: ScreenOptions, onTick: () => boolean) {
    this.#options = options;
    this.#onTick = onTick;
  }

  /** Something was written in this turn of the event loop. */
  get busy(): boolean {
    return this.#timer !== undefined;
  }

  /** Adds text that stays. */
  write(text: string): void {
    if (text === "") return;
    this.#buffer.push(text);
    if (this.busy) return;
    this.flush();
    this.wake();
  }

  /** Calls `onTick` in the next turn. */
  wake(): void {
    this.#timer ??= setTimeout(() => this.#tick(), 0);
  }

  /** Writes what was collected. */
  flush(): void {
    if (this.#buffer.length === 0) return;
    const text = this.#buffer.join("");
    this.#buffer = [];
    this.#options.write(`${this.#erasure()}${text}`);
  }

  /** Draws the live line anew, where it changed. The cursor must stand at the beginning of a line. */
  draw(text: string): void {
    this.flush();
    if (!this.#options.live) return;
    // One column stays free, so that the cursor stays on the line.
    const cut = cutToWidth(text, Math.max(1, this.#options.columns() - 1), "…");
    if (cut === this.#shown && this.#drawn > 0) return;
    const before = this.#erasure();
    this.#drawn = displayWidth(cut);
    this.#shown = cut;
    this.#options.write(`${before}${this.#options.paint(cut)}`);
  }

  /** Takes the live line away. */
  erase(): void {
    this.flush();
    const erasure = this.#erasure();
    if (erasure !== "") this.#options.write(erasure);
  }

  /** Writes what is left; nothing is written any more on its own. */
  close(): void {
    this.erase();
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #tick(): void {
    this.#timer = undefined;
    const more = this.#onTick(), wrote = this.#buffer.length > 0;
    this.flush();
    if (more || wrote) this.wake();
  }

  #erasure(): string {
    if (this.#drawn === 0) return "";
    // A terminal that became narrower has broken the line.
    const rows = Math.ceil(this.#drawn / Math.max(1, this.#options.columns()));
    this.#drawn = 0;
    return rows > 1 ? `\x1b[${rows - 1}A\r\x1b[J` : "\r\x1b[K";
  }
}
