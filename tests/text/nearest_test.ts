import { deepEqual, equal } from "node:assert/strict";
import { editDistance, nearest } from "../../src/text/nearest.ts";

Deno.test("the nearest word is found through each kind of slip", () => {
  const words = ["tool_permission", "tools", "model", "mode", "memory"];
  for (
    const [typed, meant] of [
      ["tool_permision", "tool_permission"],
      ["toosl", "tools"],
      ["MODEL", "model"],
      ["modle", "model"],
      ["emory", "memory"],
    ] as const
  ) equal(nearest(typed, words), meant, typed);
});

Deno.test("a word that is far from all has no nearest", () => {
  equal(nearest("zzz", ["model", "mode"]), null);
  equal(nearest("", ["a"]), null);
  equal(nearest("x".repeat(10_000), ["x".repeat(9_999)]), null);
  equal(nearest("ab", []), null);
  equal(nearest("ab", ["xy"]), null);
});

Deno.test("of equally near words the first one counts, and an exact one beats all", () => {
  equal(nearest("cat", ["bat", "hat", "cat"]), "cat");
  equal(nearest("cat", ["bat", "hat"]), "bat");
});

Deno.test("distances count insertions, deletions, replacements and swaps", () => {
  const pairs: [string, string, number][] = [
    ["", "", 0],
    ["", "abc", 3],
    ["abc", "", 3],
    ["kitten", "sitting", 3],
    ["ab", "ba", 1],
    ["abcd", "acbd", 1],
    ["same", "same", 0],
  ];
  deepEqual(pairs.map(([a, b]) => editDistance(a, b)), pairs.map(([, , n]) => n));
});
