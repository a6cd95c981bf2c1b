/**
 * The registry: every tool by its canonical name and aliases, one way in for the model, `/tool`, `polyglav tool` and
 * library users.
 *
 * @module
 */
import { messageOf, ToolError } from "../errors.ts";
import type { Json, Tool, ToolContext, ToolDefinition, Toolset } from "../tool.ts";
import { toolsOf } from "../toolset.ts";
import { advertisedSchema, cleanArguments, parseArguments, validateArguments } from "./arguments.ts";
import { isToolResult, splitOutput } from "./result.ts";

/** What {@link ToolRegistry.definitions} asks of a policy. */
export interface SchemaFilter {
  /** The action of a tool before its arguments are known. */
  allowed(tool: Tool): { readonly action: string };
}

/** A tool found by name, with the arguments that its alias presets. */
export interface FoundTool {
  /** The tool. */
  readonly tool: Tool;
  /** Arguments that the alias stands for (`git_log` → `{operation: "log"}`). */
  readonly preset: Readonly<Record<string, unknown>>;
}

/** Holds tools and runs them. */
export class ToolRegistry {
  #tools = new Map<string, { tool: Tool; owner: string }>();
  #names = new Map<string, { tool: Tool; owner: string; preset: Readonly<Record<string, unknown>> }>();
  #frozen = false;

  /**
   * Adds a tool.
   *
   * @param owner who brings it (a plugin's id), for messages
   * @throws {TypeError} when the name or an alias is taken (the message names both owners) or the registry is frozen
   */
  register(tool: Tool, owner = "application"): this {
    this.#check(tool, owner, this.#names);
    const aliases = aliasesOf(tool);
    this.#tools.set(tool.name, { tool, owner });
    this.#names.set(tool.name, { tool, owner, preset: {} });
    for (const [alias, preset] of aliases) this.#names.set(alias, { tool, owner, preset });
    return this;
  }

