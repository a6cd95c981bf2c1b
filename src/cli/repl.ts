/**
 * `polyglav` on a terminal: the prompt.
 *
 * An interactive session has no ring 4: its policy changes while it runs (modes, rules that a person adds, another
 * provider), so no ceiling can be compiled before it starts. Like every program it is started again by the launcher, with
 * packages from the cache alone, no permission prompts, no Deno of its own to start, and an environment of the variables
 * that it reads. Rings 1 (policy), 2 (guard), 3 (workers with compiled permissions) and, where the system offers it, 5
 * (confined commands) hold as in `polyglav run`.
 *
 * @module
 */
import { UsageError } from "../errors.ts";
import type { CliIo, Command, Invocation } from "./_command.ts";
import { modelFlags } from "./_model_flags.ts";
import { resolveWorktree } from "./_worktree.ts";
import { userPaths } from "../config/paths.ts";

/** The command. */
export const command: Command = {
  name: "repl",
  summary: "The prompt: talk to the model, confirm what it does, give commands. `polyglav` alone starts it.",
  details:
    "At the prompt: /help shows the commands, @FILE attaches a file, !COMMAND runs a command, Tab completes,\n" +
    "Ctrl-C cancels what runs, Ctrl-D leaves.",
  options: {
    mode: { type: "string", short: "m", value: "MODE", help: "build, plan, or a mode of the configuration" },
    trust: { type: "boolean", help: "let this project's configuration count in this session" },
    model: { type: "string", value: "NAME", help: "the model" },
    provider: {
      type: "string",
      value: "NAME",
      help: "openai, ollama, groq, anthropic, openrouter, openai-compatible, auto",
    },
    "base-url": { type: "string", value: "URL", help: "address of an OpenAI-compatible server" },
    "session-id": {
      type: "string",
      value: "NAME",
      help: "go on with this session, or begin one of this name",
    },
    continue: { type: "boolean", short: "c", help: "go on with the session that was used last" },
    "max-rounds": { type: "string", value: "N", help: "most requests to the model in a turn (default 100)" },
    "approve-model": {
      type: "strings",
      value: "NAME",
      help: "a model that roles saved in this session may use; may be repeated",
    },
    unattended: {
      type: "boolean",
      help: "park questions of the agents (polyglav asks) instead of showing them",
    },
    replay: { type: "string", value: "FILE", help: "play a recorded conversation instead of asking a model" },
  },
  examples: [
    ["--path ~/shop", "in another folder"],
    ["--mode plan", "look and plan; nothing can be changed"],
    ["--continue", "the session of before"],
  ],
  run,
};

async function run({ values, io }: Invocation): Promise<number> {
  if (!io.stdinIsTerminal || !io.stdoutIsTerminal) {
    throw new UsageError('repl: needs a terminal; without one use: polyglav run --prompt "…"');
  }
  if (values.continue === true && values["session-id"] !== undefined) {
    throw new UsageError("repl: --continue and --session-id exclude each other; give one");
  }
  const flags = modelFlags("repl", values),
    { canLaunch, watchLauncher } = await import("../sandbox/launch.ts");
  if (canLaunch()) return await start(values, io, flags);
  watchLauncher(() => void import("./_signals.ts").then(({ cancelAndLeave }) => cancelAndLeave()));
  const [{ prepare }, { startRepl }] = await Promise.all([import("./_host.ts"), import("./repl/start.ts")]);
  // What the program has to say goes above the prompt, once there is one.
  const late = { err: (text: string) => io.err(text) };
  const own: CliIo = Object.create(io, { err: { value: (text: string) => late.err(text) } });
  return await startRepl(await prepare(values, own, flags), values, late);
}

/** In the launcher. Only the hosts of plugins need more than the place. */
async function start(
  values: Invocation["values"],
  io: Invocation["io"],
  flags: Record<string, unknown>,
): Promise<number> {
  const [{ launchOpen }, { anyPlugins }] = await Promise.all([
    import("./_launch.ts"),
    import("../plugins/found.ts"),
  ]);
  const worktree = resolveWorktree(values, io), paths = userPaths(io.env);
  const place = { io, worktree, stateDir: paths.state };
  if (!anyPlugins({ configDir: paths.config, worktree })) return await launchOpen(place);
  const { prepare } = await import("./_host.ts");
  const { plugins } = await prepare(values, io, flags, { quiet: true });
  return await launchOpen({ ...place, plugins: plugins?.link ?? undefined });
}
