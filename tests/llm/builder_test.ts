import assert from "node:assert/strict";
import {
  type Block,
  Llm,
  Message,
  openLlm,
  type Provider,
  type ProviderEvent,
  ReasonError,
  scriptedProvider,
} from "../../src/llm/mod.ts";
import { defineTool, ProviderError, type Tool, tool, ToolRegistry, toolset } from "../../src/lib.ts";
import { startModel } from "../helpers/model_server.ts";

function echo(name: string): Tool {
  return defineTool({
    name,
    description: `Echo ${name}.`,
    parameters: {
      type: "object",
      properties: { text: { type: "string", description: "The text.", default: "hi" } },
      required: ["text"],
    },
    execute: ({ text }) => `<${text}>`,
  });
}

/** A provider whose events are given. */
function events(...list: (ProviderEvent | Error)[]): Provider & { asked: number } {
  const provider = {
    name: "given",
    model: "given",
    asked: 0,
    async *chat(): AsyncGenerator<ProviderEvent> {
      provider.asked++;
      for (const event of list) {
        await Promise.resolve();
        if (event instanceof Error) throw event;
        yield event;
      }
    },
  };
  return provider;
}

Deno.test("a request carries the system's text first, then the messages, and the tools of registry, tool and toolset", async () => {
  @toolset
  class Set {
    @tool({ description: "Third.", parameters: { type: "object", properties: {} } })
    third(): string {
      return "";
    }
  }
  const provider = scriptedProvider([{ text: "ok" }]);
  const registry = new ToolRegistry().register(echo("first"));
  await new Llm(provider).builder()
    .withRegistry(registry)
    .user("before")
    .withTool(echo("second"))
    .withToolset(new Set())
    .messages([Message.assistant("said"), Message.user("more")])
    .system("You are helpful.")
    .system("Be brief.")
    .generate();
  const [request] = provider.requests;
  assert.deepEqual(request!.messages, [
    { role: "system", content: "You are helpful.\n\nBe brief." },
    { role: "user", content: "before" },
    { role: "assistant", content: "said" },
    { role: "user", content: "more" },
  ]);
  assert.deepEqual(request!.tools.map(({ name }) => name), ["first", "second", "third"]);
  assert.deepEqual(request!.tools[0]!.parameters.required, [], "a parameter with a default is not required");
  assert.deepEqual(request!.tools[0], registry.definitions()[0]);
  assert.equal(request!.options.model, "scripted");
});

Deno.test("two tools of one name are an error, the same tool twice is not", () => {
  const one = echo("one"), llm = new Llm(scriptedProvider([]));
  llm.builder().withTool(one).withRegistry(new ToolRegistry().register(one));
  assert.throws(
    () => llm.builder().withTool(one).withTool(echo("one")),
    /Cannot add the tool "one": another tool/,
  );
});

Deno.test("a policy takes denied tools out of the request", async () => {
  const provider = scriptedProvider([{ text: "ok" }]);
  const registry = new ToolRegistry().register(echo("one")).register(echo("two"));
  const policy = { allowed: ({ name }: Tool) => ({ action: name === "one" ? "deny" : "ask" }) };
  await new Llm(provider).builder().withRegistry(registry, policy).generate();
  assert.deepEqual(provider.requests[0]!.tools.map(({ name }) => name), ["two"]);
});

Deno.test("a response has text, thinking, calls and blocks in order", async () => {
  const provider = scriptedProvider([{
    thinking: "hm hm",
    text: "I will look.",
    calls: [{ name: "one", arguments: { text: "a" } }, { id: "x", name: "two", arguments: "{broken" }],
  }]);
  const response = await new Llm(provider).builder().user("go").generate();
  assert.equal(response.text(), "I will look.");
  assert.equal(response.thinking(), "hm hm");
  assert.ok(response.hasToolCalls());
  assert.equal(response.finish, "tool_calls");
  assert.deepEqual(response.toolCalls(), [
    { type: "tool_call", id: "call_1", function: { name: "one", arguments: '{"text":"a"}' } },
    { type: "tool_call", id: "x", function: { name: "two", arguments: "{broken" } },
  ]);
  assert.deepEqual(response.content.map(({ type }) => type), ["thinking", "text", "tool_call", "tool_call"]);
});

Deno.test("blocks become the message that the engine would send, and a result gets its call's name", async () => {
  const blocks: Block[] = [
    { type: "thinking", text: "t" },
    { type: "text", text: "look" },
    { type: "tool_call", id: "7", function: { name: "read_file", arguments: "{}" } },
  ];
  assert.deepEqual(Message.assistantFromBlocks(blocks), {
    role: "assistant",
    content: "look",
    thinking: "t",
    tool_calls: [{ id: "7", name: "read_file", arguments: "{}" }],
  });
  assert.equal(Message.assistantFromBlocks(blocks.slice(2)).content, null);
  const provider = scriptedProvider([{ text: "done" }, { text: "again" }]);
  const request = new Llm(provider).builder().messages([
    Message.user("go"),
    Message.assistantFromBlocks(blocks),
    Message.toolResult("7", { lines: 3 }),
    Message.toolResult("8", ""),
  ]);
  await request.generate();
  assert.deepEqual(provider.requests[0]!.messages.slice(2), [
    { role: "tool", tool_call_id: "7", name: "read_file", content: '{"lines":3}' },
    { role: "tool", tool_call_id: "8", name: "unknown", content: "(no output)" },
  ]);
  assert.equal((await request.generate()).text(), "again", "a request can be made again");
});

