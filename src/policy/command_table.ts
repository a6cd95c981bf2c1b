/**
 * What listed programs can do through their arguments: start other programs, run code, write files. Data, by program,
 * each row with an example that is refused under a prefix naming the program alone and a sibling that is allowed; the
 * tests run them all. A prefix that spells the argument out allows it.
 *
 * What is not its job: reading files outside of the worktree (`cat /etc/passwd`) is up to the user's list and to
 * confinement, and a program that is not in the table takes any argument.
 *
 * @module
 */
import type { ProgramEntry } from "./_shell_table.ts";
import { DEV_PROGRAMS } from "./_shell_table_dev.ts";
import { FILE_PROGRAMS } from "./_shell_table_files.ts";
import { RUN_PROGRAMS } from "./_shell_table_run.ts";

export type { ArgumentRow, ProgramEntry, SubcommandRule, WriteRule } from "./_shell_table.ts";

/** All rows, by program. A name may stand in several entries: all of them apply. */
export const COMMAND_TABLE: readonly ProgramEntry[] = [...FILE_PROGRAMS, ...DEV_PROGRAMS, ...RUN_PROGRAMS];

/** The shell builtins that are never run, listed or not: they evaluate text or change how later words are read. */
export const REFUSED_BUILTINS: ReadonlySet<string> = new Set(
  (". alias bg bind break builtin caller command compgen complete compopt continue coproc declare dirs disown enable " +
    "eval exec export fc fg function getopts hash help history jobs let local logout mapfile popd pushd read readarray " +
    "readonly return select set shift shopt source suspend times trap type typeset ulimit umask unalias unset wait")
    .split(" "),
);

/** The commands that the executor brings along; no program is started for them. */
export const OWN_COMMANDS: ReadonlySet<string> = new Set(
  "cd pwd true false : echo printf test [ exit".split(" "),
);

/** Those of {@link OWN_COMMANDS} that need an entry in the allowlist all the same. */
export const LISTED_COMMANDS: ReadonlySet<string> = new Set(["echo", "printf"]);

let index: Map<string, ProgramEntry[]> | undefined;

/** The entries for a program by name or path: its file name without `.exe` and a version, in lower case. */
export function entriesFor(program: string): readonly ProgramEntry[] {
  index ??= COMMAND_TABLE.reduce((map, entry) => {
    for (const name of entry.names) map.set(name, [...(map.get(name) ?? []), entry]);
    return map;
  }, new Map<string, ProgramEntry[]>());
  const base = program.slice(Math.max(program.lastIndexOf("/"), program.lastIndexOf("\\")) + 1).toLowerCase()
    .replace(/\.(exe|cmd|bat|com|ps1)$/, "");
  return index.get(base) ?? index.get(base.replace(/[-_.]?\d+(\.\d+)*[a-z]?$/, "")) ?? [];
}
