/**
 * `code_lint`: run the project's linter, by the command that the configuration or the project names.
 *
 * @module
 */
import type { Tool } from "../src/tool.ts";
import { devTool } from "./_dev_tool.ts";

/** Run the project's linter. `dev.lint_cmd`, else what the project's files say. */
export const codeLint: Tool = devTool("lint", {
  description: "Run the project's linter.",
  verb: "Lint",
  short: "Run the linter",
  aliases: ["run_lint", "lint_check"],
  paramAliases: { path: "target" },
  target: "Only this file or folder.",
});
