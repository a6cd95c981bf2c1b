/**
 * Colours, or none.
 *
 * @module
 */

/** Wraps text in the escapes of a style; the text itself must be clean already. */
export interface Style {
  dim(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
  cyan(text: string): string;
  bold(text: string): string;
  italic(text: string): string;
  underline(text: string): string;
  strike(text: string): string;
  magenta(text: string): string;
  blue(text: string): string;
  /** Escapes are written; false where all of these return their text as it is. */
  readonly on: boolean;
}

const plain = (text: string): string => text;

function sgr(on: number, off: number): (text: string) => string {
  return (text) => text === "" ? "" : `\x1b[${on}m${text}\x1b[${off}m`;
}

const colored: Style = {
  dim: sgr(2, 22),
  red: sgr(31, 39),
  green: sgr(32, 39),
  yellow: sgr(33, 39),
  cyan: sgr(36, 39),
  bold: sgr(1, 22),
  italic: sgr(3, 23),
  underline: sgr(4, 24),
  strike: sgr(9, 29),
  magenta: sgr(35, 39),
  blue: sgr(34, 39),
  on: true,
};

const uncolored: Style = {
  ...{ dim: plain, red: plain, green: plain, yellow: plain, cyan: plain, bold: plain, italic: plain },
  ...{ underline: plain, strike: plain, magenta: plain, blue: plain, on: false },
};

/** The styles that a terminal with or without colours gets. */
export function createStyle(color: boolean): Style {
  return color ? colored : uncolored;
}
