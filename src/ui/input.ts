/**
 * The only reader of standard input.
 *
 * @module
 */
import { KillRing } from "./_editor/buffer.ts";
import type { LineReader } from "./_editor/reader.ts";
import type { Completer } from "./complete.ts";
import { type Key, KeyDecoder } from "./keys.ts";
import { createLineReader } from "./line_editor.ts";
import type { Tty } from "./tty.ts";

/** What a line editor recalls, and where it puts what was entered. */
export interface LineHistory {
  /** Oldest first. */
  readonly entries: readonly string[];
  /** Keeps an entry; what looks like a secret is not written anywhere. Never throws. */
  add(text: string): void;
}

/** How a line is read. */
export interface ReadLineOptions {
  /** Stands before the line, styled and clean already; may have several lines. */
  readonly prompt: string;
  /** Stands before further lines; default `… `. */
  readonly continuation?: string;
  /** The line begins with this text, the cursor at its end. */
  readonly initial?: string;
  /** Nothing is echoed, recalled, completed or kept: for keys. */
  readonly hidden?: boolean;
  readonly history?: LineHistory;
  readonly complete?: Completer;
  /**
   * `blocks` (default): a line that begins with `"""` goes on to the one that ends with it, a `\` at the end continues;
   * `text`: the text is taken as it stands (Alt-Enter and pasting make lines in both).
   */
  readonly lines?: "blocks" | "text";
  /** Takes only keys that come after it was shown and after a short quiet time: for questions. Hidden lines always do. */
  readonly fresh?: boolean;
  /** As in {@link ReadKeyOptions}, for a fresh line; 0: the person is answering already. */
  readonly quiet?: number;
  /** Gives up: the result is `interrupt`. */
  readonly signal?: AbortSignal;
}

/** What came of reading a line. */
export type ReadResult =
  /** Without the marks of a block. */
  | { readonly kind: "line"; readonly text: string }
  /** Ctrl-C, or the signal; with what stood there. */
  | { readonly kind: "interrupt"; readonly text: string }
  /** Ctrl-D on an empty line, or the terminal went away. */
  | { readonly kind: "end" };

/** How a key is read. */
export interface ReadKeyOptions {
  /** Gives up: the result is null. */
  readonly signal?: AbortSignal;
  /** Milliseconds without any key before one counts; default 250, and 700 where a line was begun ahead; 0: all keys count. */
  readonly quiet?: number;
}

const QUIET = 250;
const QUIET_IN_LINE = 700;
/** Milliseconds after which a lone Escape is that key, and a sequence that broke off is none. */
const ESCAPE_WAIT = 40;
const SEQUENCE_WAIT = 300;
const PASTE_WAIT = 1_500;
/** Milliseconds in which an Enter belongs to the key before it. */
const ANSWER_ENTER = 60;
/** Most characters that are kept for the next line. */
const MOST_AHEAD = 1 << 22;
const MOST_AHEAD_KEYS = 20_000;

/** Whoever gets the keys now. */
interface Consumer {
  /** Keys count from the first quiet time on. */
  readonly fresh: boolean;
  /** The quiet time is over. */
  open: boolean;
  readonly done: boolean;
  handle(key: Key): void | Promise<void>;
  /** No more keys for now. */
  idle(): void;
  wake(): void;
  end(): void;
}

/**
 * Reads what is typed, in raw mode from the first to the last moment. Keys that nobody waits for are kept for the next
 * line. Questions (`fresh` lines and {@link Input.readKey}) take none of those: only what is typed after they were shown
 * and after a quiet time; what comes earlier stays for the next line as well. Ctrl-C is heard always.
 */
