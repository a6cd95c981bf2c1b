/**
 * The host's port before the run is there: what serves it is made at the first call, so that runs which never delegate
 * pay nothing for it.
 *
 * @module
 */
import { ToolError } from "../errors.ts";
import type { HostCallOptions, HostPort } from "../tool.ts";
import type { RootHead } from "./_root.ts";

/** See the module's comment. */
export class LatePort implements HostPort {
  /** A headless run has nobody to ask. */
  readonly attended = false;
  #make: (() => Promise<RootHead>) | null = null;
  #made: Promise<RootHead> | null = null;

  /** From now on calls go to what `make` makes; returns how to have it made. */
  serve(make: () => Promise<RootHead>): () => Promise<RootHead> {
    this.#make = make;
    return () => this.#root();
  }

  /** What serves it, where a call or a continued run had it made. */
  get made(): Promise<RootHead> | null {
    return this.#made;
  }

  /** Performs an operation of the engine. */
  async call(
    operation: string,
    input: Readonly<Record<string, unknown>>,
    options?: HostCallOptions,
  ): Promise<unknown> {
    return await (await this.#root()).port.call(operation, input, options);
  }

  #root(): Promise<RootHead> {
    if (!this.#make) throw new ToolError("the run is not there yet");
    return this.#made ??= this.#make();
  }
}
