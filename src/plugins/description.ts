/**
 * What a plugin's code says of its tools becomes tools of the registry. Nothing of it is believed: names, texts and schemas
 * are checked, and what a tool may do follows from what the plugin was granted.
 *
 * @module
 */
import { ConfigError, messageOf } from "../errors.ts";
import { cleanForTerminal } from "../text/ansi.ts";
import {
  type Access,
  type Category,
  defineTool,
  type Json,
  type ObjectSchema,
  type Tool,
  type ToolContext,
} from "../tool.ts";

/** Runs a tool of a plugin elsewhere. */
export type RemoteCall = (
  tool: string,
  args: Record<string, unknown>,
  context: ToolContext,
  timeout: number,
) => Promise<Json>;

/** What the tools of one plugin share. */
export interface PluginOfTools {
  readonly name: string;
  /** What the plugin was granted. */
  readonly access: readonly Access[];
  /** Names that its manifest announces. */
  readonly announced: readonly string[];
  /** Programs that it may start. */
  readonly programs: readonly string[];
}

const MAX_TOOLS = 64;
const MAX_SCHEMA = 32_768;
const MAX_TEXT = 4000;
/** Longest that a call may ask for, in milliseconds. */
const MAX_TIMEOUT = 600_000;

const CATEGORIES: readonly string[] = ["exec", "read", "search", "write"] satisfies Category[];

/** Permission keys of the program, the laxest first; a plugin's tool is never under a laxer one than its access calls for. */
const STRICTNESS: readonly (readonly string[])[] = [["read", "list", "todo"], ["web"], ["edit", "vcs"], [
  "bash",
]];
/** Keys that gate what only the program itself does. */
const OWN_KEYS: readonly string[] = ["ask", "catalog", "delegate", "handoff", "mcp", "team"];

/**
 * Makes tools.
 *
 * @param described the answer of the plugin's code
 * @throws {ConfigError} when it is no list of tools, or not the tools that the manifest announces
 */
export function pluginTools(described: unknown, plugin: PluginOfTools, call: RemoteCall): Tool[] {
  if (!Array.isArray(described) || described.length > MAX_TOOLS) {
    throw new ConfigError(`its code describes no list of at most ${MAX_TOOLS} tools`);
  }
  const tools = described.map((one) => pluginTool(one, plugin, call));
  const names = tools.map(({ name }) => name);
  const extra = names.find((name) => !plugin.announced.includes(name));
  if (extra !== undefined) {
    throw new ConfigError(`its code brings the tool "${extra}", which provides.tools does not name`);
  }
  const lost = plugin.announced.find((name) => !names.includes(name));
  if (lost !== undefined) {
    throw new ConfigError(`its manifest names the tool "${lost}", which its code does not bring`);
  }
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) throw new ConfigError(`its code brings the tool "${twice}" twice`);
  return tools;
}

function pluginTool(given: unknown, plugin: PluginOfTools, call: RemoteCall): Tool {
  if (typeof given !== "object" || given === null) {
    throw new ConfigError("its code describes a tool that is no object");
  }
  const one = given as Record<string, unknown>;
  const name = textOf(one.name, "name", 64);
  const timeout = typeof one.timeout === "number" && one.timeout > 0
    ? Math.min(one.timeout, MAX_TIMEOUT)
    : 120_000;
  const line = (key: string) =>
    typeof one[key] === "string"
      ? { [key]: cleanForTerminal(textOf(one[key], key, 200), { line: true }) }
      : {};
  try {
    const tool = defineTool({
      name,
      description: textOf(one.description, `${name}.description`, MAX_TEXT).toWellFormed(),
      parameters: schemaOf(one.parameters, name),
      access: plugin.access,
      permission: permissionOf(one.permission, plugin.access),
      ...(CATEGORIES.includes(String(one.category)) ? { category: one.category as Category } : {}),
      ...(typeof one.keyArg === "string" ? { keyArg: one.keyArg } : {}),
      ...(typeof one.pathArg === "string" ? { pathArg: one.pathArg } : {}),
      ...line("glyph"),
      ...line("verb"),
      ...line("short"),
      ...line("timeoutHint"),
      aliases: aliasesOf(one.aliases),
      paramAliases: paramAliasesOf(one.paramAliases),
      echo: one.echo === true,
      truncate: one.truncate === "middle" ? "middle" : "end",
      timeout,
      programs: () => plugin.programs,
      execute: (args: Record<string, unknown>, context: ToolContext) => call(name, args, context, timeout),
    } as never);
    return Object.freeze({ ...tool, plugin: plugin.name });
  } catch (error) {
    throw new ConfigError(`its tool ${JSON.stringify(name)} cannot be used: ${messageOf(error)}`);
  }
}

function textOf(value: unknown, what: string, most: number): string {
  if (typeof value !== "string" || value.trim() === "" || value.length > most) {
    throw new ConfigError(`${what} must be text of 1 to ${most} characters`);
  }
  return value;
}

function schemaOf(value: unknown, name: string): ObjectSchema {
  const text = JSON.stringify(value) ?? "";
  if (text.length > MAX_SCHEMA) {
    throw new ConfigError(`the schema of ${name} is longer than ${MAX_SCHEMA} characters`);
  }
  const schema = value as ObjectSchema | null;
  if (
    typeof schema !== "object" || schema === null || typeof schema.properties !== "object" ||
    !schema.properties
  ) {
    throw new ConfigError(`the parameters of ${name} are no schema of an object`);
  }
  for (const [key, parameter] of Object.entries(schema.properties)) {
    if (typeof parameter !== "object" || parameter === null) {
      throw new ConfigError(`the parameter ${JSON.stringify(key)} of ${name} has no schema`);
    }
  }
  return schema;
}

function permissionOf(claimed: unknown, access: readonly Access[]): string {
  const needed = access.includes("run") ? 3 : access.includes("write") ? 2 : access.includes("net") ? 1 : 0;
  const least = STRICTNESS[needed]![0]!;
  if (
    typeof claimed !== "string" || !/^[a-z][a-z0-9_.-]{0,63}$/.test(claimed) || OWN_KEYS.includes(claimed)
  ) return least;
  const level = STRICTNESS.findIndex((keys) => keys.includes(claimed));
  // A key of its own asks unless the user says otherwise.
  return level === -1 || level >= needed ? claimed : least;
}

function aliasesOf(value: unknown): string[] {
  if (!Array.isArray(value)) return [];
  return value.filter((alias): alias is string =>
    typeof alias === "string" && /^[a-z][a-z0-9_]{0,63}$/.test(alias)
  );
}

function paramAliasesOf(value: unknown): Record<string, string> {
  if (typeof value !== "object" || value === null) return {};
  return Object.fromEntries(Object.entries(value).filter(([, name]) => typeof name === "string"));
}
