/**
 * One descriptor for all that a command writes, so that the order is that of writing.
 *
 * On Unix it is a FIFO that is opened at both ends and unlinked at once, which makes it an anonymous pipe: nothing is
 * stored on disk, a writer that is faster than the reader waits, and `> /dev/stderr` works in the child. FIFOs are
 * made by `mkfifo`, several at a time. Where there is none (Windows), it is an append-only file that is read while it
 * grows and emptied whenever it gets large.
 *
 * @module
 */
import fs from "node:fs";
import { ToolError } from "../errors.ts";
import { join } from "../text/path.ts";
import { OutputBuffer } from "./_exec_buffer.ts";

/** Programs that make FIFOs, in the order in which they are tried. */
export const FIFO_HELPERS: readonly string[] = ["/usr/bin/mkfifo", "/bin/mkfifo"];

/** Bytes kept of a command's output where nothing else is said. */
export const DEFAULT_MAX_BYTES = 100_000;

/** A capture file is emptied when it gets larger than this. */
const FILE_LIMIT = 8 << 20;
/** Bytes taken in before other events get their turn. */
const TURN_BYTES = 1 << 20;
/** No pipe holds more (Linux: 64 KiB unless told otherwise). */
const PIPE_BYTES = 1 << 20;
/** Milliseconds between two looks at an idle pipe, at most. */
const IDLE = 8;
/** Captures of finished commands whose background children still write; beyond these the oldest is closed. */
const MAX_DETACHED = 16;

/** Both ends of a pipe, as descriptors that a child may get; close each with `closeSync` of node:fs. */
export interface Pipe {
  /** To read from; with `nonblocking`, a read of an empty pipe fails with EAGAIN. */
  readonly read: number;
  /** To write to. */
  readonly write: number;
}

/** FIFOs that are made and not used yet, by directory. */
const stock = new Map<string, string[]>();
const detached: OutputCapture[] = [];
const chunk = new Uint8Array(64 << 10);

/**
 * A kernel pipe with real back-pressure for children, or null where this system or these permissions have none.
 *
 * @param directory a folder that this worker may read and write, and nobody else can see into
 */
