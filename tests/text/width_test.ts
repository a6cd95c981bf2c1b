import { deepEqual, equal, ok } from "node:assert/strict";
import { cutToWidth, displayWidth, graphemes, wrapText } from "../../src/text/width.ts";

const FAMILY = "👩‍👩‍👧", FLAG = "🇩🇪", ACCENT = "e\u0301", SKIN = "👍🏽", KEY = "1\ufe0f\u20e3", HEART = "❤\ufe0f";

Deno.test("what a reader sees as one character is one grapheme", () => {
  deepEqual(graphemes(`a${FAMILY}${FLAG}${FLAG}${ACCENT}中한`), [
    "a",
    FAMILY,
    FLAG,
    FLAG,
    ACCENT,
    "中",
    "한",
  ]);
  deepEqual(graphemes("plain"), ["p", "l", "a", "i", "n"]);
  deepEqual(graphemes(""), []);
  deepEqual(graphemes("한".normalize("NFD")), ["한".normalize("NFD")]);
});

Deno.test("widths: wide, narrow, joined and combining characters", () => {
  const widths: readonly (readonly [string, number])[] = [
    ["", 0],
    ["abc ~", 5],
    ["é", 1],
    [ACCENT, 1],
    ["中文", 4],
    ["ｱ", 1],
    ["Ａ", 2],
    ["한", 2],
    ["한".normalize("NFD"), 2],
    ["😀", 2],
    [FAMILY, 2],
    [FLAG, 2],
    [SKIN, 2],
    [KEY, 2],
    [HEART, 2],
    ["❤", 1],
    ["·…─│", 4],
    ["שלום", 4],
    ["مَرحبا", 5],
    ["a\u200db", 2],
    ["\u0301", 0],
    ["⠋", 1],
  ];
  for (const [text, width] of widths) equal(displayWidth(text), width, JSON.stringify(text));
});

Deno.test("tabs go to the next stop, from where the text starts", () => {
  equal(displayWidth("\t"), 8);
  equal(displayWidth("abc\tx"), 9);
  equal(displayWidth("\t", 7), 1);
  equal(displayWidth("a\t\t", 8), 16);
});

Deno.test("the width of a text is the sum of its graphemes", () => {
  const text = `a${FAMILY} ${FLAG}${ACCENT}中 ${SKIN}한 ${KEY}`;
  equal(displayWidth(text), graphemes(text).reduce((sum, part) => sum + displayWidth(part), 0));
});

Deno.test("cutting never cuts a character in two and never exceeds the columns", () => {
  equal(cutToWidth("abcdef", 3), "abc");
  equal(cutToWidth("abcdef", 6), "abcdef");
  equal(cutToWidth("abcdef", 4, "…"), "abc…");
  equal(cutToWidth("中文字", 5), "中文");
  equal(cutToWidth("中文字", 4, "…"), "中…");
  equal(cutToWidth(`${FAMILY}${FAMILY}`, 3), FAMILY);
  equal(cutToWidth(`${FLAG}x`, 1), "");
  equal(cutToWidth("abc", 0, "…"), "");
  const text = `${FAMILY}a${ACCENT}中\tb${FLAG}`;
  for (let columns = 0; columns < 24; columns++) {
    for (const ellipsis of ["", "…"]) {
      const cut = cutToWidth(text, columns, ellipsis);
      ok(displayWidth(cut) <= columns, `${columns} ${JSON.stringify(cut)}`);
      const kept = ellipsis !== "" && cut.endsWith(ellipsis) ? cut.slice(0, -1) : cut;
      ok(text.startsWith(kept));
      deepEqual(graphemes(text).slice(0, graphemes(kept).length), graphemes(kept));
    }
  }
});

Deno.test("wrapping breaks between words, within long words, and between wide characters", () => {
  deepEqual(wrapText("the quick brown fox", 10), ["the quick", "brown fox"]);
  deepEqual(wrapText("abcdefghij", 4), ["abcd", "efgh", "ij"]);
  deepEqual(wrapText("中文字符", 5), ["中文", "字符"]);
  deepEqual(wrapText("中文字。好", 6), ["中文", "字。好"]);
  deepEqual(wrapText("a\n\nb", 4), ["a", "", "b"]);
  deepEqual(wrapText("", 4), [""]);
  deepEqual(wrapText("  two", 10), ["  two"]);
  deepEqual(wrapText("one two three", 6, { indent: "  " }), ["one", "  two", "  thre", "  e"]);
  deepEqual(wrapText(`${FAMILY}${FAMILY}`, 1), [FAMILY, FAMILY]);
});

Deno.test("wrapped lines fit, and nothing but blanks is lost", () => {
  const text =
    `Some words, a https://example.com/long/address/of/something 中文字符很长 ${FAMILY}${FLAG} and ${ACCENT}nd`;
  const bare = (value: string) => value.replace(/\s/g, "");
  for (let columns = 2; columns < 60; columns++) {
    const lines = wrapText(text, columns);
    for (const line of lines) ok(displayWidth(line) <= columns, `${columns}: ${line}`);
    equal(bare(lines.join("")), bare(text), String(columns));
  }
});
