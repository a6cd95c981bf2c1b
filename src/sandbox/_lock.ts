/**
 * Keeps file tools and commands apart: a command may swap directories while a file tool checks them.
 *
 * @module
 */

/** Which side a call is on; `free` calls touch neither files nor programs. */
export type Side = "files" | "commands" | "free";

/**
 * Calls of one side run together, those of the other wait; whoever waits longest goes first, so neither side starves.
 * Programs that a command left behind on purpose are the stated exception: they are nobody's call any more.
 */
export class SideLock {
  #holder: Side = "free";
  #count = 0;
  #waiting: { readonly side: Side; readonly enter: () => void }[] = [];

  /**
   * Waits for its turn.
   *
   * @param signal gives up waiting; the promise rejects with its reason
   * @returns releases the turn; calling it twice does nothing
   */
  async enter(side: Side, signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted();
    if (side === "free") return () => {};
    if (this.#waiting.length > 0 || (this.#count > 0 && this.#holder !== side)) {
      await new Promise<void>((resolve, reject) => {
        const entry = { side, enter: resolve };
        const give = () => {
          this.#waiting = this.#waiting.filter((other) => other !== entry);
          reject(signal!.reason);
          this.#admit();
        };
        signal?.addEventListener("abort", give, { once: true });
        entry.enter = () => {
          signal?.removeEventListener("abort", give);
          resolve();
        };
        this.#waiting.push(entry);
      });
    } else {
      this.#holder = side;
      this.#count++;
    }
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#count--;
      this.#admit();
    };
  }

  /** Lets in those at the head of the queue that may go now. Entering counts here, so that nobody slips between. */
  #admit(): void {
    while (this.#waiting.length > 0) {
      const first = this.#waiting[0]!;
      if (this.#count > 0 && this.#holder !== first.side) return;
      this.#waiting.shift();
      this.#holder = first.side;
      this.#count++;
      first.enter();
    }
  }
}
