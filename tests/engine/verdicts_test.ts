import assert from "node:assert/strict";
import { passes, readConsent } from "../../src/engine/verdicts.ts";

const consents: readonly (readonly [string, ReturnType<typeof readConsent>])[] = [
  ["yes", "once"],
  ["y", "once"],
  ["Yes - once", "once"],
  ["**Yes**, go ahead, but do not push", "once"],
  ["yes, but not always", "once"],
  ["always", "always"],
  ["Yes always.", "always"],
  ["yes, always", "always"],
  ["always? no", "unclear"],
  ["no", "no"],
  ["No way", "no"],
  ["n", "no"],
  ["nope", "unclear"],
  ["not now", "unclear"],
  ["You should not", "unclear"],
  ["yesterday", "unclear"],
  ["yes?", "unclear"],
  ["yes or no: no", "unclear"],
  ["yes/no", "unclear"],
  ["yes and no", "unclear"],
  ["yes-man says no", "unclear"],
  ["", "unclear"],
  ["I think yes", "unclear"],
];
for (const [text, expected] of consents) {
  Deno.test(`consent: ${JSON.stringify(text)} is ${expected}`, () =>
    assert.equal(readConsent(text), expected));
}

const verdicts: readonly (readonly [string | null, boolean])[] = [
  ["VERDICT: PASS", true],
  ["Good. VERDICT: PASS", true],
  ["Fine.\n\n**VERDICT: PASS**\n", true],
  ["`VERDICT: PASS`.", true],
  ["verdict: pass", true],
  ["VERDICT: PASS\nBut wait, fix this", false],
  ["VERDICT: CHANGES", false],
  ["VERDICT: PASSABLE", false],
  ['End with "VERDICT: PASS"', false],
  ["I would not say VERDICT: PASS", false],
  ["Not yet a VERDICT: PASS", false],
  ["VERDICT: PASS or VERDICT: CHANGES", false],
  ["VERDICT: CHANGES, not VERDICT: PASS", false],
  ["> VERDICT: PASS", false],
  ["VERDICT: PASS if you fix it", false],
  ["", false],
  [null, false],
];
for (const [text, expected] of verdicts) {
  Deno.test(`verdict: ${JSON.stringify(text)} ${expected ? "passes" : "does not pass"}`, () =>
    assert.equal(passes(text, "VERDICT:"), expected));
}

Deno.test("verdict: another word may be configured, signs of patterns included", () => {
  assert.equal(passes("Result (final): PASS", "Result (final):"), true);
  assert.equal(passes("Result xfinalx: PASS", "Result (final):"), false);
  // A marker that names the outcome itself means the same.
  assert.equal(passes("Good.\nVERDICT: PASS", "VERDICT: PASS"), true);
  assert.equal(passes("VERDICT: CHANGES", "VERDICT: PASS"), false);
  assert.equal(passes("VERDICT: PASS PASS", "VERDICT: PASS"), false);
});
