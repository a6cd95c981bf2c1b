/**
 * `code_test`: run the project's tests, by the command that the configuration or the project names.
 *
 * @module
 */
import type { Tool } from "../src/tool.ts";
import { devTool } from "./_dev_tool.ts";

/** Run the project's tests. `dev.test_cmd`, else what the project's files say. */
export const codeTest: Tool = devTool("test", {
  description: "Run the project's tests.",
  verb: "Test",
  short: "Run the tests",
  aliases: ["run_tests", "test_suite"],
  paramAliases: { test: "target", tests: "target", path: "target" },
  target: "Only this file, folder or test.",
});
