import assert from "node:assert/strict";
import { readSession, verifySession } from "../../src/session/store.ts";
import { open, sessionTree, turn, writeSample } from "./_session.ts";

/** The bytes of log and anchor before and after one append, from which every state in between can be put together. */
async function around(tree: ReturnType<typeof sessionTree>): Promise<{
  readonly log: readonly [Uint8Array, Uint8Array];
  readonly next: readonly [Uint8Array, Uint8Array];
  readonly done: readonly [Uint8Array, Uint8Array];
  readonly set: (log: Uint8Array, next: Uint8Array, done: Uint8Array) => void;
}> {
  await writeSample(tree.place);
  const logs = [Deno.readFileSync(tree.log("s"))], anchors = [Deno.readFileSync(tree.anchor("s"))];
  const session = await open(tree.place);
  session.error(1, "the record that the process was killed at");
  session.close();
  logs.push(Deno.readFileSync(tree.log("s")));
  anchors.push(Deno.readFileSync(tree.anchor("s")));
  const slot = (anchor: number, from: number): Uint8Array => anchors[anchor]!.slice(from, from + 128);
  return {
    log: [logs[0]!, logs[1]!],
    next: [slot(0, 0), slot(1, 0)],
    done: [slot(0, 128), slot(1, 128)],
    set(log, next, done) {
      Deno.writeFileSync(tree.log("s"), log);
      Deno.writeFileSync(tree.anchor("s"), new Uint8Array([...next, ...done, ...slot(1, 256)]));
    },
  };
}

Deno.test("killed after the announcement: verifies, and the next record follows the last one", async () => {
  using tree = sessionTree();
  const { log, next, done, set } = await around(tree);
  set(log[0], next[1], done[0]);
  const check = await verifySession(tree.place, "s");
  assert.deepEqual([check.ok, check.records], [true, 10]);
  const session = await open(tree.place);
  assert.deepEqual(session.notes, []);
  session.startTurn(turn);
  session.close();
  assert.deepEqual((await verifySession(tree.place, "s")).records, 11);
});

Deno.test("killed between the record and its confirmation: verifies as one record ahead, and is resumed", async () => {
  using tree = sessionTree();
  const { log, next, done, set } = await around(tree);
  set(log[1], next[1], done[0]);
  const check = await verifySession(tree.place, "s");
  assert.deepEqual([check.ok, check.records], [true, 11]);
  assert.match(check.message, /ended right after record 11/);
  (await open(tree.place)).close();
  const after = await verifySession(tree.place, "s");
  assert.deepEqual([after.ok, after.records], [true, 11]);
  assert.doesNotMatch(after.message, /ended right after/, "resuming confirms the record");
});

Deno.test("the same record without its announcement is a forged one", async () => {
  using tree = sessionTree();
  const { log, next, done, set } = await around(tree);
  set(log[1], next[0], done[0]);
  const check = await verifySession(tree.place, "s");
  assert.deepEqual([check.ok, check.record], [false, 11]);
});

Deno.test("another record in the place of the announced one is a forged one", async () => {
  using tree = sessionTree();
  const { log, next, done, set } = await around(tree);
  const text = new TextDecoder().decode(log[1]).replace("killed at", "forged at");
  set(new TextEncoder().encode(text), next[1], done[0]);
  const check = await verifySession(tree.place, "s");
  assert.deepEqual([check.ok, check.record], [false, 11]);
});

Deno.test("a line torn anywhere is skipped, reported, kept beside the log, and then cut off", async () => {
  using tree = sessionTree();
  const { log, next, done, set } = await around(tree);
  const length = log[1].length - log[0].length;
  let copies = 0;
  for (const cut of [1, 17, length - 2, length - 1]) {
    set(log[1].subarray(0, log[0].length + cut), next[1], done[0]);
    const check = await verifySession(tree.place, "s");
    assert.deepEqual([check.ok, check.records], [true, 10]);
    assert.match(check.message, new RegExp(`torn.* ${cut} bytes skipped`));
    assert.equal((await readSession(tree.place, "s")).turns.length, 1);
    const session = await open(tree.place);
    copies++;
    assert.match(session.notes.join(), new RegExp(`torn-${copies}\\)`));
    session.close();
    assert.deepEqual(
      Deno.readFileSync(`${tree.log("s")}.torn-${copies}`),
      log[1].slice(log[0].length, log[0].length + cut),
    );
    const after = await verifySession(tree.place, "s");
    assert.deepEqual([after.ok, after.records], [true, 11], "the repair is on record");
  }
});

Deno.test("a torn line of the anchor is made up for by the other one", async () => {
  using tree = sessionTree();
  const { log, next, done, set } = await around(tree);
  const torn = (slot: Uint8Array): Uint8Array => slot.map((byte, i) => i < 20 ? byte : 0x20);
  set(log[0], torn(next[1]), done[0]);
  assert.equal((await verifySession(tree.place, "s")).ok, true, "torn while announcing");
  set(log[1], next[1], torn(done[1]));
  assert.equal((await verifySession(tree.place, "s")).ok, true, "torn while confirming");
  (await open(tree.place)).close();
  assert.equal((await verifySession(tree.place, "s")).ok, true);
  set(log[0], next[1], torn(done[1]));
  assert.equal((await verifySession(tree.place, "s")).ok, false, "and it hides no truncation");
});

Deno.test("killed before the first record: the session is simply new", async () => {
  using tree = sessionTree();
  await writeSample(tree.place, "other");
  Deno.writeFileSync(tree.log("s"), new Uint8Array());
  const session = await open(tree.place);
  assert.equal(session.resumed, false);
  session.close();
  assert.equal((await verifySession(tree.place, "s")).ok, true);
});

Deno.test("killed between the anchor and the log: an anchor of nothing is no loss", async () => {
  using tree = sessionTree();
  const { Anchor } = await import("../../src/session/_anchor.ts");
  await writeSample(tree.place, "other");
  Anchor.open(tree.anchor("s"), Deno.pid).close();
  assert.deepEqual(await verifySession(tree.place, "s").then(({ ok, records }) => [ok, records]), [true, 0]);
  const session = await open(tree.place);
  assert.equal(session.resumed, false);
  session.close();
  assert.deepEqual(await verifySession(tree.place, "s").then(({ ok, records }) => [ok, records]), [true, 1]);
});

for (const [size, acks] of [[50, 300], [200_000, 25], [3_000_000, 4]] as const) {
  Deno.test(`a process killed while it writes records of ${size} bytes loses nothing that was acknowledged`, async () => {
    using tree = sessionTree();
    const script = new URL("_writer_process.ts", import.meta.url).href;
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--no-config", script, tree.place.worktree, tree.place.stateDir, "s", String(size)],
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
    let last = 0, text = "";
    for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      last = Number(text.slice(0, text.lastIndexOf("\n")).split("\n").at(-1));
      if (last >= acks) {
        try {
          child.kill("SIGKILL");
        } catch { /* it has ended already; what it wrote is still read to the end */ }
      }
    }
    await child.status;
    const check = await verifySession(tree.place, "s");
    assert.equal(check.ok, true, check.message);
    assert.ok(
      check.records >= last && check.records <= last + 1,
      `${check.records} records, ${last} acknowledged`,
    );
    const read = await readSession(tree.place, "s");
    assert.equal(read.turns[0]!.status, "cancelled");
    assert.equal(read.turns[0]!.parts.length, check.records - 1);
    const session = await open(tree.place);
    assert.equal(session.startTurn(turn), 2);
    session.close();
    assert.equal((await verifySession(tree.place, "s")).ok, true);
  });
}
