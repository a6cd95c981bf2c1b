import assert from "node:assert/strict";
import { ToolError } from "../../src/errors.ts";
import { checkCommand, describeRefusal, planAllowed } from "../../src/policy/shell_command.ts";
import type { CommandPlan, ShellTree } from "../../src/policy/types.ts";
import type { ConfineSpec } from "../../src/sandbox/confine.ts";
import { createWorkspace } from "../../src/sandbox/guard.ts";
import { runTree, type ShellIo } from "../../src/sandbox/shell.ts";
import { alone, isAlone } from "./_alone.ts";
import { makeWorktree, type TestTree, type TreeSpec } from "../helpers/worktree.ts";

const LIST =
  ("echo printf cat sort seq head tail yes wc sleep ls grep tr tee touch cp mv sh bash env nope ./tool ./plain evil kill rm")
    .split(" ")
    .concat(["sh -c", "env VAR=1 sh -c"]);
const ignore = Deno.build.os === "windows";

/** A worktree, and a way to run command lines in it. */
class Bench implements Disposable {
  readonly tree: TestTree;
  readonly capture: string;
  constructor(spec: TreeSpec = {}) {
    this.tree = makeWorktree(spec);
    this.capture = `${this.tree.root}/capture`;
    Deno.mkdirSync(this.capture, { mode: 0o700 });
  }

  plan(command: string, cwd = this.tree.work): CommandPlan {
    const plan = checkCommand(command, {
      prefixes: LIST,
      worktree: this.tree.work,
      cwd,
      env: this.env(),
      shell: "/bin/sh",
      home: this.tree.home,
    });
    assert.ok(planAllowed(plan), describeRefusal(plan, LIST));
    return plan;
  }

  env(): Record<string, string> {
    return { PATH: "/usr/bin:/bin", HOME: this.tree.home, LC_ALL: "C.UTF-8" };
  }

  io(more: Partial<ShellIo> = {}): ShellIo {
    const { work, home } = this.tree;
    const roots = [{ path: work, access: "write" as const }];
    return {
      cwd: work,
      env: this.env(),
      timeout: 20_000,
      captureDirectory: this.capture,
      workspace: createWorkspace({ worktree: work, home, roots, rules: [], consented: [] }),
      ...more,
    };
  }

  run(command: string, more: Partial<ShellIo> = {}) {
    return runTree(this.plan(command, more.cwd), this.io(more));
  }

  async output(command: string, more: Partial<ShellIo> = {}): Promise<string> {
    return (await this.run(command, more)).output;
  }

  [Symbol.dispose](): void {
    this.tree[Symbol.dispose]();
  }
}

function test(name: string, spec: TreeSpec, fn: (bench: Bench) => Promise<void>): void {
  Deno.test({
    name,
    ignore,
    async fn() {
      using bench = new Bench(spec);
      await fn(bench);
    },
  });
}

test("a pipeline is connected by the kernel and its writer ends with its reader", {}, async (bench) => {
  const { code, output, notes } = await bench.run("yes | head -n 2");
  assert.deepEqual({ code, output, notes }, { code: 0, output: "y\ny\n", notes: [] });
  assert.equal((await bench.output("seq 200000 | sort -rn | head -n 1")).trim(), "200000");
  assert.equal((await bench.output("seq 300000 | cat | cat | wc -c")).trim(), "1988895");
});

test("a reader that ends at once, or is no reader, breaks the pipe", {}, async (bench) => {
  for (
    const command of [
      "yes | true",
      "yes | echo done",
      "yes | cat < /dev/null",
      "yes | nope",
      "yes 2>&1 | true",
    ]
  ) {
    assert.equal((await bench.run(command)).timedOut, false, command);
  }
});

