/**
 * The library: define tools, register them, run them. The program itself is built on the same registry.
 *
 * ```ts
 * import { defineTool, ToolError, ToolRegistry } from "@polyglav/cli/tools";
 *
 * const fetchUrl = defineTool({
 *   name: "fetch_url",
 *   description: "Fetch a web page.",
 *   parameters: {
 *     type: "object",
 *     properties: {
 *       url: { type: "string", description: "The URL to fetch." },
 *       timeout_secs: { type: "integer", description: "Request timeout in seconds.", default: 30 },
 *     },
 *     required: ["url"],
 *   },
 *   execute: ({ url, timeout_secs }) => {
 *     if (!URL.canParse(url)) throw new ToolError(`${url} is no URL`, "invalid_arguments");
 *     return `Fetched ${url} within ${timeout_secs} s`;
 *   },
 * });
 *
 * const registry = new ToolRegistry().register(fetchUrl);
 * console.log(registry.definitions()[0]!.parameters.required); // ["url"]
 * console.log(await registry.execute("fetch_url", { url: "https://example.com" }));
 * ```
 *
 * @module
 */
export * from "./tool.ts";
export * from "./errors.ts";
export { type MethodSpec, tool, type ToolMethod, toolset, toolsOf } from "./toolset.ts";
export { type FoundTool, type SchemaFilter, ToolRegistry } from "./registry/registry.ts";
export { createWorkspace } from "./sandbox/guard.ts";
export type { FileChange } from "./sandbox/_protocol.ts";
export type { Announce } from "./sandbox/_write.ts";
export { openWorkspace, WORKSPACE_RULES, type WorkspaceOptions } from "./sandbox/open_workspace.ts";
export type {
  CommandPath,
  CommandPlan,
  GuardRule,
  GuardScope,
  SegmentVerdict,
  ShellChain,
  ShellCommand,
  ShellPipeline,
  ShellRedirect,
  ShellTree,
  ShellWord,
} from "./policy/types.ts";
