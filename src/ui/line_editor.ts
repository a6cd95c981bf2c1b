/**
 * Reads a line, or several, with the usual keys.
 *
 * Source: the default (emacs) bindings of GNU readline.
 *
 * @module
 */
import { cleanForTerminal } from "../text/ansi.ts";
import { commonStart, listCompletions } from "./complete.ts";
import { KillRing, type Move, TextBuffer } from "./_editor/buffer.ts";
import { type Layout, LayoutMaker } from "./_editor/layout.ts";
import { Painter } from "./_editor/painter.ts";
import { PlainLine } from "./_editor/plain_line.ts";
import { continued, type LineReader, unblocked } from "./_editor/reader.ts";
import { HistorySearch } from "./_editor/search.ts";
import type { ReadLineOptions, ReadResult } from "./input.ts";
import type { Key } from "./keys.ts";
import type { Tty } from "./tty.ts";

/** Milliseconds that completion may take. */
const COMPLETION_TIME = 2_000;

/** The reader that fits: nothing echoed for hidden lines, no escape sequences on a dumb terminal. */
export function createLineReader(
  tty: Tty,
  options: ReadLineOptions,
  kills: KillRing = new KillRing(),
): LineReader {
  return options.hidden || tty.dumb ? new PlainLine(tty, options) : new LineEditor(tty, options, kills);
}

/** The editor of a terminal that knows escape sequences. */
export class LineEditor implements LineReader {
  result: ReadResult | null = null;
  readonly #tty: Tty;
  readonly #options: ReadLineOptions;
  readonly #kills: KillRing;
  readonly #buffer: TextBuffer;
  readonly #painter: Painter;
  readonly #layouts = new LayoutMaker();
  readonly #history: readonly string[];
  /** Entry that is shown; the number of entries: what was typed, which is kept in `#draft`. */
  #index: number;
  #draft = "";
  /** The text as it was recalled: Up goes on to older entries as long as it is untouched. */
  #recalled: string | null = null;
  #search: HistorySearch | null = null;
  /** What the last key did, as far as the next one continues it. */
  #last: "kill" | "yank" | null = null;
  #yank = { from: 0, back: 0 };
  #wake: () => void = () => {};
  #dirty = true;

  constructor(tty: Tty, options: ReadLineOptions, kills: KillRing = new KillRing()) {
    this.#tty = tty;
    this.#options = options;
    this.#kills = kills;
    this.#buffer = new TextBuffer(options.initial ?? "");
    this.#painter = new Painter(tty);
    this.#history = options.history?.entries ?? [];
    this.#index = this.#history.length;
  }

  open(): void {
    this.#painter.draw(this.#layout());
    this.#dirty = false;
  }

