/**
 * The search services: how each is asked and how its answer is read. Where they are, and the user's keys, the host knows.
 *
 * @module
 */
import { ToolError } from "../src/errors.ts";
import type { FetchRequest } from "../src/tool.ts";
import type { SearchResult } from "./_web.ts";

/** One search service. */
export interface Backend {
  /** The request; its URL follows the service's own address. */
  request(query: string, most: number): Pick<FetchRequest, "url" | "accept" | "body">;
  /**
   * The hits, best first.
   *
   * @throws {ToolError} for an answer that is none
   */
  parse(text: string): readonly SearchResult[] | Promise<readonly SearchResult[]>;
  /** What a failure means and what to do, or empty. */
  why(status: number, text: string): string;
}

/** The services by the name that `search.provider` has for them. */
export const BACKENDS: Readonly<Record<string, Backend>> = {
  duckduckgo: {
    request: (query) => ({ url: `lite/?${new URLSearchParams({ q: query })}`, accept: "text/html" }),
    async parse(text) {
      const { parseDuckDuckGo } = await import("./_web_duckduckgo.ts");
      return parseDuckDuckGo(text);
    },
    why: (status) =>
      status === 202 || status === 403 || status === 429
        ? ": it takes this program for a robot; try later, or set search.provider to searxng, brave or tavily"
        : "",
  },
  searxng: {
    request: (query) => ({
      url: `search?${new URLSearchParams({ q: query, format: "json" })}`,
      accept: "application/json",
    }),
    parse: (text) => hits(parseJson(text, "searxng"), ["results"], "content"),
    why: (status) =>
      status === 403 ? ": the instance gives no JSON; add `json` to search.formats of its settings.yml" : "",
  },
  brave: {
    request: (query, most) => ({
      url: `res/v1/web/search?${new URLSearchParams({ q: query, count: String(Math.min(most, 20)) })}`,
      accept: "application/json",
    }),
    parse: (text) => {
      const answer = parseJson(text, "brave");
      // Without hits there is no `web` at all.
      return isObject(answer) && answer.web === undefined
        ? []
        : hits(answer, ["web", "results"], "description");
    },
    why: keyProblem,
  },
  tavily: {
    request: (query, most) => ({
      url: "search",
      accept: "application/json",
      body: { type: "application/json", text: JSON.stringify({ query, max_results: Math.min(most, 20) }) },
    }),
    parse: (text) => hits(parseJson(text, "tavily"), ["results"], "content"),
    why: keyProblem,
  },
};

function keyProblem(status: number): string {
  if (status === 401 || status === 403) return ": the key is not valid";
  if (status === 422) return ": it did not take the query or the key";
  return status === 402 || status === 429 || status === 432 || status === 433
    ? ": the key's limit is reached"
    : "";
}

function parseJson(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ToolError(`the search failed: ${name} did not answer in JSON`);
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Reads `[{title, url, <snippet>}]` at a path; HTML in it is taken out. */
function hits(answer: unknown, path: readonly string[], snippet: string): SearchResult[] {
  let list = answer;
  for (const name of path) list = isObject(list) ? list[name] : undefined;
  if (!Array.isArray(list)) throw new ToolError("the search failed: its answer has no results in it");
  return list.filter(isObject).map((hit) => ({
    title: plain(hit.title),
    url: typeof hit.url === "string" ? hit.url : "",
    snippet: plain(hit[snippet]),
  }));
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#39;": "'",
  "&#x27;": "'",
};

/** Services mark the words that were found. */
function plain(value: unknown): string {
  if (typeof value !== "string") return "";
  return value.replace(/<\/?(?:strong|b|em|mark)>/gi, "").replace(
    /&(?:amp|lt|gt|quot|#39|#x27);/gi,
    (entity) => ENTITIES[entity.toLowerCase()] ?? entity,
  );
}
