/**
 * Starting the program again: what every start has in common, and how an interactive session starts.
 *
 * @module
 */
import { ConfigError, messageOf } from "../errors.ts";
import { HOST_ENVIRONMENT } from "../policy/_host_environment.ts";
import { PRESETS } from "../provider/presets.ts";
import type { PluginLink } from "../sandbox/_plugin_protocol.ts";
import { PASSED } from "../sandbox/environment.ts";
import { launch, openFlags } from "../sandbox/launch.ts";
import { join } from "../text/path.ts";
import type { CliIo } from "./_command.ts";
import { VERSION } from "./_version.ts";

/** Variables with keys of search services. */
export const SERVICE_KEYS: readonly string[] = ["BRAVE_API_KEY", "TAVILY_API_KEY"];

/** What else a session on a terminal reads. */
const TERMINAL_VARIABLES = ["LINES", "POLYGLAV_DEBUG", "TERM_PROGRAM"];

/** What an interactive session starts with. */
export interface OpenStart {
  readonly io: CliIo;
  /** Canonical. */
  readonly worktree: string;
  readonly stateDir: string;
  /** Starts the hosts of plugins; absent where there are none. */
  readonly plugins?: PluginLink;
}

/**
 * Starts an interactive session again as the launcher starts every program: packages from the cache alone, no prompts,
 * no Deno of its own, an environment of what is read. Its policy changes while it runs, so no ceiling is set over it.
 *
 * @returns its exit code
 */
export async function launchOpen({ io, worktree, stateDir, plugins }: OpenStart): Promise<number> {
  await cachePackages(stateDir, io);
  const keys = PRESETS.flatMap(({ keyVariables }) => keyVariables);
  return await launch({
    flags: openFlags([
      ...new Set([...HOST_ENVIRONMENT, ...PASSED, ...SERVICE_KEYS, ...keys, ...TERMINAL_VARIABLES]),
    ]),
    open: true,
    mainModule: Deno.mainModule,
    args: withWorktree(Deno.args, worktree),
    env: Deno.env.toObject(),
    worktree,
    plugins,
  });
}

/**
 * Makes sure that every package is in Deno's cache, once per version and cache: the program under the ceiling can
 * download nothing. Deno fetches all of them with the first.
 */
export async function cachePackages(stateDir: string, io: CliIo): Promise<void> {
  const cache = (io.env("DENO_DIR") ?? "default").replace(/[^A-Za-z0-9]/g, "_").slice(-80);
  const stamp = join(stateDir, `cached-${VERSION}-${cache}`);
  try {
    Deno.statSync(stamp);
    return;
  } catch { /* not yet, as far as is known */ }
  try {
    await import("unbash");
  } catch (error) {
    throw new ConfigError(
      `a package could not be downloaded (${messageOf(error)}); run this once with a network`,
    );
  }
  try {
    Deno.mkdirSync(stateDir, { recursive: true, mode: 0o700 });
    Deno.writeTextFileSync(stamp, "");
  } catch { /* it is looked up again the next time */ }
}

/** The words with the canonical worktree as `--path`: under the ceiling a link to it could not be followed. */
export function withWorktree(args: readonly string[], worktree: string): string[] {
  const out: string[] = [];
  for (let i = 0; i < args.length; i++) {
    const word = args[i]!;
    if (word === "--") return [...out, ...args.slice(i)];
    if (word.startsWith("--path=")) out.push(`--path=${worktree}`);
    else if (word === "--path") {
      out.push(`--path=${worktree}`);
      i++;
    } else out.push(word);
  }
  return out;
}
