import assert from "node:assert/strict";
import { decisionLine, mergeAudit } from "../../src/cli/_audit.ts";
import { configure, runCli } from "../helpers/cli.ts";
import { startModel } from "../helpers/model_server.ts";
import { makeWorktree } from "../helpers/worktree.ts";

const command = (text: string) => ({ tool_calls: [{ name: "run_command", arguments: { command: text } }] });
const ignore = Deno.build.os === "windows";

Deno.test({
  name:
    "run --audit writes one list of what was decided and what the runtime saw, and the session has each segment",
  ignore,
  async fn() {
    using tree = makeWorktree({ files: { "a.txt": "hello\n" }, outside: { "s.txt": "SECRET\n" } });
    await using model = startModel([
      command("cat a.txt | wc -l > n.txt"),
      command("cat a.txt; rm a.txt"),
      { tool_calls: [{ name: "file_read", arguments: { path: "../outside/s.txt" } }] },
      { content: "done" },
    ]);
    configure(tree, {
      provider: "openai-compatible",
      base_url: model.url,
      model: "scripted",
      tool_permission: { bash: "allow", bash_allow: ["cat", "wc"] },
    });
    const { code, stderr } = await runCli(tree, [
      "run",
      "-p",
      "go",
      "--session-id",
      "one",
      "--audit",
      "audit.jsonl",
    ]);
    assert.equal(code, 0, stderr);
    const file = `${tree.root}/audit.jsonl`;
    assert.equal(Deno.statSync(file).mode! & 0o777, 0o600);
    const list = Deno.readTextFileSync(file).trim().split("\n").map((line) => JSON.parse(line));
    const decided = list.filter(({ source }) => source === "policy");
    assert.deepEqual(decided.map(({ tool, decision }) => [tool, decision]), [
      ["run_command", "granted"],
      ["run_command", "denied"],
      ["file_read", "declined"],
    ]);
    assert.deepEqual(
      decided[0].segments.map(({ text, allowed }: Record<string, unknown>) => [text, allowed]),
      [
        ["cat a.txt", true],
        ["wc -l > n.txt", true],
      ],
    );
    assert.deepEqual(
      decided[1].segments.map(({ text, allowed }: Record<string, unknown>) => [text, allowed]),
      [
        ["cat a.txt", true],
        ["rm a.txt", false],
      ],
    );
    const seen = list.filter(({ source }) => source === "runtime");
    assert.ok(seen.some(({ permission, value }) => permission === "write" && value === `${tree.work}/n.txt`));
    assert.ok(seen.every(({ count, timestamp }) => count >= 1 && !Number.isNaN(Date.parse(timestamp))));
    const times = list.map(({ timestamp }) => Date.parse(timestamp));
    assert.deepEqual(times, [...times].sort((a, b) => a - b));

    const shown = await runCli(tree, ["sessions", "show", "one", "--output", "json"]);
    const { permissions } = JSON.parse(shown.stdout);
    assert.deepEqual(permissions.map(({ decision }: { decision: string }) => decision), [
      "granted",
      "denied",
      "declined",
    ]);
    assert.deepEqual(permissions[1].segments, decided[1].segments);
    const text = (await runCli(tree, ["sessions", "show", "one"])).stdout;
    assert.match(text, /^ +ok +wc -l > n\.txt: matches `wc`$/m);
    assert.match(text, /^ +ok +cat a\.txt: matches `cat`\n +no +rm a\.txt: `rm` matches no entry$/m);
    assert.equal(tree.read("work/a.txt"), "hello\n");
  },
});

Deno.test("run --audit says before the run where no file can be written", async () => {
  using tree = makeWorktree();
  configure(tree, { provider: "openai-compatible", base_url: "http://127.0.0.1:9/v1", model: "x" });
  for (const [file, why] of [["none/a.jsonl", /make it first/], ["work", /is a directory/]] as const) {
    const { code, stderr } = await runCli(tree, ["run", "-p", "go", "--audit", file]);
    assert.equal(code, 2);
    assert.match(stderr, why);
  }
});

