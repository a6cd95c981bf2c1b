import assert from "node:assert/strict";
import { type Piece, ThinkFilter } from "../../src/provider/_think.ts";

/** Thinking and text of an answer that comes in pieces of `size` characters. */
function read(answer: string, size: number): { thinking: string; text: string } {
  const filter = new ThinkFilter();
  const pieces: Piece[] = [];
  for (let i = 0; i < answer.length; i += size) pieces.push(...filter.push(answer.slice(i, i + size)));
  pieces.push(...filter.end());
  const of = (type: string) => pieces.filter((p) => p.type === type).map((p) => p.text).join("");
  return { thinking: of("thinking"), text: of("token") };
}

const CASES: readonly [answer: string, thinking: string, text: string][] = [
  ["plain answer", "", "plain answer"],
  ["", "", ""],
  ["  leading blanks stay", "", "  leading blanks stay"],
  ["<think>a</think>b", "a", "b"],
  ["<thinking>a</thinking>b", "a", "b"],
  ["\n <think>a\nb</think>\n\nanswer", "a\nb", "\n\nanswer"],
  ["<think>a</think><think>b</think>c", "ab", "c"],
  ["<think>never closed", "never closed", ""],
  ["<think>half a tag </thin", "half a tag </thin", ""],
  ["so <thinking>hm</thinking> then", "hm", "so  then"],
  ["an answer about <think> tags", "", "an answer about <think> tags"],
  ["write `<think>` and `</think>`", "", "write `<think>` and `</think>`"],
  ["a < b and <thin", "", "a < b and <thin"],
  ["<thin ice>", "", "<thin ice>"],
  ["<", "", "<"],
  ["stray </think> stays", "", "stray </think> stays"],
  ["<think></think>b", "", "b"],
];

Deno.test("think tags are separated from the answer however it is split", () => {
  for (const [answer, thinking, text] of CASES) {
    for (let size = 1; size <= Math.max(1, answer.length); size++) {
      assert.deepEqual(
        read(answer, size),
        { thinking, text },
        `${JSON.stringify(answer)} in pieces of ${size}`,
      );
    }
  }
});

Deno.test("text is passed on as soon as it is certain", () => {
  const filter = new ThinkFilter();
  assert.deepEqual(filter.push("Hello "), [{ type: "token", text: "Hello " }]);
  assert.deepEqual(filter.push("a <thi"), [{ type: "token", text: "a " }]);
  assert.deepEqual(filter.push("s is not a tag"), [{ type: "token", text: "<this is not a tag" }]);
  const thinker = new ThinkFilter();
  assert.deepEqual(thinker.push("<think>step one"), [{ type: "thinking", text: "step one" }]);
});

Deno.test("an inner block that is not closed is waited for only so long", () => {
  const filter = new ThinkFilter();
  let text = filter.push("see <think>").map((p) => p.text).join("");
  let first = 0;
  for (let i = 1; i <= 20_000; i++) {
    const pieces = filter.push("word word word ");
    if (pieces.length > 0 && first === 0) first = i;
    text += pieces.map((p) => p.text).join("");
  }
  text += filter.end().map((p) => p.text).join("");
  assert.equal(text, "see <think>" + "word word word ".repeat(20_000));
  assert.ok(first > 0 && first < 10_000);
});
