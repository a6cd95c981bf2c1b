import assert from "node:assert/strict";
import {
  deleteSession,
  exportSession,
  listSessions,
  readSession,
  sessionNames,
  verifySession,
} from "../../src/session/store.ts";
import { open, sessionTree, turn, writeSample } from "./_session.ts";

const at = "2026-05-06T07:08:09.010Z";
const clock = (): Date => new Date(at);

Deno.test("the session object has every member of the format, in memory and from disk alike", async () => {
  using tree = sessionTree();
  const session = await open(tree.place, { clock, role: "planner", parentId: "ab12cd" });
  assert.equal(session.startTurn(turn), 1);
  session.text("thinking", "hm", 1);
  session.toolStart({ id: "a", tool: "view", input: { path: "a.txt", limit: 5 }, round: 1 });
  const entry = {
    ...{ tool: "file_read", action: "allow", decision: "granted", timestamp: at } as const,
    ...{ rule: "tool_permission.read", reason: "allowed", path: "a.txt" },
  };
  session.permission(entry);
  session.toolEnd({ id: "a", output: "# a.txt", is_error: false, analysis: "short" });
  session.text("text", "done", 2);
  session.error("team_cycle", "a -> b -> a");
  session.subSession("sub_1");
  session.command("/compact", "what was said", 1);
  session.endTurn("truncated", { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 });
  const expected = {
    session_name: "s",
    session_id: session.id,
    turns: [{
      index: 1,
      started_at: at,
      ended_at: at,
      status: "truncated",
      model: "m",
      provider: "p",
      mode: "build",
      reasoning: "auto",
      usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
      parts: [
        { type: "user", text: "hello", timestamp: at },
        { type: "thinking", text: "hm", timestamp: at, round: 1 },
        {
          type: "tool",
          id: "a",
          tool: "view",
          input: { path: "a.txt", limit: 5 },
          output: "# a.txt",
          is_error: false,
          analysis: "short",
          timestamp: at,
          round: 1,
          status: "ok",
        },
        { type: "text", text: "done", timestamp: at, round: 2 },
        { type: "command", text: "/compact", summary: "what was said", compact_from: 1, timestamp: at },
      ],
    }],
    errors: [{ code: "team_cycle", message: "a -> b -> a", timestamp: at }],
    permissions: [entry],
    created_at: at,
    updated_at: at,
    parent_id: "ab12cd",
    sub_sessions: ["sub_1"],
    role: "planner",
    version: 1,
  };
  assert.deepEqual(session.object(), expected);
  session.close();
  assert.deepEqual(await readSession(tree.place, "s"), expected);
});

Deno.test("a record is on disk when the call that writes it returns", async () => {
  using tree = sessionTree();
  const session = await open(tree.place);
  const last = (): string => JSON.parse(tree.lines("s").at(-1)!).type;
  assert.equal(last(), "session");
  session.startTurn(turn);
  assert.equal(last(), "turn");
  session.toolStart({ id: "a", tool: "grep", input: {}, round: 1 });
  assert.equal(last(), "call");
  session.toolEnd({ id: "a", output: "", is_error: false });
  assert.equal(last(), "result");
  session.endTurn("ok", null);
  assert.equal(last(), "end");
  session.close();
});

Deno.test("a call without a result is an interrupted error, and its turn cancelled at the last record", async () => {
  using tree = sessionTree();
  const session = await open(tree.place);
  session.startTurn(turn);
  session.toolStart({ id: "a", tool: "run_command", input: { command: "sleep 9" }, round: 1 });
  const running = session.object().turns[0]!;
  assert.deepEqual([running.status, running.ended_at], ["running", null]);
  assert.equal((running.parts[1] as { status: string }).status, "running");
  session.close();
  const { turns, updated_at } = await readSession(tree.place, "s");
  assert.deepEqual([turns[0]!.status, turns[0]!.ended_at], ["cancelled", updated_at]);
  const { output, is_error, status } = turns[0]!.parts[1] as {
    output: string;
    is_error: boolean;
    status: string;
  };
  assert.deepEqual({ output, is_error, status }, { output: "", is_error: true, status: "interrupted" });
  const resumed = await open(tree.place);
  const before = resumed.object().turns[0]!;
  assert.deepEqual([before.status, (before.parts[1] as { status: string }).status], [
    "cancelled",
    "interrupted",
  ]);
  assert.equal(resumed.startTurn(turn), 2);
  resumed.endTurn("ok", null);
  assert.deepEqual(resumed.object().turns.map((t) => t.status), ["cancelled", "ok"]);
  resumed.close();
});

