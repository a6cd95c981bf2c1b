import assert from "node:assert/strict";
import { makeWorktree } from "../helpers/worktree.ts";
import { git } from "../../tools/git.ts";
import { gitCommit } from "../../tools/git_commit.ts";
import { call, callAs, repository, script } from "./_commands.ts";

const ignore = Deno.build.os === "windows";
const ALLOWED = { "tool_permission.bash": "allow" };

function test(name: string, body: () => Promise<void>): void {
  Deno.test({ name, ignore, fn: body });
}

test("git_commit stages one path and commits it", async () => {
  using tree = makeWorktree({ files: { "a.txt": "one\n", "b.txt": "b\n" } });
  await repository(tree);
  tree.write("work/a.txt", "two\n");
  tree.write("work/b.txt", "c\n");
  const add = await call(gitCommit, tree, { operation: "add", path: "a.txt" });
  assert.equal(add.content, "$ git add a.txt\nexit 0");
  assert.match(await script(tree, "git status --short"), /^M {2}a\.txt\n M b\.txt\n$/);
  const commit = await callAs(gitCommit, "commit", tree, { msg: "second" });
  assert.match(commit.content, /^\$ git commit -m second\nexit 0\n\[main [0-9a-f]{7}\] second\n/);
  assert.match(await script(tree, "git log --oneline"), /second\n.* first\n$/);
  assert.match(await script(tree, "git status --short"), /^ M b\.txt\n$/);
});

test("all=true stages everything, path with commit takes that alone", async () => {
  using tree = makeWorktree({ files: { "a.txt": "one\n" } });
  await repository(tree);
  tree.write("work/a.txt", "two\n");
  tree.write("work/new.txt", "n\n");
  tree.write("work/other.txt", "o\n");
  await script(tree, "git add other.txt");
  const only = await call(gitCommit, tree, { path: "new.txt", message: "only new" });
  assert.match(only.content, /^\$ git add new\.txt\nexit 0\n\$ git commit -m only new -- new\.txt\nexit 0\n/);
  assert.equal(await script(tree, "git show --name-only --format= HEAD"), "new.txt\n");
  assert.match(await script(tree, "git status --short"), /^ M a\.txt\nA {2}other\.txt\n$/);
  const all = await call(gitCommit, tree, { all: true, message: "rest" });
  assert.match(all.content, /^\$ git add -A\nexit 0\n\$ git commit -m rest\nexit 0\n/);
  assert.equal(await script(tree, "git status --short"), "");
});

test("what is missing is said", async () => {
  using tree = makeWorktree({ files: { "a.txt": "one\n" } });
  const of = async (args: Record<string, unknown>) => (await call(gitCommit, tree, args)).content;
  assert.equal(await of({}), "Error: commit requires a message");
  assert.equal(await of({ message: " \n" }), "Error: commit requires a message");
  assert.equal(await of({ operation: "add" }), "Error: add requires a path or all=true");
  assert.equal(
    await of({ message: "x" }),
    "Error: this directory is not in a git repository (git init makes one)",
  );
  await repository(tree);
  const nothing = await call(gitCommit, tree, { message: "x" });
  assert.equal(nothing.content, "$ git commit -m x\nexit 1\nnothing to commit: nothing is staged");
  assert.equal(nothing.details?.failed, true);
  const none = await call(gitCommit, tree, { operation: "add", path: "none.txt" });
  assert.match(none.content, /^\$ git add none\.txt\nexit 128\nfatal: pathspec 'none\.txt' did not match/);
  assert.match(await of({ path: "--all", message: "x" }), /^Error: path must not begin with "-"/);
});

test("a failed add is not followed by a commit", async () => {
  using tree = makeWorktree({ files: { "a.txt": "one\n", "b.txt": "" } });
  await repository(tree);
  tree.write("work/b.txt", "b\n");
  await script(tree, "git add b.txt");
  const result = await call(gitCommit, tree, { path: "none.txt", message: "x" });
  assert.doesNotMatch(result.content, /git commit/);
  assert.equal((await script(tree, "git log --oneline")).trim().split("\n").length, 1);
});

test("a message is data, whatever it looks like", async () => {
  using tree = makeWorktree({ files: { "a.txt": "one\n" } });
  await repository(tree);
  for (
    const [i, message] of ["--amend", "-F /etc/passwd", "$(touch pwned)\n\nbody `x`", "# not a comment?"]
      .entries()
  ) {
    tree.write("work/a.txt", `${i}\n`);
    const { content } = await call(gitCommit, tree, { path: "a.txt", message });
    assert.match(content, /\nexit (0|1)\n/);
  }
  assert.equal(
    await script(tree, "git log --format=%B --skip=1 -3"),
    "$(touch pwned)\n\nbody `x`\n\n-F /etc/passwd\n\n--amend\n\n",
  );
  assert.equal(tree.read("work/pwned"), null);
});

