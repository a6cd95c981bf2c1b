import assert from "node:assert/strict";
import { configure, runCli } from "../helpers/cli.ts";
import { makeWorktree } from "../helpers/worktree.ts";
import { VERSION } from "../../src/cli/_version.ts";

Deno.test("--version prints the version of deno.json", async () => {
  using tree = makeWorktree();
  const config = JSON.parse(Deno.readTextFileSync(new URL("../../deno.json", import.meta.url)));
  assert.equal(config.version, VERSION);
  const { code, stdout, stderr } = await runVersion(tree);
  assert.deepEqual([code, stdout, stderr], [0, `polyglav ${VERSION}\n`, ""]);
});

async function runVersion(tree: ReturnType<typeof makeWorktree>) {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", decodeURIComponent(new URL("../../main.ts", import.meta.url).pathname), "--version"],
    cwd: tree.root,
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const [stdout, stderr, status] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.status,
  ]);
  return { code: status.code, stdout, stderr };
}

Deno.test("an unknown command and an unknown option suggest the nearest on standard error and exit 2", async () => {
  using tree = makeWorktree();
  const command = await runCli(tree, ["rnu"]);
  assert.deepEqual([command.code, command.stdout], [2, ""]);
  assert.match(command.stderr, /unknown command "rnu", did you mean "run"\?/);
  const option = await runCli(tree, ["run", "--promt", "x"]);
  assert.deepEqual([option.code, option.stdout], [2, ""]);
  assert.match(option.stderr, /did you mean "--prompt"\?/);
});

for (
  const words of [
    [],
    ["run"],
    ["tool"],
    ["policy"],
    ["policy", "explain"],
    ["sessions"],
    ["sessions", "show"],
    ["config"],
    ["config", "set"],
    ["trust"],
    ["doctor"],
  ]
) {
  Deno.test(`help of "${words.join(" ")}" shows usage, examples and exit codes on standard output`, async () => {
    using tree = makeWorktree();
    const { code, stdout, stderr } = await runCli(tree, [...words, "--help"]);
    assert.deepEqual([code, stderr], [0, ""]);
    assert.match(stdout, /^Usage: polyglav/m);
    assert.match(stdout, /^Examples:\n {2}polyglav /m);
    assert.match(stdout, /^ {2}130 {2}cancelled$/m);
  });
}

Deno.test("--path may stand before the command, and --version and help answer whatever follows", async () => {
  using tree = makeWorktree({ files: { "only.txt": "x" } });
  for (const before of [["--path", tree.work], [`--path=${tree.work}`]]) {
    const listed = await runCli(tree, [...before, "tool", "list_dir"], { flags: ["-A"] });
    assert.deepEqual([listed.code, listed.stderr], [0, ""]);
    assert.match(listed.stdout, /only\.txt/);
  }
  assert.equal((await runCli(tree, ["--version"])).stdout, `polyglav ${VERSION}\n`);
  assert.equal((await runCli(tree, ["--path", ".", "-V"])).stdout, `polyglav ${VERSION}\n`);
  const help = await runCli(tree, ["help"]);
  assert.equal(help.code, 0);
  assert.match(help.stdout, /^Usage: polyglav COMMAND/m);
});

Deno.test({
  name: "a project folder behind a link works, also under the ceiling",
  ignore: Deno.build.os === "windows",
  async fn() {
    using tree = makeWorktree({ files: { "a.txt": "linked\n" } });
    Deno.symlinkSync(tree.work, `${tree.root}/door`);
    for (const path of [["--path", "door"], ["--path=door"], ["--path", `${tree.root}/door/`]]) {
      const read = await runCli(tree, ["tool", "file_read", '{"path":"a.txt"}', ...path, "--path", "door"]);
      assert.deepEqual([read.code, read.stderr], [0, ""]);
      assert.match(read.stdout, /1\|linked/);
    }
  },
});

Deno.test("a name in a list of tools that no tool has is told, with the nearest one", async () => {
  using tree = makeWorktree();
  configure(tree, {
    tools: { deny: ["file_raed", "View", "other.plugin"] },
    modes: { m: { tools: { allow: ["list_dir", "gerp"] } } },
  });
  const plain = await runCli(tree, ["tool", "list_dir"]);
  assert.equal(plain.code, 0);
  assert.equal(
    plain.stderr,
    'Warning: tools.deny names "file_raed", which is no tool here; did you mean file_read?\n',
  );
  const mode = await runCli(tree, ["tool", "list_dir", "{}", "--mode", "m"]);
  assert.match(
    mode.stderr,
    /modes\.m\.tools\.allow names "gerp", which is no tool here; did you mean grep\?/,
  );
});

Deno.test("a project folder that is not there is a usage error", async () => {
  using tree = makeWorktree();
  const { code, stderr } = await runCli(tree, ["tool", "list_dir", "{}", "--path", `${tree.work}/nope`]);
  assert.equal(code, 2);
  assert.match(stderr, /nope does not exist; give a directory/);
});

Deno.test("output to a reader that has left is no crash", async () => {
  using tree = makeWorktree({ files: { "a.txt": "x\n".repeat(20_000) } });
  const { stderr } = await runCli(tree, ["tool", "file_read", '{"path": "a.txt", "limit": 20000}'], {
    during: async (child) => {
      await child.stdout.cancel().catch(() => {});
    },
  }).catch(() => ({ stderr: "" }));
  assert.ok(!stderr.includes("Uncaught"), stderr);
});
