/**
 * "Did you mean …?": the candidate that a mistyped word was most likely meant to be.
 *
 * @module
 */

/** Words longer than this are no typing slips; comparing them costs more than it tells. */
const LONGEST = 80;

/**
 * The candidate nearest to `word` by edit distance (insert, delete, replace, swap of neighbours; case does not
 * count), or null when none is near: a third of the word may differ, one letter always. Of equally near ones the one
 * whose length is nearest wins, then the first.
 */
export function nearest(word: string, candidates: Iterable<string>): string | null {
  const wanted = word.toLowerCase();
  if (wanted === "" || wanted.length > LONGEST) return null;
  let best: string | null = null, least = Math.max(1, Math.floor(wanted.length / 3)) + 1;
  for (const candidate of candidates) {
    const difference = Math.abs(candidate.length - wanted.length);
    if (difference > least) continue;
    // Less than one edit apart in weight: length only decides between equals.
    const distance = editDistance(wanted, candidate.toLowerCase()) + difference / 1000;
    if (distance < least) [best, least] = [candidate, distance];
  }
  return best;
}

/** Edits that turn `a` into `b`: insertions, deletions, replacements and swaps of neighbouring letters. */
export function editDistance(a: string, b: string): number {
  let before: number[] = [], last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, before[j - 2]! + 1);
      }
      row.push(cost);
    }
    [before, last] = [last, row];
  }
  return last[b.length]!;
}
