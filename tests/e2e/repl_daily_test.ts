/**
 * The prompt in a real terminal: what a person meets there day by day, and what only happens now and then.
 */
import assert from "node:assert/strict";
import { SLASH_COMMANDS } from "../../src/cli/slash/mod.ts";
import { makeLongSession } from "../../scripts/bench/_session.ts";
import { startModel } from "../helpers/model_server.ts";
import { openRepl } from "../helpers/repl.ts";
import { HAS_TMUX } from "../helpers/tmux.ts";
import { makeWorktree, type TestTree } from "../helpers/worktree.ts";

const test = (name: string, fn: () => Promise<void>) =>
  Deno.test({ name: `daily: ${name}`, ignore: !HAS_TMUX, fn });

const run = (command: string) => ({ tool_calls: [{ name: "run_command", arguments: { command } }] });
const write = (path: string, content: string) => ({
  tool_calls: [{ name: "file_write", arguments: { path, content } }],
});
const configure = (tree: TestTree, config: unknown) =>
  tree.write("home/.config/polyglav/config.json", JSON.stringify(config));

test("tracked files that commands changed are named at once and by /diff, those of one's own commands too", async () => {
  using tree = makeWorktree({ files: { "a.txt": "a\n", "b.txt": "b\n", "c.txt": "c\n" } });
  for (const args of [["init", "-q"], ["add", "."]]) {
    await new Deno.Command("git", { args, cwd: tree.work, env: { HOME: tree.home } }).output();
  }
  configure(tree, { tool_permission: { bash: "allow" } });
  await using server = startModel([
    run("echo more >> b.txt"),
    { content: "one" },
    run("rm c.txt; echo x > new.txt; exit 3"),
    { content: "two" },
  ]);
  await using repl = await openRepl(tree, server);
  assert.match(await repl.say("!echo more >> a.txt"), /± a\.txt\n/);
  assert.match(await repl.say("first"), /± b\.txt\n/);
  assert.match(await repl.say("second"), /± c\.txt \(removed\)\n/);
  assert.match(
    await repl.say("/diff"),
    /commands changed since this session was opened:\n± a\.txt, b\.txt, c\.txt \(removed\)\n/,
  );
  assert.match(await repl.say("/diff 1"), /commands changed in turn 1:\n± b\.txt\n/);
  assert.match(await repl.say("/diff 9"), /\(tools wrote nothing in turn 9\)/);
  await repl.say("/session new");
  assert.match(await repl.say("/diff"), /\(tools wrote nothing in this session\)/);
});

test("every command has help, and says what it cannot take", async () => {
  using tree = makeWorktree();
  await using server = startModel([{ content: "never asked" }]);
  await using repl = await openRepl(tree, server, { rows: 50 });
  // Typed ahead: one after the other without waiting.
  const names = SLASH_COMMANDS.map(({ name }) => name);
  await repl.type(names.map((name) => `/help ${name}\r`).join(""));
  await repl.waitFor(/build> \/help exit\n[\s\S]*build>$/);
  await repl.ready();
  const helped = await repl.scrollback();
  for (const { name, usage, summary } of SLASH_COMMANDS) {
    const head = `build> /help ${name}\n/${name}${usage ? ` ${usage}` : ""}\n  ${summary}`;
    assert.ok(helped.replace(/\s+/g, " ").includes(head.replace(/\s+/g, " ")), head);
  }
  // `/session` and `/model` take any name, `/connect` would ask, `/todo`, `/tool` have their own tests.
  const take = names.filter((name) => !["session", "model", "connect", "help"].includes(name));
  await repl.type(take.map((name) => `/${name} --nonsense 'x y' z\r`).join(""));
  await repl.waitFor(/build> \/exit --nonsense[^\n]*\nerror: [^\n]*\nbuild>$/);
  const said = (await repl.scrollback()).split("build> /version --nonsense")[0]!;
  assert.doesNotMatch(said, /internal error/);
  for (const name of take) {
    const [, answer] = new RegExp(`build> /${name} --nonsense 'x y' z\\n([\\s\\S]*?)\\nbuild>`)
      .exec(await repl.scrollback())!;
    assert.match(answer!, /^error: |did you mean|^! Error/m, `/${name}: ${answer}`);
  }
  assert.equal(server.requests.length, 0);
});

