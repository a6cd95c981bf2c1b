/**
 * Ring 4: the program starts itself again under flags that were compiled from the policy. What stays behind is a
 * supervisor: it forwards signals, waits, and relays the exit code.
 *
 * @module
 */
import { ConfigError } from "../errors.ts";
import type { CeilingFlags } from "../policy/compile.ts";
import type { PluginLink } from "./_plugin_protocol.ts";
import type { PluginChannel } from "./plugin_channel.ts";
import { CEILING_VARIABLE, ceilingArguments, type CeilingNote, listed, readCeiling } from "./flags.ts";

/** How the program is started again. */
export interface LaunchOptions {
  /** What it may do. */
  readonly flags: CeilingFlags;
  /** `Deno.mainModule`. */
  readonly mainModule: string;
  /** The command line, without the program. */
  readonly args: readonly string[];
  /** The environment of this process; what the program may not read is not passed on. */
  readonly env: Readonly<Record<string, string>>;
  /** The worktree: workers will be narrowed to it. */
  readonly worktree: string;
  /**
   * An interactive session: its policy changes while it runs (modes, consent, another provider), so nothing bounds the
   * program beside the bans that hold for every start (cached packages alone, no prompts, no Deno of its own).
   */
  readonly open?: boolean;
  /** File to which Deno writes every permission check, as JSON lines. */
  readonly audit?: string;
  /** Starts the hosts of plugins for the program; absent where there are none. */
  readonly plugins?: PluginLink;
}

/** How this process stands to its ceiling. */
export type CeilingState =
  /** A compiled binary: its ceiling was baked in. */
  | "compiled"
  /** It may start itself again under a ceiling. */
  | "launcher"
  /** The launcher set a ceiling over it. */
  | "ceiling"
  /** It runs under flags that the user chose, which do not let it start itself again. */
  | "own";

/** How this process stands to its ceiling. By what it may do: a variable alone convinces nobody. */
export function ceilingState(): CeilingState {
  if (Deno.build.standalone) return "compiled";
  if (Deno.permissions.querySync({ name: "run", command: Deno.execPath() }).state === "granted") {
    return "launcher";
  }
  return readCeiling() === null ? "own" : "ceiling";
}

/** Whether this process may start itself again under a ceiling. */
export function canLaunch(): boolean {
  return ceilingState() === "launcher";
}

/** What an interactive session may: everything but the environment, of which it gets what it reads. */
export function openFlags(env: readonly string[]): CeilingFlags {
  return {
    read: true,
    denyRead: [],
    write: true,
    denyWrite: [],
    net: true,
    denyNet: [],
    run: [],
    env: [...env],
    sys: [],
  };
}

/** Whether the launcher started this process as an interactive session, which has no ceiling. */
export function isOpen(): boolean {
  return ceilingState() === "ceiling" && readCeiling()?.open === true;
}

/** Whether this process runs under a ceiling of ours. */
export function isCeiling(): boolean {
  return ceilingState() === "ceiling";
}

/** Deno's own variables that are passed on. The others could hand decisions or credentials to someone else. */
const DENO_VARIABLES = ["DENO_DIR", "DENO_CERT", "DENO_TLS_CA_STORE", "DENO_NO_UPDATE_CHECK"];

/** What Deno itself or the system needs, beside what the program may read. */
const SYSTEM_VARIABLES =
  /^(?:LC_.*|XDG_.*|(?:https?|no|all)_proxy|TEMP|TMP|TMPDIR|SYSTEMROOT|WINDIR|PATHEXT|COMSPEC)$/i;

/**
 * The environment of the program: what it may read, what Deno needs, and nothing else.
 *
 * @param allowed names that the ceiling lets it read
 */
export function programEnvironment(
  env: Readonly<Record<string, string>>,
  allowed: readonly string[],
): Record<string, string> {
  const names = new Set(allowed.map(comparable)), out: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    const passed = /^DENO_/i.test(name)
      ? DENO_VARIABLES.includes(name.toUpperCase())
      : names.has(comparable(name)) || SYSTEM_VARIABLES.test(name);
    if (passed && name !== CEILING_VARIABLE) out[name] = value;
  }
  return out;
}

/** Windows does not tell names apart by case. */
function comparable(name: string): string {
  return Deno.build.os === "windows" ? name.toUpperCase() : name;
}

/**
 * The command line of the program under its ceiling, without Deno itself.
 *
 * @param scratch private folder for captured output
 * @throws {ConfigError} where a path cannot be written as a flag, or Deno itself could be started
 */
