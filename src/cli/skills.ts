/**
 * `polyglav skills`: texts that roles and stages are given.
 *
 * @module
 */
import { catalogCommand, commaList, given } from "./_catalog.ts";
import type { Command } from "./_command.ts";

/** The command. */
export const command: Command = catalogCommand({
  kind: "skill",
  summary: "Shows and changes the skills: texts that roles and stages are given.",
  details:
    "A skill is a Markdown file in .polyglav/skills (NAME.md, or NAME/SKILL.md with front matter, as other agents write\n" +
    "them), or in the folder skills of your configuration directory.",
  example: ["skills new sourcing --content -", "from standard input"],
  options: {
    content: { type: "string", value: "TEXT", help: "Markdown; - reads it from standard input" },
    description: { type: "string", value: "TEXT", help: "one line" },
    tags: { type: "string", value: "A,B", help: "tags" },
  },
  fields: async ({ values, io }) =>
    given({
      content: values.content === "-" ? await io.stdin() : values.content,
      description: values.description,
      tags: commaList(values.tags),
    }),
});