export async function openPipe(directory: string, nonblocking = false): Promise<Pipe | null> {
  if (Deno.build.os === "windows") return null;
  const path = await takeFifo(directory);
  if (path === null) return null;
  const { O_RDONLY, O_WRONLY, O_NONBLOCK, O_NOFOLLOW } = fs.constants;
  let first = -1, write = -1;
  try {
    first = fs.openSync(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
    if (!fs.fstatSync(first).isFIFO()) throw new ToolError(`cannot capture output: ${path} is not a FIFO`);
    write = fs.openSync(path, O_WRONLY | O_NOFOLLOW);
    if (nonblocking) return { read: first, write };
    const read = fs.openSync(path, O_RDONLY | O_NOFOLLOW);
    fs.closeSync(first);
    return { read, write };
  } catch (error) {
    for (const fd of [first, write]) if (fd !== -1) fs.closeSync(fd);
    throw error;
  } finally {
    try {
      fs.unlinkSync(path);
    } catch { /* somebody emptied the folder */ }
  }
}

async function takeFifo(directory: string): Promise<string | null> {
  let list = stock.get(directory);
  if (!list) stock.set(directory, list = []);
  if (list.length === 0) list.push(...await makeFifos(directory));
  return list.pop() ?? null;
}

let serial = 0;

async function makeFifos(directory: string): Promise<string[]> {
  for (const program of FIFO_HELPERS) {
    if (Deno.permissions.querySync({ name: "run", command: program }).state !== "granted") continue;
    const mark = crypto.randomUUID().slice(0, 13);
    const paths = Array.from({ length: 32 }, () => join(directory, `${mark}-${serial++}`));
    try {
      const child = new Deno.Command(program, {
        args: ["-m", "600", ...paths],
        clearEnv: true,
        stdin: "null",
        stdout: "null",
        stderr: "null",
      }).spawn();
      if ((await child.status).success) return paths;
    } catch { /* the next one */ }
  }
  return [];
}

/**
 * Collects what one or several processes write to {@link OutputCapture.fd}. Use: `open`, give `fd` to the children
 * as standard output and error, `closeWriter`, wait for them, `finish`, `result`.
 */
export class OutputCapture {
  readonly #buffer: OutputBuffer;
  readonly #read: number;
  #write: number;
  /** A file has no end while somebody may write; its position, or -1 for a pipe. */
  #position: number;
  #fileWriter = -1;
  #path: string | null = null;
  readonly #limit: number;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #wait = 1;
  #ended = false;
  #closed = false;

  private constructor(pipe: Pipe, maxBytes: number, position: number) {
    this.#read = pipe.read;
    this.#write = pipe.write;
    this.#position = position;
    this.#buffer = new OutputBuffer(maxBytes);
    this.#limit = Math.max(FILE_LIMIT, maxBytes);
  }

  /**
   * @param options.directory a folder that this worker may read and write, and that only this user can see into
   * @param options.maxBytes most bytes kept (head and tail); default 100,000
   * @throws {ToolError} when nothing can be made there
   */
  static async open(options: { directory: string; maxBytes?: number }): Promise<OutputCapture> {
    const maxBytes = options.maxBytes ?? DEFAULT_MAX_BYTES;
    const pipe = await openPipe(options.directory, true);
    const capture = pipe
      ? new OutputCapture(pipe, maxBytes, -1)
      : OutputCapture.#openFile(options.directory, maxBytes);
    // Most commands have ended by then; more than a pipe holds waits that long once.
    capture.#schedule(IDLE);
    return capture;
  }

  static #openFile(directory: string, maxBytes: number): OutputCapture {
    const { O_WRONLY, O_APPEND, O_CREAT, O_EXCL, O_RDONLY } = fs.constants;
    const path = join(directory, `${crypto.randomUUID()}.out`);
    let write: number;
    try {
      write = fs.openSync(path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL, 0o600);
    } catch (error) {
      const why = (error as Error).message;
      throw new ToolError(`cannot capture output in ${directory}: ${why}`, "execution", { cause: error });
    }
    const read = fs.openSync(path, O_RDONLY);
    const capture = new OutputCapture({ read, write }, maxBytes, 0);
    capture.#fileWriter = write;
    if (Deno.build.os === "windows") capture.#path = path;
    else fs.unlinkSync(path);
    return capture;
  }

  /** The descriptor for the children's standard output and error. */
  get fd(): number {
    return this.#write;
  }

  /** Bytes seen so far. */
  get total(): number {
    return this.#buffer.total;
  }

  /** Every child has the descriptor: closes this side's copy, so that the end can be seen. */
  closeWriter(): void {
    if (this.#write === -1) return;
    if (this.#write !== this.#fileWriter) fs.closeSync(this.#write);
    this.#write = -1;
  }

  /** Adds text of our own, after all that was written before. */
  write(text: string): void {
    // What was written before is in the pipe, which holds no more than this.
    this.#pump(PIPE_BYTES);
    this.#buffer.push(new TextEncoder().encode(text));
  }

  /**
   * The main process has ended: takes in the rest and waits up to `grace` milliseconds for others that still hold
   * the descriptor.
   *
   * @returns `closed`, or `open` where somebody still holds it; then what it writes is read and thrown away, so that
   * it is not ended by a broken pipe
   */
  async finish(grace: number): Promise<"closed" | "open"> {
    this.closeWriter();
    clearTimeout(this.#timer);
    // What stands in a file has all been written already; it only has to be read.
    const until = performance.now() + (this.#position < 0 ? grace : Math.max(grace, 2000));
    for (let wait = 1;; wait = Math.min(wait * 2, IDLE)) {
      // Whatever is there now was written before; an endless writer gets no more than the grace.
      while (this.#pump(TURN_BYTES) && performance.now() < until) await pause(0);
      if (this.#ended || this.#position >= 0) {
        this.#close();
        return "closed";
      }
      if (performance.now() >= until) break;
      await pause(wait);
    }
    this.#detach();
    return "open";
  }

  /** The text (cleaned, the middle cut out where it was too much) and the number of bytes cut out. */
  result(raw = false): { text: string; dropped: number } {
    return this.#buffer.text(raw);
  }

  /** Gives everything back at once; writers get a broken pipe. */
  [Symbol.dispose](): void {
    this.closeWriter();
    this.#close();
  }

  /** Takes in what is there, up to `limit` bytes. @returns whether there may be more */
  #pump(limit: number): boolean {
    if (this.#closed || this.#ended) return false;
    for (let taken = 0; taken < limit;) {
      let count: number;
      try {
        const position = this.#position < 0 ? null : this.#position;
        count = fs.readSync(this.#read, chunk, 0, chunk.length, position);
      } catch (error) {
        if ((error as { code?: string }).code === "EAGAIN") return false;
        this.#ended = true;
        return false;
      }
      if (count === 0) {
        if (this.#position < 0 && this.#write === -1) this.#ended = true;
        return false;
      }
      this.#buffer.push(chunk.subarray(0, count));
      taken += count;
      if (this.#position < 0) continue;
      this.#position += count;
      if (this.#position >= this.#limit) this.#shrink();
    }
    return true;
  }

  /** Empties a large capture file; writers append, so that they go on at its new end. Of what is unread the end is kept. */
  #shrink(): void {
    const size = fs.fstatSync(this.#read).size, from = Math.max(this.#position, size - TURN_BYTES);
    this.#buffer.skip(from - this.#position);
    for (let at = from; at < size;) {
      const count = fs.readSync(this.#read, chunk, 0, Math.min(chunk.length, size - at), at);
      if (count === 0) break;
      this.#buffer.push(chunk.subarray(0, count));
      at += count;
    }
    this.#buffer.skip(fs.fstatSync(this.#read).size - size);
    fs.ftruncateSync(this.#fileWriter, 0);
    this.#position = 0;
  }

  #schedule(wait: number): void {
    this.#timer = setTimeout(() => {
      const before = this.#buffer.total;
      const more = this.#pump(TURN_BYTES);
      this.#wait = this.#buffer.total > before ? 1 : Math.min(this.#wait * 2, IDLE);
      if (!this.#closed && !this.#ended) this.#schedule(more ? 0 : this.#wait);
    }, wait);
  }

  #detach(): void {
    detached.push(this);
    if (detached.length > MAX_DETACHED) detached.shift()!.#close();
    const look = () => {
      this.#drop();
      if (this.#closed) return;
      this.#timer = setTimeout(look, 100);
      Deno.unrefTimer(this.#timer as unknown as number);
    };
    look();
  }

  #drop(): void {
    try {
      for (let i = 0; i < 64; i++) {
        if (fs.readSync(this.#read, chunk, 0, chunk.length, null) === 0) return this.#close();
      }
    } catch (error) {
      if ((error as { code?: string }).code !== "EAGAIN") this.#close();
    }
  }

  #close(): void {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#timer);
    const at = detached.indexOf(this);
    if (at !== -1) detached.splice(at, 1);
    fs.closeSync(this.#read);
    if (this.#fileWriter !== -1) fs.closeSync(this.#fileWriter);
    if (this.#path !== null) {
      try {
        fs.unlinkSync(this.#path);
      } catch { /* a child still holds it; the host removes the folder */ }
    }
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((done) => setTimeout(done, milliseconds));
}
