import assert from "node:assert/strict";
import { ToolError } from "../../src/errors.ts";
import { exec } from "../../src/sandbox/exec.ts";
import type { ExecResult } from "../../src/tool.ts";
import { makeWorktree } from "../helpers/worktree.ts";
import { alone } from "./_alone.ts";
import { environment, isAlive, sh, until } from "./_exec.ts";

const unix = Deno.build.os !== "windows";

Deno.test({ name: "exec reports output, exit code and nothing else", ignore: !unix }, async () => {
  using tree = makeWorktree();
  assert.deepEqual(
    await sh(tree, "echo hello; exit 3"),
    {
      code: 3,
      signal: null,
      output: "hello\n",
      timedOut: false,
      droppedBytes: 0,
      notes: [],
    } satisfies ExecResult,
  );
});

Deno.test(
  { name: "exec keeps standard output and error in the order of writing", ignore: !unix },
  async () => {
    using tree = makeWorktree();
    const script = "i=0; while [ $i -lt 200 ]; do echo out$i; echo err$i >&2; i=$((i+1)); done";
    const wanted = Array.from({ length: 200 }, (_, i) => `out${i}\nerr${i}\n`).join("");
    assert.equal((await sh(tree, script)).output, wanted);
  },
);

Deno.test(
  { name: "exec lets a child open /dev/stderr anew without losing output", ignore: !unix },
  async () => {
    using tree = makeWorktree();
    const { output } = await sh(
      tree,
      "echo one; echo two > /dev/stderr; echo three > /dev/stdout; echo four",
    );
    assert.equal(output, "one\ntwo\nthree\nfour\n");
  },
);

Deno.test({ name: "exec closes standard input", ignore: !unix }, async () => {
  using tree = makeWorktree();
  const { code, output } = await sh(tree, "cat; echo after; read line || echo end");
  assert.deepEqual({ code, output }, { code: 0, output: "after\nend\n" });
});

Deno.test({ name: "exec writes the given standard input", ignore: !unix }, async () => {
  using tree = makeWorktree();
  const text = "line äöü\n".repeat(50_000);
  const { output } = await sh(tree, "wc -c", { stdin: text });
  assert.equal(output.trim(), String(new TextEncoder().encode(text).length));
  assert.equal(
    (await sh(tree, "exit 4", { stdin: text })).code,
    4,
    "a child that does not read breaks nothing",
  );
});

Deno.test({ name: "exec names death by a signal, with no exit code", ignore: !unix }, async () => {
  using tree = makeWorktree();
  for (const signal of ["KILL", "TERM", "SEGV", "HUP"]) {
    const result = await sh(tree, `echo before; kill -${signal} $$`);
    assert.deepEqual([result.code, result.signal, result.output], [null, `SIG${signal}`, "before\n"]);
  }
});

Deno.test({ name: "exec passes exactly the given environment", ignore: !unix }, async () => {
  using tree = makeWorktree();
  Deno.env.set("POLYGLAV_TEST_SECRET", "do-not-pass");
  try {
    const { output } = await exec(["/usr/bin/env"], {
      cwd: tree.work,
      env: { A: "1", B: "two words" },
      timeout: 5000,
      captureDirectory: tree.root,
    });
    assert.deepEqual(output.trim().split("\n").sort(), ["A=1", "B=two words"]);
  } finally {
    Deno.env.delete("POLYGLAV_TEST_SECRET");
  }
});

Deno.test({ name: "exec starts in the given directory", ignore: !unix }, async () => {
  using tree = makeWorktree({ files: { "sub dir/x": "" } });
  assert.equal((await sh(tree, "pwd", { cwd: `${tree.work}/sub dir` })).output, `${tree.work}/sub dir\n`);
});

Deno.test("exec says that a program or a directory is not there", async () => {
  using tree = makeWorktree();
  const options = { cwd: tree.work, env: environment(tree), timeout: 5000, captureDirectory: tree.root };
  const fails = (argv: string[], more: object, message: RegExp, kind: string) =>
    assert.rejects(exec(argv, { ...options, ...more }), (error: unknown) => {
      assert.ok(error instanceof ToolError);
      assert.match(error.message, message);
      assert.equal(error.kind, kind);
      return true;
    });
  await fails(["no-such-program-xyz"], {}, /^command not found: no-such-program-xyz$/, "not_found");
  await fails(["/no/such/program"], {}, /^command not found: \/no\/such\/program$/, "not_found");
  await fails(["git"], { cwd: `${tree.work}/none` }, /^cwd not found: .*none$/, "not_found");
  await fails([], {}, /no program/, "invalid_arguments");
  await fails(["sh", "-c", "echo a\0b"], {}, /NUL/, "invalid_arguments");
  tree.write("work/plain.txt", "not a program");
  if (unix) await fails([`${tree.work}/plain.txt`], {}, /permission denied/, "permission");
});

