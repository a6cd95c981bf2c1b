import assert from "node:assert/strict";
import { ToolError } from "../../src/errors.ts";
import { fileRead } from "../../tools/file_read.ts";
import { LineWindow } from "../../tools/_window.ts";
import { makeWorktree } from "../helpers/worktree.ts";
import { run, withMethods, workspaceOf } from "./_workspace.ts";

const lines = (count: number) => Array.from({ length: count }, (_, i) => `line${i + 1}`).join("\n");

Deno.test("the header gives lines and chars, each line its number", async () => {
  using tree = makeWorktree({ files: { "a.txt": "one\ntwo\nthree\n" } });
  assert.equal(
    await run(fileRead, tree, { path: "a.txt" }),
    "# a.txt - 3 lines, 14 chars\n1|one\n2|two\n3|three",
  );
  assert.equal(
    await run(fileRead, tree, { path: "./a.txt" }),
    "# ./a.txt - 3 lines, 14 chars\n1|one\n2|two\n3|three",
  );
});

Deno.test("every partial window says what it shows", async () => {
  using tree = makeWorktree({ files: { "a.txt": lines(20) } });
  const head = "# a.txt - 20 lines, 130 chars";
  assert.equal(
    await run(fileRead, tree, { path: "a.txt", offset: 5, limit: 3 }),
    `${head} (showing 5-7)\n5|line5\n6|line6\n7|line7`,
  );
  assert.equal(
    await run(fileRead, tree, { path: "a.txt", offset: 19 }),
    `${head} (showing 19-20)\n19|line19\n20|line20`,
  );
  assert.equal(
    await run(fileRead, tree, { path: "a.txt", offset: 9, limit: 2 }),
    `${head} (showing 9-10)\n 9|line9\n10|line10`,
  );
  assert.equal((await run(fileRead, tree, { path: "a.txt", limit: 20 })).split("\n")[0], head);
  assert.equal(
    (await run(fileRead, tree, { path: "a.txt", limit: 19 })).split("\n")[0],
    `${head} (showing 1-19)`,
  );
});

Deno.test("limit 0 gives the header alone, also for an empty file", async () => {
  using tree = makeWorktree({ files: { "a.txt": "x\n", "e.txt": "" } });
  assert.equal(await run(fileRead, tree, { path: "a.txt", limit: 0 }), "# a.txt - 1 lines, 2 chars");
  assert.equal(await run(fileRead, tree, { path: "e.txt", limit: 0 }), "# e.txt - 0 lines, 0 chars");
});

Deno.test("empty and past the end are two different notes", async () => {
  using tree = makeWorktree({ files: { "e.txt": "", "a.txt": "x\ny\n", "trap.txt": "(empty file)" } });
  const empty = await run(fileRead, tree, { path: "e.txt" });
  assert.equal(empty, "# e.txt - 0 lines, 0 chars\n(empty file)");
  const past = await run(fileRead, tree, { path: "a.txt", offset: 3 });
  assert.equal(past, "# a.txt - 2 lines, 4 chars\n(past the end: the file has 2 lines)");
  assert.equal(fileRead.note!(empty), true);
  assert.equal(fileRead.note!(past), true);
  assert.equal(fileRead.note!(await run(fileRead, tree, { path: "trap.txt" })), false);
});

