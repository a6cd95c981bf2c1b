/**
 * Redirections of the descriptors 0, 1 and 2, and how words and redirections are shown.
 *
 * @module
 */
import type { Redirect } from "unbash";
import { expandWord, Refusal, type WordInput } from "./_shell_words.ts";
import type { ShellRedirect, ShellWord } from "./types.ts";

const OPERATORS = new Set([">", ">>", "<", ">|", "&>", "&>>", ">&"]);

/**
 * What a redirection does, in the executor's terms: one step, or two for `&>`.
 *
 * @throws {Refusal} for all but plain files, `/dev/null` and copies of 1 and 2
 */
export function redirectsOf(item: Redirect, words: WordInput): ShellRedirect[] {
  const { operator } = item;
  if (!OPERATORS.has(operator)) throw new Refusal(`the redirection \`${operator}\``);
  if (item.descriptor && item.descriptor.type !== "FileDescriptor") {
    throw new Refusal("a redirection to a variable");
  }
  const given = item.descriptor?.value, target = item.target;
  if (!target) throw new Refusal("a redirection without a target");
  const both = operator === "&>" || operator === "&>>";
  const fd = given ?? (operator === "<" ? 0 : 1);
  if ((fd !== 0 && fd !== 1 && fd !== 2) || (both && given !== undefined)) {
    throw new Refusal(`the redirection of descriptor ${fd}`);
  }
  if (operator === ">&" && /^[0-9]+-?$|^-$/.test(target.text)) {
    if (target.text !== "1" && target.text !== "2") {
      throw new Refusal(`the redirection \`>&${target.text}\``);
    }
    if (fd === 0) throw new Refusal("the redirection of descriptor 0");
    return [{ fd, kind: "copy", from: target.text === "1" ? 1 : 2 }];
  }
  const expanded = expandWord(target, words);
  const [word] = expanded;
  if (expanded.length !== 1 || !word || word.text === "") throw new Refusal("an ambiguous redirection");
  if (word.pattern !== undefined) throw new Refusal("a wildcard in a redirection");
  if (operator === ">&" && (given !== undefined || /^[0-9]+-?$|^-$/.test(word.text))) {
    throw new Refusal("an ambiguous redirection");
  }
  const path = word.text;
  const special = /^\/dev\/(?!null$)/.test(path.replace(/\/(\.?\/)+/g, "/"));
  if (special) throw new Refusal(`the redirection to \`${path}\``);
  const kind = path === "/dev/null"
    ? "null"
    : operator === "<"
    ? "read"
    : operator.endsWith(">>")
    ? "append"
    : "write";
  if (fd === 0 && kind !== "read" && kind !== "null") throw new Refusal("the redirection of descriptor 0");
  if (fd !== 0 && operator === "<") throw new Refusal(`the redirection of descriptor ${fd}`);
  const one: ShellRedirect = kind === "null" ? { fd, kind } : { fd, kind, path };
  return both || operator === ">&" ? [{ ...one, fd: 1 }, { fd: 2, kind: "copy", from: 1 }] : [one];
}

/** A word as a person would write it. */
export function display(word: ShellWord): string {
  const text = word.text;
  if (word.pattern !== undefined) return text;
  return text !== "" && /^[A-Za-z0-9_./:=@%+,^~#{}!?*[\]-]+$/.test(text) && !/[*?[]/.test(text)
    ? text
    : `'${text.replaceAll("'", "'\\''")}'`;
}

/** A redirection as a person would write it. */
export function displayRedirect({ fd, kind, path, from }: ShellRedirect): string {
  if (kind === "copy") return `${fd}>&${from}`;
  const sign = kind === "read" || (kind === "null" && fd === 0) ? "<" : kind === "append" ? ">>" : ">";
  const number = (sign === "<" ? 0 : 1) === fd ? "" : String(fd);
  return `${number}${sign} ${path === undefined ? "/dev/null" : display({ text: path })}`;
}
