/**
 * Tables of HTML as Markdown tables, or as blocks where they only lay a page out.
 *
 * @module
 */

/** A cell that was read. */
export interface Cell {
  /** Its content as Markdown. */
  readonly text: string;
  /** Number of blocks in it. */
  readonly blocks: number;
  readonly header: boolean;
  /** Columns that it spans. */
  readonly span: number;
}

/** A table that is being read. */
export interface Table {
  readonly rows: Cell[][];
  caption: string;
  /** It holds other tables, or says itself that it is no table. */
  layout: boolean;
}

/** A cell that is larger is no cell of a table. */
const LARGEST_CELL = 1000;
const MOST_COLUMNS = 60;

/** The blocks that stand for a table. */
export function tableBlocks({ rows, caption, layout }: Table): string[] {
  const filled = rows.filter((row) => row.some(({ text }) => text !== ""));
  if (filled.length === 0) return [];
  const columns = filled.reduce((most, row) => Math.max(most, widthOf(row)), 0);
  const paged = layout || columns < 2 || columns > MOST_COLUMNS || filled.flat().some(isPage);
  const head = caption === "" ? [] : [caption];
  if (paged) return [...head, ...filled.flatMap((row) => laidOut(row))];
  const lines = filled.map((row) =>
    line(row.flatMap(({ text, span }) => [flat(text), ...Array<string>(span - 1).fill("")]), columns)
  );
  const rule = line(Array<string>(columns).fill("---"), columns);
  // Markdown wants a first row that heads the others.
  return [...head, [lines[0], rule, ...lines.slice(1)].join("\n")];
}

function widthOf(row: readonly Cell[]): number {
  return row.reduce((sum, { span }) => sum + span, 0);
}

function isPage({ text, blocks }: Cell): boolean {
  return text.length > LARGEST_CELL || blocks > 12 || text.includes("```");
}

/** Cells of a row that lays a page out: short ones beside each other, long ones below. */
function laidOut(row: readonly Cell[]): string[] {
  const texts = row.map(({ text }) => text).filter((text) => text !== "");
  return texts.every((text) => !text.includes("\n")) ? [texts.join(" ")] : texts;
}

function flat(text: string): string {
  return text.replace(/\s*\n\s*/g, " ").replace(/\|/g, "\\|");
}

function line(cells: readonly string[], columns: number): string {
  const padded = [...cells, ...Array<string>(Math.max(0, columns - cells.length)).fill("")];
  return `| ${padded.join(" | ")} |`;
}
