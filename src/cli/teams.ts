/**
 * `polyglav teams`: chains of roles.
 *
 * @module
 */
import { catalogCommand, commaList, given } from "./_catalog.ts";
import type { Command } from "./_command.ts";

/** The command. */
export const command: Command = catalogCommand({
  kind: "team",
  summary: "Shows and changes the teams: chains of roles.",
  details:
    "Each stage works with the results of those before. With --loop FROM:UNTIL the stages between are repeated until\n" +
    'the last line of UNTIL says "VERDICT: PASS". Hints and notes of single stages are written in .polyglav/teams.json.',
  example: ["teams new docs --stages researcher,writer,editor --loop writer:editor", "with a review loop"],
  options: {
    stages: { type: "string", value: "A,B", help: "roles, in order" },
    description: { type: "string", value: "TEXT", help: "one line" },
    tags: { type: "string", value: "A,B", help: "tags" },
    loop: {
      type: "string",
      value: "FROM:UNTIL",
      help: "stages (role, or index from 0) that are repeated until they pass",
    },
  },
  fields: ({ values }) => {
    const [from, until] = typeof values.loop === "string" ? values.loop.split(":").map(place) : [];
    return given({
      stages: commaList(values.stages),
      description: values.description,
      tags: commaList(values.tags),
      loop: values.loop === undefined ? undefined : { from, until: until ?? "" },
    });
  },
});

function place(text: string): string | number {
  return /^\d+$/.test(text.trim()) ? Number(text) : text.trim();
}
