import assert from "node:assert/strict";
import { countChars, countLines, grouped, plural, splitLines, takeChars } from "../../src/text/lines.ts";

Deno.test("lines end at \\n alone, and text after the last one is a line", () => {
  assert.equal(countLines(""), 0);
  assert.equal(countLines("\n"), 1);
  assert.equal(countLines("a"), 1);
  assert.equal(countLines("a\n"), 1);
  assert.equal(countLines("a\nb"), 2);
  assert.equal(countLines("a\r\nb\r\n"), 2);
  assert.equal(countLines("a\rb\vc\fd\u0085e\u2028f\u2029g"), 1);
});

Deno.test("splitLines gives as many lines as countLines counts", () => {
  for (const text of ["", "\n", "a", "a\n", "a\nb", "\n\n", "a\r\n\r\nb", "\na"]) {
    assert.equal(splitLines(text).length, countLines(text), JSON.stringify(text));
  }
  assert.deepEqual(splitLines("a\r\nb\n"), ["a\r", "b"]);
});

Deno.test("characters are code points", () => {
  assert.equal(countChars("añ😀"), 3);
  assert.equal(countChars("\ud83d"), 1);
  assert.equal(countChars("\ude00\ud83d"), 2);
  assert.equal(countChars("\ud83d\ud83d\ude00"), 2);
});

Deno.test("takeChars never cuts a pair of surrogates", () => {
  assert.equal(takeChars("a😀b", 2), "a😀");
  assert.equal(takeChars("😀😀", 1), "😀");
  assert.equal(takeChars("ab", 5), "ab");
  assert.equal(takeChars("ab", 0), "");
});

Deno.test("numbers and nouns for messages", () => {
  assert.equal(grouped(1234567), "1,234,567");
  assert.equal(grouped(12), "12");
  assert.equal(plural(1, "file"), "1 file");
  assert.equal(plural(2, "entry", "entries"), "2 entries");
});
