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
  description:
    "Roles for delegate, teams for team, and skills: list, show, validate, save, remove (the project's own), reload.",
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
      system_prompt: { type: "string", description: "Role: its instructions." },
      model: { type: "string", description: "Role: another model." },
      skills: { type: "array", items: { type: "string" }, description: "Role: its skills." },
      tool_permission: { type: "object", description: 'Role: limits, such as {"edit": "deny"}.' },
      grant_permission: { type: "object", description: "Role: ceiling for its sub-agents." },
      ask_policy: { type: "object", description: "Role: who answers." },
      stages: {
        type: "array",
        items: { type: ["object", "string"] },
        description: "Team: {role, task_hint, handoff_note, skills, mode} in order.",
      },
      loop: {
        type: "object",
        description: "Team: {from, until, max_iterations}, repeated until VERDICT: PASS.",
      },
      content: { type: "string", description: "Skill: Markdown." },
    },
    required: ["action"],
  },
  execute: (args, context) => callHost(context, "catalog", args),
});
