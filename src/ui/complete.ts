/**
 * Completing what is typed: what there is to choose from comes from outside, what Tab does with it stands here.
 *
 * @module
 */
import { cleanForTerminal } from "../text/ansi.ts";
import { cutToWidth, displayWidth } from "../text/width.ts";

/** One way to go on. */
export interface CompletionItem {
  /** Replaces what stands between {@link Completion.from} and the cursor; a blank at its end is part of it. */
  readonly text: string;
  /** A few words beside it in the list. Not yet cleaned for a terminal, like the text. */
  readonly hint?: string;
}

/** All ways to go on at a cursor. */
export interface Completion {
  /** Where in the line the replaced text begins: a UTF-16 offset. */
  readonly from: number;
  readonly items: readonly CompletionItem[];
}

/** Finds completions. `cursor` is a UTF-16 offset in `line`, which is the whole text with all its lines. */
export type Completer = (line: string, cursor: number) => Promise<Completion>;

/** The longest beginning that all texts have in common. */
export function commonStart(texts: readonly string[]): string {
  let [start = ""] = texts;
  for (const text of texts) {
    let length = 0;
    while (length < start.length && start[length] === text[length]) length++;
    start = start.slice(0, length);
  }
  // Half a character is none.
  return start.isWellFormed() ? start : start.slice(0, -1);
}

const MOST_ROWS = 40;

/** Completions as lines of at most `columns`: with a hint each on a line of its own, else in columns. Safe for a terminal. */
export function listCompletions(items: readonly CompletionItem[], columns: number): string[] {
  const clean = (text: string) => cleanForTerminal(text.trim(), { line: true });
  const room = Math.max(4, columns - 1), texts = items.map(({ text }) => clean(text));
  const widest = Math.max(0, ...texts.map((text) => displayWidth(text)));
  const lines: string[] = [];
  if (items.some(({ hint }) => hint)) {
    const width = Math.min(widest, Math.max(8, Math.floor(room / 2)));
    for (const [i, { hint }] of items.entries()) {
      const gap = " ".repeat(Math.max(0, width - displayWidth(texts[i]!)));
      lines.push(cutToWidth(`${texts[i]}${gap}  ${clean(hint ?? "")}`.trimEnd(), room, "…"));
    }
  } else {
    const cell = Math.min(room, widest + 2), across = Math.max(1, Math.floor(room / cell));
    const down = Math.ceil(texts.length / across);
    for (let row = 0; row < down; row++) {
      let line = "";
      for (let i = row; i < texts.length; i += down) {
        const text = cutToWidth(texts[i]!, room, "…");
        line += text + " ".repeat(Math.max(0, cell - displayWidth(text)));
      }
      lines.push(line.trimEnd());
    }
  }
  const left = lines.length - MOST_ROWS;
  return left <= 1 ? lines : [...lines.slice(0, MOST_ROWS), `… (${left} more lines)`];
}
