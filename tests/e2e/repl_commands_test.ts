/**
 * Slash commands at the prompt in a real terminal, those that the tour leaves out.
 */
import assert from "node:assert/strict";
import { startModel } from "../helpers/model_server.ts";
import { openRepl } from "../helpers/repl.ts";
import { HAS_TMUX } from "../helpers/tmux.ts";
import { makeWorktree } from "../helpers/worktree.ts";

const test = (name: string, fn: () => Promise<void>) =>
  Deno.test({ name: `slash: ${name}`, ignore: !HAS_TMUX, fn });

test("/compact replaces what the model is sent, and the session keeps everything", async () => {
  using tree = makeWorktree();
  await using server = startModel([
    { content: "The long answer." },
    { content: "We said hello." },
    { content: "Going on." },
    { content: "And on." },
  ]);
  {
    await using repl = await openRepl(tree, server, { args: ["--session-id", "c"] });
    assert.match(await repl.say("/compact"), /error: there is nothing to compact yet/);
    await repl.say("a long question");
    assert.match(await repl.say("/sessions delete c --yes"), /error: "c" is the session that is open here/);
    const said = await repl.say("/compact");
    assert.match(said, /We said hello\.[\s\S]*\(compacted: about [\d,]+ tokens before, [\d,]+ now\)/);
    await repl.say("go on");
  }
  await using repl = await openRepl(tree, server, { args: ["--session-id", "c"] });
  assert.match(await repl.say("/history"), /a long question[\s\S]*The long answer\./);
  await repl.say("again");
  for (const { body } of server.requests.slice(2)) {
    const text = JSON.stringify(body.messages);
    assert.ok(!text.includes("The long answer.") && text.includes("We said hello."), text);
  }
});

test("/model, /models and /provider count from the next turn on; what cannot be used changes nothing", async () => {
  using tree = makeWorktree();
  await using server = startModel([{ content: "a" }, { content: "b" }]);
  await using other = startModel([{ content: "from the other" }]);
  server.models = ["scripted", "second"];
  other.models = ["third"];
  await using repl = await openRepl(tree, server);
  assert.match(await repl.say("/models"), /\* scripted\n {2}second/);
  assert.match(await repl.say("/model second"), /model: second/);
  await repl.say("hi");
  assert.equal(server.requests[0]!.body.model, "second");
  assert.match(await repl.say("/provider nobody"), /error: provider: "nobody" is not known/);
  assert.match(await repl.say(`/provider openai-compatible ${other.url}`), /model: third/);
  assert.match(await repl.say("hi again"), /from the other/);
  assert.equal(other.requests[0]!.body.messages.length, 4);
  assert.match(await repl.say("/provider openai"), /error: openai needs a key/);
  assert.match(await repl.say("/model"), /model: third/);
  assert.match(await repl.say("/provider"), /\* openai-compatible/);
});

test("/config and /trust count at once: a project's file may narrow, and widen only when it is trusted", async () => {
  using tree = makeWorktree();
  tree.write(
    "work/.polyglav/config.json",
    JSON.stringify({ tool_permission: { bash: "allow", read: "ask" } }),
  );
  await using server = startModel();
  await using repl = await openRepl(tree, server, { env: { POLYGLAV_TRUST: null } });
  assert.match(await repl.say("/policy"), /run_command\s+ask/);
  assert.match(await repl.say("/policy file_read"), /file_read: ask/);
  assert.match(await repl.say("/trust"), /rusted/);
  assert.match(await repl.say("/policy run_command"), /run_command: allow/);
  assert.match(await repl.say("/trust --revoke"), /\S/);
  assert.match(await repl.say("/policy run_command"), /run_command: ask/);
  await repl.say("/config set --global tool_permission.read deny");
  assert.match(await repl.say("/policy file_read"), /file_read: deny/);
  assert.match(await repl.say("/config tool_permission.read"), /^deny$/m);
  assert.match(await repl.say("/config tool_permision.read"), /error: .*did you mean/);
});

test("/asks and /unattended: a question is parked, answered, and reaches the model with the next prompt", async () => {
  using tree = makeWorktree();
  await using server = startModel([
    { tool_calls: [{ name: "ask", arguments: { question: "Which port?" } }] },
    { content: "parked" },
    { content: "thanks" },
  ]);
  await using repl = await openRepl(tree, server);
  await repl.say("/unattended on");
  assert.match(await repl.say("go"), /parked/);
  assert.match(await repl.say("/asks"), /#1\s+pending.*Which port\?/);
  assert.match(await repl.say("/asks 1 use --port 9090"), /Answered ask #1/);
  await repl.say("and now");
  assert.match(
    server.requests.at(-1)!.body.messages.at(-1).content,
    /^\[answer to parked ask #1\] use --port 9090\n\nand now$/,
  );
  assert.match(await repl.say("/unattended off"), /questions are shown/);
});

test("/tool runs what works with the model as a turn, and what is denied stays denied", async () => {
  using tree = makeWorktree({ files: { ".env": "KEY=1\n" } });
  await using server = startModel([{ content: "looked" }, { content: "The researcher looked." }]);
  await using repl = await openRepl(tree, server);
  const said = await repl.say('/tool delegate {"role": "researcher", "task": "look"}');
  assert.match(said, /↳ \w+ researcher[\s\S]*The researcher looked\./);
  const { messages } = server.requests[1]!.body;
  assert.deepEqual(messages.slice(1).map((m: { role: string }) => m.role), ["user", "assistant", "tool"]);
  assert.match(messages.at(-1).content, /\[delegate researcher\] looked/);
  assert.match(
    await repl.say('/tool file_write {"path": ".git/config", "content": "x"}'),
    /disabled by tool policy/,
  );
  assert.equal(tree.read("work/.git/config"), null);
  await repl.line("@.env");
  await repl.answer("n");
  await repl.waitFor(/User declined/);
  assert.match(await repl.say("/tool nothing"), /there is no tool "nothing"/);
  assert.match(await repl.say('/tool grep {"pattern": '), /Error|error/);
});

test("/skills, /teams, /plugins, /undo and /diff where there is nothing; a path is no command", async () => {
  using tree = makeWorktree();
  await using server = startModel([{ content: "a path" }]);
  await using repl = await openRepl(tree, server);
  assert.match(await repl.say("/export"), /error: there is no session yet/);
  assert.match(await repl.say("/skills"), /no skills/);
  assert.match(await repl.say("/teams"), /\w/);
  assert.match(await repl.say("/plugins"), /\S/);
  assert.match(await repl.say("/undo"), /error: there is nothing to take back/);
  assert.match(await repl.say("/diff"), /tools wrote nothing/);
  assert.match(await repl.say("/print"), /error: there is no answer yet/);
  assert.match(await repl.say("/session ../x"), /error: /);
  assert.match(await repl.say("/usr/bin/env is what?"), /a path/);
  assert.match(await repl.say("/config set 'a"), /error: a ' is not closed/);
  assert.equal(await repl.title(), "polyglav work");
});
