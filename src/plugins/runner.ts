/**
 * Calls tools of plugins in their hosts: a host is started when it is first needed, ended when it hangs, floods or has
 * nothing to do for a while, and started again for the next call.
 *
 * @module
 */
import { ToolError, type ToolErrorKind } from "../errors.ts";
import type { FromPlugin, PluginConnection, PluginLink, ToPlugin } from "../sandbox/_plugin_protocol.ts";
import { cleanForTerminal } from "../text/ansi.ts";
import type { Json } from "../tool.ts";

/** What one call brings along. */
export interface PluginCall {
  readonly args: Readonly<Record<string, unknown>>;
  /** The plugin's settings. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Milliseconds. */
  readonly timeout: number;
  readonly signal?: AbortSignal;
  readonly onProgress?: (text: string) => void;
}

/** Milliseconds until a plugin must be loaded. */
const LOAD = 10_000;
/** Milliseconds that a cancelled call gets to end by itself. */
const GRACE = 300;
/** Milliseconds without a call after which a host is ended. */
const IDLE = 60_000;
/** A plugin whose host ended this often without being told to is not started again. */
const MAX_CRASHES = 5;
/** Most lines of progress of one call. */
const MAX_PROGRESS = 500;
/** Lines that mean nothing, in one host's life. */
const MAX_JUNK = 1000;
const KINDS: readonly string[] = [
  "execution",
  "invalid_arguments",
  "permission",
  "not_found",
  "timeout",
] satisfies ToolErrorKind[];

interface Pending {
  readonly resolve: (value: Json) => void;
  readonly reject: (error: Error) => void;
  readonly onProgress?: (text: string) => void;
  /** Progress that was told. */
  told: number;
}

interface Running {
  readonly connection: PluginConnection;
  readonly pending: Map<number, Pending>;
  loaded: boolean;
  junk: number;
  timer?: ReturnType<typeof setTimeout>;
}

/** Runs tools of plugins. */
export class PluginRunner {
  readonly #link: PluginLink | null;
  readonly #lack: string;
  readonly #load: number;
  readonly #hosts = new Map<string, Running>();
  readonly #crashes = new Map<string, number>();
  #ids = 0;

  /**
   * @param link starts hosts; null: this process cannot
   * @param options `lack`: why it cannot; `load`: milliseconds until a plugin must be loaded
   */
  constructor(link: PluginLink | null, options: { readonly lack?: string; readonly load?: number } = {}) {
    this.#link = link;
    this.#lack = options.lack ?? "this process cannot start plugins";
    this.#load = options.load ?? LOAD;
  }

  /** Has a plugin's code describe its tools. @throws {ToolError} */
  describe(plugin: string): Promise<Json> {
    return this.#ask(plugin, { what: "describe" }, { args: {}, config: {}, timeout: this.#load });
  }

  /** Runs a tool. @throws {ToolError} for what the tool throws and what its host does wrong */
  call(plugin: string, tool: string, call: PluginCall): Promise<Json> {
    const { args, config } = call;
    return this.#ask(plugin, { what: "call", tool, args, config }, call);
  }

