/**
 * What a program wrote for a terminal, as plain text.
 *
 * @module
 */

// ECMA-48: CSI, then the string sequences (OSC, DCS, SOS, PM, APC) up to BEL or ST, then two- and three-byte escapes.
const ESCAPES =
  // deno-lint-ignore no-control-regex
  /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?|\x1b[ -/]*[0-~]?/g;
// Everything of C0 and C1 but tab and line feed.
// deno-lint-ignore no-control-regex
const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/g;

/**
 * Decodes UTF-8 (an invalid byte becomes U+FFFD) and takes away what only a terminal understands: escape sequences,
 * control characters, overstrikes (`x BACKSPACE`); a line that was rewritten by carriage returns is left as it
 * looked at the end. The result never has more characters than there were bytes.
 */
export function cleanOutput(bytes: Uint8Array): string {
  return cleanText(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes));
}

/** {@link cleanOutput} for text that is decoded already. */
export function cleanText(text: string): string {
  // deno-lint-ignore no-control-regex
  if (!/[\x00-\x08\x0b-\x1f\x7f-\x9f]/.test(text)) return text;
  let clean = text.replace(ESCAPES, "");
  // deno-lint-ignore no-control-regex
  if (clean.includes("\b")) clean = clean.replace(/[^\n\b]\x08/gu, "");
  if (clean.includes("\r")) {
    clean = clean.replace(/\r+\n/g, "\n");
    if (clean.includes("\r")) clean = clean.split("\n").map(overwrite).join("\n");
  }
  return clean.replace(CONTROLS, "");
}

/** A line in which each carriage return went back to the first column. */
function overwrite(line: string): string {
  if (!line.includes("\r")) return line;
  let shown: string[] = [];
  for (const part of line.split("\r").slice(-1000)) {
    const chars = [...part];
    shown = chars.length >= shown.length ? chars : [...chars, ...shown.slice(chars.length)];
  }
  return shown.join("");
}
