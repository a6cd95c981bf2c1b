/**
 * Tables: columns that line up, cells that wrap, and a list of records where the terminal is too narrow for columns.
 *
 * @module
 */
import { displayWidth, wrapText } from "../../text/width.ts";
import type { Style } from "../style.ts";
import { inlineRuns } from "./inline.ts";
import { MARK, painter, type Run } from "./wrap.ts";

/** More columns than this are no table. */
const MOST_COLUMNS = 60;

/** Columns that a cell needs at least where it is wrapped. */
const NARROW = 8;

type Align = "left" | "right" | "center";

/** Whether this line is the one below a table's head: `|---|:-:|`. */
export function isDelimiter(line: string): boolean {
  const bars = line.split("|").length - 1;
  return line.length < 2000 && bars > 0 && bars <= MOST_COLUMNS + 1 &&
    /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/.test(line);
}

/** The cells of a line; `\|` and bars in code are no borders. */
export function cellsOf(line: string): string[] {
  const text = line.trim().replace(/^\|/, "");
  const cells: string[] = [];
  let cell = "", code = false;
  for (let i = 0; i < text.length; i++) {
    const char = text[i]!;
    if (char === "\\" && text[i + 1] === "|") {
      cell += "|";
      i++;
    } else if (char === "|" && !code) {
      cells.push(cell.trim());
      cell = "";
    } else {
      if (char === "`" && (code || text.indexOf("`", i + 1) !== -1)) code = !code;
      cell += char;
    }
  }
  if (cell.trim() !== "") cells.push(cell.trim());
  return cells;
}

/**
 * A table as lines.
 *
 * @param rows lines as written: head, delimiter, body
 * @param columns that there are; not finite: as many as needed
 */
export function formatTable(rows: readonly string[], columns: number, style: Style): string[] {
  const head = cellsOf(rows[0]!), aligns = cellsOf(rows[1]!).map(alignOf);
  const count = Math.max(aligns.length, 1), body = rows.slice(2).map(cellsOf);
  // What stands in more cells than there are columns belongs to the last one.
  const textAt = (cells: readonly string[], i: number) =>
    i === count - 1 ? cells.slice(i).join(" | ") : cells[i] ?? "";
  const all = [head, ...body].map((cells) =>
    Array.from({ length: count }, (_, i): Run[] => {
      const text = textAt(cells, i);
      return style.on ? inlineRuns(text, 0) : [[text, 0]];
    })
  );
  const paint = painter(style),
    wide = Array.from(
      { length: count },
      (_, i) => Math.max(style.on ? 1 : 3, ...all.map((cells) => displayWidth(textOf(cells[i]!)))),
    );
  const widths = Number.isFinite(columns) && columns > 0 ? fit(wide, columns - 3 * count - 1) : wide;
  if (widths === null) return records(all, columns, paint);
  const line = (cells: readonly Run[][], marks: number) => {
    const lines = cells.map((cell, i) => wrapRuns(cell, widths[i]!));
    const height = Math.max(...lines.map((each) => each.length));
    return Array.from({ length: height }, (_, row) => {
      const parts = lines.map((each, i) =>
        pad(each[row] ?? [], widths[i]!, aligns[i] ?? "left", paint, marks)
      );
      return style.on ? ` ${parts.join(` ${style.dim("│")} `)}`.trimEnd() : `| ${parts.join(" | ")} |`;
    });
  };
  const rule = style.on
    ? style.dim(widths.map((width) => "─".repeat(width + 2)).join("┼"))
    : `|${widths.map((width, i) => ruleOf(width, aligns[i] ?? "left")).join("|")}|`;
  return [...line(all[0]!, MARK.bold), rule, ...all.slice(1).flatMap((cells) => line(cells, 0))];
}

function ruleOf(width: number, align: Align): string {
  const line = "-".repeat(width + 2);
  if (align === "left") return line;
  return align === "right" ? `${line.slice(1)}:` : `:${line.slice(2)}:`;
}

function alignOf(cell: string): Align {
  const left = cell.startsWith(":"), right = cell.endsWith(":");
  return left && right ? "center" : right ? "right" : "left";
}

/** Widths that fit, the widest shrunk first; null where cells would be too narrow to read. */
function fit(wide: readonly number[], room: number): number[] | null {
  const widths = [...wide];
  let total = widths.reduce((sum, width) => sum + width, 0);
  while (total > room) {
    const most = Math.max(...widths), next = Math.max(0, ...widths.filter((width) => width < most));
    const widest = widths.flatMap((width, i) => width === most ? [i] : []);
    const cut = Math.max(1, Math.min(most - next, Math.ceil((total - room) / widest.length)));
    if (most - cut < NARROW) return null;
    for (const i of widest) {
      const less = Math.min(cut, total - room);
      widths[i]! -= less;
      total -= less;
    }
  }
  return widths;
}

/** Each row as `head: cell` lines, rows apart by a blank line. */
function records(
  rows: readonly Run[][][],
  columns: number,
  paint: (text: string, marks: number) => string,
): string[] {
  const [head, ...body] = rows, out: string[] = [];
  for (const cells of body) {
    if (out.length > 0) out.push("");
    cells.forEach((cell, i) => {
      if (textOf(cell).trim() === "") return;
      const runs: Run[] = [
        ...head![i]!.map(([text, marks]): Run => [text, marks | MARK.bold]),
        [": ", 0],
        ...cell,
      ];
      wrapRuns(runs, Math.max(1, columns - 2)).forEach((line, n) =>
        out.push(`${n === 0 ? "" : "  "}${line.map(([text, marks]) => paint(text, marks)).join("")}`)
      );
    });
  }
  return out.length > 0 ? out : head!.map((cell) => textOf(cell));
}

function textOf(runs: readonly Run[]): string {
  return runs.map(([text]) => text).join("");
}

/** Breaks runs into lines; marks stay where they were. */
function wrapRuns(runs: readonly Run[], width: number): Run[][] {
  const text = textOf(runs);
  if (displayWidth(text) <= width) return [[...runs]];
  const lines: Run[][] = [];
  let at = 0;
  for (const line of wrapText(text, width)) {
    // Only blanks were left out between lines.
    while (at < text.length && !text.startsWith(line, at) && /\s/.test(text[at]!)) at++;
    lines.push(slice(runs, at, at + line.length));
    at += line.length;
  }
  return lines;
}

function slice(runs: readonly Run[], from: number, to: number): Run[] {
  const out: Run[] = [];
  let at = 0;
  for (const [text, marks] of runs) {
    const part = text.slice(Math.max(0, from - at), Math.max(0, to - at));
    if (part !== "") out.push([part, marks]);
    at += text.length;
  }
  return out;
}

function pad(
  runs: readonly Run[],
  width: number,
  align: Align,
  paint: (text: string, marks: number) => string,
  marks: number,
): string {
  const blank = Math.max(0, width - displayWidth(textOf(runs)));
  const left = align === "right" ? blank : align === "center" ? Math.floor(blank / 2) : 0;
  return " ".repeat(left) + runs.map(([text, own]) => paint(text, own | marks)).join("") +
    " ".repeat(blank - left);
}
