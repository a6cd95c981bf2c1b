/**
 * Words of a command line: from unbash's parts to the words that a program gets. Quotes are removed, braces, `~` and
 * plain variables expanded in bash's order; wildcards stay for the executor. What is not understood to the last
 * character is refused.
 *
 * @module
 */
import type { DoubleQuotedChild, Word, WordPart } from "unbash";
import type { ShellWord } from "./types.ts";

/** A construct that no allowlist lets through; the message completes "… is not allowed: ". */
export class Refusal extends Error {}

/** What words expand with. */
export interface WordInput {
  /** The scrubbed environment. */
  readonly env: Readonly<Record<string, string>>;
  /** What `~` stands for when the environment has no HOME. */
  readonly home: string;
  /** The working directory, or null where a `cd` before has made it uncertain. */
  readonly cwd: string | null;
}

/** A character, a variable, or the trace of a pair of quotes. */
type Unit =
  | { readonly kind: "char"; readonly char: string; readonly quoted: boolean }
  | { readonly kind: "variable"; readonly name: string; readonly quoted: boolean; readonly open: boolean }
  | { readonly kind: "quotes" };

/** Variables that a shell sets by itself: their value is not in the environment that we know. */
const SHELL_OWN = new Set(
  ("_ BASH BASHOPTS BASHPID BASH_ALIASES BASH_ARGC BASH_ARGV BASH_ARGV0 BASH_CMDS BASH_COMMAND BASH_EXECUTION_STRING " +
    "BASH_LINENO BASH_REMATCH BASH_SOURCE BASH_SUBSHELL BASH_VERSINFO BASH_VERSION COLUMNS COMP_WORDBREAKS DIRSTACK " +
    "EPOCHREALTIME EPOCHSECONDS EUID FUNCNAME GROUPS HISTCMD HOSTNAME HOSTTYPE IFS LINENO LINES MACHTYPE OLDPWD " +
    "OPTARG OPTERR OPTIND OSTYPE PIPESTATUS PPID PS4 RANDOM SECONDS SHELLOPTS SHLVL SRANDOM UID").split(" "),
);
/** Variables that a shell sets when the environment lacks them. */
const SHELL_DEFAULTS = new Set(["PATH", "SHELL", "TERM", "HOME"]);
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const MOST_WORDS = 1000;

/** The words that an argument becomes: none, one or several. */
export function expandWord(word: Word, input: WordInput): ShellWord[] {
  return expandBraces(unitsOf(word)).flatMap((units) => fields(tilde(units, input), input));
}

/** The one literal word in command position: no variable, wildcard, brace or `~`. */
export function literalWord(word: Word, what: string): string {
  let text = "";
  const units = unitsOf(word);
  for (const unit of units) {
    if (unit.kind === "variable") throw new Refusal(`a variable in ${what} (\`$${unit.name}\`)`);
    if (unit.kind === "char") text += unit.char;
  }
  if (text !== "[" && units.some((unit) => bare(unit, "*?["))) throw new Refusal(`a wildcard in ${what}`);
  if (units.some((unit) => bare(unit, "{}"))) throw new Refusal(`a brace in ${what}`);
  if (bare(units[0], "~")) throw new Refusal(`\`~\` in ${what}`);
  return text;
}

/** Whether `unit` is one of `characters`, not quoted. */
function bare(unit: Unit | undefined, characters: string): boolean {
  return unit?.kind === "char" && !unit.quoted && characters.includes(unit.char);
}

/** All units of a word; the parts must add up to the word's text. */
function unitsOf(word: Word): Unit[] {
  const parts = word.parts;
  if (!parts) return literal(word.text, word.value, false);
  if (parts.map((part) => part.text).join("") !== word.text) throw new Refusal(`the word \`${word.text}\``);
  return parts.flatMap((part) => partUnits(part));
}

