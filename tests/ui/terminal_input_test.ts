import assert from "node:assert/strict";
import { HAS_TMUX, openPty, type Pty } from "../helpers/tmux.ts";

const program = decodeURIComponent(new URL("./_input_program.ts", import.meta.url).pathname);
const variables = {
  PATH: Deno.env.get("PATH") ?? "",
  HOME: Deno.env.get("HOME") ?? "/",
  LANG: "C.UTF-8",
  DENO_NO_UPDATE_CHECK: "1",
};

function start(
  what: string,
  argument = "",
  options: { columns?: number; rows?: number; term?: string } = {},
) {
  return openPty({
    command: [Deno.execPath(), "run", "-A", "--no-check", program, what, argument],
    columns: options.columns ?? 60,
    rows: options.rows ?? 16,
    env: { ...variables, ...(options.term === undefined ? {} : { TERM: options.term }) },
  });
}

/** A shell with job control that starts the program. */
async function startInShell(what: string, argument = ""): Promise<Pty> {
  const pty = await openPty({
    command: ["bash", "--norc", "--noprofile", "-i"],
    columns: 80,
    rows: 20,
    env: { ...variables, PS1: "sh: ", BASH_SILENCE_DEPRECATION_WARNING: "1" },
  });
  await pty.waitFor("sh:");
  await pty.line(`${Deno.execPath()} run -A --no-check ${program} ${what} ${argument}`);
  return pty;
}

const test = (name: string, run: () => Promise<void>) =>
  Deno.test({ name: `terminal: ${name}`, ignore: !HAS_TMUX, fn: run });

test("wide characters, emoji, accents and right-to-left text are edited in place", async () => {
  await using pty = await start("lines");
  await pty.waitFor(/^>/m);
  await pty.type("ab你好 שלום é👍");
  await pty.key("Left", "Left", "BSpace", "Home", "Right", "Right", "Right", "x");
  await pty.waitFor("> ab你x好 שלוםé👍", { screen: true });
  await pty.key("Enter");
  await pty.waitFor('{"kind":"line","text":"ab你x好 שלוםé👍"}');
});

test("the cursor stands where the next character goes", async () => {
  await using pty = await start("lines");
  await pty.waitFor(/^>/m);
  await pty.type("你好x");
  await pty.waitFor("你好x");
  assert.deepEqual(await pty.cursor(), { column: 7, row: 0 });
  await pty.key("Left", "Left");
  await pty.waitFor("你好x");
  for (let i = 0; i < 50 && (await pty.cursor()).column !== 4; i++);
  assert.deepEqual(await pty.cursor(), { column: 4, row: 0 });
});

test("a line that is longer than the terminal goes on in the next row, and survives a change of the size", async () => {
  await using pty = await start("lines", "long", { columns: 70 });
  await pty.waitFor("wide>");
  await pty.type("one two three four five six seven eight nine ten");
  await pty.waitFor("nine ten", { screen: true });
  await pty.resize(40, 16);
  await pty.key("x");
  await pty.waitFor(/tenx$/m, { screen: true });
  const narrow = await pty.screen();
  assert.equal(narrow.match(/one two/g)?.length, 1, narrow);
  await pty.resize(100, 16);
  await pty.key("Home", "y");
  await pty.waitFor("yone two", { screen: true });
  assert.equal((await pty.screen()).match(/one two/g)?.length, 1);
  await pty.key("Enter");
  await pty.waitFor('"text":"yone two three four five six seven eight nine tenx"');
});

test("a pasted block is one message, whatever is in it", async () => {
  await using pty = await start("lines");
  await pty.waitFor(/^>/m);
  await pty.paste("first\n\tsecond \u0001\nthird");
  await pty.waitFor("third");
  await pty.key("Enter");
  assert.match(await pty.waitFor(/\{"kind":"line".*\}/s), /"first\\n\\tsecond \\u0001\\nthird"/);
});