Deno.test("results come to the right calls: out of order, and in order where an id was used twice", async () => {
  using tree = sessionTree();
  const session = await open(tree.place);
  session.startTurn(turn);
  for (const [id, tool] of [["a", "t1"], ["b", "t2"], ["a", "t3"]] as const) {
    session.toolStart({ id, tool, input: {}, round: 1 });
  }
  session.toolEnd({ id: "b", output: "two", is_error: false });
  session.toolEnd({ id: "a", output: "one", is_error: false });
  session.toolEnd({ id: "a", output: "three", is_error: false });
  assert.throws(() => session.toolEnd({ id: "a", output: "four", is_error: false }), {
    message: /no tool call "a"/,
  });
  session.close();
  const outputs = (await readSession(tree.place, "s")).turns[0]!.parts.flatMap((p) =>
    p.type === "tool" ? [p.output] : []
  );
  assert.deepEqual(outputs, ["one", "two", "three"]);
});

Deno.test("results of noise tools are left out by canonical name, with a line that says how to fetch them", async () => {
  using tree = sessionTree();
  const canonicalName = (name: string): string => ["open", "fetch_page"].includes(name) ? "web_fetch" : name;
  const page = "PAGE ".repeat(1000);
  for (const [i, noiseTools] of [["web_fetch"], ["open"], ["fetch_page", "x"]].entries()) {
    const name = `s${i}`, session = await open(tree.place, { name, noiseTools, canonicalName });
    session.startTurn(turn);
    for (const tool of ["web_fetch", "open", "fetch_page", "file_read"]) {
      session.toolStart({ id: tool, tool, input: { url: "http://a/" }, round: 1 });
      session.toolEnd({ id: tool, output: page, is_error: false });
    }
    session.toolStart({ id: "e", tool: "open", input: {}, round: 2 });
    session.toolEnd({ id: "e", output: "Error: no page", is_error: true });
    session.close();
    const outputs = (await readSession(tree.place, name)).turns[0]!.parts.flatMap((p) =>
      p.type === "tool" ? [p.output] : []
    );
    for (const output of outputs.slice(0, 3)) {
      assert.match(output, /web_fetch.*5,000 characters.*call web_fetch again with \{"url":"http:\/\/a\/"\}/);
    }
    assert.deepEqual(outputs.slice(3), [page, "Error: no page"]);
    assert.doesNotMatch(tree.lines(name).slice(0, 4).join(), /PAGE/);
  }
});

Deno.test("a result over the cap is cut in the log between characters, with its sizes", async () => {
  using tree = sessionTree();
  const session = await open(tree.place, { maxToolChars: 10 });
  session.startTurn(turn);
  for (const [id, output] of [["a", "0123456789"], ["b", "0123456789x"], ["c", "012345678😀x"]] as const) {
    session.toolStart({ id, tool: "t", input: {}, round: 1 });
    session.toolEnd({ id, output, is_error: false });
  }
  const outputs = session.object().turns[0]!.parts.flatMap((p) => p.type === "tool" ? [p.output] : []);
  session.close();
  assert.equal(outputs[0], "0123456789");
  assert.equal(outputs[1], "0123456789… (truncated from 11 chars)");
  assert.equal(outputs[2], "012345678… (truncated from 12 chars)");
});

Deno.test("text survives: line separators, lone surrogates, controls, member names that look special", async () => {
  using tree = sessionTree();
  const text = "a\u2028b\r\n\0\x1b[31m\ud800\uffff😀",
    input = JSON.parse('{"__proto__":{"x":1},"constructor":"c","":[null]}');
  const session = await open(tree.place);
  session.startTurn({ ...turn, prompt: text });
  session.toolStart({ id: "__proto__", tool: "constructor", input, round: 1 });
  session.toolEnd({ id: "__proto__", output: text, is_error: false });
  session.close();
  const [user, tool] = (await readSession(tree.place, "s")).turns[0]!.parts;
  assert.equal((user as { text: string }).text, text);
  assert.equal(JSON.stringify((tool as { input: unknown }).input), JSON.stringify(input));
  assert.equal((tool as { output: string }).output, text);
  assert.equal((await verifySession(tree.place, "s")).ok, true);
});

Deno.test("what needs a running turn says so without one", async () => {
  using tree = sessionTree();
  const session = await open(tree.place);
  assert.throws(() => session.text("text", "x", 1), { message: /no turn is running/ });
  assert.throws(() => session.toolStart({ id: "a", tool: "t", input: {}, round: 1 }), {
    message: /no turn is running/,
  });
  assert.throws(() => session.endTurn("ok", null), { message: /no turn is running/ });
  session.error(0, "errors need none");
  session.close();
});

