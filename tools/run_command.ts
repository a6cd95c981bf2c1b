/**
 * `run_command`: a command line, run by the user's shell or, where an allowlist is in force, by the checked tree.
 *
 * @module
 */
import { ToolError } from "../src/errors.ts";
import { defineTool, type Tool } from "../src/tool.ts";
import { commandResult, headOf, HELPERS, milliseconds, outputBytes, workingDirectory } from "./_command.ts";

/** Runs a shell command with a timeout; gated by `bash` and restricted by `tool_permission.bash_allow`. */
export const runCommand: Tool = defineTool({
  name: "run_command",
  description:
    "Run a shell command in the worktree. No input; output and errors in one stream; background processes may end with it.",
  category: "exec",
  permission: "bash",
  access: ["run"],
  commandArg: "command",
  paths: ({ cwd }) => cwd === undefined || cwd === "" ? [] : [{ path: cwd, access: "list" }],
  // `setsid` gives the shell a session of its own for less than a fork costs; beside a shell it adds no power.
  programs: () => ["$shell", "setsid", ...HELPERS],
  keyArg: "command",
  echo: true,
  short: "Run a shell command",
  aliases: ["bash", "exec"],
  paramAliases: { cmd: "command" },
  configKeys: ["tool_max_result_chars"],
  timeout: ({ timeout }) => (Math.min(600, Math.max(1, timeout)) + 10) * 1000,
  truncate: "middle",
  parameters: {
    type: "object",
    properties: {
      command: { type: "string", description: "The command line." },
      cwd: { type: "string", description: "Working directory (default: the worktree)." },
      timeout: { type: "integer", description: "Seconds, 1 to 600.", default: 30 },
    },
    required: ["command"],
  },
  async execute({ command, cwd, timeout }, context) {
    if (command.trim() === "") throw new ToolError("command must not be empty", "invalid_arguments");
    if (command.includes("\0")) {
      throw new ToolError("command holds a NUL character, which no shell can be given", "invalid_arguments");
    }
    const limit = milliseconds(timeout);
    const directory = workingDirectory(context.workspace, cwd);
    const result = await context.shell(command, {
      cwd: directory,
      timeout: limit,
      maxBytes: outputBytes(context.config["tool_max_result_chars"], headOf(command, cwd)),
    });
    return commandResult({ command, cwd, result, timeout });
  },
});
