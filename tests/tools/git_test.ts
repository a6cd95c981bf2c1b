import assert from "node:assert/strict";
import { makeWorktree, type TestTree } from "../helpers/worktree.ts";
import { git } from "../../tools/git.ts";
import { call, callAs, repository, script } from "./_commands.ts";

const ignore = Deno.build.os === "windows";

function test(name: string, body: () => Promise<void>): void {
  Deno.test({ name, ignore, fn: body });
}

test("git status, log, show, branch, rev_parse and diff have their plain heads", async () => {
  using tree = makeWorktree({ files: { "a.txt": "one\n" } });
  await repository(tree);
  const of = async (args: Record<string, unknown>) => (await call(git, tree, args)).content;
  assert.equal(await of({}), "$ git status --short --branch\nexit 0\n## main");
  assert.match(await of({ operation: "log" }), /^\$ git log --oneline -20\nexit 0\n[0-9a-f]{7} first$/);
  assert.match(
    await of({ operation: "log", limit: 5000, path: "a.txt" }),
    /^\$ git log --oneline -100 -- a.txt\nexit 0\n/,
  );
  assert.match(
    await of({ operation: "log", limit: -3, rev: "main" }),
    /^\$ git log --oneline -1 main\nexit 0\n/,
  );
  assert.match(
    await of({ operation: "show" }),
    /^\$ git show --stat\nexit 0\ncommit [0-9a-f]{40}\n[^]* a\.txt \| 1 \+/,
  );
  assert.match(await of({ operation: "show", rev: "HEAD" }), /^\$ git show --stat HEAD\nexit 0\n/);
  assert.equal(
    await of({ operation: "show", rev: "HEAD:a.txt" }),
    "$ git show --stat HEAD:a.txt\nexit 0\none",
  );
  assert.match(await of({ operation: "rev_parse" }), /^\$ git rev-parse HEAD\nexit 0\n[0-9a-f]{40}$/);
  assert.match(
    await of({ operation: "rev_parse", rev: "main" }),
    /^\$ git rev-parse main\nexit 0\n[0-9a-f]{40}$/,
  );
  assert.equal(await of({ operation: "branch" }), "$ git branch -a\nexit 0\n* main");
  tree.write("work/a.txt", "one\ntwo\n");
  assert.match(
    await of({ operation: "diff", path: "a.txt" }),
    /^\$ git diff -- a\.txt\nexit 0\n[^]*\n\+two$/,
  );
  assert.equal(await of({ operation: "diff", staged: true }), "$ git diff --cached\nexit 0");
  assert.match(await of({ operation: "diff", rev: "HEAD" }), /^\$ git diff HEAD\nexit 0\n[^]*\n\+two$/);
  await script(tree, "git add a.txt");
  assert.match(await of({ operation: "diff", staged: true }), /\n\+two$/);
});

test("the aliases preset their operation, which an argument may override", async () => {
  using tree = makeWorktree({ files: { "a.txt": "one\n" } });
  await repository(tree);
  for (
    const [alias, head] of [
      ["git_status", "status"],
      ["git_diff", "diff"],
      ["git_log", "log"],
      ["git_branch", "branch"],
      ["git_show", "show"],
      ["git_rev_parse", "rev-parse"],
    ] as const
  ) {
    assert.match((await callAs(git, alias, tree, {})).content, new RegExp(`^\\$ git ${head}`));
  }
  assert.match((await callAs(git, "git_log", tree, { operation: "branch" })).content, /^\$ git branch -a/);
});

test("cwd is named, checked and followed", async () => {
  using tree = makeWorktree({ files: { "sub/b.txt": "b\n" } });
  await repository(tree);
  tree.write("work/sub/b.txt", "c\n");
  const result = await call(git, tree, { operation: "diff", cwd: "sub", path: "b.txt" });
  assert.match(result.content, /^\$ git diff -- b\.txt\n\[cwd: sub\]\nexit 0\n[^]*\n\+c$/);
  assert.equal((await call(git, tree, { cwd: "none" })).content, "Error: cwd not found: none");
  assert.match((await call(git, tree, { cwd: ".." })).content, /^Error: .*outside/);
});

