/**
 * The private channel between the launcher and the program under its ceiling, which may not start Deno itself.
 *
 * The launcher knows beforehand which plugins may run and with which flags; the program can say "start host N", "line
 * for N" and "end N", and nothing else. The launcher passes lines on without looking at them. The channel is a Unix
 * socket in the private folder of the run (0700), on Windows a port of an address of this machine that nothing else
 * uses. It takes one program, which has to know a secret; after that nobody else can reach it.
 *
 * @module
 */
import { messageOf } from "../errors.ts";
import { join } from "../text/path.ts";
import type { CeilingFlags } from "../policy/compile.ts";
import {
  type FromLauncher,
  LineReader,
  type PluginConnection,
  type PluginEvents,
  type PluginLink,
  type ToLauncher,
} from "./_plugin_protocol.ts";

/** Where the program finds the channel, and what it says there first. */
export interface ChannelNote {
  readonly address: { readonly path: string } | { readonly hostname: string; readonly port: number };
  readonly secret: string;
}

/** The launcher's end. */
export interface PluginChannel {
  readonly note: ChannelNote;
  /** Ends all hosts and takes the channel away. */
  close(): void;
}

/**
 * Opens the channel and serves it.
 *
 * @param link starts hosts for the program
 * @param scratch private folder of the run
 * @param tcp use a port instead of a Unix socket; default on Windows
 */
export function openPluginChannel(
  link: PluginLink,
  scratch: string,
  tcp: boolean = Deno.build.os === "windows",
): PluginChannel {
  const secret = crypto.randomUUID() + crypto.randomUUID();
  const path = join(scratch, "p"), hostname = ownAddress();
  const listener: Deno.Listener = tcp
    ? Deno.listen({ hostname, port: 0 })
    : Deno.listen({ transport: "unix", path }) as unknown as Deno.Listener;
  const address = tcp ? { hostname, port: (listener.addr as Deno.NetAddr).port } : { path };
  const connections = new Set<Deno.Conn>();
  let program: Deno.Conn | null = null;
  const close = () => {
    quietly(() => listener.close());
    for (const connection of connections) quietly(() => connection.close());
    link.close();
  };
  const admit = (connection: Deno.Conn): boolean => {
    if (program) return false;
    program = connection;
    quietly(() => listener.close());
    for (const other of connections) if (other !== connection) quietly(() => other.close());
    return true;
  };
  void (async () => {
    try {
      for await (const connection of listener) {
        connections.add(connection);
        void serve(connection, secret, link, () => admit(connection)).then(() => {
          connections.delete(connection);
          quietly(() => connection.close());
          if (connection === program) link.close();
        });
      }
    } catch {
      // It was closed.
    }
  })();
  return { note: { address, secret }, close };
}

/** An address of this machine alone, by chance. */
function ownAddress(): string {
  const [a, b, c] = crypto.getRandomValues(new Uint8Array(3));
  return `127.${a! % 254 + 1}.${b}.${c! % 253 + 1}`;
}

/** Most hosts at a time. */
const MAX_HOSTS = 32;

/** Most bytes that a peer may say before it has said the secret. */
const MAX_HELLO = 256;

async function serve(
  connection: Deno.Conn,
  secret: string,
  link: PluginLink,
  admit: () => boolean,
): Promise<void> {
  const hosts = new Map<number, PluginConnection>();
  const writer = new Writer(connection);
  let known = false, heard = 0, bad = false;
  const tell = (message: FromLauncher) => writer.write(JSON.stringify(message));
  const lines = new LineReader((text) => {
    if (bad) return;
    try {
      const message = JSON.parse(text) as ToLauncher;
      if (!known) {
        if (!("hello" in message) || message.hello !== secret || !admit()) {
          throw new Error("it is not the program");
        }
        known = true;
      } else if ("start" in message) {
        const { run, start } = message;
        if (!Number.isSafeInteger(run) || hosts.has(run) || hosts.size >= MAX_HOSTS) return;
        hosts.set(
          run,
          link.start(start, {
            onLine: (line) => tell({ run, line }),
            onEnd: (ended) => {
              hosts.delete(run);
              void tell({ run, ended });
            },
          }),
        );
      } else if ("line" in message) hosts.get(message.run)?.send(message.line);
      else if ("end" in message) hosts.get(message.run)?.end();
    } catch {
      bad = true;
    }
  }, () => bad = true);
  try {
    for await (const bytes of connection.readable) {
      heard += bytes.length;
      if (
        !known && heard > MAX_HELLO && !new TextDecoder().decode(bytes.subarray(0, MAX_HELLO)).includes("\n")
      ) break;
      lines.push(bytes);
      if (bad) break;
    }
  } catch {
    // The program has ended.
  }
  for (const host of hosts.values()) host.end();
}