  handle(key: Key): void | Promise<void> {
    this.#dirty = true;
    if (this.#search && !this.#searching(key)) return;
    const last = this.#last;
    this.#last = null;
    if (key.name === "text" || key.name === "paste") this.#buffer.insert(key.text!);
    else if (key.name === "tab") return key.shift || key.ctrl ? undefined : this.#complete();
    else if (key.ctrl && !key.alt) this.#control(key, last);
    else if (key.alt) this.#meta(key, last);
    else this.#plain(key);
  }

  show(): void {
    if (!this.#dirty || this.result) return;
    this.#painter.draw(this.#layout());
    this.#dirty = false;
  }

  wake(): void {
    this.#wake();
  }

  hide(): void {
    this.#painter.erase();
    this.#dirty = true;
  }

  redraw(): void {
    if (this.result) return;
    this.#painter.eraseResized();
    this.open();
  }

  stop(kind: "interrupt" | "end"): void {
    this.#search = null;
    this.#painter.draw(this.#layout());
    this.#painter.finish(kind === "interrupt" ? "^C" : "");
    this.result = kind === "end" ? { kind } : { kind, text: this.#buffer.text };
  }

  #plain({ name }: Key): void {
    const buffer = this.#buffer;
    const moves: Record<string, Move> = { left: "left", right: "right", home: "lineStart", end: "lineEnd" };
    if (Object.hasOwn(moves, name)) buffer.moveTo(buffer.target(moves[name]!));
    else if (name === "enter") this.#enter();
    else if (name === "backspace") buffer.remove(buffer.target("left"));
    else if (name === "delete") buffer.remove(buffer.target("right"));
    else if (name === "up") this.#vertical(-1);
    else if (name === "down") this.#vertical(1);
    else if (name === "pageup") this.#recall(0);
    else if (name === "pagedown") this.#recall(this.#history.length);
  }

  #control({ name }: Key, last: "kill" | "yank" | null): void {
    const buffer = this.#buffer;
    const moves: Record<string, Move> = {
      a: "lineStart",
      e: "lineEnd",
      b: "left",
      f: "right",
      left: "wordLeft",
      right: "wordRight",
      home: "start",
      end: "end",
    };
    if (Object.hasOwn(moves, name)) return buffer.moveTo(buffer.target(moves[name]!));
    switch (name) {
      case "c":
        return this.stop("interrupt");
      case "d":
        if (buffer.text === "") return this.stop("end");
        return void buffer.remove(buffer.target("right"));
      case "h":
        return void buffer.remove(buffer.target("left"));
      case "k": {
        const end = buffer.target("lineEnd");
        return this.#kill(end === buffer.cursor ? buffer.target("right") : end, last);
      }
      case "u": {
        const start = buffer.target("lineStart");
        return this.#kill(start === buffer.cursor ? buffer.target("left") : start, last);
      }
      case "w":
        return this.#kill(buffer.blankLeft(), last);
      case "backspace":
        return this.#kill(buffer.target("wordLeft"), last);
      case "delete":
        return this.#kill(buffer.target("wordRight"), last);
      case "y":
        return this.#insertKilled(0);
      case "t":
        return buffer.transpose();
      case "p":
        return this.#recall(this.#index - 1);
      case "n":
        return this.#recall(this.#index + 1);
      case "r":
      case "s":
        this.#search = new HistorySearch(this.#history);
        return;
      case "l":
        return this.#fresh();
      case "_":
      case "-":
      case "/":
        return buffer.undo();
      case "enter":
        return buffer.insert("\n");
      case "up":
        return this.#recall(this.#index - 1);
      case "down":
        return this.#recall(this.#index + 1);
    }
  }

  #meta({ name, ctrl }: Key, last: "kill" | "yank" | null): void {
    const buffer = this.#buffer;
    switch (ctrl ? "" : name) {
      case "enter":
        return buffer.insert("\n");
      case "b":
      case "left":
        return buffer.moveTo(buffer.target("wordLeft"));
      case "f":
      case "right":
        return buffer.moveTo(buffer.target("wordRight"));
      case "<":
        return this.#recall(0);
      case ">":
        return this.#recall(this.#history.length);
      case "d":
      case "delete":
        return this.#kill(buffer.target("wordRight"), last);
      case "backspace":
        return this.#kill(buffer.target("wordLeft"), last);
      case "u":
        return buffer.changeCase("upper");
      case "l":
        return buffer.changeCase("lower");
      case "c":
        return buffer.changeCase("capital");
      case "y":
        if (last === "yank") {
          buffer.remove(this.#yank.from);
          this.#insertKilled(this.#yank.back + 1);
        }
        return;
    }
  }

  #kill(to: number, last: "kill" | "yank" | null): void {
    const behind = to > this.#buffer.cursor;
    this.#kills.push(this.#buffer.remove(to), last === "kill" ? behind ? "after" : "before" : null);
    this.#last = "kill";
  }

