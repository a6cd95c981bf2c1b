/**
 * What a line of Markdown begins with: quotes, bullets, headings, fences. Source: CommonMark 0.31, chapters 4 and 5, one
 * line at a time.
 *
 * @module
 */

/** What a line is, once it is known. */
export type Leaf = "text" | "heading" | "fence" | "rule" | "table" | "indented" | "blank";

/** The beginning of a line. */
export interface Start {
  readonly leaf: Leaf;
  /** Number of `>`. */
  readonly quotes: number;
  /** Columns between the quotes' marks and the text or bullet. */
  readonly indent: number;
  /** `-`, `3.`; empty where it is no item. */
  readonly bullet: string;
  /** Level of a heading. */
  readonly level: number;
  /** Where the text begins. */
  readonly at: number;
  /** The fence's characters and language. */
  readonly fence: { readonly mark: string; readonly info: string } | null;
}

/** Longest beginning of a line that may wait for more. */
const PATIENCE = 200;

/**
 * Reads the beginning of a line.
 *
 * @param line what is there of it; @param whole nothing more comes
 * @param list the line stands in or after a list, where indented lines are no code
 * @returns null where more must come first
 */
export function readStart(line: string, whole: boolean, list: boolean): Start | null {
  const final = whole || line.length > PATIENCE;
  let at = 0, quotes = 0;
  for (;;) {
    const found = /^ {0,3}> ?/.exec(line.slice(at));
    if (!found) break;
    at += found[0].length;
    quotes++;
    if (at === line.length && !final) return null;
  }
  let rest = line.slice(at), indent = 0, bullet = "";
  const make = (leaf: Leaf, extra: Partial<Start> = {}): Start => ({
    ...{ leaf, quotes, indent, bullet, level: 0, at, fence: null },
    ...extra,
  });
  const blanks = () => {
    const found = /^[ \t]*/.exec(rest)![0];
    at += found.length;
    rest = rest.slice(found.length);
    return found.replaceAll("\t", "    ").length;
  };
  indent = blanks();
  if (rest === "") return final ? make("blank") : null;
  if (indent >= 4 && !list) return make("indented");
  if (isRule(rest)) {
    if (final) return make("rule");
    if (/^[-*_][-*_ \t]*$/.test(rest)) return null;
  }
  if (!final && /^([-*_])([ \t]*\1)*[ \t]*$/.test(rest)) return null;
  const item = /^([-*+•]|\d{1,9}[.)])[ \t]+/.exec(rest);
  if (!item && !final && /^(\d{1,9}[.)]?|[-*+])$/.test(rest)) return null;
  if (item) {
    bullet = item[1]!;
    at += item[1]!.length;
    rest = rest.slice(item[1]!.length);
    blanks();
    if (rest === "" && !final) return null;
  }
  const fence = /^(`{3,}|~{3,})([^\n]*)$/.exec(rest);
  if (fence && !(fence[1]!.startsWith("`") && fence[2]!.includes("`"))) {
    if (!final) return null;
    return make("fence", { fence: { mark: fence[1]!, info: fence[2]!.trim() } });
  }
  if (!final && /^(`{1,2}|~{1,2})$/.test(rest)) return null;
  const heading = /^(#{1,6})([ \t]+|$)/.exec(rest);
  if (heading) {
    if (!final && heading[0].length === rest.length) return null;
    return make("heading", { level: heading[1]!.length, at: at + heading[0].length });
  }
  if (rest.startsWith("|") && bullet === "") return make("table");
  return make("text");
}

function isRule(rest: string): boolean {
  return /^(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$/.test(rest);
}

/** Takes the marks of up to `quotes` quotes off a line; how many there were, and the rest. */
export function unquote(line: string, quotes: number): { readonly found: number; readonly rest: string } {
  let found = 0;
  for (; found < quotes; found++) {
    const mark = /^ {0,3}> ?/.exec(line);
    if (!mark) break;
    line = line.slice(mark[0].length);
  }
  return { found, rest: line };
}
