/**
 * A scripted server with the Chat Completions API on loopback. Each request takes the next reply of the script; what
 * was asked is kept.
 *
 * @module
 */

/** One reply of the script. */
export interface ScriptedReply {
  readonly content?: string;
  readonly reasoning?: string;
  readonly tool_calls?: readonly {
    readonly id?: string;
    readonly name: string;
    readonly arguments?: unknown;
  }[];
  readonly finish_reason?: string;
  /** An HTTP error instead of a reply. */
  readonly status?: number;
  readonly error?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The connection breaks before the reply is complete. */
  readonly cut?: boolean;
  /** The stream ends in order, but without a finish reason. */
  readonly unfinished?: boolean;
  readonly delay_ms?: number;
  /** The stream stays open after what was sent until the client leaves. */
  readonly hang?: boolean;
  /** False: no usage, whatever was asked for. */
  readonly usage?: boolean;
  /** These bytes are the whole body. */
  readonly raw?: string | Uint8Array;
  /** Pieces in which `raw` is sent. */
  readonly pieces?: readonly (string | Uint8Array)[];
  readonly content_type?: string;
  /** Answers in place of all that. */
  readonly respond?: (request: Request) => Response | Promise<Response>;
}

/** A request as it came. */
export interface Captured {
  readonly url: string;
  readonly headers: Headers;
  readonly text: string;
  // deno-lint-ignore no-explicit-any
  readonly body: any;
}

/** The server. */
export interface ModelServer extends AsyncDisposable {
  /** Base URL, `/v1` included. */
  readonly url: string;
  readonly port: number;
  /** What was asked, in order. */
  readonly requests: readonly Captured[];
  /** Replies that are left. */
  readonly script: ScriptedReply[];
  /** Models of `GET /models`. */
  models: string[];
}

const USAGE = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };

/** Starts a server; dispose it with `await using server = startModel([...])`. */
export function startModel(script: readonly ScriptedReply[] = []): ModelServer {
  const requests: Captured[] = [];
  const left = [...script];
  const state = { models: ["scripted"] };
  const stop = new AbortController();
  const server = Deno.serve(
    {
      hostname: "127.0.0.1",
      port: 0,
      onListen: () => {},
      onError: () => new Response(null, { status: 500 }),
    },
    async (request) => {
      if (request.method === "GET") {
        return Response.json({ object: "list", data: state.models.map((id) => ({ id, object: "model" })) });
      }
      const text = await request.text();
      requests.push({ url: request.url, headers: request.headers, text, body: parse(text) });
      return await answer(left.shift() ?? { content: "(script exhausted)" }, request, text, stop.signal);
    },
  );
  const { port } = server.addr as Deno.NetAddr;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    port,
    requests,
    script: left,
    get models() {
      return state.models;
    },
    set models(models) {
      state.models = models;
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await server.shutdown();
    },
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Text in pieces of `size` characters. */
export function chunkText(text: string, size = 7): string[] {
  const all = [...text], out: string[] = [];
  for (let i = 0; i < all.length; i += size) out.push(all.slice(i, i + size).join(""));
  return out;
}

/** One `data:` event of a stream. */
export function sse(value: unknown): string {
  return `data: ${typeof value === "string" ? value : JSON.stringify(value)}\n\n`;
}

/** A chunk of a stream. */
export function chunk(delta: unknown, finish: string | null = null): Record<string, unknown> {
  return {
    id: "x",
    object: "chat.completion.chunk",
    created: 1,
    model: "scripted",
    choices: [{ index: 0, delta, finish_reason: finish }],
  };
}

/** The events of a reply. */
export function replyEvents(reply: ScriptedReply, withUsage = true): string[] {
  const out = [sse(chunk({ role: "assistant" }))];
  for (const text of chunkText(reply.reasoning ?? "")) out.push(sse(chunk({ reasoning_content: text })));
  for (const text of chunkText(reply.content ?? "")) out.push(sse(chunk({ content: text })));
  const calls = reply.tool_calls ?? [];
  calls.forEach((call, index) => {
    const id = call.id ?? `call_${crypto.randomUUID().slice(0, 8)}`;
    out.push(
      sse(
        chunk({
          tool_calls: [{ index, id, type: "function", function: { name: call.name, arguments: "" } }],
        }),
      ),
    );
    const text = typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments ?? {});
    for (const part of chunkText(text)) {
      out.push(sse(chunk({ tool_calls: [{ index, function: { arguments: part } }] })));
    }
  });
  if (reply.cut || reply.unfinished || reply.hang) return out;
  out.push(sse(chunk({}, reply.finish_reason ?? (calls.length > 0 ? "tool_calls" : "stop"))));
  if (withUsage && reply.usage !== false) {
    out.push(sse({ id: "x", object: "chat.completion.chunk", choices: [], usage: USAGE }));
  }
  out.push(sse("[DONE]"));
  return out;
}

async function answer(
  reply: ScriptedReply,
  request: Request,
  text: string,
  stop: AbortSignal,
): Promise<Response> {
  if (reply.delay_ms) await new Promise((resolve) => setTimeout(resolve, reply.delay_ms));
  if (reply.respond) return await reply.respond(request);
  if (reply.status) {
    return Response.json({ error: { message: reply.error ?? "scripted error", type: "scripted" } }, {
      status: reply.status,
      headers: reply.headers,
    });
  }
  const type = reply.content_type ?? "text/event-stream";
  const body = parse(text) as { stream_options?: { include_usage?: boolean } } | null;
  const events = reply.pieces ??
    (reply.raw !== undefined
      ? [reply.raw]
      : replyEvents(reply, body?.stream_options?.include_usage === true));
  const encoder = new TextEncoder();
  let next = 0;
  let release = () => {};
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      if (next < events.length) {
        const event = events[next++]!;
        controller.enqueue(typeof event === "string" ? encoder.encode(event) : event);
        return;
      }
      if (reply.cut) {
        await new Promise((resolve) => setTimeout(resolve, 20));
        controller.error(new Error("cut"));
        return;
      }
      if (reply.hang) {
        await new Promise<void>((resolve) => {
          if (stop.aborted) resolve();
          release = resolve;
          stop.addEventListener("abort", () => resolve(), { once: true });
        });
      }
      try {
        controller.close();
      } catch { /* the client left first */ }
    },
    cancel() {
      release();
    },
  });
  return new Response(stream, { headers: { "content-type": type, ...reply.headers } });
}
