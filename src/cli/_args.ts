/**
 * Parses a command line by a command's declaration. (The usual packages cost 20 to 45 ms of start-up, twice per run.)
 *
 * @module
 */
import { UsageError } from "../errors.ts";
import { nearest } from "../text/nearest.ts";
import type { Command, OptionSpec } from "./_command.ts";

/** Options that every command has. */
export const GLOBAL_OPTIONS: Readonly<Record<string, OptionSpec>> = {
  path: { type: "string", value: "DIR", help: "the project to work in (default: the current folder)" },
  help: { type: "boolean", short: "h", help: "show help" },
};

/** What a command line says. */
export interface ParsedLine {
  /** The innermost command. */
  readonly command: Command;
  /** Names from the outermost to the innermost command. */
  readonly names: readonly string[];
  readonly values: Readonly<Record<string, string | boolean | readonly string[] | undefined>>;
  readonly positionals: readonly string[];
}

/**
 * Parses the words after the command's name.
 *
 * @throws {UsageError} for an unknown option or subcommand, a missing value, a wrong choice, too many or few words
 */
export function parseLine(command: Command, words: readonly string[]): ParsedLine {
  const values: Record<string, string | boolean | string[]> = {};
  const positionals: string[] = [];
  const names = [command.name];
  let current = command;
  const subcommand = (word: string): boolean => {
    if (!current.subcommands || positionals.length > 0) return false;
    const found = current.subcommands.find((c) => c.name === word);
    if (found) {
      current = found;
      names.push(found.name);
    }
    return found !== undefined;
  };
  for (let i = 0; i < words.length; i++) {
    const word = words[i]!;
    if (word === "--") {
      positionals.push(...words.slice(i + 1));
      break;
    }
    if (word === "-" || !word.startsWith("-")) {
      if (!subcommand(word)) positionals.push(word);
      continue;
    }
    const { name, spec, inline } = findOption(current, names, word);
    if (spec.type === "boolean") {
      if (inline !== undefined) throw usage(names, `--${name} takes no value, got "${inline}"`);
      values[name] = true;
      continue;
    }
    const value = inline ?? words[++i];
    if (value === undefined) {
      throw usage(names, `--${name} needs a value: --${name} ${spec.value ?? "VALUE"}`);
    }
    if (inline === undefined && value.length > 1 && isOption(current, value)) {
      throw usage(
        names,
        `--${name} needs a value, got the option "${value}"; write --${name}=${value} if it is meant`,
      );
    }
    if (spec.choices && !spec.choices.includes(value)) {
      throw usage(names, `--${name} must be one of ${spec.choices.join(", ")}, got "${value}"`);
    }
    if (spec.type === "strings") ((values[name] ??= []) as string[]).push(value);
    else values[name] = value;
  }
  if (values.help !== true) checkCount(current, names, positionals);
  return { command: current, names, values, positionals };
}

function checkCount(command: Command, names: readonly string[], positionals: readonly string[]): void {
  if (command.subcommands && !command.run) {
    const all = command.subcommands.map((c) => c.name);
    const word = positionals[0];
    if (word === undefined) throw usage(names, `needs a subcommand: ${all.join(", ")}`);
    const near = nearest(word, all);
    throw usage(
      names,
      `unknown subcommand "${word}"${near ? `, did you mean "${near}"?` : `; one of ${all.join(", ")}`}`,
    );
  }
  const [least, most] = command.positionals ?? [0, 0];
  if (positionals.length < least) throw usage(names, `needs ${command.usage ?? "an argument"}`);
  if (positionals.length > most) {
    throw usage(
      names,
      `does not take "${positionals[most]}"${
        most === 0 ? "" : ` (usage: ${names.join(" ")} ${command.usage ?? ""})`
      }`,
    );
  }
}

function optionsOf(command: Command): Readonly<Record<string, OptionSpec>> {
  return { ...GLOBAL_OPTIONS, ...command.options };
}

function isOption(command: Command, word: string): boolean {
  if (!word.startsWith("-")) return false;
  const options = optionsOf(command);
  if (word.startsWith("--")) return Object.hasOwn(options, word.slice(2).split("=", 1)[0]!);
  return Object.values(options).some((spec) => spec.short === word[1]) && word.length === 2;
}

function findOption(
  command: Command,
  names: readonly string[],
  word: string,
): { name: string; spec: OptionSpec; inline?: string } {
  const options = optionsOf(command);
  if (word.startsWith("--")) {
    const equals = word.indexOf("=");
    const name = word.slice(2, equals === -1 ? undefined : equals);
    const spec = Object.hasOwn(options, name) ? options[name] : undefined;
    if (spec) return { name, spec, inline: equals === -1 ? undefined : word.slice(equals + 1) };
    const near = nearest(name, Object.keys(options));
    throw usage(names, `unknown option "--${name}"${near ? `, did you mean "--${near}"?` : ""}`);
  }
  const found = Object.entries(options).find(([, spec]) => spec.short === word[1]);
  if (!found) throw usage(names, `unknown option "${word}"`);
  const rest = word.slice(2);
  return { name: found[0], spec: found[1], inline: rest === "" ? undefined : rest.replace(/^=/, "") };
}

function usage(names: readonly string[], text: string): UsageError {
  const command = names.join(" ");
  return new UsageError(`${command}: ${text} (see "polyglav ${command} --help")`);
}
