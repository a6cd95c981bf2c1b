/**
 * Any server with the Chat Completions API, by the `openai` package.
 *
 * The package's own stream decoder and error classes are used, without its `OpenAI` class: that one reads variables
 * of the environment whatever its options say (`OPENAI_CUSTOM_HEADERS` among them), and loads every resource of the
 * API, which costs more start-up time than all the rest of a run. Nothing here reads the environment, logs, or retries:
 * retries belong to the engine.
 *
 * @module
 */
import { messageOf } from "../errors.ts";
import type { ToolDefinition } from "../tool.ts";
import { BodyWriter, learnQuirk, type Quirks } from "./_body.ts";
import { MAX_REPLY, ReplyReader } from "./_chunks.ts";
import { bodyError, type Endpoint, readText, responseError, send, thrownError } from "./_transport.ts";
import { WatchedBody } from "./_watch.ts";
import type { ChatMessage, ChatOptions, Provider, ProviderEvent } from "./provider.ts";

/** A server and a model on it. */
export interface OpenAIOptions extends Endpoint {
  /** Name as configured. */
  readonly name: string;
  readonly model: string;
  /** Field in which thinking is sent back; absent: it is not. */
  readonly thinkingField?: string;
  /** Milliseconds until the first byte of an answer; default ten minutes (local models read long prompts slowly). */
  readonly timeout?: number;
  /** Milliseconds of silence within a stream; default five minutes. */
  readonly idle?: number;
}

const TIMEOUT = 600_000;
const IDLE = 300_000;
/** Silence after the finish reason that is taken as the end, for servers that never close the stream. */
const IDLE_FINISHED = 3_000;

/** The parts of the package, loaded when the first request is made. */
interface Client {
  readonly Stream: typeof import("openai/core/streaming").Stream;
  readonly APIError: typeof import("openai/core/error").APIError;
}

let loading: Promise<Client> | null = null;

function load(): Promise<Client> {
  loading ??= Promise.all([import("openai/core/streaming"), import("openai/core/error")])
    .then(([{ Stream }, { APIError }]) => ({ Stream, APIError }));
  return loading;
}

/** A provider for one server. */
export function createOpenAIProvider(options: OpenAIOptions): Provider {
  return new OpenAIProvider(options);
}

class OpenAIProvider implements Provider {
  readonly name: string;
  readonly model: string;
  readonly #options: OpenAIOptions;
  readonly #body: BodyWriter;
  readonly #quirks: Quirks;
  /** Bodies whose end is still read. */
  readonly #bodies = new Set<WatchedBody>();

  constructor(options: OpenAIOptions) {
    this.name = options.name;
    this.model = options.model;
    this.#options = options;
    this.#body = new BodyWriter(options.thinkingField ?? null);
    this.#quirks = options.name === "openai" ? { completionTokens: true } : {};
  }

  async warm(): Promise<void> {
    await load();
  }