Deno.test({
  name: "run --audit refuses a link that leads out of the project, and leaves what it leads to",
  ignore,
  async fn() {
    using tree = makeWorktree({
      outside: { "keep.txt": "PRECIOUS\n" },
      links: { "audit.jsonl": "../outside/keep.txt" },
    });
    await using model = startModel([{ content: "done" }]);
    configure(tree, { provider: "openai-compatible", base_url: model.url, model: "scripted" });
    const run = () => runCli(tree, ["run", "-p", "go", "--audit", `${tree.work}/audit.jsonl`]);
    const { code, stderr } = await run();
    assert.equal(code, 2);
    assert.match(stderr, /leads out of the project/);
    assert.equal(model.requests.length, 0, "nothing runs without the audit that was asked for");
    assert.equal(tree.read("outside/keep.txt"), "PRECIOUS\n");
    // A link within the project is replaced, and not what it leads to.
    Deno.removeSync(`${tree.work}/audit.jsonl`);
    tree.write("work/kept.txt", "mine");
    Deno.symlinkSync("kept.txt", `${tree.work}/audit.jsonl`);
    assert.equal((await run()).code, 0);
    assert.equal(tree.read("work/kept.txt"), "mine");
    assert.ok(Deno.lstatSync(`${tree.work}/audit.jsonl`).isFile);
  },
});

Deno.test("an audit counts repeated accesses, keeps the order of time and tells of lines that are torn", () => {
  const entry = (timestamp: string) => ({
    tool: "t",
    action: "allow" as const,
    decision: "granted" as const,
    timestamp,
    rule: "r",
    reason: "w",
  });
  const runtime = [
    '{"v":1,"datetime":"2026-01-01T00:00:01Z","permission":"read","value":"/a"}',
    '{"v":1,"datetime":"2026-01-01T00:00:05Z","permission":"read","value":"/a"}',
    '{"v":1,"datetime":"2026-01-01T00:00:03Z","permission":"write","value":"/a"}',
    '{"v":1,"datet',
  ].join("\n");
  const lines = mergeAudit(decisionLine(entry("2026-01-01T00:00:02.500Z")), runtime).trim().split("\n");
  assert.deepEqual(lines.map((line) => JSON.parse(line)), [
    {
      source: "runtime",
      timestamp: "2026-01-01T00:00:01Z",
      permission: "read",
      value: "/a",
      count: 2,
      last: "2026-01-01T00:00:05Z",
    },
    { source: "policy", ...entry("2026-01-01T00:00:02.500Z") },
    {
      source: "runtime",
      timestamp: "2026-01-01T00:00:03Z",
      permission: "write",
      value: "/a",
      count: 1,
      last: "2026-01-01T00:00:03Z",
    },
    { source: "audit", problem: "1 lines could not be read" },
  ]);
});

Deno.test("policy explain shows each segment once, and the programs that may be started", async () => {
  using tree = makeWorktree();
  configure(tree, { tool_permission: { bash: "ask", bash_allow: ["ls", "cat"] } });
  const explain = async (text: string) =>
    (await runCli(tree, ["policy", "explain", "run_command", JSON.stringify({ command: text })])).stdout;
  const refused = await explain("ls && cat $(id) | sh");
  assert.equal(refused.split("\n").filter((line) => line.startsWith("  refused")).length, 2, refused);
  assert.match(refused, /allowed {2}ls/);
  assert.match(refused, /--allow-run=\S*\/ls,\S*\/cat/);
  const asked = await explain("ls | cat");
  assert.match(asked, /^run_command: ask/);
  assert.equal(asked.split("\n").filter((line) => line.startsWith("  allowed")).length, 2);
  assert.match(asked, /--allow-run=\S*\/ls,\S*\/cat/);
});

Deno.test("policy explain as JSON has verdicts and programs, for a refused call and for bash_auto, too", async () => {
  using tree = makeWorktree();
  const explain = async (text: string) => {
    const call = ["policy", "explain", "run_command", JSON.stringify({ command: text }), "--output", "json"];
    const { action, rule, command, programs } = JSON.parse((await runCli(tree, call)).stdout);
    const verdicts = command.segments.map((each: Record<string, unknown>) => [each.text, each.allowed]);
    const names = programs.map((path: string) => path.split("/").at(-1));
    return { action, rule, mode: command.mode, verdicts, names };
  };
  configure(tree, { tool_permission: { bash: "allow", bash_allow: ["ls", "cat"] } });
  const refused = await explain("ls > ../x && cat a; rm a");
  assert.deepEqual([refused.action, refused.mode], ["deny", "tree"]);
  assert.deepEqual(refused.verdicts, [["ls > ../x", false], ["cat a", true], ["rm a", false]]);
  assert.ok(refused.names.includes("ls") && refused.names.includes("cat") && !refused.names.includes("sh"));

  configure(tree, { tool_permission: { bash: "ask", bash_auto: ["ls", "git status"] } });
  const auto = await explain("ls | ls -a");
  assert.deepEqual([auto.action, auto.rule, auto.mode], ["allow", "tool_permission.bash_auto", "tree"]);
  assert.deepEqual(auto.verdicts, [["ls", true], ["ls -a", true]]);
  const asked = await explain("ls && git push");
  assert.deepEqual([asked.action, asked.rule, asked.mode], ["ask", "tool_permission.bash", "shell"]);
  assert.deepEqual(asked.verdicts, [["ls", true], ["git push", false]]);
});