test("a slow reader holds up its writer", {}, async (bench) => {
  // The writer counts what it could write before the reader began: no more than a pipe holds.
  const { output } = await bench.run(
    `sh -c 'i=0; while [ $i -lt 3000 ]; do printf %0100d 0; i=$((i+1)); [ -e go ] || echo $i > count; done' | sh -c 'sleep 0.5; touch go; cat > /dev/null; cat count'`,
  );
  assert.ok(Number(output) > 10 && Number(output) < 2000, output);
});

test("an own command in front of a pipe writes all of it, however slowly it is read", {}, async (bench) => {
  const text = "x".repeat(30_000);
  assert.equal(
    (await bench.output(
      `printf '%s%s%s%s%s' ${Array(5).fill(`'${text.slice(0, 6000)}'`).join(" ")} | sh -c 'sleep 0.2; wc -c'`,
    )).trim(),
    "30000",
  );
});

test("output and errors come in the order in which they were written", {}, async (bench) => {
  const { output } = await bench.run("sh -c 'echo 1; echo 2 >&2; echo 3'; nope; echo 4; sh -c 'echo 5 >&2'");
  assert.equal(output, "1\n2\n3\nnope: command not found\n4\n5\n");
});

test("2>&1 and |& give the next program both, in order", {}, async (bench) => {
  for (const pipe of ["2>&1 |", "|&"]) {
    assert.equal(
      await bench.output(`sh -c 'echo 1; echo 2 >&2; echo 3' ${pipe} cat -n`),
      "     1\t1\n     2\t2\n     3\t3\n",
    );
  }
  assert.equal(await bench.output("sh -c 'echo out; echo err >&2' 2>&1 >/dev/null | tr a-z A-Z"), "ERR\n");
  assert.equal(await bench.output("nope 2>&1 | tr a-z A-Z"), "NOPE: COMMAND NOT FOUND\n");
});

test("the exit status is that of the last command", {}, async (bench) => {
  const codes: readonly [string, number][] = [
    ["true", 0],
    ["false", 1],
    ["sh -c 'exit 7'", 7],
    ["sh -c 'exit 7' | true", 0],
    ["true | sh -c 'exit 7'", 7],
    ["! true", 1],
    ["! false", 0],
    ["! sh -c 'exit 7' | true", 1],
    ["false; true", 0],
    ["true; false", 1],
    ["false && true", 1],
    ["false || true", 0],
    ["true || false && false", 1],
    ["false && false || sh -c 'exit 4'", 4],
    ["exit 3; true", 3],
    ["exit 300", 44],
    ["exit -1", 255],
    ["false; exit", 1],
    ["exit 3 | true", 0],
    ["true | exit 3", 3],
    ["nope", 127],
    ["./plain", 126],
    ["./none", 127].slice(0, 2) as [string, number],
    ["false & true", 0],
    ["sh -c 'exit 9' &", 0],
    ["echo > dir", 1],
    ["cat < none", 1],
  ].filter(([command]) => command !== "./none") as [string, number][];
  bench.tree.write("work/plain", "not executable");
  bench.tree.write("work/dir/x", "");
  for (const [command, code] of codes) assert.equal((await bench.run(command)).code, code, command);
});

test("a part of a pipeline that failed is noted, a broken pipe is not", {}, async (bench) => {
  assert.deepEqual((await bench.run("sh -c 'exit 3' | cat")).notes, [
    "`sh -c 'exit 3'`, a part of the pipeline, ended with exit status 3",
  ]);
  assert.deepEqual((await bench.run("sh -c 'kill -9 $$' | cat")).notes, [
    "`sh -c 'kill -9 $$'`, a part of the pipeline, was ended by SIGKILL",
  ]);
  assert.deepEqual((await bench.run("yes | head -n 1")).notes, []);
  assert.deepEqual((await bench.run("false | false")).notes, []);
});

test("death by a signal is named and is no success", {}, async (bench) => {
  const { code, signal } = await bench.run("sh -c 'kill -TERM $$'");
  assert.deepEqual({ code, signal }, { code: null, signal: "SIGTERM" });
  assert.equal((await bench.run("sh -c 'kill -TERM $$' || echo caught")).output, "caught\n");
  assert.equal((await bench.run("sh -c 'kill -TERM $$'; true")).signal, null);
});

