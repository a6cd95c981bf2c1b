/**
 * `/roles`, `/teams`, `/skills`: the catalog, through its tool; a new entry is made as on the command line.
 *
 * @module
 */
import { PolyglavError } from "../../errors.ts";
import type { Kind } from "../../catalog/catalog.ts";
import type { Repl } from "../repl/repl.ts";
import { splitWords } from "../repl/words.ts";
import { runCli } from "./_cli.ts";
import type { SlashCommand } from "./_command.ts";
import { showCall } from "./tools.ts";

const ACTIONS = ["list", "show", "validate", "remove"];

function make(kind: Kind, name: string, summary: string): SlashCommand {
  return {
    name,
    aliases: [kind],
    summary,
    usage: "[NAME | show NAME | new NAME … | remove NAME | validate]",
    async run(repl, rest) {
      const words = splitWords(rest), [first = "list", second] = words;
      if (first === "new") {
        await runCli(repl, name, words);
        repl.host.catalog.loaded?.reload();
        return;
      }
      const action = ACTIONS.includes(first) ? first : "show",
        entry = ACTIONS.includes(first) ? second : first;
      if (repl.host.registry.get("catalog") === null) {
        throw new PolyglavError("the catalog's tool is switched off in the configuration");
      }
      await showCall(repl, "catalog", { action, kind, ...(entry === undefined ? {} : { name: entry }) });
    },
    complete: async (repl, words) =>
      words.length > 1 ? [] : [
        ...words.length === 0
          ? ["list", "show ", "new ", "remove ", "validate"].map((text) => ({ text }))
          : [],
        ...await catalogItems(repl, kind),
      ],
  };
}

/** Names of the catalog, for completion. */
export async function catalogItems(repl: Repl, kind: Kind) {
  const catalog = await repl.host.catalog.load();
  return catalog.list(kind).map(({ name, description }) => ({ text: name, hint: description?.slice(0, 60) }));
}

/** `/roles`. */
export const roles: SlashCommand = make("role", "roles", "the roles that sub-agents work under");
/** `/teams`. */
export const teams: SlashCommand = make("team", "teams", "the teams: chains of roles");
/** `/skills`. */
export const skills: SlashCommand = make("skill", "skills", "the skills: texts that roles are given");
