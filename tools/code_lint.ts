/**
 * `code_lint`: run the project's linter, by the command that the configuration or the project names.
 *
 * @module
 */
import { defineTool, type Tool } from "../src/tool.ts";
import { DEV_KEYS, devPaths, devPermission, devPrograms, runDev } from "./_dev.ts";

/** Run the project's linter. `dev.lint_cmd`, else what the project's files say. */
export const codeLint: Tool = defineTool({
  name: "code_lint",
  description: "Run the project's linter.",
  category: "exec",
  permission: "bash",
  access: ["run"],
  permissionFn: (_args, input) => devPermission("lint", input),
  paths: (args) => devPaths("lint", args),
  programs: (_args, settings) => devPrograms("lint", settings),
  keyArg: "target",
  verb: "Lint",
  glyph: "$",
  echo: true,
  short: "Run the linter",
  aliases: ["run_lint", "lint_check"],
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
  execute: (args, context) => runDev("lint", args, context),
});