  async close(): Promise<void> {
    await Promise.all(Array.from(this.#bodies, (body) => body.abandon()));
  }

  async *chat(
    messages: readonly ChatMessage[],
    tools: readonly ToolDefinition[],
    options: ChatOptions,
  ): AsyncGenerator<ProviderEvent> {
    let client: Client;
    try {
      client = await load();
    } catch (error) {
      const message = `the package openai could not be loaded: ${messageOf(error)}`;
      yield { type: "error", code: 0, message, retryable: false };
      return;
    }
    const request = new Exchange(options.signal);
    try {
      for (;;) {
        const body = this.#body.write(messages, tools, options, this.#quirks);
        request.watch(this.#options.timeout ?? TIMEOUT, "no answer");
        const response = await send(this.#options, "/chat/completions", {
          method: "POST",
          body,
          signal: request.signal,
        });
        if (response.ok) {
          yield* this.#read(response, client, request);
          return;
        }
        const error = await responseError(response, this.#options);
        const refused = error.code === 400 || error.code === 422;
        if (!refused || !learnQuirk(this.#quirks, error.message, options)) {
          yield error;
          return;
        }
      }
    } catch (error) {
      yield request.failure() ?? thrownError(error, this.#options);
    } finally {
      request.end();
    }
  }

  async *#read(response: Response, client: Client, request: Exchange): AsyncGenerator<ProviderEvent> {
    const type = response.headers.get("content-type")?.toLowerCase() ?? "";
    if (/\bjson\b/.test(type) && !/ndjson|stream/.test(type)) return yield* this.#readJson(response, request);
    if (type.startsWith("text/html") || !response.body) {
      await response.body?.cancel();
      yield {
        type: "error",
        code: response.status,
        message:
          `${urlHost(this.#options)} answered ${type.split(";", 1)[0] || "nothing"} instead of a stream; ` +
          `check base_url (it should end in /v1 or what the server documents)`,
        retryable: false,
      };
      return;
    }
    request.watch(0);
    const reader = new ReplyReader();
    const idle = this.#options.idle ?? IDLE;
    const body = new WatchedBody(
      response.body,
      idle,
      (why) => request.stop(why),
    );
    this.#bodies.add(body);
    const controller = new AbortController();
    const stop = () => controller.abort();
    request.signal.addEventListener("abort", stop, { once: true });
    let complete = false;
    try {
      const source = { body, headers: response.headers } as unknown as Response;
      const quiet = { logLevel: "off" } as unknown as Parameters<typeof client.Stream.fromSSEResponse>[2];
      for await (const chunk of client.Stream.fromSSEResponse(source, controller, quiet)) {
        body.next();
        for (const event of reader.push(chunk)) yield event;
        if (reader.finished) body.shorten(IDLE_FINISHED);
        if (reader.tooLarge) {
          yield { type: "error", code: 0, message: tooLarge(), retryable: false };
          return;
        }
      }
      complete = !request.signal.aborted;
    } catch (error) {
      if (error instanceof client.APIError) {
        yield bodyError(error.error ?? error.message, this.#options);
        return;
      }
      if (error instanceof SyntaxError) {
        yield { type: "error", code: 0, message: "the server sent a broken event", retryable: true };
        return;
      }
      // The connection broke: what came so far ends here, cut unless it was complete.
    } finally {
      request.signal.removeEventListener("abort", stop);
      if (!complete) await body.abandon();
      body.drained.then(() => this.#bodies.delete(body));
    }
    if (!reader.finished) {
      const failure = request.failure();
      if (failure) {
        yield failure;
        return;
      }
    }
    for (const event of reader.end()) yield event;
  }

  /** A server that does not stream answers with the whole completion. */
  async *#readJson(response: Response, request: Exchange): AsyncGenerator<ProviderEvent> {
    const text = await readText(response, MAX_REPLY);
    if (request.signal.aborted) throw new Error("aborted");
    let body: Record<string, unknown> | null = null;
    try {
      body = JSON.parse(text);
    } catch { /* said below */ }
    if (body?.error) {
      yield bodyError(body.error, this.#options);
      return;
    }
    const reader = new ReplyReader();
    const events = reader.push(body);
    if (!reader.started) {
      const message = `${urlHost(this.#options)} answered JSON that is no completion; check base_url`;
      yield { type: "error", code: 0, message, retryable: false };
      return;
    }
    yield* events;
    yield* reader.end();
  }
}

function tooLarge(): string {
  return `the reply is larger than ${MAX_REPLY / 1024 / 1024} million characters`;
}

function urlHost(endpoint: Endpoint): string {
  return new URL(endpoint.baseUrl).host;
}

/** The signal of one request: the caller's, and our own time limits. */
class Exchange {
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal | undefined;
  readonly #onAbort = () => this.#controller.abort();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #why: string | null = null;

  constructor(outer: AbortSignal | undefined) {
    this.#outer = outer;
    if (outer?.aborted) this.#controller.abort();
    else outer?.addEventListener("abort", this.#onAbort, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Sets the time limit for what comes now; 0: none. */
  watch(ms: number, what = ""): void {
    clearTimeout(this.#timer);
    if (ms > 0) {
      this.#timer = setTimeout(() => this.stop(`${what} within ${Math.round(ms / 1000)} s`), ms);
    }
  }

  /** Ends the request for a reason of our own. */
  stop(why: string): void {
    this.#why ??= why;
    this.#controller.abort();
  }

  /** The event for a request that was ended by its signal; null where it was not. */
  failure(): ProviderEvent | null {
    if (this.#outer?.aborted) return { type: "done", finish: "cancelled" };
    if (this.#why !== null) {
      return { type: "error", code: 0, message: `gave up on the server: ${this.#why}`, retryable: true };
    }
    return null;
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#outer?.removeEventListener("abort", this.#onAbort);
  }
}

/**
 * The names of the models that a server offers, in its order.
 *
 * @throws {Error} with one line that says what went wrong
 */
export async function listModels(endpoint: Endpoint, timeout = 10_000): Promise<string[]> {
  const signal = AbortSignal.timeout(timeout);
  let response: Response;
  try {
    response = await send(endpoint, "/models", { method: "GET", signal });
  } catch (error) {
    if (signal.aborted) throw new Error(`${urlHost(endpoint)} did not answer within ${timeout / 1000} s`);
    throw new Error(thrownError(error, endpoint).message);
  }
  if (!response.ok) {
    const { code, message } = await responseError(response, endpoint);
    throw new Error(`${urlHost(endpoint)} answered ${code}: ${message}`);
  }
  let body: unknown;
  try {
    body = JSON.parse(await readText(response, 8 * 1024 * 1024));
  } catch {
    throw new Error(`${urlHost(endpoint)} answered /models with something that is not JSON; check base_url`);
  }
  const data = (body as { data?: unknown; models?: unknown } | null)?.data ??
    (body as { models?: unknown } | null)?.models;
  if (!Array.isArray(data)) return [];
  return data.map((item) => (item as { id?: unknown; name?: unknown } | null)?.id ?? item?.name)
    .filter((id): id is string => typeof id === "string" && id !== "");
}
