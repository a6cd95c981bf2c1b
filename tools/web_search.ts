/**
 * `web_search`: hits of a search service, numbered so that web_fetch can open them.
 *
 * @module
 */
import { ToolError } from "../src/errors.ts";
import { defineTool, type Tool } from "../src/tool.ts";
import { frame, keepResults, MEMORY, oneLine, type SearchResult } from "./_web.ts";
import { BACKENDS } from "./_web_search.ts";

const NOTHING = "No search results found.";
const LONGEST_QUERY = 1000;

/** Searches the web. */
export const webSearch: Tool = defineTool({
  name: "web_search",
  description: "Search the web. Open a result with web_fetch by its number.",
  category: "search",
  permission: "web",
  access: ["net"],
  keyArg: "query",
  memory: MEMORY,
  services: ["search"],
  aliases: ["search", "web"],
  paramAliases: { q: "query" },
  configKeys: ["search.provider", "search_results"],
  short: "Search the web",
  refine: true,
  // The numbers are those of the latest search: two at the same time would take them from each other.
  parallel: false,
  note: (result) => result === NOTHING,
  parameters: {
    type: "object",
    properties: { query: { type: "string", description: "Search terms." } },
    required: ["query"],
  },
  async execute({ query }, { fetch, memory, config }) {
    const terms = query.replace(/\s+/g, " ").trim();
    if (terms === "") throw new ToolError("query is empty; say what to search for", "invalid_arguments");
    if (terms.length > LONGEST_QUERY) {
      throw new ToolError(
        `query has ${terms.length} characters; ${LONGEST_QUERY} is the most`,
        "invalid_arguments",
      );
    }
    const name = String(config["search.provider"] ?? "duckduckgo"),
      backend = Object.hasOwn(BACKENDS, name) ? BACKENDS[name] : undefined;
    if (!backend) {
      throw new ToolError(
        name === "none"
          ? 'web search is turned off (search.provider is "none")'
          : `no search provider "${name}"; one of ${Object.keys(BACKENDS).join(", ")}, none`,
      );
    }
    const most = Math.max(1, Number(config["search_results"] ?? 5));
    const answer = await fetch({ service: "search", ...backend.request(terms, most) });
    const text = new TextDecoder().decode(answer.body);
    if (answer.status < 200 || answer.status > 299 || answer.status === 202) {
      throw new ToolError(
        `the search failed: ${name} answered ${answer.status}${backend.why(answer.status, text)}`,
      );
    }
    const found: SearchResult[] = [];
    for (const hit of await backend.parse(text)) {
      const url = pageUrl(hit.url);
      if (url === null || found.some((other) => other.url === url)) continue;
      const title = oneLine(hit.title, 200) || url;
      found.push({ url, title, snippet: oneLine(hit.snippet, 500) });
      if (found.length === most) break;
    }
    await keepResults(memory, found);
    if (found.length === 0) return NOTHING;
    const list = found.map(({ title, url, snippet }, i) =>
      `${i + 1}. ${title}\n   URL: ${url}${snippet === "" ? "" : `\n   Snippet: ${snippet}`}`
    );
    return `Web search results for "${oneLine(terms, 200)}":\n${frame(name, list.join("\n"))}`;
  },
});

/** The address of a hit, where it is a page's. */
function pageUrl(text: string): string | null {
  try {
    const url = new URL(text);
    return url.protocol === "http:" || url.protocol === "https:" ? url.href : null;
  } catch {
    return null;
  }
}
