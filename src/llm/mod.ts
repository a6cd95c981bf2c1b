/**
 * Requests to models, with the messages and the tools that the program itself uses.
 *
 * ```ts
 * import { Llm, Message, scriptedProvider } from "@polyglav/cli/llm";
 * import { defineTool, ToolRegistry } from "@polyglav/cli/tools";
 *
 * const registry = new ToolRegistry().register(defineTool({
 *   name: "add",
 *   description: "Add two numbers.",
 *   parameters: {
 *     type: "object",
 *     properties: {
 *       a: { type: "number", description: "The first number." },
 *       b: { type: "number", description: "The second number." },
 *     },
 *     required: ["a", "b"],
 *   },
 *   execute: ({ a, b }) => String(a + b),
 * }));
 *
 * // In a program: openLlm({ baseUrl: "http://127.0.0.1:11434/v1", model: "qwen3" })
 * const llm = new Llm(scriptedProvider([
 *   { calls: [{ name: "add", arguments: { a: 2, b: 3 } }] },
 *   { text: "It is 5." },
 * ]));
 *
 * const history: Message[] = [Message.user("What is 2 + 3?")];
 * for (;;) {
 *   const response = await llm.builder().withRegistry(registry).messages(history).reason();
 *   history.push(Message.assistantFromBlocks(response.content));
 *   if (!response.hasToolCalls()) break;
 *   for (const { id, function: { name, arguments: args } } of response.toolCalls()) {
 *     const result = await registry.execute(name, args).catch((error) => `Error: ${error.message}`);
 *     history.push(Message.toolResult(id, result));
 *   }
 * }
 * console.log(history.at(-1)!.content); // It is 5.
 * ```
 *
 * @module
 */
import { createOpenAIProvider } from "../provider/openai.ts";
import { normalizeBaseUrl } from "../provider/presets.ts";
import { Llm, type RequestOptions } from "./builder.ts";

export { Llm, LlmRequestBuilder, type RequestOptions } from "./builder.ts";
export { ReasonError } from "./error.ts";
export { type Block, type CallBlock, type LlmResponse, Message, type MessageMakers } from "./message.ts";
export {
  type ScriptedProvider,
  scriptedProvider,
  type ScriptedReply,
  type ScriptedRequest,
} from "./scripted.ts";
export { type Ask, LlmStream, type StreamPart } from "./stream.ts";
export { EXIT, PolyglavError, ProviderError } from "../errors.ts";
export type {
  ChatMessage,
  ChatOptions,
  FinishReason,
  Provider,
  ProviderEvent,
  ToolCall,
  Usage,
} from "../provider/provider.ts";
export type { FoundTool, SchemaFilter, ToolRegistry } from "../registry/registry.ts";
export type * from "../tool.ts";

/** A server with the Chat Completions API, and a model on it. */
export interface LlmServer extends RequestOptions {
  /** Such as `http://127.0.0.1:11434/v1`. */
  readonly baseUrl: string;
  /** The model's name on that server. */
  readonly model: string;
  /** Sent as a bearer token. Nothing is read from the environment. */
  readonly apiKey?: string;
}

/**
 * A model on any server with the Chat Completions API (OpenAI, Ollama, vLLM, LM Studio, …).
 *
 * @throws {ConfigError} for an address that is no http(s) URL
 *
 * @example
 * ```ts
 * import { openLlm } from "@polyglav/cli/llm";
 *
 * const llm = openLlm({ baseUrl: "http://127.0.0.1:11434/v1", model: "qwen3" });
 * const request = llm.builder().system("Answer in one word.").user("The capital of France?");
 * // const response = await request.generate();
 * ```
 */
export function openLlm({ baseUrl, model, apiKey, ...options }: LlmServer): Llm {
  const provider = createOpenAIProvider({
    name: "openai-compatible",
    baseUrl: normalizeBaseUrl(baseUrl),
    apiKey: apiKey ?? null,
    model,
  });
  return new Llm(provider, options);
}
