/**
 * Requests to a model as code: `llm.builder().withRegistry(tools).system("…").user("…").generate()`.
 *
 * @module
 */
import { messageOf, ProviderError } from "../errors.ts";
import type { ChatMessage, ChatOptions, Provider } from "../provider/provider.ts";
import { advertisedSchema } from "../registry/arguments.ts";
import type { SchemaFilter, ToolRegistry } from "../registry/registry.ts";
import type { Tool, ToolDefinition, Toolset } from "../tool.ts";
import { toolsOf } from "../toolset.ts";
import { ReasonError } from "./error.ts";
import { type Block, type LlmResponse, Message, responseOf } from "./message.ts";
import { safeName } from "./messages.ts";
import { type Reply, requestReply } from "./reply.ts";
import { LlmStream, type StreamPart } from "./stream.ts";

/** Options of a request, beside what is said. */
export type RequestOptions = Partial<Omit<ChatOptions, "signal">> & {
  /** Ends the request. */
  readonly signal?: AbortSignal;
  /** Tries after the first, where the server was busy or the connection broke before anything was said. Default 2. */
  readonly retries?: number;
  /** Seconds before the second try; doubles. Default 0.5. */
  readonly retryDelay?: number;
};

/** A model that can be asked. */
export class Llm {
  readonly #provider: Provider;
  readonly #options: RequestOptions;

  /**
   * Makes a model that can be asked.
   *
   * @param provider where the model is
   * @param options what holds for every request
   */
  constructor(provider: Provider, options: RequestOptions = {}) {
    this.#provider = provider;
    this.#options = options;
  }

  /** The model's name. */
  get model(): string {
    return this.#options.model ?? this.#provider.model;
  }

  /** A new request. */
  builder(): LlmRequestBuilder {
    return new LlmRequestBuilder(this.#provider, this.#options);
  }

  /** Releases what the provider holds. */
  async close(): Promise<void> {
    await this.#provider.close?.();
  }
}

/** A request in the making. Each method returns the same builder; the request can be made several times. */
export class LlmRequestBuilder {
  readonly #provider: Provider;
  readonly #system: string[] = [];
  readonly #messages: ChatMessage[] = [];
  readonly #tools = new Map<string, { readonly definition: ToolDefinition; readonly tool: Tool }>();
  #options: RequestOptions;

  /**
   * Begins a request.
   *
   * @param provider where the model is
   * @param options what holds unless this request says otherwise
   */
  constructor(provider: Provider, options: RequestOptions = {}) {
    this.#provider = provider;
    this.#options = options;
  }

  /** The model may ask for every tool of a registry; with a policy, for those that it does not deny. */
  withRegistry(registry: ToolRegistry, policy?: SchemaFilter): this {
    for (const tool of registry.list()) {
      if (!policy || policy.allowed(tool).action !== "deny") this.withTool(tool);
    }
    return this;
  }

  /**
   * The model may ask for this tool.
   *
   * @throws {TypeError} where another tool of the request has its name
   */
  withTool(tool: Tool): this {
    const taken = this.#tools.get(tool.name);
    if (taken && taken.tool !== tool) {
      throw new TypeError(`Cannot add the tool "${tool.name}": another tool of this request has that name`);
    }
    const { name, description, parameters } = tool;
    const definition = { name, description, parameters: advertisedSchema(parameters) };
    this.#tools.set(name, { definition, tool });
    return this;
  }

  /** The model may ask for the tools of a toolset. */
  withToolset(set: Toolset | object): this {
    for (const tool of toolsOf(set)) this.withTool(tool);
    return this;
  }

  /** Says what the model is to be; comes first, whatever the order of calls. */
  system(text: string): this {
    this.#system.push(text);
    return this;
  }

  /** Adds messages in order. */
  messages(messages: Iterable<Message>): this {
    this.#messages.push(...messages);
    return this;
  }

  /** Adds what a person says. */
  user(text: string): this {
    return this.messages([Message.user(text)]);
  }

  /** Sets options of this request. */
  with(options: RequestOptions): this {
    this.#options = { ...this.#options, ...options };
    return this;
  }

  /**
   * Asks, and waits for the whole answer.
   *
   * @throws {ProviderError} when the model could not be reached or its answer broke off; what the signal was aborted with
   */
  async generate(): Promise<LlmResponse> {
    return await this.#ask();
  }

  /** Asks, and hands the answer out as it comes. The request is made when the first part is taken. */
  stream(): LlmStream {
    return new LlmStream((signal, onPart) => this.#ask(signal, onPart));
  }

  /**
   * Like {@link generate}, for a request that makes no sense without tools.
   *
   * @throws {ReasonError} `NoTools` before anything is asked; `Generation` around what `generate` throws
   */
  async reason(): Promise<LlmResponse> {
    if (this.#tools.size === 0) {
      throw new ReasonError(
        "the request has no tools; add some with withRegistry, withTool or withToolset, or use generate",
        "NoTools",
      );
    }
    try {
      return await this.generate();
    } catch (error) {
      throw new ReasonError(`generation failed: ${messageOf(error)}`, "Generation", { cause: error });
    }
  }

  async #ask(stop?: AbortSignal, onPart?: (part: StreamPart) => void): Promise<LlmResponse> {
    const { signal: own, retries = 2, retryDelay = 0.5, model, ...options } = this.#options;
    const signals = [own, stop].filter((signal) => signal !== undefined);
    const signal = signals.length === 1 ? signals[0]! : AbortSignal.any(signals);
    signal.throwIfAborted();
    const reply = await requestReply({
      provider: this.#provider,
      messages: this.#request(),
      tools: [...this.#tools.values()].map(({ definition }) => definition),
      options: { ...options, model: model ?? this.#provider.model, signal },
      signal,
      retries,
      delay: retryDelay,
      onPart: onPart &&
        ((part) => onPart({ type: part.type === "token" ? "text" : part.type, text: part.text })),
    });
    return this.#response(reply, signal);
  }

  /** The messages as they are sent: the system's first, and with each result the name of what was called. */
  #request(): ChatMessage[] {
    const names = new Map<string, string>();
    const messages = this.#messages.map((message): ChatMessage => {
      if (message.role === "assistant") {
        for (const call of message.tool_calls ?? []) names.set(call.id, safeName(call.name));
      }
      if (message.role !== "tool" || message.name !== "") return message;
      return { ...message, name: names.get(message.tool_call_id) ?? "unknown" };
    });
    const system = this.#system.map((text) => text.trim()).filter((text) => text !== "").join("\n\n");
    return system === "" ? messages : [{ role: "system", content: system }, ...messages];
  }

  #response(reply: Reply, signal: AbortSignal): LlmResponse {
    const { end, error, usage } = reply;
    if (end === "cancelled") {
      throw signal.reason ?? new DOMException("The request was cancelled", "AbortError");
    }
    if (end === "error" || end === "cut") {
      throw new ProviderError(error?.message ?? "the answer broke off", Number(error?.code) || 0);
    }
    const blocks: Block[] = [];
    if (reply.thinking !== "") blocks.push({ type: "thinking", text: reply.thinking });
    if (reply.text !== "") blocks.push({ type: "text", text: reply.text });
    for (const { id, name, arguments: text } of reply.calls) {
      blocks.push({ type: "tool_call", id, function: { name, arguments: text } });
    }
    return responseOf(blocks, end, usage);
  }
}