Deno.test(
  { name: "exec bounds 3,000,000 lines, keeps head and tail and counts the middle", ignore: !unix },
  async () => {
    using tree = makeWorktree();
    const { output, droppedBytes, code } = await sh(tree, "seq 1 3000000", { maxBytes: 10_000 });
    assert.equal(code, 0);
    assert.ok(output.length < 10_200, `${output.length}`);
    assert.match(output, /^1\n2\n3\n/);
    assert.match(output, /\n2999999\n3000000\n$/);
    const [head, tail] = output.split(/\n\.\.\. \(truncated\) \d+ bytes left out\n/);
    assert.equal(head!.length + 1 + tail!.length + droppedBytes, 22_888_896);
    assert.match(output, new RegExp(`\\(truncated\\) ${droppedBytes} bytes`));
  },
);

Deno.test({ name: "exec bounds a single line of 20 MB and output without end", ignore: !unix }, async () => {
  using tree = makeWorktree();
  const line = await sh(tree, "head -c 20000000 /dev/zero | tr '\\0' x; echo", { maxBytes: 4000 });
  assert.ok(line.output.length < 4200);
  assert.match(line.output, /^x+\n\.\.\. \(truncated\) \d+ bytes left out\nx+\n$/);
  const before = Deno.memoryUsage().rss;
  const endless = await sh(tree, "yes", { maxBytes: 4000, timeout: 700 });
  assert.deepEqual([endless.timedOut, endless.code, endless.notes], [true, null, []]);
  assert.ok(endless.droppedBytes > 1_000_000);
  assert.ok(Deno.memoryUsage().rss - before < 200 << 20);
  assert.deepEqual(
    [...Deno.readDirSync(tree.root)].filter((e) => !e.isDirectory && !e.isSymlink).filter((e) =>
      Deno.statSync(`${tree.root}/${e.name}`).size > 0
    ),
    [],
    "nothing of the output lies on disk",
  );
});

Deno.test({ name: "exec cleans binary output, escapes and rewritten lines", ignore: !unix }, async () => {
  using tree = makeWorktree();
  const cases: [string, string][] = [
    ["printf 'a\\377b\\376\\n'", "a\ufffdb\ufffd\n"],
    ["printf '\\033[31mred\\033[0m \\033]0;title\\007x\\033(B\\n'", "red x\n"],
    ["printf '10%%\\r50%%\\r100%%\\ndone\\r\\n'", "100%\ndone\n"],
    ["printf 'N\\bNA\\bA\\000\\001\\n'", "NA\n"],
    ["printf '\\342\\202'; printf '\\254\\n'", "€\n"],
    ["printf '\\360\\237\\230\\200\\b\\360\\237\\230\\200!\\n'", "😀!\n"],
    ["printf '\\360\\237\\230\\200b\\rx\\n'", "xb\n"],
    ["printf '\\033]52;c;aGk=\\033\\\\tail\\n'", "tail\n"],
  ];
  for (const [script, wanted] of cases) assert.equal((await sh(tree, script)).output, wanted, script);
  const bytes = await sh(tree, "head -c 100000 /dev/urandom", { maxBytes: 200_000 });
  assert.equal(bytes.code, 0);
  // deno-lint-ignore no-control-regex
  assert.doesNotMatch(bytes.output, /[\x00-\x08\x0b-\x1f\x7f-\x9f]/);
  assert.ok(bytes.output.isWellFormed());
});

Deno.test({ name: "exec leaves output raw where the handler wants it so", ignore: !unix }, async () => {
  using tree = makeWorktree();
  assert.equal((await sh(tree, "printf 'a\\000b\\033[1m\\r\\n'", { raw: true })).output, "a\0b\x1b[1m\r\n");
});

