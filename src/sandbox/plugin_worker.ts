/**
 * The thread of a plugin's host in which the plugin itself runs: loads it, describes its tools, runs them.
 *
 * @module
 */
import { messageOf, ToolError } from "../errors.ts";
import type { GuardScope } from "../policy/types.ts";
import { join } from "../text/path.ts";
import {
  defineTool,
  type Json,
  type Tool,
  type ToolContext,
  type ToolOutput,
  type ToolSpec,
  type Workspace,
} from "../tool.ts";
import type { FromPlugin, PluginSetup, ToPlugin } from "./_plugin_protocol.ts";

type Setup = Omit<PluginSetup, "memory" | "narrow">;

// What the plugin prints is for its author: standard error, never between the lines of the protocol.
const output = globalThis.console;
for (const name of ["log", "info", "debug", "warn", "table", "dir"] as const) output[name] = output.error;

/** This thread, as a worker sees itself. */
const thread = globalThis as unknown as {
  postMessage(line: string): void;
  onmessage: (event: MessageEvent<Setup | string>) => void;
};
const post = (message: FromPlugin) => thread.postMessage(JSON.stringify(message));
// A plugin that ends its thread would leave its calls waiting.
const ended = (how: string) => (): never => {
  post({ failed: `it called ${how}` });
  throw new Error(`a plugin cannot call ${how}`);
};
Object.defineProperty(globalThis, "close", { value: ended("close()"), configurable: true });
Object.defineProperty(Deno, "exit", { value: ended(`Deno.${"exit"}()`), configurable: true });

const running = new Map<number, AbortController>();
let tools: Map<string, Tool> | null = null;
let context:
  | ((id: number, config: Readonly<Record<string, unknown>>, signal: AbortSignal) => ToolContext)
  | null = null;
const waiting: ToPlugin[] = [];
let openWorkspace: ((scope: GuardScope) => Workspace) | null = null;

/** Gives plugins files; plugin_files_worker.ts does, for those that were granted some. */
export function provideFiles(open: (scope: GuardScope) => Workspace): void {
  openWorkspace = open;
}

thread.onmessage = ({ data }) => {
  if (typeof data !== "string") {
    load(data).then(
      () => post({ ready: true }),
      (error) => post({ failed: messageOf(error) }),
    ).then(() => waiting.splice(0).forEach(take));
  } else {
    const message = JSON.parse(data) as ToPlugin;
    if (tools) take(message);
    else waiting.push(message);
  }
};

function take(message: ToPlugin): void {
  if (message.what === "abort") running.get(message.id)?.abort();
  else {
    const { id } = message;
    answer(message).then(
      (value) => post({ id, ok: true, value: value ?? null }),
      (error) =>
        post({
          id,
          ok: false,
          kind: error instanceof ToolError ? error.kind : "execution",
          message: error instanceof ToolError ? error.message : `it failed: ${messageOf(error)}`,
        }),
    );
  }
}

async function answer(message: Exclude<ToPlugin, { what: "abort" }>): Promise<Json> {
  if (!tools || !context) throw new ToolError("the plugin is not loaded");
  if (message.what === "describe") return [...tools.values()].map(describe);
  const tool = tools.get(message.tool);
  if (!tool) throw new ToolError(`the plugin has no tool "${message.tool}"`, "not_found");
  const controller = new AbortController();
  running.set(message.id, controller);
  try {
    const args = tool.validator ? await validate(tool, message.args) : message.args;
    return plain(await tool.execute(args, context(message.id, message.config, controller.signal)));
  } finally {
    running.delete(message.id);
  }
}

async function validate(tool: Tool, args: unknown): Promise<unknown> {
  const result = await tool.validator!["~standard"].validate(args);
  if (!result.issues) return result.value;
  const issues = result.issues.slice(0, 4).map(({ message }) => message).join("; ");
  throw new ToolError(`${tool.name}: ${issues}`, "invalid_arguments");
}

