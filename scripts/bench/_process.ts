/**
 * Starting and measuring whole processes for the bench.
 *
 * @module
 */

/** What one run of a process took. */
export interface Measured {
  /** Wall time in milliseconds. */
  readonly wall: number;
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Peak resident set of the largest process of the tree, in MB; 0 where /proc is missing or it was not asked for. */
  readonly peakMb: number;
}

/** Runs a command to its end. */
export async function measure(
  argv: readonly string[],
  options: { readonly cwd?: string; readonly env?: Record<string, string>; readonly memory?: boolean } = {},
): Promise<Measured> {
  const started = performance.now();
  const child = new Deno.Command(argv[0]!, {
    args: argv.slice(1),
    cwd: options.cwd,
    env: options.env,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  let peakKb = 0;
  const timer = options.memory
    ? setInterval(() => peakKb = Math.max(peakKb, ...tree(child.pid).map(peakOf)), 20)
    : undefined;
  const [stdout, stderr, status] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.status,
  ]);
  clearInterval(timer);
  return { wall: performance.now() - started, code: status.code, stdout, stderr, peakMb: peakKb / 1024 };
}

function tree(pid: number): number[] {
  try {
    const children = Deno.readTextFileSync(`/proc/${pid}/task/${pid}/children`).trim().split(" ").filter(
      Boolean,
    ).map(Number);
    return [pid, ...children.flatMap(tree)];
  } catch {
    return [pid];
  }
}

function peakOf(pid: number): number {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(Deno.readTextFileSync(`/proc/${pid}/status`))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

/** The middle value. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted.length === 0 ? NaN : sorted[Math.floor(sorted.length / 2)]!;
}

/** Runs the given commands in turn, `times` times, so that noise of the machine hits all alike; medians per command. */
export async function compare(
  commands: readonly (() => Promise<number>)[],
  times: number,
): Promise<number[]> {
  const seen = commands.map((): number[] => []);
  for (const run of commands) await run();
  for (let i = 0; i < times; i++) {
    for (const [n, run] of commands.entries()) seen[n]!.push(await run());
  }
  return seen.map(median);
}
