/**
 * One HTTP request to an address that was checked, with limits on time and size. Redirects are told, not followed.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import http from "node:http";
import type { Socket } from "node:net";
import type { Readable, Transform } from "node:stream";
import zlib from "node:zlib";
import { ToolError } from "../errors.ts";
import { connect, streamOf, unreached } from "./_web_connect.ts";
import type { HopAnswer, HopRequest } from "./_web_protocol.ts";

/** Milliseconds that one of several addresses gets to accept the connection. */
const CONNECT = 5_000;
/** Most codings of one body that are undone. */
const MOST_CODINGS = 3;

/** Who asks. */
const AGENT = "Mozilla/5.0 (compatible; polyglav)";

/**
 * Makes the request.
 *
 * @param url names the host, for `Host`, for TLS and for messages; it is not resolved
 * @param addresses where the connection goes: the next one where one cannot be reached
 * @throws {ToolError} kind `timeout` or `execution`
 */
export async function requestHop(
  url: URL,
  addresses: readonly string[],
  request: HopRequest,
  signal: AbortSignal,
): Promise<HopAnswer> {
  const limit = new Limit(url, request, signal);
  try {
    for (const [index, address] of addresses.entries()) {
      const last = index === addresses.length - 1;
      try {
        const connection = await limit.race(connect(url, address), last ? null : CONNECT, closeLate);
        try {
          return await limit.race(exchange(url, connection, request, limit), null);
        } finally {
          close(connection);
        }
      } catch (error) {
        if (!last && unreached(error)) continue;
        throw error instanceof ToolError ? error : new ToolError(`${url.host} ${explain(error)}`);
      }
    }
  } finally {
    limit.end();
  }
  throw new ToolError(`${url.host} has no address`);
}

function close(connection: Deno.Conn): void {
  try {
    connection.close();
  } catch {
    // The stream closed it.
  }
}

/** A connection that came after nobody waited any more. */
function closeLate(connection: Deno.Conn): void {
  close(connection);
}

/** The time that a request has, and its end by the caller. */
class Limit {
  readonly #signal: AbortSignal;
  readonly #stopped: Promise<never>;
  readonly #timers = new Set<ReturnType<typeof setTimeout>>();
  #stop: (error: Error) => void = () => {};
  readonly #cancel = () => this.#stop(new ToolError("The request was cancelled"));
  #first: ReturnType<typeof setTimeout>;

