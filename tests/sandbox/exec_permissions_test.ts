import assert from "node:assert/strict";
import type { ExecSettings } from "../../src/sandbox/exec.ts";
import type { ExecResult } from "../../src/tool.ts";
import { makeWorktree, type TestTree } from "../helpers/worktree.ts";
import { environment, isAlive, until } from "./_exec.ts";

const ignore = Deno.build.os === "windows";

interface Reply {
  pid?: number;
  result?: ExecResult;
  error?: string;
}

/** Runs in a worker that may start these programs alone. */
async function inWorker(
  tree: TestTree,
  run: string[],
  argv: string[],
  settings: Partial<ExecSettings>,
  more: { abortAfter?: number; write?: string[] } = {},
): Promise<Reply> {
  const files = more.write ?? [tree.root];
  const worker = new Worker(new URL("./_exec_worker.ts", import.meta.url), {
    type: "module",
    deno: {
      permissions: {
        read: files,
        write: files,
        run,
        env: ["NODE_V8_COVERAGE"],
        net: false,
        sys: false,
        ffi: false,
        import: false,
      },
    },
  } as WorkerOptions);
  try {
    return await new Promise<Reply>((resolve, reject) => {
      let pid: number | undefined;
      worker.onerror = (event) => {
        event.preventDefault();
        reject(new Error(event.message));
      };
      worker.onmessage = ({ data }) => {
        if (data.pid) pid = data.pid;
        else resolve({ pid, ...data });
      };
      const full = {
        cwd: tree.work,
        env: environment(tree),
        timeout: 10_000,
        captureDirectory: tree.root,
        ...settings,
      };
      worker.postMessage({ argv, settings: full, abortAfter: more.abortAfter });
    });
  } finally {
    worker.terminate();
  }
}

const HELPERS = ["/usr/bin/mkfifo", "/bin/mkfifo", "/usr/bin/kill", "/bin/kill"];
const SCRIPT = ["/bin/sh", "-c", "echo out; echo err >&2; echo again > /dev/stderr"];

Deno.test({ name: "a worker with listed programs captures in order through a FIFO", ignore }, async () => {
  using tree = makeWorktree();
  const { result, pid } = await inWorker(tree, ["/bin/sh", ...HELPERS], SCRIPT, {});
  assert.equal(result?.output, "out\nerr\nagain\n");
  assert.ok(pid! > 1);
});

Deno.test({ name: "without mkfifo a capture file keeps the order", ignore }, async () => {
  using tree = makeWorktree();
  const script = ["/bin/sh", "-c", "i=0; while [ $i -lt 50 ]; do echo o$i; echo e$i >&2; i=$((i+1)); done"];
  const { result } = await inWorker(tree, ["/bin/sh"], script, {});
  assert.equal(result?.output, Array.from({ length: 50 }, (_, i) => `o${i}\ne${i}\n`).join(""));
  const left = [...Deno.readDirSync(tree.root)].filter((entry) => entry.isFile).map((entry) => entry.name);
  assert.deepEqual(left, []);
});

Deno.test({ name: "a capture file is emptied while output without end is written", ignore }, async () => {
  using tree = makeWorktree();
  let largest = 0;
  const look = setInterval(() => {
    for (const link of readlinks()) {
      if (link.path.startsWith(tree.root)) largest = Math.max(largest, link.size);
    }
  }, 20);
  try {
    const { result } = await inWorker(tree, ["/usr/bin/yes"], ["/usr/bin/yes"], {
      timeout: 1500,
      maxBytes: 4000,
    });
    assert.equal(result?.timedOut, true);
    assert.ok(result!.droppedBytes > 10 << 20, `${result!.droppedBytes}`);
    assert.ok(largest < 600 << 20, `the file grew to ${largest} bytes`);
  } finally {
    clearInterval(look);
  }
});

/** Open files of this process (the worker's are among them). */
function readlinks(): { path: string; size: number }[] {
  const found: { path: string; size: number }[] = [];
  for (const { name } of Deno.readDirSync("/proc/self/fd")) {
    try {
      const path = Deno.readLinkSync(`/proc/self/fd/${name}`);
      if (path.endsWith("(deleted)")) found.push({ path, size: Deno.statSync(`/proc/self/fd/${name}`).size });
    } catch { /* closed meanwhile */ }
  }
  return found;
}

Deno.test({ name: "without a place for captures both streams still arrive", ignore }, async () => {
  using tree = makeWorktree();
  const { result } = await inWorker(tree, ["/bin/sh"], SCRIPT.with(2, "echo out; echo err >&2; exit 5"), {
    captureDirectory: undefined,
  }, { write: [tree.work] });
  assert.equal(result?.code, 5);
  assert.deepEqual(result?.output.trim().split("\n").sort(), ["err", "out"]);
});

Deno.test({ name: "the helper program ends the group where Deno.kill is refused", ignore }, async () => {
  using tree = makeWorktree();
  const script = ["/bin/sh", "-c", "sh -c 'echo $$; trap \"\" TERM; while :; do sleep 1; done' & wait"];
  for (const helpers of [HELPERS, ["/usr/bin/mkfifo"]]) {
    // With only the shell listed, the shell's builtin sends the signal.
    const { result } = await inWorker(tree, ["/bin/sh", ...helpers], script, { timeout: 600 });
    assert.equal(result?.timedOut, true);
    const pid = Number(result?.output.trim());
    assert.ok(pid > 1, result?.output);
    await until("the grandchild is gone", () => !isAlive(pid));
  }
});

Deno.test({ name: "abort works in a worker with listed programs", ignore }, async () => {
  using tree = makeWorktree();
  const { result } = await inWorker(
    tree,
    ["/bin/sh", ...HELPERS],
    ["/bin/sh", "-c", "echo on; sleep 30"],
    {},
    {
      abortAfter: 300,
    },
  );
  assert.deepEqual([result?.output, result?.signal, result?.timedOut], ["on\n", "SIGTERM", false]);
});

Deno.test({ name: "a program that is not listed is not started", ignore }, async () => {
  using tree = makeWorktree();
  const listed = ["/bin/sh", ...HELPERS];
  const touch = ["/usr/bin/touch", `${tree.work}/made`];
  assert.match(
    (await inWorker(tree, listed, touch, {})).error ?? "",
    /sandbox does not let this call start \/usr\/bin\/touch/,
  );
  assert.match((await inWorker(tree, listed, ["touch", "made"], {})).error ?? "", /command not found: touch/);
  assert.equal(tree.read("work/made"), null);
});

Deno.test({ name: "the host ends the group of a worker that it terminated", ignore }, async () => {
  using tree = makeWorktree();
  const { signalGroup } = await import("../../src/sandbox/exec.ts");
  const worker = new Worker(new URL("./_exec_worker.ts", import.meta.url), { type: "module" });
  const pid = await new Promise<number>((resolve) => {
    worker.onmessage = ({ data }) => data.pid && resolve(data.pid);
    worker.postMessage({
      argv: ["/bin/sh", "-c", "sleep 60 & sleep 60"],
      settings: { cwd: tree.work, env: environment(tree), timeout: 60_000, captureDirectory: tree.root },
    });
  });
  worker.terminate();
  assert.ok(isAlive(pid));
  assert.equal(await signalGroup(pid, "SIGKILL"), true);
  await until("the shell is gone", () => !isAlive(pid));
  assert.equal(await signalGroup(1, "SIGKILL"), false, "never everything");
  assert.equal(await signalGroup(0, "SIGKILL"), false);
  assert.equal(await signalGroup(-5, "SIGKILL"), false);
});
