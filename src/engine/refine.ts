/**
 * Short search queries, improved by one request to the model (`query_refine`).
 *
 * @module
 */
import type { Settings } from "../config/settings.ts";
import { isJsonObject } from "../llm/messages.ts";
import type { ChatMessage, Provider, Usage } from "../provider/provider.ts";
import type { Tool } from "../tool.ts";

/** Milliseconds that the request may take; the query stays as it is after that. */
const TIMEOUT = 15_000;
/** Characters of one message that the model is shown. */
const MAX_CHARS = 1000;
/** A longer answer is no query. */
const LONGEST_QUERY = 300;

/** What {@link refineArguments} works with. */
export interface RefineContext {
  readonly provider: Provider;
  readonly settings: Pick<Settings, "query_refine" | "query_refine_min_words" | "query_refine_context">;
  /** The conversation so far. */
  readonly messages: readonly ChatMessage[];
  readonly signal: AbortSignal;
  /** Told what the request cost. */
  readonly onUsage: (usage: Usage) => void;
}

/**
 * The arguments of a call, with a better query where the tool asks for that and the query is short. They stay as they are
 * where the model has no better one, and where anything fails.
 *
 * @param raw the arguments as the model wrote them
 */
export async function refineArguments(
  tool: Tool | null,
  raw: string,
  context: RefineContext,
): Promise<string> {
  const { settings } = context;
  if (!settings.query_refine || !tool?.refine || !isJsonObject(raw)) return raw;
  const args = JSON.parse(raw) as Record<string, unknown>;
  const key = [
    "query",
    ...Object.keys(tool.paramAliases ?? {}).filter((name) => tool.paramAliases![name] === "query"),
  ]
    .find((name) => typeof args[name] === "string");
  const query = key === undefined ? "" : String(args[key]).trim();
  if (query === "" || query.split(/\s+/).length > settings.query_refine_min_words) return raw;
  const better = await ask(query, context);
  return better === null || better === query ? raw : JSON.stringify({ ...args, [key!]: better });
}

async function ask(query: string, context: RefineContext): Promise<string | null> {
  const { provider, signal, onUsage } = context;
  const limit = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT)]);
  const shown = `${recent(context)}Query: ${query}`;
  let text = "";
  try {
    const events = provider.chat(
      [
        {
          role: "system",
          content:
            "Rewrite the search query so that a search engine finds what the conversation is about. Keep names and numbers. Answer with the query alone, on one line.",
        },
        { role: "user", content: shown.toWellFormed() },
      ],
      [],
      { model: provider.model, signal: limit },
    );
    for await (const event of events) {
      if (event.type === "token") text += event.text;
      else if (event.type === "error") return null;
      else if (event.type === "done" && event.usage) onUsage(event.usage);
    }
  } catch {
    return null;
  }
  if (limit.aborted) return null;
  const line = text.trim().replace(/^(?:query|search)\s*:\s*/i, "").replace(/^(["'`])(.*)\1$/s, "$2").trim();
  return line === "" || line.includes("\n") || line.length > LONGEST_QUERY ? null : line.toWellFormed();
}

/** The last messages of user and model; results of tools may hold what others wrote and stay out. */
function recent({ messages, settings }: RefineContext): string {
  const { query_refine_context: most } = settings;
  const spoken = messages.filter(({ role, content }) => (role === "user" || role === "assistant") && content);
  const last = most > 0 ? spoken.slice(-most) : [];
  return last.map(({ role, content }) => `${role}: ${content!.slice(0, MAX_CHARS)}\n\n`).join("");
}
