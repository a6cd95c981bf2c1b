/**
 * Programs made of plugins that depend on each other, and the form of the plugins that users install.
 *
 * @module
 */
export { type Plugin, PluginError, type PluginRef, type ResourceClass, Server } from "./server.ts";
export { ToolsPlugin } from "./tools_plugin.ts";
export { EXIT, PolyglavError } from "../errors.ts";
export { ToolRegistry } from "../registry/registry.ts";
export type { FoundTool, SchemaFilter } from "../registry/registry.ts";
export type * from "../tool.ts";
