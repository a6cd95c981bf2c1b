/**
 * Why a text was not found in a file, as far as that can be told: what saves the next attempt.
 *
 * @module
 */
import { nearest } from "../src/text/nearest.ts";

/** Longer texts are not looked through. */
const LARGEST = 4 * 1024 * 1024;
const MOST_LINES_COMPARED = 5_000;

type Fold = (line: string) => string;

const blanks: Fold = (line) => line.replace(/\s+/g, " ").trim();
const noBlanks: Fold = (line) => line.replace(/\s+/g, "");
const plain: Fold = (line) =>
  line.normalize("NFKC").replace(/[\u2018\u2019\u201b]/g, "'").replace(/[\u201c\u201d\u201f]/g, '"')
    .replace(/[\u2010-\u2015\u2212]/g, "-").replace(/[\u200b-\u200d\ufeff]/g, "");

/** What a text may differ in from a place of the file, from little to much. */
const FOLDS: readonly (readonly [Fold, string])[] = [
  [blanks, "in whitespace (indentation, tabs or blanks at line ends)"],
  [noBlanks, "in whitespace"],
  [plain, "in Unicode characters that look alike (quotes, dashes, composed letters)"],
  [(line) => noBlanks(plain(line)), "in whitespace and in Unicode characters that look alike"],
  [(line) => noBlanks(plain(line)).toLowerCase(), "in upper and lower case, or whitespace"],
];

/**
 * One clause for the error message, or an empty string.
 *
 * @param text the file's
 * @param old what was not found in it
 */
export function whyNotFound(text: string, old: string): string {
  if (text.length > LARGEST || old.length > LARGEST) return "";
  const unnumbered = old.split("\n").map((line) => line.replace(/^ *\d+\|/, ""));
  if (unnumbered.join("\n") !== old && locate(text.split("\n"), unnumbered, blanks) !== null) {
    return "old carries the line numbers of file_read; leave out everything up to the |";
  }
  if (!old.includes("\n") && /\\[nt]/.test(old)) {
    const meant = old.replaceAll("\\n", "\n").replaceAll("\\t", "\t");
    if (text.replaceAll("\r\n", "\n").includes(meant)) {
      return "old has \\n or \\t as two characters where the file has a line break or tab";
    }
  }
  const lines = text.split("\n"), wanted = old.split("\n");
  for (const [fold, what] of FOLDS) {
    const at = locate(lines, wanted, fold);
    if (at === null) continue;
    const [from, to] = at;
    const where = from === to ? `line ${from}` : `lines ${from}-${to}`;
    return `it differs from ${where} only ${what}; copy the text exactly as it stands there`;
  }
  return firstLineHint(lines, wanted);
}

/** First and last line, 1-based, of the place that equals `wanted` when both are folded. */
function locate(lines: readonly string[], wanted: readonly string[], fold: Fold): [number, number] | null {
  let want = wanted.map(fold), skipped = 0;
  // Line breaks at either end of the text that is looked for are no lines of their own.
  while (want.length > 1 && want[want.length - 1] === "") want = want.slice(0, -1);
  while (want.length > 1 && want[0] === "") [want, skipped] = [want.slice(1), skipped + 1];
  if (want.every((line) => line === "")) return null;
  const have = lines.map(fold), last = want.length - 1;
  for (let at = 0; at + last < have.length; at++) {
    const hit = last === 0
      ? have[at]!.includes(want[0]!)
      : have[at]!.endsWith(want[0]!) && have[at + last]!.startsWith(want[last]!) &&
        want.slice(1, last).every((line, i) => line === have[at + 1 + i]);
    if (hit) return [at + 1, at + 1 + last];
  }
  return null;
}

/** Where the text begins to differ, or the line that is most like its first. */
function firstLineHint(lines: readonly string[], wanted: readonly string[]): string {
  const want = wanted.map(blanks), have = lines.slice(0, MOST_LINES_COMPARED * 20).map(blanks);
  const first = want.findIndex((line) => line !== "");
  if (first === -1) return "";
  let best = -1, length = 0;
  for (let at = 0; at < have.length; at++) {
    if (have[at] !== want[first] || want[first]!.length < 4) continue;
    let same = 1;
    while (first + same < want.length && have[at + same] === want[first + same]) same++;
    if (same > length) [best, length] = [at, same];
  }
  if (best !== -1 && first + length < want.length) {
    return `its beginning stands at line ${best + 1}, but line ${best + length + 1} differs from it`;
  }
  const near = nearest(want[first]!, new Set(have.slice(0, MOST_LINES_COMPARED)));
  if (near === null || near.length < 4) return "";
  const shown = near.length > 80 ? `${near.slice(0, 80)}…` : near;
  return `the nearest is line ${have.indexOf(near) + 1}: ${shown}`;
}