/** Writes lines in order; a peer that is gone is no error. */
class Writer {
  readonly #connection: Deno.Conn;
  readonly #encoder = new TextEncoder();
  #last: Promise<void> = Promise.resolve();

  constructor(connection: Deno.Conn) {
    this.#connection = connection;
  }

  /** Resolves when the line is written. */
  write(line: string): Promise<void> {
    const bytes = this.#encoder.encode(`${line}\n`);
    this.#last = this.#last.then(async () => {
      for (let done = 0; done < bytes.length;) done += await this.#connection.write(bytes.subarray(done));
    }).catch(() => {});
    return this.#last;
  }
}

/** The program's end. */
export class ChannelLink implements PluginLink {
  readonly #note: ChannelNote;
  readonly #hosts = new Map<number, PluginEvents>();
  #writer: Promise<Writer> | null = null;
  #connection: Deno.Conn | null = null;
  #runs = 0;

  /** @param note what the launcher told */
  constructor(note: ChannelNote) {
    this.#note = note;
  }

  /** Takes the channel, so that nobody else can. Never throws: the first start says what is wrong. */
  async connect(): Promise<void> {
    await this.#open().catch(() => {});
  }

  start(plugin: string, events: PluginEvents): PluginConnection {
    const run = ++this.#runs;
    this.#hosts.set(run, events);
    const say = (message: ToLauncher) =>
      void this.#open().then((writer) => writer.write(JSON.stringify(message))).catch((error) => {
        if (this.#hosts.delete(run)) events.onEnd(`the launcher cannot be reached: ${messageOf(error)}`);
      });
    say({ start: plugin, run });
    return { send: (line) => say({ run, line }), end: () => say({ run, end: true }) };
  }

  close(): void {
    quietly(() => this.#connection?.close());
  }

  #open(): Promise<Writer> {
    this.#writer ??= this.#connect();
    return this.#writer;
  }

  async #connect(): Promise<Writer> {
    const { address, secret } = this.#note;
    const connection = "path" in address
      ? await Deno.connect({ transport: "unix", path: address.path })
      : await Deno.connect(address);
    this.#connection = connection as unknown as Deno.Conn;
    const writer = new Writer(this.#connection);
    void writer.write(JSON.stringify({ hello: secret } satisfies ToLauncher));
    void this.#read(this.#connection);
    return writer;
  }

  async #read(connection: Deno.Conn): Promise<void> {
    const lines = new LineReader((text) => {
      const message = JSON.parse(text) as FromLauncher;
      const events = this.#hosts.get(message.run);
      if (!events) return;
      if ("line" in message) events.onLine(message.line);
      else {
        this.#hosts.delete(message.run);
        events.onEnd(message.ended);
      }
    }, () => quietly(() => connection.close()));
    try {
      for await (const bytes of connection.readable) lines.push(bytes);
    } catch {
      // Closed here, or the launcher is gone.
    }
    for (const events of this.#hosts.values()) events.onEnd("the launcher has ended");
    this.#hosts.clear();
  }
}

/** The ceiling with the way to the channel. */
export function withChannel(flags: CeilingFlags, note: ChannelNote): CeilingFlags {
  const { address } = note;
  if ("path" in address) {
    return flags.net === true ? flags : { ...flags, net: [...flags.net, `unix:${address.path}`] };
  }
  const { hostname, port } = address;
  if (flags.net !== true) return { ...flags, net: [...flags.net, `${hostname}:${port}`] };
  // A deny beats every allow: the one address is cut out of the ranges that hold it.
  return { ...flags, denyNet: flags.denyNet.flatMap((range) => without(range, hostname)) };
}

/** An IPv4 range without one address, as ranges. */
function without(range: string, address: string): string[] {
  const found = /^(\d+\.\d+\.\d+\.\d+)\/(\d+)$/.exec(range);
  if (!found) return range === address ? [] : [range];
  const target = numberOf(address);
  let base = numberOf(found[1]!), bits = Number(found[2]);
  const inside = (start: number, length: number) => target >= start && target < start + 2 ** (32 - length);
  if (!inside(base, bits)) return [range];
  const out: string[] = [];
  while (bits < 32) {
    bits++;
    const half = 2 ** (32 - bits), upper = base + half;
    const [keep, other] = inside(base, bits) ? [base, upper] : [upper, base];
    out.push(`${textOf(other)}/${bits}`);
    base = keep;
  }
  return out;
}

function numberOf(address: string): number {
  return address.split(".").reduce((sum, part) => sum * 256 + Number(part), 0);
}

function textOf(number: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join(".");
}

function quietly(call: () => void): void {
  try {
    call();
  } catch {
    // It was closed already.
  }
}
