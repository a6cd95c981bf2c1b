/**
 * `code_format`: run the project's formatter (it changes files), by the command that the configuration or the project names.
 *
 * @module
 */
import type { Tool } from "../src/tool.ts";
import { devTool } from "./_dev_tool.ts";

/** Run the project's formatter (it changes files). `dev.format_cmd`, else what the project's files say. */
export const codeFormat: Tool = devTool("format", {
  description: "Run the project's formatter (it changes files).",
  verb: "Format",
  short: "Run the formatter",
  aliases: ["run_format", "format_code"],
  paramAliases: { path: "target" },
  target: "Only this file or folder.",
});
