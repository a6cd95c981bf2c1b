/**
 * The terminal: what is written to it, the bytes that come from it, its size and its modes.
 *
 * @module
 */

/** A terminal with a person in front of it. */
export interface Tty {
  /** Columns; at least 1. */
  readonly columns: number;
  /** Rows; at least 1. */
  readonly rows: number;
  /** Colours are wanted (NO_COLOR and a dumb terminal say no). */
  readonly color: boolean;
  /** The terminal knows no escape sequences (TERM=dumb or none). */
  readonly dumb: boolean;
  /** Writes all of it at once; a terminal that went away is not an error. */
  write(text: string): void;
  /** Keys come one by one and unechoed, with Ctrl-C as a byte; off: as the program found the terminal. */
  setRaw(on: boolean): void;
  /** What is typed, until the terminal goes away. One reader. */
  bytes(): AsyncIterable<Uint8Array>;
  /** Calls `listener` when the size changed, or the program came back from being suspended. @returns stops it */
  onResize(listener: () => void): () => void;
  /** Ctrl-Z: gives the terminal back and stops the whole job until it is continued. Does nothing where there are no jobs. */
  suspend(): void;
  /** Gives the terminal back as it was found. Calling it twice does nothing. */
  close(): void;
}

/** Where a terminal's properties come from. */
export interface TtyOptions {
  /** A variable of the environment. */
  readonly env: (name: string) => string | undefined;
}

/** Makes a terminal send pasted text between marks. */
const PASTE_ON = "\x1b[?2004h";
const PASTE_OFF = "\x1b[?2004l";
/** Lines wrap, and the cursor can be seen. */
const USUAL = "\x1b[?7h\x1b[?25h";
/** Milliseconds after a signal that ends programs, until this one is ended. */
const LAST_WORDS = 4_000;
/** Waits of 2 ms for a terminal that takes nothing, until it counts as gone. */
const MOST_WAITS = 5_000;

const sleeper = new Int32Array(new SharedArrayBuffer(4));
const encoder = new TextEncoder();

/** The terminal on standard input and output. */
export function openTty({ env }: TtyOptions): Tty {
  return new StandardTty(env);
}

class StandardTty implements Tty {
  readonly color: boolean;
  readonly dumb: boolean;
  #raw = false;
  #closed = false;
  #gone = false;
  #size: { columns: number; rows: number };
  readonly #listeners = new Set<() => void>();
  readonly #undo: (() => void)[] = [];

  constructor(env: TtyOptions["env"]) {
    const term = env("TERM") ?? (Deno.build.os === "windows" ? "windows" : "");
    this.dumb = term === "" || term === "dumb";
    this.color = !this.dumb && !env("NO_COLOR");
    this.#size = consoleSize(env);
    this.#listen("SIGWINCH", () => {
      this.#size = consoleSize(env);
      this.#tell();
    });
    this.#listen("SIGCONT", () => this.#continued());
    // Whatever ends the program gives the terminal back first. Who else hears these signals has time to end in order.
    for (const [signal, number] of [["SIGTERM", 15], ["SIGHUP", 1]] as const) {
      this.#listen(signal, () => {
        this.close();
        Deno.unrefTimer(setTimeout(() => Deno.exit(128 + number), LAST_WORDS));
      });
    }
    const close = () => this.close();
    for (const event of ["unload", "error", "unhandledrejection"]) {
      addEventListener(event, close);
      this.#undo.push(() => removeEventListener(event, close));
    }
  }

  get columns(): number {
    return this.#size.columns;
  }

  get rows(): number {
    return this.#size.rows;
  }

  write(text: string): void {
    if (text === "" || this.#gone) return;
    const bytes = encoder.encode(text);
    for (let done = 0, waited = 0; done < bytes.length;) {
      try {
        done += Deno.stdout.writeSync(bytes.subarray(done));
        waited = 0;
      } catch (error) {
        if (error instanceof Deno.errors.Interrupted) continue;
        // Another program may have made the terminal's descriptor one that does not wait.
        this.#gone = !(error instanceof Deno.errors.WouldBlock) || ++waited > MOST_WAITS;
        if (this.#gone) return;
        Atomics.wait(sleeper, 0, 0, 2);
      }
    }
  }

  setRaw(on: boolean): void {
    if (this.#closed || this.#raw === on) return;
    this.#raw = on;
    this.#apply(on);
  }

  async *bytes(): AsyncIterable<Uint8Array> {
    const buffer = new Uint8Array(65_536);
    while (!this.#closed) {
      let size: number | null;
      try {
        size = await Deno.stdin.read(buffer);
      } catch {
        return; // hung up
      }
      if (size === null) return;
      yield buffer.slice(0, size);
    }
  }

  onResize(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  suspend(): void {
    if (this.#closed || Deno.build.os === "windows") return;
    this.#apply(false);
    try {
      // The launcher and this program are one job, and the shell waits for the launcher.
      Deno.kill(0, "SIGTSTP");
    } catch { /* the signal may not be sent: go on */ }
    // A job that nobody could continue is not stopped. A stopped one gets here when it is continued.
    setTimeout(() => this.#continued(), 0);
  }

  close(): void {
    if (this.#closed) return;
    this.setRaw(false);
    this.#closed = true;
    for (const undo of this.#undo) undo();
    this.#listeners.clear();
  }

  /** The shell may have changed the modes while the program was stopped. */
  #continued(): void {
    if (this.#closed) return;
    if (this.#raw) this.#apply(true);
    this.#tell();
  }

  #apply(raw: boolean): void {
    if (!raw && !this.dumb) this.write(PASTE_OFF + USUAL);
    try {
      Deno.stdin.setRaw(raw);
    } catch { /* no terminal any more */ }
    if (raw && !this.dumb) this.write(PASTE_ON);
  }

  #tell(): void {
    for (const listener of [...this.#listeners]) listener();
  }

  #listen(signal: Deno.Signal, listener: () => void): void {
    try {
      Deno.addSignalListener(signal, listener);
      this.#undo.push(() => Deno.removeSignalListener(signal, listener));
    } catch { /* this system does not have it */ }
  }
}

function consoleSize(env: TtyOptions["env"]): { columns: number; rows: number } {
  try {
    const { columns, rows } = Deno.consoleSize();
    if (columns > 0 && rows > 0) return { columns, rows };
  } catch { /* no terminal */ }
  const number = (name: string, usual: number) => {
    const value = Number(env(name));
    return Number.isSafeInteger(value) && value > 0 ? value : usual;
  };
  return { columns: number("COLUMNS", 80), rows: number("LINES", 24) };
}