  /**
   * Adds all tools of a toolset, or none.
   *
   * @param set a {@link Toolset}, or an object whose class is decorated with `@toolset`
   * @throws {TypeError} like {@link register}; also when the object is no toolset
   */
  registerToolset(set: Toolset | object, owner = "application"): this {
    const tools = toolsOf(set);
    const names = new Map<string, { readonly tool: Tool; readonly owner: string }>(this.#names);
    for (const tool of tools) {
      this.#check(tool, owner, names);
      for (const name of [tool.name, ...aliasesOf(tool).keys()]) names.set(name, { tool, owner });
    }
    for (const tool of tools) this.register(tool, owner);
    return this;
  }

  #check(
    tool: Tool,
    owner: string,
    names: ReadonlyMap<string, { readonly tool: Tool; readonly owner: string }>,
  ): void {
    if (typeof tool?.execute !== "function" || typeof tool.name !== "string") {
      throw new TypeError(`Cannot register what ${owner} gave: it is no tool; make one with defineTool`);
    }
    if (this.#frozen) throw new TypeError(`Cannot register "${tool.name}": the registry is frozen`);
    for (const name of [tool.name, ...aliasesOf(tool).keys()]) {
      const taken = names.get(name);
      if (taken) {
        throw new TypeError(
          `Cannot register "${name}" of ${owner}: the name already belongs to "${taken.tool.name}" of ${taken.owner}`,
        );
      }
    }
  }

  /** From now on nothing can be registered. */
  freeze(): this {
    this.#frozen = true;
    return this;
  }

  /** Whether {@link freeze} was called. */
  get frozen(): boolean {
    return this.#frozen;
  }

  /** A tool by its canonical name or an alias. */
  find(name: string): FoundTool | null {
    return this.#names.get(name) ?? null;
  }

  /** A tool by its canonical name or an alias. */
  get(name: string): Tool | null {
    return this.#names.get(name)?.tool ?? null;
  }

  /** Who registered a tool. */
  ownerOf(name: string): string | null {
    return this.#names.get(name)?.owner ?? null;
  }

  /** All tools in the order of registration. */
  list(): Tool[] {
    return [...this.#tools.values()].map((entry) => entry.tool);
  }

  /** What a provider is told: canonical names alone, without those that the policy denies. */
  definitions(policy?: SchemaFilter): ToolDefinition[] {
    return this.list().filter((tool) => !policy || policy.allowed(tool).action !== "deny").map((tool) => ({
      name: tool.name,
      description: tool.description,
      parameters: advertisedSchema(tool.parameters),
    }));
  }

  /**
   * Runs a tool in this process, without policy or sandbox: for library users whose tools are their own code. The
   * program itself goes through the Dispatcher.
   *
   * @param args an object, or JSON text as a model writes it
   * @returns what the handler returned: text or JSON
   * @throws {ToolError} for an unknown tool, bad arguments, a missing context and whatever the handler throws
   */
  execute(name: string, args: unknown = {}): Promise<string | Json> {
    return this.executeWith(name, args, {});
  }

  /** Like {@link execute}, with the contexts that the tool declared in `requires`, and parts of the tool context. */
  async executeWith(
    name: string,
    args: unknown,
    context: Partial<ToolContext> & Record<string, unknown>,
  ): Promise<string | Json> {
    const found = this.find(name);
    if (!found) throw new ToolError(this.unknown(name), "not_found");
    const { tool, preset } = found;
    for (const need of tool.requires ?? []) {
      if (!has(context, need) && !has(context.extras, need)) {
        throw new ToolError(
          `tool "${tool.name}" needs the context "${need}"; call executeWith("${tool.name}", args, { ${need}: … })`,
          "execution",
        );
      }
    }
    const cleaned = cleanArguments(tool, { ...preset, ...parseArguments(args) });
    const final = await validateArguments(tool, cleaned);
    try {
      const output = await tool.execute(final, libraryContext(context));
      // A handler in JavaScript may return nothing.
      if (output === undefined) return null;
      return isToolResult(output) ? splitOutput(output).content : output;
    } catch (error) {
      if (error instanceof ToolError) throw error;
      throw new ToolError(`${tool.name} failed: ${messageOf(error)}`, "execution", { cause: error });
    }
  }

  /** The message for a name that no tool has; `available` filters the list of names. */
  unknown(name: string, available: (tool: Tool) => boolean = () => true): string {
    const names = this.list().filter(available).map((tool) => tool.name);
    const shown = name.length > 100 ? `${name.slice(0, 100)}…` : name;
    return `unknown tool ${JSON.stringify(shown)}. Available tools: ${names.join(", ") || "none"}`;
  }
}

function has(contexts: Readonly<Record<string, unknown>> | undefined, name: string): boolean {
  return contexts !== undefined && Object.hasOwn(contexts, name) && contexts[name] !== undefined;
}

function aliasesOf(tool: Tool): Map<string, Readonly<Record<string, unknown>>> {
  const { aliases = [] } = tool;
  if (Array.isArray(aliases)) return new Map(aliases.map((alias) => [alias, {}]));
  return new Map(Object.entries(aliases as Record<string, Record<string, unknown>>));
}

function libraryContext(given: Partial<ToolContext> & Record<string, unknown>): ToolContext {
  const lacks = (what: string) => (): never => {
    throw new ToolError(`this context has no ${what}; pass one to executeWith`, "execution");
  };
  const { extras, ...rest } = given;
  return {
    worktree: "",
    config: {},
    signal: new AbortController().signal,
    get workspace(): never {
      return lacks("workspace")();
    },
    exec: lacks("exec"),
    shell: lacks("shell"),
    fanout: lacks("fanout"),
    fetch: lacks("fetch"),
    get memory(): never {
      return lacks("memory")();
    },
    progress: () => {},
    ...rest,
    extras: { ...rest, ...extras },
  };
}
