import assert from "node:assert/strict";
import { cliEnvironment, configure, MAIN, runCli } from "../helpers/cli.ts";
import { HAS_TMUX, openPty } from "../helpers/tmux.ts";
import { makeWorktree } from "../helpers/worktree.ts";

Deno.test("a tool's result goes to standard output and nothing else does", async () => {
  using tree = makeWorktree({ files: { "a.txt": "one\n" } });
  assert.deepEqual(await runCli(tree, ["tool", "file_read", '{"path": "a.txt"}']), {
    code: 0,
    stdout: "# a.txt - 1 lines, 4 chars\n1|one\n",
    stderr: "",
  });
});

Deno.test("relative paths are the worktree's, wherever the program was started", async () => {
  using tree = makeWorktree({ files: { "a.txt": "inside\n" } });
  tree.write("a.txt", "of the working directory\n");
  assert.match((await runCli(tree, ["tool", "file_read", '{"path": "a.txt"}'])).stdout, /1\|inside/);
});

Deno.test("without a name the tools are listed with what the policy says", async () => {
  using tree = makeWorktree();
  configure(tree, { tool_permission: { edit: "deny" } });
  const { code, stdout } = await runCli(tree, ["tool"]);
  assert.equal(code, 0);
  assert.match(stdout, /^file_read +allow /m);
  assert.match(stdout, /^file_write +deny /m);
  assert.match(stdout, /^run_command +ask /m);
  const json = JSON.parse((await runCli(tree, ["tool", "--output", "json"])).stdout);
  assert.equal(json.find((t: { name: string }) => t.name === "file_edit").action, "deny");
});

Deno.test("arguments from standard input are read with - and only then", async () => {
  using tree = makeWorktree({ files: { "a.txt": "one\n" } });
  const read = await runCli(tree, ["tool", "file_read", "-"], { stdin: '{"path": "a.txt"}' });
  assert.match(read.stdout, /1\|one/);
  const unread = await runCli(tree, ["tool", "list_dir"], { stdin: '{"path": "nope"}' });
  assert.match(unread.stdout, /a\.txt/);
});

for (
  const [what, args, wanted] of [
    ["an unknown tool", ["browse", "{}"], /^Error: unknown tool "browse"\. Available tools: file_read, /],
    ["broken JSON", ["file_read", '{"path": "a'], /^Error: arguments are not valid JSON/],
    [
      "a missing parameter",
      ["file_read", "{}"],
      /^Error: file_read: parameter "path" is missing, expected a string/,
    ],
    [
      "a path outside",
      ["file_read", '{"path": "../outside/o.txt"}'],
      /^Error: file_read needs approval and nobody is here/,
    ],
    [
      "a call that the policy denies",
      ["file_write", '{"path": "x", "content": ""}', "--mode", "plan"],
      /^Error: tool "file_write" is disabled by tool policy/,
    ],
  ] as const
) {
  Deno.test(`${what} is an Error: on standard output and exit 1`, async () => {
    using tree = makeWorktree({ outside: { "o.txt": "SECRET" } });
    const { code, stdout } = await runCli(tree, ["tool", ...args]);
    assert.equal(code, 1);
    assert.match(stdout, wanted);
    assert.ok(!stdout.includes("SECRET"));
  });
}

Deno.test("an unknown mode is an error that lists the modes, not a wider policy", async () => {
  using tree = makeWorktree();
  const { code, stderr } = await runCli(tree, [
    "tool",
    "file_write",
    '{"path": "x", "content": ""}',
    "--mode",
    "plna",
  ]);
  assert.equal(code, 2);
  assert.match(stderr, /plna/);
  assert.match(stderr, /build.*plan|plan.*build/);
  assert.equal(tree.read("work/x"), null);
});

