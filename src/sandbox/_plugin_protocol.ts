/**
 * What is said between the program, the launcher and a plugin's host. Everything is JSON, one value a line.
 *
 * @module
 */
import type { ToolErrorKind } from "../errors.ts";
import type { Json } from "../tool.ts";

/** Longest line that is passed on; a host that writes a longer one is ended. */
export const MAX_LINE: number = 8 * 1024 * 1024;

/** What a plugin's host may do: Deno permissions, as absolute paths, `host:port`s, programs and names of variables. */
export interface PluginPermissions {
  readonly read: readonly string[];
  readonly denyRead: readonly string[];
  readonly write: readonly string[];
  readonly denyWrite: readonly string[];
  readonly net: readonly string[];
  readonly run: readonly string[];
  readonly env: readonly string[];
}

/** How a plugin's host is started. Made by the launcher, before the program runs; the program can only name it. */
export interface PluginPlan {
  readonly name: string;
  /** Absolute path of the folder with the plugin's own copy. */
  readonly root: string;
  /** Module with its tools, relative to the folder. */
  readonly entry: string;
  /** Beside its own folder. */
  readonly permissions: PluginPermissions;
  /** Megabytes until it is ended. */
  readonly memory: number;
  readonly worktree: string;
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
}

/** What a host is told on its command line. */
export interface PluginSetup {
  readonly root: string;
  readonly entry: string;
  readonly worktree: string;
  readonly read: readonly string[];
  readonly write: readonly string[];
  readonly memory: number;
  /** Permissions of the worker that holds the plugin; null: those of the host's process. */
  readonly narrow: PluginPermissions | null;
}

/** Program to plugin. */
export type ToPlugin =
  | { readonly id: number; readonly what: "describe" }
  | {
    readonly id: number;
    readonly what: "call";
    readonly tool: string;
    readonly args: Readonly<Record<string, unknown>>;
    readonly config: Readonly<Record<string, unknown>>;
  }
  | { readonly id: number; readonly what: "abort" };

/** Plugin to program. */
export type FromPlugin =
  | { readonly ready: true }
  | { readonly failed: string }
  | { readonly id: number; readonly progress: string }
  | { readonly id: number; readonly ok: true; readonly value: Json }
  | { readonly id: number; readonly ok: false; readonly kind: ToolErrorKind; readonly message: string };

/** Program to launcher: a plugin's host by the plugin's name. `run` numbers the hosts that were ever started. */
export type ToLauncher =
  | { readonly hello: string }
  | { readonly start: string; readonly run: number }
  | { readonly run: number; readonly line: string }
  | { readonly run: number; readonly end: true };

/** Launcher to program. */
export type FromLauncher =
  | { readonly run: number; readonly line: string }
  | { readonly run: number; readonly ended: string };

/** A host that runs. */
export interface PluginConnection {
  /** Sends a line to it. */
  send(line: string): void;
  /** Ends it. */
  end(): void;
}

/** What comes from a host. */
export interface PluginEvents {
  /** A line that it wrote. No more is read from it before the promise settles. */
  onLine(line: string): void | Promise<void>;
  /** It has ended; why, in words. Comes once, and last. */
  onEnd(reason: string): void;
}

/** A way to start hosts. */
export interface PluginLink {
  /** Starts the host of a plugin; what goes wrong comes as `onEnd`. */
  start(plugin: string, events: PluginEvents): PluginConnection;
  /** Ends all. */
  close(): void;
}

/** Cuts bytes into lines; calls back for each without its line feed, and once when one is longer than {@link MAX_LINE}. */
export class LineReader {
  readonly #onLine: (line: string) => void;
  readonly #onFlood: () => void;
  readonly #decoder = new TextDecoder();
  #parts: string[] = [];
  #length = 0;
  #flooded = false;

  /** @param onLine gets each line; @param onFlood is told that a line is too long, and nothing after that */
  constructor(onLine: (line: string) => void, onFlood: () => void) {
    this.#onLine = onLine;
    this.#onFlood = onFlood;
  }

  /** Takes the next bytes. */
  push(bytes: Uint8Array): void {
    if (this.#flooded) return;
    const pieces = this.#decoder.decode(bytes, { stream: true }).split("\n");
    for (let i = 0; i < pieces.length; i++) {
      this.#parts.push(pieces[i]!);
      this.#length += pieces[i]!.length;
      if (this.#length > MAX_LINE) {
        this.#flooded = true;
        this.#parts = [];
        this.#onFlood();
        return;
      }
      if (i < pieces.length - 1) {
        const line = this.#parts.join("");
        [this.#parts, this.#length] = [[], 0];
        if (line !== "") this.#onLine(line);
      }
    }
  }
}
