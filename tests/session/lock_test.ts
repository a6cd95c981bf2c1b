import assert from "node:assert/strict";
import { deleteSession, readSession, verifySession } from "../../src/session/store.ts";
import { open, sessionTree, turn } from "./_session.ts";

/** Starts a process that writes until it is killed; resolves when its first record is there. */
async function startWriter(place: { worktree: string; stateDir: string }): Promise<Deno.ChildProcess> {
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      ...["run", "-A", "--no-config", new URL("_writer_process.ts", import.meta.url).href],
      ...[place.worktree, place.stateDir, "s", "10"],
    ],
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const reader = child.stdout.getReader();
  await reader.read();
  reader.releaseLock();
  return child;
}

async function kill(child: Deno.ChildProcess): Promise<void> {
  try {
    child.kill("SIGKILL");
  } finally {
    await child.stdout.cancel();
    await child.status;
  }
}

Deno.test("a second process on the same session is refused with the first one's pid", async () => {
  using tree = sessionTree();
  const child = await startWriter(tree.place);
  try {
    const locked = {
      kind: "locked",
      message: new RegExp(`another process \\(pid ${child.pid}\\) writes session "s"`),
    };
    await assert.rejects(open(tree.place), locked);
    await assert.rejects(open(tree.place, { trust: true }), locked);
    await assert.rejects(deleteSession(tree.place, "s"), locked);
    (await open(tree.place, { name: "other" })).close();
  } finally {
    await kill(child);
  }
  const session = await open(tree.place);
  assert.equal(session.resumed, true, "a killed holder's lock is free at once");
  session.close();
});

Deno.test("a session that is being written verifies and shows its last turn as running", async () => {
  using tree = sessionTree();
  const child = await startWriter(tree.place);
  try {
    for (let i = 0; i < 5; i++) {
      const check = await verifySession(tree.place, "s");
      assert.equal(check.ok, true, check.message);
      assert.match(check.message, new RegExp(`process ${child.pid} writes it now`));
    }
    assert.equal((await readSession(tree.place, "s")).turns[0]!.status, "running");
  } finally {
    await kill(child);
  }
  assert.equal((await readSession(tree.place, "s")).turns[0]!.status, "cancelled");
});

Deno.test("one process cannot open a session twice, and can after it closed it", async () => {
  using tree = sessionTree();
  const first = await open(tree.place);
  await assert.rejects(open(tree.place), { kind: "locked", message: new RegExp(`pid ${Deno.pid}`) });
  first.startTurn(turn);
  first.close();
  first.close();
  assert.throws(() => first.error(0, "late"), { message: /closed/ });
  (await open(tree.place)).close();
});

Deno.test("of many that open a new session at once, one gets it", async () => {
  using tree = sessionTree();
  const results = await Promise.allSettled(Array.from({ length: 8 }, () => open(tree.place)));
  const won = results.filter((result) => result.status === "fulfilled");
  assert.equal(won.length, 1);
  won[0]!.value.close();
  assert.equal((await verifySession(tree.place, "s")).ok, true);
});

Deno.test("readers do not keep a writer from a session, and a writer that comes and goes is no tampering", async () => {
  using tree = sessionTree();
  const big = await open(tree.place);
  big.startTurn(turn);
  for (let i = 0; i < 50; i++) big.text("text", "x".repeat(20_000), i); // long enough lines to let others in between
  big.close();
  for (let i = 0; i < 20; i++) {
    const write = async (): Promise<void> => {
      const session = await open(tree.place);
      for (let k = 0; k < 3; k++) session.error(0, "x".repeat(20_000));
      session.close();
    };
    const [before, after] = await Promise.all([
      verifySession(tree.place, "s"),
      write().then(() => verifySession(tree.place, "s")),
    ]);
    assert.equal(before.ok, true, before.message);
    assert.equal(after.ok, true, after.message);
  }
});