Deno.test("what sweeps always asks; what changes is denied in a mode that changes nothing", () => {
  const of = (args: Record<string, unknown>, more = {}) =>
    gitCommit.permissionFn?.({ operation: "add", all: false, ...args }, {
      settings: {},
      base: "allow",
      ...more,
    });
  const sweeping = [
    ".",
    "./",
    "",
    "..",
    "../..",
    "/",
    "*",
    "*.ts",
    "src/**",
    "a[bc]",
    "a?",
    ":/",
    ":!x",
    ":(top)x",
    "-A",
    "--all",
    "~",
    "src/..",
    "./.",
    "a/../.",
    "\\*",
  ];
  for (const path of sweeping) {
    if (path === "") assert.equal(of({ path }), null);
    else assert.equal((of({ path }) as { action: string })?.action, "ask", path);
  }
  for (const path of ["a.txt", "src", "src/a b.ts", "./x", "a/../b", ".github", "..x"]) {
    assert.equal(of({ path }), null, path);
  }
  assert.equal((of({ all: true }) as { action: string }).action, "ask");
  assert.equal((of({ path: "a" }, { readOnly: true }) as { action: string }).action, "deny");
});

test("another name of the worktree is refused without all=true", async () => {
  using tree = makeWorktree({ files: { "a.txt": "one\n" }, links: { here: ".", "sub/up": ".." } });
  await repository(tree);
  for (const path of [tree.work, "here", "sub/up"]) {
    assert.match(
      (await call(gitCommit, tree, { operation: "add", path })).content,
      /^Error: the path .* is the whole worktree; pass all=true$/,
    );
  }
});

test("globs stage what they match, a leading colon is no magic", async () => {
  using tree = makeWorktree({ files: { "a.ts": "", "b.ts": "", "c.md": "" } });
  await repository(tree);
  for (const name of ["a.ts", "b.ts", "c.md"]) tree.write(`work/${name}`, "x\n");
  assert.match((await call(gitCommit, tree, { operation: "add", path: "*.ts" })).content, /exit 0$/);
  assert.equal(await script(tree, "git diff --cached --name-only"), "a.ts\nb.ts\n");
  assert.match(
    (await call(gitCommit, tree, { operation: "add", path: ":/" })).content,
    /exit 128\nfatal: pathspec/,
  );
});

test("hooks do not run unless bash is allowed, and that is said", async () => {
  using tree = makeWorktree({ files: { "a.txt": "one\n" } });
  await repository(tree);
  for (const hook of ["pre-commit", "commit-msg", "post-commit", "prepare-commit-msg"]) {
    tree.write(`work/.git/hooks/${hook}`, `#!/bin/sh\necho ${hook} >> ${tree.outside}/ran\n`);
    Deno.chmodSync(`${tree.work}/.git/hooks/${hook}`, 0o755);
  }
  tree.write("work/.git/hooks/pre-push", "#!/bin/sh\n");
  const configs: Record<string, unknown>[] = [
    {},
    { "tool_permission.bash": "ask" },
    { "tool_permission.bash": "deny" },
    { ...ALLOWED, "tool_permission.bash_allow": ["git status"] },
    { ...ALLOWED, "tools.deny": ["run_command"] },
    { ...ALLOWED, "tools.allow": ["git_commit"] },
    { ...ALLOWED, mode: "careful", modes: { careful: { tool_permission: { bash: "ask" } } } },
  ];
  for (const [i, config] of configs.entries()) {
    tree.write("work/a.txt", `${i}\n`);
    const { content } = await call(gitCommit, tree, { path: "a.txt", message: "m" }, { config });
    assert.match(
      content,
      /\(hooks were not run \(commit-msg, post-commit, pre-commit, prepare-commit-msg\): they run only where tool_permission\.bash is "allow"\)$/,
    );
    assert.equal(tree.read("outside/ran"), null, JSON.stringify(config));
  }
  tree.write("work/a.txt", "allowed\n");
  const { content } = await call(gitCommit, tree, { path: "a.txt", message: "m" }, { config: ALLOWED });
  assert.doesNotMatch(content, /hooks were not run/);
  assert.equal(tree.read("outside/ran"), "pre-commit\nprepare-commit-msg\ncommit-msg\npost-commit\n");
});

