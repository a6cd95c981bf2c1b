import { deepEqual, equal, ok } from "node:assert/strict";
import { displayWidth } from "../../src/text/width.ts";
import { createHighlighter } from "../../src/ui/highlight.ts";
import { MarkdownStream } from "../../src/ui/markdown.ts";
import { createStyle } from "../../src/ui/style.ts";

interface How {
  readonly columns?: number;
  readonly color?: boolean;
  /** Sizes of the pieces, over and over. */
  readonly pieces?: readonly number[];
}

function show(text: string, { columns = Infinity, color = true, pieces = [1e9] }: How = {}): string {
  const stream = new MarkdownStream({ columns: () => columns, style: createStyle(color) });
  let out = "";
  for (let at = 0, n = 0; at < text.length; n++) {
    const size = pieces[n % pieces.length]!;
    out += stream.push(text.slice(at, at + size));
    at += size;
  }
  return out + stream.end();
}

// deno-lint-ignore no-control-regex
const strip = (text: string) => text.replace(/\x1b\[\d+m/g, "");

/** Every visible character with the styles that it has. */
function cells(text: string): string {
  const on = new Set<string>();
  let out = "";
  // deno-lint-ignore no-control-regex
  for (const [part, code] of text.matchAll(/\x1b\[(\d+)m|[^\x1b]/gu)) {
    if (code === undefined) out += /\s/.test(part) ? part : `${part}${[...on].sort().join(",")};`;
    else if (code === "22") ["1", "2"].forEach((each) => on.delete(each));
    else if (code === "39") [...on].filter((each) => /^3\d$/.test(each)).forEach((each) => on.delete(each));
    else if (/^2\d$/.test(code)) on.delete(code[1]!);
    else on.add(code);
  }
  return out;
}

const sample = `# Title

Some **bold** and *italic*, \`code\` and ~~gone~~ [here](https://example.com/x).

- one
  - nested **deep**
2. second
   \`\`\`sh
   ls -la
   \`\`\`

> quoted
> more

| Name | n |
|------|--:|
| \`a\` | 1 |
| 中文 | 22 |

\`\`\`
plain *code*
\`\`\`

---
done
`;

Deno.test("a word is written as it comes", () => {
  const stream = new MarkdownStream({ columns: () => 80, style: createStyle(true) });
  equal(stream.push("H"), "H");
  equal(stream.push("ello wor"), "ello wor");
  equal(stream.push("ld"), "ld");
  ok(stream.midLine);
  equal(stream.push("\nnext"), "\nnext");
  equal(stream.end(), "\n");
  equal(stream.end(), "");
});

Deno.test("what is shown does not depend on how the text was cut", () => {
  for (const color of [true, false]) {
    const whole = cells(show(sample, { color }));
    for (const pieces of [[1], [2], [3], [7], [1, 5, 2, 11]]) {
      equal(cells(show(sample, { color, pieces })), whole, pieces.join());
    }
  }
});

Deno.test("random Markdown: the same in any pieces, only escapes of our own, nothing lost", () => {
  const parts = [
    ..."** * _ ` `` [ ]( ] ) ( a word # > ``` ~~~ | --- *** \\ ! ~~ - 1. 中 é 👩‍👩‍👧".split(" "),
    ...[
      " ",
      "  ",
      "\n",
      "\n\n",
      "```ts\n",
      "| a | b |\n",
      "|---|---|\n",
      "    ",
      "\t",
      "\r",
      "\r\n",
      "\x1b[31m",
      "\u202e",
    ],
  ];
  let seed = 42;
  const random = (below: number) => (seed = (seed * 1103515245 + 12345) & 0x7fffffff) % below;
  for (let n = 0; n < 1500; n++) {
    const text = Array.from({ length: 1 + random(24) }, () => parts[random(parts.length)]).join("");
    for (const color of [true, false]) {
      const whole = show(text, { color });
      equal(cells(show(text, { color, pieces: [1] })), cells(whole), JSON.stringify(text));
      equal(cells(show(text, { color, pieces: [3, 1, 4] })), cells(whole), JSON.stringify(text));
      ok(
        // deno-lint-ignore no-control-regex
        !/[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f\u202e]|\x1b(?!\[\d{1,2}m)/.test(whole),
        JSON.stringify(whole),
      );
      ok(whole === "" || whole.endsWith("\n"));
      if (color || text.includes("|")) continue;
      const bare = (value: string) => value.replace(/[\s>]/g, "");
      const written = text.replaceAll("\r\n", "\n").replaceAll("\r", "␍").replaceAll("\x1b", "␛")
        .replaceAll("\u202e", "\\u202e");
      equal(bare(whole), bare(written));
    }
  }
});

Deno.test("without colours the text is as it was written", () => {
  const table = /\| Name.*\n\|---.*\n.*\n.*\n/;
  equal(show(sample, { color: false }).replace(table, "T\n"), sample.replace(table, "T\n"));
  equal(
    table.exec(show(sample, { color: false }))?.[0],
    "| Name |   n |\n|------|----:|\n| `a`  |   1 |\n| 中文 |  22 |\n",
  );
});

Deno.test("emphasis, code and links in colours; what only looks like marks stays", () => {
  const line = (text: string) => show(text).trimEnd();
  equal(line("a **b** c"), "a \x1b[1mb\x1b[22m c");
  equal(line("a *b* _c_"), "a \x1b[3mb\x1b[23m \x1b[3mc\x1b[23m");
  equal(line("***b***"), "\x1b[1m\x1b[3mb\x1b[23m\x1b[22m");
  equal(line("`a*b*` ``x`y``"), "\x1b[36ma*b*\x1b[39m \x1b[36mx`y\x1b[39m");
  equal(line("~~a~~"), "\x1b[9ma\x1b[29m");
  equal(line("[a](http://x.y)"), "\x1b[4ma\x1b[24m\x1b[2m (http://x.y)\x1b[22m");
  equal(line("[http://x.y](http://x.y)"), "\x1b[4mhttp://x.y\x1b[24m");
  equal(line("\\*a\\*"), "*a*");
  equal(line("# A"), "\x1b[1m\x1b[4mA\x1b[24m\x1b[22m");
  for (
    const text of [
      "2 * 3 * 4",
      "snake_case_name",
      "**kwargs",
      "*.ts and src/*.js",
      "a[0] and b[1](c",
      "- [ ] x".slice(2),
      "C:\\dir\\file",
      "`open",
      "2*3*4",
      "#hash",
      "1.5 of 2",
      "-5",
      "~ a ~",
    ]
  ) equal(line(text), text);
});

Deno.test("a link's address is always shown, whatever its label says", () => {
  equal(
    strip(show("[https://bank.example](https://evil.example)")),
    "https://bank.example (https://evil.example)\n",
  );
});

Deno.test("long bold text goes on as it comes, with its marks", () => {
  const text = `**${"word ".repeat(80)}end** after`;
  const stream = new MarkdownStream({ columns: () => Infinity, style: createStyle(true) });
  let early = "";
  for (const char of text.slice(0, 300)) early += stream.push(char);
  ok(strip(early).startsWith("**word word"), early);
  equal(strip(early + stream.push(text.slice(300)) + stream.end()), `${text}\n`);
});

Deno.test("lines are wrapped between words, with the indent of what they belong to", () => {
  const text = "- a list item that is too long for the line\n\n> a quote that is too long for it as well\n";
  equal(
    strip(show(text, { columns: 20, pieces: [1] })),
    "• a list item that\n  is too long for\n  the line\n\n│ a quote that is\n│ too long for it as\n│ well\n",
  );
  equal(
    show(text, { columns: 20, color: false, pieces: [4] }),
    "- a list item that\n  is too long for\n  the line\n\n> a quote that is\n> too long for it as\n> well\n",
  );
  equal(show("长的句子。好", { columns: 8, pieces: [1] }), "长的句\n子。好\n");
});

Deno.test("at any width lines fit, unless a single word does not", () => {
  const text = sample.replace(/```[^]*?```/g, "") + "Several words 中文字符 and 👩‍👩‍👧 more of them to wrap.\n";
  for (let columns = 12; columns < 60; columns++) {
    for (const color of [true, false]) {
      for (const line of strip(show(text, { columns, color, pieces: [1e9] })).split("\n")) {
        ok(displayWidth(line) <= columns || /\S{12}/.test(line), `${columns} ${color}: ${line}`);
      }
    }
  }
});

Deno.test("code is not touched: neither marks nor line breaks nor blanks", () => {
  const code = "  if (a *b* c) { `x` }\n\n\t# no heading\n- no list\n";
  equal(strip(show(`\`\`\`\n${code}\`\`\`\nafter`, { columns: 10 })), `\`\`\`\n${code}\`\`\`\nafter\n`);
  equal(strip(show("````\n```\nx\n```\n````\n")), "````\n```\nx\n```\n````\n");
  equal(strip(show("```\nopen")), "```\nopen\n");
  equal(strip(show("> ```\n> a\n> ```\n> b\n")), "│ ```\n│ a\n│ ```\n│ b\n");
});

Deno.test("a table is held until it ends; what only looks like one is text", () => {
  const stream = new MarkdownStream({ columns: () => 80, style: createStyle(false) });
  equal(stream.push("| a | b |\n|---|---|\n| 1 | 2 |\n"), "");
  ok(stream.holding && !stream.midLine);
  equal(stream.push("end"), "| a   | b   |\n|-----|-----|\n| 1   | 2   |\nend");
  stream.end();
  equal(show("|x| is positive\nnext", { color: false }), "|x| is positive\nnext\n");
  equal(show("|x|", { color: false }), "|x|\n");
});

Deno.test("a table wraps its cells, and becomes records where there is no room for columns", () => {
  const text = "| Key | Meaning |\n|---|---|\n| a | several words that need room |\n| b | short |\n";
  equal(
    show(text, { columns: 30, color: false }),
    "| Key | Meaning              |\n|-----|----------------------|\n| a   | several words that   |\n" +
      "|     | need room            |\n| b   | short                |\n",
  );
  const narrow = strip(show(text, { columns: 12 }));
  ok(narrow.startsWith("Key: a\nMeaning:"), narrow);
  for (const line of narrow.split("\n")) ok(displayWidth(line) <= 12, line);
});

Deno.test("cells keep bars that are escaped or in code, and what is too much for the columns", () => {
  equal(
    show("| a | b |\n|---|---|\n| x\\|y | `p|q` | more |\n", { color: false }),
    "| a   | b            |\n|-----|--------------|\n| x|y | `p|q` | more |\n",
  );
});

Deno.test("code is coloured line by line, over comments and texts that go on", async () => {
  const style = createStyle(true);
  const stream = new MarkdownStream({ columns: () => 80, style, highlight: createHighlighter(style) });
  let out = stream.push("```ts\nconst a = 1;\n/* one\n");
  ok(stream.waiting, "the language is loaded first");
  equal(strip(out), "```ts\n");
  await stream.waiting;
  equal(stream.waiting, null);
  out = stream.push("");
  equal(out, `${style.magenta("const")} a = ${style.cyan("1")};\n${style.dim("/* one")}\n`);
  equal(stream.push("two */ let b"), "");
  equal(stream.push(";\n```\n"), `${style.dim("two */")} ${style.magenta("let")} b;\n${style.dim("```")}\n`);
  // The language is there now.
  equal(stream.push("```typescript\nlet c\n").split("\n")[1], `${style.magenta("let")} c`);
  equal(stream.waiting, null);
});

Deno.test("an answer that ends while colours are loaded is complete, in one colour", () => {
  const style = createStyle(true);
  const stream = new MarkdownStream({ columns: () => 80, style, highlight: createHighlighter(style) });
  const out = stream.push("```js\nlet a;\n") + stream.push("let b;\n```\nend") + stream.end();
  equal(strip(out), "```js\nlet a;\nlet b;\n```\nend\n");
});

Deno.test("colours of code add nothing but colours, for every language and hostile lines", async () => {
  const style = createStyle(true), highlighter = createHighlighter(style);
  const lines = [
    "<b>&amp;</b> &lt; \"x\" 'y'",
    "/* ${a} */ `",
    "\t# x -- // %",
    "x".repeat(3000),
    "",
    "<?php <script>",
  ];
  for (
    const name of ["ts", "py", "html", "bash", "php", "diff", "md", "yaml", "sql", "rust", "json", "toml"]
  ) {
    const code = (await highlighter.open(name))!;
    ok(code, name);
    for (const line of lines) equal(strip(code.line(line)), line, name);
  }
  deepEqual([highlighter.open("klingon"), highlighter.open("__proto__"), highlighter.open("")], [
    null,
    null,
    null,
  ]);
});
