import assert from "node:assert/strict";
import { configure, runCli } from "../helpers/cli.ts";
import { type ModelServer, type ScriptedReply, startModel } from "../helpers/model_server.ts";
import { makeWorktree, type TestTree, type TreeSpec } from "../helpers/worktree.ts";

interface Scene extends AsyncDisposable {
  readonly tree: TestTree;
  readonly model: ModelServer;
  run(...args: string[]): ReturnType<typeof runCli>;
}

function scene(
  script: ScriptedReply[],
  spec: TreeSpec = {},
  config: Record<string, unknown> = {},
): Scene {
  const tree = makeWorktree(spec), model = startModel(script);
  configure(tree, {
    provider: "openai-compatible",
    base_url: model.url,
    model: "scripted",
    stream_retry_delay: 0.01,
    ...config,
  });
  return {
    tree,
    model,
    run: (...args) => runCli(tree, ["run", ...args]),
    async [Symbol.asyncDispose]() {
      await model[Symbol.asyncDispose]();
      tree[Symbol.dispose]();
    },
  };
}

const read = (path: string) => ({ tool_calls: [{ name: "file_read", arguments: { path } }] });

Deno.test("json output is one object with the documented keys", async () => {
  await using s = scene([{ ...read("a.txt"), reasoning: "look" }, { content: "It says hello." }], {
    files: { "a.txt": "hello\n" },
  });
  const { code, stdout, stderr } = await s.run("-p", "what?", "--session-id", "one");
  assert.deepEqual([code, stderr], [0, ""]);
  const result = JSON.parse(stdout);
  assert.deepEqual(Object.keys(result).sort(), [
    ...[
      "content",
      "denied",
      "duration",
      "errors",
      "model",
      "provider",
      "run_id",
      "session",
      "status",
      "thinking",
      "tool_calls",
      "usage",
    ],
  ]);
  assert.deepEqual([result.content, result.status, result.session, result.thinking], [
    "It says hello.",
    "ok",
    "one",
    "look",
  ]);
  assert.deepEqual(result.tool_calls, [{ name: "file_read", arguments: { path: "a.txt" } }]);
});

Deno.test("text output is the answer and a newline; the footer goes to standard error", async () => {
  await using s = scene([{ content: "plain answer" }]);
  const { stdout, stderr } = await s.run("-p", "hi", "--output", "text");
  assert.equal(stdout, "plain answer\n");
  assert.match(stderr, /^\(\d+\.\ds, [\d,]+ tokens\)\n$/);
});

Deno.test("stream-json output is one JSON event a line, the end last", async () => {
  await using s = scene([read("a.txt"), { content: "done" }], { files: { "a.txt": "x\n" } });
  const events = (await s.run("-p", "hi", "--output", "stream-json")).stdout.trim().split("\n").map((line) =>
    JSON.parse(line)
  );
  const types = events.map((e) => e.type);
  assert.equal(types[0], "turn_start");
  assert.ok(
    types.includes("tool_start") && types.includes("tool_end") && types.includes("token"),
    types.join(" "),
  );
  assert.deepEqual([types.at(-1), events.at(-1).status], ["turn_end", "ok"]);
});

Deno.test("activity lines and diffs are shown with --verbose, on standard error", async () => {
  const edit = { tool_calls: [{ name: "file_edit", arguments: { path: "a.txt", old: "one", new: "two" } }] };
  await using s = scene([edit, { content: "done" }], { files: { "a.txt": "one\n" } });
  const { stdout, stderr } = await s.run("-p", "hi", "--output", "text", "--verbose");
  assert.equal(stdout, "done\n");
  assert.match(stderr, /→ Write a\.txt/);
  assert.match(stderr, /^-one$/m);
  assert.match(stderr, /^\+two$/m);
});

Deno.test("the prompt is read from standard input with -, and standard input is not touched without it", async () => {
  await using s = scene([{ content: "a" }, { content: "b" }]);
  await runCli(s.tree, ["run", "-p", "-"], { stdin: "from the pipe" });
  assert.match(s.model.requests[0]!.text, /from the pipe/);
  await runCli(s.tree, ["run", "-p", "own words"], { stdin: "LEAK" });
  assert.ok(!s.model.requests[1]!.text.includes("LEAK"));
});

for (
  const args of [
    [],
    ["-p", ""],
    ["-p", "x", "--yes", "--no"],
    ["-p", "x", "--timeout", "soon"],
    ["-p", "x", "--max-rounds", "0"],
    ["-p", "x", "--output", "xml"],
    ["-p", "x", "--replay", "a", "--record", "b"],
  ]
) {
  Deno.test(`usage errors exit 2 before any request: run ${args.join(" ")}`, async () => {
    await using s = scene([{ content: "never" }]);
    const { code, stdout, stderr } = await s.run(...args);
    assert.deepEqual([code, stdout, s.model.requests.length], [2, "", 0], stderr);
  });
}

