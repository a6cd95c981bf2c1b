/**
 * `delegate`: a task for a sub-agent under a role.
 *
 * @module
 */
import { type Action, defineTool, type ResolverAnswer, type ResolverInput, type Tool } from "../src/tool.ts";
import { callHost } from "./_host.ts";

/** Runs a task under a role and returns its answer. */
export const delegate: Tool = defineTool({
  name: "delegate",
  description:
    "Give a task to a sub-agent under a role (see catalog) and get its answer. It sees only the task.",
  category: "delegate",
  permission: "delegate",
  access: [],
  keyArg: "role",
  glyph: "↳",
  verb: "Delegate",
  loop: true,
  timeout: 0x7fffffff,
  short: "Run a task under a role",
  permissionFn: ({ role }, input) => roleAction(role, input),
  parallel: ({ role }, input) => onlyReads(role, input),
  parallelLimit: "delegate.parallel",
  parameters: {
    type: "object",
    properties: {
      role: { type: "string", description: "Role." },
      task: { type: "string", description: "What to do, know and hand back." },
      skills: { type: "array", items: { type: "string" }, description: "Skills for it." },
      resume: { type: "string", description: "Session, #id or last: go on there." },
      context: {
        type: "string",
        enum: ["continue", "compact", "new"],
        default: "continue",
        description: "On resume.",
      },
    },
    required: ["role", "task"],
  },
  execute: (args, context) => callHost(context, "delegate", args),
});

/** A role's own word on being delegated to; what nobody knows is denied. */
function roleAction(role: string, { base, catalog }: ResolverInput): ResolverAnswer {
  if (!catalog) return null;
  const { roles } = catalog(), found = roles.get(role);
  if (!found) {
    const names = [...roles.keys()].sort().join(", ");
    return {
      action: "deny",
      reason: `unknown role ${JSON.stringify(role.slice(0, 80))}; there are ${names}`,
    };
  }
  const own = found.tool_permission?.delegate as Action | undefined;
  if (own === undefined || own === base || own === "allow") return null;
  return own === "deny"
    ? { action: "deny", reason: `the role ${role} is not to be delegated to` }
    : { action: "ask", reason: `the role ${role} asks before it is delegated to` };
}

/** Whether nothing that changes files is open to the sub-agent. What asks is not open where nobody answers. */
function onlyReads(role: string, input: ResolverInput): boolean {
  const { catalog, permission = {}, changing, readOnly, attended } = input;
  if (readOnly) return true;
  if (!changing) return false;
  const own = catalog?.().roles.get(role)?.tool_permission ?? {};
  const closed = (action: unknown) => action === "deny" || (action === "ask" && attended === false);
  return changing.every((key) => closed(permission[key]) || closed(own[key]));
}
