/**
 * The body of a streaming response under watch: a time limit for silence, and a connection that can be used again.
 *
 * @module
 */

/** Bytes that one event of a stream may have. */
const MAX_EVENT = 64 * 1024 * 1024;

/** How long the end of a body may take after the reply is complete, in milliseconds. */
const DRAIN = 1000;

/** A reader of a body, in the form in which the `openai` package's stream takes it. */
export class WatchedBody {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #onLimit: (why: string) => void;
  #pending = 0;
  #limit: number;
  /** When the read that is waiting began; null while none waits, as silence is not the server's then. */
  #since: number | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #done = false;
  #draining: Promise<void> | null = null;

  /**
   * @param body the response's body
   * @param limit milliseconds without any data after which `onLimit` is called
   * @param onLimit told why the body should be given up: silence, or an event without end
   */
  constructor(body: ReadableStream<Uint8Array>, limit: number, onLimit: (why: string) => void) {
    this.#reader = body.getReader();
    this.#limit = limit;
    this.#onLimit = onLimit;
  }

  /** Shortens the limit. */
  shorten(ms: number): void {
    if (ms >= this.#limit) return;
    this.#limit = ms;
    clearTimeout(this.#timer);
    this.#watch(ms);
  }

  /** An event was read: the next one may be as long again. */
  next(): void {
    this.#pending = 0;
  }

  /** Settles when a body that was left early has been read to its end. */
  get drained(): Promise<void> {
    return this.#draining ?? Promise.resolve();
  }

  /** Like a stream's own method: this object is the reader. */
  getReader(): this {
    return this;
  }

  /** The next bytes. */
  async read(): Promise<ReadableStreamReadResult<Uint8Array>> {
    this.#since = performance.now();
    if (this.#timer === undefined) this.#watch(this.#limit);
    try {
      const result = await this.#reader.read();
      this.#since = null;
      if (result.done) this.#finish();
      else if ((this.#pending += result.value.length) > MAX_EVENT) this.#onLimit("an event that never ends");
      return result;
    } catch (error) {
      this.#finish();
      throw error;
    }
  }

  /** One timer for all reads: it looks whether something came, and goes on for the time that is left. */
  #watch(ms: number): void {
    this.#timer = setTimeout(() => {
      const left = (this.#since ?? performance.now()) + this.#limit - performance.now();
      if (left > 1) this.#watch(left);
      else this.#onLimit(`no data for ${Math.round(this.#limit / 1000)} s`);
    }, ms);
  }

  #finish(): void {
    this.#done = true;
    clearTimeout(this.#timer);
  }

  /**
   * Leaves the body. After a complete reply (`[DONE]`) its end is read in the background instead, so that the
   * connection serves the next request.
   */
  cancel(): Promise<void> {
    clearTimeout(this.#timer);
    if (!this.#done && !this.#draining) this.#draining = this.#drain();
    return Promise.resolve();
  }

  /** Drops the body and its connection at once. */
  async abandon(): Promise<void> {
    this.#finish();
    await this.#reader.cancel().catch(() => {});
  }

  /** Nothing to release: the reader is this object. */
  releaseLock(): void {}

  async #drain(): Promise<void> {
    const timer = setTimeout(() => this.#reader.cancel().catch(() => {}), DRAIN);
    try {
      while (!(await this.#reader.read()).done);
    } catch { /* the connection is gone, and so is what was left */ }
    clearTimeout(timer);
  }
}
