import assert from "node:assert/strict";
import type { Completer } from "../../src/ui/complete.ts";
import { Input, type LineHistory, type ReadLineOptions, type ReadResult } from "../../src/ui/input.ts";
import { FakeTty, settle } from "./_fake_tty.ts";

/** Types keys, and returns what came of the line. */
async function read(
  typed: string,
  options: Partial<ReadLineOptions> = {},
  tty: FakeTty = new FakeTty(),
): Promise<ReadResult> {
  const input = new Input(tty);
  const result = input.readLine({ prompt: "> ", ...options });
  tty.type(typed);
  const done = await Promise.race([result, settle(3000).then(() => null)]);
  input.close();
  assert.ok(done, "the line was not ended");
  return done;
}
async function line(typed: string, options?: Partial<ReadLineOptions>): Promise<string> {
  const result = await read(typed, options);
  assert.equal(result.kind, "line");
  return result.kind === "line" ? result.text : "";
}
function history(...entries: string[]): LineHistory & { readonly entries: string[] } {
  return { entries, add: (text) => void entries.push(text) };
}

const [left, right, up, down] = ["\x1b[D", "\x1b[C", "\x1b[A", "\x1b[B"];

Deno.test("the usual keys", async () => {
  const cases: [string, string][] = [
    [`ac${left}b`, "abc"],
    [`bc\x01a`, "abc"],
    [`bc\x1b[Ha\x1b[Fd`, "abcd"],
    [`abx\x7fc`, "abc"],
    [`axbc${left}${left}${left}\x1b[3~`, "abc"],
    [`axbc\x01${right}\x04`, "abc"],
    ["one two three\x17", "one two "],
    ["one two\x1b\x7f", "one "],
    ["one two three\x1bb\x1bb\x1bd", "one  three"],
    ["one two\x1bb\x0b", "one "],
    ["one two\x1bb\x15", "two"],
    ["one two\x17\x01\x19 ", "two one "],
    ["a b\x17\x17\x19", "a b"],
    ["one\x15two\x15\x19\x1by", "one"],
    ["ab\x14", "ba"],
    ["one two\x1bb\x1bu", "one TWO"],
    ["one two\x1bb\x1bc", "one Two"],
    ["a-b_c d\x1b\x7f\x1b\x7f", "a-"],
    [`one two\x1b[1;5D\x1b[1;5DX`, "Xone two"],
    ["abc\x1f\x1f", ""],
    ["abc def\x17\x1f", "abc def"],
  ];
  for (const [typed, wanted] of cases) {
    const result = await read(`${typed}\r`);
    assert.deepEqual(result, { kind: "line", text: wanted }, JSON.stringify(typed));
  }
});

Deno.test("a character is what a reader counts as one: emoji families, flags, accents, wide and right-to-left", async () => {
  for (const character of ["👩‍👩‍👧", "🇩🇪", "é", "你", "👍🏽", "ש", "क्षि", "e\u0301\u0323"]) {
    assert.equal(await line(`a${character}b${left}\x7f\r`), "ab", `backspace over ${character}`);
    assert.equal(await line(`a${character}b\x01${right}\x04\r`), "ab", `delete of ${character}`);
    assert.equal(await line(`a${character}${left}${left}x\r`), `xa${character}`, `moving over ${character}`);
    assert.equal(await line(`x${character}\x14\r`), `${character}x`, `exchanging ${character}`);
  }
});

Deno.test('several lines: """ blocks, a backslash, Alt-Enter, pasted text', async () => {
  assert.equal(await line('"""\rone\r\rtwo\r"""\r'), "one\n\ntwo");
  assert.equal(await line('"""one\rtwo"""\r'), "one\ntwo");
  assert.equal(await line('say """ twice\r'), 'say """ twice');
  assert.equal(await line('"""x"""\r'), "x");
  assert.equal(await line("one\\\rtwo\\\rthree\r"), "one\ntwo\nthree");
  assert.equal(await line("two \\\\\r"), "two \\\\");
  assert.equal(await line("one\x1b\rtwo\r"), "one\ntwo");
  assert.equal(await line("\x1b[200~one\r\ntwo\rthree\n\x1b[201~four\r"), "one\ntwo\nthree\nfour");
  assert.equal(await line('"""\rdie\\\r"""\r', { lines: "text" }), '"""');
  assert.equal(await line("die\\\r", { lines: "text" }), "die\\");
});

Deno.test("Up and Down walk through lines first, then through the history, and bring the draft back", async () => {
  const past = history("one", "two\nlines", "three");
  assert.equal(await line(`${up}\r`, { history: history("one", "three") }), "three");
  assert.equal(await line(`${up}${up}\r`, { history: past }), "two\nlines");
  assert.equal(await line(`${up}${up}${up}\r`, { history: history("one", "two\nlines", "three") }), "one");
  assert.equal(await line(`draft${up}${up}${down}${down}!\r`, { history: history("one", "two") }), "draft!");
  assert.equal(await line(`a\x1b\rbc${up}X${down}Y\r`, { history: history("one") }), "aX\nbcY");
  assert.equal(await line(`\x1b<\r`, { history: history("one", "two") }), "one");
  assert.equal(await line(`x${up}${up}${up}${up}\r`, { history: history() }), "x");
});

Deno.test("what was entered goes to the history, with its marks; empty lines do not", async () => {
  const past = history();
  await line('"""\rx\r"""\r', { history: past });
  await line("  \r", { history: past });
  assert.deepEqual(past.entries, ['"""\nx\n"""']);
});

