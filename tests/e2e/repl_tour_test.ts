/**
 * A tour of the prompt in a real terminal, with a scripted model: everything that a person does there, one after the other.
 */
import assert from "node:assert/strict";
import { startModel } from "../helpers/model_server.ts";
import { openRepl } from "../helpers/repl.ts";
import { HAS_TMUX } from "../helpers/tmux.ts";
import { makeWorktree } from "../helpers/worktree.ts";

const ESC = "\x1b";

Deno.test({
  name: "tour: input, output, confirm, rules, modes, sub-agents, undo, sessions, leaving",
  ignore: !HAS_TMUX,
  fn: tour,
});

async function tour(): Promise<void> {
  using tree = makeWorktree({ files: { "src/cart.ts": "export const total = 1;\n", "notes.txt": "n\n" } });
  await using server = startModel([
    // Markdown, thinking, and what must not act on the terminal.
    {
      reasoning: "Let me think.",
      content:
        `# Plan\n\n- one\n- **two**\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\n\`\`\`ts\nconst x = 1;\n\`\`\`\n\nevil ${ESC}[2Jtext\n`,
    },
    // An edit that runs, and a command that asks.
    {
      tool_calls: [
        { name: "file_edit", arguments: { path: "src/cart.ts", old: "total = 1", new: "total = 2" } },
        { name: "run_command", arguments: { command: "echo one > made.txt" } },
      ],
    },
    { content: "Edited and ran." },
    // The same prefix again after "always".
    { tool_calls: [{ name: "run_command", arguments: { command: "wc -l notes.txt" } }] },
    { content: "Counted." },
    { tool_calls: [{ name: "run_command", arguments: { command: "wc -c notes.txt" } }] },
    { content: "Counted again." },
    // Outside.
    { tool_calls: [{ name: "file_read", arguments: { path: "../outside/secret.txt" } }] },
    { content: "Not read." },
    // A question, a sub-agent, a hand-over.
    { tool_calls: [{ name: "ask", arguments: { question: "Which colour?", options: ["red", "blue"] } }] },
    { content: "Blue it is." },
    { tool_calls: [{ name: "delegate", arguments: { role: "researcher", task: "look around" } }] },
    { content: "I looked around." },
    { tool_calls: [{ name: "handoff", arguments: { target: "child" } }] },
    { content: "The child speaks." },
  ]);
  tree.write("outside/secret.txt", "secret\n");
  await using repl = await openRepl(tree, server, { args: ["--session-id", "tour"], rows: 45 });
  await repl.waitFor(/polyglav \d.*build · scripted/);

  // Output.
  let said = await repl.say("show me markdown");
  assert.match(said, /\+ Thought \d+\.\ds/);
  assert.match(said, /Plan/);
  assert.doesNotMatch(said, /\*\*two\*\*/);
  assert.match(said, /const x = 1;/);
  assert.match(said, /evil ␛\[2Jtext/);
  assert.match(said, /\(\d+\.\ds, 11 tokens in, 7 out\)/);

  // Input: several lines, pasting, history, completion.
  await repl.type("/mo");
  await repl.key("Tab");
  await repl.waitFor(/build> \/mode$/m);
  await repl.key("Tab");
  await repl.waitFor(/\/models/);
  await repl.key("C-u");
  await repl.type("/exp");
  await repl.key("Tab");
  await repl.waitFor(/build> \/export$/m);
  await repl.key("C-u");
  await repl.type("@src/ca");
  await repl.key("Tab");
  await repl.waitFor(/build> @src\/cart\.ts$/m);
  await repl.key("C-u");
  await repl.key("Up");
  await repl.waitFor(/build> show me markdown$/m);
  await repl.key("C-u");
  await repl.ready();

  // An edit, and a command that asks: why, edit, yes.
  await repl.paste("edit the cart\nand make a file");
  await repl.waitFor(/and make a file/);
  await repl.key("Enter");
  await repl.waitFor(/→ Edit src\/cart\.ts|→ Write src\/cart\.ts/);
  await repl.answer("?");
  await repl.waitFor(/tool_permission\.bash[\s\S]*approve/);
  await repl.answer("e");
  await repl.waitFor(/\$ echo one > made\.txt$/);
  await repl.key("C-u");
  await repl.line("echo two > made.txt");
  await repl.answer("y", /\$ echo two > made\.txt\n[\s\S]*approve\? \[[^\]]*\]$/);
  await repl.waitFor("Edited and ran.");
  await repl.ready();
  assert.equal(server.requests[1]!.body.messages.at(-1).content, "edit the cart\nand make a file");
  assert.equal(tree.read("work/made.txt"), "two\n");
  assert.match(tree.read("work/src/cart.ts")!, /total = 2/);
  assert.match(server.requests[2]!.body.messages.at(-1).content, /the user changed this call to .*echo two/);

  // A rule for this session: a prefix.
  await repl.line("count");
  await repl.answer("a");
  await repl.waitFor(/commands that begin with "wc", this session/);
  const offered = await repl.scrollback();
  const number = /(\d) commands that begin with "wc", this session/.exec(offered)![1]!;
  await repl.answer(number, /which\? \[1-\d, n\]$/);
  await repl.waitFor(/tool_permission\.bash_auto \+= "wc"/);
  await repl.answer("y", /keep this rule and run the call\? \[y\/n\]$/);
  await repl.waitFor("Counted.");
  await repl.ready();
  said = await repl.say("count again");
  assert.match(said, /Counted again\./);
  assert.doesNotMatch(said, /approve/);
  // Reading the configuration again keeps it; taking it into the configuration is no part of it.
  await repl.say("/config max_rounds 50");
  assert.match(await repl.say('/policy run_command {"command": "wc notes.txt"}'), /run_command: allow/);
  assert.equal(tree.read("home/.config/polyglav/config.json"), null);

  // A path outside: declined.
  await repl.line("read the secret");
  await repl.waitFor(/outside/);
  await repl.answer("n");
  await repl.waitFor("Not read.");
  await repl.ready();
  assert.doesNotMatch(JSON.stringify(server.requests.at(-1)!.body.messages), /secret\\n/);

  // A question, a sub-agent, and talking to it.
  await repl.line("ask me");
  await repl.answer("2\r", /answer \[1-2 or your own\]$/);
  await repl.waitFor("Blue it is.");
  await repl.ready();
  assert.equal(server.requests.at(-1)!.body.messages.at(-1).content, "blue");
  await repl.line("delegate and hand over");
  await repl.waitFor(/you talk to #2 researcher now/);
  await repl.ready("build #2 researcher");
  said = await repl.say("hello child", "build #2 researcher");
  assert.match(said, /The child speaks\./);
  assert.match(server.requests.at(-1)!.body.messages[0].content, /research/i);
  assert.match(await repl.say("/focus root"), /you talk to #1 root now/);
  assert.match(await repl.say("/focus"), /\* #1 root[\s\S]*#2 researcher/);

  // Tools and lists by hand.
  assert.match(await repl.say("/tool grep total"), /src\/cart\.ts:1:/);
  assert.match(await repl.say("/todo add write the docs"), /1\. \[ \] write the docs/);
  assert.match(await repl.say("/todo done 1"), /1\. \[x\] write the docs/);
  assert.match(await repl.say("/roles"), /researcher/);
  assert.match(await repl.say("/roles researcher"), /researcher[\s\S]*system/i);
  assert.match(await repl.say("/help grep"), /pattern .*required/);
  assert.match(await repl.say("/hlep"), /there is no command \/hlep, did you mean \/help\?/);
  assert.match(await repl.say("/context"), /about [\d,]+ tokens/);
  assert.match(await repl.say("/policy"), /run_command\s+ask/);

  // What was changed, and taking it back.
  assert.match(
    await repl.say("/diff"),
    /src\/cart\.ts[\s\S]*-export const total = 1;[\s\S]*\+export const total = 2;/,
  );
  await repl.line("/undo");
  await repl.answer("yes\r", /answer \[1-2 or your own\]$/);
  await repl.waitFor(/src\/cart\.ts: restored/);
  await repl.ready();
  assert.equal(tree.read("work/src/cart.ts"), "export const total = 1;\n");
  assert.equal(tree.read("work/made.txt"), "two\n");

  // Sessions.
  assert.match(await repl.say("/print"), /Blue it is|The child speaks|Counted/);
  assert.match(await repl.say("/export tour.md"), /wrote .*tour\.md/);
  assert.match(tree.read("work/tour.md")!, /Edited and ran\./);
  assert.match(await repl.say("/export tour.md"), /exists already/);
  await repl.say("/session other");
  assert.match(await repl.say("/session"), /^other #/m);
  assert.match(await repl.say("/session tour"), /session tour: \d+ turns/);
  assert.match(await repl.say("/sessions verify"), /ok\s+tour/);
  assert.match(await repl.say("/todo"), /1\. \[x\] write the docs/);

  // A narrow terminal, and leaving. What scrolled out is still there.
  await repl.resize(40, 20);
  await repl.say("/version");
  assert.match(await repl.scrollback(), /show me markdown/);
  await repl.line("/exit");
  assert.equal(await repl.exit(), 0);
}
