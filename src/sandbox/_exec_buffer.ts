/**
 * Output of unknown length in bounded memory.
 *
 * @module
 */
import { cleanOutput } from "./_exec_clean.ts";

/** The line that stands for what was left out. */
const TRUNCATED = "... (truncated)";

/** Keeps the first and the last bytes of a stream and counts those between. */
export class OutputBuffer {
  #head: Uint8Array;
  #headLength = 0;
  #tail: Uint8Array | null = null;
  #tailStart = 0;
  #tailLength = 0;
  #total = 0;
  #headMax: number;
  readonly #tailMax: number;

  /** @param maxBytes most bytes kept, half at the head and half at the tail; at least 2 */
  constructor(maxBytes: number) {
    const max = Math.max(2, Math.floor(maxBytes));
    this.#headMax = Math.ceil(max / 2);
    this.#tailMax = max - this.#headMax;
    this.#head = new Uint8Array(Math.min(this.#headMax, 4096));
  }

  /** Bytes seen. */
  get total(): number {
    return this.#total;
  }

  /** Takes the bytes in; the array may be reused afterwards. */
  push(bytes: Uint8Array): void {
    this.#total += bytes.length;
    const room = Math.min(this.#headMax - this.#headLength, bytes.length);
    if (room > 0) {
      this.#growHead(this.#headLength + room);
      this.#head.set(bytes.subarray(0, room), this.#headLength);
      this.#headLength += room;
    }
    if (room < bytes.length) this.#pushTail(bytes.subarray(room));
  }

  /** Counts bytes that nobody read; what comes next is not taken for what follows the bytes before. */
  skip(count: number): void {
    if (count <= 0) return;
    this.#total += count;
    this.#tailLength = 0;
    this.#headMax = this.#headLength;
  }

  #growHead(needed: number): void {
    if (needed <= this.#head.length) return;
    const grown = new Uint8Array(Math.min(this.#headMax, Math.max(needed, this.#head.length * 4)));
    grown.set(this.#head.subarray(0, this.#headLength));
    this.#head = grown;
  }

  #pushTail(bytes: Uint8Array): void {
    const size = this.#tailMax;
    const tail = this.#tail ??= new Uint8Array(size);
    if (bytes.length >= size) {
      tail.set(bytes.subarray(bytes.length - size));
      this.#tailStart = 0;
      this.#tailLength = size;
      return;
    }
    const at = (this.#tailStart + this.#tailLength) % size, first = Math.min(size - at, bytes.length);
    tail.set(bytes.subarray(0, first), at);
    tail.set(bytes.subarray(first), 0);
    const over = this.#tailLength + bytes.length - size;
    if (over > 0) this.#tailStart = (this.#tailStart + over) % size;
    this.#tailLength = Math.min(size, this.#tailLength + bytes.length);
  }

  /**
   * The text so far: cleaned, and with a line `... (truncated) N bytes left out` where bytes are missing. Cuts fall
   * on line ends where there are any near.
   *
   * @param raw control characters and escapes are left in
   */
  text(raw = false): { text: string; dropped: number } {
    const decode = raw
      ? (bytes: Uint8Array) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes)
      : cleanOutput;
    const head = this.#head.subarray(0, this.#headLength), tail = this.#tailBytes();
    const missing = this.#total - head.length - tail.length;
    if (missing === 0) return { text: decode(join(head, tail)), dropped: 0 };
    const first = trimHead(head), last = trimTail(tail);
    const dropped = this.#total - first.length - last.length;
    const text = `${decode(first).replace(/\n$/, "")}\n${TRUNCATED} ${dropped} bytes left out\n${
      decode(last)
    }`;
    return { text, dropped };
  }

  #tailBytes(): Uint8Array {
    if (!this.#tail) return new Uint8Array();
    const end = this.#tailStart + this.#tailLength, size = this.#tailMax;
    if (end <= size) return this.#tail.subarray(this.#tailStart, end);
    return join(this.#tail.subarray(this.#tailStart), this.#tail.subarray(0, end - size));
  }
}

function join(a: Uint8Array, b: Uint8Array): Uint8Array {
  if (b.length === 0) return a;
  const all = new Uint8Array(a.length + b.length);
  all.set(a);
  all.set(b, a.length);
  return all;
}

/** Up to the last line end, where that loses less than half; else up to the last whole UTF-8 sequence. */
function trimHead(bytes: Uint8Array): Uint8Array {
  const line = bytes.lastIndexOf(10);
  if (line >= bytes.length / 2) return bytes.subarray(0, line + 1);
  let end = bytes.length;
  while (end > 0 && bytes.length - end < 3 && (bytes[end - 1]! & 0xc0) === 0x80) end--;
  const lead = bytes[end - 1] ?? 0;
  const needed = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : lead >= 0xc0 ? 1 : 0;
  return lead >= 0xc0 && bytes.length - end < needed ? bytes.subarray(0, end - 1) : bytes;
}

/** From the first line start, where that loses less than half; else from the first whole UTF-8 sequence. */
function trimTail(bytes: Uint8Array): Uint8Array {
  const line = bytes.indexOf(10);
  if (line !== -1 && line + 1 < bytes.length && line <= bytes.length / 2) return bytes.subarray(line + 1);
  let start = 0;
  while (start < 3 && start < bytes.length && (bytes[start]! & 0xc0) === 0x80) start++;
  return bytes.subarray(start);
}
