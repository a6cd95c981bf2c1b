import type { ChatMessage, ChatOptions, Provider, ProviderEvent } from "../../src/provider/provider.ts";
import type { ToolDefinition } from "../../src/tool.ts";
import { createOpenAIProvider, type OpenAIOptions } from "../../src/provider/openai.ts";

/** What a reply came to. */
export interface Collected {
  readonly events: ProviderEvent[];
  readonly text: string;
  readonly thinking: string;
  readonly calls: { id: string; name: string; arguments: string }[];
  readonly last: ProviderEvent | undefined;
}

export const HI: readonly ChatMessage[] = [{ role: "user", content: "hi" }];

/** Reads one reply to its end. */
export async function collect(
  provider: Provider,
  messages: readonly ChatMessage[] = HI,
  options: Partial<ChatOptions> = {},
  tools: readonly ToolDefinition[] = [],
): Promise<Collected> {
  const events: ProviderEvent[] = [];
  let text = "", thinking = "";
  const calls: { id: string; name: string; arguments: string }[] = [];
  for await (const event of provider.chat(messages, tools, { model: provider.model, ...options })) {
    events.push(event);
    if (event.type === "token") text += event.text;
    if (event.type === "thinking") thinking += event.text;
    if (event.type === "tool_calls") calls.push(...event.calls);
  }
  await provider.close?.();
  return { events, text, thinking, calls, last: events[events.length - 1] };
}

/** A provider of the server at `url`. */
export function providerAt(url: string, options: Partial<OpenAIOptions> = {}): Provider {
  return createOpenAIProvider({
    name: "openai-compatible",
    model: "scripted",
    baseUrl: url,
    apiKey: null,
    ...options,
  });
}
