import assert from "node:assert/strict";
import {
  type Confinement,
  Confiner,
  type ConfineSpec,
  planConfinement,
  probeConfinement,
} from "../../src/sandbox/confine.ts";
import { checkCommand, planAllowed } from "../../src/policy/shell_command.ts";
import { exec } from "../../src/sandbox/exec.ts";
import { createWorkspace } from "../../src/sandbox/guard.ts";
import { runTree } from "../../src/sandbox/shell.ts";
import type { ExecResult } from "../../src/tool.ts";
import { makeWorktree, type TestTree } from "../helpers/worktree.ts";
import { environment, sh } from "./_exec.ts";

// The tests run the real thing where it is installed; where it is not, the first one says so by its name.
const installed = Deno.build.os === "linux" && await (async () => {
  using tree = makeWorktree();
  return (await probeConfinement({ worktree: tree.work, home: tree.home })).available;
})();

Deno.test({
  name: installed
    ? "bubblewrap is here and the harmless escape failed"
    : "bubblewrap is NOT usable here: the probe says why and how to get it",
  ignore: Deno.build.os !== "linux",
}, async () => {
  using tree = makeWorktree();
  const found = await probeConfinement({ worktree: tree.work, home: tree.home });
  assert.equal(found.available, installed);
  assert.match(found.why, installed ? /^bubblewrap \d/ : /bubblewrap is (not )?installed/);
  assert.equal(found.why.includes("\n"), false);
  const missing = await probeConfinement({ worktree: tree.work, home: tree.home, programs: ["/no/bwrap"] });
  assert.equal(missing.available, false);
  assert.match(missing.why, /not installed; get it with .*apt-get install bubblewrap/);
  const windows = await probeConfinement({ worktree: tree.work, home: tree.home, os: "windows" });
  assert.match(windows.why, /nothing to confine commands with on windows/);
});

Deno.test(
  { name: "a program that pretends to confine is found out", ignore: Deno.build.os !== "linux" },
  async () => {
    using tree = makeWorktree();
    tree.write(
      "bin/bwrap",
      '#!/bin/sh\n[ "$1" = --version ] && echo bubblewrap 9.9 && exit\nwhile [ "$1" != -- ]; do shift; done; shift; exec "$@"\n',
    );
    Deno.chmodSync(`${tree.root}/bin/bwrap`, 0o755);
    const found = await probeConfinement({
      worktree: tree.work,
      home: tree.home,
      programs: [`${tree.root}/bin/bwrap`],
    });
    assert.equal(found.available, false);
    assert.match(found.why, /lets a command through to: .*write/);
    tree.write(
      "bin/bwrap",
      '#!/bin/sh\n[ "$1" = --version ] && echo bubblewrap 0.8 && exit\necho "bwrap: setting up uid map: Permission denied" >&2; exit 1\n',
    );
    const broken = await probeConfinement({
      worktree: tree.work,
      home: tree.home,
      programs: [`${tree.root}/bin/bwrap`],
    });
    assert.match(
      broken.why,
      /installed, but this system does not let it work \(setting up uid map: Permission denied\)/,
    );
  },
);

interface Inside {
  readonly tree: TestTree;
  readonly found: Confinement;
  readonly spec: ConfineSpec;
  run(
    script: string,
    more?: { cwd?: string; timeout?: number; spec?: Partial<ConfineSpec> },
  ): Promise<ExecResult>;
}

/** A repository, confined. */
async function confined(
  tree: TestTree,
  more: Partial<Parameters<typeof planConfinement>[0]> = {},
): Promise<Inside> {
  const found = await probeConfinement({
    worktree: tree.work,
    home: tree.home,
    paths: [...(more.writable ?? []), ...(more.hide ?? [])],
  });
  const again = () =>
    planConfinement({
      mode: "require",
      probe: found,
      worktree: tree.work,
      home: tree.home,
      writable: [],
      network: false,
      ...more,
    })!;
  return {
    tree,
    found,
    spec: again(),
    run: (script, options = {}) =>
      sh(tree, script, {
        confine: { ...again(), ...options.spec },
        cwd: options.cwd ?? tree.work,
        timeout: options.timeout ?? 20_000,
      }),
  };
}

const REPOSITORY = {
  "a.txt": "one\n",
  ".git/HEAD": "ref: refs/heads/main\n",
  ".git/config": "[core]\n\trepositoryformatversion = 0\n",
  ".git/hooks/pre-commit.sample": "",
  ".git/info/exclude": "",
  ".git/objects/info/x": "",
  ".git/refs/heads/x": "",
  ".polyglav/config.json": "{}",
};

