/**
 * A model that says what it is told to say, for tests of programs that use the library.
 *
 * @module
 */
import { messageOf } from "../errors.ts";
import type { ChatMessage, ChatOptions, Provider, ProviderEvent } from "../provider/provider.ts";
import type { Json, ToolDefinition } from "../tool.ts";

/** What the model says to one request. */
export interface ScriptedReply {
  /** What it says. */
  readonly text?: string;
  /** What it thinks before. */
  readonly thinking?: string;
  /** Calls that it asks for. Arguments are an object, or text as it stands. */
  readonly calls?: readonly {
    readonly name: string;
    readonly arguments?: Json;
    readonly id?: string;
  }[];
  /** The request fails with this message. */
  readonly error?: string;
}

/** What the model was asked. */
export interface ScriptedRequest {
  /** The conversation, as it was then. */
  readonly messages: readonly ChatMessage[];
  /** The tools that it was told of. */
  readonly tools: readonly ToolDefinition[];
  /** Model, limits, signal. */
  readonly options: ChatOptions;
}

/** See {@link scriptedProvider}. */
export interface ScriptedProvider extends Provider {
  /** Every request so far, in order. */
  readonly requests: readonly ScriptedRequest[];
}

/**
 * A provider without a model: each request takes the next reply, or what a function makes of the request. Text is
 * streamed word by word. A request for which no reply is left fails.
 *
 * @example
 * ```ts
 * import { Llm, scriptedProvider } from "@polyglav/cli/llm";
 *
 * const llm = new Llm(scriptedProvider([{ text: "Hello." }]));
 * const response = await llm.builder().user("Say hello.").generate();
 * console.log(response.text()); // Hello.
 * ```
 */
export function scriptedProvider(
  script: readonly ScriptedReply[] | ((request: ScriptedRequest, index: number) => ScriptedReply),
): ScriptedProvider {
  const requests: ScriptedRequest[] = [];
  let ids = 0;
  return {
    name: "scripted",
    model: "scripted",
    requests,
    async *chat(messages, tools, options): AsyncGenerator<ProviderEvent> {
      const request = { messages: structuredClone(messages), tools, options };
      const index = requests.push(request) - 1;
      let reply: ScriptedReply | undefined;
      try {
        reply = typeof script === "function" ? script(request, index) : script[index];
      } catch (error) {
        reply = { error: messageOf(error) };
      }
      await Promise.resolve();
      if (!reply || reply.error !== undefined) {
        const message = reply?.error ?? `the script has no reply number ${index + 1}`;
        yield { type: "error", code: 0, message, retryable: false };
        return;
      }
      for (const text of words(reply.thinking)) yield { type: "thinking", text };
      for (const text of words(reply.text)) yield { type: "token", text };
      const calls = (reply.calls ?? []).map(({ name, arguments: args = {}, id }) => ({
        id: id ?? `call_${++ids}`,
        name,
        arguments: typeof args === "string" ? args : JSON.stringify(args),
      }));
      if (calls.length > 0) yield { type: "tool_calls", calls };
      yield { type: "done", finish: calls.length > 0 ? "tool_calls" : "stop" };
    },
  };
}

function words(text = ""): string[] {
  return text.match(/\S*\s*/g)!.filter((word) => word !== "");
}
