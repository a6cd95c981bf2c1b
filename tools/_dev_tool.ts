/**
 * What the tools for the project's own commands have in common.
 *
 * @module
 */
import { defineTool, type Tool } from "../src/tool.ts";
import { DEV_KEYS, type DevKind, devPaths, devPermission, devPrograms, runDev } from "./_dev.ts";

/** What tells one of them from the others. */
export interface DevTool {
  readonly description: string;
  readonly verb: string;
  readonly short: string;
  readonly aliases: readonly string[];
  readonly paramAliases: Readonly<Record<string, "target">>;
  /** Description of the parameter `target`. */
  readonly target: string;
}

/** The tool `code_<kind>`: it runs `dev.<kind>_cmd`, else what the project's files say. */
export function devTool(kind: DevKind, { target, ...own }: DevTool): Tool {
  return defineTool({
    name: `code_${kind}`,
    ...own,
    category: "exec",
    permission: "bash",
    access: ["run"],
    permissionFn: (_args, input) => devPermission(kind, input),
    paths: (args) => devPaths(kind, args),
    programs: (_args, settings) => devPrograms(kind, settings),
    keyArg: "target",
    glyph: "$",
    echo: true,
    configKeys: DEV_KEYS,
    timeout: ({ timeout }) => (Math.min(600, Math.max(1, timeout)) + 10) * 1000,
    truncate: "middle",
    parameters: {
      type: "object",
      properties: {
        target: { type: "string", description: target, default: "" },
        cwd: { type: "string", description: "Working directory." },
        timeout: { type: "integer", description: "Seconds, 1 to 600.", default: 300 },
      },
    },
    execute: (args, context) => runDev(kind, args, context),
  });
}
