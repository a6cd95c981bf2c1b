/**
 * The shape of the table in command_table.ts.
 *
 * @module
 */

/** The words of a text, so that long lists stay readable. */
export function words(text: string): readonly string[] {
  return text.split(/\s+/).filter(Boolean);
}

/** Arguments that a prefix does not cover unless it spells them out, with an example of each side. */
export interface ArgumentRow {
  /**
   * Options: `-x` also inside clusters (`-nx`), `--long` also abbreviated and with `=value`, `-whole` (style `whole`) as it
   * stands and with `=value`, `+` any word that begins so.
   */
  readonly options?: readonly string[];
  /** All options but these, in any cluster or with any value. */
  readonly others?: readonly string[];
  /** Any word that matches, option or not. */
  readonly anywhere?: RegExp;
  /** Operands (words that are not options) that match; a pattern counts as one unless `literal` says that none can expand to it. */
  readonly operands?: RegExp;
  readonly literal?: boolean;
  /** The operand at this place (0 = the first): a program to start, a file to write. Spelled out, it covers what follows. */
  readonly operandsFrom?: number;
  /** No operand at all: the program reads its program from standard input, except when called with nothing but these words. */
  readonly bare?: readonly string[];
  /** Only under these subcommands. */
  readonly under?: readonly string[];
  /** A look into an argument that is a program of its own. */
  readonly script?: "sed" | "awk" | "tar";
  /** Completes "… is refused: it …". */
  readonly why: string;
  /** The prefix of the two examples, where it is not the program alone. */
  readonly prefix?: string;
  /** Refused under a prefix that names the program alone. */
  readonly refused: string;
  /** Its harmless sibling. */
  readonly allowed: string;
}

/** Words that name what the program does first. */
export interface SubcommandRule {
  /** Those that need no spelling out. */
  readonly harmless: readonly string[];
  /** Options before the subcommand that take the next word as their value. */
  readonly valued?: readonly string[];
  /** Options before the subcommand that take none; any other one must be spelled out. */
  readonly flags?: readonly string[];
  /** Completes "… is refused: it …". */
  readonly why: string;
  /** Refused under a prefix that names the program alone. */
  readonly refused: string;
  /** Its harmless sibling. */
  readonly allowed: string;
}

/** Which words of a writer are files that it changes: the path rules and the guard decide about them. */
export interface WriteRule {
  /** `all` operands, the `last` one, or none (`none`: `named` ones alone). */
  readonly operands: "all" | "last" | "none";
  /** Options whose value is such a file: `-t`, `--target-directory`, or a word's beginning such as `of=`. */
  readonly named?: readonly string[];
}

/** What is known of a program. */
export interface ProgramEntry {
  /** File names, without a version at their end (`python` covers `python3.11`). */
  readonly names: readonly string[];
  /** `whole`: options are words with one dash (find); default: clusters of letters and `--long` ones. */
  readonly style?: "whole";
  /** Letters whose option always takes a value: the rest of its cluster, or the next word. Only what is so on every system. */
  readonly values?: string;
  /** Options end at the first operand: what follows belongs to a script. */
  readonly stops?: boolean;
  /** Spelled-out options after which all words belong to what they name (`python -m NAME`). */
  readonly ends?: readonly string[];
  /** Long options that are written in full although a refused one begins with them (`--text` beside `--textconv`). */
  readonly exact?: readonly string[];
  readonly subcommands?: SubcommandRule;
  readonly writes?: WriteRule;
  readonly rows: readonly ArgumentRow[];
}
