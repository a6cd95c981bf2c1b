/**
 * Applies the command table to the words of one command.
 *
 * @module
 */
import type { ArgumentRow, ProgramEntry, WriteRule } from "./_shell_table.ts";
import { type Script, scriptHit } from "./_shell_scripts.ts";
import type { ShellWord } from "./types.ts";
import { entriesFor } from "./command_table.ts";

/** A word that the table refuses. */
export interface ArgumentHit {
  /** The words of the command that say it: an option, an operand, or the program itself. */
  readonly argument: string;
  /** Completes "it …". */
  readonly why: string;
}

/** One word of the command, by what it is to the program. */
interface Place {
  readonly index: number;
  readonly text: string;
  readonly wild: boolean;
}

interface Sorted {
  readonly options: readonly Place[];
  readonly operands: readonly Place[];
  /** How many operands are the program's own; the others belong to the script that the last of these names. */
  readonly own: number;
}

/**
 * The first argument that is refused, or null.
 *
 * @param words the command's words, its name first
 * @param spelled how many of them the matched prefix spells out
 */
export function refusedArgument(words: readonly ShellWord[], spelled: number): ArgumentHit | null {
  for (const entry of entriesFor(words[0]!.text)) {
    const hit = entryHit(entry, words, spelled);
    if (hit) return hit;
  }
  return null;
}

/** Marks the words that name files which the program changes. */
export function markWrites(words: readonly ShellWord[]): ShellWord[] {
  const out: ShellWord[] = [...words];
  for (const entry of entriesFor(words[0]!.text)) {
    const rule = entry.writes;
    if (!rule) continue;
    const { operands } = sort(entry, words, 1, 0);
    const chosen = rule.operands === "all" ? operands : rule.operands === "last" ? operands.slice(-1) : [];
    for (const { index } of chosen) out[index] = { ...out[index]!, access: "write" };
    for (const { index, from } of namedTargets(words, rule)) {
      out[index] = { ...out[index]!, access: "write", accessFrom: from };
    }
  }
  return out;
}

/** Words that are, or end with, the value of an option that names a file; `from` is where the path begins. */
function namedTargets(words: readonly ShellWord[], rule: WriteRule): { index: number; from: number }[] {
  const found: { index: number; from: number }[] = [];
  for (const name of rule.named ?? []) {
    for (let index = 1; index < words.length; index++) {
      const text = words[index]!.text, next = index + 1 < words.length ? [{ index: index + 1, from: 0 }] : [];
      if (name.endsWith("=")) {
        if (text.startsWith(name)) found.push({ index, from: name.length });
      } else if (name.startsWith("--")) {
        const [option, value] = splitLong(text);
        if (option.length < 3 || !name.startsWith(option)) continue;
        found.push(...(value !== null ? [{ index, from: option.length + 1 }] : next));
      } else if (/^-[^-]/.test(text)) {
        const at = text.indexOf(name[1]!);
        if (at > 0) found.push(...(at + 1 < text.length ? [{ index, from: at + 1 }] : next));
      }
    }
  }
  return found;
}

function entryHit(entry: ProgramEntry, words: readonly ShellWord[], spelled: number): ArgumentHit | null {
  let from = 1, subcommand = "";
  if (entry.subcommands) {
    const found = findSubcommand(entry, words, spelled);
    if ("hit" in found) return found.hit;
    ({ from, subcommand } = found);
  }
  const sorted = sort(entry, words, from, spelled);
  for (const row of entry.rows) {
    if (row.under && !row.under.includes(subcommand)) continue;
    const hit = rowHit(row, entry, words, sorted, spelled);
    if (hit !== null) return { argument: hit, why: row.why };
  }
  return null;
}

/** Where the subcommand is, and whether it may run: harmless, or spelled out. */
function findSubcommand(
  entry: ProgramEntry,
  words: readonly ShellWord[],
  spelled: number,
): { hit: ArgumentHit } | { from: number; subcommand: string } {
  const rule = entry.subcommands!;
  for (let i = 1; i < words.length; i++) {
    const { text, pattern } = words[i]!;
    if (pattern === undefined && rule.flags?.includes(text)) continue;
    if (pattern === undefined && rule.valued?.includes(text)) {
      const value = words[++i];
      if (value?.pattern !== undefined) return { hit: { argument: value.text, why: "may be several words" } };
    } else if (text.startsWith("-")) {
      if (i >= spelled) {
        const row = entry.rows.find((one) =>
          one.options?.some((option) => optionMatches(option, text, entry))
        );
        return { hit: { argument: text, why: row?.why ?? "stands before the subcommand and is not known" } };
      }
      // Spelled out, but it may take the next word: the subcommand is one that cannot be such a value.
      if (!text.includes("=")) i++;
    } else {
      const known = pattern === undefined && rule.harmless.includes(text);
      return known || i < spelled
        ? { from: i + 1, subcommand: text }
        : { hit: { argument: text, why: rule.why } };
    }
  }
  return { from: words.length, subcommand: "" };
}