test("a text that is higher than the terminal is edited without a mess", async () => {
  await using pty = await start("lines", "", { rows: 8 });
  await pty.waitFor(/^>/m);
  const text = Array.from({ length: 30 }, (_, i) => `row ${i}`).join("\n");
  await pty.paste(text);
  await pty.waitFor("row 29", { screen: true });
  for (let i = 0; i < 29; i++) await pty.key("Up");
  await pty.waitFor("> row 0", { screen: true });
  await pty.key("End", "!", "Enter");
  // What was sent stands there once, below it the result.
  await pty.waitFor(/"row 0!\\nrow 1/);
});

test("Ctrl-L leaves what was on the screen in the scrollback", async () => {
  await using pty = await start("lines");
  await pty.waitFor(/^>/m);
  await pty.line("before");
  await pty.waitFor('"before"');
  await pty.type("half");
  await pty.key("C-l");
  await pty.waitFor(/^> half$/, { screen: true });
  assert.match(await pty.scrollback(), /"before"/);
  await pty.key("Enter");
  await pty.waitFor('"half"');
});

test("the history and its search", async () => {
  await using pty = await start("lines");
  await pty.waitFor(/^>/m);
  await pty.key("Up", "Up", "Enter");
  await pty.waitFor('"text":"second entry"');
  await pty.key("C-r");
  await pty.type("irst");
  await pty.waitFor("(search irst) first entry", { screen: true });
  await pty.key("Enter");
  await pty.waitFor('"text":"first entry"');
});

test("Tab lists what there is and keeps the line", async () => {
  await using pty = await start("lines");
  await pty.waitFor(/^>/m);
  await pty.type("eat ap");
  await pty.key("Tab");
  await pty.waitFor(/apple +apricot\n> eat ap$/, { screen: true });
  await pty.type("r");
  await pty.key("Tab", "Enter");
  await pty.waitFor('"text":"eat apricot"');
});

test("what is typed while the program works comes with the next prompt, unechoed until then", async () => {
  await using pty = await start("busy", "1500");
  await pty.waitFor("working");
  await pty.type("typed ah");
  await pty.key("C-c");
  await pty.waitFor("interrupted");
  assert.doesNotMatch(await pty.screen(), /typed/);
  await pty.type("ead");
  await pty.waitFor("> typed ahead");
  await pty.key("Enter");
  await pty.waitFor('"text":"typed ahead"');
});

test("a question shows what runs and is not answered by what was typed ahead", async () => {
  await using pty = await start("confirm", "700");
  await pty.waitFor("working");
  await pty.type("y");
  await pty.waitFor("approve?");
  await pty.type("y");
  await pty.waitFor("$ git push --force && echo 你好", { screen: true });
  await new Promise((resolve) => setTimeout(resolve, 1_200));
  assert.doesNotMatch(await pty.screen(), /"yes"|"no"/);
  await pty.type("?");
  await pty.waitFor("the trail");
  await pty.type("n");
  await pty.waitFor('"no"');
  await pty.waitFor("> yy");
});

test("hidden text is not on the screen", async () => {
  await using pty = await start("lines", "hidden");
  await pty.waitFor(">");
  await new Promise((resolve) => setTimeout(resolve, 500));
  await pty.type("secret");
  await pty.key("Enter");
  const shown = await pty.waitFor(/\{"kind":"line".*\}/);
  assert.equal(shown, '{"kind":"line","text":"secret"}');
  assert.equal((await pty.scrollback()).match(/secret/g)?.length, 1);
});

test("a dumb terminal has a plain line", async () => {
  await using pty = await start("lines", "", { term: "dumb" });
  await pty.waitFor(">");
  await pty.type("abx");
  await pty.key("BSpace", "c", "Enter");
  await pty.waitFor('"text":"abc"');
});

test("Ctrl-Z gives the terminal back and fg takes it again, the line untouched", async () => {
  await using pty = await startInShell("lines");
  await pty.waitFor(/^>/m);
  await pty.type("half a");
  await pty.waitFor("> half a");
  await pty.key("C-z");
  await pty.waitFor(/Stopped/);
  await pty.line("stty -a | grep -o '.icanon'");
  await pty.waitFor(/^ icanon/m);
  await pty.line("fg");
  await pty.waitFor(/fg\n.*\n> half a$/);
  await pty.type(" line");
  await pty.key("Enter");
  await pty.waitFor('"text":"half a line"');
});

for (
  const [how, what, end] of [
    ["Ctrl-D", "lines", (pty: Pty) => pty.key("C-d")],
    ["an uncaught error", "crash", () => Promise.resolve()],
    ["SIGTERM", "lines", async (pty: Pty) => {
      const shell = await pty.pid();
      const children = await Deno.readTextFile(`/proc/${shell}/task/${shell}/children`);
      Deno.kill(Number(children.trim().split(" ")[0]), "SIGTERM");
    }],
  ] as const
) {
  test(`the terminal is as it was after ${how}`, async () => {
    // This shell repairs nothing by itself.
    const line =
      `${Deno.execPath()} run -A --no-check ${program} ${what}; stty -a | grep -o '.icanon\\|.echo '; cat`;
    await using pty = await openPty({ command: ["sh", "-c", line], columns: 80, rows: 20, env: variables });
    await pty.waitFor(/^>/m);
    await end(pty);
    await pty.waitFor(/ icanon\n echo/);
    await pty.paste("plain");
    await pty.waitFor("plain");
    assert.doesNotMatch(await pty.screen(), /200~/);
  });
}
