/**
 * The command allowlist. A command line is parsed once (unbash), its tree is checked, and the checked tree, with all
 * variables expanded, is what sandbox/shell.ts executes: there is no second reader that could see something else.
 *
 * Accepted: simple commands, `|`, `|&`, `&&`, `||`, `;`, `&`, `!`, quotes, escapes, wildcards, comma lists in braces,
 * `~`, plain variables in arguments, and redirections of the descriptors 0, 1 and 2. All else is refused.
 *
 * @module
 */
import { type Command, parse, type Statement } from "unbash";
import type { PathUse } from "../tool.ts";
import { isAbsolute } from "../text/path.ts";
import { Directories, type Outcome } from "./_shell_directories.ts";
import { markWrites, refusedArgument } from "./_shell_arguments.ts";
import { display, displayRedirect, redirectsOf } from "./_shell_redirects.ts";
import { accountForSource } from "./_shell_source.ts";
import { describeProblems } from "./_refusal.ts";
import { listed } from "./_text.ts";
import { checkText, constructName } from "./_shell_text.ts";
import { expandWord, literalWord, Refusal, type WordInput } from "./_shell_words.ts";
import { LISTED_COMMANDS, OWN_COMMANDS, REFUSED_BUILTINS } from "./command_table.ts";
import type {
  CommandPlan,
  SegmentVerdict,
  ShellChain,
  ShellCommand,
  ShellPipeline,
  ShellRedirect,
  ShellTree,
  ShellWord,
} from "./types.ts";

/** What a check needs. */
export interface CommandInput {
  /** The allowlist; empty: no restriction, the user's shell runs the command. */
  readonly prefixes: readonly string[];
  /** Absolute canonical path. */
  readonly worktree: string;
  /** Absolute canonical path of the directory that the command starts in. */
  readonly cwd: string;
  /** The scrubbed environment, for plain variables. */
  readonly env: Readonly<Record<string, string>>;
  /** The user's shell. */
  readonly shell: string;
  /** What `~` stands for where the environment has no HOME. */
  readonly home: string;
}

/** Checks a command line. */
export type CommandChecker = (command: string, input: CommandInput) => CommandPlan;

const MOST_COMMANDS = 200;
type Node = Statement["command"];

/**
 * Checks a command line against a list of prefixes. Pure: looks at no file. Without prefixes the plan says that the
 * user's shell runs the text. Otherwise each command of the line gets a verdict, all of them, also when one is refused,
 * and `refused` names the first construct that no list lets through. A plan may run when {@link planAllowed}.
 */
export function checkCommand(command: string, input: CommandInput): CommandPlan {
  if (input.prefixes.length === 0) {
    const reason = "no allowlist is set: the user's shell runs it";
    return {
      mode: "shell",
      segments: [{ text: command, allowed: true, reason }],
      programs: [input.shell],
      paths: [],
      refused: null,
    };
  }
  try {
    return new Check(input).run(command);
  } catch (error) {
    const construct = error instanceof Refusal
      ? error.message
      : error instanceof RangeError
      ? "nesting this deep"
      : null;
    if (construct === null) throw error;
    return refusedPlan(construct, command);
  }
}

/** Whether every command of a plan is allowed and nothing in it was refused. For `bash_auto`: the call needs no question. */
export function planAllowed(plan: CommandPlan): boolean {
  return !plan.refused && plan.segments.length > 0 && plan.segments.every((segment) => segment.allowed) &&
    (plan.mode === "shell" || plan.tree !== undefined);
}

/** One line that says what of a plan is refused, where, and what is allowed; an empty text where nothing is. */
export function describeRefusal(plan: CommandPlan, prefixes: readonly string[]): string {
  const problems = describeProblems(plan);
  return problems === "" ? "" : `${problems}; allowed: ${listed(prefixes)}`;
}