  #insertKilled(back: number): void {
    const text = this.#kills.at(back);
    this.#yank = { from: this.#buffer.cursor, back };
    if (text !== "") this.#buffer.insert(text);
    this.#last = "yank";
  }

  #enter(): void {
    const buffer = this.#buffer, blocks = (this.#options.lines ?? "blocks") === "blocks";
    const further = blocks ? continued(buffer.text) : null;
    if (further !== null) {
      if (buffer.cursor === buffer.text.length) buffer.set(further);
      else buffer.insert("\n");
      return;
    }
    const text = blocks ? unblocked(buffer.text) : buffer.text;
    this.#painter.draw(this.#layout());
    this.#painter.finish();
    if (text.trim() !== "") this.#options.history?.add(buffer.text);
    this.result = { kind: "line", text };
  }

  /** Up and Down: between lines first, then in the history. */
  #vertical(step: -1 | 1): void {
    const buffer = this.#buffer, { text } = buffer;
    if (text === this.#recalled) return this.#recall(this.#index + step);
    const start = buffer.target("lineStart"), end = buffer.target("lineEnd");
    if (step < 0 ? start === 0 : end === text.length) return this.#recall(this.#index + step);
    const column = buffer.cursor - start;
    buffer.moveTo(step < 0 ? start - 1 : end + 1);
    const from = buffer.target("lineStart");
    const most = buffer.target("lineEnd") - from;
    buffer.moveTo(from + Math.min(column, most));
    // Not into the middle of a character.
    const before = buffer.target("left");
    if (before >= from && before < buffer.cursor) {
      buffer.moveTo(before);
      buffer.moveTo(buffer.target("right"));
    }
  }

  #recall(index: number): void {
    const { length } = this.#history;
    if (index < 0 || index > length || index === this.#index) return;
    if (this.#index === length) this.#draft = this.#buffer.text;
    this.#index = index;
    const text = index === length ? this.#draft : this.#history[index]!;
    this.#buffer.set(text);
    this.#recalled = index === length ? null : text;
  }

  /** A key while the history is searched; true: the search is over, and the key has its usual meaning. */
  #searching(key: Key): boolean {
    const search = this.#search!, step = search.handle(key);
    if (step === "on") return false;
    this.#search = null;
    if (step === "cancel") return false;
    const { index } = search;
    if (index !== null) {
      this.#recall(index);
      this.#buffer.moveTo(search.offset);
    }
    return step === "accept";
  }

  async #complete(): Promise<void> {
    const { complete } = this.#options, buffer = this.#buffer, { text, cursor } = buffer;
    if (!complete) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const given = new Promise<null>((resolve) => {
      this.#wake = () => resolve(null);
      timer = setTimeout(() => resolve(null), COMPLETION_TIME);
    });
    const asked = Promise.resolve().then(() => complete(text, cursor)).catch(() => null);
    const found = await Promise.race([asked, given]);
    clearTimeout(timer);
    this.#wake = () => {};
    if (!found || found.items.length === 0 || !(found.from >= 0 && found.from <= cursor) || this.result) {
      return;
    }
    const typed = text.slice(found.from, cursor);
    const common = commonStart(found.items.map((item) => item.text));
    if (found.items.length === 1 || common.length > typed.length) {
      return buffer.replace(found.from, cursor, common);
    }
    this.#painter.erase();
    this.#tty.write(`${listCompletions(found.items, this.#tty.columns).join("\n")}\n`);
  }

  /** Ctrl-L: what is on the screen moves up and out, into the terminal's memory. */
  #fresh(): void {
    const { rows } = this.#tty;
    this.#painter.erase();
    this.#tty.write(`\x1b[${rows}B${"\n".repeat(Math.max(0, rows - 1))}\x1b[H`);
  }

  #layout(): Layout {
    const { columns, rows } = this.#tty, continuation = this.#options.continuation ?? "… ";
    if (this.#search) {
      const { query, index, offset, failed } = this.#search;
      const shown = cleanForTerminal(query, { line: true });
      return this.#layouts.layout({
        text: index === null ? "" : this.#history[index]!,
        cursor: offset,
        prompt: `(${failed ? "nothing older has" : "search"} ${shown}) `,
        ...{ continuation, columns, rows },
      });
    }
    const { text, cursor } = this.#buffer;
    return this.#layouts.layout({ text, cursor, prompt: this.#options.prompt, continuation, columns, rows });
  }
}