Deno.test({ name: "the timeout ends grandchildren that ignore SIGTERM too", ignore: !unix }, async () => {
  using tree = makeWorktree();
  const script =
    "trap '' TERM; (trap '' TERM; echo $! > /dev/null; sh -c 'echo $$; trap \"\" TERM; sleep 60') & sleep 60";
  const { timedOut, code, output } = await sh(tree, script, { timeout: 500 });
  assert.deepEqual([timedOut, code], [true, null]);
  const pid = Number(output.trim());
  assert.ok(pid > 1, output);
  await until("the grandchild is gone", () => !isAlive(pid));
});

Deno.test({ name: "the timeout keeps what was written so far", ignore: !unix }, async () => {
  using tree = makeWorktree();
  const result = await sh(tree, "echo early; echo warn >&2; sleep 30", { timeout: 400 });
  assert.deepEqual([result.timedOut, result.output], [true, "early\nwarn\n"]);
});

Deno.test({ name: "a program gets the chance to clean up on SIGTERM", ignore: !unix }, async () => {
  using tree = makeWorktree();
  const result = await sh(tree, "trap 'echo cleaned; exit 7' TERM; while :; do sleep 0.05; done", {
    timeout: 300,
  });
  assert.equal(result.timedOut, true);
  assert.match(result.output, /^cleaned$/m);
});

Deno.test(
  { name: "abort ends a command and its children, and keeps the output", ignore: !unix },
  async () => {
    using tree = makeWorktree();
    const abort = new AbortController();
    setTimeout(() => abort.abort(), 300);
    const result = await sh(tree, "sh -c 'echo $$; sleep 60' & echo waiting; wait", { signal: abort.signal });
    assert.deepEqual([result.timedOut, result.code, result.signal], [false, null, "SIGTERM"]);
    const pid = Number(/^\d+$/m.exec(result.output)?.[0]);
    await until("the child is gone", () => !isAlive(pid));
    await assert.rejects(sh(tree, "echo never", { signal: abort.signal }), /cancelled/);
  },
);

Deno.test({
  name: "a background child does not hold the call, goes on, and is not ended by a broken pipe",
  ignore: !unix,
}, async () => {
  using tree = makeWorktree();
  const script =
    "(i=0; while [ $i -lt 8 ]; do echo tick; sleep 0.1; i=$((i+1)); done; echo ended > done.txt) & echo started $!";
  const result = await sh(tree, script);
  assert.equal(result.code, 0);
  assert.match(result.output, /^(tick\n)*started \d+\n(tick\n)*$/);
  assert.match(result.notes.join(), /background process still holds the output; it goes on/);
  await until("the child came to its end", () => tree.read("work/done.txt") === "ended\n");
});

Deno.test(
  { name: "a process that left the group does not hold a call that timed out", ignore: !unix },
  async () => {
    using tree = makeWorktree();
    const result = await sh(tree, "setsid sh -c 'echo $$; exec sleep 30' & sleep 60", { timeout: 400 });
    assert.equal(result.timedOut, true);
    assert.match(result.notes.join(), /left the process group/);
    const pid = Number(/^\d+$/m.exec(result.output)?.[0]);
    assert.ok(isAlive(pid), "a new session is out of reach");
    Deno.kill(pid, "SIGKILL");
  },
);

Deno.test({ name: "onSpawn tells the process group", ignore: !unix }, async () => {
  using tree = makeWorktree();
  const pids: number[] = [];
  const { output } = await sh(tree, "echo $$; cat /proc/$$/stat | cut -d' ' -f5,6", {
    onSpawn: (pid) => pids.push(pid),
  });
  const [pid, rest] = output.trim().split("\n");
  assert.deepEqual(pids, [Number(pid)]);
  assert.equal(rest, `${pid} ${pid}`, "leader of its own group and session");
});

Deno.test(
  { name: "400 commands leave no descriptors, no files and no growing memory", ignore: !unix },
  async () => {
    await alone("_exec_alone.ts");
  },
);

Deno.test({ name: "many commands at a time keep their outputs apart", ignore: !unix }, async () => {
  using tree = makeWorktree();
  const all = await Promise.all(
    Array.from(
      { length: 40 },
      (_, i) => sh(tree, `echo a${i}; sleep 0.0$((RANDOM % 9)) 2>/dev/null; echo b${i} >&2`),
    ),
  );
  all.forEach(({ output }, i) => assert.equal(output, `a${i}\nb${i}\n`));
});