/** Text for the model; what JSON cannot carry is an error of the plugin. */
function plain(output: ToolOutput | undefined): Json {
  if (output === undefined || output === null) return "";
  if (typeof output === "object" && !Array.isArray(output) && output.kind === "tool_result") {
    return String((output as { content?: unknown }).content ?? "");
  }
  return output as Json;
}

async function load(setup: Setup): Promise<void> {
  context = contextMaker(setup);
  const module = await importEntry(join(setup.root, setup.entry));
  let given: unknown = module.default ?? module.tools;
  if (typeof given === "function") given = await given();
  tools = new Map();
  for (const item of listOf(given)) {
    const tool = toTool(item);
    if (tools.has(tool.name)) throw new Error(`it has two tools of the name "${tool.name}"`);
    tools.set(tool.name, tool);
  }
}

async function importEntry(path: string): Promise<Record<string, unknown>> {
  if (!Deno.build.standalone) {
    const url = new URL("file:///");
    url.pathname = path.replaceAll("%", "%25");
    return await import(url.href);
  }
  // A compiled binary loads no files but its own.
  if (!/\.m?js$/.test(path)) {
    throw new Error(
      "a compiled polyglav loads plugins that are one JavaScript file; bundle it, or use deno run",
    );
  }
  return await import(`data:text/javascript,${encodeURIComponent(await Deno.readTextFile(path))}`);
}

function listOf(given: unknown): readonly unknown[] {
  if (Array.isArray(given)) return given;
  if (typeof given === "object" && given !== null) {
    const { tools } = given as { tools?: readonly unknown[] | (() => readonly unknown[]) };
    if (Array.isArray(tools)) return tools;
    if (typeof tools === "function") return tools.call(given);
  }
  throw new Error("it exports no tools: export default [defineTool({…}), …]");
}

function toTool(item: unknown): Tool {
  if (typeof item !== "object" || item === null) throw new Error("one of its tools is no object");
  const { category, permission, access } = item as Partial<Tool>;
  if (Object.isFrozen(item) && category && permission && access) return item as Tool;
  return defineTool(item as ToolSpec<never, never>);
}

/** What of a tool can be written down. */
function describe(tool: Tool): Json {
  const { name, description, parameters, category, permission, access, keyArg, pathArg, paramAliases } = tool;
  const { glyph, verb, echo, short, aliases, timeout, timeoutHint, truncate, confirm } = tool;
  return JSON.parse(JSON.stringify({
    ...{ name, description, parameters, category, permission, access, keyArg, pathArg, paramAliases },
    ...{ glyph, verb, echo, short, aliases, timeoutHint, truncate, confirm },
    timeout: typeof timeout === "number" ? timeout : undefined,
  }));
}

function contextMaker(setup: Setup): NonNullable<typeof context> {
  const { worktree, read, write } = setup;
  const files = read.length + write.length === 0 || !openWorkspace ? null : openWorkspace({
    worktree,
    roots: [
      ...[...read, ...write].map((path) => ({ path, access: "read" as const })),
      ...write.map((path) => ({ path, access: "write" as const })),
    ],
    rules: [],
    consented: [],
  });
  const lacks = (what: string) => (): never => {
    throw new ToolError(`a plugin has no context.${what}`, "permission");
  };
  const memory = new Map<string, unknown>();
  return (id, config, signal) => ({
    worktree,
    config,
    signal,
    get workspace() {
      return files ?? lacks("workspace; its manifest asks for no files")();
    },
    exec: lacks("exec; it starts the programs that it was granted with Deno.Command"),
    shell: lacks("shell"),
    fanout: lacks("fanout"),
    fetch: lacks("fetch; it reaches the hosts that it was granted with fetch"),
    memory: {
      get: (key) => Promise.resolve(memory.get(key)),
      set: (key, value) => Promise.resolve(void memory.set(key, value)),
    },
    progress: (text) => post({ id, progress: String(text).slice(0, 2000) }),
  });
}
