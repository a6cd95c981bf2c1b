/**
 * The program: finds the command, parses its line, runs it and turns errors into exit codes.
 *
 * @module
 */
import { cleanStyled } from "../text/ansi.ts";
import type { CliIo } from "./_command.ts";
import { COMMANDS } from "./_table.ts";
import { VERSION } from "./_version.ts";

/**
 * Runs the program.
 *
 * @param args the words after the program's name
 * @returns the exit code: see `EXIT` in errors.ts
 */
export async function main(args: readonly string[]): Promise<number> {
  const first = args[0];
  if (first === "--version" || first === "-V") {
    writeAll(Deno.stdout, `polyglav ${VERSION}\n`);
    return 0;
  }
  if (first === "__plugin-host") {
    // A compiled binary starts itself to hold a plugin.
    const { hostPlugin } = await import("../sandbox/plugin_host.ts");
    await hostPlugin(args[1] ?? "", Deno.exit);
  }
  const io = createIo();
  try {
    return await dispatch(args, io);
  } catch (error) {
    return await report(error, io);
  }
}

async function dispatch(args: readonly string[], io: CliIo): Promise<number> {
  const words = [...args];
  let help = false;
  // `--path DIR` may stand before the command as well as after it.
  const before = leadingPath(words);
  if (words[0] === "help") {
    words.shift();
    help = true;
  }
  before.push(...leadingPath(words));
  const name = words.shift();
  if (name === "--version" || name === "-V") return await main([name]);
  words.unshift(...before);
  const terminal = io.stdinIsTerminal && io.stdoutIsTerminal;
  if (
    !help && terminal && (name === undefined || (name.startsWith("-") && name !== "--help" && name !== "-h"))
  ) {
    // Options without a command, or nothing at all: the prompt.
    words.splice(before.length, 0, ...name === undefined ? [] : [name]);
    return await runCommand("repl", words, io);
  }
  if (name === undefined || name === "--help" || name === "-h") {
    const { programHelp } = await import("./_help.ts");
    const text = programHelp(VERSION, COMMANDS);
    if (name === undefined && !help) io.err(text);
    else io.out(text);
    return name === undefined && !help ? 2 : 0;
  }
  if (!COMMANDS.some((c) => c.name === name)) {
    const [{ UsageError }, { nearest }] = await Promise.all([
      import("../errors.ts"),
      import("../text/nearest.ts"),
    ]);
    const near = nearest(name, COMMANDS.map((c) => c.name));
    const what = name.startsWith("-") ? "option" : "command";
    throw new UsageError(
      `unknown ${what} "${name}"${near ? `, did you mean "${near}"?` : ""} (see "polyglav --help")`,
    );
  }
  return await runCommand(name, help ? [...words, "--help"] : words, io);
}

/** Runs a command of the table with the words after its name. */
export async function runCommand(name: string, words: readonly string[], io: CliIo): Promise<number> {
  const entry = COMMANDS.find((c) => c.name === name)!;
  const [{ command }, { parseLine }] = await Promise.all([entry.load(), import("./_args.ts")]);
  const line = parseLine(command, words);
  if (line.values.help === true) {
    const { commandHelp } = await import("./_help.ts");
    io.out(commandHelp(line.names, line.command));
    return 0;
  }
  return await line.command.run!({ values: line.values, positionals: line.positionals, io });
}

/** Takes `--path DIR` and `--path=DIR` off the beginning. */
function leadingPath(words: string[]): string[] {
  if (words[0]?.startsWith("--path=")) return words.splice(0, 1);
  return words[0] === "--path" && words.length > 1 ? words.splice(0, 2) : [];
}

async function report(error: unknown, io: CliIo): Promise<number> {
  const { PolyglavError, messageOf } = await import("../errors.ts");
  if (error instanceof PolyglavError) {
    // Provider set-up help is the one message that has several lines.
    const { cleanForTerminal } = await import("../text/ansi.ts");
    io.err(`polyglav: ${cleanForTerminal(error.message)}\n`);
    return error.exitCode;
  }
  io.err(`polyglav: internal error: ${messageOf(error)}\n`);
  if (io.env("POLYGLAV_DEBUG") === "1" && error instanceof Error) io.err(`${error.stack}\n`);
  return 1;
}

function createIo(): CliIo {
  const stderrIsTerminal = Deno.stderr.isTerminal(), stdoutIsTerminal = Deno.stdout.isTerminal();
  // Each command cleans what others wrote; on a terminal nothing depends on that.
  return {
    out: (text) => writeAll(Deno.stdout, stdoutIsTerminal ? cleanStyled(text) : text),
    err: (text) => writeAll(Deno.stderr, stderrIsTerminal ? cleanStyled(text) : text),
    env: readEnv,
    get cwd() {
      return Deno.cwd();
    },
    get stdinIsTerminal() {
      return Deno.stdin.isTerminal();
    },
    stdoutIsTerminal,
    stderrIsTerminal,
    get color() {
      return stderrIsTerminal && !readEnv("NO_COLOR") && readEnv("TERM") !== "dumb";
    },
    stdin: () => new Response(Deno.stdin.readable).text(),
  };
}

/** A variable; undefined where this process may not read it. */
function readEnv(name: string): string | undefined {
  try {
    return Deno.env.get(name);
  } catch {
    return undefined;
  }
}

const encoder = new TextEncoder();

/** Writes everything; a reader that went away (`| head`) is not an error. */
function writeAll(stream: { writeSync(bytes: Uint8Array): number }, text: string): void {
  const bytes = encoder.encode(text);
  try {
    for (let done = 0; done < bytes.length;) done += stream.writeSync(bytes.subarray(done));
  } catch (error) {
    if (!(error instanceof Deno.errors.BrokenPipe)) throw error;
  }
}
