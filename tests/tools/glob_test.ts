import assert from "node:assert/strict";
import { glob } from "../../tools/glob.ts";
import { makeWorktree } from "../helpers/worktree.ts";
import { run } from "./_workspace.ts";

const files = {
  "src/app.ts": "x",
  "src/deep/mod.ts": "y",
  "src/readme.md": "r",
  "node_modules/l/x.ts": "z",
  ".git/hooks/y.ts": "z",
  ".github/workflows/ci.yml": "on",
  "app/[id]/page.tsx": "r",
  "{rule} one.md": "r",
};

Deno.test("patterns find paths in order, directories with a slash", async () => {
  using tree = makeWorktree({ files });
  const rows: [Record<string, unknown>, string][] = [
    [{ pattern: "**/*.ts" }, "src/app.ts\nsrc/deep/mod.ts"],
    [{ pattern: "src/*" }, "src/app.ts\nsrc/deep/\nsrc/readme.md"],
    [{ pattern: "*.ts", path: "src" }, "app.ts"],
    [{ pattern: "**/mod.ts", path: "src" }, "deep/mod.ts"],
    [{ pattern: "src/{app,deep/mod}.ts" }, "src/app.ts\nsrc/deep/mod.ts"],
    [{ pattern: "./src/*.ts" }, "src/app.ts"],
    [{ pattern: "src/*/" }, "src/deep/"],
    [{ pattern: "src" }, "src/"],
    [{ pattern: "src/app.ts" }, "src/app.ts"],
    [{ pattern: ".github/workflows/*.yml" }, ".github/workflows/ci.yml"],
    [{ pattern: "**/*.yml" }, ".github/workflows/ci.yml"],
    [{ pattern: "app/*/page.tsx" }, "app/[id]/page.tsx"],
    [{ pattern: "app/[id]/*.tsx" }, "app/[id]/page.tsx"],
    [{ pattern: "app/[id]/page.tsx" }, "app/[id]/page.tsx"],
    [{ pattern: "{rule} one.md" }, "{rule} one.md"],
    [{ pattern: "*.md" }, "{rule} one.md"],
    [{ pattern: "src/deep/../*.ts" }, "src/deep/../app.ts"],
  ];
  for (const [args, expected] of rows) {
    assert.equal(await run(glob, tree, args), expected, JSON.stringify(args));
  }
});

Deno.test("an absolute pattern gives absolute paths", async () => {
  using tree = makeWorktree({ files });
  assert.equal(await run(glob, tree, { pattern: `${tree.work}/src/*.ts` }), `${tree.work}/src/app.ts`);
});

Deno.test("no match is a note, with the pattern as given", async () => {
  using tree = makeWorktree({ files });
  const result = await run(glob, tree, { pattern: "**/*.rs" });
  assert.equal(result, '(no matches for "**/*.rs")');
  assert.equal(glob.note!(result), true);
  assert.equal(glob.note!("a.rs"), false);
  assert.equal(await run(glob, tree, { pattern: "gone/*" }), '(no matches for "gone/*")');
});

Deno.test("at most 200 are shown, and all are counted", async () => {
  const many = Object.fromEntries(Array.from({ length: 205 }, (_, i) => [`many/f${100 + i}.txt`, ""]));
  using tree = makeWorktree({ files: many });
  const all = (await run(glob, tree, { pattern: "many/*.txt" })).split("\n");
  assert.equal(all.length, 201);
  assert.equal(all[0], "many/f100.txt");
  assert.equal(all[200], "... (showing 200 of 205 matches)");
  Deno.removeSync(`${tree.work}/many`, { recursive: true });
  for (let i = 0; i < 200; i++) tree.write(`work/many/f${i}.txt`, "");
  assert.doesNotMatch(await run(glob, tree, { pattern: "many/*.txt" }), /showing/);
});

Deno.test("skipped directories are listed and not entered, unless they are named", async () => {
  using tree = makeWorktree({ files: { ...files, "node_modules/l/dist/i.js": "" } });
  assert.equal(await run(glob, tree, { pattern: "node_mod*" }), "node_modules/");
  assert.equal(await run(glob, tree, { pattern: "**/y.ts" }), '(no matches for "**/y.ts")');
  assert.equal(await run(glob, tree, { pattern: ".git/**/*.ts" }), ".git/hooks/y.ts");
  assert.equal(await run(glob, tree, { pattern: "**/*.js", path: "node_modules" }), "l/dist/i.js");
  assert.equal(
    await run(glob, tree, { pattern: "node_modules/l/**" }),
    "node_modules/l/dist/\nnode_modules/l/dist/i.js\nnode_modules/l/x.ts",
  );
});

