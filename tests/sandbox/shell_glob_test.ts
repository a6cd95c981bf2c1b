import assert from "node:assert/strict";
import { byCodePoints, expandPattern, matchName } from "../../src/sandbox/_shell_glob.ts";
import { makeWorktree } from "../helpers/worktree.ts";

const NAMES = [
  "a.txt",
  "b.txt",
  "B.txt",
  "c",
  "d/x.md",
  "d/y.md",
  "d/.z",
  "d/e/f",
  ".hidden",
  ".h2/x",
  "sp ace",
  "[a",
  "a]b",
  "*",
  "?",
  "a*b",
  "-x",
  "é",
  "日本",
  "😀",
  "\u{ff5e}",
  "10",
  "2",
  "a\\b",
  "x^",
  "x-",
  "!y",
  "~",
  "{a,b}",
  "_",
  "Z",
  "z",
  "quo'te",
  'dq"',
  "e/",
];

/** The file system below a folder, for the expander. */
function source(root: string) {
  const at = (path: string) => path.startsWith("/") ? path : `${root}/${path}`;
  const look = <T>(otherwise: T, what: () => T): T => {
    try {
      return what();
    } catch {
      return otherwise;
    }
  };
  return {
    list: (path: string) =>
      look(
        [],
        () => [...Deno.readDirSync(at(path))].map(({ name, isFile }) => ({ name, mayDescend: !isFile })),
      ),
    isDirectory: (path: string) => look(false, () => Deno.statSync(at(path)).isDirectory),
    exists: (path: string) => look(false, () => Deno.lstatSync(at(path)) !== undefined),
  };
}

const PATTERNS = [
  "*",
  "*.txt",
  "?.txt",
  "[ab].txt",
  "[!ab].txt",
  "[^a].txt",
  "[a-c]*",
  "[]a]*",
  "[!]]*",
  "[a",
  "[[]a",
  "a]b",
  ".*",
  ".h*",
  "*/",
  "*/*",
  "d/*",
  "d/.*",
  "d/?.md",
  "*/x.md",
  "*/nothing",
  "**",
  "**/*",
  "d/**",
  "./*.txt",
  "d/../*.txt",
  "*/../c",
  "d//*.md",
  "./d/./*.md",
  "[[:upper:]]*",
  "[[:digit:]]*",
  "[![:alnum:]]*",
  "[[:bad:]]*",
  "??",
  "?",
  "*a*b*",
  "[x]*",
  "[^-a]*",
  "[a-]*",
  "[-x]*",
  "\\*",
  "a\\*b",
  "[\\*]",
  "[*]",
  "[?]",
  "\\[a",
  "s*\\ *",
  "-*",
  "é*",
  "?本",
  "*[é]",
  "[z-a]",
  "none*",
  "*.none",
  "d/e/*",
  "d/e/*/",
  "d/*/f",
  "[.]*",
  "[.h]*",
  "*/.*",
  "x[\\^-]",
  "\\!*",
  "[!!]*",
  "~*",
  "{*",
  "a\\\\*",
  "*'*",
  "[",
  "[]",
  "[!]",
  "[]-a]*",
  "*[",
  "a[",
  "*]",
  "d[/]x.md",
  "[d/]*",
  "d\\/*",
  "/*nothing*",
  "e*/",
  "c/",
  "c/*",
  "*/./x.md",
];

Deno.test({
  name: "patterns expand to what bash expands them to, in its order",
  ignore: Deno.build.os === "windows",
  fn() {
    using tree = makeWorktree({
      files: Object.fromEntries(NAMES.filter((name) => !name.endsWith("/")).map((name) => [name, ""])),
      links: { dl: "d", dangling: "nowhere" },
    });
    Deno.mkdirSync(`${tree.work}/e`);
    // In the patterns here a backslash quotes, as it does in bash's source.
    const text = PATTERNS.map((pattern) =>
      `printf '%s\\037' ${
        pattern.replace(/[~{}' ,!^]/g, (char) => char === "!" || char === "^" ? char : `\\${char}`)
          .replaceAll("\\\\ ", "\\ ")
      }; printf '\\036'`
    ).join("\n");
    const child = new Deno.Command("/bin/bash", {
      args: ["-c", text],
      cwd: tree.work,
      clearEnv: true,
      env: { LC_ALL: "C.UTF-8" },
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).outputSync();
    assert.equal(new TextDecoder().decode(child.stderr), "");
    const expected = new TextDecoder().decode(child.stdout).split("\x1e");
    PATTERNS.forEach((pattern, i) => {
      const bash = expected[i]!.split("\x1f").slice(0, -1);
      const ours = expandPattern(pattern, source(tree.work));
      const literal = pattern.replace(/\\(.)/g, "$1");
      assert.deepEqual(ours.length > 0 ? ours : [literal], bash, pattern);
    });
  },
});

Deno.test("a name matches a pattern in time that does not explode", () => {
  assert.equal(matchName(`${"*a".repeat(200)}b`, "a".repeat(5000)), false);
  assert.equal(matchName("*".repeat(5000), "a"), true);
});

Deno.test("too many matches are an error, not a flood", () => {
  const many = Array.from({ length: 30_000 }, (_, i) => ({ name: `f${i}`, mayDescend: false }));
  assert.throws(
    () => expandPattern("f*", { list: () => many, isDirectory: () => false, exists: () => true }),
    RangeError,
  );
});

Deno.test("order is that of code points, not of UTF-16", () => {
  assert.deepEqual(["😀", "\uff5e", "b", "a", "ab", "B"].sort(byCodePoints), [
    "B",
    "a",
    "ab",
    "b",
    "\uff5e",
    "😀",
  ]);
});
