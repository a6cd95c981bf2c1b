/**
 * The library: define tools, register them, run them. The program itself is built on the same registry.
 *
 * @module
 */
export * from "./tool.ts";
export * from "./errors.ts";
export { type FoundTool, type SchemaFilter, ToolRegistry } from "./registry/registry.ts";
export { createWorkspace } from "./sandbox/guard.ts";
export type { GuardRule, GuardScope } from "./policy/types.ts";
