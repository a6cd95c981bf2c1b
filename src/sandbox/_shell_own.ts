/**
 * The executor's own commands: `cd pwd true false : echo printf test [ exit`.
 *
 * @module
 */
import { ToolError } from "../errors.ts";
import { isAbsolute, join } from "../text/path.ts";
import { fileMessage, isLink, isRefusal, type ShellHost } from "./_shell_host.ts";
import { evaluateTest } from "./_shell_test.ts";
import { echo, printf, type TextResult } from "./_shell_text.ts";

/** Where a command stands; a pipeline's parts and background jobs get a copy. */
export interface ShellState {
  /** As `cd` was told: may go through links. */
  logical: string;
  /** Canonical. */
  physical: string;
  /** Directory before the last `cd`, or null. */
  previous: string | null;
  status: number;
}

const NOTHING = new Uint8Array(0);

/** What an own command did. */
export interface OwnResult extends TextResult {
  /** `exit`: the list ends here. */
  readonly exit?: boolean;
}

/**
 * Runs an own command; `cd` changes the state.
 *
 * @throws {ToolError} where the guard refuses a path
 */
export function runOwn(
  argv: readonly string[],
  state: ShellState,
  host: ShellHost,
  env: Readonly<Record<string, string>>,
): OwnResult {
  const [name, ...args] = argv;
  switch (name) {
    case "true":
    case ":":
      return ended(0);
    case "false":
      return ended(1);
    case "echo":
      return echo(args);
    case "printf":
      return printf(args);
    case "pwd":
      return pwd(args, state);
    case "cd":
      return cd(args, state, host, env);
    case "exit":
      return exit(args, state);
    case "test":
    case "[":
      return test(name, args, state, host, env);
    default:
      throw new ToolError(`${name} is no command of the executor's own`);
  }
}

function ended(status: number, error?: string, out: Uint8Array = NOTHING): OwnResult {
  return { out, errors: error === undefined ? [] : [error], status };
}

function pwd(args: readonly string[], state: ShellState): OwnResult {
  let path = state.logical;
  for (const arg of args) {
    if (!arg.startsWith("-") || arg === "--") break;
    if (!/^-[LP]+$/.test(arg)) {
      return ended(2, `pwd: ${arg.slice(0, 2)}: invalid option\npwd: usage: pwd [-LP]`);
    }
    path = arg.endsWith("P") ? state.physical : state.logical;
  }
  return ended(0, undefined, new TextEncoder().encode(`${path}\n`));
}

function cd(
  args: readonly string[],
  state: ShellState,
  host: ShellHost,
  env: Readonly<Record<string, string>>,
): OwnResult {
  const target = (args[0] === "--" ? args[1] : args[0]) ?? env.HOME;
  if (target === undefined) return ended(1, "cd: HOME not set");
  const path = join(state.logical, target);
  let real: string, kind: string | undefined;
  try {
    real = host.resolve(path, "list");
    kind = host.status(real)?.kind;
  } catch (error) {
    if (!(error instanceof ToolError) || isRefusal(error)) throw error;
    return ended(1, `cd: ${target}: ${fileMessage(error)}`);
  }
  if (kind !== "directory") {
    return ended(1, `cd: ${target}: ${kind === undefined ? "No such file or directory" : "Not a directory"}`);
  }
  state.previous = state.logical;
  state.logical = path;
  state.physical = real;
  return ended(0);
}

function exit(args: readonly string[], state: ShellState): OwnResult {
  const given = args[0] === "--" ? args.slice(1) : args, text = given[0];
  if (text === undefined) return { ...ended(state.status), exit: true };
  if (!/^\s*[-+]?\d{1,18}\s*$/.test(text)) {
    return { ...ended(2, `exit: ${text}: numeric argument required`), exit: true };
  }
  if (given.length > 1) return ended(1, "exit: too many arguments");
  return { ...ended(Number(BigInt.asUintN(8, BigInt(text.trim().replace(/^\+/, ""))))), exit: true };
}

function test(
  name: string,
  args: readonly string[],
  state: ShellState,
  host: ShellHost,
  env: Readonly<Record<string, string>>,
): OwnResult {
  const at = (path: string) => isAbsolute(path) ? path : `${state.physical}/${path}`;
  const quiet = <T>(otherwise: T, look: () => T): T => {
    try {
      return look();
    } catch (error) {
      if (!(error instanceof ToolError) || isRefusal(error)) throw error;
      return otherwise;
    }
  };
  const { status, error } = evaluateTest(name, args, {
    status: (path) => quiet(null, () => host.status(at(path))),
    isLink: (path) => quiet(false, () => isLink(at(path), host)),
    same: (a, b) =>
      quiet(
        false,
        () => host.status(at(a)) !== null && host.resolve(at(a), "list") === host.resolve(at(b), "list"),
      ),
    has: (variable) => Object.hasOwn(env, variable),
  });
  return ended(status, error ?? undefined);
}
