import assert from "node:assert/strict";
import { ToolError } from "../../src/errors.ts";
import { checkCommand, describeRefusal, planAllowed } from "../../src/policy/shell_command.ts";
import { createWorkspace } from "../../src/sandbox/guard.ts";
import { runTree } from "../../src/sandbox/shell.ts";
import type { ExecResult } from "../../src/tool.ts";
import { makeWorktree, type TestTree } from "../helpers/worktree.ts";

const ignore = Deno.build.os === "windows";

/** Runs a command line as an allowlist of git lets it run. */
async function git(tree: TestTree, command: string, list: readonly string[] = ["git"]): Promise<ExecResult> {
  const { work, home, root } = tree, env = environment(tree);
  const input = { prefixes: list, worktree: work, cwd: work, env, shell: "/bin/sh", home };
  const plan = checkCommand(command, input);
  assert.ok(planAllowed(plan), describeRefusal(plan, list));
  return await runTree(plan, {
    cwd: work,
    env,
    timeout: 20_000,
    captureDirectory: root,
    workspace: createWorkspace({
      worktree: work,
      home,
      roots: [{ path: work, access: "write" }],
      rules: [],
      consented: [],
    }),
  });
}

function environment(tree: TestTree): Record<string, string> {
  return { PATH: "/usr/bin:/bin", HOME: tree.home, LC_ALL: "C.UTF-8", GIT_CONFIG_NOSYSTEM: "1" };
}

/** Runs a script as whoever made the repository. */
async function script(tree: TestTree, text: string): Promise<string> {
  const child = new Deno.Command("/bin/sh", {
    args: ["-ec", text],
    cwd: tree.work,
    clearEnv: true,
    env: environment(tree),
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const [out, err, status] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.status,
  ]);
  assert.equal(status.code, 0, `${text}\n${err}`);
  return out;
}

const SETUP = `git init -q -b main .; git config user.email a@b; git config user.name n
echo a > f; echo g > g; git add .; git commit -qm first; echo b >> f; git commit -qam second; echo c >> f; git stash -q; echo d >> f`;

/** Everything by which a repository names a program, and a file that all of it applies to. */
const HOSTILE = `${SETUP}
printf '#!/bin/sh\\necho "$0 $*" >> %s/pwned\\ncat "$1" 2>/dev/null\\nexit 0\\n' "$HOME" > .git/evil; chmod +x .git/evil
e=$PWD/.git/evil
echo 'f diff=ev filter=ev merge=ev' > .gitattributes
for hook in pre-commit post-commit commit-msg prepare-commit-msg post-checkout post-merge pre-push post-index-change reference-transaction pre-rebase post-rewrite pre-auto-gc; do cp .git/evil .git/hooks/$hook; done
for key in diff.ev.command diff.ev.textconv filter.ev.clean filter.ev.smudge filter.ev.process merge.ev.driver diff.external core.fsmonitor \
  core.pager pager.log pager.diff core.editor sequence.editor core.sshCommand core.askPass core.gitProxy gpg.program gpg.ssh.program core.alternateRefsCommand \
  interactive.diffFilter credential.helper credential.https://a.b.helper trailer.x.cmd trailer.x.command uploadpack.packObjectsHook remote.origin.uploadpack \
  remote.origin.receivepack gc.recentObjectsHook hook.x.command; do git config $key "$e"; done
git config alias.st "!$e"; git config protocol.ext.allow always; git config protocol.file.allow always; git config log.showSignature true
git config commit.gpgSign true; git config tag.gpgSign true; git config remote.origin.url "ext::$e"; git config remote.other.url "$PWD/.git"; git config hook.x.event pre-commit`;

const COMMANDS = [
  "git diff",
  "git diff --stat HEAD~1",
  "git diff --cached",
  "git -C . diff",
  "git log -p -1",
  "git log --format=%G? -1",
  "git log --patch --stat -2",
  "git show",
  "git show HEAD:f",
  "git status",
  "git -p status --short",
  "git stash list -p",
  "git stash show -p",
  "git blame f",
  "git annotate f",
  "git grep a",
  "git range-diff HEAD~1..HEAD HEAD~1..HEAD",
  "git describe --always --dirty",
  "git diff-files -p",
  "git diff-tree -p HEAD",
  "git diff-index -p HEAD",
  "git whatchanged -p -1",
  "git reflog -p -1",
  "git ls-files -m",
  "git check-ignore f",
  "git cat-file -p HEAD:f",
  "git archive HEAD",
  "git submodule status",
  "git clean -n",
  "git fsck",
  "git branch -a",
  "git tag -l",
  "git tag x1",
  "git remote -v",
  "git fetch origin",
  "git fetch other",
  "git push origin",
  "git push other HEAD:refs/heads/y",
  "git pull",
  "git ls-remote origin",
  "git ls-remote .",
  "git add f",
  "git add -A",
  "git commit -am x",
  "git commit -m x --trailer x=y",
  "git commit",
  "git commit --amend",
  "git checkout -- f",
  "git checkout HEAD~1 -- f",
  "git restore f",
  "git switch -c other",
  "git reset --hard",
  "git mv g h",
  "git rm --cached g",
  "git cherry-pick HEAD~1",
  "git revert --no-edit HEAD",
  "git merge main",
  "git rebase HEAD~1",
  "git notes add -m x",
  "git shortlog -s HEAD",
  "git verify-commit HEAD",
  "git cherry HEAD",
];

