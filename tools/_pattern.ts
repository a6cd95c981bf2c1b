/**
 * A search pattern as people and models write it (Perl, Python, Rust and POSIX habits) as JavaScript regular expressions:
 * one that finds candidates in a whole text fast, and one that decides on a single line.
 *
 * @module
 */
import { ToolError } from "../src/errors.ts";

/** A compiled pattern. */
export interface Pattern {
  /**
   * Finds where a matching line may be: text that every match contains, or an expression that finds no less than
   * `line` does. Null: each line must be looked at.
   */
  readonly candidate: string | RegExp | null;
  /** Decides on a line without its line end, and tells where in it the match is. Null: every candidate matches. */
  readonly line: RegExp | null;
  /** The pattern speaks of `\r`, so that the one before a line's end belongs to the line. */
  readonly carriage: boolean;
  /** What to use for a text with characters beyond U+FFFF, where it differs. */
  readonly wide?: Pattern;
}

const POSIX: Readonly<Record<string, string>> = {
  alnum: "A-Za-z0-9",
  alpha: "A-Za-z",
  blank: " \\t",
  cntrl: "\\x00-\\x1f\\x7f",
  digit: "0-9",
  graph: "\\x21-\\x7e",
  lower: "a-z",
  print: "\\x20-\\x7e",
  punct: "!-\\/:-@\\[-`{-~",
  space: "\\s",
  upper: "A-Z",
  word: "\\w",
  xdigit: "0-9A-Fa-f",
};

/** Shorter texts are no faster to look for than the expression itself. */
const SHORTEST_NEEDLE = 3;

/**
 * Compiles a pattern.
 *
 * @throws {ToolError} `invalid regex: …`, with what is wrong
 */
export function compilePattern(pattern: string): Pattern {
  const flags = /^(?:\(\?([A-Za-z]+)\))+/.exec(pattern)?.[0] ?? "";
  if (/[^()?imsu]/.test(flags)) {
    throw invalid(pattern, `the flags ${flags} are not supported (only i, m, s and u are)`);
  }
  const fold = flags.includes("i");
  const source = new Translator(pattern, flags.length).run();
  const narrow = assemble(pattern, source, (fold ? "i" : "") + (source.unicode ? "u" : ""));
  if (source.unicode || narrow.line === null) return narrow;
  try {
    return { ...narrow, wide: assemble(pattern, source, fold ? "iu" : "u") };
  } catch {
    // What is only valid without the flag sees halves of such characters.
    return narrow;
  }
}

/** The pattern that fits a text. The flag `u` is slower, so it is left to those texts that need it. */
export function patternFor(pattern: Pattern, text: string): Pattern {
  return pattern.wide && /[\ud800-\udbff]/.test(text) ? pattern.wide : pattern;
}

function assemble(pattern: string, source: Source, flags: string): Pattern {
  const { needle, text, literal, negative, carriage } = source, fold = flags.includes("i");
  const line = build(pattern, text, flags);
  if (literal && needle !== "" && !fold) return { candidate: needle, line: null, carriage };
  if (needle.length >= SHORTEST_NEEDLE) {
    return { candidate: fold ? build(pattern, escapeRegex(needle), `g${flags}`) : needle, line, carriage };
  }
  return { candidate: negative ? null : build(pattern, text, `gm${flags}`), line, carriage };
}

function build(pattern: string, source: string, flags: string): RegExp {
  try {
    return new RegExp(source, flags);
  } catch (error) {
    const reason = (error as Error).message.split(": ").at(-1)!;
    throw invalid(pattern, reason.charAt(0).toLowerCase() + reason.slice(1), ESCAPE_HINT);
  }
}

const ESCAPE_HINT = "; put \\ before ( ) [ ] { } . * + ? | ^ $ to search for them as text";

function invalid(pattern: string, reason: string, hint = ""): ToolError {
  const shown = JSON.stringify(pattern.length > 80 ? `${pattern.slice(0, 80)}…` : pattern).replaceAll(
    "\\\\",
    "\\",
  );
  return new ToolError(`invalid regex: ${reason}, in ${shown}${hint}`, "invalid_arguments");
}

function escapeRegex(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}

const ANY = "[^\\n]";

