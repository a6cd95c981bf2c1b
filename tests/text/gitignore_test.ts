import assert from "node:assert/strict";
import { type IgnoreRules, isIgnored, parseIgnore } from "../../src/text/gitignore.ts";
import { makeWorktree } from "../helpers/worktree.ts";

/** Ignored, by itself or by a parent, as a walk finds out. */
function ignored(files: Readonly<Record<string, string>>, path: string, directory: boolean): boolean {
  let rules: IgnoreRules | null = null, base = "";
  const names = path.split("/");
  for (const [i, name] of names.entries()) {
    const own = files[`${base}.gitignore`];
    if (own !== undefined) rules = parseIgnore(own, base, rules);
    if (isIgnored(rules, base + name, name, directory || i < names.length - 1)) return true;
    base += `${name}/`;
  }
  return false;
}

function one(text: string, path: string, directory = false): boolean {
  return ignored({ ".gitignore": text }, path, directory);
}

Deno.test("comments, blank lines, line ends and trailing blanks", () => {
  assert.equal(one("# a\n\n   \na.txt\r\n", "a.txt"), true);
  assert.equal(one("#a\n", "#a"), false);
  assert.equal(one("\\#a\n", "#a"), true);
  assert.equal(one("a.txt   \n", "a.txt"), true);
  assert.equal(one("a\\ \n", "a "), true);
  assert.equal(one("\uFEFFa.txt\n", "a.txt"), true);
  assert.equal(parseIgnore("# nothing\n", "", null), null);
});

Deno.test("the last rule that matches decides, and deeper files decide before others", () => {
  assert.equal(one("*.log\n!keep.log\n", "keep.log"), false);
  assert.equal(one("!keep.log\n*.log\n", "keep.log"), true);
  const nested = { ".gitignore": "*.log\n", "sub/.gitignore": "!*.log\n" };
  assert.equal(ignored(nested, "sub/a.log", false), false);
  assert.equal(ignored(nested, "a.log", false), true);
});

Deno.test("nothing below an ignored directory comes back", () => {
  assert.equal(one("build/\n!build/keep.txt\n", "build/keep.txt"), true);
  assert.equal(one("build/*\n!build/keep.txt\n", "build/keep.txt"), false);
});

Deno.test("an unclosed set matches nothing, as in git", () => {
  assert.equal(one("[ab\n", "[ab"), false);
  assert.equal(one("ab\\\n", "ab"), false);
});

Deno.test("the answers are those of git check-ignore", async () => {
  const files: Record<string, string> = {
    ".gitignore": [
      "*.o",
      "/root.txt",
      "build/",
      "docs/*.md",
      "**/cache",
      "deep/**/x.txt",
      "all/**",
      "!all/",
      "!all/keep",
      "foo/**/bar/*.c",
      "[abc].dat",
      "[!a-c].num",
      "[[:digit:]].cls",
      "a?c",
      "sp\\ ace",
      "trail ",
      "\\!bang",
      "\\#hash",
      "mid**dle",
      "/anch/ored",
      "x/",
      "*.tmp",
      "!imp.tmp",
      "star*/y",
      "**/last/",
      "e[x",
      "back\\\\slash",
      "ünï*",
      "[]-].br",
      "?.q",
      "*/once",
    ].join("\n"),
    "sub/.gitignore": "!*.o\n/local\nnested/\n*.sub\r\n",
    "sub/deep/.gitignore": "*\n!.gitignore\n!seen\n",
  };
  const names = [
    "a.o",
    "sub/a.o",
    "root.txt",
    "sub/root.txt",
    "build",
    "build/x",
    "sub/build/y",
    "docs/a.md",
    "docs/in/a.md",
    "cache",
    "p/cache/q",
    "deep/x.txt",
    "deep/a/b/x.txt",
    "all/a",
    "all/keep",
    "all/d/e",
    "foo/bar/a.c",
    "foo/q/bar/a.c",
    "foo/bar/q/a.c",
    "a.dat",
    "d.dat",
    "a.num",
    "z.num",
    "7.cls",
    "x.cls",
    "abc",
    "a/c",
    "sp ace",
    "trail",
    "!bang",
    "#hash",
    "midXXdle",
    "mid/dle",
    "anch/ored",
    "sub/anch/ored",
    "x",
    "x/y",
    "sub/x",
    "t.tmp",
    "imp.tmp",
    "sub/imp.tmp",
    "starA/y",
    "star/z/y",
    "last",
    "m/last/f",
    "e[x",
    "ünïcode",
    "].br",
    "-.br",
    "😀.q",
    "é.q",
    "ab.q",
    "p/once",
    "once",
    "p/p/once",
    "sub/local",
    "sub/q/local",
    "sub/nested/f",
    "nested/f",
    "sub/f.sub",
    "f.sub",
    "sub/deep/hidden",
    "sub/deep/seen",
    "sub/deep/dir/seen",
    ...(Deno.build.os === "windows" ? [] : ["back\\slash"]),
  ];
  using tree = makeWorktree({ files });
  const made = names.filter((name) => {
    try {
      tree.write(`work/${name}`, "");
      return true;
    } catch {
      // The name is a directory of another row already.
      return false;
    }
  });
  const git = async (args: string[], input = "") => {
    const child = new Deno.Command("git", {
      args,
      cwd: tree.work,
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
      clearEnv: true,
      env: { PATH: Deno.env.get("PATH") ?? "", HOME: tree.home, GIT_CONFIG_NOSYSTEM: "1" },
    }).spawn();
    const writer = child.stdin.getWriter();
    await writer.write(new TextEncoder().encode(input));
    await writer.close();
    return new TextDecoder().decode((await child.output()).stdout);
  };
  await git(["init", "-q"]);
  const paths = new Set<string>();
  for (const name of made) {
    const parts = name.split("/");
    for (let i = 1; i <= parts.length; i++) paths.add(parts.slice(0, i).join("/"));
  }
  const asked = [...paths].sort();
  const answer = await git(["check-ignore", "--no-index", "-z", "--stdin"], asked.join("\0") + "\0");
  const expected = new Set(answer.split("\0").filter(Boolean));
  assert.ok(expected.size > 30, `git answered for ${expected.size} paths`);
  for (const path of asked) {
    const directory = Deno.statSync(`${tree.work}/${path}`).isDirectory;
    assert.equal(ignored(files, path, directory), expected.has(path), path);
  }
});
