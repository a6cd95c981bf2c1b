/**
 * Bytes of a terminal as keys.
 *
 * Sources: ECMA-48 (control sequences), xterm's control sequences (modifiers, bracketed paste), the kitty keyboard
 * protocol (`CSI u`).
 *
 * @module
 */

/** A key, a run of typed text, or a pasted text. */
export interface Key {
  /**
   * `text` (see `text`), `paste` (see `text`), a letter with `ctrl` or `alt`, or `enter tab backspace delete insert
   * escape up down left right home end pageup pagedown f1`…`f12`.
   */
  readonly name: string;
  /** What was typed without a pause between, or pasted: line breaks as `\n`. */
  readonly text?: string;
  readonly ctrl?: boolean;
  readonly alt?: boolean;
  readonly shift?: boolean;
}

const ESC = "\x1b";
const PASTE_END = "\x1b[201~";
/** A sequence that is longer than this is none. */
const LONGEST = 256;
/** What the terminal says of itself may be longer. */
const LONGEST_STRING = 65_536;
/** A paste is handed on in pieces of about this size. */
const PASTE_PIECE = 1 << 20;

const FINALS: Readonly<Record<string, string>> = {
  A: "up",
  B: "down",
  C: "right",
  D: "left",
  F: "end",
  H: "home",
  P: "f1",
  Q: "f2",
  R: "f3",
  S: "f4",
  M: "enter",
  Z: "tab",
};
const NUMBERS: Readonly<Record<string, string>> = {
  1: "home",
  2: "insert",
  3: "delete",
  4: "end",
  5: "pageup",
  6: "pagedown",
  7: "home",
  8: "end",
  11: "f1",
  12: "f2",
  13: "f3",
  14: "f4",
  15: "f5",
  17: "f6",
  18: "f7",
  19: "f8",
  20: "f9",
  21: "f10",
  23: "f11",
  24: "f12",
};
const CONTROLS: Readonly<Record<number, Key>> = {
  0: { name: "@", ctrl: true },
  8: { name: "backspace" },
  9: { name: "tab" },
  10: { name: "enter" },
  13: { name: "enter" },
  27: { name: "escape" },
  28: { name: "\\", ctrl: true },
  29: { name: "]", ctrl: true },
  30: { name: "^", ctrl: true },
  31: { name: "_", ctrl: true },
  127: { name: "backspace" },
};

/** Decodes what a terminal sends; characters and sequences may be split over several pieces. */
export class KeyDecoder {
  readonly #utf8 = new TextDecoder("utf-8", { ignoreBOM: true });
  #held = "";
  /** What came of a paste whose end did not come yet; null outside of one. */
  #paste: string | null = null;
  /** The last `\r` of a paste was handed on as a line break. */
  #pasteCr = false;

  /** The keys that are complete with these bytes. Sequences that are not known are left out. */
  push(bytes: Uint8Array): Key[] {
    const keys: Key[] = [];
    this.#take(this.#held + this.#utf8.decode(bytes, { stream: true }), keys);
    return keys;
  }

  /** What is held back: a lone Escape may be the beginning of a sequence, and a paste has an end. */
  get pending(): "none" | "escape" | "paste" {
    return this.#paste !== null ? "paste" : this.#held !== "" ? "escape" : "none";
  }

  /** What is held back is a key by itself as well: Escape, or Alt with a bracket. */
  get short(): boolean {
    return this.#held.length <= 2;
  }

  /** Nothing came for a while: what was held back stands for itself. */
  flush(): Key[] {
    const keys: Key[] = [], held = this.#held;
    this.#held = "";
    if (this.#paste !== null) {
      this.#paste += held;
      this.#endPaste(keys);
    } else if (held === ESC) keys.push({ name: "escape" });
    else if (held === ESC + ESC) keys.push({ name: "escape" }, { name: "escape" });
    else if (held.length === 2) keys.push({ name: held[1]!, alt: true });
    return keys;
  }

