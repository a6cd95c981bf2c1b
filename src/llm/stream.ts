/**
 * An answer as it comes.
 *
 * @module
 */
import type { LlmResponse } from "./message.ts";

/** A piece of an answer. */
export interface StreamPart {
  /** Part of the answer, or of the thinking before it. */
  readonly type: "text" | "thinking";
  /** Never empty. */
  readonly text: string;
}

/** Makes a request: ends with the signal, tells each piece. */
export type Ask = (signal: AbortSignal, onPart: (part: StreamPart) => void) => Promise<LlmResponse>;

/**
 * The pieces of one answer, to be taken with `for await`; {@link LlmStream.response} is the whole. Leaving the loop early
 * ends the request.
 */
export class LlmStream implements AsyncIterable<StreamPart> {
  readonly #ask: Ask;
  readonly #abort = new AbortController();
  readonly #parts: StreamPart[] = [];
  #whole: Promise<LlmResponse> | null = null;
  #taken = false;
  #wake = () => {};

  /**
   * Prepares a stream; nothing is asked yet.
   *
   * @param ask makes the request
   */
  constructor(ask: Ask) {
    this.#ask = ask;
  }

  /**
   * The whole answer, once it is there; makes the request if nobody has.
   *
   * @throws what `generate` throws
   */
  response(): Promise<LlmResponse> {
    this.#whole ??= this.#ask(this.#abort.signal, (part) => {
      this.#parts.push(part);
      this.#wake();
    });
    return this.#whole;
  }

  /**
   * The pieces, once.
   *
   * @throws {TypeError} the second time; what `generate` throws
   */
  async *[Symbol.asyncIterator](): AsyncGenerator<StreamPart> {
    if (this.#taken) throw new TypeError("Cannot read a stream twice: keep its pieces, or use response()");
    this.#taken = true;
    let over = false;
    const end = this.response().then(() => {}, () => {}).then(() => {
      over = true;
      this.#wake();
    });
    try {
      for (;;) {
        const part = this.#parts.shift();
        if (part) yield part;
        else if (over) break;
        else await new Promise<void>((resolve) => this.#wake = resolve);
      }
    } finally {
      if (!over) {
        this.#abort.abort(new DOMException("Reading the stream was ended early", "AbortError"));
        await end;
      }
    }
    await this.response();
  }
}
