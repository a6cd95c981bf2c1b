/**
 * Teams, questions and delegation through the real program: processes, ceiling, sandbox, sessions.
 */
import assert from "node:assert/strict";
import { type CliResult, configure, runCli } from "../helpers/cli.ts";
import { type ModelServer, replyEvents, type ScriptedReply, startModel } from "../helpers/model_server.ts";
import { makeWorktree, type TestTree } from "../helpers/worktree.ts";

const call = (name: string, args: unknown): ScriptedReply => ({ tool_calls: [{ name, arguments: args }] });

function setUp(tree: TestTree, server: ModelServer, config: Record<string, unknown> = {}): void {
  configure(tree, {
    provider: "openai-compatible",
    base_url: server.url,
    model: "scripted",
    stream_retry_delay: 0.05,
    exec: { confine: "off" },
    ...config,
  });
}

const said = (server: ModelServer, n: number): string => server.requests[n]!.body.messages.at(-1).content;

function ok(result: CliResult): CliResult {
  assert.equal(result.code, 0, result.stderr + result.stdout);
  return result;
}

const FILES = {
  ".polyglav/roles.json": JSON.stringify({
    scout: { system_prompt: "You are scout.", tool_permission: { edit: "deny" } },
    maker: { system_prompt: "You are maker." },
    checker: { system_prompt: "You are checker.", tool_permission: { edit: "deny" } },
    scribe: { system_prompt: "You are scribe." },
  }),
  ".polyglav/teams.json": JSON.stringify({
    four: {
      description: "look, make, check, tell",
      stages: [
        { role: "scout", handoff_note: "Build on this." },
        "maker",
        "checker",
        { role: "scribe", task_hint: "Write notes.txt." },
      ],
      loop: { from: "maker", until: "checker" },
    },
  }),
};

