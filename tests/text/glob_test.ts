import assert from "node:assert/strict";
import {
  compileGlob,
  compileName,
  descend,
  expandBraces,
  isDead,
  literalStarts,
  matchGlob,
  startState,
} from "../../src/text/glob.ts";

const posix = Deno.build.os !== "windows";

function matching(pattern: string, paths: readonly string[]): string[] {
  const glob = compileGlob(pattern);
  return paths.filter((path) => matchGlob(glob, path));
}

Deno.test("wildcards stay within a name, ** crosses directories", () => {
  const paths = ["a.ts", "src/a.ts", "src/deep/b.ts", "src/deep", ".hidden.ts", "src/.x/c.ts"];
  const rows: [string, string[]][] = [
    ["*.ts", ["a.ts", ".hidden.ts"]],
    ["**/*.ts", ["a.ts", "src/a.ts", "src/deep/b.ts", ".hidden.ts", "src/.x/c.ts"]],
    ["src/*", ["src/a.ts", "src/deep"]],
    ["src/**", ["src/a.ts", "src/deep/b.ts", "src/deep", "src/.x/c.ts"]],
    ["src/**/b.ts", ["src/deep/b.ts"]],
    ["src/**/a.ts", ["src/a.ts"]],
    ["**", paths],
    ["**/**/b.ts", ["src/deep/b.ts"]],
    ["*/*/?.ts", ["src/deep/b.ts", "src/.x/c.ts"]],
    ["./src/a.ts", ["src/a.ts"]],
    ["src//a.ts", ["src/a.ts"]],
    ["src/deep/../a.ts", ["src/a.ts"]],
    ["a**s", ["a.ts"]],
  ];
  for (const [pattern, expected] of rows) assert.deepEqual(matching(pattern, paths), expected, pattern);
});

Deno.test("sets, negated sets, ranges and classes", () => {
  const rows: [string, string, boolean][] = [
    ["[abc].ts", "b.ts", true],
    ["[!abc].ts", "b.ts", false],
    ["[^abc].ts", "d.ts", true],
    ["[a-c]x", "bx", true],
    ["[]]x", "]x", true],
    ["[a-]x", "-x", true],
    ["[[:digit:]]x", "7x", true],
    ["[[:digit:]]x", "ax", false],
    ["[😀]x", "😀x", true],
    ["?x", "😀x", true],
    ["[unclosed", "[unclosed", true],
    ["[z-a]", "b", false],
  ];
  for (const [pattern, name, expected] of rows) {
    assert.equal(matching(pattern, [name]).length === 1, expected, pattern);
  }
});

Deno.test("a name that equals the pattern matches it, whatever its characters mean", () => {
  assert.deepEqual(matching("app/[id]/page.tsx", ["app/[id]/page.tsx", "app/i/page.tsx", "app/x/page.tsx"]), [
    "app/[id]/page.tsx",
    "app/i/page.tsx",
  ]);
  assert.deepEqual(matching("{rule} one.md", ["{rule} one.md", "rule one.md"]), ["{rule} one.md"]);
  assert.deepEqual(matching("{a,b}.md", ["a.md", "b.md", "{a,b}.md"]), ["a.md", "b.md", "{a,b}.md"]);
});

Deno.test("composed and decomposed letters are the same name", () => {
  assert.deepEqual(matching("caf\u00e9.txt", ["cafe\u0301.txt"]), ["cafe\u0301.txt"]);
  assert.deepEqual(matching("*\u00e9.txt", ["cafe\u0301.txt"]), ["cafe\u0301.txt"]);
  assert.deepEqual(matching("caf?.txt", ["caf\u00e9.txt"]), ["caf\u00e9.txt"]);
});

Deno.test("a backslash takes a character's meaning away", { ignore: !posix }, () => {
  assert.deepEqual(matching("\\*.ts", ["*.ts", "a.ts"]), ["*.ts"]);
  assert.deepEqual(matching("a\\[b", ["a[b"]), ["a[b"]);
  assert.deepEqual(expandBraces("\\{a,b}"), ["\\{a,b}"]);
});

Deno.test("braces are written out, nested ones too, within bounds", () => {
  assert.deepEqual(expandBraces("{a,b{c,d}}x").sort(), ["ax", "bcx", "bdx"]);
  assert.deepEqual(expandBraces("{a}"), ["{a}"]);
  assert.deepEqual(expandBraces("a{,b}"), ["a", "ab"]);
  assert.deepEqual(expandBraces("{a,b"), ["{a,b"]);
  for (
    const [pattern, expected] of [
      ["f{1..3}", ["f1", "f2", "f3"]],
      ["f{3..1}", ["f3", "f2", "f1"]],
      ["f{08..10}", ["f08", "f09", "f10"]],
      ["f{-1..1}", ["f-1", "f0", "f1"]],
      ["f{0..6..3}", ["f0", "f3", "f6"]],
      ["{a..c}", ["a", "b", "c"]],
      ["{x,{1..2}}", ["x", "1", "2"]],
      ["{1..a}", ["{1..a}"]],
      ["{..}", ["{..}"]],
      ["{../a}", ["{../a}"]],
      ["{1..2}".slice(0, 5), ["{1..2"]],
    ] as const
  ) assert.deepEqual(expandBraces(pattern), expected, pattern);
  assert.throws(() => expandBraces("{1..1000000}"), RangeError);
  assert.throws(() => expandBraces("{a,b}".repeat(12)), RangeError);
});

Deno.test("a trailing slash asks for directories", () => {
  const glob = compileGlob("src/*/");
  assert.equal(matchGlob(glob, "src/deep", true), true);
  assert.equal(matchGlob(glob, "src/deep", false), false);
});

Deno.test(".. after a wildcard is refused", () => {
  assert.throws(() => compileGlob("*/../x"), /after a wildcard/);
});

Deno.test("literalStarts names every directory that a pattern begins in", () => {
  const starts = (pattern: string) => literalStarts(pattern).map(({ directory, rest }) => [directory, rest]);
  assert.deepEqual(starts("**/*.ts"), [["", "**/*.ts"]]);
  assert.deepEqual(starts("src/deep/*.ts"), [["src/deep", "*.ts"]]);
  assert.deepEqual(starts("src/a.ts"), [["src", "a.ts"]]);
  assert.deepEqual(starts("../*"), [["..", "*"]]);
  assert.deepEqual(starts(".."), [["..", ""]]);
  assert.deepEqual(starts("src/../../x/*"), [["src/../../x", "*"]]);
  assert.deepEqual(starts("/etc/*"), [["/etc", "*"]]);
  assert.deepEqual(starts("/*"), [["/", "*"]]);
  assert.deepEqual(starts("src/"), [["", "src/"]]);
  assert.deepEqual(
    starts("{../x,y}/*").map(([directory]) => directory).sort(),
    ["../x", "y", "{../x,y}"],
  );
});

Deno.test("the state tells which directories need not be entered", () => {
  const glob = compileGlob("src/*/x.ts");
  const state = startState(glob);
  assert.equal(isDead(descend(glob, state, "lib")), true);
  assert.equal(isDead(descend(glob, state, "src")), false);
  assert.equal(isDead(descend(glob, descend(glob, descend(glob, state, "src"), "a"), "b")), true);
});

Deno.test("matching takes no more than pattern × name steps", () => {
  // Backtracking over each star would need more steps than there are atoms.
  assert.equal(compileName("*a".repeat(60) + "b")("a".repeat(4000)), false);
  assert.equal(matching(`${"**/a/".repeat(40)}b`, ["a/".repeat(400) + "c"]).length, 0);
});
