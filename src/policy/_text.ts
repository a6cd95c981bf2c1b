/**
 * Texts that came from a model, a file system or a configuration, made fit for one line.
 *
 * @module
 */

/** Control characters, line separators and direction marks, made visible as `\u000a`. */
export function visible(text: string): string {
  return text.replace(
    // deno-lint-ignore no-control-regex
    /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** At most `most` characters, an ellipsis for the rest. */
export function shorten(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most).toWellFormed()}…`;
}

/** A list for a message: the first twenty entries. */
export function listed(entries: readonly string[]): string {
  return entries.slice(0, 20).map((entry) => shorten(entry, 80)).join(", ") +
    (entries.length > 20 ? ", …" : "");
}
