/**
 * The result pages of DuckDuckGo for browsers without scripts (`lite` and `html`).
 *
 * @module
 */
import { Parser } from "htmlparser2";
import { ToolError } from "../src/errors.ts";
import type { SearchResult } from "./_web.ts";

interface Hit {
  title: string;
  url: string;
  snippet: string;
}

/**
 * Reads a result page.
 *
 * @throws {ToolError} where it is another page: then nothing is known of results
 */
export function parseDuckDuckGo(html: string): SearchResult[] {
  const hits: Hit[] = [];
  let into: "title" | "snippet" | null = null, element = "", depth = 0, known = false, robot = false;
  const parser = new Parser({
    onopentag(name, { class: names = "", href = "", id = "", action = "" }) {
      const classes = names.split(/\s+/);
      if (/anomaly|challenge/.test(`${names} ${id} ${action}`)) robot = true;
      if (classes.includes("no-results") || /^(?:links|zero_click)/.test(id) || classes.includes("results")) {
        known = true;
      }
      if (into !== null) {
        if (name === element) depth++;
        return;
      }
      if (name === "a" && (classes.includes("result-link") || classes.includes("result__a"))) {
        known = true;
        const url = target(href);
        // Advertisements go through the service's own address.
        if (url === null) return;
        hits.push({ title: "", url, snippet: "" });
        [into, element, depth] = ["title", name, 1];
      } else if (
        hits.length > 0 && hits.at(-1)!.snippet === "" &&
        (classes.includes("result-snippet") || classes.includes("result__snippet"))
      ) [into, element, depth] = ["snippet", name, 1];
    },
    ontext(text) {
      if (into !== null) hits.at(-1)![into] += text;
      else if (/no (?:more )?results/i.test(text)) known = true;
    },
    onclosetag(name) {
      if (into !== null && name === element && --depth === 0) into = null;
    },
  });
  parser.end(html);
  if (robot && hits.length === 0) {
    throw new ToolError(
      "the search failed: duckduckgo takes this program for a robot; try later, or set search.provider to searxng, brave or tavily",
    );
  }
  if (!known) {
    throw new ToolError("the search failed: duckduckgo answered with a page that is no result page");
  }
  return hits;
}

/** The page behind a link of the service; null for what leads to no page. */
function target(href: string): string | null {
  try {
    const url = new URL(href, "https://duckduckgo.com/");
    const own = /(?:^|\.)duckduckgo\.com$/.test(url.hostname);
    if (!own) return url.href;
    return url.pathname === "/l/" ? url.searchParams.get("uddg") : null;
  } catch {
    return null;
  }
}
