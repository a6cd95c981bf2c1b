/**
 * Text of PDF files. The package, which is large, is loaded only where one was fetched.
 *
 * @module
 */

/** Pages that are read. */
const MOST_PAGES = 500;

/**
 * The text of a PDF, page by page under headings.
 *
 * @param body the file; its buffer may be taken
 * @throws {Error} for what is no PDF, or needs a password
 */
export async function pdfText(body: Uint8Array): Promise<string> {
  const { extractText, getDocumentProxy } = await import("unpdf");
  const document = await getDocumentProxy(body, { verbosity: 0 });
  try {
    if (document.numPages > MOST_PAGES) {
      throw new Error(`it has ${document.numPages} pages; ${MOST_PAGES} is the most`);
    }
    const { text } = await extractText(document, { mergePages: false });
    if (text.every((page) => page.trim() === "")) return "";
    return text.map((page, i) => text.length > 1 ? `## Page ${i + 1}\n\n${page.trim()}` : page.trim()).join(
      "\n\n",
    );
  } finally {
    await document.loadingTask.destroy();
  }
}
