/**
 * What others wrote, at the prompt in a real terminal: every byte that the program writes is looked at.
 */
import assert from "node:assert/strict";
import { startModel } from "../helpers/model_server.ts";
import { openRepl } from "../helpers/repl.ts";
import { cliEnvironment, MAIN } from "../helpers/cli.ts";
import { HAS_TMUX, openPty } from "../helpers/tmux.ts";
import { join } from "../../src/text/path.ts";
import { makeWorktree } from "../helpers/worktree.ts";

/** Sets a title, moves the cursor (7-bit and C1), turns the text round, goes back to the line's begin, asks for a paste. */
const EVIL = "E\x1b]0;pwned\x07\x1b[66;66HI\x9b66;66H\u202eV\rOVER\x1b[?2004lL\u2066";

/** What of it must not reach the terminal. */
function assertHarmless(bytes: string, where: string): void {
  for (const part of ["\x1b]0;pwned", "\x1b[66;66H", "\x9b", "\u202e", "\rOVER", "\u2066"]) {
    assert.ok(!bytes.includes(part), `${JSON.stringify(part)} came through ${where}`);
  }
  // deno-lint-ignore no-control-regex
  assert.doesNotMatch(bytes, /\x1b\[[23]J|\x1bc/, `${where} cleared the screen`);
}

Deno.test({
  name: "hostile: names, texts, arguments, errors, models, sessions and catalogs do nothing to the terminal",
  ignore: !HAS_TMUX,
  fn: hostile,
});

async function hostile(): Promise<void> {
  const name = `${EVIL}.txt`, project = `p${EVIL}`;
  using tree = makeWorktree({
    files: {
      [`${project}/${name}`]: `${EVIL}\n`,
      [`${project}/.polyglav/roles.json`]: JSON.stringify({
        critic: { description: EVIL, system_prompt: EVIL, tags: [EVIL] },
      }),
      [`${project}/.polyglav/teams.json`]: JSON.stringify({ t: { description: EVIL, stages: ["critic"] } }),
      [`${project}/.polyglav/skills/s.md`]: `---\nname: s\ndescription: "${
        EVIL.replaceAll("\r", "")
      }"\n---\n${EVIL}`,
    },
  });
  const call = (name: string, args: unknown) => ({ tool_calls: [{ name, arguments: args }] });
  await using server = startModel([
    {
      reasoning: EVIL,
      content: `# ${EVIL}\n\n\`\`\`${EVIL}\n${EVIL}\n\`\`\`\n\n| ${EVIL} |\n| - |\n| x |\n`,
    },
    call("file_read", { path: name }),
    call(`no${EVIL}`, { [EVIL]: EVIL }),
    call("file_write", { path: `new${EVIL}`, content: EVIL, [EVIL]: 1 }),
    call("grep", { pattern: EVIL }),
    call("ask", { question: EVIL, context: EVIL, options: [EVIL, "b"] }),
    call("run_command", { command: `printf '%s' '${EVIL}'` }),
    call("file_edit", { path: name, old: "OVER", new: EVIL }),
    call("delegate", { role: "critic", task: EVIL }),
    { content: EVIL },
    { status: 400, error: EVIL },
    { content: "summary" + EVIL },
  ]);
  server.models = ["scripted", EVIL];
  await using repl = await openRepl(tree, server, {
    args: ["--trust"],
    path: join(tree.work, project),
    raw: true,
  });
  const recorded = await repl.record();
  await repl.ready();
  await repl.paste(`go ${EVIL}`);
  await repl.key("Enter");
  await repl.ready();
  await repl.line("go on");
  await repl.answer("2\r", /answer \[1-2 or your own\]$/);
  await repl.answer("?");
  await repl.answer("y");
  await repl.waitFor(/error: [\s\S]*build>$/);
  await repl.ready();
  for (
    const line of [
      "/history",
      "/print",
      "/models",
      "/mode",
      "/roles",
      "/roles critic",
      "/teams t",
      "/skills s",
      "/sessions",
      "/sessions show " + "x",
      "/focus",
      "/diff",
      "/undo list",
      "/context",
      "/tool list_dir",
      "/tool glob *",
      `/tool x${EVIL}`,
      `/policy file_read {"path": "x\\u001b[66;66H\\u202e"}`,
      `/help ${EVIL}`,
      `/model ${EVIL}`,
      "/model scripted",
      "/compact",
      "/config list",
      "/doctor",
      "!ls",
    ]
  ) {
    await repl.paste(line);
    await repl.key("Enter");
    if (line.startsWith("!")) await repl.answer("y");
    await repl.waitFor(/build>$/);
    await repl.ready();
    assertHarmless(await recorded(), line.slice(0, 20));
  }
  await repl.type("@");
  await repl.key("Tab");
  await repl.key("Tab");
  await repl.waitFor(/build> @/);
  await repl.key("C-u");
  assert.match(await repl.title(), /^polyglav pE␛\]0;pwned␇/);
  const shown = await repl.scrollback();
  for (
    const seen of [/← Read E␛/, /\[noE␛/, /! Error: unknown tool/, /→ Write newE␛/, /error: E ?.?\]0;pwned/]
  ) {
    assert.match(shown, seen);
  }
  await repl.line("/exit");
  assert.equal(await repl.exit(), 0);
  assertHarmless(await recorded(), "the end");

  // Commands of the program on a terminal of their own.
  for (
    const words of [["policy"], ["doctor"], ["sessions", "list"], ["tool", "list_dir", "{}"], [`x${EVIL}`]]
  ) {
    await using pty = await openPty({
      command: [Deno.execPath(), "run", "-A", MAIN, ...words, "--path", join(tree.work, project)],
      env: cliEnvironment(tree, { TERM: "xterm-256color", NO_COLOR: null }),
    });
    const bytes = await pty.record();
    await pty.exit(30_000);
    assertHarmless(await bytes(), words.join(" "));
  }
}
