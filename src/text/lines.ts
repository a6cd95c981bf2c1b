/**
 * Counting in text, the way a reader of results expects: a line ends at `\n` and nowhere else (as in editors and
 * `grep -n`), and a character is a Unicode code point.
 *
 * @module
 */

/** Number of lines: the `\n`s, and one more for text after the last of them. Empty text has none. */
export function countLines(text: string): number {
  if (text === "") return 0;
  let lines = text.endsWith("\n") ? 0 : 1;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) lines++;
  return lines;
}

/** Number of code points. A lone surrogate counts as one. */
export function countChars(text: string): number {
  if (!/[\ud800-\udbff]/.test(text)) return text.length;
  let pairs = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0xd800 || unit > 0xdbff) continue;
    const next = text.charCodeAt(i + 1);
    if (next >= 0xdc00 && next <= 0xdfff) pairs++, i++;
  }
  return text.length - pairs;
}

/** The lines without their `\n`; a final `\n` opens no further line. */
export function splitLines(text: string): string[] {
  if (text === "") return [];
  const lines = text.split("\n");
  if (lines[lines.length - 1] === "") lines.pop();
  return lines;
}

/** The first `count` code points: a pair of surrogates is never cut in two. */
export function takeChars(text: string, count: number): string {
  if (text.length <= count) return text;
  let units = 0;
  for (let taken = 0; taken < count && units < text.length; taken++) {
    units += text.codePointAt(units)! > 0xffff ? 2 : 1;
  }
  return text.slice(0, units);
}

/** `1,234` for numbers in messages. */
export function grouped(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** `1 file`, `2 files`: a count with its noun. */
export function plural(count: number, noun: string, nouns: string = `${noun}s`): string {
  return `${grouped(count)} ${count === 1 ? noun : nouns}`;
}
