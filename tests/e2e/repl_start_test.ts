/**
 * How the prompt begins: the first run, connecting, options, plain terminals, and what the process may do.
 */
import assert from "node:assert/strict";
import { cliEnvironment, MAIN, runCli } from "../helpers/cli.ts";
import { type ModelServer, startModel } from "../helpers/model_server.ts";
import { openRepl } from "../helpers/repl.ts";
import { HAS_TMUX, openPty } from "../helpers/tmux.ts";
import { makeWorktree, type TestTree } from "../helpers/worktree.ts";

const test = (name: string, fn: () => Promise<void>) =>
  Deno.test({ name: `repl start: ${name}`, ignore: !HAS_TMUX, fn });

/** An address where no Ollama answers. */
const NOTHING = { OLLAMA_HOST: "127.0.0.1:9" };

test("without a key and an Ollama it says what to do, and plays the demo", async () => {
  using tree = makeWorktree();
  await using repl = await openRepl(tree, null, { env: NOTHING, raw: true, rows: 60 });
  await repl.waitFor(/There is no model to talk to yet\.\n.*\/connect.*\n.*ollama pull qwen3/);
  await repl.answer("yes\r", /answer \[1-2 or your own\]$/);
  await repl.waitFor(/→ Edit src\/cart\.ts|→ Write src\/cart\.ts/);
  await repl.waitFor(/private\/salaries\.txt[\s\S]*outside/);
  await repl.answer("n");
  await repl.waitFor("that was the demo");
  await repl.ready();
  const shown = await repl.scrollback();
  assert.match(
    shown,
    /\+ {2}return items\.reduce\(\(sum, item\) => sum \+ item\.cents \* item\.quantity, 0\)/,
  );
  assert.doesNotMatch(shown, /nobody's business/);
  const folder = /a small project in (\S+?)(?:;|\/shop)/.exec(shown)![1]!;
  assert.throws(() => Deno.statSync(folder), Deno.errors.NotFound);
  // A prompt without a model says so, and the session goes on.
  assert.match(await repl.say("hello"), /error: no model to talk to/);
  assert.equal(tree.read("home/.config/polyglav/config.json"), null);
});

test("/connect tries a key before it keeps it, shows nothing of it, and keeps it for the user alone", async () => {
  using tree = makeWorktree();
  const KEY = "sk-test-1234567890abcdef";
  // The scripted server lists its models to everybody, so an answer shows whether it takes the key.
  await using server = startModel([
    { status: 401, error: `${KEY} is no key of ours` },
    { content: "ok" },
    { content: "connected words" },
  ]);
  await using repl = await openRepl(tree, null, { env: NOTHING, raw: true });
  await repl.answer("no\r", /answer \[1-2 or your own\]$/);
  await repl.ready();
  await repl.line("/connect openai-compatible http://127.0.0.1:9/v1");
  await repl.answer(`${KEY}\r`, /Key of openai-compatible \(nothing is shown, or Enter for none\):$/);
  await repl.waitFor(/could not be reached with that, so nothing was saved/);
  await repl.ready();
  assert.equal(tree.read("home/.config/polyglav/providers.json"), null);
  assert.equal(tree.read("home/.config/polyglav/config.json"), null);

  await repl.line(`/connect openai-compatible ${server.url}`);
  await repl.waitFor(/Key of openai-compatible[\s\S]*Key of openai-compatible[^\n]*:$/);
  await repl.answer(`${KEY}\r`, /Key of openai-compatible [^\n]*:$/);
  await repl.waitFor(/did not answer with that, so nothing was saved: 401, \[key\] is no key of ours/);
  await repl.ready();
  assert.equal(tree.read("home/.config/polyglav/providers.json"), null);
  assert.equal(tree.read("home/.config/polyglav/config.json"), null);

  await repl.line(`/connect openai-compatible ${server.url}`);
  await repl.waitFor(/no key of ours[\s\S]*Key of openai-compatible[^\n]*:$/);
  await repl.answer(`${KEY}\r`, /Key of openai-compatible [^\n]*:$/);
  await repl.waitFor(/Connected to openai-compatible with scripted\./);
  await repl.ready();
  assert.deepEqual(JSON.parse(tree.read("home/.config/polyglav/providers.json")!), {
    "openai-compatible": { api_key: KEY },
  });
  assert.equal(Deno.statSync(`${tree.home}/.config/polyglav/providers.json`).mode! & 0o777, 0o600);
  assert.match(await repl.say("hi"), /connected words/);
  for (const { headers } of server.requests) assert.equal(headers.get("authorization"), `Bearer ${KEY}`);
  assert.equal(server.requests.length, 3);
  await repl.key("Up", "Up");
  const shown = await repl.scrollback({ colors: true });
  assert.ok(!shown.includes(KEY) && !shown.includes("1234567890"));
  await repl.key("C-u");
  await repl.line("/exit");
  assert.equal(await repl.exit(), 0);
  const kept = [...Deno.readDirSync(`${tree.home}/.local/state/polyglav/history`)]
    .map(({ name }) => tree.read(`home/.local/state/polyglav/history/${name}`)).join("");
  assert.ok(kept.includes("/connect") && !kept.includes("1234567890"));

  await using next = await openRepl(tree, null, { env: NOTHING });
  await next.waitFor(/build · scripted \(openai-compatible\)/);
});

test("options: mode, path, a wrong one is an error; without a terminal it stays the usage", async () => {
  using tree = makeWorktree();
  await using server = startModel();
  {
    await using repl = await openRepl(tree, server, { args: ["--mode", "plan", "-c"], raw: true });
    await repl.ready("plan");
    await repl.waitFor(/there is no session to go on with/);
    assert.match(await repl.say("/mode", "plan"), /\* plan/);
    assert.match(await repl.say("/mode bulid", "plan"), /there is no mode "bulid", did you mean "build"\?/);
  }
  {
    await using repl = await openRepl(tree, server, { args: ["--mdoe", "plan"], raw: true });
    assert.equal(await repl.exit(), 2);
    assert.match(await repl.scrollback(), /unknown option "--mdoe", did you mean "--mode"\?/);
  }
  const bare = await runCli(tree, []);
  assert.equal(bare.code, 2);
  assert.match(bare.stderr, /Usage: polyglav COMMAND/);
  assert.equal((await runCli(tree, ["repl"])).code, 2);
});

test("a dumb terminal and NO_COLOR get plain text; forty columns are enough", async () => {
  using tree = makeWorktree();
  await using server = startModel([{ content: "**bold** and `code`\n\n- one\n" }, { content: "**bold**" }]);
  {
    await using repl = await openRepl(tree, server, { env: { TERM: "dumb", NO_COLOR: "1" }, columns: 40 });
    assert.match(await repl.say("hi"), /bold/);
    assert.equal(await repl.scrollback({ colors: true }), await repl.scrollback());
    await repl.line("/exit");
    assert.equal(await repl.exit(), 0);
  }
  await using repl = await openRepl(tree, server, { env: { NO_COLOR: "1" }, columns: 40 });
  await repl.say("hi");
  assert.ok(!(await repl.scrollback({ colors: true })).includes("\x1b[3"));
  assert.match(await repl.say("/help"), /\/tool \[NAME \[JSON \| TEXT\]\]/);
});

test("the process takes packages from the cache alone, starts no Deno, and reads no variable but its own", async () => {
  using tree = makeWorktree();
  await using server = startModel();
  await using repl = await openRepl(tree, server, { env: { AWS_SECRET_ACCESS_KEY: "hidden-value" } });
  const launcher = await repl.pid();
  const child = Number(
    (await Deno.readTextFile(`/proc/${launcher}/task/${launcher}/children`)).trim().split(" ")[0],
  );
  const words = (await Deno.readTextFile(`/proc/${child}/cmdline`)).split("\0");
  assert.ok(words.includes("--cached-only") && words.includes("--no-prompt") && !words.includes("-A"));
  assert.ok(words.includes(`--deny-run=${Deno.execPath()}`));
  assert.ok(words.includes("--ignore-env"));
  assert.ok(!(await Deno.readTextFile(`/proc/${child}/environ`)).includes("hidden-value"));
  assert.match(
    await repl.say("/doctor"),
    /missing\s+ceiling\s+an interactive session has no ceiling of its own/,
  );
  assert.match(await repl.scrollback(), /active\s+policy/);
  assert.match(await repl.scrollback(), /active\s+worker/);
});

test("two prompts in one project: a session is written by one of them", async () => {
  using tree = makeWorktree();
  await using server = startModel([{ content: "one" }, { content: "two" }]);
  await using first = await openRepl(tree, server, { args: ["--session-id", "same"] });
  await first.say("hi");
  await using second = await openRepl(tree, server, { args: ["--session-id", "same"] });
  await second.waitFor(/error: another process \(pid \d+\) writes session "same"/);
  assert.match(await second.say("/session new"), /begins a new session/);
  assert.match(await second.say("hi"), /two/);
});

test("a signal ends it and gives the terminal back; so does the end of the launcher", async () => {
  using tree = makeWorktree();
  await using server = startModel([{ content: "words", hang: true }, { content: "more words", hang: true }]);
  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    await using shell = await openPty({
      command: ["sh", "-c", `"$@"; echo "left $?"; stty -a; cat`, "sh", ...programOf(tree, server)],
      env: cliEnvironment(tree, { TERM: "xterm-256color", NO_COLOR: null }),
    });
    await shell.waitFor(/build>$/);
    await shell.line("go");
    await shell.waitFor("words");
    const program = await shell.pid();
    const launcher = Number((await Deno.readTextFile(`/proc/${program}/task/${program}/children`)).trim());
    const child = Number((await Deno.readTextFile(`/proc/${launcher}/task/${launcher}/children`)).trim());
    Deno.kill(launcher, signal);
    await shell.waitFor(/left \d+/);
    for (const end = Date.now() + 10_000; Date.now() < end && running(child);) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    assert.ok(!running(child), `the program goes on after ${signal}`);
    if (signal === "SIGTERM") assert.match(await shell.scrollback(), /left (?!0)[\s\S]* icanon/);
  }
});

function programOf(tree: TestTree, server: ModelServer): string[] {
  return [
    ...[Deno.execPath(), "run", "-A", MAIN, "--path", tree.work, "--model", "scripted"],
    ...["--provider", "openai-compatible", "--base-url", server.url],
  ];
}

function running(pid: number): boolean {
  try {
    return !Deno.readTextFileSync(`/proc/${pid}/stat`).includes(") Z ");
  } catch {
    return false;
  }
}
