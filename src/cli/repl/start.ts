/**
 * Starts an interactive session and reads lines until the person leaves.
 *
 * @module
 */
import { EXIT, messageOf, PolyglavError, ProviderError } from "../../errors.ts";
import { createProvider } from "../../provider/detect.ts";
import { cleanForTerminal } from "../../text/ansi.ts";
import { openHistory } from "../../ui/history.ts";
import type { ReadResult } from "../../ui/input.ts";
import type { Invocation } from "../_command.ts";
import { type Host, openDispatcher, pathArgument } from "../_host.ts";
import { readInstructions } from "../_instructions.ts";
import { onSignals } from "../_signals.ts";
import { VERSION } from "../_version.ts";
import { isSlash, runSlash } from "../slash/mod.ts";
import { pluginCommands } from "../slash/plugin_commands.ts";
import { createCompleter } from "./complete.ts";
import { LiveProvider } from "./provider.ts";
import { Repl } from "./repl.ts";
import { openFront } from "./terminal_front.ts";

/** How long the first prompt waits to learn which model answers, in milliseconds. */
const PATIENCE = 150;

/**
 * Runs the session of a host.
 *
 * @param late where the host's messages go; set while the terminal is open
 * @returns the exit code
 */
export async function startRepl(
  host: Host,
  values: Invocation["values"],
  late: { err: (text: string) => void },
): Promise<number> {
  const { io } = host;
  const settings = { ...host.settings };
  host.policy.onChange(() => void Object.assign(settings, host.policy.input.settings));
  let repl: Repl | null = null;
  const front = openFront({
    env: io.env,
    settings,
    rules: async () => {
      const { createConsentRules } = await import("../_consent.ts");
      const rules = createConsentRules(host);
      return {
        choices: (request) => rules.choices(request),
        explain: (request) => rules.explain(request),
        async remember(request, choice) {
          await rules.remember(request, choice);
          if (choice.lasts === "project") await repl?.rebase();
        },
      };
    },
  });
  const { warn } = front, plainly = late.err;
  late.err = (text) => front.print(front.style.yellow(cleanForTerminal(text.trimEnd())));
  const replay = pathArgument(values.replay, io);
  let replayed = false;
  const provider = new LiveProvider(
    {
      provider: settings.provider,
      base_url: settings.base_url,
      model: settings.model,
      presets: host.settings.presets,
    },
    (wanted) => {
      const first = !replayed;
      replayed = true;
      return createProvider({
        settings: wanted,
        paths: host.paths,
        env: io.env,
        worktree: host.worktree,
        warn,
        replay: first ? replay : undefined,
      });
    },
  );
  const opening = provider.ready().then(() => null, (error: unknown) => error);
  let code: number = EXIT.ok;
  try {
    let opened: ReturnType<typeof openDispatcher> | null = null;
    const open = () =>
      opened ??= openDispatcher(host, {
        call: (operation, input, options) => repl!.serve(operation, input, options),
      });
    let instructions: ReturnType<typeof readInstructions> | null = null;
    repl = new Repl({
      host,
      front,
      provider,
      opened: open,
      settings,
      instructions: () =>
        instructions ??= open().then(({ sandbox }) => readInstructions(host, sandbox, warn)),
      values,
      more: pluginCommands(host),
    });
    code = await live(repl, opening, values);
  } finally {
    try {
      if (repl) await repl.close();
    } catch (error) {
      front.print(front.style.red(`error: ${cleanForTerminal(messageOf(error), { line: true })}`));
    }
    late.err = plainly;
    front.close();
  }
  return code;
}