  constructor(url: URL, { timeout, firstByteTimeout }: HopRequest, signal: AbortSignal) {
    this.#signal = signal;
    this.#stopped = new Promise((_, reject) => this.#stop = reject);
    this.#stopped.catch(() => {});
    this.#after(
      timeout,
      () => new ToolError(`${url.host} did not finish within ${seconds(timeout)}`, "timeout"),
    );
    this.#first = this.#after(firstByteTimeout, () =>
      new ToolError(
        `${url.host} did not begin to answer within ${seconds(firstByteTimeout)}`,
        "timeout",
      ));
    if (signal.aborted) this.#cancel();
    else signal.addEventListener("abort", this.#cancel, { once: true });
  }

  #after(ms: number, error: () => Error): ReturnType<typeof setTimeout> {
    const timer = setTimeout(() => this.#stop(error()), Math.max(1, ms));
    this.#timers.add(timer);
    return timer;
  }

  /** The answer has begun. */
  answered(): void {
    clearTimeout(this.#first);
  }

  /** Ends the waiting. */
  end(): void {
    this.#timers.forEach(clearTimeout);
    this.#signal.removeEventListener("abort", this.#cancel);
  }

  /** Waits for work as long as there is time. @param ms a limit of its own; @param late gets what comes too late */
  async race<T>(work: Promise<T>, ms: number | null, late: (value: T) => void = () => {}): Promise<T> {
    let timer: ReturnType<typeof setTimeout> | undefined, over = false;
    work.then((value) => over && late(value), () => {});
    const own = new Promise<never>((_, reject) => {
      if (ms !== null) timer = setTimeout(() => reject(new Deno.errors.TimedOut("no connection")), ms);
    });
    try {
      return await Promise.race([work, this.#stopped, own]);
    } finally {
      over = true;
      clearTimeout(timer);
    }
  }
}

function explain(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  const code = (error as { code?: unknown } | null)?.code;
  if (error instanceof Deno.errors.NotCapable) return `may not be reached: ${text.slice(0, 200)}`;
  if (error instanceof Deno.errors.ConnectionRefused) return "refused the connection";
  if (error instanceof Deno.errors.ConnectionReset || code === "ECONNRESET" || code === "EPIPE") {
    return "broke the connection off";
  }
  if (unreached(error)) return "could not be reached";
  if (/certificate|UnknownIssuer/i.test(text)) {
    return `has a certificate that does not hold: ${
      text.replace(/^invalid peer certificate:\s*/, "").slice(0, 200)
    }`;
  }
  if (error instanceof Deno.errors.InvalidData || /tls|handshake/i.test(text)) {
    return `does not answer in TLS: ${text.slice(0, 200)}`;
  }
  if (typeof code === "string" && code.startsWith("HPE_")) return "does not answer in HTTP";
  return `could not be asked: ${text.slice(0, 200)}`;
}

/** One request over a connection that stands. */
function exchange(url: URL, connection: Deno.Conn, request: HopRequest, limit: Limit): Promise<HopAnswer> {
  return new Promise((resolve, reject) => {
    const outgoing = http.request({
      // Without an agent, which would resolve the name and connect itself.
      createConnection: () => streamOf(connection) as unknown as Socket,
      host: url.hostname.replace(/^\[|\]$/g, ""),
      path: `${url.pathname}${url.search}`,
      method: request.method,
      headers: headersOf(url, request),
    });
    outgoing.once("error", reject);
    outgoing.once("response", (incoming) => {
      limit.answered();
      incoming.once("error", reject);
      const status = incoming.statusCode ?? 0, location = incoming.headers.location;
      const answer = {
        status,
        statusText: incoming.statusMessage ?? "",
        type: String(incoming.headers["content-type"] ?? ""),
        location: location === undefined ? null : utf8(location),
      };
      if (status >= 300 && status < 400 && location !== undefined) {
        resolve({ ...answer, body: new Uint8Array(0) });
        outgoing.destroy();
        return;
      }
      readBody(incoming, request, `${url.href} (${typeWord(answer.type)})`).then(
        (body) => resolve({ ...answer, body }),
        (error) => {
          reject(error);
          outgoing.destroy();
        },
      );
    });
    outgoing.once("upgrade", (_response, socket) => {
      socket.destroy();
      reject(new ToolError(`${url.host} answered with another protocol than HTTP`));
    });
    outgoing.end(request.body);
  });
}

function headersOf(url: URL, request: HopRequest): Record<string, string> {
  return {
    accept: "*/*",
    ...request.headers,
    host: url.host,
    "user-agent": AGENT,
    "accept-encoding": "gzip, deflate, br",
    connection: "close",
    ...(request.body === undefined ? {} : { "content-length": String(Buffer.byteLength(request.body)) }),
  };
}

/** The type in a message: what is none is not repeated, since a message is read as ours and not as the server's. */
function typeWord(header: string): string {
  const type = header.split(";", 1)[0]!.trim();
  return type === "" ? "no content type" : /^[\w!#$&.+^/-]{1,100}$/.test(type) ? type : "an odd content type";
}

/** Header values arrive as Latin-1; servers write UTF-8. */
function utf8(value: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(value, "latin1"));
  } catch {
    return value;
  }
}

async function readBody(
  incoming: http.IncomingMessage,
  { maxWire, maxBody }: HopRequest,
  what: string,
): Promise<Uint8Array<ArrayBuffer>> {
  const said = Number(incoming.headers["content-length"]);
  if (said > maxWire) {
    throw new ToolError(`${what} has ${grouped(said)} bytes; ${megabytes(maxWire)} is the most`);
  }
  const codings = codingsOf(incoming.headers["content-encoding"], what);
  let wire = 0, size = 0;
  const chunks: Uint8Array[] = [];
  const keep = (chunk: Uint8Array) => {
    size += chunk.length;
    if (size > maxBody) {
      throw new ToolError(`${what} is larger than ${megabytes(maxBody)} when it is decompressed`);
    }
    chunks.push(chunk);
  };
  const counted = (chunk: Uint8Array) => {
    wire += chunk.length;
    if (wire > maxWire) throw new ToolError(`${what} is larger than ${megabytes(maxWire)}`);
  };
  if (codings.length === 0) {
    for await (const chunk of incoming as AsyncIterable<Uint8Array>) {
      counted(chunk);
      keep(chunk);
    }
  } else {
    await decompress(incoming, codings, counted, keep, what);
  }
  const body = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    body.set(chunk, at);
    at += chunk.length;
  }
  return body;
}

