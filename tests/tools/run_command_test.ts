import assert from "node:assert/strict";
import { makeWorktree } from "../helpers/worktree.ts";
import { runCommand } from "../../tools/run_command.ts";
import { call } from "./_commands.ts";

const ignore = Deno.build.os === "windows";

Deno.test({ name: "run_command shows the command, the exit line and the output", ignore }, async () => {
  using tree = makeWorktree();
  const ok = await call(runCommand, tree, { command: "echo hello" });
  assert.equal(ok.content, "$ echo hello\nexit 0\nhello");
  assert.deepEqual([ok.details?.exitCode, ok.details?.failed], [0, false]);
  const failed = await call(runCommand, tree, { command: "echo out; echo err >&2; exit 3" });
  assert.equal(failed.content, "$ echo out; echo err >&2; exit 3\nexit 3\nout\nerr");
  assert.deepEqual([failed.details?.exitCode, failed.details?.failed], [3, true]);
  assert.equal((await call(runCommand, tree, { command: "true" })).content, "$ true\nexit 0");
});

Deno.test({ name: "run_command reads failure from the exit status, not from text", ignore }, async () => {
  using tree = makeWorktree();
  const liar = await call(runCommand, tree, { command: "echo exit 1 # \nexit 1\n" });
  assert.equal(liar.details?.failed, true);
  const honest = await call(runCommand, tree, { command: "printf 'exit 5\\nError: no\\n'" });
  assert.equal(honest.details?.failed, false);
  assert.equal(honest.content, "$ printf 'exit 5\\nError: no\\n'\nexit 0\nexit 5\nError: no");
  assert.equal(runCommand.error, undefined, "no predicate over text");
});

Deno.test(
  { name: "run_command names cwd only when one is given, relative to the worktree", ignore },
  async () => {
    using tree = makeWorktree({ files: { "sub/x": "", "file.txt": "" } });
    assert.equal(
      (await call(runCommand, tree, { command: "pwd", cwd: "sub" })).content,
      `$ pwd\n[cwd: sub]\nexit 0\n${tree.work}/sub`,
    );
    assert.equal(
      (await call(runCommand, tree, { command: "pwd", cwd: "" })).content,
      `$ pwd\nexit 0\n${tree.work}`,
    );
    assert.equal(
      (await call(runCommand, tree, { command: "pwd", cwd: "no/such/dir" })).content,
      "Error: cwd not found: no/such/dir",
    );
    assert.equal(
      (await call(runCommand, tree, { command: "pwd", cwd: "file.txt" })).content,
      "Error: cwd is not a directory: file.txt",
    );
    assert.match((await call(runCommand, tree, { command: "pwd", cwd: ".." })).content, /^Error: .*outside/);
  },
);

Deno.test("run_command's cwd is a path that the policy sees", () => {
  assert.deepEqual(runCommand.paths?.({ command: "x", cwd: "../y", timeout: 30 }), [{
    path: "../y",
    access: "list",
  }]);
  assert.deepEqual(runCommand.paths?.({ command: "x", timeout: 30 }), []);
});

Deno.test({ name: "run_command says that a timeout ended it, with the output so far", ignore }, async () => {
  using tree = makeWorktree();
  const result = await call(runCommand, tree, { command: "echo early; sleep 20", timeout: 1 });
  assert.equal(result.content, "Error: command timed out after 1s\nearly");
  assert.deepEqual([result.details?.failed, result.details?.timedOut, result.details?.exitCode], [
    true,
    true,
    null,
  ]);
});

Deno.test("run_command refuses a timeout outside 1 to 600", async () => {
  using tree = makeWorktree();
  for (const timeout of [0, -1, 601, 100000]) {
    const { content } = await call(runCommand, tree, { command: "echo never", timeout });
    assert.match(content, new RegExp(`^Error: timeout must be 1 to 600 seconds, got ${timeout};`));
  }
  assert.equal(typeof runCommand.timeout === "function" && runCommand.timeout({ timeout: 30 }), 40_000);
});

Deno.test({ name: "run_command names death by a signal, which is no success", ignore }, async () => {
  using tree = makeWorktree();
  const killed = await call(runCommand, tree, { command: "echo before; kill -KILL $$" });
  assert.equal(killed.content, "$ echo before; kill -KILL $$\nexit 137 (SIGKILL)\nbefore");
  assert.equal(killed.details?.failed, true);
  assert.match(
    (await call(runCommand, tree, { command: "kill -TERM $$" })).content,
    /\nexit 143 \(SIGTERM\)$/,
  );
});

Deno.test("run_command refuses what no shell can be given", async () => {
  using tree = makeWorktree();
  assert.match(
    (await call(runCommand, tree, { command: "  \n" })).content,
    /^Error: command must not be empty/,
  );
  assert.match(
    (await call(runCommand, tree, { command: "echo a\0b" })).content,
    /^Error: command holds a NUL/,
  );
});

Deno.test({ name: "run_command keeps below the cap of results, head and tail", ignore }, async () => {
  using tree = makeWorktree();
  const config = { tool_max_result_chars: 2000 };
  const { content } = await call(runCommand, tree, { command: "seq 1 100000" }, { config });
  assert.ok(content.length <= 2000, `${content.length}`);
  assert.match(content, /^\$ seq 1 100000\nexit 0\n1\n2\n/);
  assert.match(content, /\n\.\.\. \(truncated\) \d+ bytes left out\n/);
  assert.match(content, /\n100000$/);
  const wide = await call(runCommand, tree, { command: "yes äöü€ | head -n 5000" }, { config });
  assert.ok(wide.content.length <= 2000);
  assert.doesNotMatch(wide.content, /\ufffd/, "no character is cut in two");
  const open = await call(runCommand, tree, { command: "seq 1 100000" }, {
    config: { tool_max_result_chars: 0 },
  });
  assert.equal(open.content.length, "$ seq 1 100000\nexit 0\n".length + 588_894);
});

Deno.test(
  { name: "run_command tells of a background process and does not wait for it", ignore },
  async () => {
    using tree = makeWorktree();
    const { content } = await call(runCommand, tree, { command: "sleep 2 & echo started" });
    assert.match(
      content,
      /^\$ sleep 2 & echo started\nexit 0\nstarted\n\(a background process still holds the output; it goes on/,
    );
  },
);

Deno.test("run_command's metadata is what the policy and the user interface build on", () => {
  assert.deepEqual(
    [
      runCommand.permission,
      runCommand.category,
      runCommand.commandArg,
      runCommand.keyArg,
      runCommand.echo,
      runCommand.truncate,
    ],
    ["bash", "exec", "command", "command", true, "middle"],
  );
  assert.deepEqual(runCommand.aliases, ["bash", "exec"]);
  assert.deepEqual(runCommand.paramAliases, { cmd: "command" });
  assert.equal(runCommand.programs?.(null, {})[0], "$shell");
});