function listing(path: string): string[] {
  const names: string[] = [];
  const walk = (at: string, prefix: string) => {
    for (const entry of Deno.readDirSync(at)) {
      names.push(prefix + entry.name);
      if (entry.isDirectory) walk(`${at}/${entry.name}`, `${prefix}${entry.name}/`);
    }
  };
  walk(path, "");
  return names.sort();
}

function test(name: string, body: () => Promise<void>): void {
  Deno.test({ name: `confined: ${name}`, ignore: !installed, fn: body });
}

test("the worktree is writable, everything else is not", async () => {
  using tree = makeWorktree({ files: REPOSITORY, outside: { "kept.txt": "kept" } });
  const inside = await confined(tree);
  const ok = await inside.run(
    "echo new > b.txt && mkdir -p d/e && echo x > d/e/f && echo two >> a.txt && rm -r d",
  );
  assert.equal(ok.code, 0, ok.output);
  assert.equal(tree.read("work/b.txt"), "new\n");
  assert.equal(tree.read("work/a.txt"), "one\ntwo\n");
  const targets = [
    `${tree.outside}/pwned`,
    `${tree.home}/.bashrc`,
    "/etc/pwned",
    "/usr/bin/pwned",
    "/var/pwned",
  ];
  for (const target of targets) {
    await inside.run(`echo pwned > ${target}`);
    assert.equal(exists(target), false, target);
  }
  await inside.run(`echo pwned > ${tree.outside}/kept.txt; rm ${tree.outside}/kept.txt`);
  assert.equal(tree.read("outside/kept.txt"), "kept");
  await inside.run(`ln -s ${tree.outside} link; echo pwned > link/pwned; echo pwned > ../outside/pwned2`);
  assert.deepEqual(listing(tree.outside), ["kept.txt"]);
});

function exists(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch {
    return false;
  }
}

test("/tmp and /run are private, a worktree below /tmp is there", async () => {
  using tree = makeWorktree({ files: REPOSITORY });
  const inside = await confined(tree);
  const mark = `/tmp/polyglav-mark-${crypto.randomUUID()}`;
  const result = await inside.run(`echo x > ${mark} && cat ${mark}; ls /run | wc -l; echo $TMPDIR; pwd`);
  assert.equal(result.output, `x\n0\n/tmp\n${tree.work}\n`);
  assert.equal(exists(mark), false);
});

test("no network but an empty loopback, unless it is allowed", async () => {
  using tree = makeWorktree({ files: REPOSITORY });
  const inside = await confined(tree);
  const list = "cat /proc/net/dev | sed 1,2d | cut -d: -f1 | tr -d ' ' | sort";
  assert.equal((await inside.run(list)).output, "lo\n");
  const open = await inside.run(list, { spec: { network: true } });
  const own = Deno.readTextFileSync("/proc/net/dev").split("\n").slice(2).map((line) =>
    line.split(":")[0]!.trim()
  ).filter(Boolean).sort();
  assert.deepEqual(open.output.trim().split("\n"), own);
  const server = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const accepted: Deno.Conn[] = [];
  const loop = (async () => {
    for await (const connection of server) accepted.push(connection);
  })();
  const knock = `(echo hi > /dev/tcp/127.0.0.1/${server.addr.port}) 2>/dev/null && echo in || echo out`;
  const bash = (spec: Partial<ConfineSpec>) =>
    exec(["/bin/bash", "-c", knock], {
      cwd: tree.work,
      env: environment(tree),
      timeout: 5000,
      captureDirectory: tree.root,
      confine: { ...inside.spec, ...spec },
    });
  assert.equal((await bash({})).output, "out\n");
  assert.equal((await bash({ network: true })).output, "in\n");
  server.close();
  await loop.catch(() => {});
  for (const connection of accepted) connection.close();
});

test("sockets of the host are not there", async () => {
  using tree = makeWorktree({ files: REPOSITORY });
  const inside = await confined(tree);
  const path = `/tmp/polyglav-${crypto.randomUUID()}.sock`;
  const server = Deno.listen({ transport: "unix", path });
  try {
    const { output } = await inside.run(
      `[ -S ${path} ] && echo there || echo gone; ls -A /run /var/run 2>/dev/null | grep -c sock`,
    );
    assert.equal(output, "gone\n0\n");
    assert.equal(exists(path), true, "it was there on the host");
  } finally {
    server.close();
  }
});

