/**
 * Unified diffs of texts, line by line.
 *
 * Source: E. Myers, "An O(ND) Difference Algorithm and Its Variations" (1986), the greedy algorithm; the format is
 * that of `diff -u` (POSIX).
 *
 * @module
 */

/** What {@link unifiedDiff} may be told. */
export interface DiffOptions {
  /** Lines of context around a change. Default 3. */
  readonly context?: number;
  /** Number of the first line, where the texts are a part of a file. Default 1. */
  readonly firstLine?: number;
}

/** The longest edit script that is searched for; texts that differ more show as one block replaced by another. */
const MOST_EDITS = 2_000;
/** Bound on the work of one comparison, in steps. */
const MOST_STEPS = 100_000_000;

/** A run of lines that stay, go or come. */
interface Run {
  readonly kind: " " | "-" | "+";
  readonly lines: readonly string[];
}

/**
 * The hunks of a unified diff, without the two lines that name the files; empty for equal texts. A last line without
 * its `\n` is followed by the usual remark.
 *
 * @param before old text; lines end at `\n`, a `\r` belongs to its line
 * @param after new text
 */
export function unifiedDiff(before: string, after: string, options: DiffOptions = {}): string {
  if (before === after) return "";
  const context = options.context ?? 3, runs = compare(keepEnds(before), keepEnds(after)), out: string[] = [];
  let hunk = new Hunk(options.firstLine ?? 1, options.firstLine ?? 1);
  for (const [i, { kind, lines }] of runs.entries()) {
    const first = i === 0, last = i === runs.length - 1, size = lines.length;
    if (kind !== " " || (!first && !last && size <= context * 2)) {
      hunk.push(kind, lines);
      continue;
    }
    const head = first ? 0 : Math.min(context, size), tail = last ? 0 : Math.min(context, size);
    hunk.push(" ", lines.slice(0, head));
    hunk.close(out);
    const skipped = size - head - tail;
    hunk = new Hunk(hunk.oldLine + skipped, hunk.newLine + skipped);
    hunk.push(" ", lines.slice(size - tail));
  }
  hunk.close(out);
  return out.join("\n");
}

/** A hunk in the making. */
class Hunk {
  /** Line numbers of what comes next. */
  oldLine: number;
  newLine: number;
  readonly #oldStart: number;
  readonly #newStart: number;
  readonly #lines: string[] = [];
  #changed = false;

  constructor(oldLine: number, newLine: number) {
    this.oldLine = this.#oldStart = oldLine;
    this.newLine = this.#newStart = newLine;
  }

  push(kind: Run["kind"], lines: readonly string[]): void {
    for (const line of lines) {
      this.#lines.push(
        kind + (line.endsWith("\n") ? line.slice(0, -1) : `${line}\n\\ No newline at end of file`),
      );
    }
    if (kind !== "+") this.oldLine += lines.length;
    if (kind !== "-") this.newLine += lines.length;
    this.#changed ||= kind !== " " && lines.length > 0;
  }

  close(out: string[]): void {
    if (!this.#changed) return;
    const old = range(this.#oldStart, this.oldLine), now = range(this.#newStart, this.newLine);
    out.push(`@@ -${old} +${now} @@`);
    for (const line of this.#lines) out.push(line);
  }
}

/** The first `most` lines of a diff, and a line that counts the rest. */
export function clipDiff(diff: string, most: number): string {
  const lines = diff.split("\n");
  if (lines.length <= most) return diff;
  return [...lines.slice(0, most), `… (${lines.length - most} more diff lines)`].join("\n");
}

function range(start: number, end: number): string {
  const count = end - start;
  if (count === 1) return String(start);
  return `${count === 0 ? start - 1 : start},${count}`;
}

/** Lines with their `\n`, so that a missing one at the end is a difference. */
function keepEnds(text: string): string[] {
  const lines = text.split("\n"), last = lines.pop()!;
  for (let i = 0; i < lines.length; i++) lines[i] += "\n";
  if (last !== "") lines.push(last);
  return lines;
}

function compare(before: readonly string[], after: readonly string[]): Run[] {
  let head = 0, oldEnd = before.length, newEnd = after.length;
  while (head < oldEnd && head < newEnd && before[head] === after[head]) head++;
  while (oldEnd > head && newEnd > head && before[oldEnd - 1] === after[newEnd - 1]) oldEnd--, newEnd--;
  const runs: Run[] = [];
  const add = (kind: Run["kind"], lines: readonly string[]) => {
    if (lines.length > 0) runs.push({ kind, lines });
  };
  add(" ", before.slice(0, head));
  let [x, y] = [head, head];
  for (const [from, to, length] of commonRuns(before.slice(head, oldEnd), after.slice(head, newEnd))) {
    add("-", before.slice(x, head + from));
    add("+", after.slice(y, head + to));
    add(" ", before.slice(head + from, head + from + length));
    [x, y] = [head + from + length, head + to + length];
  }
  add("-", before.slice(x, oldEnd));
  add("+", after.slice(y, newEnd));
  add(" ", before.slice(oldEnd));
  return runs;
}

/** Runs of equal lines `[old index, new index, length]` in order; none where the texts differ too much to compare. */
function commonRuns(before: readonly string[], after: readonly string[]): [number, number, number][] {
  const ids = new Map<string, number>();
  const number = (line: string) => {
    const known = ids.get(line);
    if (known !== undefined) return known;
    ids.set(line, ids.size);
    return ids.size - 1;
  };
  const a = Int32Array.from(before, number), b = Int32Array.from(after, number);
  const n = a.length, m = b.length;
  const most = Math.min(n + m, MOST_EDITS, Math.floor(MOST_STEPS / (n + m + 1)));
  const furthest = new Int32Array(2 * most + 3), trace: Int32Array[] = [];
  const zero = most + 1;
  for (let d = 0; d <= most; d++) {
    for (let k = -d; k <= d; k += 2) {
      const down = k === -d || (k !== d && furthest[zero + k - 1]! < furthest[zero + k + 1]!);
      let x = down ? furthest[zero + k + 1]! : furthest[zero + k - 1]! + 1, y = x - k;
      while (x < n && y < m && a[x] === b[y]) x++, y++;
      furthest[zero + k] = x;
      if (x >= n && y >= m) return backtrack(trace, d, n, m);
    }
    trace.push(furthest.slice(zero - d - 1, zero + d + 2));
  }
  return [];
}

/** Walks the recorded frontiers back from the end: `trace[d]` holds diagonals -d-1 … d+1. */
function backtrack(
  trace: readonly Int32Array[],
  d: number,
  n: number,
  m: number,
): [number, number, number][] {
  const runs: [number, number, number][] = [];
  let x = n, y = m;
  for (; d > 0; d--) {
    const row = trace[d - 1]!, at = (k: number) => row[k + d]!;
    const k = x - y;
    const down = k === -d || (k !== d && at(k - 1) < at(k + 1));
    const fromX = down ? at(k + 1) : at(k - 1), fromY = fromX - (down ? k + 1 : k - 1);
    const startX = down ? fromX : fromX + 1, startY = down ? fromY + 1 : fromY;
    if (x > startX) runs.push([startX, startY, x - startX]);
    [x, y] = [fromX, fromY];
  }
  if (x > 0) runs.push([0, 0, x]);
  return runs.reverse();
}
