/**
 * `@path` in a prompt: the files that it names are read as the model would read them, and go with it.
 *
 * @module
 */

/** One mention. */
export interface Mention {
  /** As written, without `@` and quotes. */
  readonly path: string;
  /** What else the person may have meant: without the punctuation at its end. */
  readonly trimmed: string;
}

/**
 * The mentions of a text, each once: `@` at the beginning of a word, then a path, in double quotes where it has blanks.
 * `a@b.c` mentions nothing.
 */
export function mentionsOf(text: string): Mention[] {
  const out = new Map<string, Mention>();
  for (const [, quoted, plain] of text.matchAll(/(?<![^\s([{<"'])@(?:"([^"\n]+)"|([^\s"'`]+))/gu)) {
    const path = quoted ?? plain!;
    const trimmed = quoted ?? path.replace(/[.,;:!?)\]}>]+$/u, "");
    if (trimmed !== "") out.set(path, { path, trimmed });
  }
  return [...out.values()];
}

/** The text of a prompt with what was attached. */
export function withAttachments(
  text: string,
  attachments: readonly { readonly path: string; readonly content: string }[],
): string {
  if (attachments.length === 0) return text;
  const blocks = attachments.map(({ path, content }) => `[attached: ${path}]\n${content.trimEnd()}`);
  return [text, ...blocks].join("\n\n");
}