test("the host's processes can be neither seen nor signalled", async () => {
  using tree = makeWorktree({ files: REPOSITORY });
  const inside = await confined(tree);
  const other = new Deno.Command("/bin/sleep", { args: ["60"] }).spawn();
  const { output } = await inside.run(
    `cat /proc/${other.pid}/cmdline 2>/dev/null | grep -c sleep; kill -9 ${other.pid} 2>/dev/null; kill -9 ${Deno.pid} 2>/dev/null; cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n' | grep -c POLYGLAV_SECRET_MARK`,
  );
  assert.equal(output, "0\n0\n");
  other.kill("SIGTERM");
  assert.equal((await other.status).signal, "SIGTERM", "it was still alive");
});

test("secrets are hidden, and reading them is no error of the kind that breaks tools", async () => {
  using tree = makeWorktree({ files: REPOSITORY });
  tree.write("home/.ssh/id_ed25519", "TOPSECRET");
  tree.write("home/.npmrc", "//registry/:_authToken=TOPSECRET");
  tree.write("home/.aws/credentials", "TOPSECRET");
  tree.write("home/.config/polyglav/providers.json", "TOPSECRET");
  tree.write("home/elsewhere/keys", "TOPSECRET");
  Deno.symlinkSync(`${tree.home}/elsewhere`, `${tree.home}/.gnupg`);
  tree.write("home/.gitconfig", "[user]\n\tname = me\n");
  const inside = await confined(tree, { hide: [`${tree.home}/.config/polyglav`] });
  const result = await inside.run(
    "grep -r TOPSECRET ~ ; cat ~/.npmrc && echo readable; cat ~/.gitconfig; echo x > ~/.ssh/x; rm -rf ~/.ssh ~/.aws",
  );
  assert.doesNotMatch(result.output, /TOPSECRET/);
  assert.match(result.output, /^readable$/m);
  assert.match(result.output, /name = me/);
  assert.equal(tree.read("home/.ssh/id_ed25519"), "TOPSECRET");
  assert.equal(tree.read("home/.ssh/x"), null);
  assert.equal(tree.read("home/.aws/credentials"), "TOPSECRET");
});

test("what starts programs in .git cannot be changed, replaced, renamed or made", async () => {
  using tree = makeWorktree({ files: REPOSITORY });
  const inside = await confined(tree);
  const before = listing(tree.work), config = tree.read("work/.git/config");
  const attacks = [
    "echo '[core] fsmonitor = x' >> .git/config",
    "rm .git/config; echo x > .git/config",
    "mv .git/config .git/c; echo x > .git/config",
    "git config core.fsmonitor 'touch /tmp/x'",
    "echo x > .git/config.worktree",
    "rm -f .git/config.worktree; mkdir .git/config.worktree",
    "echo x > .git/hooks/pre-commit",
    "mv .git/hooks .git/h; mkdir .git/hooks",
    "rm -rf .git/hooks",
    "echo '* filter=x' > .git/info/attributes",
    "ln -s /etc/passwd .git/info/attributes",
    "mv .git g; mkdir .git",
    "rm -rf .git",
    "echo '{}' > .polyglav/config.json",
    "mv .polyglav p",
    "rm -rf .polyglav",
    "mkdir .polyglav/sessions",
    "ln -sf /etc/passwd .polyglav/config.json",
    "umount .git/config; mount -o remount,rw .git/config; echo x > .git/config",
    "unshare -Urm sh -c 'umount .git/config; echo x > .git/config'",
  ];
  for (const attack of attacks) {
    await inside.run(attack);
    assert.equal(tree.read("work/.git/config"), config, attack);
    assert.equal(tree.read("work/.polyglav/config.json"), "{}", attack);
    for (const path of ["config.worktree", "hooks/pre-commit", "info/attributes"]) {
      assert.equal(exists(`${tree.work}/.git/${path}`), false, `${attack}: ${path}`);
    }
    // `rm -rf .git` takes what may be written.
    for (const [path, text] of Object.entries(REPOSITORY)) {
      if (tree.read(`work/${path}`) === null) tree.write(`work/${path}`, text);
    }
  }
  assert.deepEqual(listing(tree.work), before, "nothing is left behind");
});

