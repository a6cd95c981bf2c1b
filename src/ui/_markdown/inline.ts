/**
 * The inside of a line of Markdown (emphasis, code, links) while it arrives. Source: CommonMark 0.31, chapter 6, with
 * these limits: nothing reaches over the end of a line, single marks inside words are letters, and what is not closed
 * soon is shown as it was written.
 *
 * @module
 */
import { MARK, type Run } from "./wrap.ts";

/** Characters that a mark, a piece of code or a link may wait for its end. */
const PATIENCE = 240;
const DEPTH = 6;

const SPECIAL = /[\\`*_~[!]/g;
const MARKS = /[\\`*_~]/g;
const ESCAPABLE = /[\\`*_~[\]#|<>]/;

/** Marks that are open: the character, how many of it, and whether they were shown. */
interface Open {
  readonly char: string;
  count: number;
  readonly shown: boolean;
}

/** Reads one line; {@link end} begins the next one. */
export class InlineStream {
  readonly #emit: (text: string, marks: number) => void;
  readonly #base: number;
  #rest = "";
  #before = " ";
  #open: Open[] = [];
  /** Characters of the line before the rest. */
  #passed = 0;
  /** Where nothing before closes marks of a kind, so that it need not be looked for again. */
  readonly #unclosed = new Map<string, number>();

  /** @param emit takes runs; @param base marks of all of them */
  constructor(emit: (text: string, marks: number) => void, base: number = 0) {
    this.#emit = emit;
    this.#base = base;
  }

  /** Adds text without line breaks. */
  push(text: string): void {
    this.#rest += text;
    this.#scan(false);
  }

  /** The line is over: what is held is shown as it stands. */
  end(): void {
    this.#scan(true);
    this.#open = [];
    this.#before = " ";
    this.#passed = 0;
    this.#unclosed.clear();
  }

  #out(text: string, marks = 0): void {
    if (text === "") return;
    let all = this.#base | marks;
    for (const { char, count } of this.#open) all |= marksOf(char, count);
    this.#emit(text, all);
    this.#before = text.at(-1)!;
  }

  #scan(final: boolean): void {
    let at = 0;
    const rest = this.#rest;
    while (at < rest.length) {
      SPECIAL.lastIndex = at;
      const found = SPECIAL.exec(rest), special = found?.index ?? rest.length;
      this.#out(rest.slice(at, special));
      at = special;
      if (at >= rest.length) break;
      // What is further away decides nothing.
      const over = rest.length - at > PATIENCE, near = over ? rest.slice(0, at + PATIENCE) : rest;
      const used = this.#special(near, at, final || over, over);
      if (used === 0) break;
      at += used;
    }
    this.#passed += at;
    this.#rest = rest.slice(at);
  }

  /** Reads what begins at `at`; how many characters that took, 0: more must come first. */
  #special(text: string, at: number, final: boolean, over: boolean): number {
    const char = text[at]!;
    switch (char) {
      case "\\": {
        const next = text[at + 1];
        if (next === undefined) return final ? this.#literal("\\") : 0;
        if (!ESCAPABLE.test(next)) return this.#literal("\\");
        this.#out(next);
        return 2;
      }
      case "`":
        return this.#code(text, at, final);
      case "[":
        return this.#link(text, at, at, final);
      case "!":
        if (text[at + 1] === "[") return this.#link(text, at, at + 1, final);
        return text[at + 1] === undefined && !final ? 0 : this.#literal("!");
      default:
        return this.#emphasis(text, at, char, final, over);
    }
  }

  #literal(text: string): number {
    this.#out(text);
    return text.length;
  }

  #code(text: string, at: number, final: boolean): number {
    const run = runOf(text, at);
    if (at + run === text.length && !final) return 0;
    const close = closingRun(text, at + run, run);
    if (close === -1) return final ? this.#literal("`".repeat(run)) : 0;
    // A run at the very end may still grow.
    if (close + run === text.length && !final) return 0;
    let inner = text.slice(at + run, close);
    if (/^ .*[^ ].* $|^ [^ ].* $|^ `.*` $/.test(inner)) inner = inner.slice(1, -1);
    this.#out(inner, MARK.code);
    return close + run - at;
  }

  #link(text: string, start: number, bracket: number, final: boolean): number {
    let depth = 0, close = -1;
    for (let i = bracket; i < text.length; i++) {
      const char = text[i];
      if (char === "\\") i++;
      else if (char === "[") depth++;
      else if (char === "]" && --depth === 0) {
        close = i;
        break;
      }
    }
    const lead = text.slice(start, bracket + 1);
    if (close === -1) return final ? this.#literal(lead) : 0;
    if (close + 1 === text.length && !final) return 0;
    if (text[close + 1] !== "(") return this.#literal(lead);
    let parens = 0, end = -1;
    for (let i = close + 1; i < text.length; i++) {
      if (text[i] === "(") parens++;
      else if (text[i] === ")" && --parens === 0) {
        end = i;
        break;
      }
    }
    if (end === -1) return final ? this.#literal(lead) : 0;
    const label = text.slice(bracket + 1, close);
    const target = text.slice(close + 2, end).trim().replace(/\s+("[^"]*"|'[^']*')$/, "").replace(
      /^<(.*)>$/,
      "$1",
    );
    const shown = inlineRuns(label, 0);
    for (const [part, marks] of shown) this.#out(part, marks | MARK.link);
    const plain = shown.map(([part]) => part).join("");
    // Where it leads is always shown, so that a label cannot pretend.
    if (target !== "" && target !== plain) this.#out(plain === "" ? target : ` (${target})`, MARK.dim);
    return end + 1 - start;
  }

  #emphasis(text: string, at: number, char: string, final: boolean, over: boolean): number {
    const run = runOf(text, at), after = text[at + run];
    if (after === undefined && !final) return 0;
    const previous = at === 0 ? this.#before : text[at - 1]!, next = after ?? " ";
    const right = !/\s/.test(previous), left = !/\s/.test(next);
    const top = this.#open.at(-1);
    if (top && top.char === char && right && (char !== "_" || !/\w/.test(next))) {
      const taken = Math.min(run, top.count);
      if (char !== "~" || run >= 2) {
        if (top.shown) this.#out(char.repeat(taken));
        top.count -= taken;
        if (top.count === 0) this.#open.pop();
        this.#before = char;
        return taken;
      }
    }
    const count = char === "~" ? 2 : Math.min(run, 3);
    // `*.ts` and `*/` are no emphasis.
    const opens = left && run <= 3 && !(count === 1 && /[./,;:)]/.test(next)) &&
      (char !== "~" || run === 2) &&
      (count === 2 && char === "*" || !/[A-Za-z0-9]/.test(previous));
    if (!opens) return this.#literal(text.slice(at, at + run));
    // Nobody nests deeper.
    if (this.#open.length >= DEPTH) return this.#literal(text.slice(at, at + run));
    const key = `${char}${count}`, known = (this.#unclosed.get(key) ?? 0) - this.#passed;
    const closed = isClosed(text, at + run, Math.max(at + run, known), char, count, final);
    if (closed === false) this.#unclosed.set(key, this.#passed + text.length);
    if (closed === true) {
      this.#open.push({ char, count, shown: false });
      return count;
    }
    if (closed === null) return 0;
    const marks = text.slice(at, at + run);
    // Long bold text goes on as it comes, with its marks, as nobody knows yet whether they are meant as such.
    if (over && char === "*" && count === 2) {
      this.#out(marks, MARK.dim);
      this.#open.push({ char, count, shown: true });
      return run;
    }
    return this.#literal(marks);
  }
}