/** A `.*` at either end changes nothing about which lines match, and costs a lot on long ones. */
function withoutEnds(tokens: readonly string[]): readonly string[] {
  let from = 0, to = tokens.length;
  if (tokens[0] === ANY && tokens[1] === "*") from = tokens[2] === "?" ? 3 : 2;
  const lazy = tokens[to - 1] === "?" && tokens[to - 2] === "*" ? 1 : 0;
  if (to - from >= 2 + lazy && tokens[to - 1 - lazy] === "*" && tokens[to - 2 - lazy] === ANY) to -= 2 + lazy;
  return tokens.slice(from, to);
}

/** A script's name alone stands for the script, as elsewhere; all other properties are JavaScript's. */
function scriptOr(name: string): string {
  try {
    new RegExp(`\\p{Script=${name}}`, "u");
    return `Script=${name}`;
  } catch {
    return name;
  }
}

/** A translated pattern. */
interface Source {
  readonly text: string;
  /** Text that every match contains. */
  readonly needle: string;
  /** The pattern is nothing but its needle. */
  readonly literal: boolean;
  /** It needs the flag `u`. */
  readonly unicode: boolean;
  /** It looks at what does not follow or precede, so that other lines can change the answer. */
  readonly negative: boolean;
  readonly carriage: boolean;
}

/** Goes over a pattern once. */
class Translator {
  readonly #chars: readonly string[];
  readonly #pattern: string;
  #at = 0;
  readonly #out: string[] = [];
  #depth = 0;
  /** Literal characters in a row outside groups, and the longest such row. */
  #run = "";
  #best = "";
  #alternatives = false;
  #literal = true;
  #unicode = false;
  #negative = false;

  constructor(pattern: string, skip: number) {
    this.#pattern = pattern;
    this.#chars = [...pattern.slice(skip)];
  }