async function live(repl: Repl, opening: Promise<unknown>, values: Invocation["values"]): Promise<number> {
  const { front, host, provider } = repl, { style } = front;
  const gone = new AbortController(), release = onSignals(gone, host.io);
  const left = new Promise<null>((resolve) =>
    gone.signal.addEventListener("abort", () => {
      repl.cancel();
      resolve(null);
    })
  );
  const complete = createCompleter(repl);
  const history = openHistory({
    stateDir: host.paths.state,
    worktree: host.worktree,
    warn: front.warn,
  });
  try {
    const failed = await Promise.race([
      opening,
      new Promise((resolve) => setTimeout(resolve, PATIENCE, null)),
    ]);
    banner(repl);
    front.title(repl.title);
    await guarded(repl, () => begin(repl, values));
    if (failed instanceof ProviderError && provider.settings.provider === "auto") {
      const { firstRun } = await import("./first_run.ts");
      await guarded(repl, () => firstRun(repl, failed));
    } else if (failed) fail(repl, failed);
    for (let interrupts = 0; !repl.leaving;) {
      const read: ReadResult | null = await Promise.race([
        front.readLine({ prompt: promptOf(repl), history, complete }),
        left,
      ]);
      if (read === null) return EXIT.cancelled;
      if (read.kind === "end") break;
      if (read.kind === "interrupt") {
        if (read.text !== "") interrupts = 0;
        else if (++interrupts > 1) break;
        else front.print(style.dim("(Ctrl-C once more leaves, and so does Ctrl-D)"));
        continue;
      }
      interrupts = 0;
      const working = guarded(repl, () => handle(repl, read.text));
      await Promise.race([working, left.then(() => new Promise((resolve) => setTimeout(resolve, 2500)))]);
      if (gone.signal.aborted) return EXIT.cancelled;
    }
    return EXIT.ok;
  } finally {
    release();
  }
}

/** A session that was named, or the last one. */
async function begin(repl: Repl, values: Invocation["values"]): Promise<void> {
  const { front, host } = repl;
  let name = typeof values["session-id"] === "string" ? values["session-id"] : null;
  if (values.continue === true) {
    const { listSessions } = await import("../../session/store.ts");
    const all = listSessions({ worktree: host.worktree, stateDir: host.paths.state });
    name = all.find(({ role, problem }) => role === null && problem === null)?.name ?? null;
    if (name === null) front.print(front.style.dim("(there is no session to go on with; a new one begins)"));
  }
  if (name === null) return;
  await repl.switchTo(name);
  const turns = (await repl.opened()).object().turns.length;
  if (turns > 0) {
    front.print(
      front.style.dim(`(session ${name}: ${turns} turn${turns === 1 ? "" : "s"}; /history shows them)`),
    );
  }
}

/** Does what a line says. */
async function handle(repl: Repl, text: string): Promise<void> {
  const line = text.trim();
  if (line === "") return;
  if (isSlash(line)) return await runSlash(repl, line, repl.more);
  if (line.startsWith("!")) {
    const command = line.slice(1).trim();
    if (command !== "") await repl.command(command);
    return;
  }
  await repl.prompt(text);
}

/** Runs something whose failure is told, not thrown. */
async function guarded(repl: Repl, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    fail(repl, error);
  }
}

function fail({ front, host }: Repl, error: unknown): void {
  const text = cleanForTerminal(messageOf(error));
  front.print(front.style.red(error instanceof PolyglavError ? `error: ${text}` : `internal error: ${text}`));
  if (!(error instanceof PolyglavError) && host.io.env("POLYGLAV_DEBUG") === "1" && error instanceof Error) {
    front.print(front.style.dim(cleanForTerminal(error.stack ?? "")));
  }
}

function banner({ front, host, provider, mode }: Repl): void {
  const { style } = front, { home } = host.paths;
  const place = host.worktree === home
    ? "~"
    : host.worktree.startsWith(`${home}/`)
    ? `~${host.worktree.slice(home.length)}`
    : host.worktree;
  const one = (text: string) => cleanForTerminal(text, { line: true });
  const model = provider.current ? `${provider.model} (${provider.name})` : provider.model || provider.name;
  front.print(`${style.bold(`polyglav ${VERSION}`)} ${style.dim(`${one(mode)} · ${one(model)}`)}`);
  front.print(style.dim(`${one(place)} · /help for help`));
}

/** The prompt: the mode in its colour, and whom the person talks to. */
function promptOf({ front: { style }, live, mode, focus }: Repl): string {
  const paint = mode === "build" ? style.green : live.readOnly ? style.cyan : style.yellow;
  const who = focus === null ? "" : ` #${focus.id} ${cleanForTerminal(focus.role ?? "", { line: true })}`;
  return `${paint(style.bold(`${cleanForTerminal(mode, { line: true })}${who}>`))} `;
}
