/**
 * A scripted web server on loopback that no part of the product knows.
 *
 * @module
 */

/** What a path answers. */
export interface Page {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Text, bytes, or pieces as they come; the pieces may never end. */
  readonly body?: string | Uint8Array | (() => AsyncIterable<Uint8Array>);
  /** Milliseconds before anything is answered. */
  readonly delay?: number;
}

/** What was asked. */
export interface Hit {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly headers: Headers;
  readonly body: string;
}

/** A running server. */
export interface WebServer extends AsyncDisposable {
  readonly port: number;
  /** `http://127.0.0.1:PORT`, or `https://localhost:PORT`. */
  readonly url: string;
  readonly hits: Hit[];
  /** Paths that were asked for, in order. */
  paths(): string[];
}

/** Pages by path, or a function of the request. */
export type Script =
  | Readonly<Record<string, Page | string>>
  | ((hit: Hit) => Page | string | Promise<Page | string>);

/** Certificate of a server that calls itself `localhost`, and of the authority that vouches for it, in tests alone. */
export const TLS_AUTHORITY: string = decodeURIComponent(
  new URL("../fixtures/tls/ca.pem", import.meta.url).pathname,
);

function tls(): { cert: string; key: string } {
  const read = (name: string) => Deno.readTextFileSync(new URL(`../fixtures/tls/${name}`, import.meta.url));
  return { cert: read("server.pem"), key: read("server.key") };
}

/** Starts a server. A text is an HTML page; an unknown path is 404. */
export function startWeb(script: Script, hostname = "127.0.0.1", secure = false): WebServer {
  const hits: Hit[] = [], stop = new AbortController();
  const server = Deno.serve(
    { port: 0, hostname, onListen: () => {}, signal: stop.signal, ...(secure ? tls() : {}) },
    async (request) => {
      const { pathname, search } = new URL(request.url);
      const hit: Hit = {
        method: request.method,
        path: pathname + search,
        headers: request.headers,
        body: await request.text(),
      };
      hits.push(hit);
      const found = typeof script === "function"
        ? await script(hit)
        : script[hit.path] ?? script[pathname] ?? { status: 404 };
      const page = typeof found === "string"
        ? { body: found, headers: { "content-type": "text/html" } }
        : found;
      if (page.delay) await pause(page.delay, stop.signal);
      const body = typeof page.body === "function"
        ? ReadableStream.from(page.body())
        : page.body as BodyInit | undefined ?? null;
      return new Response(body, { status: page.status ?? 200, headers: page.headers });
    },
  );
  const { port } = (server as Deno.HttpServer<Deno.NetAddr>).addr;
  return {
    port,
    url: secure ? `https://localhost:${port}` : `http://127.0.0.1:${port}`,
    hits,
    paths: () => hits.map(({ path }) => path),
    async [Symbol.asyncDispose]() {
      stop.abort();
      await server.finished;
    },
  };
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done, { once: true });
  });
}

/** Bytes through one of the web's compressions. */
export async function compressed(
  bytes: Uint8Array | string,
  format: "gzip" | "deflate" | "deflate-raw",
): Promise<Uint8Array> {
  const source = new Blob([bytes as BlobPart]).stream().pipeThrough(new CompressionStream(format));
  return new Uint8Array(await new Response(source).arrayBuffer());
}
