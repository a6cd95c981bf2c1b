/**
 * Programs made of typed plugins: each says what it depends on, builds its part, and is told when all is there.
 *
 * These plugins are code of the application itself. What users install is run elsewhere: see manifest.ts.
 *
 * @module
 */
import { messageOf, PolyglavError } from "../errors.ts";

/** A plugin's id, or a plugin class that carries it. */
export type PluginRef = string | { readonly id: string };

/** A part of a program. */
export interface Plugin {
  /** Unique, such as `myapp::search`. */
  readonly id: string;
  /** Such as `0.1.0`. */
  readonly version: string;
  /** Plugins that are built before this one. */
  readonly dependencies?: readonly PluginRef[];
  /** Makes resources, and changes those of its dependencies. */
  build(server: Server): void | Promise<void>;
  /** All plugins are built; from now on global resources are only read. */
  ready?(server: Server): void | Promise<void>;
}

/** What a resource is known by: its class. */
export type ResourceClass<T> = abstract new (...args: never[]) => T;

/** The plugins of a server cannot be put together. */
export class PluginError extends PolyglavError {}

/**
 * Holds plugins and what they make.
 *
 * @example
 * ```ts
 * import { type Plugin, Server, ToolsPlugin } from "@polyglav/cli/plugins";
 * import { defineTool, ToolRegistry } from "@polyglav/cli/tools";
 *
 * const search = defineTool({
 *   name: "search",
 *   description: "Search for documents matching a query.",
 *   parameters: {
 *     type: "object",
 *     properties: { query: { type: "string", description: "The search query string." } },
 *     required: ["query"],
 *   },
 *   execute: ({ query }) => `Found results for: ${query}`,
 * });
 *
 * class SearchPlugin implements Plugin {
 *   static readonly id = "myapp::search";
 *   readonly id = SearchPlugin.id;
 *   readonly version = "0.1.0";
 *   readonly dependencies = [ToolsPlugin];
 *   build(server: Server) {
 *     server.resource(ToolRegistry).register(search, this.id);
 *   }
 * }
 *
 * const server = await new Server().add(new SearchPlugin(), new ToolsPlugin()).start();
 * console.log(await server.resource(ToolRegistry).execute("search", { query: "rust" }));
 * ```
 */
export class Server {
  readonly #plugins = new Map<string, Plugin>();
  readonly #resources = new Map<unknown, { readonly value: unknown; readonly owner: string }>();
  #state: "open" | "building" | "built" | "ready" | "failed" = "open";
  #current = "application";

  /**
   * Adds plugins; their order does not matter.
   *
   * @throws {PluginError} when an id is taken or the server was started already
   */
  add(...plugins: readonly Plugin[]): this {
    if (this.#state !== "open") {
      throw new PluginError("Cannot add plugins: the server was started already; add them before start()");
    }
    for (const plugin of plugins) {
      const taken = this.#plugins.get(plugin.id);
      if (taken) {
        throw new PluginError(
          `Cannot add ${nameOf(plugin)}: ${nameOf(taken)} has the same id; add each plugin once`,
        );
      }
      this.#plugins.set(plugin.id, plugin);
    }
    return this;
  }

  /**
   * Builds all plugins, dependencies first, then tells each that it is ready, in the same order.
   *
   * @throws {PluginError} for a missing or cyclic dependency (nothing is built then), and for a plugin that throws
   */
  async start(): Promise<this> {
    if (this.#state !== "open") throw new PluginError("Cannot start the server twice");
    const order = buildOrder([...this.#plugins.values()]);
    this.#state = "building";
    for (const step of ["build", "ready"] as const) {
      for (const plugin of order) {
        this.#current = plugin.id;
        try {
          await plugin[step]?.(this);
        } catch (error) {
          this.#state = "failed";
          throw new PluginError(`${nameOf(plugin)} failed in ${step}: ${messageOf(error)}`, undefined, {
            cause: error,
          });
        }
      }
      if (step === "build") this.#freeze();
    }
    this.#current = "application";
    this.#state = "ready";
    return this;
  }

  /** All is built: resources that can be frozen are, before any plugin is told that it is ready. */
  #freeze(): void {
    this.#state = "built";
    for (const { value } of this.#resources.values()) {
      const { freeze } = value as { freeze?: unknown };
      if (typeof freeze === "function") freeze.call(value);
    }
  }

  /**
   * Keeps a resource under its class. One with a method `freeze()` is frozen by it once all plugins are built.
   *
   * @throws {PluginError} when there is one already (the message names its owner), or all plugins are built
   */
  insert<T extends object>(value: T, as: ResourceClass<T> = value.constructor as ResourceClass<T>): this {
    if (this.#state === "built" || this.#state === "ready") {
      throw new PluginError(
        `Cannot insert ${as.name}: all plugins are built, and resources are only read now; insert it in build`,
      );
    }
    const taken = this.#resources.get(as);
    if (taken) throw new PluginError(`Cannot insert ${as.name}: ${taken.owner} has inserted one already`);
    this.#resources.set(as, { value, owner: this.#current });
    return this;
  }

  /**
   * The resource of a class.
   *
   * @throws {PluginError} when there is none
   */
  resource<T>(as: ResourceClass<T>): T {
    const found = this.#resources.get(as);
    if (found) return found.value as T;
    throw new PluginError(
      `There is no ${as.name}: name the plugin that makes it in the dependencies of ${this.#current}`,
    );
  }

  /** Whether there is a resource of a class. */
  has(as: ResourceClass<unknown>): boolean {
    return this.#resources.has(as);
  }

  /** Ids of the plugins in the order in which they are built. @throws {PluginError} like {@link start} */
  order(): readonly string[] {
    return buildOrder([...this.#plugins.values()]).map(({ id }) => id);
  }
}

/** Dependencies first; plugins that do not depend on each other keep their order. */
function buildOrder(plugins: readonly Plugin[]): Plugin[] {
  const byId = new Map(plugins.map((plugin) => [plugin.id, plugin]));
  const out: Plugin[] = [], done = new Set<string>(), path: string[] = [];
  const visit = (plugin: Plugin) => {
    if (done.has(plugin.id)) return;
    const from = path.indexOf(plugin.id);
    if (from !== -1) {
      const cycle = [...path.slice(from), plugin.id].join(" → ");
      throw new PluginError(`Cannot order the plugins: they depend on each other in a circle: ${cycle}`);
    }
    path.push(plugin.id);
    for (const ref of plugin.dependencies ?? []) {
      const id = typeof ref === "string" ? ref : ref.id, needed = byId.get(id);
      if (!needed) {
        throw new PluginError(
          `${nameOf(plugin)} needs ${id}, which was not added; add that plugin to the server`,
        );
      }
      visit(needed);
    }
    path.pop();
    done.add(plugin.id);
    out.push(plugin);
  };
  plugins.forEach(visit);
  return out;
}

function nameOf({ id, version }: Plugin): string {
  return `plugin ${id} ${version}`;
}
