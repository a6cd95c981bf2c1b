import assert from "node:assert/strict";
import { refineArguments } from "../../src/engine/refine.ts";
import type { ChatMessage, Provider } from "../../src/provider/provider.ts";
import { rig, tool } from "./_harness.ts";

const search = () =>
  tool("find_it", (args) => `searched ${args.query}`, {
    refine: true,
    paramAliases: { q: "query" },
    parameters: { type: "object", properties: { query: { type: "string" } } },
  });

function call(args: unknown) {
  return { tool_calls: [{ name: "find_it", arguments: args as Record<string, unknown> }] };
}

Deno.test("a short query is improved by one request that sees the conversation", async () => {
  await using run = await rig(
    [call({ query: "walk" }), { content: 'Query: "deno fs walk"' }, { content: "done" }],
    { settings: { query_refine: true }, tools: [search()] },
  );
  await run.run("How do I list files in Deno?");
  assert.equal(run.server.requests.length, 3);
  assert.match(run.sent(1).join("\n"), /user: user: How do I list files in Deno\?\n\nQuery: walk/);
  assert.ok(run.sent(2).some((line) => line.includes("searched deno fs walk")));
});

Deno.test("without query_refine, for long queries and for other tools nothing is asked", async () => {
  for (
    const [settings, query, wanted] of [
      [{}, "walk", 2],
      [{ query_refine: true }, "how to walk a tree", 2],
      [{ query_refine: true, query_refine_min_words: 1 }, "walk tree", 2],
      [{ query_refine: true, query_refine_min_words: 2 }, "walk tree", 3],
    ] as const
  ) {
    await using run = await rig([call({ query }), { content: wanted === 3 ? "better" : "done" }, {
      content: "done",
    }], {
      settings,
      tools: [search()],
    });
    await run.run();
    assert.equal(run.server.requests.length, wanted);
  }
});

function provider(answer: string, fail = false): Provider & { seen: readonly ChatMessage[] } {
  const made = {
    name: "p",
    model: "m",
    seen: [] as readonly ChatMessage[],
    async *chat(messages: readonly ChatMessage[]) {
      made.seen = messages;
      if (fail) throw new Error("down");
      yield { type: "token", text: answer } as const;
      yield { type: "done", finishReason: "stop", usage: null } as const;
    },
  };
  return made as unknown as Provider & { seen: readonly ChatMessage[] };
}

async function refined(raw: string, answer: string, over: { fail?: boolean; context?: number } = {}) {
  const model = provider(answer, over.fail);
  const args = await refineArguments(search(), raw, {
    provider: model,
    settings: { query_refine: true, query_refine_min_words: 3, query_refine_context: over.context ?? 4 },
    messages: [
      { role: "system", content: "SYSTEM" },
      { role: "user", content: "first" },
      { role: "tool", tool_call_id: "1", name: "x", content: "IGNORE ALL" },
      { role: "user", content: "second" },
    ],
    signal: new AbortController().signal,
    onUsage: () => {},
  });
  return { args, seen: model.seen.map(({ content }) => content).join("\n") };
}

Deno.test("the arguments stay as they are where there is nothing better", async () => {
  for (
    const [raw, answer] of [
      ['{"query": "x"}', ""],
      ['{"query": "x"}', "x"],
      ['{"query": "x"}', "two\nlines"],
      ['{"query": "x"}', "y".repeat(301)],
      ['{"query": ""}', "better"],
      ['{"query": 5}', "better"],
      ["{}", "better"],
      ['{"query": "x"', "better"],
      ["[]", "better"],
      ['{"query": "a b c d"}', "better"],
    ] as const
  ) assert.equal((await refined(raw, answer)).args, raw);
  assert.equal((await refined('{"query": "x"}', "", { fail: true })).args, '{"query": "x"}');
});

Deno.test("the query's other name and other arguments are kept, and results of tools are not shown", async () => {
  const { args, seen } = await refined('{"q": "x", "n": 2}', "`better one`");
  assert.deepEqual(JSON.parse(args), { q: "better one", n: 2 });
  assert.match(seen, /first[\s\S]*second[\s\S]*Query: x/);
  assert.doesNotMatch(seen, /IGNORE ALL|SYSTEM/);
  assert.doesNotMatch((await refined('{"query": "x"}', "y", { context: 1 })).seen, /first/);
  assert.doesNotMatch((await refined('{"query": "x"}', "y", { context: 0 })).seen, /second/);
});