test(
  "redirections write, append, read and copy through the guard",
  { files: { "in.txt": "b\na\n" } },
  async (bench) => {
    const { tree } = bench;
    await bench.run(
      "echo one > f; echo two >> f; cat < in.txt >> f; sort < in.txt > sorted; sh -c 'echo e >&2' 2> err",
    );
    assert.equal(tree.read("work/f"), "one\ntwo\nb\na\n");
    assert.equal(tree.read("work/sorted"), "a\nb\n");
    assert.equal(tree.read("work/err"), "e\n");
    await bench.run(
      "sh -c 'echo 1; echo 2 >&2; echo 3' > both 2>&1; sh -c 'echo 1; echo 2 >&2' &> and; sh -c 'echo 3 >&2' &>> and",
    );
    assert.equal(tree.read("work/both"), "1\n2\n3\n");
    assert.equal(tree.read("work/and"), "1\n2\n3\n");
    await bench.run("echo longer than before > f; echo x > f; echo y >| f");
    assert.equal(tree.read("work/f"), "y\n");
    assert.equal(
      await bench.output("echo a > /dev/null; sh -c 'echo b >&2' 2>/dev/null; cat < /dev/null; echo c"),
      "c\n",
    );
    assert.equal(await bench.output("sh -c 'echo e >&2; echo o' 2>&1 > f"), "e\n");
  },
);

test(
  "a redirection that fails keeps the command from running and is told where errors go",
  {},
  async (bench) => {
    assert.equal(
      await bench.output("echo x > no/dir || echo failed"),
      "no/dir: No such file or directory\nfailed\n",
    );
    assert.equal(await bench.output("touch t > no/dir 2> err; ls"), "no/dir: No such file or directory\n");
    assert.equal(
      await bench.output("touch t 2> err > no/dir; ls; cat err"),
      "err\nno/dir: No such file or directory\n",
    );
  },
);

test("a redirection out of the worktree ends the line and leaves nothing", {
  outside: { keep: "K" },
  links: { out: "../outside", file: "../outside/keep" },
}, async (bench) => {
  for (
    const command of [
      "echo x > ../outside/new",
      "echo x > out/new",
      "echo x > file",
      "echo x >> file",
      "cat < file",
      "cd out; echo x",
      "echo a; echo x > /etc/polyglav",
    ]
  ) {
    await assert.rejects(
      bench.run(command),
      (error) => error instanceof ToolError && error.kind === "permission",
      command,
    );
  }
  assert.equal(bench.tree.read("outside/keep"), "K");
  assert.equal(bench.tree.read("outside/new"), null);
});

test("a guard that refuses ends what runs already", {}, async (bench) => {
  await assert.rejects(bench.run("sleep 30 & echo x > /etc/polyglav"), ToolError);
  await assert.rejects(bench.run("sleep 30 | cat > /etc/polyglav"), ToolError);
});

test(
  "a rule of the guard holds for redirections and for known writers",
  { files: { "a": "A" } },
  async (bench) => {
    const { work, home } = bench.tree;
    const workspace = createWorkspace({
      worktree: work,
      home,
      roots: [{ path: work, access: "write" }],
      rules: [{ pattern: `${work}/.git/**`, access: "write", action: "deny" }],
      consented: [],
    });
    Deno.mkdirSync(`${work}/.git/hooks`, { recursive: true });
    for (
      const command of [
        "echo x > .git/hooks/h",
        "cp a .git/hooks/h",
        "mv a .git/hooks/h",
        "echo x | tee .git/hooks/h",
        "touch a .git/hooks/h",
        "cp -t .git/hooks a",
        "cd .git && cp ../a hooks/h",
        "tee .git/hooks/*",
        "cd .git/hooks; echo x > h",
      ]
    ) {
      await assert.rejects(bench.run(command, { workspace }), /Cannot write|rule/, command);
    }
    assert.deepEqual([...Deno.readDirSync(`${work}/.git/hooks`)], []);
  },
);

