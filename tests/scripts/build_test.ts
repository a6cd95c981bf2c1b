import assert from "node:assert/strict";
import { build } from "../../scripts/build.ts";
import { configure, runCli } from "../helpers/cli.ts";
import { makeWorktree } from "../helpers/worktree.ts";

const root = decodeURIComponent(new URL("../..", import.meta.url).pathname).replace(/\/$/, "");

let folder: string | null = null;
globalThis.addEventListener("unload", () => folder && Deno.removeSync(folder, { recursive: true }));

/** The build of these tests, made once, in a folder whose name is not plain; its main module. */
async function made(): Promise<string> {
  if (folder === null) {
    folder = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "polyglav build " }));
    await build(root, `${folder}/a build`);
  }
  return `${folder}/a build/main.js`;
}

Deno.test("a build runs from its own folder: workers, commands, the ceiling, a recorded turn, the same answers", async () => {
  using tree = makeWorktree({ files: { "a.txt": "one needle\n", "b/c.txt": "none\n" } });
  const main = await made();
  const run = (...args: string[]) => runCli(tree, args, { main });

  const version = await run("--version");
  assert.equal(version.stdout, (await runCli(tree, ["--version"])).stdout);
  assert.equal(version.stderr, "");
  const read = await run("tool", "grep", '{"pattern": "needle"}');
  assert.deepEqual(read, await runCli(tree, ["tool", "grep", '{"pattern": "needle"}']));
  assert.equal(read.code, 0);
  const command = await run("tool", "run_command", '{"command": "echo hi > out.txt; cat out.txt"}', "--yes");
  assert.match(command.stdout, /exit 0\nhi/);
  const written = await run("tool", "file_write", '{"path": "new.txt", "content": "x"}');
  assert.equal(written.code, 0, written.stderr);
  assert.equal(tree.read("work/new.txt"), "x");
  await using server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, () => {
    return new Response("<h1>Hello</h1><p>from a page</p>", { headers: { "content-type": "text/html" } });
  });
  configure(tree, { web: { private: true } });
  const page = await run("tool", "web_fetch", `{"url": "http://127.0.0.1:${server.addr.port}/"}`);
  assert.match(page.stdout, /# Hello[^]*from a page/);
  const outside = await run("tool", "file_read", JSON.stringify({ path: main }));
  assert.notEqual(outside.code, 0, "the build itself lies outside of the worktree");
  const doctor = await run("doctor");
  assert.match(doctor.stdout, /ceiling/i);
  assert.deepEqual(
    (await run("doctor")).stdout.replaceAll(/\d+/g, "N"),
    (await runCli(tree, ["doctor"])).stdout.replaceAll(/\d+/g, "N"),
  );
  const turn = await run(
    ...["run", "-p", "what is sold here?", "--replay", `${root}/tests/fixtures/shop.replay.jsonl`],
    ...["--output", "text"],
  );
  assert.notEqual(turn.code, 2, turn.stderr);
});

Deno.test("a plugin's host starts from a build, and its tool answers", async () => {
  using tree = makeWorktree({ files: {} });
  const main = await made();
  const source = `${root}/tests/fixtures/plugins/word-stats`;
  const installed = await runCli(tree, ["plugins", "install", source], { main });
  assert.equal(installed.code, 0, installed.stderr);
  const tested = await runCli(tree, ["plugins", "test", "word-stats"], { main });
  assert.deepEqual(tested, await runCli(tree, ["plugins", "test", "word-stats"]));
  assert.equal(tested.code, 0, tested.stdout + tested.stderr);
});

Deno.test("a folder that holds something else is not replaced by a build", async () => {
  using tree = makeWorktree({ files: { "keep.txt": "mine" } });
  await assert.rejects(build(root, tree.work), /no build/);
  assert.equal(tree.read("work/keep.txt"), "mine");
});

Deno.test("a build leaves what lies beside it alone, and nothing of its own when it fails", async () => {
  using tree = makeWorktree();
  tree.write("b.new/mine.txt", "mine");
  await build(root, `${tree.root}/b`);
  assert.equal(tree.read("b.new/mine.txt"), "mine");
  await assert.rejects(build(`${tree.root}/outside`, `${tree.root}/c`), /Cannot build/);
  await assert.rejects(build(root, `${tree.root}/b.new`), /holds something that is no build/);
  const names = [...Deno.readDirSync(tree.root)].map(({ name }) => name).sort();
  assert.deepEqual(names, ["b", "b.new", "home", "outside", "work"]);
});
