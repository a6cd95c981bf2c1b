import assert from "node:assert/strict";
import type { ChatMessage } from "../../src/provider/provider.ts";
import { listModels } from "../../src/provider/openai.ts";
import { chunk, replyEvents, sse, startModel } from "../helpers/model_server.ts";
import { collect, HI, providerAt } from "./_collect.ts";

Deno.test("a reply streams as thinking, tokens and usage", async () => {
  await using server = startModel([{ content: "Hello world", reasoning: "let me see" }]);
  const got = await collect(providerAt(server.url));
  assert.equal(got.text, "Hello world");
  assert.equal(got.thinking, "let me see");
  assert.deepEqual(got.last, {
    type: "done",
    finish: "stop",
    usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 },
  });
});

Deno.test("the request carries what was asked and nothing of the environment", async () => {
  const before = Deno.env.get("OPENAI_CUSTOM_HEADERS");
  Deno.env.set("OPENAI_CUSTOM_HEADERS", "X-Leak: yes");
  Deno.env.set("OPENAI_ORG_ID", "org-leak");
  try {
    await using server = startModel([{ content: "ok" }]);
    await collect(
      providerAt(server.url, { apiKey: "sk-test" }),
      [
        { role: "system", content: "be brief" },
        { role: "user", content: "go" },
        {
          role: "assistant",
          content: null,
          thinking: "hm",
          tool_calls: [{ id: "c1", name: "t", arguments: "{}" }],
        },
        { role: "tool", tool_call_id: "c1", name: "t", content: "done" },
      ],
      { maxTokens: 50, temperature: 0.5, reasoning: "high" },
      [{ name: "t", description: "d", parameters: { type: "object", properties: {} } }],
    );
    const { body, headers, url } = server.requests[0]!;
    assert.deepEqual(body, {
      model: "scripted",
      stream: true,
      stream_options: { include_usage: true },
      temperature: 0.5,
      max_tokens: 50,
      reasoning_effort: "high",
      tools: [{
        type: "function",
        function: { name: "t", description: "d", parameters: { type: "object", properties: {} } },
      }],
      messages: [
        { role: "system", content: "be brief" },
        { role: "user", content: "go" },
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "c1", type: "function", function: { name: "t", arguments: "{}" } }],
        },
        { role: "tool", tool_call_id: "c1", name: "t", content: "done" },
      ],
    });
    assert.equal(new URL(url).pathname, "/v1/chat/completions");
    assert.equal(headers.get("authorization"), "Bearer sk-test");
    assert.equal(headers.get("x-leak"), null);
    assert.equal(headers.get("openai-organization"), null);
  } finally {
    if (before === undefined) Deno.env.delete("OPENAI_CUSTOM_HEADERS");
    else Deno.env.set("OPENAI_CUSTOM_HEADERS", before);
    Deno.env.delete("OPENAI_ORG_ID");
  }
});

Deno.test("without a key no Authorization header is sent", async () => {
  await using server = startModel([{ content: "ok" }]);
  await collect(providerAt(server.url));
  assert.equal(server.requests[0]!.headers.get("authorization"), null);
});

Deno.test("parallel calls arrive by index, arguments put together", async () => {
  await using server = startModel([{
    tool_calls: [
      { id: "a", name: "file_read", arguments: { path: "src/a long name.ts" } },
      { id: "b", name: "grep", arguments: { pattern: "x" } },
    ],
  }]);
  const got = await collect(providerAt(server.url));
  assert.deepEqual(got.calls, [
    { id: "a", name: "file_read", arguments: '{"path":"src/a long name.ts"}' },
    { id: "b", name: "grep", arguments: '{"pattern":"x"}' },
  ]);
  assert.equal((got.last as { finish: string }).finish, "tool_calls");
});

Deno.test("a delta with thinking and text keeps both", async () => {
  await using server = startModel([{
    pieces: [
      sse(chunk({ reasoning_content: "why", content: "what" })),
      sse(chunk({}, "stop")),
      sse("[DONE]"),
    ],
  }]);
  const got = await collect(providerAt(server.url));
  assert.equal(got.thinking, "why");
  assert.equal(got.text, "what");
});