test("patterns expand in the worktree, in order, and never to options", {
  files: { "b.ts": "", "a.ts": "", ".h.ts": "", "d/c.ts": "" },
}, async (bench) => {
  assert.equal(await bench.output("echo *.ts */*.ts none* '*'.ts"), "a.ts b.ts d/c.ts none* *.ts\n");
  assert.equal(await bench.output("cd d && echo *.ts"), "c.ts\n");
  bench.tree.write("work/-rf", "");
  await assert.rejects(
    bench.run("ls *"),
    /matches `-rf`, which the program could take for an option; write \.\/\*/,
  );
  assert.equal(await bench.output("echo ./*"), "./-rf ./a.ts ./b.ts ./d\n");
});

test(
  "patterns do not look out of the worktree",
  { outside: { secret: "" }, links: { out: "../outside" } },
  async (bench) => {
    const { output, notes } = await bench.run("echo out/* */secret ../outside/*");
    assert.equal(output, "out/* */secret ../outside/*\n");
    assert.ok(notes.length > 0 && notes.every((note) => note.includes("outside")), notes.join());
  },
);

test("cd holds for the rest of the line, but not out of a pipeline or the background", {
  files: { "d/e/f": "F\n" },
}, async (bench) => {
  const { work } = bench.tree;
  assert.equal(await bench.output("cd d/e && cat f && pwd; cd .. && pwd"), `F\n${work}/d/e\n${work}/d\n`);
  assert.equal(await bench.output("cd d | true; pwd"), `${work}\n`);
  assert.equal(await bench.output("cd d & pwd"), `${work}\n`);
  assert.equal(await bench.output("cd none || pwd"), `cd: none: No such file or directory\n${work}\n`);
  assert.equal(await bench.output("cd d/e/f || pwd"), `cd: d/e/f: Not a directory\n${work}\n`);
  assert.equal(
    await bench.output("cd d && sh -c 'pwd; echo $PWD $OLDPWD'"),
    `${work}/d\n${work}/d ${work}\n`,
  );
  assert.equal(await bench.output("pwd; cd ..; pwd", { cwd: `${work}/d` }), `${work}/d\n${work}\n`);
});

test(
  "cd through a link stays where it was told, as in bash",
  { files: { "a/b/c": "" }, links: { l: "a/b" } },
  async (bench) => {
    const { work } = bench.tree;
    assert.equal(
      await bench.output("cd l && pwd && pwd -P && ls && cd .. && pwd"),
      `${work}/l\n${work}/a/b\nc\n${work}\n`,
    );
  },
);

test("programs are found on PATH, never in the worktree", {
  files: { "bin/evil": "#!/bin/sh\necho pwned\n", "tool": "#!/bin/sh\necho tool $1\n" },
}, async (bench) => {
  const { work } = bench.tree;
  Deno.chmodSync(`${work}/bin/evil`, 0o755);
  Deno.chmodSync(`${work}/tool`, 0o755);
  const env = { ...bench.env(), PATH: `${work}/bin::.:bin:${work}/../work/bin:/usr/bin:/bin` };
  assert.equal(await bench.output("evil", { env }), "evil: command not found\n");
  assert.equal(await bench.output("evil", { env, cwd: `${work}/bin` }), "evil: command not found\n");
  assert.equal(await bench.output("./tool a"), "tool a\n");
});

test("with a list of programs, a name is what the list says, and no other name starts", {}, async (bench) => {
  const programs = { evil: "/bin/echo", nope: null };
  assert.equal(await bench.output("evil a; nope", { programs }), "a\nnope: command not found\n");
  assert.equal((await bench.run("nope", { programs })).code, 127);
  await assert.rejects(
    bench.run("evil a; touch pwned", { programs }),
    (error) => error instanceof ToolError && error.kind === "permission" && /touch/.test(error.message),
  );
  assert.equal(bench.tree.read("work/pwned"), null);
});

