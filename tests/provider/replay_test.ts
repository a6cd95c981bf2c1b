import assert from "node:assert/strict";
import { ConfigError, EXIT } from "../../src/errors.ts";
import type { ChatMessage, Provider } from "../../src/provider/provider.ts";
import { createReplayProvider, DriftError, recordProvider } from "../../src/provider/replay.ts";
import { startModel } from "../helpers/model_server.ts";
import { makeWorktree, type TestTree } from "../helpers/worktree.ts";
import { HI, providerAt } from "./_collect.ts";

const RESULT = (content: string): ChatMessage => ({
  role: "tool",
  tool_call_id: "a",
  name: "file_read",
  content,
});
const CALLED: ChatMessage = {
  role: "assistant",
  content: null,
  tool_calls: [{ id: "a", name: "file_read", arguments: "{}" }],
};

/** Texts and last event of one reply; the provider stays open. */
async function ask(provider: Provider, messages: readonly ChatMessage[] = HI, signal?: AbortSignal) {
  let text = "", thinking = "", calls: readonly { name: string; arguments: string }[] = [], last;
  for await (const event of provider.chat(messages, [], { model: provider.model, signal })) {
    if (event.type === "token") text += event.text;
    else if (event.type === "thinking") thinking += event.text;
    else if (event.type === "tool_calls") calls = event.calls;
    else last = event;
  }
  return { text, thinking, calls, last };
}

function write(tree: TestTree, ...lines: unknown[]): string {
  const file = `${tree.root}/recording.jsonl`;
  Deno.writeTextFileSync(file, lines.map((l) => typeof l === "string" ? l : JSON.stringify(l)).join("\n"));
  return file;
}

const isDrift = (pattern: RegExp) => (error: unknown) => {
  assert.ok(error instanceof DriftError);
  assert.equal(error.exitCode, EXIT.drift);
  assert.match(error.message, pattern);
  assert.ok(!error.message.includes("\n"));
  return true;
};

Deno.test("a recording by hand is played without any expectation", async () => {
  using tree = makeWorktree();
  const file = write(
    tree,
    "// comments and empty lines are passed over",
    "",
    { thinking: "hm", tool_calls: [{ name: "file_read", arguments: { path: "a.txt" } }] },
    { content: "It says hello.", usage: { prompt_tokens: 3, completion_tokens: 2 } },
  );
  const provider = createReplayProvider(file);
  const first = await ask(provider);
  assert.equal(first.thinking, "hm");
  assert.deepEqual(first.calls, [{ id: "call_1_1", name: "file_read", arguments: '{"path":"a.txt"}' }]);
  assert.deepEqual(first.last, { type: "done", finish: "tool_calls" });
  const second = await ask(provider, [...HI, CALLED, RESULT("whatever")]);
  assert.equal(second.text, "It says hello.");
  assert.deepEqual(second.last, {
    type: "done",
    finish: "stop",
    usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
  });
  await provider.close!();
});

Deno.test("what was recorded from a server is played back the same", async () => {
  using tree = makeWorktree();
  const file = `${tree.root}/recording.jsonl`;
  await using server = startModel([
    {
      reasoning: "look",
      content: "I read.",
      tool_calls: [{ id: "a", name: "file_read", arguments: { path: `${tree.work}/a.txt` } }],
    },
    { status: 429, error: "slow", headers: { "retry-after": "1" } },
    { content: `It is in ${tree.work}.` },
  ]);
  const turns: ChatMessage[][] = [
    [...HI],
    [...HI, CALLED, RESULT(`${tree.work}/a.txt took 12ms at 2026-01-02T03:04:05Z`)],
    [...HI, CALLED, RESULT(`${tree.work}/a.txt took 12ms at 2026-01-02T03:04:05Z`)],
  ];
  const recorder = recordProvider(providerAt(server.url), file, { worktree: tree.work });
  const recorded = [];
  for (const messages of turns) recorded.push(await ask(recorder, messages));
  await recorder.close!();

  const text = Deno.readTextFileSync(file);
  assert.ok(!text.includes(tree.work));
  assert.equal(text.trim().split("\n").length, 4);
  if (Deno.build.os !== "windows") assert.equal(Deno.statSync(file).mode! & 0o777, 0o600);

  // Another worktree, other times: still no drift.
  const moved = turns.map((messages) =>
    messages.map((m) => ({
      ...m,
      content:
        m.content?.replaceAll(tree.work, "/elsewhere/w").replace("12ms", "7ms").replace("03:04", "11:12") ??
          null,
    } as ChatMessage))
  );
  const player = createReplayProvider(file, { worktree: "/elsewhere/w" });
  assert.equal(player.model, "scripted");
  const played = [];
  for (const messages of moved) played.push(await ask(player, messages));
  await player.close!();
  assert.deepEqual(JSON.parse(JSON.stringify(played).replaceAll("/elsewhere/w", tree.work)), recorded);
});

