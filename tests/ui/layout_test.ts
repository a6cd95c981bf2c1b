import assert from "node:assert/strict";
import { type Layout, LayoutMaker } from "../../src/ui/_editor/layout.ts";
import { displayWidth, graphemes } from "../../src/text/width.ts";

const lay = (text: string, cursor: number, columns = 20, maker = new LayoutMaker(), rows = 24): Layout =>
  maker.layout({ text, cursor, columns, rows, prompt: "> ", continuation: ". " });

Deno.test("rows leave the last column free, and the cursor always has a place", () => {
  const { rows, row, before } = lay("x".repeat(17), 17);
  assert.deepEqual(rows.map(({ text }) => text), [`> ${"x".repeat(17)}`, ""]);
  assert.deepEqual([row, before], [1, ""]);
  assert.deepEqual(lay("ab\ncd", 4).before, ". c");
  assert.deepEqual(lay("", 0), { rows: [{ text: "> ", width: 2 }], row: 0, before: "> " });
});

Deno.test("wide characters are never cut in two, and no row is too wide", () => {
  const text = "ab你好".repeat(20) + "👩‍👩‍👧".repeat(20) + "\te\u0301\x1b".repeat(9);
  const { rows } = lay(text, text.length, 21);
  for (const { text, width } of rows) {
    assert.equal(displayWidth(text), width);
    assert.ok(width <= 20, `${width}`);
  }
});

Deno.test("what is laid out step by step is what is laid out at once", () => {
  const parts = [
    "a",
    "你",
    "👩‍👩‍👧",
    "🇩🇪",
    "e\u0301",
    "\t",
    "\n",
    "word ",
    "\x1b",
    "ש",
    "x".repeat(30),
    "好".repeat(40),
  ];
  let seed = 3;
  const random = (most: number) => (seed = (seed * 1103515245 + 12345) % 2147483648) % most;
  for (let round = 0; round < 60; round++) {
    const maker = new LayoutMaker();
    let text = "", columns = 20;
    for (let step = 0; step < 40; step++) {
      const places = [0, ...graphemes(text).map(((at) => (part: string) => at += part.length)(0))];
      const cursor = places[random(places.length)]!;
      if (random(5) === 0) text = text.slice(0, cursor);
      else text = text.slice(0, cursor) + parts[random(parts.length)]! + text.slice(cursor);
      if (random(15) === 0) columns = 10 + random(60);
      const at = Math.min(cursor, text.length);
      assert.deepEqual(lay(text, at, columns, maker, 500), lay(text, at, columns, undefined, 500));
    }
  }
});

Deno.test("of a text with thousands of lines only those around the cursor are laid out", () => {
  const text = Array.from({ length: 20_000 }, (_, i) => `line ${i}`).join("\n");
  const cursor = text.indexOf("line 10000") + 5;
  const { rows, row, before } = lay(text, cursor);
  assert.ok(rows.length < 200);
  assert.equal(rows[row]!.text, ". line 10000");
  assert.equal(before, ". line ");
  assert.equal(lay(text, 0).rows[0]!.text, "> line 0");
  assert.equal(lay(text, text.length).rows.at(-1)!.text, ". line 19999");
});