Deno.test("a stream reads the same however its bytes are cut", async () => {
  const body = replyEvents({
    reasoning: "ünd 🙂",
    content: "Grüße, 世界 🙂 <think>",
    tool_calls: [{ id: "a", name: "file_write", arguments: { path: "ä.txt", content: "🙂\n" } }],
  }).join("").replace("\n\n", "\r\n\r\n");
  const bytes = new TextEncoder().encode(body);
  const script = [];
  // Every place once: cut into two there, and whole streams of single bytes.
  for (let at = 1; at < bytes.length; at += 1) script.push({ pieces: [bytes.slice(0, at), bytes.slice(at)] });
  script.push({ pieces: Array.from(bytes, (b) => Uint8Array.of(b)) });
  await using server = startModel(script);
  const provider = providerAt(server.url);
  for (let i = 0; i < script.length; i++) {
    const got = await collect(provider);
    assert.equal(got.thinking, "ünd 🙂", `cut at ${i + 1}`);
    assert.equal(got.text, "Grüße, 世界 🙂 <think>", `cut at ${i + 1}`);
    assert.deepEqual(got.calls, [{
      id: "a",
      name: "file_write",
      arguments: '{"path":"ä.txt","content":"🙂\\n"}',
    }], `cut at ${i + 1}`);
  }
});

Deno.test("a stream that ends without a finish reason is cut, whether in order or by a broken connection", async () => {
  await using server = startModel([{ content: "part", unfinished: true }, { content: "part", cut: true }, {
    unfinished: true,
    tool_calls: [{ name: "file_read", arguments: { path: "a" } }],
  }]);
  for (const text of ["part", "part", ""]) {
    const got = await collect(providerAt(server.url));
    assert.equal(got.text, text);
    assert.deepEqual(got.calls, []);
    assert.deepEqual(got.last, { type: "done", finish: "cut" });
  }
});

Deno.test("an abort ends the stream as cancelled, before and while it runs", async () => {
  await using server = startModel([{ content: "words", hang: true }, { content: "never" }]);
  const controller = new AbortController();
  const events: unknown[] = [];
  for await (const event of providerAt(server.url).chat(HI, [], { model: "m", signal: controller.signal })) {
    events.push(event);
    if (event.type === "token") controller.abort();
  }
  assert.deepEqual(events, [{ type: "token", text: "words" }, { type: "done", finish: "cancelled" }]);
  const got = await collect(providerAt(server.url), HI, { signal: AbortSignal.abort() });
  assert.deepEqual(got.events, [{ type: "done", finish: "cancelled" }]);
  assert.equal(server.requests.length, 1);
});

Deno.test("HTTP errors carry status, the server's message and Retry-After in seconds or as a date", async () => {
  const date = new Date(Date.now() + 60_000).toUTCString();
  await using server = startModel([
    { status: 401, error: "bad key given" },
    { status: 429, error: "slow down", headers: { "retry-after": "7" } },
    { status: 503, error: "busy", headers: { "retry-after": date } },
    {
      status: 404,
      respond: () => new Response("<html>not here</html>", { status: 404, statusText: "Not Found" }),
    },
    { respond: () => Response.json([{ error: { message: "in a list" } }], { status: 400 }) },
    { respond: () => Response.json({ detail: "as detail" }, { status: 500 }) },
    {
      respond: () =>
        Response.json({ error: { message: "no money", code: "insufficient_quota" } }, { status: 429 }),
    },
  ]);
  const errors = [];
  for (let i = 0; i < 7; i++) errors.push((await collect(providerAt(server.url))).last);
  const third = errors[2] as { retryAfter: number };
  assert.ok(third.retryAfter > 30 && third.retryAfter <= 60);
  assert.deepEqual(errors, [
    { type: "error", code: 401, message: "bad key given", retryable: false },
    { type: "error", code: 429, message: "slow down", retryable: true, retryAfter: 7 },
    { type: "error", code: 503, message: "busy", retryable: true, retryAfter: third.retryAfter },
    { type: "error", code: 404, message: "HTTP 404 Not Found", retryable: false },
    { type: "error", code: 400, message: "in a list", retryable: false },
    { type: "error", code: 500, message: "as detail", retryable: true },
    { type: "error", code: 429, message: "no money", retryable: false },
  ]);
});

Deno.test("a key that the server echoes is taken out of the message", async () => {
  await using server = startModel([{
    status: 401,
    error: "Incorrect API key sk-SECRET-1 (Bearer sk-SECRET-1)",
  }, {
    raw: sse({ error: { message: "bad sk-SECRET-1" } }),
  }]);
  for (let i = 0; i < 2; i++) {
    const got = await collect(providerAt(server.url, { apiKey: "sk-SECRET-1" }));
    assert.ok(!JSON.stringify(got.events).includes("SECRET"), JSON.stringify(got.events));
  }
});