Deno.test("a session without a name gets one, and two at the same moment get two", async () => {
  using tree = sessionTree();
  const sessions = await Promise.all(
    [1, 2].map(() => open(tree.place, { name: undefined, clock, prefix: "sub_" })),
  );
  for (const session of sessions) {
    assert.equal(session.name, `sub_20260506_070809_${session.id}`);
    session.close();
  }
  assert.equal(listSessions(tree.place).length, 2);
});

Deno.test("a list names sessions, first prompts and what cannot be read, last changed first", async () => {
  using tree = sessionTree();
  assert.deepEqual(listSessions(tree.place), []);
  await writeSample(tree.place, "old");
  await writeSample(tree.place, "new");
  Deno.utimeSync(tree.log("old"), 1000, 1000);
  tree.write("work/.polyglav/sessions/broken.jsonl", "not a session\n");
  tree.write("work/.polyglav/sessions/.hidden.jsonl", "");
  tree.write("work/.polyglav/sessions/readme.txt", "");
  Deno.utimeSync(tree.log("broken"), 2000, 2000);
  const held = await open(tree.place, { name: "held" });
  Deno.utimeSync(tree.log("held"), 3000, 3000);
  const all = listSessions(tree.place);
  held.close();
  assert.deepEqual(all.map((s) => [s.name, s.records, s.prompt, s.writer]), [
    ["new", 10, "hello", null],
    ["held", 1, "", Deno.pid],
    ["broken", null, "", null],
    ["old", 10, "hello", null],
  ]);
  assert.match(all[2]!.problem!, /first record cannot be read/);
});

Deno.test("listing reads only the beginning of a large session", async () => {
  using tree = sessionTree();
  const session = await open(tree.place);
  session.startTurn(turn);
  for (let i = 0; i < 30; i++) session.text("text", "x".repeat(100_000), i);
  session.close();
  const read = Deno.FsFile.prototype.readSync;
  let bytes = 0;
  Deno.FsFile.prototype.readSync = function (buffer: Uint8Array): number | null {
    const got = read.call(this, buffer);
    bytes += got ?? 0;
    return got;
  };
  try {
    assert.equal(listSessions(tree.place)[0]!.prompt, "hello");
  } finally {
    Deno.FsFile.prototype.readSync = read;
  }
  assert.ok(bytes > 0 && bytes <= 1 << 16, `${bytes} bytes`);
});

Deno.test("names of sessions include those of which only the anchor is left", async () => {
  using tree = sessionTree();
  await writeSample(tree.place, "a");
  await writeSample(tree.place, "b");
  Deno.removeSync(tree.log("b"));
  assert.deepEqual(sessionNames(tree.place), ["a", "b"]);
});

Deno.test("deleting removes log, copies, anchor and lock of that session alone", async () => {
  using tree = sessionTree();
  for (const name of ["a", "a.b", "ab"]) await writeSample(tree.place, name);
  Deno.writeTextFileSync(tree.log("a"), "x\n", { append: true });
  (await open(tree.place, { name: "a", trust: true })).close();
  assert.ok(Deno.statSync(`${tree.log("a")}.kept-1`));
  const anchor = tree.anchor("a");
  assert.equal((await deleteSession(tree.place, "a")).length, 3);
  for (const path of [tree.log("a"), `${tree.log("a")}.kept-1`, anchor, anchor.replace(/anchor$/, "lock")]) {
    assert.throws(() => Deno.lstatSync(path), Deno.errors.NotFound);
  }
  assert.deepEqual(sessionNames(tree.place), ["a.b", "ab"]);
  for (const name of ["a.b", "ab"]) assert.equal((await verifySession(tree.place, name)).ok, true);
  await assert.rejects(deleteSession(tree.place, "a"), { kind: "missing" });
  (await open(tree.place, { name: "a" })).close();
  assert.equal((await verifySession(tree.place, "a")).ok, true, "the name can be used again");
});

Deno.test("exports: the log as it stands, the object, and Markdown", async () => {
  using tree = sessionTree();
  await writeSample(tree.place);
  assert.equal(await exportSession(tree.place, "s", "jsonl"), Deno.readTextFileSync(tree.log("s")));
  assert.deepEqual(
    JSON.parse(await exportSession(tree.place, "s", "json")),
    await readSession(tree.place, "s"),
  );
  assert.match(await exportSession(tree.place, "s", "markdown"), /^# Session s\n/);
  for (const format of ["jsonl", "json", "markdown"] as const) {
    await assert.rejects(exportSession(tree.place, "none", format), { kind: "missing" });
  }
});
