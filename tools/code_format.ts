/**
 * `code_format`: run the project's formatter (it changes files), by the command that the configuration or the project names.
 *
 * @module
 */
import { defineTool, type Tool } from "../src/tool.ts";
import { DEV_KEYS, devPaths, devPermission, devPrograms, runDev } from "./_dev.ts";

/** Run the project's formatter (it changes files). `dev.format_cmd`, else what the project's files say. */
export const codeFormat: Tool = defineTool({
  name: "code_format",
  description: "Run the project's formatter (it changes files).",
  category: "exec",
  permission: "bash",
  access: ["run"],
  permissionFn: (_args, input) => devPermission("format", input),
  paths: (args) => devPaths("format", args),
  programs: (_args, settings) => devPrograms("format", settings),
  keyArg: "target",
  verb: "Format",
  glyph: "$",
  echo: true,
  short: "Run the formatter",
  aliases: ["run_format", "format_code"],
  paramAliases: { path: "target" },
  configKeys: DEV_KEYS,
  timeout: ({ timeout }) => (Math.min(600, Math.max(1, timeout)) + 10) * 1000,
  truncate: "middle",
  parameters: {
    type: "object",
    properties: {
      target: { type: "string", description: "Only this file or folder.", default: "" },
      cwd: { type: "string", description: "Working directory." },
      timeout: { type: "integer", description: "Seconds, 1 to 600.", default: 300 },
    },
  },
  execute: (args, context) => runDev("format", args, context),
});