Deno.test("--yes lifts an ask, and not a deny", async () => {
  using tree = makeWorktree({ outside: { "o.txt": "text\n" } });
  assert.match(
    (await runCli(tree, ["tool", "file_read", '{"path": "../outside/o.txt"}', "--yes"])).stdout,
    /1\|text/,
  );
  const git = await runCli(tree, [
    "tool",
    "file_write",
    '{"path": ".git/hooks/pre-commit", "content": "x"}',
    "--yes",
  ]);
  assert.equal(git.code, 1);
  assert.equal(tree.read("work/.git/hooks/pre-commit"), null);
});

Deno.test("json output tells the outcome and the rule that decided", async () => {
  using tree = makeWorktree({ files: { "a.txt": "one\n" } });
  const ok = JSON.parse(
    (await runCli(tree, ["tool", "read", '{"file": "a.txt"}', "--output", "json"])).stdout,
  );
  assert.deepEqual([ok.tool, ok.arguments.path, ok.is_error, ok.outcome, ok.rule], [
    "file_read",
    "a.txt",
    false,
    "granted",
    "tool_permission.read",
  ]);
  const no = JSON.parse(
    (await runCli(tree, ["tool", "file_read", '{"path": "/etc/hostname"}', "--output", "json"])).stdout,
  );
  assert.deepEqual([no.is_error, no.outcome, no.rule], [true, "declined", "worktree"]);
});

Deno.test("the process that runs a tool cannot start Deno, reach the network or read beyond the worktree", async () => {
  using tree = makeWorktree();
  const flags = (await runCli(tree, ["policy", "--output", "flags"])).stdout.trim().split("\n");
  assert.ok(flags.includes("--no-prompt") && flags.includes("--cached-only"), flags.join(" "));
  assert.ok(
    !flags.some((f) => f === "--allow-all" || f === "-A" || f === "--allow-read" || f === "--allow-write"),
    flags.join(" "),
  );
  // Web tools may ask anywhere but in private networks.
  const net = flags.find((f) => f.startsWith("--deny-net="))!;
  assert.ok(["10.0.0.0/8", "192.168.0.0/16", "169.254.0.0/16"].every((range) => net.includes(range)), net);
  const read = flags.find((f) => f.startsWith("--allow-read="))!;
  assert.ok(read.split(/[=,]/).includes(tree.work), read);
  assert.ok(!read.split(/[=,]/).some((p) => p === "/" || p === tree.root || p === tree.home), read);
  assert.ok(!flags.some((f) => f.startsWith("--allow-run=") && /deno/.test(f)), flags.join(" "));
});

Deno.test("flags that the user chose need worker options, and say so", async () => {
  using tree = makeWorktree({ files: { "a.txt": "one\n" } });
  const root = decodeURIComponent(new URL("../..", import.meta.url).pathname);
  const result = await runCli(tree, ["tool", "file_read", '{"path": "a.txt"}'], {
    flags: [
      "--no-config",
      `--import-map=${root}deno.json`,
      "--no-prompt",
      `--allow-read=${tree.root},${root}`,
      "--allow-env",
      `--allow-write=${tree.work}`,
    ],
  });
  assert.notEqual(result.code, 0);
  assert.match(result.stdout + result.stderr, /--unstable-worker-options/);
});

Deno.test({
  name: "a result does not steer the terminal that it is shown on",
  ignore: !HAS_TMUX,
  async fn() {
    using tree = makeWorktree({ files: { "a.txt": "evil\x1b]0;pwned\x07\x1b[2J text\n" } });
    for (const output of ["text", "json"]) {
      await using pty = await openPty({
        command: [
          Deno.execPath(),
          ...["run", "-A", MAIN, "tool", "file_read", '{"path": "a.txt"}'],
          ...["-o", output, "--path", tree.work],
        ],
        env: cliEnvironment(tree, { TERM: null }),
        cwd: tree.root,
      });
      await pty.waitFor("evil");
      assert.equal(await pty.exit(), 0);
      assert.notEqual(await pty.title(), "pwned", output);
      assert.match(await pty.scrollback(), /evil.*pwned.* text/s);
    }
  },
});