Deno.test("reason without tools is a NoTools error, and nothing is asked", async () => {
  const provider = scriptedProvider([{ text: "ok" }]);
  for (
    const request of [
      new Llm(provider).builder(),
      new Llm(provider).builder().withRegistry(new ToolRegistry()),
    ]
  ) {
    await assert.rejects(
      request.user("What files are in the current directory?").reason(),
      (error) => error instanceof ReasonError && error.kind === "NoTools",
    );
  }
  assert.equal(provider.requests.length, 0);
  assert.equal((await new Llm(provider).builder().withTool(echo("one")).reason()).text(), "ok");
});

Deno.test("a failed reason is a Generation error around what generate throws", async () => {
  const llm = new Llm(scriptedProvider([{ error: "overloaded" }, { error: "overloaded" }]));
  await assert.rejects(
    llm.builder().withTool(echo("one")).reason(),
    (error) =>
      error instanceof ReasonError && error.kind === "Generation" &&
      error.message === "generation failed: overloaded" &&
      error.cause instanceof ProviderError,
  );
  await assert.rejects(llm.builder().user("x").generate(), (error) => error instanceof ProviderError);
});

Deno.test("an answer that breaks off is an error, one that hits the token limit is an answer", async () => {
  const cut = new Llm(events({ type: "token", text: "half" }));
  await assert.rejects(cut.builder().generate(), /ended before a completion event/);
  const long = new Llm(events({ type: "token", text: "half" }, { type: "done", finish: "length" }));
  const response = await long.builder().generate();
  assert.deepEqual([response.text(), response.finish], ["half", "length"]);
  const thrown = new Llm(events(new Error("bug")));
  await assert.rejects(thrown.builder().generate(), (error: ProviderError) => error.message === "bug");
});

Deno.test("a busy server is asked again, as often as the request says", async () => {
  const busy: ProviderEvent = { type: "error", code: 503, message: "busy", retryable: true };
  const provider = events(busy), llm = new Llm(provider, { retryDelay: 0.001 });
  await assert.rejects(llm.builder().generate(), (error: ProviderError) => error.code === 503);
  assert.equal(provider.asked, 3);
  await assert.rejects(llm.builder().with({ retries: 0 }).generate());
  assert.equal(provider.asked, 4);
});

Deno.test("a stream hands out the pieces as they come, then the whole", async () => {
  const llm = new Llm(scriptedProvider([{ thinking: "hm", text: "one two three" }]));
  const stream = llm.builder().user("count").stream();
  const pieces: string[] = [];
  for await (const { type, text } of stream) pieces.push(`${type}:${text}`);
  assert.deepEqual(pieces, ["thinking:hm", "text:one ", "text:two ", "text:three"]);
  assert.equal((await stream.response()).text(), "one two three");
  await assert.rejects(async () => {
    for await (const _ of stream) { /* nothing comes */ }
  }, /read a stream twice/);
});

Deno.test("the whole of a stream can be had without reading its pieces", async () => {
  const provider = scriptedProvider([{ text: "all" }]);
  const stream = new Llm(provider).builder().stream();
  assert.equal(provider.requests.length, 0, "nothing is asked before anything is taken");
  assert.equal((await stream.response()).text(), "all");
});

Deno.test("a stream that fails hands out what came, then throws", async () => {
  const llm = new Llm(events({ type: "token", text: "half" }, {
    type: "error",
    code: 500,
    message: "broke",
    retryable: true,
  }));
  const pieces: string[] = [];
  await assert.rejects(async () => {
    for await (const { text } of llm.builder().stream()) pieces.push(text);
  }, (error: ProviderError) => error.code === 500);
  assert.deepEqual(pieces, ["half"]);
});

Deno.test("leaving the loop ends the request", async () => {
  const server = startModel([{ content: "hello", hang: true }]);
  await using _ = server;
  const llm = openLlm({ baseUrl: server.url, model: "m", apiKey: "k" });
  const stream = llm.builder().user("x").stream();
  for await (const { text } of stream) {
    assert.ok(text.length > 0);
    break;
  }
  await assert.rejects(stream.response(), { name: "AbortError" });
  await llm.close();
});

Deno.test("an aborted request throws what it was aborted with", async () => {
  const llm = new Llm(scriptedProvider([{ text: "x" }]));
  const reason = new Error("enough");
  await assert.rejects(llm.builder().with({ signal: AbortSignal.abort(reason) }).generate(), reason);
});

Deno.test("any server with the Chat Completions API can be asked", async () => {
  await using server = startModel([{
    content: "Paris",
    tool_calls: [{ id: "a", name: "one", arguments: { text: "b" } }],
  }]);
  const llm = openLlm({ baseUrl: server.url, model: "m", apiKey: "secret", maxTokens: 50 });
  const response = await llm.builder().withTool(echo("one")).system("s").user("u").reason();
  assert.equal(response.text(), "Paris");
  assert.equal(response.toolCalls()[0]!.function.name, "one");
  assert.ok(response.usage!.total_tokens > 0);
  const [request] = server.requests;
  assert.equal(request!.headers.get("authorization"), "Bearer secret");
  assert.equal(request!.body.model, "m");
  assert.equal(request!.body.max_tokens, 50);
  assert.deepEqual(request!.body.messages.map((message: { role: string }) => message.role), [
    "system",
    "user",
  ]);
  assert.equal(request!.body.tools[0].function.name, "one");
  await llm.close();
});