Deno.test("an error inside of the stream is an error event", async () => {
  await using server = startModel([
    {
      pieces: [
        sse(chunk({ content: "so" })),
        sse({ error: { message: "overloaded", type: "overloaded_error" } }),
      ],
    },
    { raw: sse({ error: { message: "no such thing", code: 404 } }) },
    { raw: sse({ error: "plain text" }) },
    { raw: 'event: error\ndata: {"message":"named","code":"503"}\n\n' },
  ]);
  assert.deepEqual((await collect(providerAt(server.url))).events, [
    { type: "token", text: "so" },
    { type: "error", code: 0, message: "overloaded", retryable: true },
  ]);
  const rest = [];
  for (let i = 0; i < 3; i++) rest.push((await collect(providerAt(server.url))).last);
  assert.deepEqual(rest, [
    { type: "error", code: 404, message: "no such thing", retryable: false },
    { type: "error", code: 0, message: "plain text", retryable: false },
    { type: "error", code: 503, message: "named", retryable: true },
  ]);
});

Deno.test("a broken event is an error worth another try, and nothing is logged", async () => {
  await using server = startModel([{ raw: "data: {broken\n\n" }]);
  const logged: unknown[] = [];
  const { error } = console;
  console.error = (...args: unknown[]) => logged.push(args);
  try {
    const got = await collect(providerAt(server.url));
    assert.deepEqual(got.last, {
      type: "error",
      code: 0,
      message: "the server sent a broken event",
      retryable: true,
    });
  } finally {
    console.error = error;
  }
  assert.deepEqual(logged, []);
});

Deno.test("a server that answers a streaming request with one JSON object is understood", async () => {
  const message = {
    role: "assistant",
    content: "whole",
    tool_calls: [{ id: "z", type: "function", function: { name: "glob", arguments: '{"pattern":"*"}' } }],
  };
  await using server = startModel([
    {
      respond: () =>
        Response.json({
          choices: [{ index: 0, message, finish_reason: "tool_calls" }],
          usage: { prompt_tokens: 1, completion_tokens: 2 },
        }),
    },
    { respond: () => Response.json({ error: { message: "in JSON", code: 400 } }) },
    { respond: () => Response.json({ hello: 1 }) },
    { respond: () => new Response("<html></html>", { headers: { "content-type": "text/html" } }) },
  ]);
  const got = await collect(providerAt(server.url));
  assert.equal(got.text, "whole");
  assert.deepEqual(got.calls, [{ id: "z", name: "glob", arguments: '{"pattern":"*"}' }]);
  assert.deepEqual(got.last, {
    type: "done",
    finish: "tool_calls",
    usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
  });
  assert.deepEqual((await collect(providerAt(server.url))).last, {
    type: "error",
    code: 400,
    message: "in JSON",
    retryable: false,
  });
  for (let i = 0; i < 2; i++) {
    const last = (await collect(providerAt(server.url))).last as { message: string };
    assert.match(last.message, /check base_url/);
  }
});

Deno.test("stream_options are dropped for a server that refuses them, once and for all", async () => {
  await using server = startModel([
    { status: 400, error: "Unrecognized request argument supplied: stream_options" },
    { content: "fine" },
    { content: "again" },
  ]);
  const provider = providerAt(server.url);
  assert.equal((await collect(provider)).text, "fine");
  assert.equal((await collect(provider)).text, "again");
  assert.deepEqual(server.requests.map((r) => "stream_options" in r.body), [true, false, false]);
});

Deno.test("a temperature, an effort and a token limit that a model refuses are left out or renamed", async () => {
  await using server = startModel([
    { status: 400, error: "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead." },
    { status: 400, error: "temperature does not support 0.2 with this model" },
    { status: 422, error: "reasoning_effort: not supported" },
    { content: "fine" },
  ]);
  const got = await collect(providerAt(server.url), HI, { maxTokens: 9, temperature: 0.2, reasoning: "low" });
  assert.equal(got.text, "fine");
  const { messages: _, stream_options: __, ...last } = server.requests[3]!.body;
  assert.deepEqual(last, { model: "scripted", stream: true, max_completion_tokens: 9 });
});

Deno.test("an ordinary 400 is not asked again", async () => {
  await using server = startModel([{ status: 400, error: "messages: bad role" }, { content: "no" }]);
  const got = await collect(providerAt(server.url));
  assert.equal((got.last as { code: number }).code, 400);
  assert.equal(server.requests.length, 1);
});

