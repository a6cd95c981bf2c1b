/**
 * Text that waits to be rendered.
 *
 * @module
 */

/** Takes pieces of any size and hands them out in about equal ones, in constant time for each character. */
export class TextQueue {
  #pieces: string[] = [];
  /** The first piece that is still there, and how much of it is gone. */
  #first = 0;
  #offset = 0;

  get empty(): boolean {
    return this.#first >= this.#pieces.length;
  }

  push(text: string): void {
    if (text !== "") this.#pieces.push(text);
  }

  /** The next characters, about `size` of them; empty where there are none. */
  take(size: number): string {
    let text = "";
    while (!this.empty && text.length < size) {
      const piece = this.#pieces[this.#first]!, end = this.#offset + size - text.length;
      text += piece.slice(this.#offset, end);
      if (end < piece.length) this.#offset = end;
      else {
        // What was taken is let go, so that it can be forgotten.
        this.#pieces[this.#first++] = "";
        this.#offset = 0;
      }
    }
    if (this.empty) [this.#pieces, this.#first] = [[], 0];
    else if (this.#first > 4096) {
      this.#pieces = this.#pieces.slice(this.#first);
      this.#first = 0;
    }
    return text;
  }

  /** All that is left. */
  rest(): string {
    const text = this.#pieces.slice(this.#first).join("").slice(this.#offset);
    [this.#pieces, this.#first, this.#offset] = [[], 0, 0];
    return text;
  }
}