test("absent protected paths leave nothing behind, however the command ends", async () => {
  const {
    ".git/hooks/pre-commit.sample": _h,
    ".git/info/exclude": _i,
    ".polyglav/config.json": _p,
    ...bare
  } = REPOSITORY;
  using tree = makeWorktree({ files: bare });
  const inside = await confined(tree);
  const before = listing(tree.work);
  await inside.run(
    "mkdir -p .git/hooks .polyglav; echo x > .git/hooks/post-commit; mkdir .git/info; echo x > .git/info/attributes; echo x > .polyglav/config.json",
  );
  assert.deepEqual(listing(tree.work), before);
  assert.equal((await inside.run("sleep 30", { timeout: 300 })).timedOut, true);
  assert.deepEqual(listing(tree.work), before);
  await assert.rejects(
    exec(["no-such-program-xyz"], {
      cwd: tree.work,
      env: environment(tree),
      timeout: 5000,
      captureDirectory: tree.root,
      confine: inside.spec,
    }),
    /^ToolError: command not found: no-such-program-xyz$/,
  );
  assert.deepEqual(listing(tree.work), before);
  // What a run that was killed left behind goes with the next one.
  tree.write("work/.git/config.worktree", "");
  await inside.run("true");
  assert.equal(exists(`${tree.work}/.git/config.worktree`), false);
  // A real one stays, read-only.
  tree.write("work/.git/config.worktree", "[x]\n\ty = 1\n");
  await inside.run("echo pwned > .git/config.worktree");
  assert.equal(tree.read("work/.git/config.worktree"), "[x]\n\ty = 1\n");
});

test("a command that ends does not uncover what another still runs under", async () => {
  const { ".git/hooks/pre-commit.sample": _h, ".git/info/exclude": _i, ...bare } = REPOSITORY;
  using tree = makeWorktree({ files: bare });
  const inside = await confined(tree), before = listing(tree.work);
  const attempt =
    "echo x > .git/config.worktree; mkdir -p .git/hooks; echo x > .git/hooks/post-commit; mkdir -p .git/info; echo x > .git/info/attributes";
  const slow = inside.run(`echo x > started; sleep 1.5; ${attempt}; ls -A .git/hooks .git/info`);
  for (let i = 0; i < 500 && tree.read("work/started") === null; i++) {
    await new Promise((done) => setTimeout(done, 10));
  }
  for (let i = 0; i < 3; i++) await inside.run("true");
  await slow;
  assert.deepEqual(listing(tree.work), [...before, "started"].sort());
});

test("a run takes what its commands left at its end, and each command all else", async () => {
  using tree = makeWorktree({ files: REPOSITORY });
  const options = { mode: "require" as const, worktree: tree.work, home: tree.home, writable: [] };
  const before = listing(tree.work), confiner = new Confiner({ ...options, finishes: true });
  const run = async (script: string) => await sh(tree, script, { confine: (await confiner.plan(false))! });
  const covered = [".git/config.worktree", ".git/info/attributes"];
  for (let i = 0; i < 2; i++) {
    await run("echo x > .git/config.worktree; echo x > .git/info/attributes; mkdir .git/config.worktree");
    assert.deepEqual(listing(tree.work), [...before, ...covered].sort());
    for (const path of covered) assert.equal(tree.read(`work/${path}`), "");
  }
  await confiner.finish();
  await confiner.finish();
  assert.deepEqual(listing(tree.work), before);
  // A folder that is missing, or a path of the user's, is not left for later.
  Deno.removeSync(`${tree.work}/.git/hooks`, { recursive: true });
  const bare = listing(tree.work);
  await run("mkdir .git/hooks; echo x > .git/hooks/post-commit");
  assert.deepEqual(listing(tree.work), bare);
  const named = new Confiner({ ...options, finishes: true, protect: [`${tree.work}/absent.txt`] });
  const { output } = await sh(tree, "echo x > absent.txt; mkdir absent.txt; mv a.txt absent.txt; ls", {
    confine: (await named.plan(false))!,
  });
  assert.match(output, /a\.txt/);
  assert.deepEqual(listing(tree.work), bare);
});

test("a pipeline that looks at git first keeps its covers", async () => {
  const { ".git/hooks/pre-commit.sample": _h, ".git/info/exclude": _i, ...bare } = REPOSITORY;
  using tree = makeWorktree({ files: bare });
  const inside = await confined(tree), before = listing(tree.work);
  const prefixes = ["git log", "sh -c"], env = environment(tree);
  const write =
    "sleep 1; echo x > .git/config.worktree; mkdir -p .git/hooks .git/info; echo x > .git/hooks/x; echo x > .git/info/attributes";
  const input = { prefixes, worktree: tree.work, cwd: tree.work, env, shell: "/bin/sh", home: tree.home };
  const plan = checkCommand(`git log | sh -c '${write}'`, input);
  assert.ok(planAllowed(plan));
  const roots = [{ path: tree.work, access: "read" as const }];
  await runTree(plan, {
    cwd: tree.work,
    env,
    timeout: 20_000,
    captureDirectory: tree.root,
    confine: inside.spec,
    programs: { git: "/usr/bin/git", sh: "/bin/sh" },
    workspace: createWorkspace({ worktree: tree.work, home: tree.home, roots, rules: [], consented: [] }),
  });
  assert.deepEqual(listing(tree.work), before);
});

