import assert from "node:assert/strict";
import { cleanForTerminal, cleanJson, cleanStyled, TerminalCleaner } from "../../src/text/ansi.ts";
import { createStyle } from "../../src/ui/style.ts";

Deno.test("plain text, newlines, tabs, accents, CJK, emoji and joined emoji stay as they are", () => {
  const text = "a b\tc\nd é 漢字 한글 עברית العربية 😀 👩‍👩‍👧 ❤️ \u00a0|";
  assert.equal(cleanForTerminal(text), text);
});

Deno.test("escape sequences, C0, DEL and C1 are shown instead of obeyed", () => {
  assert.equal(cleanForTerminal("\x1b[2J\x1b]0;title\x07"), "␛[2J␛]0;title␇");
  assert.equal(cleanForTerminal("a\0b\bc\x7fd\vé\f"), "a␀b␈c␡d␋é␌");
  assert.equal(cleanForTerminal("\x9b31m\x85"), "\\x9b31m\\x85");
});

Deno.test("a lone carriage return is shown, and one before a line feed dropped", () => {
  assert.equal(cleanForTerminal("rm -rf /\rls\r\nend\r"), "rm -rf /␍ls\nend␍");
  assert.equal(cleanForTerminal("\r\r\n"), "␍\n");
});

Deno.test("what reorders or hides text is shown: bidirectional controls, separators, tags, lone surrogates", () => {
  assert.equal(cleanForTerminal("a\u202eb\u2066c\u200fd\u061ce"), "a\\u202eb\\u2066c\\u200fd\\u061ce");
  assert.equal(
    cleanForTerminal("\ufeff\u200b\u2028\u{e0041}\ud800x"),
    "\\ufeff\\u200b\\u2028\\u{e0041}\\ud800x",
  );
});

Deno.test("on one line a line break is an arrow and a tab a space", () => {
  assert.equal(cleanForTerminal("a\r\nb\tc\rd\n", { line: true }), "a↵b c␍d↵");
});

Deno.test("no cleaned text acts on a terminal, and cleaning it again changes nothing", () => {
  let all = "";
  for (let code = 0; code < 0x3000; code++) all += String.fromCharCode(code);
  all += "\u{e0001}\u{e007f}\ufff9\ud800";
  for (const line of [false, true]) {
    const clean = cleanForTerminal(all, { line });
    assert.equal(cleanForTerminal(clean, { line }), clean);
    for (const char of clean) {
      const code = char.codePointAt(0)!;
      assert.ok(
        code >= 0xa0 || (code >= 0x20 && code < 0x7f) || (!line && (code === 9 || code === 10)),
        `${code}`,
      );
    }
  }
});

Deno.test("text in pieces comes out as if it had come at once, wherever it is cut", () => {
  const text = "a\r\nb\rc 😀 \x1b[0m\n\r\n😀";
  for (let i = 0; i <= text.length; i++) {
    for (let k = i; k <= text.length; k++) {
      const cleaner = new TerminalCleaner();
      const pieces = [text.slice(0, i), text.slice(i, k), text.slice(k)].map((piece) => cleaner.push(piece));
      assert.equal(pieces.join("") + cleaner.end(), cleanForTerminal(text));
    }
  }
  const cleaner = new TerminalCleaner();
  assert.equal(cleaner.push("x\r"), "x");
  assert.equal(cleaner.end(), "␍");
  assert.equal(cleaner.end(), "");
});

Deno.test("what is styled by the program stays, and nothing else does", () => {
  const style = createStyle(true);
  for (
    const name of [
      "dim",
      "red",
      "green",
      "yellow",
      "cyan",
      "bold",
      "italic",
      "underline",
      "strike",
      "blue",
    ] as const
  ) {
    const text = style[name]("text");
    assert.equal(cleanStyled(text), text);
  }
  for (
    const part of [
      "\x1b[2J",
      "\x1b[8m",
      "\x1b[7m",
      "\x1b[38;5;1m",
      "\x1b]0;x\x07",
      "\x1b[66;66H",
      "\r",
      "\x9b1m",
      "\u202e",
    ]
  ) {
    assert.equal(cleanStyled(style.red(part)), style.red(cleanForTerminal(part)));
    assert.notEqual(cleanStyled(part), part);
  }
});

Deno.test("cleaned JSON means the same and shows no control characters", () => {
  const value = { a: "\x9b\u202e\x7f\x1b\u{e0041}😀é", "\u2028": ["\ufeff"] };
  const json = cleanJson(JSON.stringify(value));
  assert.deepEqual(JSON.parse(json), value);
  assert.equal(cleanForTerminal(json), json);
  assert.ok(json.includes("😀é"));
});