Deno.test("heads: a team of four stages with a review loop and a permission question, end to end", async () => {
  using tree = makeWorktree({ files: { ...FILES, "a.txt": "alpha" } });
  await using server = startModel([
    call("team", { name: "four", task: "build it" }),
    call("file_read", { path: "a.txt" }),
    { content: "a.txt says alpha" },
    // maker, first round: asks, is granted one use, builds.
    call("ask", { question: "May I run the build?", kind: "permission", permission: "run_command" }),
    { content: "Yes, it needs the build." },
    call("run_command", { command: "echo built > out.txt" }),
    call("run_command", { command: "echo again > again.txt" }),
    { content: "built once" },
    { content: "It lacks a version.\nVERDICT: CHANGES" },
    call("file_write", { path: "version.txt", content: "1" }),
    { content: "added the version" },
    { content: "All there.\nVERDICT: PASS" },
    call("file_write", { path: "notes.txt", content: "done" }),
    { content: "told it" },
    { content: "Finished." },
  ]);
  setUp(tree, server, {
    tool_permission: { bash: "deny" },
    grant_permission: { bash: "allow", read: "allow", edit: "allow" },
  });
  const result = ok(await runCli(tree, ["run", "-p", "go", "--session-id", "lead", "--verbose"]));
  assert.equal(JSON.parse(result.stdout).content, "Finished.");
  const { sub_agents } = JSON.parse(result.stdout);
  assert.deepEqual(sub_agents.map(({ role, status }: Record<string, string>) => `${role} ${status}`), [
    "scout ok",
    "maker ok",
    "checker ok",
    "maker ok",
    "checker ok",
    "scribe ok",
  ]);
  assert.ok(sub_agents.every((sub: { usage: { total_tokens: number } }) => sub.usage.total_tokens > 0));
  assert.equal(server.requests.length, 15);
  assert.equal(said(server, 14), "[team four] told it");
  assert.equal(said(server, 5), '[granted] Permission "run_command" approved for one use.');
  assert.match(said(server, 7), /^Error: tool "run_command" is disabled by tool policy/);
  assert.match(said(server, 9), /## Findings from the previous review\nIt lacks a version\./);
  assert.match(said(server, 12), /## Stage 1 result \(sub_\w+\):\na\.txt says alpha/);
  for (
    const [path, text] of [["out.txt", "built\n"], ["again.txt", null], ["version.txt", "1"], [
      "notes.txt",
      "done",
    ]] as const
  ) {
    assert.equal(tree.read(`work/${path}`), text, path);
  }
  assert.match(result.stderr, /stage 2 of 4: maker/);

  const verified = ok(await runCli(tree, ["sessions", "verify"])).stdout.trim().split("\n");
  assert.equal(verified.length, 7, verified.join("\n"));
  for (const line of verified) assert.match(line, /^ok /);
  const shown = ok(await runCli(tree, ["sessions", "show", "lead", "--tree"])).stdout;
  assert.match(
    shown,
    /^lead \(ok\) {2}go\n( {2}sub_\w+ \((scout|maker|checker|scribe), ok\) {2}Team: four.*\n){6}$/,
    shown,
  );
  assert.equal(ok(await runCli(tree, ["sessions", "show", "--tree"])).stdout, shown);
});

Deno.test("heads: a question of an unattended run is parked, answered, and the run goes on in place", async () => {
  using tree = makeWorktree();
  await using server = startModel([
    call("ask", { question: "May I build?", kind: "permission", permission: "bash", options: ["yes", "no"] }),
    { content: "waiting" },
    call("run_command", { command: "echo x > built.txt" }),
    { content: "built" },
  ]);
  setUp(tree, server);
  const run = ["run", "--session-id", "night"];
  ok(await runCli(tree, [...run, "-p", "build", "--unattended"]));
  assert.match(said(server, 1), /^\[parked\] Ask #1 parked for the operator \(session night\)/);
  assert.match(
    ok(await runCli(tree, ["asks", "list"])).stdout,
    /^#1 {2}pending {2}night {2}May I build\?\n$/,
  );
  const waiting = await runCli(tree, [...run, "--continue"]);
  assert.equal(waiting.code, 1);
  assert.match(waiting.stderr, /waits for an answer to ask #1 .*polyglav asks answer 1 TEXT/);
  assert.equal((await runCli(tree, ["asks", "answer", "1", "perhaps"])).code, 2);
  assert.match(
    ok(await runCli(tree, ["asks", "answer", "1", "yes"])).stderr,
    /run --session-id night --continue/,
  );
  const done = ok(await runCli(tree, [...run, "--continue"]));
  assert.equal(JSON.parse(done.stdout).content, "built");
  assert.equal(said(server, 2), '[answer to parked ask #1] [granted] Permission "bash" approved (once).');
  assert.equal(tree.read("work/built.txt"), "x\n");
  assert.match(ok(await runCli(tree, ["asks", "list"])).stderr, /no questions wait/);
  assert.equal(
    JSON.parse(ok(await runCli(tree, ["sessions", "show", "night", "--output", "json"])).stdout).turns.length,
    2,
  );
});

Deno.test("heads: three levels of delegation under plan mode write nothing", async () => {
  using tree = makeWorktree({
    files: {
      ".polyglav/roles.json": JSON.stringify({
        eager: { tool_permission: { edit: "allow", bash: "allow", vcs: "allow", catalog: "allow" } },
      }),
    },
  });
  const attempts: ScriptedReply = {
    tool_calls: [
      { name: "file_write", arguments: { path: "pwned.txt", content: "x" } },
      { name: "file_edit", arguments: { path: ".polyglav/roles.json", old: "eager", new: "x" } },
      { name: "run_command", arguments: { command: "echo x > pwned.txt" } },
      { name: "git_commit", arguments: { operation: "add", all: true } },
      { name: "code_format", arguments: {} },
      { name: "catalog", arguments: { action: "save", kind: "skill", name: "pwned", content: "x" } },
      { name: "ask", arguments: { question: "may I?", kind: "permission", permission: "edit" } },
    ],
  };
  await using server = startModel(Array.from({ length: 60 }, (): ScriptedReply => ({
    respond: async () => {
      const { messages } = server.requests.at(-1)!.body;
      await Promise.resolve();
      const last = messages.at(-1);
      const depth = server.requests.filter(({ body }) => body.messages.at(-1).role === "user").length;
      const reply: ScriptedReply = last.role === "user" ? attempts : depth < 4 &&
          !messages.some((m: { name?: string; content: string }) => m.content?.startsWith("[delegate"))
        ? call("delegate", { role: "eager", task: "deeper" })
        : { content: "nothing worked" };
      const events = replyEvents(reply);
      return new Response(events.join(""), { headers: { "content-type": "text/event-stream" } });
    },
  })));
  setUp(tree, server, {
    tool_permission: { edit: "allow", bash: "allow", vcs: "allow" },
    grant_permission: { edit: "allow", bash: "allow" },
  });
  const before = tree.read("work/.polyglav/roles.json");
  ok(await runCli(tree, ["run", "-p", "go", "--mode", "plan", "--yes"]));
  const results = server.requests.flatMap(({ body }) =>
    body.messages.filter((m: { role: string }) => m.role === "tool")
  );
  assert.ok(results.length >= 28, String(results.length));
  assert.ok(server.requests.some(({ body }) => body.messages.at(-1).content.startsWith("[delegate eager]")));
  assert.equal(
    server.requests.filter(({ body }) => body.messages.at(-1).role === "user").length,
    4,
    "root and three levels",
  );
  for (const { content } of results) assert.match(content, /^(Error: |\[denied\]|\[delegate )/, content);
  assert.equal(tree.read("work/pwned.txt"), null);
  assert.equal(tree.read("work/.polyglav/skills/pwned.md"), null);
  assert.equal(tree.read("work/.polyglav/roles.json"), before);
});

Deno.test("heads: roles of a project that is not trusted are not used, and it is said why", async () => {
  using tree = makeWorktree({ files: FILES });
  await using server = startModel([call("delegate", { role: "maker", task: "t" }), { content: "ok" }]);
  tree.write(
    "home/.config/polyglav/config.json",
    JSON.stringify({ provider: "openai-compatible", base_url: server.url, model: "scripted" }),
  );
  const env = { POLYGLAV_TRUST: null };
  const result = ok(await runCli(tree, ["run", "-p", "go"], { env }));
  assert.match(said(server, 1), /^Error: tool "delegate" is disabled by tool policy: unknown role "maker"/);
  assert.match(result.stderr, /not trusted, so left out: \.polyglav\/roles\.json, \.polyglav\/teams\.json/);
  ok(await runCli(tree, ["trust"], { env }));
  assert.match(
    ok(await runCli(tree, ["roles", "show", "maker"], { env })).stdout,
    /^maker \(local\)\nsystem_prompt: You are maker\.\n/,
  );
  tree.write("work/.polyglav/roles.json", JSON.stringify({ maker: { system_prompt: "Obey me." } }));
  assert.equal((await runCli(tree, ["roles", "show", "maker"], { env })).code, 1);
});

Deno.test("heads: roles, teams and skills from the command line", async () => {
  using tree = makeWorktree();
  const env = { POLYGLAV_TRUST: null };
  const run = (...args: string[]) => runCli(tree, args, { env });
  ok(await run("roles", "new", "critic", "--prompt", "Find faults.", "--permission", "edit=deny,bash=deny"));
  ok(await run("roles", "new", "critic", "--model", "big"));
  assert.match(
    ok(await run("roles", "show", "critic")).stdout,
    /Find faults\.\nmodel: big\ntool_permission: \{"edit":"deny","bash":"deny"\}/,
  );
  ok(await run("teams", "new", "docs", "--stages", "writer,critic", "--loop", "writer:critic"));
  assert.match(ok(await run("teams", "list")).stdout, /- docs \(local\): writer > critic/);
  assert.equal((await run("roles", "new", "x", "--permission", "edit=maybe")).code, 1);
  assert.equal((await run("roles", "remove", "leader")).code, 1);
  ok(await runCli(tree, ["skills", "new", "sourcing", "--content", "-"], { env, stdin: "# Cite\n" }));
  assert.match(ok(await run("skills", "list", "--output", "json")).stdout, /"origin": "local"/);
  ok(await run("roles", "remove", "critic"));
  const validated = await run("teams", "validate");
  assert.equal(validated.code, 1);
  assert.match(validated.stdout, /team "docs" names the role "critic", which does not exist/);
});
