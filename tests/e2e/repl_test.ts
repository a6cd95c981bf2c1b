/**
 * The prompt in a real terminal: what is typed, what runs, what is cancelled, and how it is left.
 */
import assert from "node:assert/strict";
import { startModel } from "../helpers/model_server.ts";
import { openRepl } from "../helpers/repl.ts";
import { HAS_TMUX } from "../helpers/tmux.ts";
import { makeWorktree } from "../helpers/worktree.ts";

const test = (name: string, fn: () => Promise<void>) =>
  Deno.test({ name: `repl: ${name}`, ignore: !HAS_TMUX, fn });

test("a prompt is answered, mentions go with it, and the session can be gone on with", async () => {
  using tree = makeWorktree({ files: { "notes.txt": "the answer is 42\n" } });
  await using server = startModel([{ content: "It says **42**." }, { content: "Still 42." }]);
  {
    await using repl = await openRepl(tree, server);
    const said = await repl.say("what does @notes.txt say? mail me at a@b.c");
    assert.match(said, /← Read notes\.txt/);
    assert.match(said, /It says 42\./);
    const [request] = server.requests;
    assert.match(
      request!.body.messages.at(-1).content,
      /\[attached: notes\.txt\]\n[^\n]*\n1\|the answer is 42/,
    );
    await repl.key("C-d");
    assert.equal(await repl.exit(), 0);
  }
  await using repl = await openRepl(tree, server, { args: ["--continue"] });
  await repl.waitFor(/1 turn; \/history shows them/);
  assert.match(await repl.say("/history"), /It says \*\*42\*\*\./);
  await repl.say("and now?");
  const { messages } = server.requests[1]!.body;
  assert.deepEqual(messages.slice(1).map((m: { role: string }) => m.role), ["user", "assistant", "user"]);
});

test("Ctrl-C cancels the turn: the command ends, what was said is kept, and the prompt comes back", async () => {
  using tree = makeWorktree();
  tree.write("home/.config/polyglav/config.json", JSON.stringify({ tool_permission: { bash: "allow" } }));
  await using server = startModel([
    {
      content: "I wait.",
      tool_calls: [{ name: "run_command", arguments: { command: "touch begun; sleep 301.5" } }],
    },
    { content: "partial words", hang: true },
    { content: "fine" },
  ]);
  await using repl = await openRepl(tree, server);
  await repl.line("wait");
  await until(() => tree.read("work/begun"));
  await repl.key("C-c");
  await repl.waitFor(/\(cancelled\)/);
  await repl.ready();
  await until(() => runs("301.5") ? null : "gone");

  await repl.line("talk");
  await repl.waitFor("partial words");
  await repl.key("C-c");
  await repl.waitFor(/partial words[\s\S]*\(cancelled\)/);
  await repl.ready();
  await repl.say("go on");
  const { messages } = server.requests.at(-1)!.body;
  assert.ok(
    messages.some((m: { role: string; content: string }) =>
      m.role === "assistant" && m.content === "partial words"
    ),
  );
});

test("Ctrl-C twice at an empty prompt leaves, once does not", async () => {
  using tree = makeWorktree();
  await using server = startModel();
  await using repl = await openRepl(tree, server);
  await repl.type("half a line");
  await repl.waitFor("half a line");
  await repl.key("C-c");
  await repl.ready();
  await repl.key("C-c");
  await repl.waitFor("Ctrl-C once more leaves");
  await repl.ready();
  await repl.say("/version");
  await repl.key("C-c");
  await repl.waitFor(/once more leaves[\s\S]*once more leaves/);
  await repl.key("C-c");
  assert.equal(await repl.exit(), 0);
});