test("an unknown revision fails with git's exit code", async () => {
  using tree = makeWorktree();
  await repository(tree);
  const result = await call(git, tree, { operation: "show", rev: "no-such-rev" });
  assert.match(result.content, /^\$ git show --stat no-such-rev\nexit 128\nfatal: /);
  assert.equal(result.details?.failed, true);
});

test("no repository, no commits, no git and a foreign owner are each said plainly", async () => {
  using tree = makeWorktree({ files: { "a.txt": "" } });
  for (const operation of ["status", "diff", "log", "show", "branch", "rev_parse"]) {
    assert.equal(
      (await call(git, tree, { operation })).content,
      "Error: this directory is not in a git repository (git init makes one)",
    );
  }
  assert.equal(
    (await call(git, tree, {}, { env: { PATH: tree.outside } })).content,
    "Error: git is not installed or not on PATH",
  );
  await script(tree, "git init -q -b main .");
  assert.equal(
    (await call(git, tree, {})).content,
    "$ git status --short --branch\nexit 0\n## No commits yet on main\n?? a.txt",
  );
  assert.match(
    (await call(git, tree, { operation: "log" })).content,
    /exit 128\nfatal: your current branch 'main' does not have any commits yet/,
  );
  if (Deno.uid() === 0) {
    await script(tree, "chown -R 12345 .");
    assert.match(
      (await call(git, tree, {})).content,
      /^Error: git refuses this repository because another user owns it; if you trust it: git config --global --add safe\.directory \//,
    );
  }
});