Deno.test("a failed turn exits 1 with its error in the result", async () => {
  await using s = scene([{ status: 401, error: "bad key given" }]);
  const { code, stdout } = await s.run("-p", "hi");
  const result = JSON.parse(stdout);
  assert.deepEqual([code, result.status, result.content, result.errors[0].code], [1, "error", null, 401]);
});

Deno.test("a denied call is listed with its rule, and --strict makes it exit 3", async () => {
  const script = [read("/etc/hostname"), { content: "could not" }];
  await using s = scene([...script, ...script]);
  const plain = await s.run("-p", "hi");
  assert.equal(plain.code, 0);
  assert.deepEqual(
    JSON.parse(plain.stdout).denied.map((d: { tool: string; rule: string }) => [d.tool, d.rule]),
    [["file_read", "worktree"]],
  );
  assert.equal((await s.run("-p", "hi", "--strict")).code, 3);
});

Deno.test("the same call denied three times in a row ends the turn with an error", async () => {
  await using s = scene(Array.from({ length: 6 }, () => read("/etc/hostname")));
  const { code, stdout } = await s.run("-p", "hi");
  assert.deepEqual([code, JSON.parse(stdout).status, s.model.requests.length], [1, "error", 3]);
});

Deno.test("a turn that asks for too many rounds is ended", async () => {
  await using s = scene(Array.from({ length: 9 }, () => read("a.txt")), { files: { "a.txt": "x\n" } });
  const { code } = await s.run("-p", "hi", "--max-rounds", "4");
  assert.deepEqual([code, s.model.requests.length], [1, 4]);
});

Deno.test("--timeout ends a turn that hangs, exit 1", async () => {
  await using s = scene([{ content: "begin", hang: true }]);
  const { code, stdout } = await s.run("-p", "hi", "--timeout", "1");
  const result = JSON.parse(stdout);
  assert.deepEqual([code, result.status, result.errors.at(-1).code], [1, "error", "timeout"]);
});

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  Deno.test(`${signal} cancels: exit 130, the partial answer is kept in a session that verifies`, async () => {
    await using s = scene([{ content: "the beginning of an answer", hang: true }]);
    const { code } = await runCli(s.tree, ["run", "-p", "hi", "--session-id", "c"], {
      during: async (child) => {
        while (s.model.requests.length === 0) await new Promise((r) => setTimeout(r, 20));
        await new Promise((r) => setTimeout(r, 300));
        child.kill(signal);
      },
    });
    assert.equal(code, 130);
    const session = JSON.parse((await runCli(s.tree, ["sessions", "show", "c", "--output", "json"])).stdout);
    assert.equal(session.turns[0].status, "cancelled");
    assert.ok(
      session.turns[0].parts.some((p: { type: string; text: string }) =>
        p.type === "text" && p.text.startsWith("the beginning")
      ),
    );
    assert.equal((await runCli(s.tree, ["sessions", "verify", "c"])).code, 0);
  });
}

Deno.test("a command that runs when the turn is cancelled is ended with its children", async () => {
  const call = { tool_calls: [{ name: "run_command", arguments: { command: "sleep 3; touch late.txt" } }] };
  await using s = scene([call, { content: "x" }], {}, { tool_permission: { bash: "allow" } });
  const { code } = await runCli(s.tree, ["run", "-p", "hi"], {
    during: async (child) => {
      while (s.model.requests.length === 0) await new Promise((r) => setTimeout(r, 20));
      await new Promise((r) => setTimeout(r, 1200));
      child.kill("SIGINT");
    },
  });
  assert.equal(code, 130);
  await new Promise((r) => setTimeout(r, 3500));
  assert.equal(s.tree.read("work/late.txt"), null);
});

Deno.test("project instructions reach the model, and one that leads out of the worktree is skipped with a warning", async () => {
  await using s = scene([{ content: "a" }], { files: { "AGENTS.md": "Use tabs only." } });
  await s.run("-p", "hi");
  assert.match(
    s.model.requests[0]!.body.messages[0].content,
    /Project instructions \(AGENTS\.md\):\n\nUse tabs only\./,
  );
  await using out = scene([{ content: "a" }], {
    outside: { "rules.md": "OUTSIDE" },
    links: { "AGENTS.md": "../outside/rules.md" },
  });
  const { code, stderr } = await out.run("-p", "hi");
  assert.equal(code, 0);
  assert.match(stderr, /AGENTS\.md is not read as project instructions/);
  assert.ok(!out.model.requests[0]!.text.includes("OUTSIDE"));
});

Deno.test("instructions are not read where the policy would not let the model read them", async () => {
  await using s = scene([{ content: "a" }], { files: { "AGENTS.md": "SECRET RULES" } }, {
    tool_permission: { read: "deny" },
  });
  await s.run("-p", "hi");
  assert.ok(!s.model.requests[0]!.text.includes("SECRET RULES"));
});

