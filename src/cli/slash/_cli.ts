/**
 * Slash commands that are commands of the program: they run as on a command line, in this session's project.
 *
 * @module
 */
import { cleanForTerminal } from "../../text/ansi.ts";
import { parseLine } from "../_args.ts";
import type { CliIo } from "../_command.ts";
import { COMMANDS } from "../_table.ts";
import type { Repl } from "../repl/repl.ts";

/**
 * Runs a command of the table.
 *
 * @param words after its name, as on a command line
 * @returns its exit code
 * @throws {PolyglavError} what it throws
 */
export async function runCli(repl: Repl, name: string, words: readonly string[]): Promise<number> {
  const { command } = await COMMANDS.find((entry) => entry.name === name)!.load();
  const { host } = repl, line = parseLine(command, [...words, ...pathOf(words, host.worktree)]);
  const io: CliIo = {
    // Each command cleans what others wrote; here nothing depends on that.
    out: (text) => repl.print(cleanForTerminal(text)),
    err: (text) => repl.print(cleanForTerminal(text)),
    env: host.io.env,
    cwd: host.io.cwd,
    stdinIsTerminal: true,
    stdoutIsTerminal: true,
    stderrIsTerminal: true,
    color: host.io.color,
    stdin: () => Promise.resolve(""),
  };
  if (line.values.help === true) {
    const { commandHelp } = await import("../_help.ts");
    io.out(commandHelp(line.names, line.command));
    return 0;
  }
  return await line.command.run!({ values: line.values, positionals: line.positionals, io });
}

/** The session's project, before a `--` that ends the options. */
function pathOf(words: readonly string[], worktree: string): string[] {
  return words.some((word) => word === "--path" || word.startsWith("--path=") || word === "--")
    ? []
    : ["--path", worktree];
}
