/**
 * Which beginnings of a command may be remembered. One is offered for each part of the command line that no list covers
 * yet, and only where it spells out no more than the program and what the program does: a beginning that names a script,
 * an option or another program would let through what the command table keeps back.
 *
 * @module
 */
import { refusedArgument } from "./_shell_arguments.ts";
import { entriesFor, type ProgramEntry } from "./command_table.ts";
import { checkCommand, type CommandInput, planAllowed } from "./shell_command.ts";
import type { CommandPlan, ShellCommand, ShellWord } from "./types.ts";

/** An entry that no command begins with. */
const NONE = "polyglav-nothing";
/** Words after which the next one names what is started: that one is spelled out too. */
const RUNS: ReadonlySet<string> = new Set(["run", "run-script", "task"]);
/** Words after which anything may be started, or settings changed by which something is started later. */
const STARTS: ReadonlySet<string> = new Set(
  ("exec x dlx eval shell start-process env create init repl console debug bisect rebase filter-branch submodule " +
    "config alias extension api compose").split(" "),
);
/**
 * Programs that write, move or remove what their operands name, wherever it lies (hooks of git, this program's own
 * configuration), or whose every use may do so: no beginning of theirs says how far that goes.
 */
const ANYWHERE: ReadonlySet<string> = new Set(
  ("cp mv rm unlink ln link install dd tee truncate shred split csplit chmod chown chgrp setfacl patch sponge " +
    "rsync scp sftp docker podman nerdctl code").split(" "),
);
const PLAIN = /^[A-Za-z0-9][A-Za-z0-9_.:+-]*$/;

/**
 * The beginnings that would let this command line run by itself, beside those that are on the list; null where no
 * harmless ones would, or where it runs already.
 *
 * @param existing the entries of `bash_auto`
 */
export function offeredPrefixes(
  command: string,
  existing: readonly string[],
  input: Omit<CommandInput, "prefixes">,
): readonly string[] | null {
  const now = checkCommand(command, { ...input, prefixes: existing.length > 0 ? existing : [NONE] });
  const commands = commandsOf(now);
  if (now.refused || commands.length !== now.segments.length) return null;
  const added: string[] = [];
  for (const [i, segment] of now.segments.entries()) {
    if (segment.allowed) continue;
    const prefix = prefixOf(commands[i]!.words);
    if (prefix === null) return null;
    if (!added.includes(prefix)) added.push(prefix);
  }
  if (added.length === 0) return null;
  return planAllowed(checkCommand(command, { ...input, prefixes: [...existing, ...added] })) ? added : null;
}

/** The simple commands of a plan, in the order of its segments. */
function commandsOf({ tree }: CommandPlan): readonly ShellCommand[] {
  return (tree?.chains ?? []).flatMap(({ first, rest }) => [first, ...rest.map(({ pipeline }) => pipeline)])
    .flatMap(({ commands }) => commands);
}

/** The beginning that is offered for one command, or null. */
function prefixOf(words: readonly ShellWord[]): string | null {
  const program = words[0]!.text, verb = plain(words[1]), entries = entriesFor(program);
  if (!PLAIN.test(program) || ANYWHERE.has(program) || entries.some(interprets)) return null;
  const structured = entries.some(({ subcommands }) => subcommands !== undefined);
  if (verb === null || (entries.length > 0 && !structured)) {
    // With subcommands the program alone would stand for all of them.
    return structured || refusedArgument(words, 1) !== null ? null : program;
  }
  if (STARTS.has(verb)) return null;
  const length = RUNS.has(verb) ? 3 : 2;
  const last = plain(words[length - 1]);
  if (last === null || (length === 3 && last.includes("."))) return null;
  if (refusedArgument(words, length) !== null) return null;
  return words.slice(0, length).map(({ text }) => text).join(" ");
}

/** Whether a program runs what its first operand or its input holds. */
function interprets({ stops, ends, rows }: ProgramEntry): boolean {
  return stops === true || ends !== undefined || rows.some(({ bare }) => bare !== undefined);
}

/** A word that is no option, path or pattern. */
function plain(word: ShellWord | undefined): string | null {
  return word !== undefined && word.pattern === undefined && PLAIN.test(word.text) ? word.text : null;
}
