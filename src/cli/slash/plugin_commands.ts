/**
 * Slash commands that plugins bring: each stands for a prompt.
 *
 * @module
 */
import { cleanForTerminal } from "../../text/ansi.ts";
import type { Host } from "../_host.ts";
import type { SlashCommand } from "./_command.ts";
import { slashCommand } from "./mod.ts";

/** The commands of the plugins that count; none takes the place of a built-in one or of another plugin's. */
export function pluginCommands({ plugins }: Pick<Host, "plugins">): SlashCommand[] {
  const commands: SlashCommand[] = [];
  for (const { info, provides } of plugins?.loaded ?? []) {
    for (const { name, description, prompt } of provides.commands) {
      if (slashCommand(name, commands)) continue;
      commands.push({
        name,
        summary: cleanForTerminal(`${description} (plugin ${info.name})`, { line: true }),
        usage: prompt.includes("$ARGUMENTS") ? "[TEXT]" : undefined,
        async run(repl, rest) {
          await repl.prompt(prompt.replaceAll("$ARGUMENTS", () => rest));
        },
      });
    }
  }
  return commands;
}