Deno.test(".gitignore leaves out, until something in it is named or ignored is true", async () => {
  using tree = makeWorktree({
    files: {
      ".gitignore": "build/\n*.log\n!keep.log\n/only-here\n",
      "build/a.ts": "",
      "a.log": "",
      "keep.log": "",
      "src/b.log": "",
      "src/only-here": "",
      "only-here": "",
      "src/.gitignore": "local*\n",
      "src/local.ts": "",
      ".git/info/exclude": "private.txt\n",
      "private.txt": "",
    },
  });
  assert.equal(
    await run(glob, tree, { pattern: "**" }),
    [".git/", ".gitignore", "keep.log", "src/", "src/.gitignore", "src/only-here"].join("\n"),
  );
  assert.equal(await run(glob, tree, { pattern: "build/*" }), "build/a.ts");
  assert.equal(await run(glob, tree, { pattern: "*.ts", path: "build" }), "a.ts");
  assert.equal(await run(glob, tree, { pattern: "a.log" }), "a.log");
  assert.equal(await run(glob, tree, { pattern: "*.log", ignored: true }), "a.log\nkeep.log");
  assert.equal(
    await run(glob, tree, { pattern: "src/l*.ts" }),
    '(no matches for "src/l*.ts")\n(2 entries that .gitignore names left out; pass ignored: true to include them)',
  );
});

Deno.test("links are named and not followed, and nothing outside is listed", async () => {
  using tree = makeWorktree({
    files: { "real/a.txt": "" },
    outside: { "hidden-name.txt": "" },
    links: { "out": "../outside", "in": "real", "real/up": "../.." },
  });
  assert.equal(await run(glob, tree, { pattern: "**" }), "in\nout\nreal/\nreal/a.txt\nreal/up");
  assert.equal(await run(glob, tree, { pattern: "in/*.txt" }), "in/a.txt");
  for (
    const args of [
      { pattern: "../outside/*" },
      { pattern: `${tree.outside}/*` },
      { pattern: "real/../../outside/*.txt" },
      { pattern: "out/*" },
      { pattern: "{real,../outside}/*" },
      { pattern: "*.txt", path: tree.outside },
      { pattern: "../outside/hidden-name.txt" },
      { pattern: "../*" },
    ]
  ) {
    const result = await run(glob, tree, args);
    assert.match(result, /^Error: /, JSON.stringify(args));
    assert.doesNotMatch(result, /hidden-name\.txt\n|^hidden-name/, JSON.stringify(args));
  }
});

Deno.test("the policy sees every directory that a pattern begins in", () => {
  const paths = (pattern: string, path = ".") => glob.paths!({ pattern, path }).map((use) => use.path).sort();
  assert.deepEqual(paths("../*"), [".", ".."]);
  assert.deepEqual(paths("/etc/*"), [".", "/etc"]);
  assert.deepEqual(paths("/*"), [".", "/"]);
  assert.deepEqual(paths("~/*"), [".", "~"]);
  assert.deepEqual(paths("../x/*", "sub"), ["sub", "sub/../x"]);
  assert.deepEqual(paths("{src,../up}/*"), [".", "../up", "src", "{src,../up}"]);
  assert.deepEqual(paths("**/*.ts"), ["."]);
  assert.deepEqual(paths(".."), [".", ".."]);
  if (Deno.build.os !== "windows") assert.deepEqual(paths("\\.\\./*"), [".", ".."]);
  assert.equal(glob.paths!({ pattern: "a/*", path: "." }).every((use) => use.access === "list"), true);
});

Deno.test("what cannot be searched is an error", async () => {
  using tree = makeWorktree({ files });
  assert.match(
    await run(glob, tree, { pattern: "*", path: "src/app.ts" }),
    /^Error: not a directory: src\/app\.ts/,
  );
  assert.equal(
    await run(glob, tree, { pattern: "*", path: "srx" }),
    "Error: path not found: srx (did you mean src?)",
  );
  assert.match(await run(glob, tree, { pattern: "" }), /^Error: pattern must not be empty/);
  assert.match(await run(glob, tree, { pattern: "*/../x" }), /^Error: pattern: .*after a wildcard/);
  assert.match(await run(glob, tree, { pattern: "{a,b}".repeat(20) }), /^Error: pattern: .*alternatives/);
});

Deno.test("names in another composition are found", async () => {
  using tree = makeWorktree({ files: { "cafe\u0301.txt": "" } });
  assert.equal(await run(glob, tree, { pattern: "caf\u00e9.*" }), "cafe\u0301.txt");
});