test("git works: add, commit, branch, stash, gc", async () => {
  using tree = makeWorktree({ files: { "a.txt": "one\n" } });
  const identity = "git config user.email a@b.c && git config user.name n";
  assert.equal(
    (await sh(tree, `git init -q -b main . && ${identity} && git add -A && git commit -qm first`)).code,
    0,
  );
  const inside = await confined(tree);
  const result = await inside.run(
    "echo two >> a.txt && git commit -qam second && git checkout -q -b side && echo three > b && git add b && git commit -qm third && git checkout -q main && git merge -q side && echo x > c && git add c && git stash -q && git stash pop -q && git gc -q && git log --oneline | wc -l && git status --short",
  );
  assert.equal(result.output, "3\nA  c\n");
});

test("a linked worktree commits into the common directory, whose parts are protected", async () => {
  using tree = makeWorktree();
  const main = `${tree.root}/main`;
  const made = await sh(
    tree,
    `git init -q -b main ${main} && cd ${main} && git config user.email a@b.c && git config user.name n && git commit -q --allow-empty -m first && rmdir ${tree.work} && git worktree add -q ${tree.work} -b side`,
  );
  assert.equal(made.code, 0, made.output);
  const inside = await confined(tree);
  assert.deepEqual(inside.found.gitDirectories, [`${main}/.git`, `${main}/.git/worktrees/work`]);
  const result = await inside.run(
    `echo x > f && git add f && git commit -qm second && git log --oneline | wc -l; echo x > ${main}/pwned; echo x >> ${main}/.git/config; echo x > ${main}/.git/hooks/post-commit; echo "gitdir: /x" > .git; git config a.b c`,
  );
  assert.match(result.output, /^2$/m);
  assert.equal(exists(`${main}/pwned`), false);
  assert.equal(exists(`${main}/.git/hooks/post-commit`), false);
  assert.match(tree.read("work/.git")!, /^gitdir: /);
  assert.doesNotMatch(tree.read("main/.git/config")!, /x$|c$/);
});

test("a .git file cannot open a folder that does not belong to it", async () => {
  using tree = makeWorktree({
    outside: { "repo/HEAD": "x", "repo/config": "", "repo/objects/x": "", "commondir": "x" },
  });
  tree.write("work/.git", `gitdir: ${tree.outside}/repo\n`);
  const inside = await confined(tree);
  assert.deepEqual(inside.found.gitDirectories, []);
  await inside.run(`echo pwned > ${tree.outside}/repo/objects/pwned`);
  assert.equal(exists(`${tree.outside}/repo/objects/pwned`), false);
});

test("in a larger repository the git directory further up is writable but protected", async () => {
  using tree = makeWorktree();
  const big = `${tree.root}/big`, sub = `${big}/sub`;
  await sh(
    tree,
    `mkdir -p ${sub} && git init -q -b main ${big} && cd ${big} && git config user.email a@b.c && git config user.name n && git commit -q --allow-empty -m first`,
  );
  const found = await probeConfinement({ worktree: sub, home: tree.home });
  assert.deepEqual(found.gitDirectories, [`${big}/.git`]);
  const spec = planConfinement({
    mode: "require",
    probe: found,
    worktree: sub,
    home: tree.home,
    writable: [],
    network: false,
  })!;
  const result = await sh(
    tree,
    `echo x > f && git add f && git commit -qm second && echo fine; echo x > ../pwned; echo x > ../.git/hooks/post-commit; echo '#' >> ../.git/config`,
    {
      cwd: sub,
      confine: spec,
    },
  );
  assert.match(result.output, /^fine$/m);
  assert.equal(exists(`${big}/pwned`), false);
  assert.equal(exists(`${big}/.git/hooks/post-commit`), false);
});