Deno.test("negative numbers are errors that name the parameter", async () => {
  using tree = makeWorktree({ files: { "a.txt": "x\n" } });
  assert.equal(
    await run(fileRead, tree, { path: "a.txt", limit: -1 }),
    "Error: limit must be 0 or more, got -1",
  );
  assert.equal(
    await run(fileRead, tree, { path: "a.txt", offset: -3 }),
    "Error: offset must be 0 or more, got -3",
  );
  assert.match(await run(fileRead, tree, { path: "a.txt", offset: 0 }), /^# a.txt - 1 lines, 2 chars\n1\|x$/);
});

Deno.test("a missing file, a near name, a directory, a device", async () => {
  using tree = makeWorktree({ files: { "src/config.ts": "x", "d/a": "" } });
  assert.equal(await run(fileRead, tree, { path: "nope.txt" }), "Error: file not found: nope.txt");
  assert.equal(
    await run(fileRead, tree, { path: "src/confg.ts" }),
    "Error: file not found: src/confg.ts (did you mean src/config.ts?)",
  );
  assert.equal(
    await run(fileRead, tree, { path: "no/such/dir.txt" }),
    "Error: file not found: no/such/dir.txt",
  );
  assert.equal(
    await run(fileRead, tree, { path: "src/config.ts/x" }),
    "Error: file not found: src/config.ts/x",
  );
  assert.equal(await run(fileRead, tree, { path: "d" }), "Error: d is a directory (use list_dir instead)");
  if (Deno.build.os !== "windows") {
    const made = new Deno.Command("mkfifo", { args: [`${tree.work}/pipe`] }).outputSync();
    assert.equal(made.success, true);
    assert.match(await run(fileRead, tree, { path: "pipe" }), /^Error: pipe is not a regular file/);
  }
});

Deno.test("what the system does not let us read is an error, not an empty file", async () => {
  using tree = makeWorktree({ files: { "a.txt": "secret" } });
  const workspace = withMethods(workspaceOf(tree), {
    readFile: () => {
      throw new ToolError("Cannot read a.txt: the system denies access");
    },
  });
  const result = await run(fileRead, tree, { path: "a.txt" }, { workspace });
  assert.equal(result, "Error: Cannot read a.txt: the system denies access");
});

Deno.test("only \\n ends a line; the CR of CRLF is counted and not shown", async () => {
  using tree = makeWorktree({
    files: { "w.txt": "one\r\ntwo\r\n", "odd.txt": "a\rb\vc\fd\u001ce\u0085f\u2028g\u2029h\nlast" },
  });
  assert.equal(await run(fileRead, tree, { path: "w.txt" }), "# w.txt - 2 lines, 10 chars\n1|one\n2|two");
  const odd = await run(fileRead, tree, { path: "odd.txt" });
  assert.match(odd, /^# odd\.txt - 2 lines, 20 chars\n/);
  assert.equal(odd.endsWith("\n2|last"), true);
});

Deno.test("chars are code points, and invalid bytes are replaced", async () => {
  using tree = makeWorktree({
    files: {
      "u.txt": "añ😀\n",
      "bad.txt": Uint8Array.of(0x61, 0xff, 0x62, 10),
      "bom.txt": Uint8Array.of(0xef, 0xbb, 0xbf, 0x61, 10),
      "le.txt": Uint8Array.of(0xff, 0xfe, 0x61, 0, 13, 0, 10, 0, 0x62, 0),
      "be.txt": Uint8Array.of(0xfe, 0xff, 0, 0x61, 0, 10),
    },
  });
  assert.equal(await run(fileRead, tree, { path: "u.txt" }), "# u.txt - 1 lines, 4 chars\n1|añ😀");
  assert.equal(await run(fileRead, tree, { path: "bad.txt" }), "# bad.txt - 1 lines, 4 chars\n1|a\ufffdb");
  assert.equal(await run(fileRead, tree, { path: "bom.txt" }), "# bom.txt - 1 lines, 2 chars\n1|a");
  assert.equal(await run(fileRead, tree, { path: "le.txt" }), "# le.txt - 2 lines, 4 chars\n1|a\n2|b");
  assert.equal(await run(fileRead, tree, { path: "be.txt" }), "# be.txt - 1 lines, 2 chars\n1|a");
});

Deno.test("a binary file is an error that gives its size", async () => {
  using tree = makeWorktree({ files: { "a.bin": Uint8Array.of(0x89, 0x50, 0, 0xff) } });
  assert.equal(
    await run(fileRead, tree, { path: "a.bin" }),
    "Error: a.bin is a binary file (4 bytes), which cannot be shown as text",
  );
});

Deno.test("a result over the cap ends at a line and the header names what is shown", async () => {
  using tree = makeWorktree({ files: { "big.txt": "row 0001 abcdefghij\n".repeat(300) } });
  const result = await run(fileRead, tree, { path: "big.txt" }, { config: { tool_max_result_chars: 500 } });
  assert.ok(result.length <= 500, `${result.length}`);
  const all = result.split("\n"), shown = all.length - 2;
  assert.equal(all[0], `# big.txt - 300 lines, 6000 chars (showing 1-${shown})`);
  assert.equal(all.at(-1), "... (truncated)");
  assert.equal(all.at(-2), `${shown}|row 0001 abcdefghij`);
  const next = await run(fileRead, tree, { path: "big.txt", offset: shown + 1, limit: 1 });
  assert.match(next, new RegExp(`\\n${shown + 1}\\|row`));
});

Deno.test("a result that fits the cap exactly is whole", async () => {
  using tree = makeWorktree({ files: { "a.txt": "ab\ncd\n" } });
  const whole = "# a.txt - 2 lines, 6 chars\n1|ab\n2|cd";
  assert.equal(
    await run(fileRead, tree, { path: "a.txt" }, { config: { tool_max_result_chars: whole.length } }),
    whole,
  );
  assert.match(
    await run(fileRead, tree, { path: "a.txt" }, { config: { tool_max_result_chars: whole.length - 1 } }),
    /\n\.\.\. \(truncated\)$/,
  );
});

Deno.test("a line longer than the cap shows its beginning and how long it is", async () => {
  using tree = makeWorktree({ files: { "min.js": `start${"x".repeat(5000)}\nsecond\n` } });
  const result = await run(fileRead, tree, { path: "min.js" }, { config: { tool_max_result_chars: 400 } });
  assert.ok(result.length <= 400, `${result.length}`);
  assert.match(
    result,
    /^# min\.js - 2 lines, 5013 chars \(showing 1-1\)\n1\|startx+… \(line cut, 5005 chars\)\n\.\.\. \(truncated\)$/,
  );
});

Deno.test("odd names are read, and shown on one line", async () => {
  const names = [
    "app/[id]/page.tsx",
    "my notes.txt",
    "it's.txt",
    "-dash.txt",
    "ünï.txt",
    "{rule} one.md",
    "..cache/b",
  ];
  using tree = makeWorktree({ files: Object.fromEntries(names.map((name) => [name, "x"])) });
  for (const path of names) {
    assert.equal(await run(fileRead, tree, { path }), `# ${path} - 1 lines, 1 chars\n1|x`);
  }
  if (Deno.build.os !== "windows") {
    tree.write("work/a\nb", "x");
    assert.equal(await run(fileRead, tree, { path: "a\nb" }), "# a\\nb - 1 lines, 1 chars\n1|x");
  }
});

Deno.test(
  "a name in another Unicode composition is the same file",
  { ignore: Deno.build.os === "darwin" },
  async () => {
    using tree = makeWorktree({ files: { "cafe\u0301.txt": "nfd" } });
    assert.match(await run(fileRead, tree, { path: "caf\u00e9.txt" }), /1\|nfd$/);
  },
);

Deno.test("links inside are followed, links out are not", async () => {
  using tree = makeWorktree({
    files: { "real/a.txt": "INSIDE" },
    outside: { "s.txt": "SECRET" },
    links: { "short": "real", "out.txt": "../outside/s.txt" },
  });
  assert.match(await run(fileRead, tree, { path: "short/a.txt" }), /1\|INSIDE/);
  const refused = await run(fileRead, tree, { path: "out.txt" });
  assert.match(refused, /^Error: /);
  assert.doesNotMatch(refused, /SECRET/);
});

Deno.test("a file in pieces is counted and cut as a whole one is", () => {
  const text = "one\r\ntwo\n\nfour 😀\nfive";
  for (let cut = 1; cut < text.length; cut++) {
    const window = new LineWindow(2, 3, 1000);
    window.push(text.slice(0, cut));
    window.push(text.slice(cut));
    window.end();
    assert.equal(window.lines, 5);
    assert.deepEqual(window.kept.map((line) => line.text), ["two", "", "four 😀"]);
  }
});

Deno.test("a large file is read in pieces and not held", async () => {
  using tree = makeWorktree({ files: { "a.txt": "" } });
  const piece = new TextEncoder().encode("0123456789abcde\n".repeat(65_536));
  const size = 600 * piece.length;
  const workspace = withMethods(workspaceOf(tree), {
    status: () => ({ kind: "file", size, mode: 0, modified: 0, links: 1 }),
    readFile: () => assert.fail("read as a whole"),
    readChunks: (_, onChunk) => {
      for (let i = 0; i < 600; i++) onChunk(piece);
    },
  });
  const result = await run(fileRead, tree, { path: "a.txt", offset: 39_000_000, limit: 2 }, { workspace });
  assert.equal(
    result,
    "# a.txt - 39321600 lines, 629145600 chars (showing 39000000-39000001)\n" +
      "39000000|0123456789abcde\n39000001|0123456789abcde",
  );
});

Deno.test("where a workspace cannot read in pieces, the header says that only the beginning was read", async () => {
  using tree = makeWorktree({ files: { "a.txt": "" } });
  const workspace = withMethods(workspaceOf(tree), {
    status: () => ({ kind: "file", size: 5e9, mode: 0, modified: 0, links: 1 }),
    readFile: (_, options) =>
      new Uint8Array(options!.maxBytes!).fill(120).map((byte, i) => i % 1024 === 1023 ? 10 : byte),
    readChunks: undefined,
  });
  assert.equal(
    await run(fileRead, tree, { path: "a.txt", limit: 0 }, { workspace }),
    "# a.txt - more than 65537 lines, 67108865 chars (only the first 64 MB were read)",
  );
});

Deno.test("names that other agents use are absorbed", async () => {
  using tree = makeWorktree({ files: { "a.txt": "x" } });
  for (const name of ["file", "file_path"]) {
    assert.match(await run(fileRead, tree, { [name]: "a.txt" }), /1\|x$/, name);
  }
  assert.deepEqual(fileRead.aliases, ["read_file", "read", "view"]);
});