function refusedPlan(construct: string, segment: string): CommandPlan {
  return {
    mode: "tree",
    segments: [{ text: segment, allowed: false, reason: `${construct} is not allowed` }],
    programs: [],
    paths: [],
    refused: { construct, segment },
  };
}

/** Splits an entry of the list into words as a shell would: blanks, quotes, backslashes. Null: it cannot be split. */
export function prefixWords(prefix: string): string[] | null {
  const words: string[] = [];
  const token = /\s*((?:[^\s'"\\]|\\.|'[^']*'|"(?:[^"\\]|\\.)*")+)(?=\s|$)/gsy;
  const text = prefix.trim();
  while (token.lastIndex < text.length) {
    const match = token.exec(text);
    if (!match) return null;
    words.push(match[1]!.replace(/\\(.)|'([^']*)'|"((?:[^"\\]|\\.)*)"/gs, (_, escaped, single, double) => {
      return escaped ?? single ?? (double as string).replace(/\\([$`"\\])/g, "$1");
    }));
  }
  return words.length > 0 ? words : null;
}

class Check {
  readonly #prefixes: readonly (readonly string[])[];
  readonly #segments: SegmentVerdict[] = [];
  readonly #programs = new Set<string>();
  readonly #paths = new Map<string, PathUse & { readonly segments: number[] }>();
  #refused: { construct: string; segment: string } | null = null;
  #source = "";

  constructor(readonly input: CommandInput) {
    this.#prefixes = input.prefixes.map(prefixWords).filter((words) => words !== null);
  }

  run(command: string): CommandPlan {
    checkText(command);
    this.#source = command;
    const script = parse(command);
    if (script.errors?.length) throw new Refusal(`text that cannot be parsed (${script.errors[0]!.message})`);
    if (script.shebang !== undefined || script.source !== undefined) throw new Refusal("a script");
    const chains: ShellChain[] = [];
    let directories = new Directories([this.input.cwd]);
    for (const statement of script.commands) {
      if (statement.type !== "Statement") throw new Refusal(`the construct \`${statement.type}\``);
      const { chain, outcome } = this.#chain(statement, directories);
      chains.push(chain);
      if (!statement.background) directories = outcome.either();
    }
    if (this.#segments.length === 0) throw new Refusal("an empty command");
    if (this.#segments.length > MOST_COMMANDS) {
      throw new Refusal(`a line of more than ${MOST_COMMANDS} commands`);
    }
    if (!this.#refused) accountForSource(script, command);
    const tree: ShellTree | undefined = this.#refused ? undefined : { chains };
    return {
      mode: "tree",
      ...(tree ? { tree } : {}),
      segments: this.#segments,
      programs: [...this.#programs],
      paths: [...this.#paths.values()],
      refused: this.#refused,
    };
  }

  #chain(statement: Statement, start: Directories): { chain: ShellChain; outcome: Outcome } {
    const node = statement.command;
    const parts = node.type === "AndOr" ? node.commands : [node];
    const first = this.#pipeline(parts[0]!, start);
    let outcome = first.outcome;
    const rest: { operator: "&&" | "||"; pipeline: ShellPipeline }[] = [];
    if (node.type === "AndOr") {
      node.operators.forEach((operator, i) => {
        if (operator !== "&&" && operator !== "||") throw new Refusal(`the operator \`${operator}\``);
        const next = this.#pipeline(parts[i + 1]!, operator === "&&" ? outcome.success : outcome.failure);
        outcome = operator === "&&" ? outcome.and(next.outcome) : outcome.or(next.outcome);
        rest.push({ operator, pipeline: next.pipeline });
      });
    }
    const chain: ShellChain = {
      first: first.pipeline,
      rest,
      background: statement.background === true,
      text: this.#slice(node),
    };
    return { chain, outcome };
  }

  #pipeline(node: Node, start: Directories): { pipeline: ShellPipeline; outcome: Outcome } {
    const isPipe = node.type === "Pipeline";
    const commands: ShellCommand[] = [];
    let negated = false, outcome = start.same();
    if (isPipe) {
      for (const prefix of node.prefixes) {
        if (prefix.type !== "Negation") this.#refuse("the keyword `time`", this.#slice(node));
        negated = !negated;
      }
    }
    const parts = isPipe ? node.commands : [node];
    if (parts.length === 0) this.#refuse("`!` without a command", this.#slice(node));
    parts.forEach((part, i) => {
      const operator = isPipe ? node.operators[i] : undefined;
      const checked = this.#command(part as Node, start);
      if (!checked) return;
      if (parts.length === 1) outcome = checked.outcome;
      const both: ShellRedirect[] = operator === "|&" ? [{ fd: 2, kind: "copy", from: 1 }] : [];
      commands.push({ ...checked.command, redirects: [...checked.command.redirects, ...both] });
    });
    return { pipeline: { negated, commands }, outcome: negated ? outcome.swap() : outcome };
  }

  /** One command: its verdict is noted; null where it is no simple command. */
  #command(node: Node, start: Directories): { command: ShellCommand; outcome: Outcome } | null {
    const source = this.#slice(node);
    try {
      if (node.type !== "Command") throw new Refusal(constructName(node.type));
      return this.#simple(node, source, start);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.#refuse(error.message, source);
      return null;
    }
  }

  #simple(node: Command, source: string, start: Directories): { command: ShellCommand; outcome: Outcome } {
    for (const item of [...node.prefix, ...node.suffix]) {
      if (item.type === "Assignment") throw new Refusal(`an assignment (\`${item.text}\`)`);
      if (item.type === "HereString") throw new Refusal("a here-string (`<<<`)");
      if (item.type === "HereDoc") throw new Refusal("a here-document (`<<`)");
      if (item.type !== "Word" && item.type !== "Redirect") {
        throw new Refusal(`the construct \`${(item as { type: string }).type}\``);
      }
    }
    if (!node.name) throw new Refusal("a redirection without a command");
    const words: WordInput = { env: this.input.env, home: this.input.home, cwd: start.only() };
    const name = literalWord(node.name, "the name of a command");
    if (name === "") throw new Refusal("an empty command name");
    if (REFUSED_BUILTINS.has(name)) throw new Refusal(`the shell builtin \`${name}\``);
    if (name.includes("/") && !isAbsolute(name) && start.only() !== this.input.worktree) {
      throw new Refusal(`a program by a relative path outside of the worktree's top (\`${name}\`)`);
    }
    const args = node.suffix.flatMap((item) => item.type === "Word" ? expandWord(item, words) : []);
    const all = [...node.prefix, ...node.suffix];
    const redirects = all.flatMap((item) => item.type === "Redirect" ? redirectsOf(item, words) : []);
    const plain: ShellWord[] = [{ text: name }, ...args];
    const builtin = OWN_COMMANDS.has(name);
    const verdict = this.#verdict(plain, builtin);
    const argv = builtin ? plain : markWrites(plain);
    const text = [...argv.map((word) => display(word)), ...redirects.map(displayRedirect)].join(" ");
    this.#segments.push({ text, ...verdict, program: name, argv: plain.map((word) => word.text) });
    if (!builtin) this.#programs.add(name);
    const outcome = this.#notePaths(argv, redirects, builtin, start);
    return { command: { words: argv, redirects, builtin, text: source }, outcome };
  }

  /** The list's word: the prefix that matches, the executor's own command, or why not. */
  #verdict(words: readonly ShellWord[], builtin: boolean): { allowed: boolean; reason: string } {
    const name = words[0]!.text;
    if (builtin && !LISTED_COMMANDS.has(name)) return { allowed: true, reason: `\`${name}\` needs no entry` };
    let why: string | null = null;
    for (const prefix of this.#prefixes) {
      if (!prefix.every((token, i) => words[i]?.text === token && words[i]!.pattern === undefined)) continue;
      const hit = builtin ? null : refusedArgument(words, prefix.length);
      if (!hit) return { allowed: true, reason: `matches \`${prefix.join(" ")}\`` };
      const what = hit.argument === name ? `\`${name}\` like this` : `\`${hit.argument}\` of \`${name}\``;
      why ??= `${what} ${hit.why}, which an entry has to spell out`;
    }
    return { allowed: false, reason: why ?? `\`${name}\` matches no entry` };
  }

  /** Notes the paths that a command touches; returns where the commands after it may stand. */
  #notePaths(
    words: readonly ShellWord[],
    redirects: readonly ShellRedirect[],
    builtin: boolean,
    start: Directories,
  ): Outcome {
    for (const { kind, path } of redirects) {
      if (path !== undefined) this.#path(path, kind === "read" ? "read" : "write", start);
    }
    for (const word of words) {
      if (word.pattern !== undefined) this.#path(patternDirectory(word.pattern), "list", start);
      if (word.access) {
        const path = word.text.slice(word.accessFrom ?? 0);
        if (path !== "" && path !== "-") this.#path(path, word.access, start);
      }
    }
    if (!builtin) return start.same();
    const name = words[0]!.text, operands = words.slice(1).map((word) => word.text);
    if (name === "test" || name === "[") {
      for (const path of testedPaths(operands)) this.#path(path, "list", start);
    }
    if (name === "exit") return start.never();
    if (name !== "cd") return start.same();
    const target = cdTarget(words);
    const to = target ?? this.input.env.HOME ?? this.input.home;
    this.#path(to, "list", start);
    return start.change(to);
  }

  #path(path: string, access: PathUse["access"], start: Directories): void {
    for (const directory of start.all()) {
      const full = isAbsolute(path) ? path : `${directory}/${path}`;
      const key = `${access} ${full}`;
      const known = this.#paths.get(key), segment = this.#segments.length - 1;
      if (!known) this.#paths.set(key, { path: full, access, segments: [segment] });
      else if (known.segments.at(-1) !== segment) known.segments.push(segment);
    }
  }

  #refuse(construct: string, segment: string): void {
    this.#refused ??= { construct, segment };
    this.#segments.push({ text: segment, allowed: false, reason: `${construct} is not allowed` });
  }

  #slice(node: { readonly pos: number; readonly end: number }): string {
    return this.#source.slice(node.pos, node.end).trim();
  }
}

