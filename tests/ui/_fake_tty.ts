/**
 * A terminal that tests type into.
 *
 * @module
 */
import type { Tty } from "../../src/ui/tty.ts";

/** A terminal without a screen: what was written is one text. */
export class FakeTty implements Tty {
  columns = 80;
  rows = 24;
  color = false;
  dumb = false;
  /** All that was written. */
  output = "";
  raw = false;
  suspended = 0;
  readonly #waiting: (() => void)[] = [];
  readonly #bytes: Uint8Array[] = [];
  readonly #listeners = new Set<() => void>();
  #ended = false;

  constructor(options: { readonly dumb?: boolean; readonly columns?: number } = {}) {
    this.dumb = options.dumb ?? false;
    this.columns = options.columns ?? 80;
  }

  /** Types text, in one piece. */
  type(text: string | Uint8Array): void {
    this.#bytes.push(typeof text === "string" ? new TextEncoder().encode(text) : text);
    this.#waiting.shift()?.();
  }

  /** The terminal goes away. */
  hangUp(): void {
    this.#ended = true;
    for (const wake of this.#waiting.splice(0)) wake();
  }

  write(text: string): void {
    this.output += text;
  }

  setRaw(on: boolean): void {
    this.raw = on;
  }

  async *bytes(): AsyncIterable<Uint8Array> {
    for (;;) {
      const next = this.#bytes.shift();
      if (next) yield next;
      else if (this.#ended) return;
      else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  onResize(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  resize(columns: number): void {
    this.columns = columns;
    for (const listener of this.#listeners) listener();
  }

  suspend(): void {
    this.suspended++;
  }

  close(): void {
    this.setRaw(false);
    this.hangUp();
  }
}

/** Lets everything that was begun come to rest. */
export async function settle(milliseconds: number = 0): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
  await new Promise((resolve) => setTimeout(resolve, 0));
}