test(
  "a link on PATH into the worktree is no program",
  { files: { "bin/ls": "#!/bin/sh\necho evil\n" } },
  async (bench) => {
    Deno.chmodSync(`${bench.tree.work}/bin/ls`, 0o755);
    const outside = `${bench.tree.root}/sbin`;
    Deno.mkdirSync(outside);
    Deno.symlinkSync(`${bench.tree.work}/bin/ls`, `${outside}/ls`);
    const env = { ...bench.env(), PATH: `${outside}:${bench.tree.work}/bin` };
    assert.equal(await bench.output("ls", { env }), "ls: command not found\n");
  },
);

test("a program sees the name by which it was called", {}, async (bench) => {
  assert.match(await bench.output("ls /none"), /^ls: /);
});

test("standard input is closed", {}, async (bench) => {
  assert.equal(await bench.output("cat; sh -c 'read x || echo end'; wc -c"), "end\n0\n");
});

test("a timeout ends the whole line, and the output so far is kept", {}, async (bench) => {
  const { timedOut, code, output } = await bench.run(
    "echo before; sh -c 'sleep 60 & sleep 60' | sleep 60; echo after > f",
    { timeout: 400 },
  );
  assert.deepEqual({ timedOut, code, output }, { timedOut: true, code: null, output: "before\n" });
  assert.equal(bench.tree.read("work/f"), null);
});

test("a timeout ends children and jobs in the background too", {}, async (bench) => {
  await bench.run("sh -c 'echo $$ > p1; sleep 60' & sh -c 'sleep 60 & echo $! > p2; wait'", { timeout: 600 });
  for (const file of ["p1", "p2"]) {
    const pid = Number(bench.tree.read(`work/${file}`));
    assert.ok(pid > 1);
    assert.ok(await gone(pid), `${file} lives`);
  }
});

test("an abort ends the line", {}, async (bench) => {
  const abort = new AbortController();
  const result = bench.run("sh -c 'touch started; sleep 60'; touch after", { signal: abort.signal });
  while (bench.tree.read("work/started") === null) await new Promise((done) => setTimeout(done, 5));
  abort.abort();
  assert.equal((await result).code, null);
  assert.equal(bench.tree.read("work/after"), null);
});

test("a job in the background goes on, is noted, and does not hold up the call", {}, async (bench) => {
  const { output, notes, code } = await bench.run(
    "sh -c 'echo $$ > pid; while [ ! -e stop ]; do sleep 0.02; done; echo done > done' & echo first",
  );
  assert.deepEqual({ output, code }, { output: "first\n", code: 0 });
  assert.equal(notes.length, 1);
  assert.match(notes[0]!, /goes on in the background$/);
  bench.tree.write("work/stop", "");
  assert.ok(await gone(Number(bench.tree.read("work/pid"))));
  assert.equal(bench.tree.read("work/done"), "done\n");
});

test("what follows in a background chain is not started after the call", {}, async (bench) => {
  await bench.run(
    "sh -c 'echo $$ > pid; while [ ! -e stop ]; do sleep 0.02; done' && touch after & echo first",
  );
  bench.tree.write("work/stop", "");
  assert.ok(await gone(Number(bench.tree.read("work/pid"))));
  await new Promise((done) => setTimeout(done, 50));
  assert.equal(bench.tree.read("work/after"), null);
});

test("quick jobs in the background are waited for", {}, async (bench) => {
  const { output, notes } = await bench.run("echo a & echo b & sh -c 'echo c' &");
  assert.deepEqual([output.split("\n").sort().join(""), notes], ["abc", []]);
});

test("output is bounded while it streams", {}, async (bench) => {
  const { output, droppedBytes } = await bench.run("seq 1000000 | cat; echo end", { maxBytes: 1000 });
  assert.ok(
    output.length < 1500 && output.startsWith("1\n2\n") && output.endsWith("end\n"),
    output.slice(0, 50),
  );
  assert.ok(droppedBytes > 6_000_000);
});

