/**
 * The one-line analysis of a tool's result (`tool_analysis`): for the log, never for the conversation.
 *
 * @module
 */
import type { Provider, Usage } from "../provider/provider.ts";

/** Characters of a result that are analysed. */
const MAX_CHARS = 2000;

/**
 * Asks the model what a result shows.
 *
 * @param onUsage is told what the request cost
 * @returns one line, or null when the request failed or nothing came
 */
export async function analyse(
  provider: Provider,
  call: { readonly name: string; readonly args: Readonly<Record<string, unknown>>; readonly content: string },
  signal: AbortSignal,
  onUsage: (usage: Usage) => void,
): Promise<string | null> {
  let text = "";
  const asked = `Tool: ${call.name}\nArguments: ${JSON.stringify(call.args).slice(0, MAX_CHARS)}\nResult:\n${
    call.content.slice(0, MAX_CHARS)
  }`;
  try {
    const events = provider.chat(
      [
        { role: "system", content: "Say in one short line what this tool result shows. Only that line." },
        { role: "user", content: asked.toWellFormed() },
      ],
      [],
      { model: provider.model, signal },
    );
    for await (const event of events) {
      if (event.type === "token") text += event.text;
      else if (event.type === "error") return null;
      else if (event.type === "done" && event.usage) onUsage(event.usage);
    }
  } catch {
    return null;
  }
  return text.trim().split("\n", 1)[0]!.slice(0, 300).toWellFormed() || null;
}