test("the timeout ends everything inside, even what left the process group", async () => {
  using tree = makeWorktree({ files: REPOSITORY });
  const inside = await confined(tree);
  const script = "setsid sh -c 'while :; do echo beat >> beat.txt; sleep 0.05; done' & sleep 60";
  const result = await inside.run(script, { timeout: 500 });
  assert.deepEqual([result.timedOut, result.notes], [true, []]);
  const size = Deno.statSync(`${tree.work}/beat.txt`).size;
  await new Promise((done) => setTimeout(done, 400));
  assert.equal(Deno.statSync(`${tree.work}/beat.txt`).size, size);
});

test("exit codes, signals, order and standard input are as without", async () => {
  using tree = makeWorktree({ files: REPOSITORY });
  const inside = await confined(tree);
  const cases: [string, Partial<ExecResult>][] = [
    ["exit 7", { code: 7, output: "" }],
    ["echo o; echo e >&2; echo d > /dev/stderr", { code: 0, output: "o\ne\nd\n" }],
    ["kill -KILL $$", { code: null, signal: "SIGKILL" }],
    ["cat; echo after", { code: 0, output: "after\n" }],
    ["[ -t 0 ] || [ -t 1 ] || echo none; (: < /dev/tty) 2>/dev/null || echo no tty", {
      output: "none\nno tty\n",
    }],
  ];
  for (const [script, wanted] of cases) {
    const result = await inside.run(script);
    for (const [key, value] of Object.entries(wanted)) {
      assert.deepEqual(result[key as keyof ExecResult], value, `${script}: ${key}`);
    }
  }
});

test("exec.writable is writable, and a directory given as cwd beside it is only read", async () => {
  using tree = makeWorktree({ files: REPOSITORY, outside: { "dir/x.txt": "x" } });
  Deno.mkdirSync(`${tree.outside}/out`);
  const inside = await confined(tree, { writable: [`${tree.outside}/out`] });
  const result = await inside.run(`cat x.txt; echo > y.txt; echo made > ${tree.outside}/out/made`, {
    cwd: `${tree.outside}/dir`,
  });
  assert.match(result.output, /^x/);
  assert.equal(tree.read("outside/dir/y.txt"), null);
  assert.equal(tree.read("outside/out/made"), "made\n");
});

test("no rights can be gained", async () => {
  using tree = makeWorktree({ files: REPOSITORY });
  const inside = await confined(tree);
  const { output } = await inside.run(
    "grep CapEff /proc/self/status; mknod n b 8 0 2>&1; mount -t tmpfs x /mnt 2>&1 | head -n 1; grep NoNewPrivs /proc/self/status",
  );
  const effective = BigInt(`0x${/CapEff:\s*(\w+)/.exec(output)![1]}`);
  // CHOWN, DAC_OVERRIDE and FOWNER at most (bits 0, 1 and 3), where the tests run as root.
  assert.equal(effective & ~0b1011n, 0n);
  assert.match(output, /NoNewPrivs:\s*1/);
  assert.equal(exists(`${tree.work}/n`), false);
});

test("linked hooks cannot be replaced, and a dangling link makes nothing outside", async () => {
  using tree = makeWorktree({
    files: { ".git/HEAD": "ref: refs/heads/main\n", ".git/config": "", "hooks/pre-commit": "#!/bin/sh\n" },
    links: { ".git/hooks": "../hooks", ".git/info": "../none" },
  });
  const inside = await confined(tree);
  const before = listing(tree.work);
  await inside.run(
    "rm .git/hooks; mkdir .git/hooks; echo x > .git/hooks/pre-commit; rm .git/info; mkdir -p .git/info; echo x > .git/info/attributes; echo x > .git/config",
  );
  assert.deepEqual(listing(tree.work), before);
  assert.equal(Deno.readLinkSync(`${tree.work}/.git/hooks`), "../hooks");
});

test("a program's name never means a file of the worktree", async () => {
  using tree = makeWorktree({ files: { ...REPOSITORY, "bin/git": "#!/bin/sh\necho evil git\n" } });
  Deno.chmodSync(`${tree.work}/bin/git`, 0o755);
  Deno.symlinkSync(`${tree.work}/bin`, `${tree.root}/linked`);
  const inside = await confined(tree);
  for (const first of [`${tree.work}/bin`, `${tree.root}/linked`, ".", "bin"]) {
    const env = { ...environment(tree), PATH: `${first}:/usr/bin:/bin` };
    const result = await exec(["git", "--version"], {
      cwd: tree.work,
      env,
      timeout: 5000,
      captureDirectory: tree.root,
      confine: inside.spec,
    });
    assert.match(result.output, /^git version/, first);
  }
});
