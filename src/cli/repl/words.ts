/**
 * Splits what stands after a slash command into words.
 *
 * @module
 */
import { UsageError } from "../../errors.ts";

/**
 * Words as a shell would split them: quotes keep blanks, `\` takes the next character as it is (not on Windows, where it
 * is part of paths). Nothing is expanded.
 *
 * @throws {UsageError} for a quote that is not closed
 */
export function splitWords(text: string, windows: boolean = Deno.build.os === "windows"): string[] {
  const words: string[] = [];
  let word = "", open = false, quote = "";
  for (let i = 0; i < text.length; i++) {
    const char = text[i]!;
    if (quote !== "") {
      if (char === quote) quote = "";
      else if (char === "\\" && quote === '"' && /["\\]/.test(text[i + 1] ?? "")) word += text[++i];
      else word += char;
    } else if (char === '"' || char === "'") {
      quote = char;
      open = true;
    } else if (char === "\\" && !windows && i + 1 < text.length) {
      word += text[++i];
      open = true;
    } else if (/\s/.test(char)) {
      if (open) words.push(word);
      [word, open] = ["", false];
    } else {
      word += char;
      open = true;
    }
  }
  if (quote !== "") throw new UsageError(`a ${quote} is not closed`);
  if (open) words.push(word);
  return words;
}