test("the window's title and the bell say that a question waits and that something long has ended", async () => {
  using tree = makeWorktree();
  configure(tree, { terminal: { bell: 0.2 } });
  await using server = startModel([
    { ...run("true"), delay_ms: 400 },
    { content: "done" },
    { content: "quick" },
    { content: "late", delay_ms: 600 },
  ]);
  await using repl = await openRepl(tree, server);
  const recorded = await repl.record();
  // deno-lint-ignore no-control-regex
  const count = async () => (await recorded()).replace(/\x1b\][^\x07]*\x07/g, "").split("\x07").length - 1;
  // What is recorded comes a moment after what is shown.
  const bells = async (wanted: number) => {
    for (let i = 0; i < 100 && (await count()) < wanted; i++) {
      await new Promise((done) => setTimeout(done, 50));
    }
    return await count();
  };
  await repl.line("go");
  await repl.waitFor(/approve\?/);
  assert.equal(await repl.title(), "? polyglav work");
  assert.equal(await bells(1), 1);
  await repl.answer("n");
  await repl.waitFor("done");
  await repl.ready();
  assert.equal(await repl.title(), "polyglav work");
  assert.equal(await bells(2), 2);
  assert.ok((await recorded()).includes("\x1b]0;… polyglav work\x07"));
  // A turn that a command makes is one, too.
  await repl.line('/tool delegate {"role": "researcher", "task": "look"}');
  await repl.waitFor(/late/);
  await repl.ready();
  assert.equal(await bells(3), 3);
});

test("confirm: a rule for the project goes to the user's own file, holds at once, and after a new start", async () => {
  using tree = makeWorktree();
  await using server = startModel([
    run("wc -c a"),
    { content: "first" },
    run("wc -l a"),
    { content: "second" },
    run("wc -w a"),
    { content: "third" },
  ]);
  {
    await using repl = await openRepl(tree, server);
    await repl.line("go");
    await repl.answer("a");
    await repl.waitFor(/which\?/);
    const number = /(\d) commands that begin with "wc", [^\n]*project/.exec(await repl.scrollback())![1]!;
    await repl.answer(number, /which\? \[1-\d, n\]$/);
    await repl.waitFor(/tool_permission\.bash_auto \+= "wc" \(is saved for this project\)/);
    // Nothing is kept before the second key.
    assert.throws(() => Deno.statSync(`${tree.home}/.config/polyglav/projects`), Deno.errors.NotFound);
    await repl.answer("y", /keep this rule and run the call\? \[y\/n\]$/);
    await repl.waitFor("first");
    await repl.ready();
    assert.match(await repl.say("again"), /second/);
  }
  const folder = `${tree.home}/.config/polyglav/projects`;
  const [file] = [...Deno.readDirSync(folder)];
  assert.equal(Deno.statSync(`${folder}/${file!.name}`).mode! & 0o777, 0o600);
  assert.match(Deno.readTextFileSync(`${folder}/${file!.name}`), /"wc"/);
  assert.throws(() => Deno.statSync(`${tree.work}/.polyglav/config.json`), Deno.errors.NotFound);
  await using repl = await openRepl(tree, server);
  assert.match(await repl.say("once more"), /\$ Run wc -w a[\s\S]*third/);
});

test("confirm: Ctrl-C cancels the turn, and confirm_timeout declines the call alone", async () => {
  using tree = makeWorktree();
  await using server = startModel([
    run("touch one"),
    run("touch two"),
    { content: "declined, then." },
  ]);
  await using repl = await openRepl(tree, server);
  await repl.line("go");
  await repl.waitFor(/approve\?/);
  await repl.key("C-c");
  await repl.waitFor(/\(cancelled\)/);
  await repl.ready();
  assert.equal(server.requests.length, 1);
  await repl.say("/config set --global confirm_timeout 1");
  await repl.line("go on");
  await repl.waitFor(/no answer in 1s: no[\s\S]*declined, then\./);
  await repl.ready();
  assert.equal(tree.read("work/one"), null);
  assert.equal(tree.read("work/two"), null);
});

