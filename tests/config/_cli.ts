/**
 * Runs the commands of the configuration in this process: real parsing, real files, recorded output.
 *
 * @module
 */
import { parseLine } from "../../src/cli/_args.ts";
import type { CliIo, Command } from "../../src/cli/_command.ts";
import { command as config } from "../../src/cli/config.ts";
import { command as trust } from "../../src/cli/trust.ts";
import type { TestTree } from "../helpers/worktree.ts";

/** What a command did. */
export interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs `config …` or `trust …` in the tree; an error for the user becomes its exit code and message. */
export async function cli(
  tree: TestTree,
  words: readonly string[],
  options: { env?: Record<string, string>; cwd?: string; terminal?: boolean } = {},
): Promise<Ran> {
  let out = "", err = "";
  const env: Record<string, string> = { HOME: tree.home, USERPROFILE: tree.home, ...options.env };
  const io: CliIo = {
    out: (text) => void (out += text),
    err: (text) => void (err += text),
    env: (name) => env[name],
    cwd: options.cwd ?? tree.work,
    stdinIsTerminal: false,
    stdoutIsTerminal: options.terminal ?? false,
    stderrIsTerminal: false,
    color: false,
    stdin: () => Promise.resolve(""),
  };
  const commands: Record<string, Command> = { config, trust };
  try {
    const line = parseLine(commands[words[0]!]!, words.slice(1));
    const code = await line.command.run!({ values: line.values, positionals: line.positionals, io });
    return { code, out, err };
  } catch (error) {
    if (!(error instanceof Error) || !("exitCode" in error)) throw error;
    return { code: error.exitCode as number, out, err: `${err}${error.message}\n` };
  }
}
