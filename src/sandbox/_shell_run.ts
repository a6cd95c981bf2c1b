/**
 * Executes a checked tree: pipelines with the kernel's pipes, redirections through the guard, and the lists of `&&`, `||`,
 * `;` and `&` with bash's exit statuses.
 *
 * @module
 */
import { messageOf, ToolError } from "../errors.ts";
import { dirname, isAbsolute } from "../text/path.ts";
import type { ShellChain, ShellCommand, ShellPipeline, ShellTree, ShellWord } from "../policy/types.ts";
import type { StartedProcess, Stdio } from "./_exec_process.ts";
import { signalCode } from "./_exec_signal.ts";
import { runOwn, type ShellState } from "./_shell_own.ts";
import { expandPattern } from "./_shell_glob.ts";
import { fileMessage, isRefusal, type OpenFile, type ShellHost } from "./_shell_host.ts";

/** `exit`: ends the list that it stands in. */
export class ExitRequest extends Error {}

/** A background job. */
export interface Job {
  readonly text: string;
  readonly done: Promise<void>;
  over: boolean;
}

/** How one command ended. */
interface End {
  readonly status: number;
  readonly signal: string | null;
}

/** Where a descriptor of a command leads. */
type Sink =
  | { readonly kind: "output" | "null" }
  | { readonly kind: "pipe" }
  | { readonly kind: "file"; readonly file: OpenFile };

/** A command whose patterns are expanded and whose files are open. */
interface Prepared {
  readonly command: ShellCommand;
  readonly argv: readonly string[];
  readonly sinks: readonly [Sink, Sink, Sink];
  readonly files: readonly OpenFile[];
  /** What kept it from running, with its exit status. */
  readonly problem: { readonly message: string; readonly status: number } | null;
}

/** Runs one command line. */
export class TreeRun {
  /** Processes that were started and have not ended. */
  readonly live = new Set<StartedProcess>();
  /** All that were started. */
  readonly started: StartedProcess[] = [];
  readonly jobs: Job[] = [];
  readonly notes: string[] = [];
  /** Nothing is started any more. */
  stopped = false;
  /** The signal that ended the last command, if one did. */
  lastSignal: string | null = null;

  constructor(
    readonly host: ShellHost,
    readonly env: Readonly<Record<string, string>>,
    readonly state: ShellState,
  ) {}

  /** Runs all chains. @returns the exit status of the last one in the foreground */
  async run(tree: ShellTree): Promise<number> {
    try {
      for (const chain of tree.chains) {
        if (this.stopped) break;
        if (chain.background) this.#background(chain);
        else await this.#chain(chain, this.state);
      }
    } catch (error) {
      if (!(error instanceof ExitRequest)) throw error;
    }
    return this.state.status;
  }