  #take(text: string, keys: Key[]): void {
    this.#held = "";
    for (let at = 0; at < text.length;) {
      if (this.#paste !== null) {
        at = this.#takePaste(text, at, keys);
        continue;
      }
      const code = text.charCodeAt(at);
      if (code === 0x1b) {
        const length = sequenceLength(text, at);
        if (length === 0) {
          this.#held = text.slice(at);
          return;
        }
        if (text.startsWith(`${ESC}[200~`, at)) this.#paste = "";
        else {
          const key = sequenceKey(text.slice(at, at + length));
          if (key) keys.push(key);
        }
        at += length;
      } else if (code < 0x20 || code === 0x7f) {
        keys.push(CONTROLS[code] ?? { name: String.fromCharCode(code + 0x60), ctrl: true });
        at++;
      } else {
        let end = at + 1;
        while (end < text.length && text.charCodeAt(end) >= 0x20 && text.charCodeAt(end) !== 0x7f) end++;
        keys.push({ name: "text", text: text.slice(at, end) });
        at = end;
      }
    }
  }

  #takePaste(text: string, at: number, keys: Key[]): number {
    const end = text.indexOf(PASTE_END, at);
    if (end >= 0) {
      this.#paste += text.slice(at, end);
      this.#endPaste(keys);
      return end + PASTE_END.length;
    }
    // The mark may have begun already.
    let keep = Math.min(PASTE_END.length - 1, text.length - at);
    while (keep > 0 && !PASTE_END.startsWith(text.slice(text.length - keep))) keep--;
    this.#paste += text.slice(at, text.length - keep);
    this.#held = text.slice(text.length - keep);
    if (this.#paste!.length >= PASTE_PIECE) {
      this.#handOn(keys);
      this.#paste = "";
    }
    return text.length;
  }

  #endPaste(keys: Key[]): void {
    this.#handOn(keys);
    this.#paste = null;
    this.#pasteCr = false;
  }

  #handOn(keys: Key[]): void {
    let text = this.#paste!;
    if (this.#pasteCr && text.startsWith("\n")) text = text.slice(1);
    this.#pasteCr = text.endsWith("\r");
    if (text !== "") keys.push({ name: "paste", text: text.replace(/\r\n?/g, "\n") });
  }
}

/** Length of the sequence that begins with the Escape at `at`; 0 where it is not complete yet. */
function sequenceLength(text: string, at: number): number {
  const kind = text[at + 1];
  if (kind === undefined) return 0;
  if (kind === ESC) {
    // Alt with a key that is a sequence itself, or Escape twice.
    if (text[at + 2] === undefined) return 0;
    return text[at + 2] === "[" || text[at + 2] === "O" ? more(sequenceLength(text, at + 1)) : 1;
  }
  if (kind === "[") {
    if (text[at + 2] === "M") return text.length >= at + 6 ? 6 : 0; // the mouse, in xterm's first form
    if (text[at + 2] === "[") return text.length > at + 3 ? 4 : 0; // function keys of the Linux console
    for (let i = at + 2; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code >= 0x40 && code <= 0x7e) return i + 1 - at;
      if (code < 0x20 || code > 0x7e) return i - at; // broken off
      if (i - at > LONGEST) return i - at;
    }
    return 0;
  }
  if (kind === "O") return text.length > at + 2 ? 3 : 0;
  if (kind === "]" || kind === "P" || kind === "_" || kind === "^" || kind === "X") {
    for (let i = at + 2; i < text.length; i++) {
      if (text[i] === "\x07") return i + 1 - at;
      if (text[i] === ESC) return text[i + 1] === undefined ? 0 : text[i + 1] === "\\" ? i + 2 - at : i - at;
      if (text[i] === "\x03" || i - at > LONGEST_STRING) return i - at;
    }
    // Alt with such a character is more likely than an answer that nobody asked for.
    return text.length === at + 2 ? 0 : text.length - at > LONGEST_STRING ? LONGEST_STRING : 0;
  }
  const point = text.codePointAt(at + 1)!;
  return point > 0xffff ? 3 : 2;
}

