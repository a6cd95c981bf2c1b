/**
 * Toolsets as classes: `@tool` on methods and `@toolset` on the class, by the standard decorators of JavaScript.
 * Methods share the object's fields.
 *
 * Source: the TC39 proposals "Decorators" and "Decorator Metadata", which Deno runs without a flag.
 *
 * @module
 */
import { defineTool } from "./tool.ts";
import type {
  InferArguments,
  ObjectSchema,
  StandardSchema,
  Tool,
  ToolContext,
  ToolOutput,
  Toolset,
  ToolSpec,
} from "./tool.ts";

/** What {@link tool} takes: all that `defineTool` takes but the handler, which is the method. */
export interface MethodSpec<S, A> extends Omit<ToolSpec<S, A>, "name" | "execute"> {
  /** Canonical name. Default: the method's name in `snake_case` (`listFiles` → `list_files`). */
  readonly name?: string;
}

/** A method that a tool can be made of. */
export type ToolMethod<This, A> = (
  this: This,
  args: A,
  context: ToolContext,
) => ToolOutput | Promise<ToolOutput>;

/** What the two decorators tell each other, in the class's metadata. */
interface Entry {
  readonly spec: MethodSpec<ObjectSchema | StandardSchema, any>;
  readonly name: string;
  /** The method's own name. */
  readonly key: string;
}

const ENTRIES: unique symbol = Symbol("polyglav.tools");

type Metadata = DecoratorMetadataObject & { [ENTRIES]?: readonly Entry[] };

/**
 * Makes a method a tool of the class's toolset. The method's first parameter has the type of the schema, its second is
 * the tool context.
 *
 * @param spec what `defineTool` takes, without `execute`; `name` defaults to the method's name in snake_case
 * @throws {TypeError} for a static or private method, or one that has a symbol for a name
 */
export function tool<const S extends ObjectSchema | StandardSchema>(
  spec: MethodSpec<S, InferArguments<S>>,
): <This extends object>(
  method: ToolMethod<This, InferArguments<S>>,
  context: ClassMethodDecoratorContext<This, ToolMethod<This, InferArguments<S>>>,
) => void {
  return (_method, context) => {
    const name = String(context.name);
    if (context.static || context.private || typeof context.name === "symbol") {
      throw new TypeError(
        `Cannot make a tool of ${name}: only public methods of the object with a plain name can be tools`,
      );
    }
    const metadata = context.metadata as Metadata;
    const entry: Entry = {
      spec: spec as unknown as Entry["spec"],
      name: spec.name ?? snakeCase(name),
      key: name,
    };
    // The metadata of a class inherits from that of its parent: an overriding method takes its parent's place.
    const before = (metadata[ENTRIES] ?? []).filter((other) => other.name !== entry.name);
    metadata[ENTRIES] = [...before, entry];
  };
}

/**
 * Makes a class a {@link Toolset}: its objects get the method `tools()`, with one tool for each method that is marked
 * with {@link tool}.
 *
 * @throws {TypeError} when no method is marked, or the class has a `tools` member of its own
 *
 * @example
 * ```ts
 * import { openWorkspace, tool, ToolRegistry, toolset, type Workspace } from "@polyglav/cli/tools";
 *
 * @toolset
 * class FileTools {
 *   constructor(readonly files: Workspace) {}
 *
 *   @tool({
 *     description: "Read the contents of a file.",
 *     parameters: {
 *       type: "object",
 *       properties: { path: { type: "string", description: "File path relative to the working directory." } },
 *       required: ["path"],
 *     },
 *   })
 *   readFile({ path }: { path: string }): string {
 *     return new TextDecoder().decode(this.files.readFile(path));
 *   }
 * }
 *
 * const directory = Deno.makeTempDirSync();
 * Deno.writeTextFileSync(`${directory}/a.txt`, "hello");
 * const registry = new ToolRegistry().registerToolset(new FileTools(openWorkspace(directory)));
 * console.log(await registry.execute("read_file", { path: "a.txt" })); // hello
 * ```
 */
export function toolset<C extends abstract new (...args: any[]) => object>(
  constructor: C,
  context: ClassDecoratorContext<C>,
): void {
  const name = context.name ?? "a class without a name";
  const entries = () => (context.metadata as Metadata)[ENTRIES] ?? [];
  if (entries().length === 0) {
    throw new TypeError(`Cannot make ${name} a toolset: none of its methods is marked with @tool`);
  }
  const prototype: object = constructor.prototype;
  if (Object.hasOwn(prototype, "tools")) {
    throw new TypeError(`Cannot make ${name} a toolset: it has a member "tools" of its own; rename that`);
  }
  Object.defineProperty(prototype, "tools", {
    configurable: true,
    writable: true,
    value(this: object): readonly Tool[] {
      return entries().map((entry) => toolOf(this, entry));
    },
  });
}

/**
 * The tools of an object: a {@link Toolset}, or one whose class is decorated with {@link toolset} (which TypeScript
 * cannot see).
 *
 * @throws {TypeError} when it is neither
 */
export function toolsOf(set: object): readonly Tool[] {
  const tools = (set as Partial<Toolset> | null | undefined)?.tools;
  if (typeof tools === "function") return tools.call(set);
  throw new TypeError(
    `${
      set?.constructor?.name || "the object"
    } is no toolset: decorate its class with @toolset, or give it a method tools()`,
  );
}

function toolOf(instance: object, { spec, name, key }: Entry): Tool {
  return defineTool({
    ...spec,
    name,
    // Looked up at each call, so that a subclass may override the method without the decorator.
    execute: (args: unknown, context: ToolContext) =>
      (instance as Record<string, ToolMethod<object, unknown>>)[key]!(args, context),
  } as ToolSpec<ObjectSchema, any>);
}

function snakeCase(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])/g, "$1_$2").replace(/([A-Z])([A-Z][a-z])/g, "$1_$2").toLowerCase();
}