test("hooks of core.hooksPath do not run either, and a failing hook fails the commit where they run", async () => {
  using tree = makeWorktree({
    files: { "a.txt": "one\n", "hooks/pre-commit": `#!/bin/sh\necho refused; exit 1\n` },
  });
  await repository(tree);
  Deno.chmodSync(`${tree.work}/hooks/pre-commit`, 0o755);
  await script(tree, "git config core.hooksPath hooks");
  tree.write("work/a.txt", "two\n");
  const skipped = await call(gitCommit, tree, { path: "a.txt", message: "m" });
  assert.match(skipped.content, /\nexit 0\n[^]*\(hooks were not run \(pre-commit\)/);
  tree.write("work/a.txt", "three\n");
  const refused = await call(gitCommit, tree, { path: "a.txt", message: "m" }, { config: ALLOWED });
  assert.match(refused.content, /\$ git commit -m m -- a\.txt\nexit 1\nrefused$/);
});

test("neither gpg, an editor, a filter, fsmonitor nor gc starts", async () => {
  using tree = makeWorktree({ files: { "a.txt": "one\n" } });
  await repository(tree);
  tree.write("outside/run.sh", `#!/bin/sh\necho "$*" >> ${tree.outside}/pwned\n`);
  Deno.chmodSync(`${tree.outside}/run.sh`, 0o755);
  await script(
    tree,
    `RUN=${tree.outside}/run.sh; for key in gpg.program gpg.ssh.program core.editor sequence.editor core.pager core.sshCommand gc.recentObjectsHook diff.external; do git config $key "$RUN"; done
git config commit.gpgSign true; git config commit.verbose true; git config gc.auto 1; git config maintenance.auto true; git config core.fsmonitor "$RUN"; git config trailer.x.command "$RUN"; git config commit.template $RUN; rm -f ${tree.outside}/pwned`,
  );
  tree.write("work/a.txt", "two\n");
  const { content } = await call(gitCommit, tree, { all: true, message: "m" }, { config: ALLOWED });
  assert.match(content, /\nexit 0\n\[main [^]*\(not signed: git_commit starts no gpg\)$/);
  assert.equal(tree.read("outside/pwned"), null);
});

test("a file that goes through a filter is not stored as what it is not", async () => {
  using tree = makeWorktree({ files: { "a.txt": "one\n", "big.bin": "pointer\n" } });
  await repository(tree);
  await script(
    tree,
    `echo '*.bin filter=large' > .gitattributes; git config filter.large.clean "tr a-z A-Z; touch ${tree.outside}/ran #"; git config filter.large.required true; git add .gitattributes; rm -f ${tree.outside}/ran`,
  );
  tree.write("work/big.bin", "content\n");
  tree.write("work/a.txt", "two\n");
  for (const args of [{ path: "big.bin" }, { all: true }]) {
    const refused = await call(gitCommit, tree, { operation: "add", ...args });
    assert.match(
      refused.content,
      /^Error: big\.bin goes through the filter "large", a program .*tool_permission\.bash is "allow"$/,
    );
    assert.equal(tree.read("outside/ran"), null);
  }
  assert.equal(
    (await call(gitCommit, tree, { operation: "add", path: "a.txt" })).content,
    "$ git add a.txt\nexit 0",
  );
  assert.equal(
    (await call(gitCommit, tree, { operation: "add", path: "big.bin" }, { config: ALLOWED })).content,
    "$ git add big.bin\nexit 0",
  );
  assert.equal(await script(tree, "git show :big.bin"), "CONTENT\n");
});

test("the first commit, a detached HEAD, a linked worktree and a merge work", async () => {
  using tree = makeWorktree({ files: { "a.txt": "one\n" } });
  await repository(tree);
  await script(tree, "rm -rf .git && git init -q -b main .");
  assert.match(
    (await call(gitCommit, tree, { all: true, message: "root" })).content,
    /\[main \(root-commit\) [0-9a-f]{7}\] root/,
  );
  await script(tree, "git checkout -q --detach");
  tree.write("work/a.txt", "two\n");
  assert.match(
    (await call(gitCommit, tree, { path: "a.txt", message: "d" })).content,
    /\[detached HEAD [0-9a-f]{7}\] d/,
  );
  await script(tree, "git checkout -q main; git worktree add -q linked -b side");
  tree.write("work/linked/a.txt", "side\n");
  assert.match(
    (await call(gitCommit, tree, { cwd: "linked", path: "a.txt", message: "s" })).content,
    /\[side [0-9a-f]{7}\] s/,
  );
  tree.write("work/a.txt", "main\n");
  await call(gitCommit, tree, { path: "a.txt", message: "m" });
  await script(tree, "git merge side || git checkout -q --ours a.txt && git add a.txt");
  assert.match(
    (await call(gitCommit, tree, { message: "merged" })).content,
    /\nexit 0\n\[main [0-9a-f]{7}\] merged/,
  );
  assert.match((await call(git, tree, { operation: "log" })).content, / merged$/m);
});

test("in a larger repository all=true stays in the worktree", async () => {
  using tree = makeWorktree({ files: { "top.txt": "t\n", "sub/in.txt": "i\n" } });
  await repository(tree);
  tree.write("work/top.txt", "T\n");
  tree.write("work/sub/in.txt", "I\n");
  const { content } = await call(gitCommit, tree, { all: true, message: "m" }, {
    worktree: `${tree.work}/sub`,
  });
  assert.match(content, /^\$ git add -A\nexit 0\n/);
  assert.equal(await script(tree, "git show --name-only --format= HEAD"), "sub/in.txt\n");
});
