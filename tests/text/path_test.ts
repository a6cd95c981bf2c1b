import assert from "node:assert/strict";
import {
  basename,
  dirname,
  extname,
  isAbsolute,
  isWithin,
  join,
  normalize,
  relative,
  rootOf,
  toSlashes,
} from "../../src/text/path.ts";

Deno.test("normalize resolves dots and repeated slashes as text", () => {
  const rows: [string, string][] = [
    ["", "."],
    [".", "."],
    ["a/./b", "a/b"],
    ["a//b/", "a/b"],
    ["a/../..", ".."],
    ["../../x", "../../x"],
    ["/", "/"],
    ["/..", "/"],
    ["/../a", "/a"],
    ["..cache/b", "..cache/b"],
    ["a/b/../../c", "c"],
  ];
  for (const [path, expected] of rows) assert.equal(normalize(path), expected, path);
});

Deno.test("join starts anew at an absolute part", () => {
  assert.equal(join("/a", "b", "../c"), "/a/c");
  assert.equal(join("/a", "/b"), "/b");
  assert.equal(join("a", "", "b"), "a/b");
  assert.equal(join(), ".");
});

Deno.test("the parts of a path", () => {
  assert.deepEqual([dirname("/a/b"), dirname("/a"), dirname("/"), dirname("a"), dirname("a/b")], [
    "/a",
    "/",
    "/",
    ".",
    "a",
  ]);
  assert.deepEqual([basename("/a/b.txt"), basename("/"), basename("a/")], ["b.txt", "", "a"]);
  assert.deepEqual([extname("a/b.tar.gz"), extname(".gitignore"), extname("a")], [".gz", "", ""]);
  assert.deepEqual([rootOf("/a"), rootOf("a"), isAbsolute("/a"), isAbsolute("./a")], ["/", "", true, false]);
});

Deno.test("isWithin compares whole names", () => {
  assert.equal(isWithin("/work/a", "/work"), true);
  assert.equal(isWithin("/work", "/work"), true);
  assert.equal(isWithin("/work-evil/a", "/work"), false);
  assert.equal(isWithin("/a", "/"), true);
  assert.equal(isWithin("/", "/a"), false);
});

Deno.test("relative leads from one path to the other", () => {
  assert.equal(relative("/a/b", "/a/b"), ".");
  assert.equal(relative("/a/b", "/a/c/d"), "../c/d");
  assert.equal(relative("/", "/a"), "a");
  for (const [from, to] of [["/a/b", "/c"], ["/x", "/x/y/z"], ["/q/r/s", "/"]] as const) {
    assert.equal(join(from, relative(from, to)), to);
  }
});

Deno.test("a backslash separates on Windows alone", () => {
  assert.equal(toSlashes("a\\b"), Deno.build.os === "windows" ? "a/b" : "a\\b");
});