/** The runs of a line that is all there. */
export function inlineRuns(text: string, base: number): Run[] {
  const runs: Run[] = [];
  const stream = new InlineStream((part, marks) => runs.push([part, marks]), base);
  stream.push(text);
  stream.end();
  return runs;
}

function marksOf(char: string, count: number): number {
  if (char === "~") return MARK.strike;
  return (count & 1 ? MARK.italic : 0) | (count & 2 ? MARK.bold : 0);
}

function runOf(text: string, at: number): number {
  let end = at + 1;
  while (text[end] === text[at]) end++;
  return end - at;
}

/** Where a run of exactly `count` backticks begins, or -1. */
function closingRun(text: string, from: number, count: number): number {
  for (let at = text.indexOf("`", from); at !== -1; at = text.indexOf("`", at)) {
    const run = runOf(text, at);
    if (run === count) return at;
    at += run;
  }
  return -1;
}

/**
 * Whether marks that end at `from` are closed in this text at or after `start`, null where what is still to come decides; code and escapes
 * in between are passed over.
 */
function isClosed(
  text: string,
  from: number,
  start: number,
  char: string,
  count: number,
  final: boolean,
): boolean | null {
  for (let at = start; at < text.length;) {
    MARKS.lastIndex = at;
    const mark = MARKS.exec(text);
    if (mark === null) break;
    at = mark.index;
    const each = mark[0];
    if (each === "\\") at += 2;
    else if (each === "`") {
      const run = runOf(text, at), close = closingRun(text, at + run, run);
      if (!final && (close === -1 || close + run === text.length)) return null;
      at = close === -1 ? at + run : close + run;
    } else if (each === char) {
      const run = runOf(text, at), next = text[at + run];
      if (next === undefined && !final) return null;
      const closes = at > from && !/\s/.test(text[at - 1]!) && !(char === "_" && /\w/.test(next ?? " "));
      // One mark is not closed by two, three are closed by any.
      if (closes && (count === 3 || (run >= count && !(count === 1 && run === 2)))) return true;
      at += run;
    } else at++;
  }
  return final ? false : null;
}
