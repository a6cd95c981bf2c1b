/**
 * What a command costs beyond the process that it starts: measured through the dispatcher, in this process, interleaved
 * with bare starts of the same shell.
 *
 * @module
 */
import { openDispatcher, prepare } from "../../src/cli/_host.ts";
import type { CliIo } from "../../src/cli/_command.ts";
import { median } from "./_process.ts";

/** Figures of one way of running commands, in milliseconds. */
export interface ExecFigures {
  /** A bare start of the shell with pipes, to its end. */
  readonly bare: number;
  /** The same command through the dispatcher. */
  readonly ours: number;
}

/** What a thousand commands leave behind. */
export interface GrowthFigures {
  /** Megabytes of resident memory that the commands added. */
  readonly memory: number;
  /** Open descriptors before and after. */
  readonly handles: { readonly before: number; readonly after: number };
}

/** How the commands of a measurement run. */
export interface ExecSetup {
  readonly confine: "off" | "require";
  /** As a checked tree, without a shell. */
  readonly allowlist: boolean;
  readonly count: number;
}

// One program that is no command of the executor's own, without a shell; for the shell its own `echo`.
const COMMANDS = { shell: "echo hello", tree: "/bin/echo hello" };

/** Measures commands in a project; null where they cannot be confined. */
export async function measureExec(
  worktree: string,
  { confine, allowlist, count }: ExecSetup,
): Promise<ExecFigures | null> {
  await using rig = await openRig(worktree, confine, allowlist);
  const ours: number[] = [], bare: number[] = [];
  for (let i = 0; i < count + 5; i++) {
    const time = await rig.run();
    if (time === null) return null;
    const floor = await bareStart(worktree);
    if (i < 5) continue;
    ours.push(time);
    bare.push(floor);
  }
  return { ours: median(ours), bare: median(bare) };
}

/** Runs `count` commands one after another, after as many that warm it up, and compares the end with the beginning. */
export async function measureGrowth(worktree: string, count: number): Promise<GrowthFigures> {
  await using rig = await openRig(worktree, "off", false);
  const look = () => ({ memory: Deno.memoryUsage().rss, handles: handles() });
  for (let i = 0; i < count; i++) await rig.run();
  const before = look();
  for (let i = 0; i < count; i++) await rig.run();
  const after = look();
  return {
    memory: (after.memory - before.memory) / 2 ** 20,
    handles: { before: before.handles, after: after.handles },
  };
}

async function openRig(worktree: string, confine: "off" | "require", allowlist: boolean) {
  const io: CliIo = {
    out: () => {},
    err: () => {},
    env: (name) => Deno.env.get(name),
    cwd: worktree,
    stdinIsTerminal: false,
    stdoutIsTerminal: false,
    stderrIsTerminal: false,
    color: false,
    stdin: () => Promise.resolve(""),
  };
  const host = await prepare({ path: worktree }, io, {
    "tool_permission.bash": "allow",
    ...(allowlist ? { "tool_permission.bash_allow": ["/bin/echo"] } : {}),
    "exec.confine": confine,
  }, { quiet: true });
  // A run has its folder by then.
  Deno.mkdirSync(`${worktree}/.polyglav`, { recursive: true });
  const { dispatcher, close } = await openDispatcher(host);
  return {
    /** Milliseconds of one command; null where it did not run. */
    async run(): Promise<number | null> {
      const begun = performance.now();
      const { content, isError } = await dispatcher.call("run_command", {
        command: allowlist ? COMMANDS.tree : COMMANDS.shell,
      }, {
        confirm: () => Promise.resolve("nobody" as const),
      });
      const time = performance.now() - begun;
      if (isError && confine === "require") return null;
      if (!content.endsWith("exit 0\nhello")) throw new Error(content);
      return time;
    },
    [Symbol.asyncDispose]: close,
  };
}

async function bareStart(cwd: string): Promise<number> {
  const begun = performance.now();
  await new Deno.Command("/bin/sh", { args: ["-c", COMMANDS.shell], cwd, stdin: "null" }).output();
  return performance.now() - begun;
}

function handles(): number {
  try {
    return [...Deno.readDirSync("/proc/self/fd")].length;
  } catch {
    return NaN;
  }
}
