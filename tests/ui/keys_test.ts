import assert from "node:assert/strict";
import { type Key, KeyDecoder } from "../../src/ui/keys.ts";

const encoder = new TextEncoder();
function keys(...pieces: (string | Uint8Array)[]): Key[] {
  const decoder = new KeyDecoder();
  return pieces.flatMap((piece) => decoder.push(typeof piece === "string" ? encoder.encode(piece) : piece));
}
const text = (value: string): Key => ({ name: "text", text: value });

Deno.test("text comes as runs, and control characters as keys", () => {
  assert.deepEqual(keys("hé\r\t\x7f\x03\x01"), [
    text("hé"),
    { name: "enter" },
    { name: "tab" },
    { name: "backspace" },
    { name: "c", ctrl: true },
    { name: "a", ctrl: true },
  ]);
});

Deno.test("arrows, editing and function keys of the usual terminals", () => {
  const cases: [string, Key][] = [
    ["\x1b[A", { name: "up" }],
    ["\x1bOA", { name: "up" }],
    ["\x1b[1;5D", { name: "left", ctrl: true }],
    ["\x1b[1;3C", { name: "right", alt: true }],
    ["\x1b[1;2H", { name: "home", shift: true }],
    ["\x1b[H", { name: "home" }],
    ["\x1b[1~", { name: "home" }],
    ["\x1b[4~", { name: "end" }],
    ["\x1b[8~", { name: "end" }],
    ["\x1b[3~", { name: "delete" }],
    ["\x1b[3;5~", { name: "delete", ctrl: true }],
    ["\x1b[5~", { name: "pageup" }],
    ["\x1bOP", { name: "f1" }],
    ["\x1b[24~", { name: "f12" }],
    ["\x1b[[A", { name: "f1" }],
    ["\x1b[Z", { name: "tab", shift: true }],
    ["\x1bb", { name: "b", alt: true }],
    ["\x1b\x7f", { name: "backspace", alt: true }],
    ["\x1b\r", { name: "enter", alt: true }],
    ["\x1b\x1b[D", { name: "left", alt: true }],
    ["\x1b[13;3u", { name: "enter", alt: true }],
    ["\x1b[99;5u", { name: "c", ctrl: true }],
    ["\x1b[27;5;99~", { name: "c", ctrl: true }],
    ["\x1b[127;5u", { name: "backspace", ctrl: true }],
    ["\x1bé", { name: "é", alt: true }],
  ];
  for (const [bytes, key] of cases) assert.deepEqual(keys(bytes), [key], JSON.stringify(bytes));
});

Deno.test("everything may be split anywhere", () => {
  const whole = "aé你👍\x1b[1;5D\x1bOA\x1b[200~p\r\nq\x1b[201~\x1b[13;3uz";
  const bytes = encoder.encode(whole);
  const merge = (list: Key[]) =>
    list.reduce<Key[]>((out, key) => {
      const last = out.at(-1);
      if (key.name === "text" && last?.name === "text") out[out.length - 1] = text(last.text! + key.text!);
      else out.push(key);
      return out;
    }, []);
  const wanted = keys(whole);
  assert.deepEqual(wanted.find((key) => key.name === "paste"), { name: "paste", text: "p\nq" });
  for (let at = 1; at < bytes.length; at++) {
    assert.deepEqual(merge(keys(bytes.slice(0, at), bytes.slice(at))), wanted, `split at ${at}`);
  }
  assert.deepEqual(merge(keys(...Array.from(bytes, (byte) => Uint8Array.of(byte)))), wanted);
});

Deno.test("what nobody knows is left out: mouse, answers, titles, focus, unknown sequences", () => {
  const strange = [
    "\x1b[M !!",
    "\x1b[<0;1;1M",
    "\x1b[I",
    "\x1b[O",
    "\x1b[12;40R",
    "\x1b[?1;2c",
    "\x1b]11;rgb:0000/0000/0000\x07",
    "\x1b]0;title\x1b\\",
    "\x1bP1$r0m\x1b\\",
    "\x1b[99z",
    "\x1b[>0;276;0c",
  ];
  for (const sequence of strange) {
    assert.deepEqual(keys(`a${sequence}b`), [text("a"), text("b")], JSON.stringify(sequence));
  }
});

Deno.test("a lone Escape is a key once nothing follows, and an unfinished sequence or paste ends", () => {
  const decoder = new KeyDecoder();
  assert.deepEqual(decoder.push(encoder.encode("\x1b")), []);
  assert.equal(decoder.pending, "escape");
  assert.deepEqual(decoder.flush(), [{ name: "escape" }]);
  assert.deepEqual(decoder.push(encoder.encode("\x1b]never ended")), []);
  assert.deepEqual(decoder.flush(), []);
  assert.deepEqual(decoder.push(encoder.encode("\x1b[200~open")), []);
  assert.equal(decoder.pending, "paste");
  assert.deepEqual(decoder.flush(), [{ name: "paste", text: "open" }]);
  assert.deepEqual(decoder.push(encoder.encode("\x03")), [{ name: "c", ctrl: true }]);
});

Deno.test("a pasted text keeps its control characters and is one key", () => {
  assert.deepEqual(keys("\x1b[200~a\x1b[31m\x03\ty\rn\r\n\x1b[201~"), [
    { name: "paste", text: "a\x1b[31m\x03\ty\nn\n" },
  ]);
});

Deno.test("random bytes never throw, never hang, and end where they are flushed", () => {
  let seed = 7;
  const random = () => (seed = (seed * 1103515245 + 12345) % 2147483648);
  const alphabet = [
    0x1b,
    0x1b,
    0x5b,
    0x4f,
    0x5d,
    0x50,
    0x32,
    0x30,
    0x7e,
    0x3b,
    0x0d,
    0x03,
    0xc3,
    0xf0,
    0x9f,
    0x41,
  ];
  for (let round = 0; round < 2000; round++) {
    const decoder = new KeyDecoder();
    for (let i = 0; i < 6; i++) {
      decoder.push(Uint8Array.from({ length: random() % 12 }, () => alphabet[random() % alphabet.length]!));
    }
    decoder.flush();
    assert.equal(decoder.pending, "none");
    assert.deepEqual(decoder.push(encoder.encode("x")).at(-1)?.text?.at(-1), "x");
  }
});