Deno.test("a redirect to another host is refused and the key stays here", async () => {
  const seen: string[] = [];
  const other = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, (request) => {
    seen.push(request.headers.get("authorization") ?? "none");
    return new Response("no");
  });
  const { port } = other.addr as Deno.NetAddr;
  const location = `http://127.0.0.1:${port}/v1/chat/completions`;
  await using server = startModel([301, 302, 307, 308].map((status) => ({
    respond: () => new Response(null, { status, headers: { location } }),
  })));
  for (const status of [301, 302, 307, 308]) {
    const got = await collect(providerAt(server.url, { apiKey: "sk-test" }));
    const last = got.last as { code: number; message: string; retryable: boolean };
    assert.equal(last.code, status);
    assert.equal(last.retryable, false);
    assert.ok(last.message.includes(`127.0.0.1:${port}`), last.message);
  }
  assert.deepEqual(seen, []);
  await other.shutdown();
});

Deno.test("a redirect within the origin that keeps the method is followed", async () => {
  await using server = startModel([
    { respond: () => new Response(null, { status: 308, headers: { location: "/v1/elsewhere" } }) },
    { content: "there" },
  ]);
  const got = await collect(providerAt(server.url, { apiKey: "sk-test" }));
  assert.equal(got.text, "there");
  assert.equal(new URL(server.requests[1]!.url).pathname, "/v1/elsewhere");
});

Deno.test("a redirect loop ends", async () => {
  await using server = startModel(Array.from({ length: 20 }, () => ({
    respond: () => new Response(null, { status: 307, headers: { location: "/v1/again" } }),
  })));
  const got = await collect(providerAt(server.url));
  assert.equal(got.last!.type, "error");
  assert.ok(server.requests.length < 10);
});

Deno.test("a server that is not there is an error that names the host and is worth another try", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  listener.close();
  const got = await collect(providerAt(`http://127.0.0.1:${port}/v1`));
  const last = got.last as { code: number; message: string; retryable: boolean };
  assert.equal(last.code, 0);
  assert.equal(last.retryable, true);
  assert.match(last.message, new RegExp(`^cannot reach 127\\.0\\.0\\.1:${port}: .*refused`));
});

Deno.test({
  name: "a run without network permission for the server says so",
  permissions: { net: [], read: true, env: true, sys: true },
  fn: async () => {
    const got = await collect(providerAt("http://127.0.0.1:18999/v1"));
    const last = got.last as { message: string; retryable: boolean };
    assert.match(last.message, /network access to 127\.0\.0\.1:18999 is not allowed/);
    assert.equal(last.retryable, false);
  },
});

Deno.test("a silent server is given up: before the first byte, and within the stream", async () => {
  await using server = startModel([{ content: "late", delay_ms: 2000 }, { content: "word", hang: true }]);
  const first = await collect(providerAt(server.url, { timeout: 50 }));
  assert.match((first.last as { message: string }).message, /gave up on the server: no answer within/);
  const second = await collect(providerAt(server.url, { idle: 50 }));
  assert.equal(second.text, "word");
  assert.match((second.last as { message: string }).message, /gave up on the server: no data for/);
});

Deno.test("a server that never closes after the finish reason does not hang the reply", async () => {
  await using server = startModel([{
    pieces: [sse(chunk({ content: "all" })), sse(chunk({}, "stop"))],
    hang: true,
  }]);
  const got = await collect(providerAt(server.url, { idle: 100 }));
  assert.equal(got.text, "all");
  assert.deepEqual(got.last, { type: "done", finish: "stop" });
});

Deno.test("a stream that stays open after [DONE] ends the reply, and closing does not wait for it", async () => {
  await using server = startModel([{ pieces: replyEvents({ content: "all" }), hang: true }]);
  const got = await collect(providerAt(server.url));
  assert.equal(got.text, "all");
  assert.equal((got.last as { finish: string }).finish, "stop");
});

Deno.test("an event that never ends is given up", async () => {
  const piece = new Uint8Array(1024 * 1024).fill(0x61);
  await using server = startModel([{
    pieces: ["data: ", ...Array.from({ length: 80 }, () => piece)],
    hang: true,
  }]);
  const got = await collect(providerAt(server.url));
  assert.match((got.last as { message: string }).message, /an event that never ends/);
});

Deno.test("one connection serves request after request", async () => {
  const ports = new Set<number>();
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request, info) => {
    ports.add((info.remoteAddr as Deno.NetAddr).port);
    await request.text();
    return new Response(replyEvents({ content: "hi" }).join(""), {
      headers: { "content-type": "text/event-stream" },
    });
  });
  const provider = providerAt(`http://127.0.0.1:${(server.addr as Deno.NetAddr).port}/v1`);
  for (let i = 0; i < 5; i++) {
    let text = "";
    for await (const event of provider.chat(HI, [], { model: "m" })) {
      if (event.type === "token") text += event.text;
    }
    assert.equal(text, "hi");
  }
  await provider.close!();
  assert.equal(ports.size, 1);
  await server.shutdown();
});

