/**
 * What a subcommand is: one declaration that parsing, help and suggestions are made from.
 *
 * @module
 */

/** One option of a command. */
export interface OptionSpec {
  /** `boolean` takes no value; `string` takes one; `strings` may be repeated. */
  readonly type: "boolean" | "string" | "strings";
  /** One letter. */
  readonly short?: string;
  /** Name of the value in help, such as `FILE`. */
  readonly value?: string;
  /** Allowed values. */
  readonly choices?: readonly string[];
  /** One line. */
  readonly help: string;
}

/** A command and what it does. */
export interface Command {
  /** As typed. */
  readonly name: string;
  /** One line for the table of commands. */
  readonly summary: string;
  /** After the name: `NAME [JSON]`. */
  readonly usage?: string;
  /** More lines for `--help`. */
  readonly details?: string;
  /** Command line (without the program's name) and what it does. */
  readonly examples: readonly (readonly [string, string])[];
  readonly options?: Readonly<Record<string, OptionSpec>>;
  /** Least and most number of positional arguments; default none. */
  readonly positionals?: readonly [number, number];
  /** Commands below this one; the first positional picks. */
  readonly subcommands?: readonly Command[];
  /** Does it; returns the exit code. Throws PolyglavError for what the user must hear. */
  readonly run?: (invocation: Invocation) => Promise<number> | number;
}

/** What `run` gets. */
export interface Invocation {
  readonly values: Readonly<Record<string, string | boolean | readonly string[] | undefined>>;
  readonly positionals: readonly string[];
  readonly io: CliIo;
}

/** The outside of the program: the only way by which commands read and write. */
export interface CliIo {
  /** Results, to standard output, as is (add the newline). */
  out(text: string): void;
  /** Everything else, to standard error, as is (add the newline). */
  err(text: string): void;
  /** A variable of the environment. */
  env(name: string): string | undefined;
  /** Working directory of the process, absolute. */
  readonly cwd: string;
  readonly stdinIsTerminal: boolean;
  readonly stdoutIsTerminal: boolean;
  readonly stderrIsTerminal: boolean;
  /** Colours are wanted on standard error (NO_COLOR, TERM=dumb and a missing terminal say no). */
  readonly color: boolean;
  /** All of standard input as text; only when told to. */
  stdin(): Promise<string>;
}
