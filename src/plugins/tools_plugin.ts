/**
 * The plugin that brings the tool registry.
 *
 * @module
 */
import { ToolRegistry } from "../registry/registry.ts";
import type { Plugin, Server } from "./server.ts";

/**
 * Makes the {@link ToolRegistry}. Plugins that depend on it register their tools while they are built; then the
 * server freezes it, and it is a global resource that is only read.
 */
export class ToolsPlugin implements Plugin {
  /** Id of the plugin. */
  static readonly id: string = "polyglav::tools";
  /** Id of the plugin. */
  readonly id: string = ToolsPlugin.id;
  /** Version of the plugin. */
  readonly version: string = "1.0.0";

  /** Makes an empty registry. */
  build(server: Server): void {
    server.insert(new ToolRegistry());
  }
}
