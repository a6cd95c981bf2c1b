import assert from "node:assert/strict";
import { type Side, SideLock } from "../../src/sandbox/_lock.ts";

/** Lets everything that can go on go on. */
async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) await Promise.resolve();
}

Deno.test("calls of one side run together; the other side waits for all of them", async () => {
  const lock = new SideLock(), order: string[] = [];
  const first = await lock.enter("files"), second = await lock.enter("files");
  const command = lock.enter("commands").then((leave) => (order.push("command"), leave));
  await settle();
  assert.deepEqual(order, []);
  first();
  first();
  await settle();
  assert.deepEqual(order, [], "leaving twice counts once");
  second();
  (await command)();
  assert.deepEqual(order, ["command"]);
  (await lock.enter("files"))();
});

Deno.test("who waits longest goes first, so that neither side starves; free calls never wait", async () => {
  const lock = new SideLock(), order: string[] = [];
  const enter = (name: string, side: Side) => lock.enter(side).then((leave) => (order.push(name), leave));
  const holder = await lock.enter("files");
  const waiting = [
    enter("c1", "commands"),
    enter("c2", "commands"),
    enter("f1", "files"),
    enter("c3", "commands"),
    enter("free", "free"),
  ];
  await settle();
  assert.deepEqual(order, ["free"]);
  holder();
  await settle();
  assert.deepEqual(order, ["free", "c1", "c2"]);
  (await waiting[0]!)();
  await settle();
  assert.deepEqual(order, ["free", "c1", "c2"]);
  (await waiting[1]!)();
  await settle();
  assert.deepEqual(order, ["free", "c1", "c2", "f1"]);
  (await waiting[2]!)();
  (await waiting[3]!)();
});

Deno.test("a call that is cancelled while it waits makes way", async () => {
  const lock = new SideLock(), abort = new AbortController();
  const holder = await lock.enter("files");
  const command = lock.enter("commands", abort.signal), file = lock.enter("files");
  abort.abort();
  await assert.rejects(command);
  (await file)();
  holder();
  (await lock.enter("commands"))();
});
