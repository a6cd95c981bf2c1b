/**
 * `web_fetch`: a page of the web as readable text, in windows.
 *
 * @module
 */
import { messageOf, ToolError } from "../src/errors.ts";
import { defineTool, type FetchResponse, type RunMemory, type Tool } from "../src/tool.ts";
import { cleanWebText, frame, lastResults, MEMORY, windowOf } from "./_web.ts";
import { decodeBody, kindOf, parseContentType } from "./_web_text.ts";

const ACCEPT =
  "text/html,application/xhtml+xml,text/markdown,text/plain;q=0.9,application/json;q=0.9,application/xml;q=0.9,application/pdf;q=0.8,*/*;q=0.5";
const END = "(end of content)", EMPTY = "(empty content)";

/** A page that was fetched. */
interface Page {
  /** The URL that answered. */
  readonly url: string;
  readonly text: string;
}

/** Fetches a page and pages through it. */
export const webFetch: Tool = defineTool({
  name: "web_fetch",
  description: "Read a web page (http, https) as Markdown: by url, or by the number of a web_search result.",
  category: "read",
  permission: "read",
  access: ["net"],
  urlArg: "url",
  keyArg: "url",
  memory: MEMORY,
  aliases: ["open", "fetch_page"],
  paramAliases: { cursor: "offset", link: "url", uri: "url" },
  glyph: "↓",
  verb: "Fetch",
  short: "Read a web page",
  status: ({ url, id }) => String(url || (id === undefined ? "" : `result ${id}`)),
  note: (result) => result === END || result === EMPTY,
  parameters: {
    type: "object",
    properties: {
      url: { type: "string", description: "Address." },
      id: { type: ["integer", "string"], description: "Number of a result of the last web_search." },
      offset: { type: "integer", description: "First character, for the next part.", default: 0 },
    },
  },
  async execute({ url, id, offset }, { fetch, memory }) {
    if (offset < 0) throw new ToolError(`offset must be 0 or more, got ${offset}`, "invalid_arguments");
    const address = url?.trim() || await addressOf(id, memory);
    const key = `page ${withoutFragment(address)}`;
    let page = offset > 0 ? await memory.get(key) as Page | undefined : undefined;
    if (!page) {
      page = await read(await fetch({ url: address, accept: ACCEPT }));
      await memory.set(key, page);
    }
    if (page.text === "") return EMPTY;
    if (offset >= page.text.length) return END;
    const { text, next } = windowOf(page.text, offset);
    const framed = frame(page.url, text);
    return next === null
      ? framed
      : `${framed}\n[offset ${next} of ${page.text.length} chars - continue with offset=${next}]`;
  },
});

/** The URL that a result's number stands for. Models also give the URL itself here. */
async function addressOf(id: unknown, memory: RunMemory): Promise<string> {
  if (id === undefined || id === "") {
    throw new ToolError(
      'open requires "url" or "id" (the number of a web_search result)',
      "invalid_arguments",
    );
  }
  if (typeof id === "string" && /^[a-z][a-z0-9+.-]*:/i.test(id.trim())) return id.trim();
  const number = typeof id === "string" && /^\s*#?\d+\s*$/.test(id) ? Number(id.replace("#", "")) : id;
  if (typeof number !== "number" || !Number.isInteger(number)) {
    throw new ToolError(`open id must be an integer, got ${JSON.stringify(id)}`, "invalid_arguments");
  }
  const results = await lastResults(memory);
  if (results === null) throw new ToolError("no previous web_search results to open", "not_found");
  const found = results[number - 1];
  if (!found) {
    throw new ToolError(
      `open id ${number} out of range, web_search returned ${results.length} results`,
      "not_found",
    );
  }
  return found.url;
}

function withoutFragment(url: string): string {
  return url.replace(/#.*$/s, "");
}

/** The text of what was answered. */
async function read({ url, status, type, body }: FetchResponse): Promise<Page> {
  if (status < 200 || status > 299) {
    throw new ToolError(
      `${url} answered ${status}${REASONS[status] ? ` ${REASONS[status]}` : ""}`,
      "not_found",
    );
  }
  const content = parseContentType(type), kind = kindOf(content, body);
  const page = (text: string): Page => ({ url, text: cleanWebText(text).trim() });
  switch (kind) {
    case "empty":
      return page("");
    case "text":
      return page(decodeBody(body, content));
    case "html": {
      const { htmlToMarkdown } = await import("./_html.ts");
      return page(htmlToMarkdown(decodeBody(body, content), url));
    }
    case "pdf": {
      const { pdfText } = await import("./_web_pdf.ts"), bytes = size(body);
      try {
        return page(await pdfText(body));
      } catch (error) {
        throw new ToolError(`${url} is a PDF (${bytes}) that cannot be read: ${messageOf(error)}`);
      }
    }
    case "other":
      throw new ToolError(
        `${url} is ${content.essence || "of no known type"} (${
          size(body)
        }), which is no text that could be read`,
      );
  }
}

function size(body: Uint8Array): string {
  return `${body.length.toLocaleString("en-US")} bytes`;
}

/** Names of statuses that people meet. */
const REASONS: Readonly<Record<number, string>> = {
  204: "No Content",
  304: "Not Modified",
  400: "Bad Request",
  401: "Unauthorized",
  402: "Payment Required",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  406: "Not Acceptable",
  408: "Request Timeout",
  410: "Gone",
  418: "I'm a teapot",
  429: "Too Many Requests",
  451: "Unavailable For Legal Reasons",
  500: "Internal Server Error",
  501: "Not Implemented",
  502: "Bad Gateway",
  503: "Service Unavailable",
  504: "Gateway Timeout",
};
