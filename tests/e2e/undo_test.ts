/** Taking back through the real program: headless turns and single calls. @module */
import assert from "node:assert/strict";
import { configure, runCli } from "../helpers/cli.ts";
import { startModel } from "../helpers/model_server.ts";
import { makeWorktree } from "../helpers/worktree.ts";

const write = (path: string, content: string) => ({
  tool_calls: [{ name: "file_write", arguments: { path, content } }],
});

Deno.test("a headless turn is listed, shown, and taken back with --yes", async () => {
  using tree = makeWorktree({ files: { "a.txt": "one\n", "b.txt": "b\n" } });
  await using model = startModel([
    write("a.txt", "two\n"),
    { content: "done" },
    write("a.txt", "three\n"),
    write("new/c.txt", "c\n"),
    { content: "done" },
  ]);
  configure(tree, { provider: "openai-compatible", base_url: model.url, model: "scripted" });
  for (let turn = 1; turn <= 2; turn++) {
    const { code, stderr } = await runCli(tree, ["run", "-p", "go", "--session-id", "monday"]);
    assert.equal(code, 0, stderr);
  }
  assert.equal(tree.read("work/a.txt"), "three\n");
  const list = await runCli(tree, ["undo", "--list"]);
  assert.match(list.stdout, /monday turn 2: a\.txt, new\/c\.txt\n.*monday turn 1: a\.txt\n/);
  const look = await runCli(tree, ["undo"]);
  assert.equal(look.code, 0);
  assert.match(look.stdout, /a\.txt: restore\n {2}@@ .*\n {2}-three\n {2}\+two\nnew\/c\.txt: remove/);
  assert.match(look.stderr, /add --yes/);
  assert.equal(tree.read("work/a.txt"), "three\n");
  const done = await runCli(tree, ["undo", "2", "--session-id", "monday", "--yes"]);
  assert.equal(done.code, 0, done.stderr);
  assert.deepEqual([tree.read("work/a.txt"), tree.read("work/new/c.txt"), tree.read("work/b.txt")], [
    "two\n",
    null,
    "b\n",
  ]);
  const json = await runCli(tree, ["undo", "1", "--yes", "--output", "json"]);
  assert.deepEqual(JSON.parse(json.stdout).files.map((file: { kind: string }) => file.kind), ["restore"]);
  assert.equal(tree.read("work/a.txt"), "one\n");
  const none = await runCli(tree, ["undo"]);
  assert.equal(none.code, 1);
  assert.match(none.stderr, /nothing to take back/);
});

Deno.test("a single call is taken back; a file that changed since is not, and the exit code says so", async () => {
  using tree = makeWorktree({ files: { "a.txt": "one\n" } });
  const tool = await runCli(tree, ["tool", "file_write", '{"path": "a.txt", "content": "two\\n"}']);
  assert.equal(tool.code, 0, tool.stderr);
  tree.write("work/a.txt", "mine\n");
  const refused = await runCli(tree, ["undo", "--yes"]);
  assert.equal(refused.code, 1);
  assert.match(refused.stdout, /a\.txt: left alone, it changed since/);
  assert.equal(tree.read("work/a.txt"), "mine\n");
  tree.write("work/a.txt", "two\n");
  assert.equal((await runCli(tree, ["undo", "--yes"])).code, 0);
  assert.equal(tree.read("work/a.txt"), "one\n");
});
