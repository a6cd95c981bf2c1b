/**
 * Ends process groups. Deno lets `Deno.kill` through only where *every* program may run, so where the permissions
 * name programs one by one (a worker, a process under the ceiling) a helper program sends the signal.
 *
 * @module
 */

/** Programs that can signal a process group, in the order in which they are tried; the shells by their builtin. */
export const KILL_HELPERS: readonly string[] = [
  "/usr/bin/kill",
  "/bin/kill",
  "/bin/sh",
  "/usr/bin/sh",
  "/bin/bash",
];

/** Name and number of the signals that a command can die of (POSIX numbers; the same on Linux and macOS). */
const SIGNALS: Readonly<Record<number, string>> = {
  1: "SIGHUP",
  2: "SIGINT",
  3: "SIGQUIT",
  4: "SIGILL",
  5: "SIGTRAP",
  6: "SIGABRT",
  8: "SIGFPE",
  9: "SIGKILL",
  11: "SIGSEGV",
  13: "SIGPIPE",
  14: "SIGALRM",
  15: "SIGTERM",
};

/** The signal's name, or null for a number that no command dies of. */
export function signalName(number: number): string | null {
  return SIGNALS[number] ?? null;
}

/** The exit code by which shells report a death by this signal (`SIGKILL` → 137); 128 for an unknown name. */
export function signalCode(name: string): number {
  for (const [number, known] of Object.entries(SIGNALS)) if (known === name) return 128 + Number(number);
  return 128;
}

/**
 * Sends a signal to every process of the group that `pid` leads; on Windows ends the process and its children.
 * Usable in the host and in workers, and imports nothing, so that it costs no start-up.
 *
 * @param alone signals the process itself instead, for one that leads no group
 * @returns false where the group is gone or nothing that this process may start can signal it
 */
export async function signalGroup(
  pid: number,
  signal: "SIGTERM" | "SIGKILL" | "SIGINT",
  alone = false,
): Promise<boolean> {
  const target = alone ? pid : -pid;
  if (!Number.isInteger(pid) || pid <= 1) return false;
  if (Deno.build.os === "windows") {
    return await runHelper("taskkill", ["/T", "/F", "/PID", String(pid)]);
  }
  try {
    Deno.kill(target, signal);
    return true;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotCapable)) return false;
  }
  for (const program of KILL_HELPERS) {
    if (Deno.permissions.querySync({ name: "run", command: program }).state !== "granted") continue;
    const name = signal.slice(3);
    const args = /kill$/.test(program)
      ? ["-s", name, "--", String(target)]
      : ["-c", `kill -s ${name} -- ${target}`];
    const sent = await runHelper(program, args);
    if (sent !== null) return sent;
  }
  return false;
}

/** True and false by the exit status; null where the program is not there. */
async function runHelper(program: string, args: string[]): Promise<boolean> {
  try {
    const child = new Deno.Command(program, {
      args,
      clearEnv: true,
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).spawn();
    return (await child.status).success;
  } catch {
    return false;
  }
}