function partUnits(part: WordPart): Unit[] {
  switch (part.type) {
    case "Literal":
      return literal(part.text, part.value, false);
    case "SingleQuoted":
      if (part.text !== `'${part.value}'` || part.value.includes("'")) {
        throw new Refusal(`the word ${part.text}`);
      }
      return quoted(part.value);
    case "AnsiCQuoted":
      return ansi(part.text, part.value);
    case "DoubleQuoted": {
      if (`"${part.parts.map((child) => child.text).join("")}"` !== part.text) {
        throw new Refusal(`the word ${part.text}`);
      }
      return [{ kind: "quotes" }, ...part.parts.flatMap((child) => doubleQuoted(child))];
    }
    case "Glob": {
      if (part.kind !== "bracket") return literal(part.text, part.value, false);
      if (`[${part.parts.map((child) => child.text).join("")}]` !== part.text) {
        throw new Refusal(`the pattern \`${part.text}\``);
      }
      const inner = part.parts.flatMap((child) => partUnits(child));
      const edge = (char: string): Unit => ({ kind: "char", char, quoted: false });
      return [edge("["), ...inner, edge("]")];
    }
    case "BraceExpansion": {
      if (!part.parts) return literal(part.text, null, false);
      if (`{${part.parts.map((child) => child.text).join("")}}` !== part.text) {
        throw new Refusal(`the word \`${part.text}\``);
      }
      const edge = (char: string): Unit => ({ kind: "char", char, quoted: false });
      return [edge("{"), ...part.parts.flatMap((child) => partUnits(child)), edge("}")];
    }
    case "SimpleExpansion":
    case "ParameterExpansion":
      return [variable(part.text, false)];
    default:
      throw new Refusal(nameOf(part.type, part.text));
  }
}

function doubleQuoted(part: DoubleQuotedChild): Unit[] {
  if (part.type === "Literal") return literal(part.text, part.value, true);
  if (part.type === "SimpleExpansion" || part.type === "ParameterExpansion") {
    return [variable(part.text, true)];
  }
  throw new Refusal(nameOf(part.type, part.text));
}

/** How a message names a kind of part. */
function nameOf(type: string, text: string): string {
  const names: Record<string, string> = {
    CommandExpansion: "command substitution",
    ArithmeticExpansion: "arithmetic",
    ProcessSubstitution: "process substitution",
    ExtendedGlob: "an extended pattern",
    LocaleString: "a translated string",
  };
  return `${names[type] ?? type} (\`${text}\`)`;
}

/** `$NAME` or `${NAME}`. */
function variable(text: string, isQuoted: boolean): Unit {
  const name = text.startsWith("${") && text.endsWith("}") ? text.slice(2, -1) : text.slice(1);
  if (!text.startsWith("$") || !NAME.test(name)) {
    const hint = text === "$?" ? "; the result shows the exit status" : "";
    throw new Refusal(`the parameter \`${text}\` (only plain variables such as $HOME are expanded${hint})`);
  }
  return { kind: "variable", name, quoted: isQuoted, open: !text.startsWith("${") };
}

function quoted(text: string): Unit[] {
  return [{ kind: "quotes" }, ...[...text].map((char): Unit => ({ kind: "char", char, quoted: true }))];
}