export function launchArguments(options: LaunchOptions, scratch: string | null): string[] {
  const { mainModule, args } = options;
  const flags = flagsOf(options, scratch);
  const deno = resolved(Deno.execPath());
  if (flags.run.some((program) => resolved(program) === deno)) {
    throw new ConfigError(
      `Cannot set a ceiling over a program that may start ${deno}: whoever may start Deno may do anything`,
    );
  }
  const local = mainModule.startsWith("file:");
  return [
    "run",
    ...ceilingArguments({ ...flags, env: [...flags.env, CEILING_VARIABLE] }),
    // Deno's own progress bar would wipe the line at the bottom of the terminal when a package is loaded.
    ...options.open ? ["--quiet", "--allow-run", `--deny-run=${Deno.execPath()}`] : [],
    // For a remote program Deno would take the configuration of the folder that it is started in.
    ...local ? [] : ["--no-config"],
    mainModule,
    ...args,
  ];
}

/** The ceiling as the program gets it and is told it. */
function flagsOf({ flags, worktree }: LaunchOptions, scratch: string | null): CeilingFlags {
  const own = scratch === null ? [] : [scratch];
  const { read, write, ...rest } = listed(flags, [worktree, ...own]);
  const add = (list: string[] | true) => list === true ? true as const : [...new Set([...list, ...own])];
  return { ...rest, read: add(read), write: add(write) };
}

function resolved(path: string): string {
  try {
    return Deno.realPathSync(path);
  } catch {
    return path;
  }
}

/**
 * Starts the program again under a ceiling and waits for it. Standard input, output and error are its own.
 *
 * @returns its exit code; 128 and the signal's number where a signal ended it
 * @throws {ConfigError} see {@link launchArguments}
 */
export async function launch(options: LaunchOptions): Promise<number> {
  const scratch = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "polyglav-" }));
  let channel: PluginChannel | null = null;
  try {
    if (options.plugins) {
      const { openPluginChannel, withChannel } = await import("./plugin_channel.ts");
      channel = openPluginChannel(options.plugins, scratch);
      options = { ...options, flags: withChannel(options.flags, channel.note) };
    }
    const note: CeilingNote = {
      flags: flagsOf(options, scratch),
      scratch,
      launcher: Deno.pid,
      plugins: channel?.note,
      ...(options.open ? { open: true } : {}),
    };
    const env: Record<string, string> = {
      ...programEnvironment(options.env, options.flags.env),
      [CEILING_VARIABLE]: JSON.stringify(note),
    };
    if (!options.mainModule.startsWith("file:")) env.DENO_NO_PACKAGE_JSON = "1";
    if (options.audit !== undefined) env.DENO_AUDIT_PERMISSIONS = options.audit;
    const child = new Deno.Command(Deno.execPath(), {
      args: launchArguments(options, scratch),
      clearEnv: true,
      env,
      stdin: "inherit",
      stdout: "inherit",
      stderr: "inherit",
    }).spawn();
    const release = forwardSignals(child);
    const status = await child.status;
    release();
    return status.code;
  } finally {
    channel?.close();
    try {
      Deno.removeSync(scratch, { recursive: true });
    } catch {
      // A command that goes on in the background still writes there.
    }
  }
}

/** Passes signals on to the program; the supervisor itself ends only with it. */
function forwardSignals(child: Deno.ChildProcess): () => void {
  const signals: Deno.Signal[] = Deno.build.os === "windows"
    ? ["SIGINT", "SIGBREAK"]
    : ["SIGINT", "SIGTERM", "SIGHUP"];
  // A terminal sends Ctrl-C to both of us.
  const terminal = Deno.stdin.isTerminal() || Deno.stdout.isTerminal() || Deno.stderr.isTerminal();
  const handlers = signals.map((signal) => {
    const handler = () => {
      if (Deno.build.os === "windows" || (signal === "SIGINT" && terminal)) return;
      try {
        child.kill(signal);
      } catch {
        // It has ended already.
      }
    };
    Deno.addSignalListener(signal, handler);
    return () => Deno.removeSignalListener(signal, handler);
  });
  return () => handlers.forEach((remove) => remove());
}

/**
 * Notices that the supervisor was killed, so that the program does not go on alone. Looks twice a second; does not keep
 * the process alive. Does nothing where there is no supervisor, and on Windows, which does not tell.
 *
 * @returns stops looking
 */
export function watchLauncher(onOrphan: () => void): () => void {
  const note = readCeiling();
  if (note === null || Deno.build.os === "windows") return () => {};
  const timer = setInterval(() => {
    if (Deno.ppid === note.launcher) return;
    clearInterval(timer);
    onOrphan();
  }, 500);
  Deno.unrefTimer(timer);
  return () => clearInterval(timer);
}
