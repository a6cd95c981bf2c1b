/**
 * Runs the real program in a process of its own.
 *
 * @module
 */
import { join } from "../../src/text/path.ts";
import type { TestTree } from "./worktree.ts";

/** The program's entry. */
export const MAIN: string = decodeURIComponent(new URL("../../main.ts", import.meta.url).pathname);

/** What a run of the program did. */
export interface CliResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** How to run it. */
export interface CliOptions {
  /** Added to the environment; null unsets. */
  readonly env?: Readonly<Record<string, string | null>>;
  readonly stdin?: string;
  /** Called with the running process, for signals. */
  readonly during?: (process: Deno.ChildProcess) => void | Promise<void>;
  /** Deno flags instead of `-A`. */
  readonly flags?: readonly string[];
  /** The program's main module; default: {@link MAIN}. */
  readonly main?: string;
}

/**
 * The environment of a run: nothing of the tester's but PATH and Deno's cache, HOME in the tree, the project trusted.
 */
export function cliEnvironment(tree: TestTree, extra: CliOptions["env"] = {}): Record<string, string> {
  const cache = Deno.env.get("DENO_DIR") ??
    join(Deno.env.get("XDG_CACHE_HOME") ?? join(Deno.env.get("HOME") ?? "", ".cache"), "deno");
  const env: Record<string, string | null> = {
    PATH: Deno.env.get("PATH") ?? "",
    HOME: tree.home,
    LANG: "C.UTF-8",
    TERM: "dumb",
    NO_COLOR: "1",
    DENO_DIR: cache,
    DENO_NO_UPDATE_CHECK: "1",
    POLYGLAV_TRUST: "1",
    ...extra,
  };
  return Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== null),
  );
}

/** Runs `polyglav ARGS --path <tree.work>` with the tree's root as working directory and no terminal. */
export async function runCli(
  tree: TestTree,
  args: readonly string[],
  options: CliOptions = {},
): Promise<CliResult> {
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      ...(options.flags ?? ["-A"]),
      options.main ?? MAIN,
      ...args,
      ...(args.includes("--path") ? [] : ["--path", tree.work]),
    ],
    cwd: tree.root,
    clearEnv: true,
    env: cliEnvironment(tree, options.env),
    stdin: options.stdin === undefined ? "null" : "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  if (options.stdin !== undefined) {
    const writer = child.stdin.getWriter();
    await writer.write(new TextEncoder().encode(options.stdin)).catch(() => {});
    await writer.close().catch(() => {});
  }
  const [stdout, stderr, status] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.status,
    options.during?.(child),
  ]);
  return { code: status.code, stdout, stderr };
}

/** Writes the project's configuration. */
export function configure(tree: TestTree, config: unknown): void {
  tree.write("work/.polyglav/config.json", JSON.stringify(config, null, 2));
}