  /** Ends all hosts. */
  close(): void {
    for (const [plugin, host] of this.#hosts) this.#end(plugin, host, "the run is over");
    this.#link?.close();
  }

  #ask(
    plugin: string,
    message: { readonly what: "describe" } | {
      readonly what: "call";
      readonly tool: string;
      readonly args: Readonly<Record<string, unknown>>;
      readonly config: Readonly<Record<string, unknown>>;
    },
    call: PluginCall,
  ): Promise<Json> {
    const { signal } = call;
    if (signal?.aborted) return Promise.reject(new ToolError("The call was cancelled"));
    let host: Running;
    try {
      host = this.#hosts.get(plugin) ?? this.#start(plugin);
    } catch (error) {
      return Promise.reject(error);
    }
    const id = ++this.#ids;
    return new Promise<Json>((resolve, reject) => {
      let grace: ReturnType<typeof setTimeout> | undefined;
      const settle = () => {
        clearTimeout(timer);
        clearTimeout(grace);
        signal?.removeEventListener("abort", abort);
        host.pending.delete(id);
        this.#rest(plugin, host);
      };
      const abort = () => {
        host.connection.send(JSON.stringify({ id, what: "abort" } satisfies ToPlugin));
        grace = setTimeout(() => this.#end(plugin, host, "the call was cancelled"), GRACE);
      };
      const seconds = Math.round(call.timeout / 100) / 10;
      const timer = setTimeout(
        () => this.#end(plugin, host, `it did not answer within ${seconds} s and was ended`, "timeout"),
        call.timeout,
      );
      host.pending.set(id, {
        resolve: (value) => {
          settle();
          resolve(value);
        },
        reject: (error) => {
          settle();
          reject(error);
        },
        onProgress: call.onProgress,
        told: 0,
      });
      clearTimeout(host.loaded ? host.timer : undefined);
      host.connection.send(JSON.stringify({ id, ...message } satisfies ToPlugin));
      signal?.addEventListener("abort", abort, { once: true });
    });
  }

  #start(plugin: string): Running {
    if (!this.#link) throw new ToolError(`the plugin ${plugin} cannot run: ${this.#lack}`, "permission");
    const crashes = this.#crashes.get(plugin) ?? 0;
    if (crashes >= MAX_CRASHES) {
      throw new ToolError(`the plugin ${plugin} ended ${crashes} times in this run and is not started again`);
    }
    const pending = new Map<number, Pending>();
    const connection = this.#link.start(plugin, {
      onLine: (line) => this.#take(plugin, host, line),
      onEnd: (reason) => {
        if (this.#hosts.get(plugin) !== host) return;
        this.#crashes.set(plugin, crashes + 1);
        this.#end(plugin, host, reason);
      },
    });
    const host: Running = { connection, pending, loaded: false, junk: 0 };
    const seconds = this.#load / 1000;
    host.timer = setTimeout(
      () => this.#end(plugin, host, `it did not load within ${seconds} s and was ended`, "timeout"),
      this.#load,
    );
    this.#hosts.set(plugin, host);
    return host;
  }

  #take(plugin: string, host: Running, line: string): void {
    if (this.#hosts.get(plugin) !== host) return;
    let message: FromPlugin | null = null;
    try {
      const value: unknown = JSON.parse(line);
      if (typeof value === "object" && value !== null) message = value as FromPlugin;
    } catch { /* something that the plugin printed */ }
    if (message && "ready" in message && !host.loaded) {
      host.loaded = true;
      clearTimeout(host.timer);
      this.#rest(plugin, host);
      return;
    }
    if (message && "failed" in message) {
      if (host.loaded) this.#crashes.set(plugin, (this.#crashes.get(plugin) ?? 0) + 1);
      const what = host.loaded ? "it ended" : "it could not be loaded";
      return this.#end(plugin, host, `${what}: ${short(message.failed)}`);
    }
    const asked = message && "id" in message ? host.pending.get(message.id) : undefined;
    if (!message || !asked || !("id" in message)) {
      if (++host.junk > MAX_JUNK) this.#end(plugin, host, "it wrote too much that means nothing");
      return;
    }
    if ("progress" in message) {
      if (++asked.told <= MAX_PROGRESS) asked.onProgress?.(short(message.progress));
    } else if (message.ok === true) asked.resolve(message.value ?? "");
    else {
      const kind = KINDS.includes(message.kind) ? message.kind : "execution";
      asked.reject(new ToolError(short(message.message), kind));
    }
  }

  /** A host without calls is ended after a while. */
  #rest(plugin: string, host: Running): void {
    if (!host.loaded || host.pending.size > 0 || this.#hosts.get(plugin) !== host) return;
    clearTimeout(host.timer);
    host.timer = setTimeout(() => this.#end(plugin, host, "it had nothing to do"), IDLE);
    Deno.unrefTimer(host.timer);
  }

  #end(plugin: string, host: Running, reason: string, kind: ToolErrorKind = "execution"): void {
    if (this.#hosts.get(plugin) === host) this.#hosts.delete(plugin);
    clearTimeout(host.timer);
    host.connection.end();
    for (const { reject } of [...host.pending.values()]) {
      reject(new ToolError(`the plugin ${plugin} failed: ${reason}`, kind));
    }
    clearTimeout(host.timer);
  }
}

function short(text: unknown): string {
  return cleanForTerminal(String(text).slice(0, 4000), { line: true });
}