  run(): Source {
    if (/[\u{10000}-\u{10ffff}]/u.test(this.#pattern)) this.#unicode = true;
    while (this.#at < this.#chars.length) this.#step();
    this.#break();
    return {
      text: (this.#alternatives ? this.#out : withoutEnds(this.#out)).join(""),
      needle: this.#alternatives ? "" : this.#best,
      literal: this.#literal,
      unicode: this.#unicode,
      negative: this.#negative,
      carriage: this.#pattern.includes("\\r") || this.#pattern.includes("\r"),
    };
  }

  #peek(text: string): boolean {
    return this.#chars.slice(this.#at, this.#at + text.length).join("") === text;
  }

  #step(): void {
    const char = this.#chars[this.#at]!;
    if (char === "\n") throw this.#newline();
    if (char === "\\") return this.#escape();
    if (char === "[") return this.#class();
    if (char === "(") return this.#group();
    if (char === "{") {
      const counts = /^\{(\d+)(,\d*)?\}/.exec(this.#chars.slice(this.#at, this.#at + 20).join(""));
      if (counts) return this.#quantifier(counts[0], counts[1] === "0");
      return this.#char(char);
    }
    if (char === "*" || char === "?" || char === "+") return this.#quantifier(char, char !== "+");
    if (char === ")") this.#depth--;
    else if (char === "|" && this.#depth <= 0) this.#alternatives = true;
    else if (char === ".") return this.#emit(ANY, 1);
    else if (char !== "^" && char !== "$" && char !== "|") return this.#char(char);
    this.#emit(char, 1);
  }

  /** Something that is no literal character. */
  #emit(text: string, consumed: number): void {
    this.#break();
    this.#literal = false;
    this.#out.push(text);
    this.#at += consumed;
  }

  #char(char: string, consumed = 1): void {
    if (this.#depth === 0) this.#run += char;
    this.#out.push(escapeRegex(char));
    this.#at += consumed;
  }

  #break(): void {
    if (this.#run.length > this.#best.length) this.#best = this.#run;
    this.#run = "";
  }

  #quantifier(text: string, optional: boolean): void {
    if (optional) this.#run = [...this.#run].slice(0, -1).join("");
    this.#emit(text, text.length);
    // A further `?` makes it lazy, which is part of the quantifier.
    if (this.#chars[this.#at] === "?") this.#emit("?", 1);
  }

  #group(): void {
    for (const [from, to] of [["(?P<", "(?<"], ["(?'", "(?<"]] as const) {
      if (!this.#peek(from)) continue;
      this.#depth++;
      this.#emit(to, from.length);
      if (from === "(?'") {
        const quote = this.#chars.indexOf("'", this.#at);
        if (quote !== -1) this.#emit(`${this.#chars.slice(this.#at, quote).join("")}>`, quote - this.#at + 1);
      }
      return;
    }
    if (this.#peek("(?P=")) {
      const close = this.#chars.indexOf(")", this.#at);
      const name = this.#chars.slice(this.#at + 4, close === -1 ? undefined : close).join("");
      return this.#emit(`\\k<${name}>`, name.length + 5);
    }
    if (/^\(\?[A-Za-z-]+\)/.test(this.#chars.slice(this.#at, this.#at + 12).join(""))) {
      throw invalid(this.#pattern, "flags such as (?i) must stand at its very beginning");
    }
    if (this.#peek("(?!") || this.#peek("(?<!")) this.#negative = true;
    this.#depth++;
    // What follows `(?` is syntax, not a quantifier.
    const syntax = /^\((\?(<[=!]|[=!:]|[ims-]+:|<[^>]*>))?/.exec(
      this.#chars.slice(this.#at, this.#at + 80).join(""),
    )![0];
    this.#emit(syntax, [...syntax].length);
  }

  #newline(): ToolError {
    return invalid(this.#pattern, "a line break cannot match, as each line is searched by itself");
  }

  #escape(): void {
    const char = this.#chars[this.#at + 1];
    if (char === undefined) throw invalid(this.#pattern, "it ends in a single \\");
    if (char === "n") throw this.#newline();
    const replaced = { A: "^", z: "$", Z: "$", "<": "\\b", ">": "\\b", h: "[ \\t]", H: "[^ \\t\\n]" }[char];
    if (replaced !== undefined) return this.#emit(replaced, 2);
    if (!/[A-Za-z0-9]/.test(char)) return this.#char(char, 2);
    if (char === "t") return this.#char("\t", 2);
    const rest = this.#chars.slice(this.#at, this.#at + 80).join("");
    const point = /^\\(?:[xu]\{([0-9A-Fa-f]{1,6})\}|x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4}))/.exec(rest);
    if (point) {
      const code = parseInt(point[1] ?? point[2] ?? point[3]!, 16);
      if (code > 0x10ffff) throw invalid(this.#pattern, `there is no character ${point[0]}`);
      if (code === 10) throw this.#newline();
      this.#unicode ||= code > 0xffff;
      return this.#char(String.fromCodePoint(code), point[0].length);
    }
    const property = /^\\([pP])(\{[^}]*\}|[A-Z])/.exec(rest);
    if (property) {
      this.#unicode = true;
      const name = property[2]!.replace(/^\{|\}$/g, "");
      return this.#emit(`\\${property[1]}{${scriptOr(name)}}`, property[0].length);
    }
    const whole = /^\\(?:k<[^>]*>|c[A-Za-z]|\d+|.)/.exec(rest)![0];
    this.#emit(whole, [...whole].length);
  }

  #class(): void {
    let i = this.#at + 1, out = "[";
    if (this.#chars[i] === "^") out += "^", i++;
    // A first `]` stands for itself, where another one closes the class.
    if (this.#chars[i] === "]" && this.#chars.includes("]", i + 1)) out += "\\]", i++;
    for (; i < this.#chars.length && this.#chars[i] !== "]"; i++) {
      const char = this.#chars[i]!;
      const named = /^\[:(\^?)([a-z]+):\]/.exec(this.#chars.slice(i, i + 12).join(""));
      if (named && named[1] === "" && POSIX[named[2]!]) {
        out += POSIX[named[2]!];
        i += named[0].length - 1;
      } else if (char === "\\" && i + 1 < this.#chars.length) {
        const next = this.#chars[++i]!;
        if (next === "h") out += " \\t";
        else if (/[pP]/.test(next) && this.#chars[i + 1] === "{") this.#unicode = true, out += `\\${next}`;
        else if (/[A-Za-z0-9]/.test(next) || /[\\^$.*+?()[\]{}|/-]/.test(next)) out += `\\${next}`;
        else out += next;
      } else out += char === "[" ? "\\[" : char;
    }
    if (i >= this.#chars.length) throw invalid(this.#pattern, "unterminated character class", ESCAPE_HINT);
    this.#emit(`${out}]`, i - this.#at + 1);
  }
}