  #background(chain: ShellChain): void {
    const state = { ...this.state };
    const job: Job = {
      text: chain.text,
      over: false,
      done: this.#chain(chain, state, true).catch((error) => {
        if (!(error instanceof ExitRequest)) this.notes.push(`\`${chain.text}\`: ${messageOf(error)}`);
      }).then(() => {
        job.over = true;
      }),
    };
    this.jobs.push(job);
    this.state.status = 0;
    this.lastSignal = null;
  }

  async #chain(chain: ShellChain, state: ShellState, background = false): Promise<void> {
    await this.#pipeline(chain.first, state, background);
    for (const { operator, pipeline } of chain.rest) {
      if (this.stopped) return;
      if ((state.status === 0) === (operator === "&&")) await this.#pipeline(pipeline, state, background);
    }
  }

  async #pipeline(pipeline: ShellPipeline, state: ShellState, background: boolean): Promise<void> {
    const { commands, negated } = pipeline;
    const states = commands.length === 1 ? [state] : commands.map(() => ({ ...state }));
    const ends = await this.#start(commands, states);
    const last = ends.at(-1)!;
    ends.slice(0, -1).forEach(({ status, signal }, i) => {
      if (status !== 0 && signal !== "SIGPIPE" && last.status === 0) {
        this.notes.push(`\`${commands[i]!.text}\`, a part of the pipeline, ${ending(status, signal)}`);
      }
    });
    if (last.signal !== null && (negated || background)) {
      this.notes.push(`\`${commands.at(-1)!.text}\` ${ending(last.status, last.signal)}`);
    }
    state.status = negated ? (last.status === 0 ? 1 : 0) : last.status;
    if (state === this.state) this.lastSignal = negated ? null : last.signal;
  }

  /** Prepares from left to right, starts from right to left (each reader is there before its writer), then waits. */
  async #start(commands: readonly ShellCommand[], states: readonly ShellState[]): Promise<End[]> {
    const prepared: Prepared[] = [];
    try {
      commands.forEach((command, i) => {
        prepared.push(this.#prepare(command, states[i]!, i > 0, i < commands.length - 1));
      });
      return await this.#startAll(prepared, states);
    } finally {
      for (const { files } of prepared) for (const file of files) file.close();
    }
  }

  async #startAll(prepared: readonly Prepared[], states: readonly ShellState[]): Promise<End[]> {
    const ends: (Promise<End> | null)[] = prepared.map(() => null);
    const readers: (StartedProcess | null)[] = prepared.map(() => null);
    const own: (() => Promise<End>)[] = [];
    let exit: ExitRequest | null = null;
    try {
      for (let i = prepared.length - 1; i >= 0; i--) {
        const each = prepared[i]!, reader = readers[i + 1] ?? null;
        if (each.problem) {
          own.unshift(() => this.#fail(each, reader));
          ends[i] = Promise.resolve({ status: each.problem.status, signal: null });
        } else if (each.command.builtin) {
          own.unshift(async () => {
            const end = await this.#own(each, states[i]!, reader).catch((error) => {
              if (!(error instanceof ExitRequest)) throw error;
              if (prepared.length === 1) exit = error;
              return { status: states[i]!.status, signal: null };
            });
            ends[i] = Promise.resolve(end);
            return end;
          });
        } else {
          const started = await this.#program(each, states[i]!, reader);
          readers[i] = "process" in started && each.sinks[0].kind === "pipe" ? started.process : null;
          ends[i] = started.end;
        }
      }
    } catch (error) {
      for (const reader of readers) reader?.closeStdin();
      throw error;
    }
    await Promise.all(own.map((run) => run()));
    for (const { files } of prepared) for (const file of files) file.close();
    const all = await Promise.all(ends as Promise<End>[]);
    if (exit) throw exit;
    return all;
  }

  /** Expands patterns and opens redirections, from left to right. */
  #prepare(command: ShellCommand, state: ShellState, piped: boolean, pipes: boolean): Prepared {
    const sinks: [Sink, Sink, Sink] = [
      { kind: piped ? "pipe" : "null" },
      { kind: pipes ? "pipe" : "output" },
      { kind: "output" },
    ];
    const files: OpenFile[] = [];
    const done = (argv: readonly string[], message: string | null = null, status = 1): Prepared => ({
      command,
      argv,
      sinks,
      files,
      problem: message === null ? null : { message, status },
    });
    try {
      const argv = command.words.flatMap((word) => this.#expand(word, state));
      for (const redirect of command.redirects) {
        const { fd, kind } = redirect;
        if (kind === "copy") sinks[fd] = sinks[redirect.from ?? 1];
        else if (kind === "null") sinks[fd] = { kind: "null" };
        else {
          try {
            const path = redirect.path!, slash = path.endsWith("/") ? this.#slashed(path, kind, state) : null;
            if (slash !== null) return done(argv, `${path}: ${slash}`);
            const file = this.host.open(absolute(path, state), kind);
            files.push(file);
            sinks[fd] = { kind: "file", file };
          } catch (error) {
            if (!(error instanceof ToolError) || isRefusal(error)) throw error;
            return done(argv, `${redirect.path}: ${fileMessage(error)}`);
          }
        }
      }
      return done(argv);
    } catch (error) {
      for (const file of files) file.close();
      throw error;
    }
  }

  /** A path with a slash at its end names a directory, which no redirection opens: what the system says of it. */
  #slashed(path: string, kind: "read" | "write" | "append", state: ShellState): string {
    const bare = absolute(path, state).replace(/\/+$/, ""), found = this.host.status(bare || "/");
    if (found) return found.kind === "directory" ? "Is a directory" : "Not a directory";
    const parent = this.host.status(dirname(bare));
    return kind !== "read" && parent?.kind === "directory" ? "Is a directory" : "No such file or directory";
  }

  #expand(word: ShellWord, state: ShellState): string[] {
    let texts = [word.text];
    if (word.pattern !== undefined) {
      const found = this.#glob(word.pattern, state);
      // A file's name must not become an option that nobody checked.
      const option = found.find((name) => name.startsWith("-") || name.startsWith("+"));
      if (option !== undefined) {
        throw new ToolError(
          `the pattern \`${word.text}\` matches \`${option}\`, which the program could take for an option; write ./${word.text}`,
          "permission",
        );
      }
      if (found.length > 0) texts = found;
    }
    if (word.access) {
      for (const text of texts) {
        const path = text.slice(word.accessFrom ?? 0);
        if (path !== "" && path !== "-") this.host.resolve(absolute(path, state), word.access);
      }
    }
    return texts;
  }

  #glob(pattern: string, state: ShellState): string[] {
    const attempt = <T>(path: string, otherwise: T, look: () => T): T => {
      try {
        return look();
      } catch (error) {
        if (!(error instanceof ToolError)) throw error;
        if (isRefusal(error)) this.#note(`the pattern \`${pattern}\` leaves out ${path}: ${error.message}`);
        return otherwise;
      }
    };
    try {
      return expandPattern(pattern, {
        list: (path) =>
          attempt(
            path,
            [],
            () =>
              this.host.list(absolute(path, state)).map(({ name, kind }) => ({
                name,
                mayDescend: kind !== "file",
              })),
          ),
        isDirectory: (path) =>
          attempt(path, false, () => this.host.status(absolute(path, state))?.kind === "directory"),
        exists: (path) => attempt(path, false, () => this.host.status(absolute(path, state)) !== null),
      });
    } catch (error) {
      if (error instanceof RangeError) throw new ToolError(`the pattern \`${pattern}\`: ${error.message}`);
      throw error;
    }
  }

  #note(text: string): void {
    if (!this.notes.includes(text)) this.notes.push(text);
  }

  async #program(
    each: Prepared,
    state: ShellState,
    reader: StartedProcess | null,
  ): Promise<{ process: StartedProcess; end: Promise<End> } | { end: Promise<End> }> {
    const [input, output, error] = each.sinks;
    const stdio: [Stdio, Stdio, Stdio] = [
      input.kind === "pipe" ? "pipe" : input.kind === "file" ? input.file.fd : "null",
      this.#descriptor(output, reader),
      this.#descriptor(error, reader),
    ];
    const env: Record<string, string> = { ...this.env, PWD: state.logical };
    if (state.previous !== null) env.OLDPWD = state.previous;
    if (this.stopped) {
      reader?.closeStdin();
      return { end: Promise.resolve({ status: 130, signal: null }) };
    }
    let child: StartedProcess;
    try {
      child = await this.host.start({ argv: each.argv, cwd: state.physical, env, stdio });
    } catch (thrown) {
      if (!(thrown instanceof ToolError) || isRefusal(thrown)) throw thrown;
      const { message, status } = startProblem(each.argv[0]!, thrown);
      await this.#say(each, reader, message);
      reader?.closeStdin();
      return { end: Promise.resolve({ status, signal: null }) };
    }
    this.live.add(child);
    this.started.push(child);
    const { taken, pumped } = this.#attach(child, each, reader, stdio);
    // The writer has its own copy of the pipe by now; with ours closed the reader will see the end.
    if (!pumped) reader?.closeStdin();
    const end = Promise.all([child.exited, taken]).then(([{ code, signal }]) => {
      this.live.delete(child);
      return { status: signal === null ? code ?? 1 : signalCode(signal), signal };
    });
    // A process that ended is not live, even if others still hold its output.
    child.exited.then(() => this.live.delete(child));
    return { process: child, end };
  }

  #descriptor(sink: Sink, reader: StartedProcess | null): Stdio {
    if (sink.kind === "file") return sink.file.fd;
    if (sink.kind === "null") return "null";
    if (sink.kind === "output") return this.host.output;
    return reader && reader.stdinFd >= 0 ? reader.stdinFd : "pipe";
  }

  /** Connects what the kernel could not: a pipe without a reader, a pipe without a descriptor, an output read by us. */
  #attach(
    child: StartedProcess,
    { sinks }: Prepared,
    reader: StartedProcess | null,
    stdio: readonly [Stdio, Stdio, Stdio],
  ): { taken: Promise<void>; pumped: boolean } {
    const reads: Promise<void>[] = [];
    let gone = false, pumped = false;
    for (const which of [1, 2] as const) {
      if (stdio[which] !== "pipe") continue;
      if (sinks[which].kind === "output") {
        reads.push(child.readOutput(which, (bytes) => this.host.take(bytes)));
      } else if (reader) {
        child.pipeOutput(which, reader, !(which === 1 && sinks[2].kind === "pipe"));
        pumped = true;
      } else gone = true;
    }
    if (gone && reads.length === 0) child.closeOutput();
    else if (gone) {
      const which = sinks[1].kind === "pipe" ? 1 : 2;
      reads.push(child.readOutput(which, () => child.kill("SIGTERM")));
    }
    return { taken: Promise.all(reads).then(() => {}), pumped };
  }

  async #own(each: Prepared, state: ShellState, reader: StartedProcess | null): Promise<End> {
    try {
      const result = runOwn(each.argv, state, this.host, this.env);
      const broken = await this.#write(each.sinks[1], reader, result.out);
      for (const line of result.errors) await this.#say(each, reader, line);
      state.status = result.status;
      if (result.exit) throw new ExitRequest();
      return broken ? { status: 141, signal: "SIGPIPE" } : { status: result.status, signal: null };
    } finally {
      reader?.closeStdin();
    }
  }

  async #fail(each: Prepared, reader: StartedProcess | null): Promise<End> {
    try {
      await this.#say(each, reader, each.problem!.message);
    } finally {
      reader?.closeStdin();
    }
    return { status: each.problem!.status, signal: null };
  }

  /** A message of ours on the command's standard error. */
  async #say(each: Prepared, reader: StartedProcess | null, line: string): Promise<void> {
    await this.#write(each.sinks[2], reader, new TextEncoder().encode(`${line}\n`));
  }

  /** @returns whether nobody reads there any more */
  async #write(sink: Sink, reader: StartedProcess | null, bytes: Uint8Array): Promise<boolean> {
    if (bytes.length === 0 || sink.kind === "null") return false;
    if (sink.kind === "output") this.host.take(bytes);
    else if (sink.kind === "file") this.host.write(sink.file, bytes);
    else if (!reader) return true;
    else await reader.writeStdin(bytes);
    return false;
  }
}

function absolute(path: string, state: ShellState): string {
  return isAbsolute(path) ? path : `${state.physical}/${path}`;
}

function ending(status: number, signal: string | null): string {
  return signal === null ? `ended with exit status ${status}` : `was ended by ${signal}`;
}

/** bash's exit status and message for a program that cannot be started. */
function startProblem(name: string, error: ToolError): { message: string; status: number } {
  if (error.kind === "not_found") {
    return {
      message: `${name}: ${name.includes("/") ? "No such file or directory" : "command not found"}`,
      status: 127,
    };
  }
  if (error.kind === "permission") return { message: `${name}: Permission denied`, status: 126 };
  return { message: `${name}: ${error.message}`, status: 126 };
}
