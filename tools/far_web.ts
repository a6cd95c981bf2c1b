/**
 * The tools that run in workers without any permission, and what their handlers load.
 *
 * @module
 */
import "./_html.ts";
import "./_web_duckduckgo.ts";
import "./_web_pdf.ts";
import type { Tool } from "../src/tool.ts";
import { webFetch } from "./web_fetch.ts";
import { webSearch } from "./web_search.ts";

/** Tools whose `access` is the network alone. */
export const tools: readonly Tool[] = [webSearch, webFetch];
