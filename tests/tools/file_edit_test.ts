import assert from "node:assert/strict";
import { fileEdit } from "../../tools/file_edit.ts";
import { makeWorktree } from "../helpers/worktree.ts";
import { applyDiff } from "../text/_apply.ts";
import { preview, run, runFully, withMethods, workspaceOf } from "./_workspace.ts";

const posix = Deno.build.os !== "windows";
const bytes = (text: string) => new TextEncoder().encode(text);

Deno.test("one match is replaced, and the result counts", async () => {
  using tree = makeWorktree({ files: { "a.txt": "one\ntwo\n" } });
  assert.equal(
    await run(fileEdit, tree, { path: "a.txt", old: "two", new: "zwei\ndrei" }),
    `Edited ${tree.work}/a.txt (1 of 1 occurrences, 3 lines, 14 chars)`,
  );
  assert.equal(tree.read("work/a.txt"), "one\nzwei\ndrei\n");
});

Deno.test("several matches need a count: the first N, 0 for all, never more than there are", async () => {
  using tree = makeWorktree({ files: { "a.txt": "one two one\ntwo\none\n" } });
  const refused = await run(fileEdit, tree, { path: "a.txt", old: "one", new: "ONE" });
  assert.match(refused, /^Error: old text occurs 3 times in a\.txt \(lines 1, 3\); nothing was changed/);
  assert.equal(tree.read("work/a.txt"), "one two one\ntwo\none\n");
  assert.match(
    await run(fileEdit, tree, { path: "a.txt", old: "one", new: "ONE", count: 1 }),
    /\(1 of 3 occurrences/,
  );
  assert.equal(tree.read("work/a.txt"), "ONE two one\ntwo\none\n");
  assert.match(
    await run(fileEdit, tree, { path: "a.txt", old: "two", new: "2", count: 5 }),
    /\(2 of 2 occurrences/,
  );
  assert.match(
    await run(fileEdit, tree, { path: "a.txt", old: "one", new: "", count: 0 }),
    /\(2 of 2 occurrences/,
  );
  assert.equal(tree.read("work/a.txt"), "ONE 2 \n2\n\n");
  assert.equal(
    await run(fileEdit, tree, { path: "a.txt", old: "2", new: "x", count: -1 }),
    "Error: count must be 0 or more, got -1",
  );
});

Deno.test("what cannot be done is an error, and the file stays", async () => {
  using tree = makeWorktree({ files: { "e.txt": "hello\n", "d/a": "" } });
  const rows: [Record<string, unknown>, RegExp][] = [
    [{ path: "e.txt", old: "zzz", new: "y" }, /^Error: old text not found in e\.txt$/],
    [{ path: "e.txt", old: "", new: "y" }, /^Error: old text must not be empty/],
    [{ path: "e.txt", old: "", new: "y", count: 0 }, /^Error: old text must not be empty/],
    [
      { path: "e.txt", old: "hello", new: "hello" },
      /^Error: old and new are the same text; nothing to change$/,
    ],
    [{ path: "no/b.txt", old: "x", new: "y" }, /^Error: file not found: no\/b\.txt$/],
    [{ path: "f.txt", old: "x", new: "y" }, /^Error: file not found: f\.txt \(did you mean e\.txt\?\)$/],
    [
      { path: "d", old: "x", new: "y" },
      /^Error: d is a directory \(name a file in it; list_dir shows them\)$/,
    ],
    [{ path: "e.txt", old: "hello", new: "\udfff" }, /^Error: /],
  ];
  for (const [args, expected] of rows) {
    assert.match(await run(fileEdit, tree, args), expected, JSON.stringify(args));
  }
  assert.equal(tree.read("work/e.txt"), "hello\n");
  assert.equal(tree.read("work/no"), null);
});

Deno.test("why a text was not found", async () => {
  using tree = makeWorktree({
    files: {
      "a.py": "def f():\n\tx = 1\n    y  =  2\n\treturn x\n",
      "b.txt": "It’s “here” – now\nThird Line\nabc\nfourth\n",
    },
  });
  const rows: [string, string, RegExp][] = [
    ["a.py", "    x = 1\n    y = 2", /differs from lines 2-3 only in whitespace/],
    ["a.py", "y = 2", /differs from line 3 only in whitespace/],
    ["a.py", "2|\tx = 1", /line numbers of file_read/],
    ["a.py", "1|def f():\n2|\tx = 1", /line numbers of file_read/],
    ["a.py", "def f():\\n\\tx = 1", /two characters/],
    ["b.txt", 'It\'s "here" - now', /differs from line 1 only in Unicode characters/],
    ["b.txt", "third line", /differs from line 2 only in upper and lower case/],
    ["b.txt", "Third Line\nabc\nfifth", /its beginning stands at line 2, but line 4 differs/],
    ["a.py", "\treturn xy", /the nearest is line 4: return x$/],
  ];
  for (const [path, old, expected] of rows) {
    const result = await run(fileEdit, tree, { path, old, new: "Z" });
    assert.match(result, /^Error: old text not found in /, old);
    assert.match(result, expected, old);
    assert.equal(result.includes("\n"), false, old);
  }
});

Deno.test("dollar signs and backslashes are text", async () => {
  using tree = makeWorktree({ files: { "a.js": 'start();\nlog("done");\nend();\n' } });
  const text = 'log("$& $1 $$ $` $\' $<x> \\1 \\n");';
  await run(fileEdit, tree, { path: "a.js", old: 'log("done");', new: text });
  assert.equal(tree.read("work/a.js"), `start();\n${text}\nend();\n`);
  await run(fileEdit, tree, { path: "a.js", old: "$&", new: "(.*)" });
  assert.match(tree.read("work/a.js")!, /\(\.\*\) \$1/);
});

Deno.test("line ends stay as they are: old with \\n matches CRLF, and new text gets the file's", async () => {
  const rows: [before: string, old: string, replacement: string, after: string][] = [
    ["one\r\ntwo\r\nthree\r\n", "two", "TWO", "one\r\nTWO\r\nthree\r\n"],
    ["one\r\ntwo\r\nthree\r\n", "two\nthree", "2\n3", "one\r\n2\r\n3\r\n"],
    ["one\r\ntwo\r\n", "two", "2\nnew", "one\r\n2\r\nnew\r\n"],
    ["one\r\ntwo\r\n", "two\r\n", "2\r\n", "one\r\n2\r\n"],
    ["one\r\ntwo", "two", "2\n3", "one\r\n2\r\n3"],
    ["one\r\ntwo\r\n", "one\n", "", "two\r\n"],
    ["one\r\ntwo\r\n", "\ntwo", "", "one\r\n"],
    ["a\r\nb", "\n", "", "ab"],
    ["a\r\nb", "\r\n", "\n", "a\nb"],
    ["a\nb\n", "a\r\nb", "x\ny", "x\ny\n"],
    ["lf\nx\ncrlf\r\nx\r\n", "crlf\nx", "1\n2", "lf\nx\n1\r\n2\r\n"],
    ["LF\nx\ncrlf\r\nx\r\n", "LF\nx", "1\n2", "1\n2\ncrlf\r\nx\r\n"],
    ["a\n", "a", "b\r\nc", "b\r\nc\n"],
    ["a", "a", "b\nc", "b\nc"],
  ];
  for (const [before, old, replacement, after] of rows) {
    using tree = makeWorktree({ files: { "a.txt": before } });
    await run(fileEdit, tree, { path: "a.txt", old, new: replacement });
    assert.equal(tree.read("work/a.txt"), after, JSON.stringify([before, old, replacement]));
  }
});

Deno.test("the same lines with LF and with CRLF are two matches", async () => {
  using tree = makeWorktree({ files: { "a.txt": "x\ny\n--\nx\r\ny\r\n" } });
  assert.match(
    await run(fileEdit, tree, { path: "a.txt", old: "x\ny", new: "z" }),
    /occurs 2 times in a\.txt \(lines 1, 4\)/,
  );
  assert.match(await run(fileEdit, tree, { path: "a.txt", old: "x\ny", new: "p\nq", count: 0 }), /2 of 2/);
  assert.equal(tree.read("work/a.txt"), "p\nq\n--\np\r\nq\r\n");
});

Deno.test("a byte order mark, invalid bytes and a missing last line break stay", async () => {
  const rows: [Uint8Array, string, string, Uint8Array][] = [
    [
      Uint8Array.of(0xef, 0xbb, 0xbf, ...bytes("a b")),
      "a",
      "c",
      Uint8Array.of(0xef, 0xbb, 0xbf, ...bytes("c b")),
    ],
    [
      Uint8Array.of(...bytes("x = 1;\n// caf"), 0xe9, 0x0a, 0x80, 0xff),
      "x = 1;",
      "x = 2;",
      Uint8Array.of(...bytes("x = 2;\n// caf"), 0xe9, 0x0a, 0x80, 0xff),
    ],
    [bytes("ä ö"), "ö", "ü😀", bytes("ä ü😀")],
    [
      Uint8Array.of(0xff, 0xfe, 0x61, 0, 13, 0, 10, 0, 0x62, 0, 0, 0x61),
      "a\nb",
      "c\nd",
      Uint8Array.of(0xff, 0xfe, 0x63, 0, 13, 0, 10, 0, 0x64, 0, 0, 0x61),
    ],
    [Uint8Array.of(0xfe, 0xff, 0, 0x61, 0, 0x62), "b", "é", Uint8Array.of(0xfe, 0xff, 0, 0x61, 0, 0xe9)],
    [Uint8Array.of(0x61, 0, 0x62), "b", "c", Uint8Array.of(0x61, 0, 0x63)],
  ];
  for (const [before, old, replacement, after] of rows) {
    using tree = makeWorktree({ files: { "a.txt": before } });
    assert.match(await run(fileEdit, tree, { path: "a.txt", old, new: replacement }), /^Edited /, old);
    assert.deepEqual(Deno.readFileSync(`${tree.work}/a.txt`), after, old);
  }
});

Deno.test("bytes outside the matches never change", async () => {
  let seed = 11;
  const random = (below: number) => (seed = (seed * 48271) % 2147483647) % below;
  const pieces = ["ab", "a", "b", "\n", "\r\n", "\r", "é", "😀", " "].map(bytes);
  pieces.push(Uint8Array.of(0xff), Uint8Array.of(0xc3), Uint8Array.of(0x80, 0x81));
  const olds = ["ab", "a\nb", "\n", "b\n", "é", "\r\n", "ba", "a b"];
  let edited = 0;
  using tree = makeWorktree();
  for (let round = 0; round < 400; round++) {
    const before = Uint8Array.from(
      Array.from({ length: random(30) }, () => pieces[random(pieces.length)]!).flatMap((p) => [...p]),
    );
    const old = olds[random(olds.length)]!, replacement = ["", "X", "X\nY", "$&"][random(4)]!;
    tree.write("work/a.bin", before);
    const { content, details } = await runFully(fileEdit, tree, {
      path: "a.bin",
      old,
      new: replacement,
      count: 0,
    });
    const after = Deno.readFileSync(`${tree.work}/a.bin`);
    if (content.startsWith("Error: ")) {
      assert.deepEqual(after, before);
      continue;
    }
    edited++;
    // The same by another way: one character for each byte, and an expression made of the old text.
    const latin = (data: Uint8Array) => String.fromCharCode(...data);
    const source = latin(bytes(old)).replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
    // CRLF that the file does not have stands for its line breaks.
    const exact = old.includes("\r") && latin(before).includes(old);
    const pattern = new RegExp(exact ? source : source.replace(/\r?\n/g, "\\r?\\n"), "g");
    const kept = latin(before).split(pattern), result = latin(after);
    let at = 0;
    for (const [i, part] of kept.entries()) {
      assert.equal(
        result.slice(at, at + part.length),
        part,
        JSON.stringify([latin(before), old, replacement]),
      );
      at += part.length;
      if (i === kept.length - 1) break;
      const rest = result.slice(at),
        text = latin(bytes(replacement)),
        windows = text.replaceAll("\n", "\r\n");
      assert.ok(rest.startsWith(text) || rest.startsWith(windows));
      at += rest.startsWith(text) ? text.length : windows.length;
    }
    assert.equal(at, result.length);
    const decoder = new TextDecoder();
    assert.equal(applyDiff(decoder.decode(before), details!.diff!), decoder.decode(after));
  }
  assert.ok(edited > 100, `${edited} edits`);
});

Deno.test("the diff has the file's line numbers", async () => {
  const text = Array.from({ length: 50 }, (_, i) => `l${i + 1}\n`).join("");
  using tree = makeWorktree({ files: { "a.txt": text } });
  const { details } = await runFully(fileEdit, tree, { path: "a.txt", old: "l30", new: "L30" });
  assert.deepEqual(details, {
    diff: "@@ -27,7 +27,7 @@\n l27\n l28\n l29\n-l30\n+L30\n l31\n l32\n l33",
    wrote: [`${tree.work}/a.txt`],
  });
});

Deno.test("mode bits and links stay; hard links are told", { ignore: !posix }, async () => {
  using tree = makeWorktree({
    files: { "run.sh": "old", "hard.txt": "old" },
    links: { "link.sh": "run.sh" },
  });
  Deno.chmodSync(`${tree.work}/run.sh`, 0o755);
  assert.match(
    await run(fileEdit, tree, { path: "link.sh", old: "old", new: "new" }),
    new RegExp(`^Edited ${tree.work}/run\\.sh `),
  );
  assert.equal(Deno.statSync(`${tree.work}/run.sh`).mode! & 0o777, 0o755);
  assert.equal(Deno.lstatSync(`${tree.work}/link.sh`).isSymlink, true);
  Deno.linkSync(`${tree.work}/hard.txt`, `${tree.work}/twin.txt`);
  assert.match(
    await run(fileEdit, tree, { path: "hard.txt", old: "old", new: "new" }),
    /chars\); written in place/,
  );
  assert.equal(tree.read("work/twin.txt"), "new");
});

Deno.test("a file that changed since it was read is not overwritten", async () => {
  using tree = makeWorktree({ files: { "a.txt": "one" } });
  const whole = workspaceOf(tree);
  const workspace = withMethods(whole, {
    readFile: (path, options) => {
      const read = whole.readFile(path, options);
      tree.write("work/a.txt", "one and more");
      return read;
    },
  });
  assert.match(
    await run(fileEdit, tree, { path: "a.txt", old: "one", new: "two" }, { workspace }),
    /^Error: .*changed since/,
  );
  assert.equal(tree.read("work/a.txt"), "one and more");
});

Deno.test("links that lead out are not edited", async () => {
  using tree = makeWorktree({ outside: { "s.txt": "TOPSECRET" }, links: { "n.txt": "../outside/s.txt" } });
  const result = await run(fileEdit, tree, { path: "n.txt", old: "TOPSECRET", new: "gone" });
  assert.match(result, /^Error: /);
  assert.equal(tree.read("outside/s.txt"), "TOPSECRET");
});

Deno.test("a huge file is refused before it is read", async () => {
  using tree = makeWorktree({ files: { "a.txt": "one" } });
  const workspace = withMethods(workspaceOf(tree), {
    status: () => ({ kind: "file", size: 5e9, mode: 0, modified: 0, links: 1 }),
    readFile: () => assert.fail("read"),
  });
  assert.match(
    await run(fileEdit, tree, { path: "a.txt", old: "one", new: "two" }, { workspace }),
    /^Error: a\.txt is too large to edit \(4768 MB; at most 64 MB\)$/,
  );
});

Deno.test("the preview says what would happen and changes nothing", async () => {
  using tree = makeWorktree({ files: { "a.txt": "one\ntwo\none\n" } });
  assert.equal(
    await preview(fileEdit, tree, { path: "a.txt", old: "two", new: "2" }),
    `a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n one\n(${tree.work}/a.txt - replacing 1 of 1 occurrences)`,
  );
  assert.match(
    await preview(fileEdit, tree, { path: "a.txt", old: "one", new: "1", count: 1 }),
    /replacing 1 of 2 occurrences\)$/,
  );
  assert.equal(
    await preview(fileEdit, tree, { path: "b.txt", old: "x", new: "y" }),
    "b.txt (file not found)",
  );
  assert.equal(
    await preview(fileEdit, tree, { path: "a.txt", old: "x", new: "y" }),
    "a.txt (no match for old text)",
  );
  assert.match(
    await preview(fileEdit, tree, { path: "a.txt", old: "one", new: "y" }),
    /\(2 matches for old text, nothing will change\)$/,
  );
  assert.equal(tree.read("work/a.txt"), "one\ntwo\none\n");
});
