/**
 * A text with a cursor: moving, deleting, killing and undoing. Positions are UTF-16 offsets between graphemes.
 *
 * @module
 */
import { graphemes } from "../../text/width.ts";

/** Where to go. */
export type Move =
  | "left"
  | "right"
  | "wordLeft"
  | "wordRight"
  | "lineStart"
  | "lineEnd"
  | "start"
  | "end";

const WORD = /[\p{L}\p{N}\p{M}_]/u;
const MOST_UNDO = 200;
/** Characters that all of them hold together, roughly. */
const MOST_UNDO_SIZE = 10_000_000;
const MOST_KILLED = 20;

/** What was killed, by all editors of a program; the last one is the newest. */
export class KillRing {
  readonly #texts: string[] = [];

  /** @param join the text continues what was killed just before it: behind or in front of it */
  push(text: string, join: "after" | "before" | null): void {
    if (text === "") return;
    if (join !== null && this.#texts.length > 0) {
      const last = this.#texts.pop()!;
      text = join === "after" ? last + text : text + last;
    }
    this.#texts.push(text);
    if (this.#texts.length > MOST_KILLED) this.#texts.shift();
  }

  /** What is killed, `back` steps before the newest. */
  at(back: number): string {
    const { length } = this.#texts;
    return length === 0 ? "" : this.#texts[length - 1 - back % length]!;
  }

  get size(): number {
    return this.#texts.length;
  }
}

/** The text that is edited. */
export class TextBuffer {
  text: string;
  cursor: number;
  #undo: { text: string; cursor: number }[] = [];
  /** The last change was typing, and further typing is undone with it. */
  #typing = false;

  constructor(text: string = "") {
    this.text = text;
    this.cursor = text.length;
  }

  /** Replaces all of it. */
  set(text: string, cursor: number = text.length): void {
    this.#remember(false);
    this.text = text;
    this.cursor = cursor;
  }

  /** Puts text in front of the cursor. */
  insert(text: string): void {
    this.#remember(text.length <= 2 && text !== " " && text !== "\n");
    this.text = this.text.slice(0, this.cursor) + text + this.text.slice(this.cursor);
    this.cursor += text.length;
  }

  /** Replaces a range, the cursor behind what is put there. */
  replace(from: number, to: number, text: string): void {
    this.#remember(false);
    this.text = this.text.slice(0, from) + text + this.text.slice(to);
    this.cursor = from + text.length;
  }

  /** Takes out what lies between the cursor and another place; returns it. */
  remove(to: number): string {
    const from = Math.min(this.cursor, to), end = Math.max(this.cursor, to);
    if (from === end) return "";
    const taken = this.text.slice(from, end);
    this.replace(from, end, "");
    return taken;
  }

  /** Takes back the last change. */
  undo(): void {
    const last = this.#undo.pop();
    this.#typing = false;
    if (last) ({ text: this.text, cursor: this.cursor } = last);
  }

  /** The cursor moves; typing from here on is undone by itself. */
  moveTo(place: number): void {
    this.#typing = false;
    this.cursor = Math.max(0, Math.min(this.text.length, place));
  }

  /** Where a move leads. */
  target(move: Move): number {
    const { text, cursor } = this;
    switch (move) {
      case "left":
        return cursor === 0 ? 0 : text[cursor - 1] === "\n" ? cursor - 1 : this.#before();
      case "right":
        return cursor === text.length ? cursor : text[cursor] === "\n" ? cursor + 1 : this.#after();
      case "lineStart":
        return text.lastIndexOf("\n", cursor - 1) + 1;
      case "lineEnd": {
        const end = text.indexOf("\n", cursor);
        return end < 0 ? text.length : end;
      }
      case "start":
        return 0;
      case "end":
        return text.length;
      case "wordLeft":
        return this.#word(-1);
      case "wordRight":
        return this.#word(1);
    }
  }

  /** Start of what is not blank before the cursor, as Ctrl-W takes it. */
  blankLeft(): number {
    let at = this.cursor;
    while (at > 0 && /\s/.test(this.text[at - 1]!)) at--;
    while (at > 0 && !/\s/.test(this.text[at - 1]!)) at--;
    return at;
  }

  /** Changes the case of the word behind the cursor, and goes behind it. */
  changeCase(how: "upper" | "lower" | "capital"): void {
    const end = this.target("wordRight"), word = this.text.slice(this.cursor, end);
    const changed = how === "upper"
      ? word.toUpperCase()
      : how === "lower"
      ? word.toLowerCase()
      : word.toLowerCase().replace(/\p{L}/u, (letter) => letter.toUpperCase());
    this.replace(this.cursor, end, changed);
  }

  /** Exchanges the characters around the cursor (at the end of a line: the two before it). */
  transpose(): void {
    const start = this.target("lineStart"), end = this.target("lineEnd");
    if (this.cursor === end) this.cursor = this.target("left");
    const right = this.target("right"), left = this.target("left");
    if (left < start || left === this.cursor || right > end || right === this.cursor) {
      this.cursor = Math.min(end, Math.max(this.cursor, start));
      return;
    }
    const swapped = this.text.slice(this.cursor, right) + this.text.slice(left, this.cursor);
    this.replace(left, right, swapped);
  }

  #line(): { start: number; before: string; after: string } {
    const start = this.target("lineStart"), end = this.target("lineEnd");
    return { start, before: this.text.slice(start, this.cursor), after: this.text.slice(this.cursor, end) };
  }

  #before(): number {
    // What is far away does not change where the last grapheme begins.
    const { before } = this.#line(), near = before.slice(-256);
    return this.cursor - (graphemes(near).at(-1)?.length ?? 1);
  }

  #after(): number {
    const near = this.#line().after.slice(0, 256);
    return this.cursor + (graphemes(near)[0]?.length ?? 1);
  }

  #word(step: 1 | -1): number {
    const { text } = this;
    let at = this.cursor;
    const next = () =>
      step > 0 ? text.slice(at, at + pair(text, at)) : text.slice(at - pair(text, at - 1, -1), at);
    for (const inside of [false, true]) {
      while (step > 0 ? at < text.length : at > 0) {
        const character = next();
        if (WORD.test(character) !== inside) break;
        at += step * character.length;
      }
    }
    return at;
  }

  #remember(typing: boolean): void {
    if (!(typing && this.#typing)) {
      this.#undo.push({ text: this.text, cursor: this.cursor });
      const most = Math.max(2, Math.min(MOST_UNDO, MOST_UNDO_SIZE / (this.text.length + 1)));
      while (this.#undo.length > most) this.#undo.shift();
    }
    this.#typing = typing;
  }
}

/** Length of the code point at a place (or the one that ends there). */
function pair(text: string, at: number, step: 1 | -1 = 1): number {
  const code = text.charCodeAt(at);
  if (step > 0) return code >= 0xd800 && code <= 0xdbff && at + 1 < text.length ? 2 : 1;
  return code >= 0xdc00 && code <= 0xdfff && at > 0 ? 2 : 1;
}