Deno.test({
  name: "under a list that lets all of git through, a hostile repository starts nothing",
  ignore,
  async fn() {
    using tree = makeWorktree();
    await script(tree, HOSTILE);
    // The repository is hostile: without the hardening it is git itself that starts things.
    await script(tree, "git diff > ../out 2>&1 || true; git status > ../out 2>&1 || true");
    assert.notEqual(tree.read("home/pwned"), null);
    Deno.removeSync(`${tree.home}/pwned`);
    for (const command of COMMANDS) {
      Deno.writeTextFileSync(`${tree.work}/f`, `${command}\n`, { append: true });
      await git(tree, command);
      assert.equal(tree.read("home/pwned"), null, command);
    }
    assert.match(await script(tree, "ls .git/hooks"), /pre-commit/);
  },
});

Deno.test({
  name: "git sees what a shell's git sees in a repository that names no programs",
  ignore,
  async fn() {
    using tree = makeWorktree();
    await script(tree, SETUP);
    for (
      const command of [
        "git diff",
        "git diff --stat HEAD~1",
        "git log -p -2",
        "git log --oneline",
        "git show --stat",
        "git status",
        "git status --short --branch",
        "git stash list",
        "git stash show -p",
        "git blame f",
        "git branch -a",
        "git -C . log -1 --format=%s",
        "git --no-pager log -1",
      ]
    ) {
      const { output, code } = await git(tree, command);
      assert.equal(output, await script(tree, command), command);
      assert.equal(code, 0, command);
    }
  },
});

Deno.test({
  name: "git can change the repository where the list says so",
  ignore,
  async fn() {
    using tree = makeWorktree();
    await script(tree, SETUP);
    const { output, code } = await git(
      tree,
      "git add f && git commit -q -m third && git log -1 --format=%s && git tag v1",
    );
    assert.equal(output, "third\n");
    assert.equal(code, 0);
    assert.equal(await script(tree, "git tag -l"), "v1\n");
    assert.equal(
      (await git(
        tree,
        "git switch -q -c topic && git checkout -q main && git stash pop -q; git reset -q --hard",
      )).code,
      0,
    );
    assert.equal(await script(tree, "git branch --format='%(refname:short)'"), "main\ntopic\n");
  },
});

Deno.test({
  name: "a file that goes through a filter is not stored without it",
  ignore,
  async fn() {
    using tree = makeWorktree();
    await script(tree, `${SETUP}; git config filter.big.clean cat; echo 'f filter=big' > .gitattributes`);
    const { output, code } = await git(tree, "git add f");
    assert.notEqual(code, 0);
    assert.match(output, /filter/);
    assert.equal((await git(tree, "git add g .gitattributes && git diff")).code, 0);
  },
});

Deno.test({
  name: "a submodule's own configuration starts nothing either",
  ignore,
  async fn() {
    using tree = makeWorktree();
    await script(
      tree,
      `${SETUP}; git init -q sub; cd sub; git config user.email a@b; git config user.name n; echo x > x; git add x; git commit -qm s
printf '#!/bin/sh\\necho sub >> %s/pwned\\n' "$HOME" > ../evil.sh; chmod +x ../evil.sh; git config core.fsmonitor "$PWD/../evil.sh"; echo y >> x; cd ..
git -c protocol.file.allow=always submodule --quiet add ./sub sub; printf '[submodule "sub"]\\n\\tpath = sub\\n\\turl = ./sub\\n\\tignore = none\\n' > .gitmodules
rm -f $HOME/pwned`,
    );
    await script(tree, "git status > ../out");
    assert.notEqual(tree.read("home/pwned"), null);
    Deno.removeSync(`${tree.home}/pwned`);
    for (
      const command of [
        "git status",
        "git diff",
        "git log -p -1",
        "git commit -m x",
        "git add g",
        "git diff-files",
        "git describe --always --dirty",
      ]
    ) {
      await git(tree, command);
      assert.equal(tree.read("home/pwned"), null, command);
    }
  },
});

Deno.test({
  name: "a bare repository in a folder is none, and a working tree that lies elsewhere is refused",
  ignore,
  async fn() {
    using tree = makeWorktree({ outside: { "x.txt": "PRECIOUS\n" } });
    await script(
      tree,
      `${SETUP}; mkdir sub; git init -q --bare sub; printf '#!/bin/sh\\necho x >> %s/pwned\\n' "$HOME" > sub/e; chmod +x sub/e
printf '[core]\\n\\tbare = false\\n\\tworktree = ..\\n\\tfsmonitor = "%s/sub/e"\\n' "$PWD" >> sub/config`,
    );
    const { output } = await git(tree, "cd sub && git status");
    assert.match(output, /cannot use bare repository|not a git repository/);
    assert.equal(tree.read("home/pwned"), null);
    await script(tree, `git config core.worktree "${tree.outside}"`);
    await assert.rejects(
      git(tree, "git checkout -f HEAD -- ."),
      (error) =>
        error instanceof ToolError && error.kind === "permission" && /working tree/.test(error.message),
    );
    assert.equal(tree.read("outside/f"), null);
  },
});

Deno.test({
  name: "what the list spells out goes before",
  ignore,
  async fn() {
    using tree = makeWorktree();
    await script(tree, `${SETUP}; git config diff.external /bin/echo`);
    assert.match((await git(tree, "git diff --ext-diff", ["git diff --ext-diff"])).output, /^f /);
    assert.match((await git(tree, "git diff")).output, /^diff --git/);
    const { output } = await git(tree, "git -c user.name=zed log -1 --format=%cn", [
      "git -c user.name=zed log",
    ]);
    assert.equal(output, "n\n");
  },
});
