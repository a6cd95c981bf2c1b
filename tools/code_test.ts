/**
 * `code_test`: run the project's tests, by the command that the configuration or the project names.
 *
 * @module
 */
import { defineTool, type Tool } from "../src/tool.ts";
import { DEV_KEYS, devPaths, devPermission, devPrograms, runDev } from "./_dev.ts";

/** Run the project's tests. `dev.test_cmd`, else what the project's files say. */
export const codeTest: Tool = defineTool({
  name: "code_test",
  description: "Run the project's tests.",
  category: "exec",
  permission: "bash",
  access: ["run"],
  permissionFn: (_args, input) => devPermission("test", input),
  paths: (args) => devPaths("test", args),
  programs: (_args, settings) => devPrograms("test", settings),
  keyArg: "target",
  verb: "Test",
  glyph: "$",
  echo: true,
  short: "Run the tests",
  aliases: ["run_tests", "test_suite"],
  paramAliases: { test: "target", tests: "target", path: "target" },
  configKeys: DEV_KEYS,
  timeout: ({ timeout }) => (Math.min(600, Math.max(1, timeout)) + 10) * 1000,
  truncate: "middle",
  parameters: {
    type: "object",
    properties: {
      target: { type: "string", description: "Only this file, folder or test.", default: "" },
      cwd: { type: "string", description: "Working directory." },
      timeout: { type: "integer", description: "Seconds, 1 to 600.", default: 300 },
    },
  },
  execute: (args, context) => runDev("test", args, context),
});