Deno.test("another tool result is drift, reported by its first difference, with exit 4", async () => {
  using tree = makeWorktree();
  const file = write(tree, {
    content: "x",
    expect: [{ role: "tool", name: "file_read", text: "one\ntwo\nthree" }],
  });
  const provider = createReplayProvider(file);
  const { last } = await ask(provider, [...HI, CALLED, RESULT("one\nTWO\nthree")]);
  assert.deepEqual(last, {
    type: "error",
    code: 0,
    message:
      'replay drift: exchange 1 (line 1): the result of file_read differs in line 2: recorded "two", now "TWO"',
    retryable: false,
  });
  await assert.rejects(() => provider.close!(), isDrift(/recording\.jsonl: exchange 1 \(line 1\)/));
});

Deno.test("a long text is kept as head, length and digest; a change at its end is found", async () => {
  using tree = makeWorktree();
  const file = `${tree.root}/r.jsonl`;
  const long = "line of text\n".repeat(2000);
  await using server = startModel([{ content: "a" }]);
  const recorder = recordProvider(providerAt(server.url), file);
  await ask(recorder, [...HI, CALLED, RESULT(long)]);
  await recorder.close!();
  assert.ok(Deno.statSync(file).size < 2000);
  const same = createReplayProvider(file);
  assert.equal((await ask(same, [...HI, CALLED, RESULT(long)])).text, "a");
  await same.close!();
  const other = createReplayProvider(file);
  await ask(other, [...HI, CALLED, RESULT(`${long.slice(0, -2)}X\n`)]);
  await assert.rejects(() => other.close!(), isDrift(/differs after its first 400 characters/));
});

Deno.test("expectations by substring look at what came since the last reply", async () => {
  using tree = makeWorktree();
  const file = write(
    tree,
    { content: "x", expect: ["hello", { role: "tool", name: "file_read", has: "lo wor" }] },
    { content: "y", expect: "nowhere" },
  );
  const provider = createReplayProvider(file);
  assert.equal((await ask(provider, [...HI, CALLED, RESULT("hello world")])).text, "x");
  await ask(provider, [...HI, CALLED, RESULT("hello world")]);
  await assert.rejects(
    () => provider.close!(),
    isDrift(
      /exchange 2 \(line 2\): what came since the last reply lacks "nowhere"; got the result of file_read "hello world"/,
    ),
  );
});