function more(length: number): number {
  return length === 0 ? 0 : length + 1;
}

function sequenceKey(sequence: string): Key | null {
  if (sequence === ESC) return { name: "escape" };
  const kind = sequence[1]!;
  if (kind === ESC) {
    const key = sequenceKey(sequence.slice(1));
    return key && { ...key, alt: true };
  }
  if (kind === "O") {
    const name = FINALS[sequence[2]!];
    return name ? { name } : keypad(sequence[2]!);
  }
  if (kind === "[" && sequence.length > 2) return controlSequence(sequence);
  if ("]P_^X".includes(kind)) return sequence.length === 2 ? { name: kind, alt: true } : null;
  const code = kind.charCodeAt(0);
  if (code < 0x20 || code === 0x7f) {
    const key = CONTROLS[code] ?? { name: String.fromCharCode(code + 0x60), ctrl: true };
    return { ...key, alt: true };
  }
  return { name: sequence.slice(1), alt: true };
}

function controlSequence(sequence: string): Key | null {
  const body = sequence.slice(2);
  if (/^\[[A-E]$/.test(body)) return { name: `f${body.charCodeAt(1) - 64}` };
  const match = /^([\d;:]*)([A-Za-z~^$@])$/.exec(body);
  if (!match) return null;
  const numbers = match[1]!.split(";").map((part) => Number(part.split(":", 1)[0] || "1")), final = match[2]!;
  const [first = 1, second = 1, third] = numbers;
  if (final === "u") return fromCode(first, second);
  if (final === "~" && first === 27 && third !== undefined) return fromCode(third, second); // modifyOtherKeys
  if (final === "~") {
    const name = NUMBERS[first];
    return name ? { name, ...modifiers(second) } : null;
  }
  if (final === "^" || final === "$" || final === "@") { // rxvt
    const name = NUMBERS[first];
    return name ? { name, ...modifiers(final === "^" ? 5 : final === "$" ? 2 : 6) } : null;
  }
  if (final === "R" && numbers.length > 1 && first !== 1) return null; // where the cursor is
  const name = FINALS[final];
  if (!name || final === "M") return null;
  return { name, ...modifiers(second), ...(final === "Z" ? { shift: true } : {}) };
}

/** A key that is given by its character's number. */
function fromCode(code: number, modifier: number): Key | null {
  const held = modifiers(modifier);
  if (!(code >= 0 && code <= 0x10ffff) || (code >= 0xd800 && code <= 0xdfff)) return null;
  const special = code < 0x20 || code === 0x7f ? CONTROLS[code] : undefined;
  if (special) return { ...special, ...held };
  if (code < 0x20 || (code >= 0xe000 && code <= 0xf8ff)) return null;
  const text = String.fromCodePoint(code);
  if (held.ctrl || held.alt) return { name: text.toLowerCase(), ...held };
  return { name: "text", text: held.shift ? text.toUpperCase() : text };
}

function modifiers(value: number): Pick<Key, "ctrl" | "alt" | "shift"> {
  const bits = value - 1;
  return {
    ...(bits & 1 ? { shift: true } : {}),
    ...(bits & 2 ? { alt: true } : {}),
    ...(bits & 4 ? { ctrl: true } : {}),
  };
}

/** The keypad in application mode. */
function keypad(final: string): Key | null {
  const digit = "pqrstuvwxy".indexOf(final);
  if (digit >= 0) return { name: "text", text: String(digit) };
  const text = ({ j: "*", k: "+", l: ",", m: "-", n: ".", o: "/", X: "=" } as Record<string, string>)[final];
  return text ? { name: "text", text } : null;
}
