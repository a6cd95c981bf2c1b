import assert from "node:assert/strict";
import { clipDiff, unifiedDiff } from "../../src/text/diff.ts";
import { applyDiff } from "./_apply.ts";

Deno.test("equal texts have no diff", () => {
  assert.equal(unifiedDiff("a\nb\n", "a\nb\n"), "");
  assert.equal(unifiedDiff("", ""), "");
});

Deno.test("hunks have three lines of context and the numbers of both sides", () => {
  const lines = Array.from({ length: 20 }, (_, i) => `l${i + 1}`);
  const before = lines.join("\n") + "\n";
  const after = before.replace("l2\n", "L2\n").replace("l18\n", "l18\nnew\n");
  assert.equal(
    unifiedDiff(before, after),
    "@@ -1,5 +1,5 @@\n l1\n-l2\n+L2\n l3\n l4\n l5\n@@ -16,5 +16,6 @@\n l16\n l17\n l18\n+new\n l19\n l20",
  );
});

Deno.test("changes that lie close together share a hunk", () => {
  const before = "a\n1\n2\n3\n4\n5\n6\nb\n", after = before.replace("a", "A").replace("b", "B");
  assert.equal(unifiedDiff(before, after).match(/@@ -/g)?.length, 1);
});

Deno.test("a missing last line break is told", () => {
  assert.equal(unifiedDiff("a\n", "a"), "@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file");
  assert.equal(unifiedDiff("", "x"), "@@ -0,0 +1 @@\n+x\n\\ No newline at end of file");
  assert.equal(unifiedDiff("x\n", ""), "@@ -1 +0,0 @@\n-x");
});

Deno.test("the first line's number may be another", () => {
  assert.equal(unifiedDiff("a\n", "b\n", { firstLine: 41 }), "@@ -41 +41 @@\n-a\n+b");
});

Deno.test("clipDiff counts what it leaves out", () => {
  assert.equal(clipDiff("1\n2\n3", 3), "1\n2\n3");
  assert.equal(clipDiff("1\n2\n3", 2), "1\n2\n… (1 more diff lines)");
});

Deno.test("applying a diff to the old text gives the new one", () => {
  let seed = 7;
  const random = (below: number) => (seed = (seed * 48271) % 2147483647) % below;
  const text = () =>
    Array.from({ length: random(40) }, () => "abc\r "[random(5)]).join("\n") + (random(2) === 0 ? "\n" : "");
  for (let round = 0; round < 2000; round++) {
    const before = text();
    const after = round % 3 === 0
      ? text()
      : before.split("\n").flatMap((line) => random(6) === 0 ? [] : random(6) === 0 ? [line, "new"] : [line])
        .join("\n");
    const context = random(5);
    assert.equal(
      applyDiff(before, unifiedDiff(before, after, { context })),
      after,
      JSON.stringify([before, after]),
    );
  }
});

Deno.test("texts that differ too much for a comparison still give a diff that applies", () => {
  const lines = (n: number, salt: string) =>
    Array.from({ length: n }, (_, i) => `${salt}${i}`).join("\n") + "\n";
  const before = `same\n${lines(3000, "a")}end\n`, after = `same\n${lines(3000, "b")}end\n`;
  const diff = unifiedDiff(before, after);
  assert.equal(applyDiff(before, diff), after);
  assert.equal(diff.startsWith("@@ -1,3002 +1,3002 @@\n same\n-a0\n"), true);
});
