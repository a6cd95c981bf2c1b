/**
 * Looks over the lists of tool names in the configuration: a name that no tool has protects nothing.
 *
 * @module
 */
import type { Settings } from "../config/settings.ts";
import { cleanForTerminal } from "../text/ansi.ts";
import { nearest } from "../text/nearest.ts";
import type { Tool } from "../tool.ts";

/**
 * One line for each name of `tools.allow`, `tools.deny` and the mode's lists that no tool has.
 *
 * @param tools every tool that there can be, those of disabled plugins included
 */
export function unknownNames(settings: Settings, tools: readonly Tool[]): string[] {
  const known = new Map<string, string>();
  for (const { name, aliases = [] } of tools) {
    const all = [name, ...(Array.isArray(aliases) ? aliases : Object.keys(aliases))];
    for (const each of all) known.set(each.toLowerCase(), each);
  }
  const mode = settings.modes[settings.mode]?.tools;
  const lists: readonly (readonly [key: string, names: readonly string[]])[] = [
    ["tools.allow", settings.tools.allow],
    ["tools.deny", settings.tools.deny],
    [`modes.${settings.mode}.tools.allow`, mode?.allow ?? []],
    [`modes.${settings.mode}.tools.deny`, mode?.deny ?? []],
  ];
  // A name with a dot is a plugin's, which need not be there.
  const strange = (name: string) => !known.has(name.trim().toLowerCase()) && !name.includes(".");
  const shown = (name: string) => cleanForTerminal(name, { line: true });
  return lists.flatMap(([key, names]) =>
    names.filter(strange).slice(0, 10).map((name) => {
      const near = nearest(name.trim(), [...known.values()]);
      return `${shown(key)} names "${shown(name)}", which is no tool here${
        near === null ? "" : `; did you mean ${near}?`
      }`;
    })
  );
}
