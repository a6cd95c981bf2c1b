/**
 * The commands as the scripts of all shells need them.
 *
 * @module
 */
import { GLOBAL_OPTIONS } from "../_args.ts";
import type { Command } from "../_command.ts";

/** A word and what it is. */
export interface Word {
  readonly text: string;
  readonly hint: string;
}

/** An option of a level. */
export interface LevelOption {
  /** Without its dashes. */
  readonly long: string;
  readonly short?: string;
  readonly hint: string;
  /** What follows it: nothing, anything, a file, a directory or one of these words. */
  readonly value: "none" | "any" | "file" | "directory" | readonly string[];
}

/** What may stand after the words of `path`. */
export interface Level {
  /** Names of commands joined by blanks; empty: the program itself. */
  readonly path: string;
  /** Names of the commands below. */
  readonly commands: readonly Word[];
  readonly options: readonly LevelOption[];
  /** What else may stand here. */
  readonly words: readonly string[];
  /** Files may stand here. */
  readonly files: boolean;
}

/**
 * Every level, the program's own first.
 *
 * @param commands the commands, and what the list says of them
 * @param words what else may stand after a path of names, such as the names of tools
 */
export function levelsOf(
  commands: readonly { readonly summary: string; readonly command: Command }[],
  words: Readonly<Record<string, readonly string[]>>,
): Level[] {
  const levels: Level[] = [{
    path: "",
    commands: [
      ...commands.map(({ command, summary }) => ({ text: command.name, hint: summary })),
      { text: "help", hint: "show help" },
    ],
    options: optionsOf({
      ...GLOBAL_OPTIONS,
      version: { type: "boolean", short: "V", help: "show the version" },
    }),
    words: [],
    files: false,
  }, {
    path: "help",
    commands: [],
    options: [],
    words: commands.map(({ command }) => command.name),
    files: false,
  }];
  const add = (command: Command, path: string) => {
    levels.push({
      path,
      commands: (command.subcommands ?? []).map(({ name, summary }) => ({ text: name, hint: summary })),
      options: optionsOf({ ...command.options, ...GLOBAL_OPTIONS }),
      words: words[path] ?? [],
      files: /\b(PATH|FILE|DIR)\b/.test(command.usage ?? ""),
    });
    for (const below of command.subcommands ?? []) add(below, `${path} ${below.name}`);
  };
  for (const { command } of commands) add(command, command.name);
  return levels;
}

function optionsOf(options: NonNullable<Command["options"]>): LevelOption[] {
  return Object.entries(options).map(([long, { type, short, value = "", choices, help }]) => ({
    long,
    short,
    hint: help,
    value: type === "boolean"
      ? "none"
      : choices ?? (/FILE|PATH/.test(value) ? "file" : /DIR|FOLDER/.test(value) ? "directory" : "any"),
  }));
}

/** All spellings of an option: `--output`, `-o`. */
export function spellings({ long, short }: LevelOption): string[] {
  return [`--${long}`, ...(short ? [`-${short}`] : [])];
}

/** Text in single quotes, for POSIX shells. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/**
 * The cases by which bash and zsh walk over the words before the cursor: a command goes one level down, an option that
 * takes a value skips the next word.
 *
 * @param place name of the shell's variable that holds the level's path
 */
export function wordCases(levels: readonly Level[], place: string): string {
  return levels.map((level) => {
    const takers = level.options.filter(({ value }) => value !== "none").flatMap(spellings);
    return [
      ...level.commands.map(({ text }) =>
        `      ${quote(`${level.path}|${text}`)}) ${place}=${quote(`${level.path} ${text}`.trim())} ;;`
      ),
      ...(takers.length > 0
        ? [`      ${takers.map((each) => quote(`${level.path}|${each}`)).join("|")}) skip=1 ;;`]
        : []),
    ].join("\n");
  }).filter(Boolean).join("\n");
}
