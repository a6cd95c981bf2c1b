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
  const asked = `Tool: ${call.name}\nArguments: ${JSON.stringify(call.args).slice(0, MAX_CHARS)}\nResult:\n${
    call.content.slice(0, MAX_CHARS)
  }`;
  let text: string;
  try {
    const { Llm } = await import("../llm/builder.ts");
    const response = await new Llm(provider, { retries: 0, signal }).builder()
      .system("Say in one short line what this tool result shows. Only that line.")
      .user(asked.toWellFormed())
      .generate();
    if (response.usage) onUsage(response.usage);
    text = response.text();
  } catch {
    return null;
  }
  return text.trim().split("\n", 1)[0]!.slice(0, 300).toWellFormed() || null;
}
