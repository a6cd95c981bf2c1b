/**
 * `polyglav roles`: the roles that sub-agents work under.
 *
 * @module
 */
import { actionList, catalogCommand, commaList, given } from "./_catalog.ts";
import type { Command } from "./_command.ts";

/** The command. */
export const command: Command = catalogCommand({
  kind: "role",
  summary: "Shows and changes the roles that sub-agents work under.",
  details:
    "Bundled ones, yours (roles.json in your configuration directory) and the project's (.polyglav/roles.json) are\n" +
    "merged field by field. A role narrows what its caller may do and never widens it. The project's count once it is\n" +
    "trusted.",
  example: [
    'roles new critic --prompt "You find what is wrong." --permission edit=deny,bash=deny',
    "a role that only looks",
  ],
  options: {
    prompt: { type: "string", value: "TEXT", help: "its system prompt; - reads it from standard input" },
    description: { type: "string", value: "TEXT", help: "one line" },
    model: { type: "string", value: "NAME", help: "another model of the same provider" },
    skills: { type: "string", value: "A,B", help: "skills that it always gets" },
    tags: { type: "string", value: "A,B", help: "tags" },
    permission: {
      type: "string",
      value: "KEY=ACTION,...",
      help: "what it takes of its caller's permissions",
    },
    grant: { type: "string", value: "KEY=ACTION,...", help: "ceiling for its own sub-agents" },
  },
  fields: async ({ values, io }) =>
    given({
      system_prompt: values.prompt === "-" ? await io.stdin() : values.prompt,
      description: values.description,
      model: values.model,
      skills: commaList(values.skills),
      tags: commaList(values.tags),
      tool_permission: actionList(values.permission),
      grant_permission: actionList(values.grant),
    }),
});
