import assert from "node:assert/strict";
import { toolResult } from "../../src/tool.ts";
import { capResult, isErrorText, splitOutput } from "../../src/registry/result.ts";

const lines = (n: number) => Array.from({ length: n }, (_, i) => `line ${i + 1}`).join("\n");

Deno.test("a result within the cap, or without one, is untouched", () => {
  assert.equal(capResult("abc", 3), "abc");
  assert.equal(capResult(lines(1000), 0), lines(1000));
});

Deno.test("a result over the cap is cut at a line boundary and says so on a line of its own", () => {
  const out = capResult(lines(100), 50);
  assert.match(out, /^line 1\n[\s\S]*line \d\n\.\.\. \(truncated\)$/);
  assert.ok(out.length <= 50 + "\n... (truncated)".length);
});

Deno.test("one line longer than the cap is cut inside, so that something useful is left", () => {
  assert.equal(capResult(`# head\n${"x".repeat(500)}`, 100), `# head\n${"x".repeat(93)}\n... (truncated)`);
});

Deno.test("a cut never leaves half a character", () => {
  for (const max of [10, 11, 12, 13]) {
    for (const where of ["end", "middle"] as const) {
      const out = capResult("🎉".repeat(50), max, where);
      assert.ok(out.isWellFormed(), `${max} ${where}`);
    }
  }
});

Deno.test("a middle cut keeps head and tail and counts what is missing", () => {
  const text = lines(1000), out = capResult(text, 200, "middle");
  assert.match(out, /^line 1\n/);
  assert.match(out, /\nline 1000$/);
  const [, count, characters] = /\n\.\.\. \(truncated\) (\d+) lines, (\d+) characters left out\n/.exec(out)!;
  const kept = out.split("\n").filter((l) => l.startsWith("line")).length;
  assert.equal(kept + Number(count), 1000);
  assert.equal(out.replace(/\n\.\.\. \(truncated\)[^\n]*\n/, "").length + Number(characters), text.length);
});

Deno.test("text for the model and details for the person are kept apart; JSON becomes text", () => {
  assert.deepEqual(splitOutput("x"), { content: "x", details: null });
  assert.deepEqual(splitOutput({ a: [1] }), { content: '{"a":[1]}', details: null });
  assert.deepEqual(splitOutput(toolResult("y", { diff: "+a" })), { content: "y", details: { diff: "+a" } });
  assert.deepEqual(splitOutput(undefined), { content: "", details: null });
  assert.equal(splitOutput("bad \uD800 half").content, "bad \uFFFD half");
});

Deno.test("an error is told by its first words, not by the word Error somewhere", () => {
  for (const text of ["Error: x", "Error reading a.txt: denied", "Error writing a: full"]) {
    assert.ok(isErrorText(text), text);
  }
  for (const text of ["Error handling in Go: a guide", "Errors: 3", "x\nError: y", "Error:1: text", ""]) {
    assert.ok(!isErrorText(text), text);
  }
});
