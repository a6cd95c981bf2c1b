/**
 * Text that somebody else wrote, made harmless for a terminal: what could move the cursor, change colours or titles,
 * hide or reorder text is shown instead of obeyed.
 *
 * @module
 */

/** How {@link cleanForTerminal} treats line breaks. */
export interface CleanOptions {
  /** One line comes out: a line break is shown as `↵` and a tab as a space. Default: both are kept. */
  readonly line?: boolean;
}

/** What to show for a code point, or null where it is shown as it is. */
function shown(code: number): string | null {
  if (code < 0x20) return code === 0x0a || code === 0x09 ? null : String.fromCharCode(0x2400 + code);
  if (code < 0x7f) return null;
  if (code === 0x7f) return "\u2421";
  if (code < 0xa0) return `\\x${code.toString(16)}`;
  if (isHidden(code)) {
    return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, "0")}`;
  }
  return null;
}

/** Bidirectional controls, line and paragraph separators, byte order mark, lone surrogates and tag characters. */
function isHidden(code: number): boolean {
  return code === 0x061c || code === 0x200b || code === 0x200e || code === 0x200f || code === 0xfeff ||
    (code >= 0x2028 && code <= 0x202e) || (code >= 0x2060 && code <= 0x206f) ||
    (code >= 0xd800 && code <= 0xdfff) || (code >= 0xfff9 && code <= 0xfffb) ||
    (code >= 0xe0000 && code <= 0xe007f);
}

function isPlain(text: string, line: boolean): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (
      code < 0x20 ? line || (code !== 0x0a && code !== 0x09) : code >= 0x7f && (code < 0xa0 || code > 0x60f)
    ) {
      return false;
    }
  }
  return true;
}

/**
 * Makes control and escape characters, lone carriage returns, C1 controls, bidirectional controls and invisible tag
 * characters visible (`␛`, `␍`, `\x9b`, `\u202e`). A carriage return before a line feed is dropped. Newlines and
 * tabs stay, unless `line` is set. The result is safe to write to a terminal, and cleaning it again changes nothing.
 */
export function cleanForTerminal(text: string, options: CleanOptions = {}): string {
  const line = options.line ?? false;
  if (isPlain(text, line)) return text;
  let out = "";
  for (let i = 0; i < text.length; i++) {
    const code = text.codePointAt(i)!;
    if (code === 0x0d && text.charCodeAt(i + 1) === 0x0a) continue;
    if (line && (code === 0x0a || code === 0x09)) out += code === 0x0a ? "↵" : " ";
    else out += shown(code) ?? String.fromCodePoint(code);
    if (code > 0xffff) i++;
  }
  return out;
}

/** What ui/style.ts writes: colours and weights, each for itself. None of them hides text. */
// deno-lint-ignore no-control-regex
const STYLED = /(\x1b\[(?:[0-4]|9|2[2-4]|29|3[0-9])m)/;

/**
 * {@link cleanForTerminal} for lines of this program's own, whose colours stay: the last look at what a command prints on a
 * terminal.
 */
export function cleanStyled(text: string): string {
  if (isPlain(text, false)) return text;
  return text.split(STYLED).map((part, i) => i % 2 === 1 ? part : cleanForTerminal(part)).join("");
}

/** {@link cleanForTerminal} for text that arrives in pieces: pairs that are split between two pieces stay together. */
export class TerminalCleaner {
  #held = "";

  /** Cleans the next piece; may hold back its last character until the next one is known. */
  push(piece: string): string {
    const text = this.#held + piece, last = text.charCodeAt(text.length - 1);
    const hold = last === 0x0d || (last >= 0xd800 && last <= 0xdbff);
    this.#held = hold ? text.slice(-1) : "";
    return cleanForTerminal(hold ? text.slice(0, -1) : text);
  }

  /** What was held back. */
  end(): string {
    const text = this.#held;
    this.#held = "";
    return cleanForTerminal(text);
  }
}

/** JSON text with every character that {@link cleanForTerminal} would show as an escape of JSON: the same value, harmless to look at. */
export function cleanJson(json: string): string {
  if (isPlain(json, false)) return json;
  let out = "";
  for (let i = 0; i < json.length; i++) {
    const code = json.codePointAt(i)!, wide = code > 0xffff;
    if (code >= 0x7f && shown(code) !== null) {
      for (const unit of wide ? [json.charCodeAt(i), json.charCodeAt(i + 1)] : [code]) {
        out += `\\u${unit.toString(16).padStart(4, "0")}`;
      }
    } else out += String.fromCodePoint(code);
    if (wide) i++;
  }
  return out;
}