test("a detached HEAD, a linked worktree and a submodule work", async () => {
  using tree = makeWorktree({ files: { "a.txt": "one\n" } });
  await repository(tree);
  await script(tree, "git checkout -q --detach");
  assert.match((await call(git, tree, {})).content, /\n## HEAD \(no branch\)$/);
  await script(tree, "git checkout -q main && git worktree add -q linked -b side");
  assert.match((await call(git, tree, { cwd: "linked" })).content, /\n## side$/);
  await script(
    tree,
    `git init -q -b main ${tree.outside}/lib && cd ${tree.outside}/lib && git commit -q --allow-empty -m lib`,
  );
  await script(tree, `git -c protocol.file.allow=always submodule -q add ${tree.outside}/lib lib`);
  assert.match((await call(git, tree, { operation: "log", cwd: "lib" })).content, / lib$/);
  assert.match((await call(git, tree, { cwd: "lib" })).content, /\n## main/);
  assert.match((await call(git, tree, { operation: "diff", staged: true })).content, /\+Subproject commit/);
});

test("in a larger repository only the worktree is shown, and that is said", async () => {
  using tree = makeWorktree({ files: { "top.txt": "t\n", "sub/in.txt": "i\n" } });
  await repository(tree);
  tree.write("work/top.txt", "CHANGED-TOP\n");
  tree.write("work/sub/in.txt", "changed-in\n");
  const worktree = `${tree.work}/sub`;
  for (const operation of ["status", "diff"]) {
    const { content } = await call(git, tree, { operation }, { worktree });
    assert.match(content, /in\.txt/);
    assert.doesNotMatch(content, /top\.txt|CHANGED-TOP/);
    assert.match(
      content,
      new RegExp(
        `\\(the repository begins further up, at ${tree.work}; shown is what lies in the worktree\\)$`,
      ),
    );
  }
});

test("nothing can become an option, and a leading colon is no magic", async () => {
  using tree = makeWorktree({ files: { "a.txt": "one\n", ":!a.txt": "odd\n" } });
  await repository(tree);
  const marker = `${tree.outside}/pwned`;
  const attacks = [
    { operation: "show", rev: `--output=${marker}` },
    { operation: "log", rev: `--output=${marker}` },
    { operation: "diff", rev: `--output=${marker}` },
    { operation: "diff", rev: "--no-index" },
    { operation: "diff", path: `--output=${marker}` },
    { operation: "rev_parse", rev: "--show-toplevel" },
    { operation: "status", path: "-uall" },
    { operation: "log", path: "--all" },
    { operation: "show", rev: "HEAD\n--output=x" },
  ];
  for (const args of attacks) {
    const { content } = await call(git, tree, args);
    assert.match(
      content,
      /^Error: (rev|path) must not (begin with "-"|hold control characters)/,
      JSON.stringify(args),
    );
  }
  assert.equal(tree.read("outside/pwned"), null);
  tree.write("work/a.txt", "two\n");
  tree.write("work/:!a.txt", "even\n");
  const magic = await call(git, tree, { operation: "diff", path: ":!a.txt" });
  assert.match(magic.content, /^\$ git diff -- :!a\.txt\nexit 0\n[^]*\+even$/);
  assert.doesNotMatch(magic.content, /\+two/);
});

test("the policy sees every path that a call names, also inside a revision", () => {
  const of = (args: Record<string, unknown>) =>
    git.paths?.({ operation: "show", limit: 20, staged: false, ...args });
  assert.deepEqual(of({}), []);
  assert.deepEqual(of({ path: "../x" }), [{ path: "../x", access: "read" }]);
  assert.deepEqual(of({ cwd: "sub", path: "../../x" }), [{ path: "sub", access: "list" }, {
    path: "../x",
    access: "read",
  }]);
  assert.deepEqual(of({ path: "src/*.ts" }), [{ path: "src", access: "read" }]);
  assert.deepEqual(of({ rev: "HEAD:.env" }), [{ path: ".env", access: "read" }]);
  assert.deepEqual(of({ rev: ":2:key.pem" }), [{ path: "key.pem", access: "read" }]);
  assert.deepEqual(of({ rev: ":/fix" }), []);
  assert.deepEqual(of({ rev: "main..side" }), []);
  return Promise.resolve();
});

test("a diff leaves out what a path rule keeps from walks, unless it is named", async () => {
  using tree = makeWorktree({ files: { ".env": "KEY=old\n", "a.txt": "one\n", "x/.env": "K=old\n" } });
  await repository(tree);
  for (const name of [".env", "x/.env"]) tree.write(`work/${name}`, "KEY=TOPSECRET\n");
  tree.write("work/a.txt", "two\n");
  const rules = [{ pattern: ".env*", access: "read", action: "ask" }] as const;
  const all = await call(git, tree, { operation: "diff" }, { rules });
  assert.match(all.content, /\+two/);
  assert.doesNotMatch(all.content, /TOPSECRET/);
  assert.match(
    all.content,
    /\(2 files left out by a path rule: \.env, x\/\.env; name one in path to see it\)$/,
  );
  assert.match((await call(git, tree, {}, { rules })).content, /\n M \.env\n/, "names are listed");
  const named = await call(git, tree, { operation: "diff", path: ".env" }, { rules });
  assert.match(named.content, /\+KEY=TOPSECRET/);
});

// Each key of a repository's configuration or attributes that starts a program; the marker must not appear.
interface Hostile {
  readonly name: string;
  /** Makes the worktree hostile; `$RUN` is a program that makes the marker. */
  readonly setup: string;
  readonly calls?: readonly Record<string, unknown>[];
}

const READS: readonly Record<string, unknown>[] = [
  { operation: "status" },
  { operation: "diff" },
  { operation: "diff", staged: true },
  { operation: "diff", rev: "HEAD" },
  { operation: "log" },
  { operation: "log", path: "a.txt" },
  { operation: "show" },
  { operation: "show", rev: "HEAD:a.txt" },
  { operation: "branch" },
  { operation: "rev_parse" },
];

const HOSTILE: readonly Hostile[] = [
  { name: "core.fsmonitor", setup: 'git config core.fsmonitor "$RUN"' },
  {
    name: "core.fsmonitor of a config.worktree",
    setup: 'git config extensions.worktreeConfig true; git config --worktree core.fsmonitor "$RUN"',
  },
  {
    name: "core.fsmonitor of an included file",
    setup: 'printf "[core]\\n\\tfsmonitor = $RUN\\n" > inc; git config include.path ../inc',
  },
  {
    name: "core.pager",
    setup:
      'git config core.pager "$RUN"; git config pager.log "$RUN"; git config pager.show "$RUN"; git config pager.status "$RUN"; git config pager.diff "$RUN"; git config pager.branch "$RUN"',
  },
  { name: "core.editor", setup: 'git config core.editor "$RUN"; git config sequence.editor "$RUN"' },
  { name: "diff.external", setup: 'git config diff.external "$RUN"' },
  {
    name: "diff.<driver>.command",
    setup: 'echo "*.txt diff=evil" > .gitattributes; git config diff.evil.command "$RUN"',
  },
  {
    name: "diff.<driver>.textconv",
    setup:
      'echo "*.txt diff=evil" > .gitattributes; git config diff.evil.textconv "$RUN"; git config diff.evil.cachetextconv true',
  },
  {
    name: "filter.<name>.clean",
    setup:
      'echo "*.txt filter=evil" > .gitattributes; git config filter.evil.clean "$RUN"; git config filter.evil.required true',
  },
  {
    name: "filter.<name>.smudge",
    setup: 'echo "*.txt filter=evil" > .gitattributes; git config filter.evil.smudge "$RUN"',
  },
  {
    name: "filter.<name>.process",
    setup: 'echo "*.txt filter=evil" > .gitattributes; git config filter.evil.process "$RUN"',
  },
  {
    name: "a filter whose name holds = and .",
    setup: 'echo "*.txt filter=e=v.i=l" > .gitattributes; git config "filter.e=v.i=l.clean" "$RUN"',
  },
  {
    name: "a filter whose name is upper case",
    setup: 'echo "*.txt filter=EvIl" > .gitattributes; git config filter.EvIl.clean "$RUN"',
  },
  {
    name: "a filter set in info/attributes",
    setup:
      'mkdir -p .git/info; echo "* filter=evil" > .git/info/attributes; git config filter.evil.clean "$RUN"',
  },
  {
    name: "core.attributesFile",
    setup:
      'echo "* filter=evil diff=evil" > attrs; git config core.attributesFile "$PWD/attrs"; git config filter.evil.clean "$RUN"; git config diff.evil.textconv "$RUN"',
  },
  {
    name: "log.showSignature and gpg.program",
    setup:
      'git config log.showSignature true; git config gpg.program "$RUN"; git config gpg.ssh.program "$RUN"; git config gpg.format ssh; sign',
  },
  {
    name: "format.pretty with %G?",
    setup: 'git config format.pretty "%G? %s"; git config gpg.program "$RUN"; sign',
  },
  {
    name: "pretty.<name> that shadows",
    setup:
      'git config pretty.oneline "%G? %s"; git config pretty.medium "%G? %s"; git config gpg.program "$RUN"; sign',
  },
  {
    name: "core.hooksPath",
    setup:
      'mkdir h; for h in post-index-change reference-transaction pre-commit post-checkout fsmonitor-watchman; do printf "#!/bin/sh\\n$RUN\\n" > h/$h; chmod +x h/$h; done; git config core.hooksPath "$PWD/h"; touch -d "2 days ago" a.txt',
  },
  {
    name: "hooks",
    setup:
      'mkdir -p .git/hooks; for h in post-index-change reference-transaction pre-commit; do printf "#!/bin/sh\\n$RUN\\n" > .git/hooks/$h; chmod +x .git/hooks/$h; done; touch -d "2 days ago" a.txt',
  },
  {
    name: "alias",
    setup: 'for a in status diff log show branch rev-parse; do git config alias.$a "!$RUN"; done',
  },
  {
    name: "core.sshCommand of a promisor remote",
    setup:
      'git config core.sshCommand "$RUN"; git config remote.origin.url ssh://x/y; git config remote.origin.promisor true; git config extensions.partialClone origin; git config core.repositoryFormatVersion 1; lose',
  },
  {
    name: "ext:: transport of a promisor remote",
    setup:
      'git config remote.origin.url "ext::$RUN"; git config protocol.ext.allow always; git config remote.origin.promisor true; git config extensions.partialClone origin; git config core.repositoryFormatVersion 1; lose',
  },
  {
    name: "remote.<name>.uploadpack of a promisor remote",
    setup:
      'git config remote.origin.url "$PWD"; git config remote.origin.uploadpack "$RUN"; git config protocol.file.allow always; git config remote.origin.promisor true; git config extensions.partialClone origin; git config core.repositoryFormatVersion 1; lose',
  },
  {
    name: "remote.<name>.vcs of a promisor remote",
    setup:
      "git config remote.origin.url x; git config remote.origin.vcs ext; git config protocol.allow always; git config remote.origin.promisor true; git config extensions.partialClone origin; git config core.repositoryFormatVersion 1; lose",
  },
  {
    name: "credential.helper and core.askPass",
    setup:
      'git config credential.helper "!$RUN"; git config core.askPass "$RUN"; git config remote.origin.url https://127.0.0.1:1/x; git config remote.origin.promisor true; git config extensions.partialClone origin; git config core.repositoryFormatVersion 1; lose',
  },
  {
    name: "a submodule's own fsmonitor and filter",
    setup:
      'git init -q -b main lib; (cd lib; git config user.email a@b.c; git config user.name n; echo x > f.txt; git add -A; git commit -qm lib); git -c protocol.file.allow=always submodule -q add ./lib lib; git commit -qm sub; git config diff.submodule diff; git config status.submoduleSummary true; git config submodule.lib.ignore none; cd lib; git config core.fsmonitor "$RUN"; echo "* filter=evil" > .gitattributes; git config filter.evil.clean "$RUN"; echo y > f.txt; touch -d "2 days ago" f.txt; cd ..',
  },
  {
    name: "interactive.diffFilter, mergetool, difftool",
    setup:
      'git config interactive.diffFilter "$RUN"; git config diff.tool evil; git config difftool.evil.cmd "$RUN"; git config merge.tool evil; git config mergetool.evil.cmd "$RUN"',
  },
  {
    name: "gc, maintenance and alternate refs",
    setup:
      'git config gc.recentObjectsHook "$RUN"; git config gc.auto 1; git config core.alternateRefsCommand "$RUN"; git config uploadpack.packObjectsHook "$RUN"',
  },
  { name: "trailers", setup: 'git config trailer.x.command "$RUN"; git config trailer.x.cmd "$RUN"' },
  {
    name: "hook.<name>.command",
    setup:
      'for e in post-index-change reference-transaction pre-commit; do git config hook.$e.command "$RUN"; git config hook.$e.event $e; done; touch -d "2 days ago" a.txt',
  },
];

for (const { name, setup } of HOSTILE) {
  test(`hostile repository: ${name} starts nothing`, async () => {
    using tree = makeWorktree({ files: { "a.txt": "one\n", "b.txt": "b\n" } });
    await repository(tree);
    const marker = await makeHostile(tree, setup);
    for (const args of READS) {
      await call(git, tree, args);
      assert.equal(tree.read(marker), null, JSON.stringify(args));
    }
  });
}

test("the hostile programs would run: plain git starts them", async () => {
  for (
    const name of [
      "core.fsmonitor",
      "filter.<name>.clean",
      "diff.external",
      "diff.<driver>.textconv",
      "format.pretty with %G?",
      "a submodule's own fsmonitor and filter",
    ]
  ) {
    using tree = makeWorktree({ files: { "a.txt": "one\n", "b.txt": "b\n" } });
    await repository(tree);
    const marker = await makeHostile(tree, HOSTILE.find((each) => each.name === name)!.setup);
    await script(tree, "git status; git diff; git --no-pager show; git --no-pager log; true");
    assert.notEqual(tree.read(marker), null, name);
  }
});

async function makeHostile(tree: TestTree, setup: string): Promise<string> {
  tree.write("outside/run.sh", `#!/bin/sh\necho "$0 $*" >> ${tree.outside}/pwned\nexit 0\n`);
  Deno.chmodSync(`${tree.outside}/run.sh`, 0o755);
  await script(
    tree,
    `set -e
RUN=${tree.outside}/run.sh
# A commit that carries a signature, so that showing it would start gpg.
sign() {
  tree=$(git rev-parse 'HEAD^{tree}')
  printf 'tree %s\\nauthor n <a@b.c> 1 +0000\\ncommitter n <a@b.c> 1 +0000\\ngpgsig -----BEGIN PGP SIGNATURE-----\\n \\n x\\n -----END PGP SIGNATURE-----\\n\\nsigned\\n' "$tree" > .git/c
  git update-ref HEAD "$(git hash-object -t commit -w .git/c)"
}
# Objects that are missing here, as in a partial clone.
lose() { rm -f .git/objects/$(git rev-parse HEAD:a.txt | sed 's,^..,&/,'); }
${setup}
rm -f ${tree.outside}/pwned
echo changed >> b.txt
[ -d lib ] || { echo two > a.txt; }
rm -f ${tree.outside}/pwned`,
  );
  return "outside/pwned";
}

test("a filter name that cannot be overridden refuses the call", async () => {
  using tree = makeWorktree({ files: { "a.txt": "one\n" } });
  await repository(tree);
  await script(tree, "printf '[filter \"e\\377vil\"]\\n\\tclean = touch x\\n' >> .git/config");
  assert.match(
    (await call(git, tree, {})).content,
    /^Error: the git configuration names .*not valid UTF-8.*git was not run$/,
  );
});

test("core.worktree cannot show another folder", async () => {
  using tree = makeWorktree({ files: { "a.txt": "one\n" }, outside: { "secret-name.txt": "TOPSECRET" } });
  await repository(tree);
  await script(tree, `git config core.worktree ${tree.outside}`);
  for (const operation of ["status", "diff"]) {
    const { content } = await call(git, tree, { operation });
    assert.match(content, /^Error: the repository's core\.worktree points to .*outside/);
    assert.doesNotMatch(content, /secret-name|TOPSECRET/);
  }
});

test("a folder that only looks like a repository is not taken for one", async () => {
  using tree = makeWorktree();
  await script(tree, "git init -q --bare fake.git");
  const { content } = await call(git, tree, { operation: "log", cwd: "fake.git" });
  assert.equal(content, "Error: this directory is not in a git repository (git init makes one)");
});

test("a broken configuration is one line", async () => {
  using tree = makeWorktree();
  await repository(tree);
  await script(tree, "echo '[broken' >> .git/config");
  const { content } = await call(git, tree, {});
  assert.match(content, /^Error: git cannot read its configuration: fatal: bad config line/);
  assert.doesNotMatch(content, /\n/);
});

test("status writes nothing: no lock, no refreshed index", async () => {
  using tree = makeWorktree({ files: { "a.txt": "one\n" } });
  await repository(tree);
  await script(tree, "touch -d '3 days ago' a.txt");
  const before = Deno.readFileSync(`${tree.work}/.git/index`);
  await call(git, tree, {});
  assert.deepEqual(Deno.readFileSync(`${tree.work}/.git/index`), before);
});