test("a grandchild can be talked to, under what its place allows, and the root again", async () => {
  using tree = makeWorktree();
  await using server = startModel([
    { tool_calls: [{ name: "delegate", arguments: { role: "leader", task: "split it" } }] },
    { tool_calls: [{ name: "delegate", arguments: { role: "code-reviewer", task: "judge it" } }] },
    { content: "judged" },
    { content: "split" },
    { content: "all done" },
    write("x.txt", "x\n"),
    { content: "The grandchild speaks." },
    { content: "The child speaks." },
    { content: "The root speaks." },
  ]);
  await using repl = await openRepl(tree, server);
  assert.match(await repl.say("go"), /all done/);
  assert.match(await repl.say("/focus"), /\* #1 root[^\n]*\n {4}#2 leader[^\n]*\n {6}#3 code-reviewer/);
  assert.match(await repl.say("/focus 3", "build #3 code-reviewer"), /you talk to #3 code-reviewer now/);
  const said = await repl.say("and?", "build #3 code-reviewer");
  assert.match(said, /disabled by tool policy[\s\S]*The grandchild speaks\./);
  assert.equal(tree.read("work/x.txt"), null);
  const asked = server.requests.at(-1)!.body.messages;
  assert.ok(JSON.stringify(asked).includes("judge it") && !JSON.stringify(asked).includes("split it"));
  await repl.say("/focus 2", "build #2 leader");
  assert.match(await repl.say("and you?", "build #2 leader"), /The child speaks\./);
  assert.match(await repl.say("/focus 7", "build #2 leader"), /error: /);
  await repl.say("/focus root");
  assert.match(await repl.say("and here?"), /The root speaks\./);
  assert.match(await repl.say("/sessions verify"), /ok[^\n]*\n[\s\S]*ok[^\n]*\n[\s\S]*ok/);
});

test("/undo N shows what it would do and takes it back, but not where a file changed since", async () => {
  using tree = makeWorktree({ files: { "a.txt": "old a\n", "b.txt": "old b\n" } });
  await using server = startModel([
    write("a.txt", "new a\n"),
    { content: "one" },
    write("b.txt", "new b\n"),
    { content: "two" },
    write("c.txt", "new c\n"),
    { content: "three" },
  ]);
  await using repl = await openRepl(tree, server);
  for (const word of ["one", "two", "three"]) await repl.say(word);
  await repl.line("/undo 1");
  await repl.waitFor(/a\.txt: restore\n[\s\S]*-new a\n[\s\S]*\+old a\n[\s\S]*Take this back\?/);
  assert.equal(tree.read("work/a.txt"), "new a\n");
  await repl.answer("no\r", /answer \[1-2 or your own\]$/);
  await repl.waitFor("nothing was changed");
  await repl.ready();
  tree.write("work/b.txt", "mine\n");
  assert.match(await repl.say("/undo 2"), /b\.txt: left alone[\s\S]*\(there is nothing to take back\)/);
  await repl.line("/undo 3");
  await repl.waitFor(/c\.txt: remove \(the turn made it\)/);
  await repl.answer("yes\r", /answer \[1-2 or your own\]$/);
  await repl.waitFor("c.txt: removed");
  await repl.ready();
  assert.deepEqual([tree.read("work/a.txt"), tree.read("work/b.txt"), tree.read("work/c.txt")], [
    "new a\n",
    "mine\n",
    null,
  ]);
  assert.match(await repl.say("/undo 9"), /error: /);
  assert.match(await repl.say("/undo 1 2"), /error: \/undo takes a number of a turn, or list/);
});

test("ten thousand pasted lines, a line of a hundred thousand characters, and a storm of sizes", async () => {
  using tree = makeWorktree();
  await using server = startModel([{ content: "read" }, { content: "read it, too" }, {
    content: "still here",
  }]);
  await using repl = await openRepl(tree, server);
  const text = Array.from({ length: 10_000 }, (_, i) => `line ${i} ü👩‍👩‍👧`).join("\n");
  await repl.paste(text);
  await repl.waitFor(/line 9999/, { screen: true });
  await repl.key("Enter");
  await repl.waitFor(/\nread\n[\s\S]*build>$/);
  assert.equal(server.requests[0]!.body.messages.at(-1).content, text);
  const long = "word ".repeat(20_000).trim();
  await repl.paste(long);
  await repl.key("Enter");
  await repl.waitFor(/read it, too[\s\S]*build>$/);
  assert.equal(server.requests[1]!.body.messages.at(-1).content, long);
  await repl.type("what stays");
  for (let i = 0; i < 25; i++) await repl.resize(20 + (i * 37) % 100, 5 + (i * 13) % 40);
  await repl.resize(80, 24);
  await repl.waitFor(/build> what stays$/, { screen: true });
  await repl.key("Enter");
  await repl.waitFor(/still here/);
  assert.equal(server.requests[2]!.body.messages.at(-1).content, "what stays");
});

test("a session of five thousand records is gone on with", async () => {
  using tree = makeWorktree();
  const stateDir = `${tree.home}/.local/state/polyglav`;
  await makeLongSession({ worktree: tree.work, stateDir, name: "long" }, 5000);
  await using server = startModel([{ content: "I remember." }]);
  await using repl = await openRepl(tree, server, { args: ["--session-id", "long"] });
  await repl.waitFor(/\(session long: 1000 turns; \/history shows them\)/);
  assert.match(await repl.say("and?"), /I remember\./);
  // A question, a call with its result, an answer; the system's text and the new question.
  assert.equal(server.requests[0]!.body.messages.length, 4 * 1000 + 2);
});

test("Tab completes tools, sessions, roles, models, keys, and files with blanks, behind @ and !", async () => {
  using tree = makeWorktree({ files: { "my notes.txt": "n\n", "src/cart.ts": "c\n" } });
  await using server = startModel([{ content: "hi" }]);
  server.models = ["scripted", "second-model"];
  await using repl = await openRepl(tree, server, { args: ["--session-id", "monday"] });
  await repl.say("hello");
  for (
    const [typed, line] of [
      ["/tool gre", "/tool grep"],
      ["/session mon", "/session monday"],
      ["/roles resea", "/roles researcher"],
      ["/model sec", "/model second-model"],
      ["/mode pl", "/mode plan"],
      ["/help una", "/help unattended"],
      ["/provider oll", "/provider ollama"],
      ["/config set confirm_t", "/config set confirm_timeout"],
      ["/policy file_w", "/policy file_write"],
      ["read @my", 'read @"my notes.txt"'],
      ["read @src/ca", "read @src/cart.ts"],
      ["!cat src/ca", "!cat src/cart.ts"],
    ] as const
  ) {
    await repl.type(typed);
    await repl.key("Tab");
    await repl.waitFor(new RegExp(`^build> ${line.replace(/[.*+?$()|]/g, "\\$&")}$`, "m"), { screen: true });
    await repl.key("C-u");
    await repl.waitFor(/^build>$/m, { screen: true });
  }
});

test("a dumb terminal of forty columns has all of it: mentions, questions, rules, blocks, the footer's figures", async () => {
  using tree = makeWorktree({ files: { "a.txt": "a\n" } });
  configure(tree, { prices: { scripted: [1000, 2000] }, context_window: 5000, show_thinking: true });
  await using server = startModel([
    { reasoning: "Let me see.", ...run("touch made") },
    { content: "# Done\n\n| a | b |\n| - | - |\n| 1 | 2 |\n" },
    { content: "several lines" },
  ]);
  await using repl = await openRepl(tree, server, { env: { TERM: "dumb", NO_COLOR: "1" }, columns: 40 });
  const recorded = await repl.record();
  await repl.line("look at @a.txt");
  await repl.answer("y");
  await repl.waitFor(/Done[\s\S]*\(\d+\.\ds, 22 tokens in, 14 out,\s+\$0\.05,\s+context\s+<1% of 5k\)/);
  await repl.ready();
  assert.equal(tree.read("work/made"), "");
  assert.match(await repl.scrollback(), /Let me see\./);
  await repl.line('"""');
  await repl.line("one");
  await repl.line('two"""');
  await repl.waitFor("several lines");
  await repl.ready();
  assert.equal(server.requests[2]!.body.messages.at(-1).content.trim(), "one\ntwo");
  // deno-lint-ignore no-control-regex
  assert.doesNotMatch(await recorded(), /\x1b/);
});

test("Ctrl-C ends what a sub-agent does, with its command; the live line says what runs", async () => {
  using tree = makeWorktree();
  configure(tree, { tool_permission: { bash: "allow" } });
  await using server = startModel([
    { tool_calls: [{ name: "delegate", arguments: { role: "tester", task: "test it" } }] },
    run("echo begins; touch begun; sleep 304.5"),
    { content: "again" },
  ]);
  await using repl = await openRepl(tree, server);
  await repl.line("go");
  await repl.waitFor(/Delegate tester[\s\S]*\d+s/, { screen: true });
  while (tree.read("work/begun") === null) await new Promise((done) => setTimeout(done, 50));
  await repl.key("C-c");
  await repl.waitFor(/\(cancelled\)/);
  await repl.ready();
  for (let i = 0; i < 200 && sleeps(); i++) await new Promise((done) => setTimeout(done, 50));
  assert.equal(sleeps(), false);
  assert.match(await repl.say("and now"), /again/);
});

function sleeps(): boolean {
  return [...Deno.readDirSync("/proc")].some(({ name }) => {
    try {
      return /^\d+$/.test(name) &&
        Deno.readTextFileSync(`/proc/${name}/cmdline`).split("\0").includes("304.5");
    } catch {
      return false;
    }
  });
}