Deno.test("a recording plays again without a model, and a drift from it is told and exits 4", async () => {
  await using s = scene([read("a.txt"), { content: "It says one." }], { files: { "a.txt": "one\n" } });
  const file = `${s.tree.root}/talk.jsonl`;
  assert.equal((await s.run("-p", "what?", "--record", file)).code, 0);
  const again = await s.run("-p", "what?", "--replay", file);
  assert.deepEqual([again.code, JSON.parse(again.stdout).content, s.model.requests.length], [
    0,
    "It says one.",
    2,
  ]);
  s.tree.write("work/a.txt", "two\n");
  const drift = await s.run("-p", "what?", "--replay", file);
  assert.equal(drift.code, 4);
  assert.match(drift.stderr, /drift/);
});

Deno.test("a session without its anchor goes on for who trusts the project in this run, by option or by variable", async () => {
  await using s = scene([{ content: "one" }, { content: "two" }, { content: "three" }]);
  const again = (env: Record<string, string | null>, ...more: string[]) =>
    runCli(s.tree, [
      "run",
      "-p",
      "go",
      "--session-id",
      "s",
      "--provider",
      "openai-compatible",
      "--base-url",
      s.model.url,
      "--model",
      "m",
      ...more,
    ], { env });
  const forget = () => Deno.removeSync(`${s.tree.home}/.local/state/polyglav`, { recursive: true });
  assert.equal((await again({})).code, 0);
  forget();
  const refused = await again({ POLYGLAV_TRUST: null });
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /session "s" is resumed only with --trust/);
  assert.equal((await again({ POLYGLAV_TRUST: null }, "--trust")).code, 0);
  forget();
  assert.equal((await again({ POLYGLAV_TRUST: "1" })).code, 0);
  const log = "work/.polyglav/sessions/s.jsonl", changed = s.tree.read(log)!.replace('"two"', '"2"');
  s.tree.write(log, changed);
  const tampered = await again({ POLYGLAV_TRUST: "1" });
  assert.equal(tampered.code, 1);
  assert.match(tampered.stderr, /session "s" is resumed only with --trust: record \d+ was changed/);
  assert.equal(s.tree.read(log), changed);
  assert.equal(s.model.requests.length, 3);
});

Deno.test("an empty prompt is told before a missing provider", async () => {
  using tree = makeWorktree();
  const { code, stderr } = await runCli(tree, ["run", "-p", " "]);
  assert.equal(code, 2);
  assert.match(stderr, /the prompt is empty/);
});

Deno.test("without key and server the error says in three lines how to get going", async () => {
  using tree = makeWorktree();
  const { code, stdout, stderr } = await runCli(tree, ["run", "-p", "hi", "--provider", "openai"]);
  assert.deepEqual([code, stdout], [1, ""]);
  assert.match(stderr, /OPENAI_API_KEY/);
});

Deno.test("two runs on one session at the same time: the second is refused with the holder's pid", async () => {
  await using s = scene([{ content: "slow", hang: true }]);
  let second: Awaited<ReturnType<typeof runCli>> | undefined;
  await runCli(s.tree, ["run", "-p", "hi", "--session-id", "shared"], {
    during: async (child) => {
      while (s.model.requests.length === 0) await new Promise((r) => setTimeout(r, 20));
      second = await s.run("-p", "me too", "--session-id", "shared");
      child.kill("SIGTERM");
    },
  });
  assert.notEqual(second!.code, 0);
  assert.match(second!.stderr, /pid \d+/);
});

for (const name of ["../../x", "/etc/x", "a/b", ".hidden", "", "x".repeat(300)]) {
  Deno.test(`a session name that is no name is refused: ${JSON.stringify(name.slice(0, 20))}`, async () => {
    await using s = scene([{ content: "a" }]);
    assert.equal((await s.run("-p", "hi", `--session-id=${name}`)).code, 2);
    assert.equal(s.model.requests.length, 0);
  });
}

Deno.test("a key from the environment reaches the provider and neither the session nor the output", async () => {
  await using s = scene([{ content: "a" }]);
  const { stdout, stderr } = await runCli(s.tree, [
    "run",
    "-p",
    "hi",
    "--session-id",
    "k",
    "--provider",
    "openai",
    "--base-url",
    s.model.url,
    "--model",
    "m",
  ], {
    env: { OPENAI_API_KEY: "sk-test-1234567890abcdef" },
  });
  assert.equal(s.model.requests[0]!.headers.get("authorization"), "Bearer sk-test-1234567890abcdef");
  assert.ok(
    ![stdout, stderr, s.tree.read("work/.polyglav/sessions/k.jsonl")].some((t) => t?.includes("sk-test")),
  );
});

Deno.test("an untrusted project cannot send the user's key elsewhere", async () => {
  await using s = scene([{ content: "stolen" }]);
  await using own = startModel([{ content: "mine" }]);
  s.tree.write("home/.config/polyglav/config.json", JSON.stringify({ base_url: own.url }));
  const args = ["run", "-p", "hi", "--output", "text", "--provider", "openai", "--model", "m"];
  const { code, stdout, stderr } = await runCli(s.tree, args, {
    env: { OPENAI_API_KEY: "sk-test-1234567890abcdef", POLYGLAV_TRUST: null },
  });
  assert.deepEqual([code, stdout], [0, "mine\n"]);
  assert.match(stderr, /base_url/);
  assert.equal(s.model.requests.length, 0);
});