test("without a folder for the capture both outputs are read all the same", {}, async (bench) => {
  const more = { captureDirectory: undefined };
  const lines = await bench.output("echo a; sh -c 'echo b; echo c >&2' | cat; nope; seq 3 | sort -r", more);
  // Two pipes have no common order.
  assert.deepEqual(lines.replace("c\nb", "b\nc").split("\n"), [
    "a",
    "b",
    "c",
    "nope: command not found",
    "3",
    "2",
    "1",
    "",
  ]);
  assert.equal((await bench.run("yes | head -n 1", more)).output, "y\n");
  assert.equal((await bench.run("yes | true", more)).timedOut, false);
  assert.equal(await bench.output("echo x > f; cat f", more), "x\n");
});

test("a plan that was not let through is not run, whoever says so", {}, async (bench) => {
  const good = bench.plan("echo a; ls");
  const tree = good.tree as ShellTree, first = tree.chains[0]!;
  const other: ShellTree = {
    chains: [{
      ...first,
      first: {
        ...first.first,
        commands: [{ words: [{ text: "touch" }, { text: "p" }], redirects: [], builtin: false, text: "" }],
      },
    }],
  };
  const plans: CommandPlan[] = [
    { ...good, mode: "shell" },
    { ...good, tree: undefined },
    { ...good, refused: { construct: "x", segment: "x" } },
    { ...good, segments: [{ text: "x", allowed: false, reason: "" }] },
    { ...good, tree: other },
    { ...good, programs: [] },
  ];
  for (const plan of plans) await assert.rejects(runTree(plan, bench.io()), /allowlist|not checked/);
  assert.equal(bench.tree.read("work/p"), null);
});

test("many lines leave no descriptors behind", {}, async (bench) => {
  if (!isAlone()) return await alone("shell_run_test.ts", "many lines leave no descriptors behind");
  const open = () => [...Deno.readDirSync("/proc/self/fd")].length;
  await bench.run("echo a | cat > f");
  const before = Deno.build.os === "linux" ? open() : 0;
  for (let i = 0; i < 200; i++) await bench.run("echo a | cat >> f; cat < f > g; nope | true; echo x > no/f");
  if (Deno.build.os === "linux") assert.ok(open() <= before + 3, `${before} → ${open()}`);
});

test(
  "each program of the line is confined, in the directory of its moment",
  { files: { "d/x": "" } },
  async (bench) => {
    const { root, work, home } = bench.tree;
    const program = `${root}/confiner`;
    bench.tree.write(
      "confiner",
      `#!/bin/sh\necho "$PWD" >> ${root}/log\nwhile [ "$1" != -- ]; do shift; done\nshift\nexec "$@"\n`,
    );
    Deno.chmodSync(program, 0o755);
    const confine: ConfineSpec = {
      kind: "bwrap",
      program,
      worktree: work,
      home,
      writable: [],
      overlays: [],
      empty: [],
      private: [],
      git: [],
      protect: [],
      absent: [],
      hide: [],
      network: false,
      userNamespace: true,
      root: false,
    };
    const { output, code } = await bench.run("cd d && ls | cat; echo own; sh -c 'exit 3'", { confine });
    assert.deepEqual({ output, code }, { output: "x\nown\n", code: 3 });
    assert.deepEqual(bench.tree.read("log")!.trim().split("\n"), [`${work}/d`, `${work}/d`, `${work}/d`]);
  },
);

async function gone(pid: number): Promise<boolean> {
  for (let i = 0; i < 400; i++) {
    const state = await Deno.readTextFile(`/proc/${pid}/stat`).catch(() => null);
    if (state === null || /\) Z /.test(state)) return true;
    await new Promise((done) => setTimeout(done, 10));
  }
  return false;
}
