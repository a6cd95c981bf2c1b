/**
 * Reads the project's instructions for the system prompt. No tool of the model's: the program runs it on the far side
 * of the sandbox like any read, so that the file passes the guard.
 *
 * @module
 */
import { defineTool, type Tool } from "../src/tool.ts";

/** Most bytes that are looked at; what is sent is cut further. */
const MAX_BYTES = 200_000;

/** The reader. */
export const projectInstructions: Tool = defineTool({
  name: "project_instructions",
  description: "Reads the project's instructions.",
  category: "read",
  permission: "read",
  access: ["read"],
  pathArg: "path",
  parameters: {
    type: "object",
    properties: { path: { type: "string", description: "The file." } },
    required: ["path"],
  },
  execute: ({ path }, { workspace }) =>
    new TextDecoder().decode(workspace.readFile(path, { maxBytes: MAX_BYTES })),
});