export class Input {
  readonly #tty: Tty;
  readonly #decoder = new KeyDecoder();
  readonly #kills = new KillRing();
  readonly #interrupts = new Set<() => void>();
  readonly #undo: () => void;
  /** For the next line. */
  #ahead: Key[] = [];
  #aheadSize = 0;
  /** For the question that stands there. */
  #fresh: Key[] = [];
  #consumer: Consumer | null = null;
  #editor: LineReader | null = null;
  #pumping = false;
  /** When a key answered a question. */
  #answered = -Infinity;
  #ended = false;
  #started = false;
  #quiet: { timer: ReturnType<typeof setTimeout>; restart: () => void } | null = null;
  #flush: ReturnType<typeof setTimeout> | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  constructor(tty: Tty) {
    this.#tty = tty;
    this.#undo = tty.onResize(() => this.#editor?.redraw());
  }

  /** Begins to read: from here on keys are not echoed and not lost. The first line does it, too. */
  start(): void {
    if (this.#started) return;
    this.#started = true;
    this.#tty.setRaw(true);
    void this.#read();
  }

  /**
   * Reads a line. One at a time: what asks while a turn runs goes through {@link Input.exclusive}.
   *
   * @throws {Error} where a line or key is being read already
   */
  readLine(options: ReadLineOptions): Promise<ReadResult> {
    const reader = createLineReader(this.#tty, options, this.#kills);
    const fresh = options.fresh === true || options.hidden === true;
    return new Promise((resolve, reject) => {
      if (this.#consumer) return reject(new Error("a line is being read already"));
      const { signal } = options;
      if (signal?.aborted) return resolve({ kind: "interrupt", text: "" });
      const stop = () => {
        if (!reader.result) reader.stop("interrupt");
        settle();
      };
      const settle = () => {
        if (!reader.result || this.#consumer !== consumer) return;
        signal?.removeEventListener("abort", stop);
        this.#editor = null;
        this.#leave();
        resolve(reader.result);
      };
      const consumer: Consumer = {
        fresh,
        open: !fresh,
        get done() {
          return reader.result !== null;
        },
        handle: (key) => reader.handle(key),
        idle() {
          if (reader.result) settle();
          else reader.show();
        },
        wake: () => reader.wake(),
        end() {
          if (!reader.result) reader.stop("end");
          settle();
        },
      };
      this.#editor = reader;
      this.#enter(consumer, () => reader.open(), options.quiet);
      signal?.addEventListener("abort", stop, { once: true });
    });
  }

  /**
   * Reads one key of those that come after now and after a quiet time. A pasted text is none. What was typed as one
   * word in one go comes as one `text`.
   *
   * @returns null where the signal said so, or the terminal went away
   */
  readKey({ signal, quiet }: ReadKeyOptions = {}): Promise<Key | null> {
    return new Promise((resolve, reject) => {
      if (this.#consumer) return reject(new Error("a line is being read already"));
      if (signal?.aborted) return resolve(null);
      let got: Key | null | undefined;
      const settle = (key: Key | null) => {
        if (this.#consumer !== consumer) return;
        signal?.removeEventListener("abort", give);
        this.#leave();
        // The Enter behind a key that answered belongs to the answer; it is here already, or will be in a moment.
        if (this.#fresh[0]?.name === "enter") this.#fresh.shift();
        else if (key && this.#fresh.length === 0) this.#answered = performance.now();
        resolve(key);
      };
      const give = () => settle(null);
      const consumer: Consumer = {
        fresh: true,
        open: false,
        get done() {
          return got !== undefined;
        },
        handle(key) {
          if (key.name !== "paste") got ??= key;
        },
        idle() {
          if (got !== undefined) settle(got);
        },
        wake() {},
        end: give,
      };
      this.#enter(consumer, () => {}, quiet);
      signal?.addEventListener("abort", give, { once: true });
    });
  }

  /** Calls `listener` at Ctrl-C while nothing is read. @returns stops it */
  onInterrupt(listener: () => void): () => void {
    this.#interrupts.add(listener);
    return () => this.#interrupts.delete(listener);
  }

  /** Does what Ctrl-C does while nothing is read: whoever asked for it is told. */
  interrupt(): void {
    // What was typed ahead stays, but nothing of it is sent by itself.
    const kept = this.#ahead.filter((key) => !(key.ctrl && key.name === "d"));
    while (kept.at(-1)?.name === "enter") kept.pop();
    this.#ahead = kept.map((key) => key.name === "enter" ? { name: "paste", text: "\n" } : key);
    for (const listener of [...this.#interrupts]) listener();
  }

  /** Runs `ask` when no other one runs: questions come one after the other. */
  exclusive<T>(ask: () => Promise<T>): Promise<T> {
    this.#waiting++;
    const turn = this.#turn.then(ask, ask);
    this.#turn = turn.then(() => {}, () => {}).finally(() => this.#waiting--);
    return turn;
  }

  /** A question is shown, or waits to be. */
  get asking(): boolean {
    return this.#waiting > 0;
  }

  /** Writes whole lines; a line that is being read stays below them. */
  print(text: string): void {
    const editor = this.#editor;
    if (!editor || editor.result) return this.#tty.write(text);
    editor.hide();
    this.#tty.write(text.endsWith("\n") || text === "" ? text : `${text}\n`);
    editor.open();
  }

  /** Forgets what was typed ahead. */
  discard(): void {
    this.#ahead = [];
    this.#aheadSize = 0;
  }

  /** The terminal went away, or the input was closed. */
  get ended(): boolean {
    return this.#ended;
  }

  /** Ends reading, and gives the terminal back. */
  close(): void {
    this.#end();
    this.#undo();
    this.#tty.close();
  }

  async #read(): Promise<void> {
    for await (const bytes of this.#tty.bytes()) {
      clearTimeout(this.#flush);
      this.#take(this.#decoder.push(bytes));
      const { pending } = this.#decoder;
      if (pending !== "none") {
        const wait = pending === "paste" ? PASTE_WAIT : this.#decoder.short ? ESCAPE_WAIT : SEQUENCE_WAIT;
        this.#flush = setTimeout(() => this.#take(this.#decoder.flush()), wait);
      }
      if (this.#ended) return;
    }
    this.#end();
  }

  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    clearTimeout(this.#flush);
    const consumer = this.#consumer;
    if (consumer) consumer.end();
    else for (const listener of [...this.#interrupts]) listener();
  }

  #take(keys: readonly Key[]): void {
    for (const key of keys) this.#key(key);
    void this.#pump();
  }

  #key(key: Key): void {
    if (key.ctrl && key.name === "z") return this.#suspend();
    const consumer = this.#consumer, interrupt = key.ctrl === true && key.name === "c";
    if (!consumer || consumer.done) {
      if (interrupt && !consumer) return this.interrupt();
      // Enter right behind the key that answered belongs to the answer; with another key between them it ends a line.
      const behind = performance.now() - this.#answered < ANSWER_ENTER;
      this.#answered = -Infinity;
      if (key.name === "enter" && behind) return;
      this.#release();
      this.#keep(key);
      return;
    }
    if (interrupt) consumer.wake();
    if (!consumer.fresh) this.#keep(key);
    else if (consumer.open || interrupt) this.#fresh.push(key);
    else {
      this.#keep(key);
      this.#quiet?.restart();
    }
  }

  #keep(key: Key): void {
    this.#aheadSize += key.text?.length ?? 1;
    const full = this.#aheadSize > MOST_AHEAD || this.#ahead.length > MOST_AHEAD_KEYS;
    if (full && this.#consumer?.fresh !== false) return;
    this.#ahead.push(key);
  }

  /** Hands the keys on, one after the other, as long as somebody takes them. */
  async #pump(): Promise<void> {
    if (this.#pumping) return;
    this.#pumping = true;
    try {
      for (let consumer = this.#consumer; consumer; consumer = this.#consumer) {
        const queue = consumer.fresh ? this.#fresh : this.#ahead;
        const key = consumer.done ? undefined : queue.shift();
        if (key === undefined) {
          if (!consumer.fresh) this.#aheadSize = 0;
          consumer.idle();
          if (this.#consumer === consumer) break;
          continue;
        }
        const handled = consumer.handle(key);
        if (!handled) continue;
        if (queue.some(({ name, ctrl }) => ctrl && name === "c")) consumer.wake();
        await handled;
      }
    } finally {
      this.#pumping = false;
    }
  }

  #enter(consumer: Consumer, show: () => void, quiet?: number): void {
    this.#consumer = consumer;
    this.start();
    if (!consumer.fresh || quiet !== 0) this.#release();
    if (this.#ended) {
      consumer.end();
      return;
    }
    show();
    if (consumer.fresh && quiet !== 0) {
      return this.#waitForQuiet(consumer, quiet ?? (this.#midLine() ? QUIET_IN_LINE : QUIET));
    }
    consumer.open = true;
    queueMicrotask(() => void this.#pump());
  }

  #leave(): void {
    this.#consumer = null;
    if (this.#quiet) clearTimeout(this.#quiet.timer);
    this.#quiet = null;
  }

  /** What came behind an answer is for the next line. */
  #release(): void {
    for (const key of this.#fresh.splice(0)) this.#keep(key);
  }

  /** A line was begun ahead and not ended. */
  #midLine(): boolean {
    const last = this.#ahead.at(-1);
    return last !== undefined && last.name !== "enter";
  }

  #waitForQuiet(consumer: Consumer, quiet: number): void {
    let due = 0;
    const over = () => {
      // A program that was busy has not seen yet what was typed meanwhile.
      if (performance.now() - due > 100) return restart();
      consumer.open = true;
      this.#quiet = null;
    };
    const restart = () => {
      if (this.#quiet) clearTimeout(this.#quiet.timer);
      due = performance.now() + quiet;
      this.#quiet = { timer: setTimeout(over, quiet), restart };
    };
    restart();
  }

  #suspend(): void {
    this.#editor?.hide();
    this.#tty.suspend();
  }
}