Deno.test("Ctrl-R finds older entries, newer ones, and gives the line back", async () => {
  const entries = ["git status", "deno test", "git push", "ls"];
  assert.equal(await line("\x12git\r", { history: history(...entries) }), "git push");
  assert.equal(await line("\x12git\x12\r", { history: history(...entries) }), "git status");
  assert.equal(await line("\x12git\x12\x13\r", { history: history(...entries) }), "git push");
  assert.equal(await line("draft\x12git\x07\r", { history: history(...entries) }), "draft");
  assert.equal(await line("draft\x12git\x03!\r", { history: history(...entries) }), "draft!");
  assert.equal(await line("\x12TEST\x1b[F!\r", { history: history(...entries) }), "deno test!");
  assert.equal(await line("\x12nothing\r", { history: history(...entries) }), "");
});

Deno.test("Tab completes the common part, lists what there is, and leaves the line where there is nothing", async () => {
  const complete: Completer = (text, cursor) => {
    const from = text.lastIndexOf(" ", cursor - 1) + 1;
    const items = ["apple", "apricot", "banana "].filter((each) => each.startsWith(text.slice(from, cursor)));
    return Promise.resolve({ from, items: items.map((each) => ({ text: each })) });
  };
  assert.equal(await line("eat b\tnow\r", { complete }), "eat banana now");
  assert.equal(await line("a\tr\t!\r", { complete }), "apricot!");
  assert.equal(await line("x\t\r", { complete }), "x");
  assert.equal(await line("x\t\r", {}), "x");
  const tty = new FakeTty();
  await read("ap\t\r", { complete }, tty);
  assert.match(tty.output, /apple {2,}apricot\n/);
  const failing: Completer = () => Promise.reject(new Error("no"));
  assert.equal(await line("x\ty\r", { complete: failing }), "xy");
});

Deno.test("a completion that does not come back keeps no key, least of all Ctrl-C", async () => {
  const complete: Completer = () => new Promise(() => {});
  const result = await read("ab\t\x03", { complete });
  assert.deepEqual(result, { kind: "interrupt", text: "ab" });
});

Deno.test("completions are cleaned before they are shown", async () => {
  const complete: Completer = () =>
    Promise.resolve({ from: 0, items: [{ text: "\x1b]0;hit\x07a", hint: "\x1b[2J" }, { text: "b" }] });
  const tty = new FakeTty();
  await read("\t\r", { complete }, tty);
  assert.ok(!tty.output.includes("\x1b]0;") && !tty.output.includes("\x1b[2J"));
});

Deno.test("Ctrl-C and Ctrl-D", async () => {
  assert.deepEqual(await read("abc\x03"), { kind: "interrupt", text: "abc" });
  assert.deepEqual(await read("\x04"), { kind: "end" });
  assert.equal(await line("ab\x04\r"), "ab");
});

Deno.test("hidden lines echo nothing and keep nothing, on any terminal", async () => {
  for (const dumb of [false, true]) {
    const tty = new FakeTty({ dumb }), past = history();
    const input = new Input(tty);
    const result = input.readLine({ prompt: "key: ", hidden: true, quiet: 0, history: past });
    await settle();
    tty.type("sk-secret");
    tty.type("X\x7f\x1b[200~more\n\x1b[201~\r");
    assert.deepEqual(await result, { kind: "line", text: "sk-secretmore" });
    assert.equal(tty.output, "key: \n");
    assert.deepEqual(past.entries, []);
    input.close();
  }
});

Deno.test("a dumb terminal gets no escape sequence", async () => {
  const tty = new FakeTty({ dumb: true }), past = history("old");
  assert.deepEqual(await read("abx\x7fc\x1b[31m\x1b[200~ d\x1b[201~\r", { history: past }, tty), {
    kind: "line",
    text: "abc d",
  });
  assert.ok(!tty.output.includes("\x1b"), JSON.stringify(tty.output));
  assert.deepEqual(await read('"""\rx\r"""\r', {}, new FakeTty({ dumb: true })), { kind: "line", text: "x" });
});

Deno.test("control characters that were pasted are shown, not obeyed, and stay in the text", async () => {
  const tty = new FakeTty();
  const result = await read("\x1b[200~a\x1b]0;hit\x07\u202eb\x1b[201~\r", {}, tty);
  assert.deepEqual(result, { kind: "line", text: "a\x1b]0;hit\x07\u202eb" });
  assert.ok(!tty.output.includes("\x1b]0;") && !tty.output.includes("\u202e"));
  assert.ok(tty.output.includes("a␛]0;hit␇\\u202eb"));
});

Deno.test("a large paste and keys behind it come out whole, and one key after it is cheap", async () => {
  const big = "some words of a line\n".repeat(20_000);
  const tty = new FakeTty();
  const input = new Input(tty);
  const result = input.readLine({ prompt: "> " });
  tty.type(`\x1b[200~${big}\x1b[201~`);
  await settle(300);
  const written = tty.output.length;
  tty.type("x");
  await settle(100);
  // A screenful at most, whatever was pasted.
  assert.ok(tty.output.length - written < 5_000, `${tty.output.length - written} characters for one key`);
  tty.type("\r");
  assert.deepEqual(await result, { kind: "line", text: `${big}x` });
  input.close();
});
