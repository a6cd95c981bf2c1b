/**
 * `team`: a chain of roles that hand their results on.
 *
 * @module
 */
import { defineTool, type ResolverAnswer, type ResolverInput, type Tool } from "../src/tool.ts";
import { callHost } from "./_host.ts";

/** Runs a team's stages in order and returns the last one's answer. */
export const team: Tool = defineTool({
  name: "team",
  description: "Run a team (see catalog): roles in order, each with the results before it.",
  category: "delegate",
  permission: "team",
  access: [],
  keyArg: "name",
  glyph: "↳",
  verb: "Team",
  loop: true,
  parallel: false,
  timeout: 0x7fffffff,
  short: "Run a team",
  permissionFn: ({ name }, input) => stagesAction(name, input),
  parameters: {
    type: "object",
    properties: {
      name: { type: "string", description: "Team." },
      task: { type: "string", description: "What it is to do." },
      skills: { type: "array", items: { type: "string" }, description: "Skills for each stage." },
      resume: { type: "string", description: "First stage's session." },
      context: {
        type: "string",
        enum: ["continue", "compact", "new"],
        default: "continue",
        description: "On resume.",
      },
    },
    required: ["name", "task"],
  },
  execute: (args, context) => callHost(context, "team", args),
});

/** The strictest word of the stages' roles on being delegated to. */
function stagesAction(name: string, { base, catalog }: ResolverInput): ResolverAnswer {
  if (!catalog) return null;
  const { roles, teams } = catalog();
  const words = (teams.get(name)?.stages ?? []).map(({ role }) => ({
    role,
    own: roles.get(role)?.tool_permission?.delegate,
  }));
  const denied = words.find(({ own }) => own === "deny");
  if (denied) return { action: "deny", reason: `its role ${denied.role} is not to be delegated to` };
  const asked = words.find(({ own }) => own === "ask");
  return asked && base === "allow"
    ? { action: "ask", reason: `its role ${asked.role} asks before it is delegated to` }
    : null;
}
