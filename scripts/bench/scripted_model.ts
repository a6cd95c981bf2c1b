/**
 * A scripted model on loopback for the bench: the number of tool steps stands in the base URL, and the time from the
 * last byte of a reply to the arrival of the next request is kept per conversation.
 *
 * @module
 */

/** A running scripted model. */
export interface ScriptedModel extends AsyncDisposable {
  /** Base URL of a conversation with `steps` tool calls before the answer; every call starts a new one. */
  conversation(steps: number): { readonly url: string; readonly log: ConversationLog };
}

/** What was seen of one conversation. */
export interface ConversationLog {
  /** Milliseconds from the end of reply i to request i + 1. */
  readonly gaps: number[];
  /** Bytes of the first request's body. */
  firstRequestBytes: number;
}

const encoder = new TextEncoder();

/** Starts the model on a free port of the loopback interface. */
export function startScriptedModel(): ScriptedModel {
  const logs: { steps: number; done: number; ended: number; log: ConversationLog }[] = [];
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, async (request) => {
    const arrived = performance.now();
    const [, id] = /^\/c(\d+)\//.exec(new URL(request.url).pathname) ?? [];
    const entry = logs[Number(id)];
    if (!entry) return new Response("no such conversation", { status: 404 });
    if (request.method === "GET") {
      return Response.json({ object: "list", data: [{ id: "scripted", object: "model" }] });
    }
    const body = await request.text();
    if (entry.done === 0) entry.log.firstRequestBytes = encoder.encode(body).length;
    else entry.log.gaps.push(arrived - entry.ended);
    const last = entry.done++ >= entry.steps;
    const chunks = last ? answer() : toolCall(entry.done);
    const stream = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const chunk of chunks) controller.enqueue(encoder.encode(`data: ${chunk}\n\n`));
        controller.enqueue(encoder.encode("data: [DONE]\n\n"));
        entry.ended = performance.now();
        controller.close();
      },
    });
    return new Response(stream, { headers: { "content-type": "text/event-stream" } });
  });
  const { port } = server.addr;
  return {
    conversation(steps) {
      const log: ConversationLog = { gaps: [], firstRequestBytes: 0 };
      logs.push({ steps, done: 0, ended: 0, log });
      return { url: `http://127.0.0.1:${port}/c${logs.length - 1}/v1`, log };
    },
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

function chunk(delta: unknown, finish: string | null = null): string {
  return JSON.stringify({
    id: "x",
    object: "chat.completion.chunk",
    created: 1,
    model: "scripted",
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
}

function usage(): string {
  return JSON.stringify({
    id: "x",
    object: "chat.completion.chunk",
    created: 1,
    model: "scripted",
    choices: [],
    usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
  });
}

function toolCall(n: number): string[] {
  const head = {
    index: 0,
    id: `call_${n}`,
    type: "function",
    function: { name: "file_read", arguments: "" },
  };
  return [
    chunk({ role: "assistant" }),
    chunk({ tool_calls: [head] }),
    chunk({ tool_calls: [{ index: 0, function: { arguments: '{"path": "a.txt"}' } }] }),
    chunk({}, "tool_calls"),
    usage(),
  ];
}

function answer(): string[] {
  return [
    chunk({ role: "assistant" }),
    ..."The answer is in the file.".split(" ").map((w) => chunk({ content: `${w} ` })),
    chunk({}, "stop"),
    usage(),
  ];
}
