/**
 * `echo` and `printf` as bash has them: words in, bytes out.
 *
 * @module
 */

import { fixed, type Long, parseLong, scientific } from "./_shell_float.ts";

const encoder = new TextEncoder();

/** What an own command wrote and how it ended. */
export interface TextResult {
  readonly out: Uint8Array;
  /** Lines for standard error, without line ends. */
  readonly errors: readonly string[];
  readonly status: number;
}

/** Collects text and single bytes. */
class Bytes {
  readonly #parts: Uint8Array[] = [];
  #text = "";

  text(text: string): void {
    this.#text += text;
  }

  byte(value: number): void {
    if (value < 0x80) return this.text(String.fromCharCode(value));
    this.#flush();
    this.#parts.push(Uint8Array.of(value & 0xff));
  }

  #flush(): void {
    if (this.#text !== "") this.#parts.push(encoder.encode(this.#text));
    this.#text = "";
  }

  done(): Uint8Array {
    this.#flush();
    const out = new Uint8Array(this.#parts.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    for (const part of this.#parts) {
      out.set(part, at);
      at += part.length;
    }
    return out;
  }
}

const SIMPLE: Readonly<Record<string, number>> = {
  a: 7,
  b: 8,
  e: 27,
  E: 27,
  f: 12,
  n: 10,
  r: 13,
  t: 9,
  v: 11,
  "\\": 92,
};

/**
 * Writes `text` with its backslash escapes decoded.
 *
 * @param octal `echo`: `\0nnn`; `printf`: `\nnn`, `both` in `%b`
 * @returns false where `\c` ended all output
 */
function unescape(text: string, octal: "echo" | "printf" | "both", out: Bytes): boolean {
  for (let i = 0; i < text.length; i++) {
    if (text[i] !== "\\" || i + 1 >= text.length) {
      const code = text.codePointAt(i)!;
      out.text(String.fromCodePoint(code));
      if (code > 0xffff) i++;
      continue;
    }
    const rest = text.slice(i + 1), letter = rest[0]!;
    const match = (octal !== "printf" ? /^0[0-7]{0,3}/.exec(rest) : null) ??
      (octal !== "echo" ? /^[0-7]{1,3}/.exec(rest) : null);
    const hex = /^(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8}))/.exec(rest);
    if (match) {
      out.byte(parseInt(match[0], 8) & 0xff);
      i += match[0].length;
    } else if (hex) {
      const value = parseInt(hex[1] ?? hex[2] ?? hex[3]!, 16);
      if (hex[1] !== undefined) out.byte(value);
      else out.text(value <= 0x10ffff ? String.fromCodePoint(value) : "\ufffd");
      i += hex[0].length;
    } else if (letter === "c" && octal !== "printf") return false;
    else if (letter in SIMPLE) {
      out.byte(SIMPLE[letter]!);
      i++;
    } else if (octal !== "echo" && (letter === '"' || letter === "'" || letter === "?")) {
      out.text(letter);
      i++;
    } else out.text("\\");
  }
  return true;
}

/** `echo [-neE] [ARG …]`. */
export function echo(args: readonly string[]): TextResult {
  let newline = true, escapes = false, first = 0;
  for (; first < args.length && /^-[neE]+$/.test(args[first]!); first++) {
    for (const letter of args[first]!.slice(1)) {
      if (letter === "n") newline = false;
      else escapes = letter === "e";
    }
  }
  const out = new Bytes(), text = args.slice(first).join(" ");
  if (!escapes) out.text(text);
  else if (!unescape(text, "echo", out)) newline = false;
  if (newline) out.text("\n");
  return { out: out.done(), errors: [], status: 0 };
}

