import assert from "node:assert/strict";
import { ToolError } from "../../src/errors.ts";
import { grep } from "../../tools/grep.ts";
import { makeWorktree } from "../helpers/worktree.ts";
import { run, withMethods, workspaceOf } from "./_workspace.ts";

const files = { "s/a.py": "import os\nvalue = 1\n", "s/b.md": "  value here  \n", "s/c.txt": "nothing\n" };

Deno.test("lines are file, number and text, relative to path", async () => {
  using tree = makeWorktree({ files });
  assert.equal(
    await run(grep, tree, { pattern: "val+ue", path: "s" }),
    "a.py:2: value = 1\nb.md:1: value here",
  );
  assert.equal(await run(grep, tree, { pattern: "val+ue" }), "s/a.py:2: value = 1\ns/b.md:1: value here");
  assert.equal(await run(grep, tree, { pattern: "value", path: "s/a.py" }), "a.py:2: value = 1");
  assert.equal(await run(grep, tree, { pattern: "VALUE" }), '(no matches for "VALUE")');
});

Deno.test("no match is a note", async () => {
  using tree = makeWorktree({ files });
  const result = await run(grep, tree, { pattern: "zzz", path: "s" });
  assert.equal(result, '(no matches for "zzz")');
  assert.equal(grep.note!(result), true);
  assert.equal(grep.note!("a:1: (no matches for"), false);
});

Deno.test("glob looks at the name, or at the path when it has a slash", async () => {
  using tree = makeWorktree({
    files: { "src/a.ts": "hit", "src/deep/b.ts": "hit", "c.ts": "hit", "d.md": "hit", "a/[id]/p.ts": "hit" },
  });
  const rows: [string, string[]][] = [
    ["*.ts", ["a/[id]/p.ts", "c.ts", "src/a.ts", "src/deep/b.ts"]],
    ["src/*.ts", ["src/a.ts"]],
    ["src/**/*.ts", ["src/a.ts", "src/deep/b.ts"]],
    ["src/", ["src/a.ts", "src/deep/b.ts"]],
    ["**/b.ts", ["src/deep/b.ts"]],
    ["*.{md,txt}", ["d.md"]],
    ["!*.ts", ["d.md"]],
    ["!src/**", ["a/[id]/p.ts", "c.ts", "d.md"]],
    ["a/[id]/*", ["a/[id]/p.ts"]],
    ["/c.ts", ["c.ts"]],
    ["--pre=./evil.sh", []],
  ];
  for (const [glob, expected] of rows) {
    const result = await run(grep, tree, { pattern: "hit", glob });
    const found = result.startsWith("(no") ? [] : result.split("\n").map((line) => line.split(":")[0]);
    assert.deepEqual(found, expected, glob);
  }
});

Deno.test("exactly 100 matches are not called cut; more are counted", async () => {
  using tree = makeWorktree({ files: { "a.txt": "x\n".repeat(60), "b.txt": "x\n".repeat(40) } });
  const exact = (await run(grep, tree, { pattern: "x" })).split("\n");
  assert.equal(exact.length, 100);
  tree.write("work/c.txt", "x\n".repeat(1234));
  const more = (await run(grep, tree, { pattern: "x" })).split("\n");
  assert.equal(more.length, 101);
  assert.equal(more[99], "b.txt:40: x");
  assert.equal(more[100], "... (showing first 100 of 1334 matches)");
  tree.write("work/d.txt", "x\n".repeat(5));
  const most = (await run(grep, tree, { pattern: "x" })).split("\n");
  assert.deepEqual(most.slice(0, 100), more.slice(0, 100));
  assert.equal(most[100], "... (showing first 100 of 1334+ matches)");
});

