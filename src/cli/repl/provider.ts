/**
 * The provider of a session, which the person may change between turns.
 *
 * @module
 */
import { ProviderError } from "../../errors.ts";
import type { ProviderSettings } from "../../provider/detect.ts";
import type { ChatMessage, ChatOptions, Provider, ProviderEvent } from "../../provider/provider.ts";
import type { ToolDefinition } from "../../tool.ts";

/** Opens a provider for these settings. */
export type OpenProvider = (settings: ProviderSettings) => Promise<Provider>;

/** One provider whose server and model can be changed; who holds it always asks the current one. */
export class LiveProvider implements Provider {
  readonly #open: OpenProvider;
  #settings: ProviderSettings;
  #current: Provider | null = null;
  #opening: Promise<Provider> | null = null;

  /** @param settings what to begin with; nothing is opened yet */
  constructor(settings: ProviderSettings, open: OpenProvider) {
    this.#settings = settings;
    this.#open = open;
  }

  /** What it was opened with, or will be. */
  get settings(): ProviderSettings {
    return this.#settings;
  }

  /** The open one, or null. */
  get current(): Provider | null {
    return this.#current;
  }

  get name(): string {
    return this.#current?.name ?? this.#settings.provider;
  }

  get model(): string {
    return this.#current?.model ?? this.#settings.model;
  }

  /** Opens it, unless it is open. @throws {PolyglavError} where there is none; the next call tries again */
  async ready(): Promise<Provider> {
    if (this.#current) return this.#current;
    const opening = this.#opening ??= this.#open(this.#settings);
    try {
      const provider = await opening;
      if (this.#opening === opening) this.#current = provider;
      return this.#current ?? provider;
    } catch (error) {
      if (this.#opening === opening) this.#opening = null;
      throw error;
    }
  }

  /** Changes it from the next request on. @throws {PolyglavError} where that one cannot be opened: the old one stays */
  async use(change: Partial<ProviderSettings>): Promise<void> {
    const settings = { ...this.#settings, ...change }, next = await this.#open(settings), old = this.#current;
    this.#settings = settings;
    this.#current = next;
    this.#opening = Promise.resolve(next);
    await old?.close?.();
  }

  /** As {@link Provider.chat}; the model of the request wins where it is another than before. */
  async *chat(
    messages: readonly ChatMessage[],
    tools: readonly ToolDefinition[],
    options: ChatOptions,
  ): AsyncIterable<ProviderEvent> {
    const provider = this.#current;
    if (!provider) throw new ProviderError("the provider is not open yet");
    yield* provider.chat(messages, tools, options);
  }

  async close(): Promise<void> {
    const { current } = this;
    this.#current = this.#opening = null;
    await current?.close?.();
  }
}