Deno.test("half of a character at the end of a delta waits for the other half; one alone is replaced", async () => {
  await using server = startModel([{
    pieces: [
      'data: {"choices":[{"index":0,"delta":{"content":"a\\ud83d"}}]}\n\n',
      'data: {"choices":[{"index":0,"delta":{"content":"\\ude42b"}}]}\n\n',
      'data: {"choices":[{"index":0,"delta":{"content":"\\ud83d"},"finish_reason":"stop"}]}\n\n',
    ],
  }]);
  assert.equal((await collect(providerAt(server.url))).text, "a🙂b\ufffd");
});

Deno.test("odd chunks are passed over and never throw", async () => {
  const odd = [
    null,
    1,
    "text",
    [],
    {},
    { choices: null },
    { choices: [null, 3, { delta: null }] },
    {
      choices: [{ delta: { content: 5, tool_calls: [null, 7, { function: null }, {}] } }],
    },
    { choices: [{ index: 1, delta: { content: "other choice" } }] },
    { usage: { prompt_tokens: "x" } },
  ];
  await using server = startModel([{
    pieces: [...odd.map((item) => sse(JSON.stringify(item))), sse(chunk({ content: "ok" }, "stop"))],
  }]);
  const got = await collect(providerAt(server.url));
  assert.equal(got.text, "ok");
  assert.deepEqual(got.calls, []);
  assert.deepEqual(got.last, { type: "done", finish: "stop" });
});

Deno.test("content as a list of parts, thinking among them", async () => {
  await using server = startModel([{
    pieces: [
      sse(
        chunk({
          content: [{ type: "thinking", thinking: [{ type: "text", text: "hm" }] }, {
            type: "text",
            text: "so",
          }],
        }),
      ),
      sse(chunk({}, "stop")),
    ],
  }]);
  const got = await collect(providerAt(server.url));
  assert.equal(got.thinking, "hm");
  assert.equal(got.text, "so");
});

Deno.test("the package is not loaded before the first request", async () => {
  const code = `import { createOpenAIProvider } from ${
    JSON.stringify(new URL("../../src/provider/openai.ts", import.meta.url).href)
  };
    createOpenAIProvider({ name: "x", model: "m", baseUrl: "http://127.0.0.1:9/v1", apiKey: null });
    console.log(performance.getEntriesByType ? "loaded" : "loaded");`;
  const file = await Deno.makeTempFile({ suffix: ".ts" });
  await Deno.writeTextFile(file, code);
  const config = decodeURIComponent(new URL("../../deno.json", import.meta.url).pathname);
  // The package is not even to be found with this DENO_DIR and --cached-only: only a load would notice.
  const empty = await Deno.makeTempDir();
  const run = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-check", "--cached-only", "--no-lock", "--config", config, file],
    env: { DENO_DIR: empty, NO_COLOR: "1" },
  }).output();
  await Deno.remove(file);
  await Deno.remove(empty, { recursive: true });
  assert.equal(new TextDecoder().decode(run.stdout).trim(), "loaded", new TextDecoder().decode(run.stderr));
});

Deno.test("listModels names what the server offers, and says what is wrong", async () => {
  await using server = startModel();
  server.models = ["one", "two"];
  assert.deepEqual(await listModels({ baseUrl: server.url, apiKey: null }), ["one", "two"]);
  await assert.rejects(
    listModels({ baseUrl: "http://127.0.0.1:1/v1", apiKey: null }),
    /cannot reach 127\.0\.0\.1:1/,
  );
});

Deno.test("thinking is sent back only where the server wants it", async () => {
  await using server = startModel([{ content: "a" }, { content: "b" }]);
  const history: ChatMessage[] = [
    { role: "user", content: "q" },
    { role: "assistant", content: "x", thinking: "deep" },
    { role: "user", content: "q2" },
  ];
  await collect(providerAt(server.url), history);
  await collect(providerAt(server.url, { thinkingField: "reasoning" }), history);
  assert.deepEqual(server.requests[0]!.body.messages[1], { role: "assistant", content: "x" });
  assert.deepEqual(server.requests[1]!.body.messages[1], {
    role: "assistant",
    content: "x",
    reasoning: "deep",
  });
});