Deno.test("a refusal names the program or construct, the segment and what is allowed", async () => {
  using tree = makeWorktree({ files: { "a.txt": "one\n" } });
  configure(tree, { tool_permission: { bash: "allow", bash_allow: ["cat", "git log"] } });
  for (
    const [text, what, segment] of [
      ["cat a.txt; wc a.txt", "`wc`", "wc a.txt"],
      ["cat a.txt && cat a.txt > ../x", "outside the worktree", "cat a.txt > ../x"],
      ["git log --output=x", "--output=x", "git log --output=x"],
    ] as const
  ) {
    const { code, stdout } = await runCli(tree, ["tool", "run_command", JSON.stringify({ command: text })]);
    assert.equal(code, 1);
    assert.ok(stdout.startsWith('Error: tool "run_command" is disabled by tool policy: '), stdout);
    for (const part of [what, `(in: ${segment})`, "allowed: cat, git log"]) {
      assert.ok(stdout.includes(part), `${part} in ${stdout}`);
    }
  }
});

Deno.test({
  name: "code_test runs a project's Deno task where bash is allowed without a list",
  ignore,
  async fn() {
    using tree = makeWorktree({ files: { "deno.json": '{"tasks": {"test": "echo ran > ran.txt"}}' } });
    configure(tree, { tool_permission: { bash: "allow" } });
    const { code, stdout } = await runCli(tree, ["tool", "code_test", "{}"]);
    assert.equal(code, 0, stdout);
    assert.match(stdout, /^\$ deno task test\n\[deno\.json: task test\]\nexit 0\n/);
    assert.equal(tree.read("work/ran.txt"), "ran\n");
  },
});

Deno.test({
  name: "tools that start programs are held to the allowlist, Deno's tasks are refused under one",
  ignore,
  async fn() {
    using tree = makeWorktree({ files: { "deno.json": '{"tasks": {"test": "echo ran > ran.txt"}}' } });
    configure(tree, { tool_permission: { bash: "allow", bash_allow: ["ls", "env", "git status"] } });
    const { code, stdout } = await runCli(tree, ["tool", "code_test", "{}"]);
    assert.equal(code, 1);
    assert.match(stdout, /^Error: .*bash_allow/);
    configure(tree, {
      tool_permission: { bash: "allow", bash_allow: ["env deno task test", "deno", "env"] },
    });
    const spelled = await runCli(tree, ["tool", "code_test", "{}"]);
    assert.equal(spelled.code, 1);
    assert.match(spelled.stdout, /^Error: .*Deno/);
    assert.equal(tree.read("work/ran.txt"), null);

    Deno.removeSync(`${tree.work}/deno.json`);
    tree.write("work/Makefile", "test:\n\techo ran > ran.txt\nlint:\n\techo ran > ran.txt\n");
    configure(tree, { tool_permission: { bash: "allow", bash_allow: ["ls", "make test"] } });
    const other = await runCli(tree, ["tool", "code_lint", "{}"]);
    assert.match(
      other.stdout,
      /^Error: .*"make lint", which tool_permission\.bash_allow does not list: ls, make test/,
    );
    assert.equal(tree.read("work/ran.txt"), null);
    const listed = await runCli(tree, ["tool", "code_test", "{}"]);
    assert.equal(listed.code, 0, listed.stdout);
    assert.equal(tree.read("work/ran.txt"), "ran\n");
  },
});

Deno.test({
  name: "a missing program is told as a shell tells it, confined or not",
  ignore,
  async fn() {
    using tree = makeWorktree();
    for (const confine of ["off", "auto"]) {
      configure(tree, {
        tool_permission: { bash: "allow", bash_allow: ["nosuchprogram", "/nosuch/program"] },
        exec: { confine },
      });
      for (
        const [text, why] of [
          ["nosuchprogram a", "nosuchprogram: command not found"],
          ["/nosuch/program", "/nosuch/program: No such file or directory"],
        ] as const
      ) {
        const { stdout } = await runCli(tree, ["tool", "run_command", JSON.stringify({ command: text })]);
        assert.equal(stdout, `$ ${text}\nexit 127\n${why}\n`, confine);
      }
    }
  },
});
