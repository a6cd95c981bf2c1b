import { deepEqual, equal, match, ok } from "node:assert/strict";
import { makeWorktree } from "../helpers/worktree.ts";
import { cli } from "./_cli.ts";
import { write } from "./_support.ts";

const PROJECT = {
  provider: "ollama",
  dev: { test_cmd: "sh \u001b[2J x" },
  max_rounds: 5,
  tool_permission: { bash: "allow" },
};

Deno.test("trust shows what needs it before it is recorded, and then all of it counts", async () => {
  using tree = makeWorktree();
  write(tree, { project: PROJECT });
  equal((await cli(tree, ["config", "get", "provider"])).out, "auto\n");
  const { code, out, err } = await cli(tree, ["trust"]);
  deepEqual([code, err], [0, ""]);
  deepEqual(out.split("\n"), [
    ".polyglav/config.json sets these keys, which need trust:",
    '  provider = "ollama"',
    '  dev.test_cmd = "sh \\u001b[2J x"',
    '  tool_permission.bash = "allow"',
    `Trusted as it is now: ${tree.work}`,
    "",
  ]);
  const after = await cli(tree, ["config", "get", "provider"]);
  deepEqual([after.out, after.err], ["ollama\n", ""]);
  match((await cli(tree, ["trust"])).out, /Trusted already: /);
});

Deno.test("a changed file has to be trusted again", async () => {
  using tree = makeWorktree();
  write(tree, { project: PROJECT });
  await cli(tree, ["trust"]);
  write(tree, { project: { ...PROJECT, base_url: "http://127.0.0.1:1" } });
  const { out, err } = await cli(tree, ["config", "get", "provider"]);
  equal(out, "auto\n");
  match(err, /is not trusted.*base_url/);
  match((await cli(tree, ["trust", "--list"])).out, /^changed /);
  match((await cli(tree, ["trust"])).out, /base_url = .*\n(.*\n)*Trusted as it is now/);
  match((await cli(tree, ["trust", "--list"])).out, /^trusted /);
});

Deno.test("revoke ends the trust, also in a project that is gone", async () => {
  using tree = makeWorktree();
  write(tree, { project: PROJECT });
  await cli(tree, ["trust"]);
  equal((await cli(tree, ["trust", "--revoke"])).out, `No longer trusted: ${tree.work}\n`);
  equal((await cli(tree, ["trust", "--revoke"])).out, `Was not trusted: ${tree.work}\n`);
  equal((await cli(tree, ["config", "get", "provider"])).out, "auto\n");
  await cli(tree, ["trust"]);
  Deno.removeSync(tree.work, { recursive: true });
  const gone = { cwd: tree.root };
  match((await cli(tree, ["trust", "--list"], gone)).out, /^missing /);
  equal(
    (await cli(tree, ["trust", "--revoke", "--path", "work"], gone)).out,
    `No longer trusted: ${tree.work}\n`,
  );
  deepEqual(await cli(tree, ["trust", "--list"], gone), { code: 0, out: "", err: "No project is trusted\n" });
});

Deno.test("without a file of the project there is nothing to trust, now or later", async () => {
  using tree = makeWorktree();
  const { code, err } = await cli(tree, ["trust"]);
  equal(code, 1);
  match(err, /There is no \.polyglav\/config\.json in .*nothing to trust/);
  equal(tree.read("home/.config/polyglav/trust.json"), null);
  write(tree, { project: PROJECT });
  equal((await cli(tree, ["config", "get", "provider"])).out, "auto\n");
});

Deno.test("a file that only narrows needs no trust, and may be trusted all the same", async () => {
  using tree = makeWorktree();
  write(tree, { project: { max_rounds: 5 } });
  match((await cli(tree, ["trust"])).out, /sets nothing that needs trust\nTrusted as it is now/);
});

Deno.test("a broken file of the project is not trusted", async () => {
  using tree = makeWorktree();
  for (const project of ["{", { max_rounds: "x" }, { mode: "nowhere" }]) {
    write(tree, { project });
    const { code, out } = await cli(tree, ["trust"]);
    deepEqual([code, out], [2, ""], JSON.stringify(project));
  }
  equal(tree.read("home/.config/polyglav/trust.json"), null);
});

Deno.test("a broken record is an error that names it, and stays as it is", async () => {
  using tree = makeWorktree();
  write(tree, { project: PROJECT });
  tree.write("home/.config/polyglav/trust.json", '{"version": 1}');
  for (const words of [["trust"], ["trust", "--list"], ["trust", "--revoke"], ["config", "list"]]) {
    const { code, err } = await cli(tree, words);
    equal(code, 2, words.join(" "));
    ok(err.includes(`${tree.home}/.config/polyglav/trust.json is no list of trusted projects`), err);
  }
  equal(tree.read("home/.config/polyglav/trust.json"), '{"version": 1}');
});

Deno.test("list and revoke exclude each other", async () => {
  using tree = makeWorktree();
  equal((await cli(tree, ["trust", "--list", "--revoke"])).code, 2);
});