/** Decodes raw text outside of quotes or between double quotes, and compares with what the parser made of it. */
function literal(raw: string, value: string | null, inDouble: boolean): Unit[] {
  const units: Unit[] = [], chars = [...raw];
  for (let i = 0; i < chars.length; i++) {
    const char = chars[i]!, next = chars[i + 1];
    if (char === "\\") {
      if (next === undefined) throw new Refusal("a backslash at the end");
      if (inDouble && !'$`"\\'.includes(next)) {
        units.push({ kind: "char", char, quoted: true });
        continue;
      }
      units.push({ kind: "char", char: next, quoted: true });
      i++;
      continue;
    }
    if (char === "$" && next !== undefined && /[A-Za-z0-9_@*#?$!{(\['"-]/.test(next)) {
      throw new Refusal(`the parameter \`${chars.slice(i, i + 8).join("")}\``);
    }
    if (inDouble ? '`"'.includes(char) : "`\"'|&;()<> \t".includes(char)) {
      throw new Refusal(`the character \`${char}\` in \`${raw}\``);
    }
    units.push({ kind: "char", char, quoted: inDouble });
  }
  const text = units.map((unit) => unit.kind === "char" ? unit.char : "").join("");
  if (value !== null && text !== value) throw new Refusal(`the word \`${raw}\``);
  return units;
}

/** `$'…'` with the escapes that mean the same everywhere. */
function ansi(raw: string, value: string): Unit[] {
  const simple: Record<string, string> = {
    n: "\n",
    t: "\t",
    r: "\r",
    "\\": "\\",
    "'": "'",
    '"': '"',
    "?": "?",
  };
  const body = /^\$'(.*)'$/s.exec(raw)?.[1];
  let out = "", known = body !== undefined;
  const escape = /\\(?:x([0-7][0-9a-fA-F])|u([0-9a-fA-F]{4})|(.))|([^\\])/gsu;
  for (const [whole, hex, wide, one, plain] of (body ?? "").matchAll(escape)) {
    if (plain !== undefined) out += plain;
    else if (hex ?? wide) out += String.fromCodePoint(parseInt((hex ?? wide)!, 16));
    else if (one !== undefined && one in simple) out += simple[one];
    else known = whole === "";
    if (!known) break;
  }
  if (!known || out !== value || out.includes("\0") || !out.isWellFormed()) {
    throw new Refusal(`the escape in ${raw} (known: \\n \\t \\r \\\\ \\' \\" \\xHH \\uHHHH)`);
  }
  return quoted(out);
}

/** Brace expansion as bash's braces.c does it: textual, before everything else. Sequences are refused. */
function expandBraces(units: Unit[]): Unit[][] {
  if (units.filter((unit) => bare(unit, "{")).length > 100) throw new Refusal("so many braces");
  const words = braces(units, { left: 400 });
  if (words.length > MOST_WORDS) throw new Refusal("a brace expansion of more than 1000 words");
  // Braces expand as text: what they bring together could be read as another variable.
  for (const word of words.length > 1 ? words : []) {
    word.forEach((unit, i) => {
      const after = word[i + 1],
        name = after?.kind === "char" && !after.quoted && /[A-Za-z0-9_]/.test(after.char);
      if ((bare(unit, "$") && after) || (unit.kind === "variable" && unit.open && !unit.quoted && name)) {
        throw new Refusal("a variable beside a brace expansion; write ${NAME}");
      }
    });
  }
  return words;
}

function braces(units: readonly Unit[], budget: { left: number }): Unit[][] {
  if (--budget.left < 0) throw new Refusal("so many braces");
  for (let open = 0; open < units.length; open++) {
    if (!bare(units[open], "{")) continue;
    if (open + 1 < units.length && open === 0 && bare(units[1], "}")) continue;
    const close = closing(units, open + 1);
    if (close < 0) continue;
    const amble = units.slice(open + 1, close), commas = topCommas(amble);
    if (!amble.some((unit) => bare(unit, ","))) {
      throw new Refusal("a sequence in braces; write the words out");
    }
    const middles: Unit[][] = [];
    let start = 0;
    for (const comma of [...commas, amble.length]) {
      middles.push(...braces(amble.slice(start, comma), budget));
      start = comma + 1;
    }
    const tails = close + 1 < units.length ? braces(units.slice(close + 1), budget) : [[]];
    if (middles.length * tails.length > MOST_WORDS) {
      throw new Refusal("a brace expansion of more than 1000 words");
    }
    const head = units.slice(0, open);
    return middles.flatMap((middle) => tails.map((tail) => [...head, ...middle, ...tail]));
  }
  return [[...units]];
}

/** The `}` that ends the brace opened before `from` and has a comma or `..` at its own level before it, or -1. */
function closing(units: readonly Unit[], from: number): number {
  let level = 0, separators = 0;
  for (let i = from; i < units.length; i++) {
    const unit = units[i];
    if (bare(unit, "}") && level === 0 && separators > 0) return i;
    if (bare(unit, "{")) level++;
    else if (bare(unit, "}") && level > 0) level--;
    else if (bare(unit, ",") && level === 0) separators++;
    else if (bare(unit, ".") && bare(units[i + 1], ".") && !bare(units[i + 2], "}") && level === 0) {
      separators++;
    }
  }
  return -1;
}

function topCommas(units: readonly Unit[]): number[] {
  const commas: number[] = [];
  let level = 0;
  units.forEach((unit, i) => {
    if (bare(unit, "{")) level++;
    else if (bare(unit, "}") && level > 0) level--;
    else if (bare(unit, ",") && level === 0) commas.push(i);
  });
  return commas;
}

/** `~` and `~/…` at the start of a word; other uses that a shell would expand are refused. */
function tilde(units: Unit[], input: WordInput): Unit[] {
  for (let i = 1; i < units.length; i++) {
    if (bare(units[i], "~") && bare(units[i - 1], "=:")) {
      throw new Refusal("an unquoted `~` after `=` or `:`; write $HOME");
    }
  }
  if (!bare(units[0], "~")) return units;
  const next = units[1];
  if (next !== undefined && next.kind !== "variable" && !bare(next, "/")) {
    if (next.kind === "quotes" || next.quoted) return units;
    throw new Refusal("`~` with a name; write the path out");
  }
  if (next?.kind === "variable") throw new Refusal("`~` before a variable");
  const home = input.env.HOME ?? input.home;
  return [{ kind: "quotes" }, ...quoted(home), ...units.slice(1)];
}

/** Expands variables, splits what came unquoted out of them at blanks, and drops words that became nothing. */
function fields(units: readonly Unit[], input: WordInput): ShellWord[] {
  const words: ShellWord[] = [];
  let field: { char: string; quoted: boolean }[] = [], started = false, backslash = false;
  const end = () => {
    if (started) words.push(finish(field, backslash));
    [field, started, backslash] = [[], false, false];
  };
  for (const unit of units) {
    if (unit.kind === "quotes") started = true;
    else if (unit.kind === "char") {
      field.push(unit);
      started = true;
    } else {
      const value = [...valueOf(unit.name, input)];
      // bash does not split a word that has a lone dollar in it.
      if (
        !unit.quoted && value.some((char) => " \t\n".includes(char)) && units.some((each) => bare(each, "$"))
      ) {
        throw new Refusal("a lone `$` beside a variable; quote it");
      }
      for (const char of value) {
        if (!unit.quoted && " \t\n".includes(char)) {
          end();
          continue;
        }
        if (!unit.quoted && char === "\\") backslash = true;
        field.push({ char, quoted: unit.quoted });
        started = true;
      }
    }
  }
  end();
  return words;
}

function valueOf(name: string, input: WordInput): string {
  if (name === "PWD") {
    if (input.cwd === null) throw new Refusal("`$PWD` after `cd`; write `pwd`");
    return input.cwd;
  }
  const value = Object.hasOwn(input.env, name) ? input.env[name] : undefined;
  if (name === "HOME") return value ?? input.home;
  if (SHELL_OWN.has(name) || (value === undefined && SHELL_DEFAULTS.has(name))) {
    throw new Refusal(`the shell's own variable \`$${name}\``);
  }
  return value ?? "";
}

/** A word out of its characters; with unquoted wildcards, its pattern too. */
function finish(field: readonly { char: string; quoted: boolean }[], backslash: boolean): ShellWord {
  const text = field.map(({ char }) => char).join("");
  if (!field.some(({ char, quoted: isQuoted }) => !isQuoted && "*?[".includes(char))) return { text };
  if (backslash) throw new Refusal("a backslash from a variable in a pattern; quote the variable");
  const pattern = field.map(({ char, quoted: isQuoted }) => isQuoted || char === "\\" ? `\\${char}` : char)
    .join("");
  if (/\[[.=]/.test(pattern)) throw new Refusal("a collating symbol in a pattern");
  return { text, pattern };
}