Deno.test("the match is in sight on long lines", async () => {
  const filler = (n: number) => "y".repeat(n);
  using tree = makeWorktree({
    files: {
      "short.txt": `\t needle ${filler(100)}  \n`,
      "head.txt": `needle ${filler(300)}TAIL\n`,
      "deep.txt": `${filler(100_000)} needle ${filler(100_000)}TAIL\n`,
      "end.txt": `${filler(5000)} needle\n`,
      "emoji.txt": `${"😀".repeat(200)}needle${"😀".repeat(200)}\n`,
    },
  });
  const lines = (await run(grep, tree, { pattern: "needle" })).split("\n");
  assert.equal(lines.length, 5);
  for (const line of lines) {
    assert.match(line, /needle/);
    assert.ok(line.length < 140, line);
    assert.equal(line.isWellFormed(), true);
    assert.doesNotMatch(line, /TAIL/);
  }
  assert.equal(lines.find((line) => line.startsWith("short")), `short.txt:1: needle ${filler(100)}`);
  assert.equal(lines.find((line) => line.startsWith("head")), `head.txt:1: needle ${filler(113)}…`);
  assert.match(lines.find((line) => line.startsWith("deep"))!, /^deep\.txt:1: …y+ needle y+…$/);
  assert.match(lines.find((line) => line.startsWith("end"))!, /^end\.txt:1: …y+ needle$/);
});

Deno.test("a pattern matches within one line, and lines end at \\n", async () => {
  using tree = makeWorktree({
    files: {
      "a.txt": "foo\nbar\n\nfoo bar\r\nlast",
      "crlf.txt": "foo\r\n\r\nbar\r\n",
      "odd.txt": "x\u2028y\rz\n",
    },
  });
  const rows: [string, string[]][] = [
    ["foo\\s+bar", ["a.txt:4: foo bar"]],
    ["foo[^x]*bar", ["a.txt:4: foo bar"]],
    ["^$", ["a.txt:3: ", "crlf.txt:2: "]],
    ["foo$", ["a.txt:1: foo", "crlf.txt:1: foo"]],
    ["bar$", ["a.txt:2: bar", "a.txt:4: foo bar", "crlf.txt:3: bar"]],
    ["^bar", ["a.txt:2: bar", "crlf.txt:3: bar"]],
    ["o\\r$", ["crlf.txt:1: foo"]],
    ["^\\r$", ["crlf.txt:2: "]],
    ["^y", []],
    ["^z", []],
    ["x.y.z", ["odd.txt:1: x\u2028y\rz"]],
    ["last$", ["a.txt:5: last"]],
    ["foo(?! bar)", ["a.txt:1: foo", "crlf.txt:1: foo"]],
    ["^(?!foo)", [
      "a.txt:2: bar",
      "a.txt:3: ",
      "a.txt:5: last",
      "crlf.txt:2: ",
      "crlf.txt:3: bar",
      "odd.txt:1: x\u2028y\rz",
    ]],
    ["(?<!foo )bar", ["a.txt:2: bar", "crlf.txt:3: bar"]],
    ["\\Alast\\z", ["a.txt:5: last"]],
    [".*(foo|bar).*", [
      "a.txt:1: foo",
      "a.txt:2: bar",
      "a.txt:4: foo bar",
      "crlf.txt:1: foo",
      "crlf.txt:3: bar",
    ]],
  ];
  for (const [pattern, expected] of rows) {
    const result = await run(grep, tree, { pattern });
    assert.deepEqual(result.startsWith("(no matches") ? [] : result.split("\n"), expected, pattern);
  }
});

