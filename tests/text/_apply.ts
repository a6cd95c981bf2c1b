/**
 * Applies unified diffs in tests.
 *
 * @module
 */
import assert from "node:assert/strict";

/** Applies a diff as `patch` does, without any fuzz. */
export function applyDiff(before: string, diff: string): string {
  const old = before.split("\n").map((line, i, all) => i < all.length - 1 ? `${line}\n` : line).filter((l) =>
    l !== ""
  );
  const out: string[] = [], lines = diff === "" ? [] : diff.split("\n");
  let at = 0;
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i]!;
    const head = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@$/.exec(line);
    if (head) {
      const start = Number(head[1]), count = Number(head[2] ?? 1), from = count === 0 ? start : start - 1;
      while (at < from) out.push(old[at++]!);
      continue;
    }
    if (line.startsWith("\\")) continue;
    const text = line.slice(1) + (lines[i + 1]?.startsWith("\\") ? "" : "\n");
    if (line[0] !== "+") assert.equal(old[at++], text, `context of ${diff}`);
    if (line[0] !== "-") out.push(text);
  }
  return [...out, ...old.slice(at)].join("");
}
