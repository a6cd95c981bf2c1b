/**
 * Separates thinking from text where a model writes `<think>…</think>` or `<thinking>…</thinking>` into its answer.
 *
 * @module
 */

/** A piece of the stream. */
export interface Piece {
  readonly type: "token" | "thinking";
  readonly text: string;
}

const OPEN = /<think(?:ing)?>/;
const CLOSE = /<\/think(?:ing)?>/;
const LONGEST = "</thinking>".length;
/** Blanks before an opening tag, and characters of an inner block, that are waited for. */
const MAX_BLANKS = 1000;
const MAX_INNER = 64 * 1024;

/**
 * Reads text in pieces of any size, tags split between them included. A tag at the start of the answer opens
 * thinking at once. Further on it counts only when it is closed again (and does not stand after a backtick), so that
 * an answer about such tags keeps its text.
 */
export class ThinkFilter {
  #buffer = "";
  #state: "start" | "leading" | "text" | "inner" = "start";
  /** The opening tag of an inner block, which is text unless it is closed. */
  #tag = "";
  #held: string[] = [];
  #heldSize = 0;
  #last = "";

  /** Takes the next text and returns what is certain. */
  push(text: string): Piece[] {
    this.#buffer += text;
    return this.#drain(false);
  }

  /** The end of the stream: returns the rest. */
  end(): Piece[] {
    return this.#drain(true);
  }

  #drain(final: boolean): Piece[] {
    const out: Piece[] = [];
    const emit = (type: Piece["type"], text: string) => {
      if (text === "") return;
      if (type === "token") this.#last = text[text.length - 1]!;
      const previous = out[out.length - 1];
      if (previous?.type === type) out[out.length - 1] = { type, text: previous.text + text };
      else out.push({ type, text });
    };
    while (this.#step(final, emit));
    return out;
  }

  /** Works off what the buffer allows; true when it should be called again. */
  #step(final: boolean, emit: (type: Piece["type"], text: string) => void): boolean {
    const buffer = this.#buffer;
    if (this.#state === "start") {
      const body = buffer.trimStart();
      const open = OPEN.exec(body);
      if (open?.index === 0) {
        this.#state = "leading";
        this.#buffer = body.slice(open[0].length);
        return true;
      }
      const waiting = body === "" ? buffer.length < MAX_BLANKS : isPrefix(body, ["<think>", "<thinking>"]);
      if (!final && waiting) return false;
      this.#state = "text";
      return true;
    }
    if (this.#state === "leading") {
      const close = CLOSE.exec(buffer);
      if (close) {
        emit("thinking", buffer.slice(0, close.index));
        // The blank lines after the block are no part of the answer.
        this.#buffer = buffer.slice(close.index + close[0].length);
        this.#state = "start";
        return true;
      }
      const keep = final ? 0 : heldBack(buffer, ["</think>", "</thinking>"]);
      emit("thinking", buffer.slice(0, buffer.length - keep));
      this.#buffer = buffer.slice(buffer.length - keep);
      return false;
    }
    if (this.#state === "inner") {
      const close = CLOSE.exec(buffer);
      if (close) {
        emit("thinking", this.#held.join("") + buffer.slice(0, close.index));
        this.#buffer = buffer.slice(close.index + close[0].length);
        this.#leaveInner();
        return true;
      }
      const keep = final ? 0 : heldBack(buffer, ["</think>", "</thinking>"]);
      this.#held.push(buffer.slice(0, buffer.length - keep));
      this.#heldSize += buffer.length - keep;
      this.#buffer = buffer.slice(buffer.length - keep);
      if (!final && this.#heldSize < MAX_INNER) return false;
      emit("token", this.#tag + this.#held.join(""));
      this.#leaveInner();
      return this.#buffer !== "";
    }
    const open = OPEN.exec(buffer);
    if (!open) {
      const keep = final ? 0 : heldBack(buffer, ["<think>", "<thinking>"]);
      emit("token", buffer.slice(0, buffer.length - keep));
      this.#buffer = buffer.slice(buffer.length - keep);
      return false;
    }
    const before = buffer.slice(0, open.index);
    const quoted = (before === "" ? this.#last : before[before.length - 1]) === "`";
    this.#buffer = buffer.slice(open.index + open[0].length);
    if (quoted) {
      emit("token", before + open[0]);
      return true;
    }
    emit("token", before);
    this.#tag = open[0];
    this.#state = "inner";
    return true;
  }

  #leaveInner(): void {
    [this.#held, this.#heldSize, this.#state] = [[], 0, "text"];
  }
}

function isPrefix(text: string, words: readonly string[]): boolean {
  return words.some((word) => word.startsWith(text));
}

/** Length of the longest end of `text` that one of the words could begin with. */
function heldBack(text: string, words: readonly string[]): number {
  for (let n = Math.min(LONGEST - 1, text.length); n > 0; n--) {
    if (isPrefix(text.slice(text.length - n), words)) return n;
  }
  return 0;
}