/** `printf FORMAT [ARG …]`: the format is used again while arguments are left. */
export function printf(words: readonly string[]): TextResult {
  const args = words[0] === "--" ? words.slice(1) : words;
  const errors: string[] = [], out = new Bytes();
  const fail = (error: string, status: number): TextResult => {
    errors.push(`printf: ${error}`);
    return { out: out.done(), errors, status };
  };
  const format = args[0];
  if (format === undefined) return fail("usage: printf format [arguments]", 2);
  if (words[0] === format && format.startsWith("-") && format.length > 1) {
    return fail(`${format.slice(0, 2)}: invalid option`, 2);
  }
  const queue = args.slice(1);
  let status = 0, used = false;
  const next = (): string | undefined => {
    used = true;
    return queue.shift();
  };
  const integer = (text: string | undefined): bigint => {
    if (text === undefined || text === "") return 0n;
    if (/^["']/.test(text)) return BigInt(text.codePointAt(1) ?? 0);
    const match = /^\s*([+-]?)(0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)/.exec(text);
    if (!match || match[0].length !== text.length) {
      errors.push(`printf: ${text}: invalid ${/^\s*0[0-9]/.test(text) ? "octal " : ""}number`);
      status = 1;
    }
    if (!match) return 0n;
    const digits = match[2]!, plain = /^0[0-7]+$/.test(digits) ? `0o${digits.slice(1)}` : digits;
    const value = BigInt(plain) * (match[1] === "-" ? -1n : 1n);
    const [low, high] = [-(1n << 63n), (1n << 63n) - 1n];
    if (value >= low && value <= high) return value;
    errors.push(`printf: warning: ${text}: Numerical result out of range`);
    return value < 0n ? low : high;
  };
  const float = (text: string | undefined): Long => {
    if (text === undefined || text === "") return parseLong("0");
    if (/^["']/.test(text)) return parseLong(String(text.codePointAt(1) ?? 0));
    const match = /^\s*[+-]?(?:\d+\.?\d*(?:[eE][+-]?\d{1,9})?|\.\d+(?:[eE][+-]?\d{1,9})?|inf(?:inity)?|nan)/i
      .exec(text);
    if (!match || match[0].length !== text.length) {
      errors.push(`printf: ${text}: invalid number`);
      status = 1;
    }
    return parseLong(match?.[0] ?? "0");
  };
  const directive = /%([-+ #0']*)(\*|\d+)?(?:\.(\*|-?\d*))?(?:hh|h|ll|l|L|j|t|z|q)?(.)|%/gsu;
  const qModifier = /^%([-+ #0']*)(\*|\d+)?(?:\.(\*|-?\d*))?q/;
  do {
    used = false;
    let at = 0;
    while (at < format.length) {
      const percent = format.indexOf("%", at);
      const literal = format.slice(at, percent < 0 ? undefined : percent);
      if (literal !== "") unescape(literal, "printf", out);
      if (percent < 0) break;
      if (format[percent + 1] === "%") {
        out.text("%");
        at = percent + 2;
        continue;
      }
      directive.lastIndex = percent;
      const asQ = qModifier.exec(format.slice(percent));
      const match = asQ ? [asQ[0], asQ[1], asQ[2], asQ[3], "q"] : directive.exec(format);
      const kind = match?.[4];
      if (!match || kind === undefined) {
        return fail(`\`${format.slice(percent)}': missing format character`, 1);
      }
      let flags = match[1]!;
      const star = (given: string | undefined): number | undefined => {
        if (given === undefined) return undefined;
        return given === "*" ? Number(integer(next())) : Number(given || "0");
      };
      let width = star(match[2]) ?? 0;
      if (width < 0) {
        flags += "-";
        width = -width;
      }
      if (width > 100_000) return fail(`${width}: the width is too large`, 1);
      let precision = star(match[3]);
      if (precision !== undefined && precision < 0) precision = undefined;
      if (precision !== undefined && precision > 100_000) return fail("the precision is too large", 1);
      at = percent + match[0]!.length;
      const field = (text: string, zero = false): void => out.text(pad(text, flags, width, zero));
      if (kind === "s") field(cut(next() ?? "", precision));
      else if (kind === "q") field(cut(shellQuote(next() ?? ""), precision));
      else if (kind === "c") {
        // The first byte, whatever it is a part of.
        const space = " ".repeat(Math.max(0, width - 1)), byte = encoder.encode(next() ?? "")[0] ?? 0;
        if (!flags.includes("-")) out.text(space);
        out.byte(byte);
        if (flags.includes("-")) out.text(space);
      } else if (kind === "b") {
        const inner = new Bytes(), ended = !unescape(next() ?? "", "both", inner);
        const bytes = inner.done(), text = new TextDecoder().decode(bytes);
        if (width === 0 && precision === undefined) { for (const byte of bytes) raw(byte); }
        else field(cut(text, precision));
        if (ended) return { out: out.done(), errors, status };
      } else if ("diuoxX".includes(kind)) {
        field(formatInteger(integer(next()), kind, flags, precision), precision === undefined);
      } else if ("eEfFgG".includes(kind)) {
        const value = float(next());
        field(formatFloat(value, kind, flags, precision), value.size !== null);
      } else return fail(`\`${kind}': invalid format character`, 1);
    }
  } while (used && queue.length > 0);
  return { out: out.done(), errors, status };

  function raw(byte: number): void {
    out.byte(byte);
  }
}

function cut(text: string, precision: number | undefined): string {
  if (precision === undefined) return text;
  const bytes = encoder.encode(text);
  return bytes.length <= precision ? text : new TextDecoder().decode(bytes.subarray(0, precision));
}

function pad(text: string, flags: string, width: number, zero: boolean): string {
  const missing = width - encoder.encode(text).length;
  if (missing <= 0) return text;
  if (flags.includes("-")) return text + " ".repeat(missing);
  if (!zero || !flags.includes("0")) return " ".repeat(missing) + text;
  const sign = /^(?:[-+ ]?0[xX]|[-+ ]?)/.exec(text)![0];
  return sign + "0".repeat(missing) + text.slice(sign.length);
}

function formatInteger(value: bigint, kind: string, flags: string, precision: number | undefined): string {
  const signed = kind === "d" || kind === "i";
  const magnitude = signed ? (value < 0n ? -value : value) : BigInt.asUintN(64, value);
  let digits = magnitude.toString(kind === "o" ? 8 : kind === "x" || kind === "X" ? 16 : 10);
  if (precision === 0 && magnitude === 0n) digits = "";
  digits = digits.padStart(precision ?? 0, "0");
  if (flags.includes("#") && kind === "o" && !digits.startsWith("0")) digits = `0${digits}`;
  if (flags.includes("#") && "xX".includes(kind) && magnitude !== 0n) digits = `0x${digits}`;
  if (kind === "X") digits = digits.toUpperCase();
  const sign = !signed ? "" : value < 0n ? "-" : flags.includes("+") ? "+" : flags.includes(" ") ? " " : "";
  return sign + digits;
}

function formatFloat(value: Long, kind: string, flags: string, precision = 6): string {
  const upper = kind === kind.toUpperCase(), style = kind.toLowerCase(), { size, negative } = value;
  const sign = negative ? "-" : flags.includes("+") ? "+" : flags.includes(" ") ? " " : "";
  let text: string;
  if (size === null) text = value.nan ? "nan" : "inf";
  else if (style === "f") text = fixed(size, precision);
  else if (style === "e") text = exponent(scientific(size, precision));
  else {
    const significant = precision || 1, parts = scientific(size, significant - 1);
    const wide = parts.power < -4 || parts.power >= significant;
    text = wide ? exponent(parts) : fixed(size, Math.max(0, significant - 1 - parts.power));
    if (!flags.includes("#") && text.includes(".")) text = text.replace(/\.?0+(?=e|$)/, "");
  }
  return sign + (upper ? text.toUpperCase() : text);
}

/** As C writes it: at least two digits of the power. */
function exponent({ digits, power }: { digits: string; power: number }): string {
  return `${digits}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
}

/** `%q`: quoted so that a shell reads it back. */
function shellQuote(text: string): string {
  if (text === "") return "''";
  // deno-lint-ignore no-control-regex
  if (/[\x00-\x1f\x7f]/.test(text)) {
    const names: Record<string, string> = {
      "\n": "\\n",
      "\t": "\\t",
      "\r": "\\r",
      "\x1b": "\\E",
      "\x07": "\\a",
      "\b": "\\b",
      "\f": "\\f",
      "\v": "\\v",
    };
    // deno-lint-ignore no-control-regex
    const body = text.replace(/[\x00-\x1f\x7f'\\]/g, (char) => {
      if (char === "'" || char === "\\") return `\\${char}`;
      return names[char] ?? `\\${char.charCodeAt(0).toString(8).padStart(3, "0")}`;
    });
    return `$'${body}'`;
  }
  return text.replace(/[^A-Za-z0-9_\-./:=@%+\u0080-\u{10ffff}]/gu, (char, at: number) => {
    return (char === "~" && at > 0) || (char === "#" && at > 0) ? char : `\\${char}`;
  });
}