/** Tells options from operands; words before `from` (program, subcommand) count as options. */
function sort(entry: ProgramEntry, words: readonly ShellWord[], from: number, spelled: number): Sorted {
  const options: Place[] = [], operands: Place[] = [];
  let ended = false, dashes = false, valueNext = false, own = Infinity;
  for (let index = 1; index < words.length; index++) {
    const word = words[index]!, text = word.text, place = { index, text, wild: word.pattern !== undefined };
    const before = words[index - 1]!.text;
    // The word may be the value of the option before it, so that nothing can be concluded from it.
    const afterOption = index > 1 && before.startsWith("-") && before !== "-";
    if (ended) operands.push(place);
    else if (text === "--" && !afterOption && !valueNext && entry.style !== "whole") ended = true;
    else if ((text.startsWith("-") && text !== "-") || text.startsWith("+")) {
      options.push(place);
      if (text.startsWith("+") || dashes) operands.push(place);
      valueNext = takesNext(entry, text);
      if (index < spelled && entry.ends?.some((end) => optionMatches(end, text, entry))) break;
    } else if (index < from) options.push(place);
    else {
      // A pattern may become several words, of which the option takes the first.
      if (!valueNext || place.wild) {
        operands.push(place);
        if (entry.stops && !afterOption && !valueNext) {
          ended = true;
          own = operands.length;
        }
      }
      valueNext = false;
    }
    dashes ||= text === "--";
  }
  return { options, operands, own };
}

/** Whether an option's value is the next word: a cluster that ends with a letter that always takes one. */
function takesNext(entry: ProgramEntry, text: string): boolean {
  if (entry.style === "whole" || text.startsWith("--")) return false;
  for (let i = 1; i < text.length; i++) {
    if (entry.values?.includes(text[i]!)) return i === text.length - 1;
  }
  return false;
}

function rowHit(
  row: ArgumentRow,
  entry: ProgramEntry,
  words: readonly ShellWord[],
  { options, operands, own }: Sorted,
  spelled: number,
): string | null {
  for (const { index, text } of options) {
    if (index >= spelled && row.options?.some((option) => optionMatches(option, text, entry))) return text;
  }
  if (row.others) {
    const other = options.find(({ index, text }) => index >= spelled && !isOneOf(text, row.others!));
    if (other) return other.text;
  }
  if (row.anywhere) {
    const found = words.findIndex(({ text }, i) => i > 0 && i >= spelled && row.anywhere!.test(text));
    if (found >= 0) return words[found]!.text;
  }
  for (const { index, text, wild } of operands.slice(0, own)) {
    if (index >= spelled && row.operands && (row.operands.test(text) || (wild && !row.literal))) return text;
  }
  if (row.operandsFrom !== undefined) {
    const key = operands[row.operandsFrom];
    if (key && key.index >= spelled) return key.text;
    // A pattern may become several words.
    const wild = key ? undefined : operands.find((place) => place.wild && place.index >= spelled);
    if (wild) return wild.text;
  }
  if (row.bare && operands.length === 0) {
    const rest = words.slice(1).map((word) => word.text), bare = row.bare;
    const told = rest.length > 0 && (rest.every((text) => bare.includes(text)) || spelled >= words.length);
    const named = options.some(({ index, text }) =>
      index < spelled && entry.ends?.some((end) => optionMatches(end, text, entry))
    );
    if (!told && !named) return words[0]!.text;
  }
  if (row.script) return scriptHit(row.script as Script, words, spelled);
  return null;
}

function splitLong(text: string): [name: string, value: string | null] {
  const equals = text.indexOf("=");
  return equals < 0 ? [text, null] : [text.slice(0, equals), text.slice(equals + 1)];
}

/** Whether `text` gives the option `option`, in whatever spelling the program may understand. */
function optionMatches(option: string, text: string, entry: ProgramEntry): boolean {
  if (option === "+") return text.startsWith("+");
  if (entry.style === "whole") {
    const [name] = splitLong(text);
    return name === option || (name.startsWith("--") && name.slice(1) === option);
  }
  if (option.startsWith("--")) {
    if (!text.startsWith("--")) return false;
    const [name] = splitLong(text);
    if (entry.exact?.includes(name) && name !== option) return false;
    return name.length > 2 && option.startsWith(name);
  }
  if (text.startsWith("--") || !text.startsWith("-")) return false;
  if (option.length > 2) return splitLong(text)[0] === option;
  for (let i = 1; i < text.length; i++) {
    if (text[i] === option[1]) return true;
    if (entry.values?.includes(text[i]!)) return false;
  }
  return false;
}

/** Whether an option is one of a list, or a cluster of letters that all are. */
function isOneOf(text: string, list: readonly string[]): boolean {
  if (list.includes(text) || text === "--") return true;
  if (text.startsWith("--")) return list.includes(splitLong(text)[0]);
  return /^-[A-Za-z]{2,}$/.test(text) && [...text.slice(1)].every((letter) => list.includes(`-${letter}`));
}