test("what is typed ahead answers no question, and becomes the next line", async () => {
  using tree = makeWorktree();
  await using server = startModel([
    {
      delay_ms: 1200,
      tool_calls: [{ name: "run_command", arguments: { command: "touch made" } }],
    },
    { content: "declined" },
    { content: "second" },
  ]);
  await using repl = await openRepl(tree, server);
  await repl.line("first");
  await repl.waitFor(/Waiting for the model/);
  await repl.line("y");
  await repl.waitFor(/approve\?/);
  await new Promise((resolve) => setTimeout(resolve, 500));
  assert.equal(tree.read("work/made"), null);
  await repl.answer("n");
  await repl.waitFor(/declined[\s\S]*build> y\n[\s\S]*second/);
  await repl.ready();
  assert.equal(tree.read("work/made"), null);
  assert.equal(server.requests.at(-1)!.body.messages.at(-1).content, "y");
});

test("a command by ! goes through the policy, and the model reads what came of it", async () => {
  using tree = makeWorktree({ files: { "a.txt": "" } });
  await using server = startModel([{ content: "seen" }]);
  await using repl = await openRepl(tree, server);
  await repl.line("!ls; false");
  await repl.answer("y");
  await repl.waitFor(/exit 1/);
  await repl.ready();
  await repl.line("!echo not this");
  await repl.answer("n");
  await repl.ready();
  await repl.say("and?");
  const { content } = server.requests[0]!.body.messages.at(-1);
  assert.match(content, /^\[the user ran a command: ls; false\]\n[\s\S]*a\.txt[\s\S]*\n\nand\?$/);
  assert.doesNotMatch(content, /not this/);
});

test("a mode counts from the next call on, and a plan is handed over to build", async () => {
  using tree = makeWorktree();
  const write = { name: "file_write", arguments: { path: "a.txt", content: "hi\n" } };
  await using server = startModel([
    { tool_calls: [write] },
    { content: "I may not." },
    { tool_calls: [write] },
    { content: "Written." },
  ]);
  await using repl = await openRepl(tree, server);
  await repl.say("/mode plan", "plan");
  await repl.line("write a.txt");
  await repl.waitFor(/disabled by tool policy/);
  assert.equal(tree.read("work/a.txt"), null);
  await repl.waitFor(/Carry out this plan in build mode\?/);
  await repl.answer("1\r", /answer \[1-3 or your own\]$/);
  await repl.waitFor(/Written\./);
  await repl.ready("build");
  assert.equal(tree.read("work/a.txt"), "hi\n");
  const tools = (i: number) =>
    server.requests[i]!.body.tools.map((t: { function: { name: string } }) => t.function.name);
  assert.ok(!tools(0).includes("file_write"));
  assert.ok(tools(2).includes("file_write"));
});

test("a terminal that is closed ends the turn, and the session is whole", async () => {
  using tree = makeWorktree();
  tree.write("home/.config/polyglav/config.json", JSON.stringify({ tool_permission: { bash: "allow" } }));
  await using server = startModel([
    { tool_calls: [{ name: "run_command", arguments: { command: "touch begun; sleep 302.5" } }] },
  ]);
  let pid = 0;
  {
    await using repl = await openRepl(tree, server, { args: ["--session-id", "gone"] });
    await repl.line("wait");
    await until(() => tree.read("work/begun"));
    pid = await repl.pid();
  }
  await until(() => alive(pid) || runs("302.5") ? null : "gone");
  await using next = await openRepl(tree, server, { args: ["--session-id", "gone"] });
  await next.waitFor(/session gone: 1 turn/);
  assert.match(await next.say("/sessions verify"), /ok\s+gone/);
});

async function until<T>(look: () => T | null): Promise<T> {
  for (const end = Date.now() + 15_000;;) {
    const found = look();
    if (found !== null) return found;
    if (Date.now() > end) throw new Error("it did not happen in time");
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function alive(pid: number): boolean {
  try {
    return !Deno.readTextFileSync(`/proc/${pid}/stat`).includes(") Z ");
  } catch {
    return false;
  }
}

/** Whether a program with this argument runs. */
function runs(argument: string): boolean {
  return [...Deno.readDirSync("/proc")].some(({ name }) => {
    try {
      return /^\d+$/.test(name) &&
        Deno.readTextFileSync(`/proc/${name}/cmdline`).split("\0").includes(argument);
    } catch {
      return false;
    }
  });
}
