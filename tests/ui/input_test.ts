import assert from "node:assert/strict";
import { Input } from "../../src/ui/input.ts";
import { FakeTty, settle } from "./_fake_tty.ts";

function open(): { tty: FakeTty; input: Input } {
  const tty = new FakeTty(), input = new Input(tty);
  input.start();
  return { tty, input };
}
const readLine = (input: Input) => input.readLine({ prompt: "> " });

Deno.test("what is typed while nothing is read is kept for the next lines", async () => {
  const { tty, input } = open();
  tty.type("one\rtwo");
  await settle();
  assert.deepEqual(await readLine(input), { kind: "line", text: "one" });
  const next = readLine(input);
  await settle();
  tty.type("!\r");
  assert.deepEqual(await next, { kind: "line", text: "two!" });
  input.close();
});

Deno.test("a question takes nothing that was typed ahead, nor what comes before a quiet time", async () => {
  const { tty, input } = open();
  tty.type("y\r");
  await settle();
  let answered = false;
  const key = input.readKey({ quiet: 80 }).then((key) => {
    answered = true;
    return key;
  });
  tty.type("y");
  for (let i = 0; i < 5; i++) {
    await settle(30); // typing goes on
    tty.type("y");
  }
  assert.equal(answered, false);
  await settle(200);
  assert.equal(answered, false);
  tty.type("n");
  assert.equal((await key)?.text, "n");
  // Nothing was lost, and the order is that of typing.
  assert.deepEqual(await readLine(input), { kind: "line", text: "y" });
  const rest = readLine(input);
  await settle();
  tty.type("\r");
  assert.deepEqual(await rest, { kind: "line", text: "yyyyyy" });
  input.close();
});

Deno.test("a program that was busy takes no answer that was typed meanwhile", async () => {
  const { tty, input } = open();
  const key = input.readKey({ quiet: 50 });
  // Nothing is read while the program computes; the byte waits in the terminal.
  const end = performance.now() + 300;
  while (performance.now() < end);
  tty.type("y");
  await settle(150);
  tty.type("n");
  assert.equal((await key)?.text, "n");
  input.close();
});

Deno.test("Enter right behind an answer belongs to it; behind another key it ends a line", async () => {
  for (const [typed, lines] of [["y\r", ["next"]], ["yes\r", ["next"]]] as const) {
    const { tty, input } = open();
    const key = input.readKey({ quiet: 0 });
    await settle();
    tty.type(typed);
    await key;
    tty.type("next\r");
    for (const text of lines) assert.deepEqual(await readLine(input), { kind: "line", text });
    input.close();
  }
  const { tty, input } = open();
  const key = input.readKey({ quiet: 0 });
  await settle();
  tty.type("y");
  assert.equal((await key)?.text, "y");
  // In the same moment, as a program types or a terminal sends after a delay.
  tty.type("go\r");
  await settle();
  assert.deepEqual(await readLine(input), { kind: "line", text: "go" });
  input.close();
});

Deno.test("a pasted text answers no question", async () => {
  const { tty, input } = open();
  const key = input.readKey({ quiet: 10 });
  await settle(150);
  tty.type("\x1b[200~y\x1b[201~");
  await settle();
  tty.type("\x1b[200~y\n\x1b[201~n");
  assert.equal((await key)?.text, "n");
  input.close();
});

Deno.test("Ctrl-C is heard while nothing is read, at a question at once, and in a line", async () => {
  const { tty, input } = open();
  let heard = 0;
  const stop = input.onInterrupt(() => heard++);
  tty.type("\x03");
  await settle();
  assert.equal(heard, 1);
  const key = input.readKey({ quiet: 60_000 });
  await settle();
  tty.type("\x03");
  assert.deepEqual(await key, { name: "c", ctrl: true });
  assert.equal(heard, 1);
  const line = readLine(input);
  await settle();
  tty.type("abc\x03");
  assert.deepEqual(await line, { kind: "interrupt", text: "abc" });
  stop();
  tty.type("\x03");
  await settle();
  assert.equal(heard, 1);
  input.close();
});

Deno.test("after Ctrl-C nothing that was typed ahead is sent by itself", async () => {
  const { tty, input } = open();
  tty.type("delete it\rnow\r\x04");
  await settle();
  tty.type("\x03");
  await settle();
  let done = false;
  const line = readLine(input).then((result) => {
    done = true;
    return result;
  });
  await settle(20);
  assert.equal(done, false);
  tty.type("\r");
  assert.deepEqual(await line, { kind: "line", text: "delete it\nnow" });
  input.close();
});

Deno.test("questions come one after the other, and a failed one does not stop the next", async () => {
  const { input } = open();
  const order: number[] = [];
  const first = input.exclusive(async () => {
    await settle(20);
    order.push(1);
    throw new Error("no");
  });
  const second = input.exclusive(() => Promise.resolve(order.push(2)));
  assert.equal(input.asking, true);
  await assert.rejects(first);
  await second;
  await settle();
  assert.deepEqual(order, [1, 2]);
  assert.equal(input.asking, false);
  input.close();
});

Deno.test("two readers at once are a mistake of the program", async () => {
  const { input } = open();
  const line = readLine(input);
  await assert.rejects(readLine(input));
  await assert.rejects(input.readKey());
  input.close();
  assert.deepEqual(await line, { kind: "end" });
});

Deno.test("a terminal that goes away ends what is read and what will be", async () => {
  const { tty, input } = open();
  const line = readLine(input);
  await settle();
  tty.hangUp();
  assert.deepEqual(await line, { kind: "end" });
  assert.equal(await input.readKey(), null);
  assert.deepEqual(await readLine(input), { kind: "end" });
  assert.equal(input.ended, true);
});

Deno.test("a signal ends reading", async () => {
  const { input } = open();
  const stop = new AbortController();
  const line = input.readLine({ prompt: "> ", signal: stop.signal, initial: "abc" });
  await settle();
  stop.abort();
  assert.deepEqual(await line, { kind: "interrupt", text: "abc" });
  assert.equal(await input.readKey({ signal: stop.signal }), null);
  const late = new AbortController();
  const key = input.readKey({ signal: late.signal });
  await settle();
  late.abort();
  assert.equal(await key, null);
  input.close();
});

Deno.test("Ctrl-Z suspends whether or not a line is read, and is no key", async () => {
  const { tty, input } = open();
  tty.type("\x1a");
  await settle();
  const line = readLine(input);
  await settle();
  tty.type("a\x1ab\r");
  assert.deepEqual(await line, { kind: "line", text: "ab" });
  assert.equal(tty.suspended, 2);
  input.close();
});

Deno.test("print keeps the line that is read below what it writes", async () => {
  const { tty, input } = open();
  const line = readLine(input);
  await settle();
  tty.type("abc");
  await settle();
  const before = tty.output.length;
  input.print("news");
  assert.match(tty.output.slice(before).replaceAll("\x1b", "^"), /\^\[Jnews\n.*> abc/s);
  tty.type("\r");
  assert.deepEqual(await line, { kind: "line", text: "abc" });
  input.close();
});

Deno.test("the terminal is raw from the start to the end", () => {
  const { tty, input } = open();
  assert.equal(tty.raw, true);
  input.close();
  assert.equal(tty.raw, false);
});
