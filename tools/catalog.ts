/**
 * `catalog`: roles, teams and skills.
 *
 * @module
 */
import { defineTool, type Tool } from "../src/tool.ts";
import { callHost } from "./_host.ts";

const CHANGES: readonly string[] = ["save", "remove"];

/** Lists, shows, checks, saves and removes roles, teams and skills. */
export const catalog: Tool = defineTool({
  name: "catalog",
  description: "Roles, teams and skills for delegate and team. save and remove change the project's own.",
  category: "catalog",
  permission: "catalog",
  access: [],
  keyArg: "name",
  glyph: "+",
  verb: "Catalog",
  parallel: false,
  short: "Manage roles, teams and skills",
  status: ({ action, kind, name }) => [action, kind, name].filter(Boolean).join(" "),
  permissionFn: ({ action }, { readOnly, mode }) =>
    readOnly && CHANGES.includes(action)
      ? { action: "deny", reason: `mode ${mode} changes nothing, so ${action} is off` }
      : null,
  parameters: {
    type: "object",
    properties: {
      action: {
        type: "string",
        enum: ["list", "show", "validate", "save", "remove", "reload"],
        description: "What to do.",
      },
      kind: { type: "string", enum: ["role", "team", "skill"], description: "Of what." },
      name: { type: "string", description: "Entry." },
      description: { type: "string", description: "One line." },
      tags: { type: "array", items: { type: "string" }, description: "Tags." },
      system_prompt: { type: "string", description: "Role." },
      model: { type: "string", description: "Role." },
      skills: { type: "array", items: { type: "string" }, description: "Role." },
      tool_permission: { type: "object", description: 'Role: {"edit": "deny"}.' },
      grant_permission: { type: "object", description: "Role: its sub-agents' ceiling." },
      ask_policy: { type: "object", description: "Role." },
      stages: {
        type: "array",
        items: { type: ["object", "string"] },
        description: "Team: {role, task_hint, handoff_note, skills, mode}.",
      },
      loop: {
        type: "object",
        description: "Team: {from, until, max_iterations}.",
      },
      content: { type: "string", description: "Skill: Markdown." },
    },
    required: ["action"],
  },
  execute: (args, context) => callHost(context, "catalog", args),
});