Deno.test("every line is found that a search of each line by itself finds", async () => {
  let seed = 3;
  const random = (below: number) => (seed = (seed * 48271) % 2147483647) % below;
  const atoms = [
    "a",
    "b",
    "ab",
    ".",
    "\\w",
    "\\s",
    "[^a]",
    "^",
    "$",
    "\\b",
    "(?:a|b)",
    "(?!a)",
    "(?<!b)",
    "abc",
    "é",
    "\\W",
  ];
  const marks = ["", "", "", "*", "+", "?", "*?", "{2}", "{0,1}"];
  for (let round = 0; round < 300; round++) {
    const text = Array.from(
      { length: 12 },
      () =>
        Array.from({ length: random(6) }, () => ["a", "b", "c", " ", "é", "\t"][random(6)]).join("") +
        ["\n", "\r\n"][random(2)],
    ).join("");
    const pattern = Array.from({ length: 1 + random(4) }, () => {
      const atom = atoms[random(atoms.length)]!;
      return atom + (/^(\^|\$|\\b|\(\?<?!)/.test(atom) ? "" : marks[random(marks.length)]);
    }).join("") + (random(5) === 0 ? "|abc" : "");
    using tree = makeWorktree({ files: { "t.txt": text } });
    const regex = new RegExp(pattern);
    const expected = text.split("\n").slice(0, -1).flatMap((line, i) =>
      regex.test(line.replace(/\r$/, "")) ? [i + 1] : []
    );
    const result = await run(grep, tree, { pattern });
    const found = result.startsWith("(no")
      ? []
      : result.split("\n").map((line) => Number(line.split(":")[1]));
    assert.deepEqual(found, expected, JSON.stringify([pattern, text]));
  }
});

Deno.test("patterns of other languages mean what they mean there", async () => {
  using tree = makeWorktree({
    files: {
      "a.txt": "Word one\nkey\tvalue\nfoo(bar)\n“quoted”\n日本語 😀\ncall foo.bar()\n--help\n7up\nx{y}\n",
    },
  });
  const rows: [string, string][] = [
    ["(?i)WORD", "a.txt:1: Word one"],
    ["\\<one\\>", "a.txt:1: Word one"],
    ["[[:digit:]]up", "a.txt:8: 7up"],
    ["key\\tvalue", "a.txt:2: key\tvalue"],
    ["foo\\(bar\\)", "a.txt:3: foo(bar)"],
    ["(?P<q>“).*”", "a.txt:4: “quoted”"],
    ["\\p{Han}+", "a.txt:5: 日本語 😀"],
    ["語 .$", "a.txt:5: 日本語 😀"],
    ["[😀😁]", "a.txt:5: 日本語 😀"],
    ["\\x66oo\\.bar", "a.txt:6: call foo.bar()"],
    ["--help", "a.txt:7: --help"],
    ["\\-\\-help", "a.txt:7: --help"],
    ["x{y}", "a.txt:9: x{y}"],
    ["(?i)(?s)W.RD", "a.txt:1: Word one"],
  ];
  for (const [pattern, expected] of rows) assert.equal(await run(grep, tree, { pattern }), expected, pattern);
});

Deno.test("an invalid pattern is told, never 'no matches'", async () => {
  using tree = makeWorktree({ files });
  for (
    const pattern of [
      "foo(bar",
      "[z-a]",
      "*x",
      "a\\",
      "[abc",
      "(?x)a b",
      "a(?i)b",
      "x\\ny",
      "a\nb",
      "a{2,1}",
      "(?<n>a)(?<n>b)",
    ]
  ) {
    assert.match(await run(grep, tree, { pattern }), /^Error: invalid regex: /, pattern);
  }
  assert.match(await run(grep, tree, { pattern: "" }), /^Error: pattern must not be empty/);
});

Deno.test("context lines surround a match once, with gaps marked", async () => {
  using tree = makeWorktree({
    files: { "a.txt": "1\n2\nhit\n4\nhit\n6\n7\n8\n9\nhit\n", "b.txt": "hit\n\tx\n" },
  });
  assert.equal(
    await run(grep, tree, { pattern: "hit", context: 1 }),
    [
      "a.txt-2- 2",
      "a.txt:3: hit",
      "a.txt-4- 4",
      "a.txt:5: hit",
      "a.txt-6- 6",
      "--",
      "a.txt-9- 9",
      "a.txt:10: hit",
      "--",
      "b.txt:1: hit",
      "b.txt-2- \tx",
    ].join("\n"),
  );
  assert.match(await run(grep, tree, { pattern: "hit", context: -1 }), /^Error: context must be 0 or more/);
});

Deno.test("binary files are skipped and counted; UTF-16 is searched", async () => {
  using tree = makeWorktree({
    files: {
      "a.bin": "needle\0\0",
      "late.bin": `${"x".repeat(3000)}\nneedle\n${"\0".repeat(10)}`,
      "t.txt": "needle\n",
      "le.txt": Uint8Array.of(0xff, 0xfe, ...[..."a\nneedle"].flatMap((c) => [c.charCodeAt(0), 0])),
      "bom.txt": Uint8Array.of(0xef, 0xbb, 0xbf, ...new TextEncoder().encode("needle")),
      "bad.txt": Uint8Array.of(0xff, 0xe9, ...new TextEncoder().encode(" needle")),
    },
  });
  assert.equal(
    await run(grep, tree, { pattern: "needle" }),
    "bad.txt:1: \ufffd\ufffd needle\nbom.txt:1: needle\nle.txt:2: needle\nt.txt:1: needle\n(2 binary files skipped)",
  );
  assert.match(await run(grep, tree, { pattern: "^needle", glob: "bom.txt" }), /^bom\.txt:1:/);
  assert.equal(
    await run(grep, tree, { pattern: "needle", path: "a.bin" }),
    '(no matches for "needle")\n(1 binary file skipped)',
  );
});

Deno.test("skip list and .gitignore hold until something in them is named", async () => {
  using tree = makeWorktree({
    files: {
      ".gitignore": "build/\n*.log\n",
      "build/a.ts": "needle",
      "x.log": "needle",
      "src/a.ts": "needle",
      "node_modules/l/dist/i.js": "needle",
      ".git/config": "needle",
    },
  });
  const found = async (args: Record<string, unknown>) =>
    await run(grep, tree, { pattern: "needle", ...args });
  assert.equal(await found({}), "src/a.ts:1: needle");
  assert.equal(await found({ ignored: true }), "build/a.ts:1: needle\nsrc/a.ts:1: needle\nx.log:1: needle");
  assert.equal(await found({ path: "build" }), "a.ts:1: needle");
  assert.equal(await found({ path: "x.log" }), "x.log:1: needle");
  assert.equal(await found({ path: "node_modules" }), "l/dist/i.js:1: needle");
  assert.equal(await found({ path: ".git" }), "config:1: needle");
  assert.equal(
    await run(grep, tree, { pattern: "absent" }),
    '(no matches for "absent")\n(2 entries that .gitignore names not searched; pass ignored: true to include them)',
  );
});

Deno.test("links are not followed, in the tree or out of it", async () => {
  using tree = makeWorktree({
    files: { "src/a.txt": "needle in tree\n" },
    outside: { "b.txt": "needle SECRETLINE\n" },
    links: {
      "vendor": "../outside",
      "src/link.txt": "../../outside/b.txt",
      "in.txt": "src/a.txt",
      "src/loop": "..",
    },
  });
  assert.equal(await run(grep, tree, { pattern: "needle" }), "src/a.txt:1: needle in tree");
  assert.equal(await run(grep, tree, { pattern: "needle", path: "in.txt" }), "in.txt:1: needle in tree");
  for (const path of ["vendor", "src/link.txt", "../outside", tree.outside]) {
    const result = await run(grep, tree, { pattern: "needle", path });
    assert.match(result, /^Error: /, path);
    assert.doesNotMatch(result, /SECRETLINE/, path);
  }
});

Deno.test("files under a path rule are named, not read, and counted", async () => {
  using tree = makeWorktree({
    files: { ".env": "KEY=needle", "sub/.env.local": "needle", "a.txt": "needle" },
  });
  const rules = [{ pattern: ".env*", access: "read", action: "ask" }] as const;
  const result = await run(grep, tree, { pattern: "needle" }, { rules });
  assert.match(
    result,
    /^a\.txt:1: needle\n\(2 files not searched because of path rules: .*\.env\*.*; name one as path to search it\)$/,
  );
  assert.doesNotMatch(result, /KEY/);
  assert.match(await run(grep, tree, { pattern: "needle", path: ".env" }, { rules }), /^Error: /);
  const consented = [{ path: `${tree.work}/.env`, access: "read" }] as const;
  assert.equal(
    await run(grep, tree, { pattern: "needle", path: ".env" }, { rules, consented }),
    ".env:1: KEY=needle",
  );
});

Deno.test("a file that cannot be read is counted", async () => {
  using tree = makeWorktree({ files: { "a.txt": "needle", "b.txt": "needle" } });
  const whole = workspaceOf(tree);
  const workspace = withMethods(whole, {
    walkFile: (path, ...rest) => path.endsWith("a.txt") ? null : whole.walkFile(path, ...rest),
  });
  assert.equal(
    await run(grep, tree, { pattern: "needle" }, { workspace }),
    "b.txt:1: needle\n(1 file could not be read)",
  );
});

Deno.test("an error that is not about a rule is not swallowed", async () => {
  using tree = makeWorktree({ files: { "a.txt": "needle" } });
  const workspace = withMethods(workspaceOf(tree), {
    walkFile: () => {
      throw new ToolError("the disk is on fire");
    },
  });
  assert.equal(await run(grep, tree, { pattern: "needle" }, { workspace }), "Error: the disk is on fire");
});

Deno.test("a large tree is shared out, and the result is the same", async () => {
  const many: Record<string, string> = {};
  for (let d = 0; d < 80; d++) {
    for (let f = 0; f < 8; f++) {
      many[`d${d % 9}/e${d}/f${f}.txt`] = f === 3 ? `x\nneedle ${d}\n` : "nothing\n";
    }
  }
  many["d0-x.txt"] = "needle top";
  using tree = makeWorktree({ files: many });
  let parts = 0;
  const result = (await run(grep, tree, { pattern: "needle" }, { onFanout: (count) => parts = count })).split(
    "\n",
  );
  assert.ok(parts > 8, `${parts} parts`);
  assert.equal(result.length, 81);
  const paths = result.map((line) => line.split(":")[0]!);
  assert.deepEqual(paths, [...paths].sort());
  assert.equal(paths[0], "d0-x.txt");
  let small = 0;
  await run(grep, tree, { pattern: "needle", path: "d1" }, { onFanout: () => small++ });
  assert.equal(small, 0);
});

Deno.test("a large file is searched in pieces with the right line numbers", async () => {
  const line = `${"z".repeat(1023)}\n`;
  using tree = makeWorktree({
    files: { "big.txt": `${line.repeat(20_000)}needle\n${line.repeat(20_000)}needle` },
  });
  assert.equal(await run(grep, tree, { pattern: "needle" }), "big.txt:20001: needle\nbig.txt:40002: needle");
});

Deno.test("odd names", async () => {
  const names = [
    "-dash.txt",
    "app/[id]/page.tsx",
    "café.txt",
    "it's.txt",
    "my notes.txt",
    "{rule} one.md",
    "ünï.txt",
  ];
  using tree = makeWorktree({ files: Object.fromEntries(names.map((name) => [name, "marker"])) });
  const found = (await run(grep, tree, { pattern: "marker" })).split("\n").map((line) => line.split(":")[0]);
  assert.deepEqual(found, [...names].sort());
  assert.equal(await run(grep, tree, { pattern: "marker", path: "app/[id]" }), "page.tsx:1: marker");
});

Deno.test("a path that is not there", async () => {
  using tree = makeWorktree({ files });
  assert.equal(await run(grep, tree, { pattern: "x", path: "nope" }), "Error: path not found: nope");
  assert.match(await run(grep, tree, { pattern: "x", glob: "{a,b}".repeat(20) }), /^Error: glob: /);
});

Deno.test({
  name: "a device, pipe or socket that is named is an error, not a file without matches",
  ignore: Deno.build.os === "windows",
  async fn() {
    using tree = makeWorktree({ files: { "a.txt": "hit\n" } });
    assert.equal(new Deno.Command("mkfifo", { args: [`${tree.work}/pipe`] }).outputSync().success, true);
    assert.match(
      await run(grep, tree, { pattern: "hit", path: "pipe" }),
      /^Error: pipe is not a regular file/,
    );
    assert.equal(await run(grep, tree, { pattern: "hit" }), "a.txt:1: hit");
  },
});