/** The directory in which a pattern begins to be one. */
function patternDirectory(pattern: string): string {
  const wild = /^((?:[^*?[\\]|\\.)*)[*?[]/s.exec(pattern)?.[1] ?? "";
  const cut = wild.lastIndexOf("/");
  const directory = wild.slice(0, cut + 1).replace(/\\(.)/gs, "$1");
  return directory === "" ? "." : directory;
}

/** Operands that `test` looks at as files. */
function testedPaths(operands: readonly string[]): string[] {
  const paths: string[] = [];
  operands.forEach((text, i) => {
    const before = operands[i - 1] ?? "", after = operands[i + 1] ?? "";
    if (i > 0 && /^-[abcdefghkprsuwxGLNOS]$/.test(before) && text !== "]") paths.push(text);
    else if (/^-(nt|ot|ef)$/.test(before) || /^-(nt|ot|ef)$/.test(after)) paths.push(text);
  });
  return paths;
}

/** The operand of `cd`, or null for the home directory. */
function cdTarget(words: readonly ShellWord[]): string | null {
  const operands = words.slice(1);
  if (operands.some((word) => word.pattern !== undefined)) throw new Refusal("a wildcard after `cd`");
  const rest = operands[0]?.text === "--" ? operands.slice(1) : operands;
  if (rest.length > 1) throw new Refusal("`cd` with several directories");
  const target = rest[0]?.text;
  if (target === undefined) return null;
  if (target.startsWith("-") || target === "") throw new Refusal(`\`cd ${target}\``);
  return target;
}