Deno.test("another number of results, or another tool, is drift", async () => {
  using tree = makeWorktree();
  const expect = [{ role: "tool", name: "file_read", text: "a" }];
  const more = createReplayProvider(write(tree, { content: "x", expect }));
  await ask(more, [...HI, CALLED, RESULT("a"), RESULT("b")]);
  await assert.rejects(
    () => more.close!(),
    isDrift(/expects 1 message \(file_read\), got 2 \(file_read, file_read\)/),
  );
  const other = createReplayProvider(write(tree, { content: "x", expect }));
  await ask(other, HI);
  await assert.rejects(
    () => other.close!(),
    isDrift(/expects a message of file_read, got the user's message "hi"/),
  );
});

Deno.test("a request too many and an exchange too few are drift", async () => {
  using tree = makeWorktree();
  const file = write(tree, { content: "x" });
  const many = createReplayProvider(file);
  await ask(many);
  assert.equal((await ask(many)).last!.type, "error");
  await assert.rejects(() => many.close!(), isDrift(/has 1 exchange, but the run asks for one more/));
  const few = createReplayProvider(file);
  await assert.rejects(() => few.close!(), isDrift(/1 exchange was never asked for \(from line 1 on\)/));
});

Deno.test("a cancelled replay is no drift", async () => {
  using tree = makeWorktree();
  const provider = createReplayProvider(write(tree, { content: "x" }));
  assert.deepEqual((await ask(provider, HI, AbortSignal.abort())).last, {
    type: "done",
    finish: "cancelled",
  });
  await provider.close!();
});

Deno.test("errors are recorded and played", async () => {
  using tree = makeWorktree();
  const provider = createReplayProvider(
    write(tree, { content: "so far", error: { code: 503, message: "busy", retryable: true } }),
  );
  const { text, last } = await ask(provider);
  assert.equal(text, "so far");
  assert.deepEqual(last, { type: "error", code: 503, message: "busy", retryable: true });
});

Deno.test("a broken recording names file and line", () => {
  using tree = makeWorktree();
  const broken: [unknown[], RegExp][] = [
    [[{ content: "x" }, "{oops"], /recording\.jsonl:2: not JSON/],
    [["[1]"], /:1: expected a JSON object/],
    [[{ type: "recording", version: 2 }], /:1: version 2 is not known/],
    [[{ contnt: "x" }], /:1: unknown key "contnt"/],
    [[{ content: 5 }], /:1: "content" must be text/],
    [[{ tool_calls: [{ arguments: {} }] }], /must be an object with a "name"/],
    [[{ tool_calls: [{ name: "a", arguments: [1] }] }], /"arguments" of a must be an object/],
    [[{ finish: "done" }], /"finish" must be one of stop/],
    [[{ usage: 5 }], /"usage" must be an object/],
    [[{ expect: [5] }], /"expect" must be text/],
    [[{ expect: [{ role: "cook" }] }], /"role" must be "user" or "tool"/],
    [[{ error: {} }], /"error" must be an object with a "message"/],
    [[{ type: "other" }], /type "other" is not known/],
    [[""], /holds no exchange/],
  ];
  for (const [lines, pattern] of broken) {
    assert.throws(() => createReplayProvider(write(tree, ...lines)), (error: unknown) => {
      assert.ok(error instanceof ConfigError, String(error));
      assert.match(error.message, pattern);
      return true;
    });
  }
  assert.throws(() => createReplayProvider(`${tree.root}/missing`), ConfigError);
  assert.throws(
    () => recordProvider(providerAt("http://127.0.0.1:1/v1"), `${tree.root}/no/such/dir/x`),
    ConfigError,
  );
});

Deno.test("conversations that ran beside each other are played in whatever order they ask, each in its own", async () => {
  using tree = makeWorktree();
  const file = `${tree.root}/recording.jsonl`;
  const started = (
    task: string,
  ): ChatMessage[] => [{ role: "user", content: `${task} of sub_20261130_235959_a1b2c3` }];
  const later = (task: string, session: string): ChatMessage[] => [
    { role: "user", content: `${task} of ${session}` },
    CALLED,
    RESULT("the same for all"),
  ];
  const inner: Provider = {
    name: "inner",
    model: "m",
    async *chat(messages) {
      await Promise.resolve();
      yield { type: "token", text: `${messages.length}: ${messages[0]!.content!.slice(0, 6)}` };
      yield { type: "done", finish: "stop" };
    },
  };
  const recorder = recordProvider(inner, file);
  await ask(recorder);
  const tasks = ["task a", "task b", "task c"];
  for (const task of tasks) await ask(recorder, started(task));
  for (const task of [...tasks].reverse()) await ask(recorder, later(task, "sub_20261130_235959_a1b2c3"));
  await ask(recorder, [...HI, CALLED, RESULT("all done")]);
  await recorder.close!();

  for (const order of [[0, 1, 2], [2, 0, 1], [1, 2, 0]]) {
    const replay = createReplayProvider(file);
    await ask(replay);
    const said = await Promise.all(order.map(async (i) => {
      const first = await ask(replay, started(tasks[i]!));
      return [first.text, (await ask(replay, later(tasks[i]!, "sub_20270101_000000_zzzzzz"))).text];
    }));
    assert.deepEqual(said, order.map((i) => [`1: ${tasks[i]}`, `3: ${tasks[i]}`]), String(order));
    assert.match((await ask(replay, [...HI, CALLED, RESULT("all done")])).text, /^\d: /);
    await replay.close!();
  }

  const early = createReplayProvider(file);
  await ask(early);
  await ask(early, started("task b"));
  await ask(early, [...HI, CALLED, RESULT("all done")]);
  await assert.rejects(early.close!(), isDrift(/exchange 2 \(line 3\)/));
});
