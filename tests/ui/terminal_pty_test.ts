import { equal, match, ok } from "node:assert/strict";
import { join } from "../../src/text/path.ts";
import { HAS_TMUX, openPty, type Pty } from "../helpers/tmux.ts";

const root = decodeURIComponent(new URL("../../", import.meta.url).pathname);

function play(scene: string, columns: number, env: Record<string, string> = {}): Promise<Pty> {
  const program = join(root, "tests/ui/_terminal_program.ts");
  return openPty({
    command: [
      Deno.execPath(),
      "run",
      "-A",
      "--no-check",
      "--config",
      join(root, "deno.json"),
      program,
      scene,
    ],
    columns,
    rows: 24,
    env: {
      HOME: Deno.env.get("HOME") ?? "",
      PATH: Deno.env.get("PATH") ?? "",
      LANG: "C.UTF-8",
      ...Deno.env.get("DENO_DIR") ? { DENO_DIR: Deno.env.get("DENO_DIR")! } : {},
      ...env,
    },
  });
}

const test = (name: string, run: () => Promise<void>) => Deno.test({ name, ignore: !HAS_TMUX, fn: run });

test("in a terminal of 40 columns nothing is broken within a word, and columns line up", async () => {
  await using pty = await play("markdown", 40);
  await pty.waitFor("READY");
  const screen = await pty.screen();
  equal(
    screen.slice(screen.indexOf("BEFORE")),
    `BEFORE
The title

Words with bold, code and 中文 or 👩‍👩‍👧
that are wrapped between words.

• first item that goes on and on until
  it is wrapped
  • second

 Key │ Value
─────┼───────
 one │     1
 中  │    22

\`\`\`ts
const answer = 42; // why
\`\`\`

The end.
(1.5s, 1,000 tokens in, 200 out,
  $0.0012, context 12% of 10k)
READY`,
  );
  ok((await pty.screen({ colors: true })).includes("\x1b[35m"), "a keyword in magenta");
});

for (const [name, env] of [["NO_COLOR", { NO_COLOR: "1" }], ["TERM=dumb", { TERM: "dumb" }]] as const) {
  test(`with ${name} the answer can be read as it was written`, async () => {
    await using pty = await play("markdown", 60, env);
    await pty.waitFor("READY");
    const screen = await pty.screen({ colors: true });
    ok(!screen.includes("\x1b"), screen);
    match(screen, /# The title\n\nWords with \*\*bold\*\*, `code`/);
    match(screen, /\| one \| {5}1 \|\n\| 中 {2}\| {4}22 \|/);
  });
}

test("the live line comes and goes; a question has the screen alone; nothing above is touched", async () => {
  await using pty = await play("live", 50);
  await pty.waitFor(/⠋|⠙|⠹/);
  await pty.waitFor(/\ds \$ Run make all · step \d of 8, with a l.*…/, { screen: true });
  await pty.waitFor("really?");
  ok(!/step/.test(await pty.screen()), await pty.screen());
  await pty.waitFor("READY");
  const text = await pty.scrollback();
  match(
    text.slice(text.indexOf("BEFORE")),
    new RegExp(
      "^BEFORE\\n\\+ Thought \\d\\.\\ds\\n\\$ Run make all\\nreally\\? y\\n! Error: failed\\n\\nIt failed\\.\\n" +
        "\\(1\\.5s, 1,000 tokens in, 200 out, \\$0\\.0012, context\\n? *12% of 10k\\)\\nREADY$",
    ),
  );
});

test("a terminal that is resized in between leaves no rests of the live line but what it wrapped itself", async () => {
  await using pty = await play("live", 100);
  await pty.waitFor(/step \d of 8/, { screen: true });
  await pty.resize(40, 24);
  await pty.waitFor("READY");
  const text = await pty.scrollback();
  equal(text.match(/step \d of 8/g)?.length ?? 0, 0, text);
  match(text, /BEFORE\n/);
});

test("the scrollback keeps a long answer whole", async () => {
  await using pty = await play("long", 80);
  await pty.waitFor("READY");
  const text = await pty.scrollback();
  match(text, /^BEFORE\n/m);
  equal(text.match(/^line \d+ of a long answer$/gm)?.length, 2000);
});