/** Undoes the codings, last one first. Without a single byte there is nothing to undo. */
async function decompress(
  incoming: Readable,
  codings: readonly Coding[],
  counted: (chunk: Uint8Array) => void,
  keep: (chunk: Uint8Array) => void,
  what: string,
): Promise<void> {
  const source = (incoming as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
  let next = await source.next();
  while (!next.done && next.value.length === 0) next = await source.next();
  if (next.done) return;
  const beginning = next.value;
  const stages = codings.map((coding, index) =>
    coding === "deflate" && index === 0 && isBareDeflate(beginning)
      ? zlib.createInflateRaw()
      : DECODERS[coding]()
  );
  const [first, last] = [stages[0]!, stages.at(-1)!];
  let failed: unknown;
  const stop = (error: unknown) => {
    failed ??= error;
    incoming.destroy();
    for (const stage of stages) stage.destroy();
  };
  const coding = (error: unknown) =>
    stop(new ToolError(`${what} cannot be decompressed: ${error instanceof Error ? error.message : error}`));
  for (const [index, stage] of stages.entries()) {
    stage.on("error", coding);
    if (index > 0) stages[index - 1]!.pipe(stage);
  }
  const feeding = (async () => {
    try {
      for (; !next.done; next = await source.next()) {
        counted(next.value);
        if (!first.write(next.value)) await drained(first);
        if (failed) return;
      }
      first.end();
    } catch (error) {
      stop(error);
    }
  })();
  try {
    for await (const chunk of last as AsyncIterable<Uint8Array>) keep(chunk);
  } catch (error) {
    stop(error);
  }
  await feeding;
  if (failed) throw failed;
}

function drained(stage: Transform): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      stage.off("drain", done);
      stage.off("close", done);
      resolve();
    };
    stage.once("drain", done);
    stage.once("close", done);
  });
}

type Coding = "gzip" | "deflate" | "br";

const DECODERS: Readonly<Record<Coding, () => Transform>> = {
  gzip: () => zlib.createGunzip(),
  deflate: () => zlib.createInflate(),
  br: () => zlib.createBrotliDecompress(),
};

/** The codings of a body, the one to undo first first. */
function codingsOf(header: string | undefined, what: string): Coding[] {
  const names = (header ?? "").toLowerCase().split(",").map((name) => name.trim()).filter((name) =>
    name !== "" && name !== "identity"
  );
  if (names.length > MOST_CODINGS) throw new ToolError(`${what} is coded ${names.length} times over`);
  return names.reverse().map((name) => {
    if (name === "x-gzip") return "gzip";
    if (Object.hasOwn(DECODERS, name)) return name as Coding;
    throw new ToolError(
      `${what} comes in the coding ${JSON.stringify(name.slice(0, 40))}, which was not asked for`,
    );
  });
}

/** Many servers leave out the zlib header that HTTP's `deflate` has, and whose first byte ends in 8. */
function isBareDeflate(beginning: Uint8Array): boolean {
  return (beginning[0]! & 0x0f) !== 8;
}

function seconds(ms: number): string {
  return `${Math.round(ms / 100) / 10} s`;
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1_000_000)} MB`;
}

function grouped(size: number): string {
  return size.toLocaleString("en-US");
}
