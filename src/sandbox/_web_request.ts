/**
 * One HTTP request to an address that was checked, with limits on time and size. Redirects are told, not followed.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import http from "node:http";
import https from "node:https";
import { isIP } from "node:net";
import type { Readable, Transform } from "node:stream";
import zlib from "node:zlib";
import { ToolError } from "../errors.ts";
import type { HopAnswer, HopRequest } from "./_web_protocol.ts";

/** Milliseconds that one of several addresses gets to accept the connection. */
const CONNECT = 5_000;
/** Most codings of one body that are undone. */
const MOST_CODINGS = 3;

/** Codes of errors after which the next address is tried. */
const UNREACHED = new Set([
  ...["ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH", "ETIMEDOUT", "EADDRNOTAVAIL", "EAFNOSUPPORT"],
  "ECONNECT",
]);

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
  const deadline = performance.now() + request.timeout;
  for (const [index, address] of addresses.entries()) {
    try {
      return await attempt(url, address, request, deadline, index < addresses.length - 1, signal);
    } catch (error) {
      const code = codeOf(error);
      if (index < addresses.length - 1 && UNREACHED.has(code)) continue;
      if (error instanceof ToolError) throw error;
      throw new ToolError(`${url.host} ${explain(code, error)}`);
    }
  }
  throw new ToolError(`${url.host} has no address`);
}

function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" ? code : "";
}

function explain(code: string, error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  if (code === "ECONNREFUSED") return "refused the connection";
  if (code === "ECONNRESET" || code === "EPIPE") return "broke the connection off";
  if (UNREACHED.has(code)) return `could not be reached (${code})`;
  if (/certificate|UnknownIssuer|self.signed|NotValidForName/i.test(text)) {
    return `has a certificate that does not hold: ${text.slice(0, 200)}`;
  }
  if (code.startsWith("HPE_") || code === "ERR_INVALID_HTTP") return "does not answer in HTTP";
  return `could not be asked: ${text.slice(0, 200)}`;
}

function attempt(
  url: URL,
  address: string,
  request: HopRequest,
  deadline: number,
  more: boolean,
  signal: AbortSignal,
): Promise<HopAnswer> {
  return new Promise((resolve, reject) => {
    const secure = url.protocol === "https:", host = url.hostname.replace(/^\[|\]$/g, "");
    const timers = new Set<ReturnType<typeof setTimeout>>();
    let over = false;
    const settle = (end: () => void) => {
      if (over) return;
      over = true;
      timers.forEach(clearTimeout);
      signal.removeEventListener("abort", cancel);
      end();
    };
    const fail = (error: unknown) =>
      settle(() => {
        outgoing.destroy();
        reject(error);
      });
    const cancel = () => fail(new ToolError("The request was cancelled"));
    const within = (ms: number, error: () => Error) => {
      const timer = setTimeout(() => fail(error()), Math.max(1, ms));
      timers.add(timer);
      return () => {
        clearTimeout(timer);
        timers.delete(timer);
      };
    };
    const options: https.RequestOptions = {
      protocol: url.protocol,
      host,
      port: url.port === "" ? (secure ? 443 : 80) : Number(url.port),
      path: `${url.pathname}${url.search}`,
      method: request.method,
      agent: false,
      headers: headersOf(url, request),
      // The name was resolved and checked before; the connection goes there and nowhere else.
      lookup: (_host, { all }, callback) => {
        const family = isIP(address) as 4 | 6;
        if (all) {
          (callback as (e: null, list: { address: string; family: number }[]) => void)(null, [{
            address,
            family,
          }]);
        } else callback(null, address, family);
      },
      ...(secure && isIP(host) === 0 ? { servername: host.replace(/\.$/, "") } : {}),
    };
    const outgoing = (secure ? https : http).request(options);
    within(deadline - performance.now(), () => late(url, request.timeout));
    const first = within(
      request.firstByteTimeout,
      () =>
        new ToolError(
          `${url.host} did not begin to answer within ${seconds(request.firstByteTimeout)}`,
          "timeout",
        ),
    );
    if (more) {
      const connected = within(
        CONNECT,
        () => Object.assign(new Error("no connection"), { code: "ECONNECT" }),
      );
      outgoing.on("socket", (socket) => {
        socket.once("connect", connected);
        socket.once("secureConnect", connected);
      });
      outgoing.once("response", connected);
    }
    outgoing.once("error", fail);
    outgoing.once("response", (incoming) => {
      first();
      incoming.once("error", fail);
      const status = incoming.statusCode ?? 0, location = incoming.headers.location;
      const answer = {
        status,
        statusText: incoming.statusMessage ?? "",
        type: String(incoming.headers["content-type"] ?? ""),
        location: location === undefined ? null : utf8(location),
      };
      if (status >= 300 && status < 400 && location !== undefined) {
        settle(() => {
          outgoing.destroy();
          resolve({ ...answer, body: new Uint8Array(0) });
        });
        return;
      }
      readBody(incoming, request, `${url.href} (${answer.type || "no content type"})`).then(
        (body) => settle(() => resolve({ ...answer, body })),
        fail,
      );
    });
    // A server that answers with another protocol.
    outgoing.once("upgrade", (_response, socket) => {
      socket.destroy();
      fail(new ToolError(`${url.host} answered with another protocol than HTTP`));
    });
    if (signal.aborted) cancel();
    else signal.addEventListener("abort", cancel, { once: true });
    if (!over) outgoing.end(request.body);
  });
}

function headersOf(url: URL, request: HopRequest): Record<string, string> {
  return {
    accept: "*/*",
    ...request.headers,
    host: url.host,
    "user-agent": AGENT,
    "accept-encoding": "gzip, deflate, br",
    ...(request.body === undefined ? {} : { "content-length": String(Buffer.byteLength(request.body)) }),
  };
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
  const stages = decoders(incoming.headers["content-encoding"], what);
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
  if (stages.length === 0) {
    for await (const chunk of incoming as AsyncIterable<Uint8Array>) {
      counted(chunk);
      keep(chunk);
    }
  } else {
    await decompress(incoming, stages, counted, keep, what);
  }
  const body = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    body.set(chunk, at);
    at += chunk.length;
  }
  return body;
}

/** Undoes the codings, last one first. A body that is cut off keeps what came. */
async function decompress(
  incoming: Readable,
  stages: readonly Transform[],
  counted: (chunk: Uint8Array) => void,
  keep: (chunk: Uint8Array) => void,
  what: string,
): Promise<void> {
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
      for await (const chunk of incoming as AsyncIterable<Uint8Array>) {
        counted(chunk);
        if (!first.write(chunk)) await drained(first);
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

function decoders(header: string | undefined, what: string): Transform[] {
  const names = (header ?? "").toLowerCase().split(",").map((name) => name.trim()).filter((name) =>
    name !== "" && name !== "identity"
  );
  if (names.length > MOST_CODINGS) throw new ToolError(`${what} is coded ${names.length} times over`);
  return names.reverse().map((name) => {
    if (name === "gzip" || name === "x-gzip") return zlib.createGunzip();
    if (name === "deflate") return zlib.createInflate();
    if (name === "br") return zlib.createBrotliDecompress();
    throw new ToolError(
      `${what} comes in the coding ${JSON.stringify(name.slice(0, 40))}, which was not asked for`,
    );
  });
}

function late(url: URL, timeout: number): ToolError {
  return new ToolError(`${url.host} did not finish within ${seconds(timeout)}`, "timeout");
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
