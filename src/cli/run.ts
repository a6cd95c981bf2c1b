/**
 * `polyglav run`: one headless turn.
 *
 * @module
 */
import { ConfigError, EXIT, messageOf, PolyglavError, UsageError } from "../errors.ts";
import { createProvider, providerAddress, readKeys } from "../provider/detect.ts";
import type { TurnResult } from "../engine/engine.ts";
import type { Provider } from "../provider/provider.ts";
import type { Run } from "../engine/runs.ts";
import type { AskStore } from "../engine/asks.ts";
import { join } from "../text/path.ts";
import type { UiSink } from "../ui/sink.ts";
import { standingPermissions } from "../policy/compile.ts";
import type { Sandbox } from "../sandbox/pool.ts";
import type { PermissionEntry } from "../policy/types.ts";
import type { AuditFiles } from "./_audit.ts";
import type { CliIo, Command, Invocation } from "./_command.ts";
import {
  ANSWER_OPTIONS,
  ceilingOf,
  type Host,
  openDispatcher,
  ownServers,
  pathArgument,
  POLICY_OPTIONS,
  prepare,
  underCeiling,
} from "./_host.ts";
import { LatePort } from "./_late_port.ts";
import { trustsRun } from "./_load.ts";
import { modelFlags } from "./_model_flags.ts";
import { onSignals } from "./_signals.ts";

type Values = Invocation["values"];

/** The command. */
export const command: Command = {
  name: "run",
  summary: "Runs one turn without a terminal: a model plans, tools act, the policy decides.",
  usage: "--prompt TEXT | --continue",
  details:
    "Nobody is asked anything: what would ask is denied unless --yes is given, and the model goes on without it.\n" +
    "The answer goes to standard output, everything else to standard error. Each run is recorded in\n" +
    ".polyglav/sessions; a session's name continues it.",
  options: {
    prompt: { type: "string", short: "p", value: "TEXT", help: "what to do; - reads it from standard input" },
    output: {
      type: "string",
      short: "o",
      value: "FORMAT",
      choices: ["json", "text", "stream-json"],
      help: "json (default): one object; text: the answer as it comes; stream-json: every event as a line",
    },
    ...ANSWER_OPTIONS,
    ...POLICY_OPTIONS,
    model: { type: "string", value: "NAME", help: "the model" },
    provider: {
      type: "string",
      value: "NAME",
      help: "openai, ollama, groq, anthropic, openrouter, openai-compatible, auto",
    },
    "base-url": { type: "string", value: "URL", help: "address of an OpenAI-compatible server" },
    "session-id": { type: "string", value: "NAME", help: "continue this session, or begin one of this name" },
    "max-rounds": {
      type: "string",
      value: "N",
      help: "most requests to the model in this turn (default 100)",
    },
    unattended: { type: "boolean", help: "park questions for later (polyglav asks) instead of failing them" },
    continue: {
      type: "boolean",
      help: "with --session-id: go on where it stopped, with the answers to its parked questions",
    },
    "approve-model": {
      type: "strings",
      value: "NAME",
      help: "a model that roles saved in this run may use; may be repeated",
    },
    timeout: { type: "string", value: "SECONDS", help: "end the turn after this time" },
    strict: { type: "boolean", help: "exit 3 when the turn ended well but a call was denied" },
    record: { type: "string", value: "FILE", help: "write the conversation with the model to a file" },
    replay: { type: "string", value: "FILE", help: "play a recorded conversation instead of asking a model" },
    audit: {
      type: "string",
      value: "FILE",
      help: "write what was decided and what the runtime saw accessed, as one list of JSON lines",
    },
    verbose: { type: "boolean", short: "v", help: "show activity lines and diffs on standard error" },
  },
  examples: [
    ['run -p "what does this project do?" --output text', "an answer in words"],
    [
      'run -p "fix the failing test" --yes --output text -v',
      "with every question answered yes, showing what happens",
    ],
    ['run -p "review the change" --mode plan --strict', "nothing can be changed; exit 3 if it was tried"],
    ["git diff | polyglav run -p - --output text", "the prompt from standard input"],
    ['run -p "and now the tests" --session-id monday', "continue a session"],
    ['run -p "fix the typo" --audit audit.jsonl', "with a list of every decision and every access"],
    ["run --session-id monday --continue", "go on with what was answered by polyglav asks answer"],
    [
      "run -p hello --provider openai-compatible --base-url http://127.0.0.1:8080/v1",
      "any OpenAI-compatible server",
    ],
  ],
  run,
};

async function run({ values, io }: Invocation): Promise<number> {
  check(values);
  const { canLaunch } = await import("../sandbox/launch.ts");
  const launches = canLaunch();
  const host = await prepare(values, io, modelFlags("run", values), { quiet: launches });
  const files = { replay: pathArgument(values.replay, io), record: pathArgument(values.record, io) };
  for (const [name, file] of [["record", files.record], ["audit", pathArgument(values.audit, io)]] as const) {
    if (file !== undefined) {
      (await import("./_output_file.ts")).checkOutput(`run: --${name}`, file, host.worktree);
    }
  }
  const address = !launches || files.replay
    ? null
    : providerAddress(host.settings, io.env, readKeys(host.paths.config));
  const own = launches ? await ownServers(host, address) : [];
  const asks = values.continue === true ? await askStore(host) : null;
  const audit = await beginAudit(values, io, launches);
  const code = await underCeiling(host, () =>
    ceilingOf(host, {
      yes: values.yes === true,
      providerAddress: address,
      ownServers: own,
      read: files.replay ? [files.replay] : [],
      write: [
        ...(files.record ? [files.record] : []),
        ...(audit.files ? [audit.files.decisions] : []),
        ...askFiles(host, values),
      ],
      answered: launches && values.continue === true && asks !== null && permitted(values, asks),
    }), audit.files).finally(() => audit.files?.finish());
  if (code !== null) return code;

  const warn = (message: string) => io.err(`Warning: ${message}\n`);
  const provider = await createProvider({
    settings: host.settings,
    paths: host.paths,
    env: io.env,
    worktree: host.worktree,
    warn,
    ...files,
  });
  const ready = provider.warm?.();
  ready?.catch(() => {/* the first request says what is wrong */});
  const prompt = values.prompt === "-" ? await io.stdin() : String(values.prompt ?? "");
  checkPrompt(prompt, values);
  try {
    return await turn(host, provider, prompt, values, { warn, audit: audit.write });
  } finally {
    audit.finish?.(warn);
  }
}

/** Where the decisions of `--audit` go, and what the supervisor or (without one) this process does at the end. */
interface AuditRun {
  /** In the supervisor. */
  readonly files?: AuditFiles;
  /** In the process that runs the turn. */
  readonly write?: (entry: PermissionEntry) => void;
  readonly finish?: (warn: (message: string) => void) => void;
}

async function beginAudit(values: Values, io: CliIo, launches: boolean): Promise<AuditRun> {
  const file = pathArgument(values.audit, io);
  if (file === undefined) return {};
  const { AUDIT_VARIABLE, checkTarget, decisionLine, openAudit, writeAudit } = await import("./_audit.ts");
  if (launches) return { files: openAudit(file) };
  const { ceilingState } = await import("../sandbox/launch.ts");
  const shared = ceilingState() === "ceiling" ? io.env(AUDIT_VARIABLE) : undefined;
  if (shared !== undefined) {
    return {
      write: (entry) => Deno.writeTextFileSync(shared, decisionLine(entry), { append: true, create: false }),
    };
  }
  checkTarget(file);
  const lines: string[] = [];
  return {
    write: (entry) => void lines.push(decisionLine(entry)),
    finish(warn) {
      writeAudit(file, lines.join(""));
      warn(
        "--audit: only decisions are listed; accesses are seen where polyglav sets its own ceiling (deno run -A)",
      );
    },
  };
}

function check(values: Values): void {
  if (values.continue === true && values["session-id"] === undefined) {
    throw new UsageError("run: --continue needs --session-id NAME");
  }
  if (values.prompt === undefined && values.continue !== true) {
    throw new UsageError(
      'run: needs --prompt TEXT, or --prompt - for standard input (see "polyglav run --help")',
    );
  }
  if (values.prompt !== undefined && values.prompt !== "-") checkPrompt(String(values.prompt), values);
  if (values.yes === true && values.no === true) {
    throw new UsageError("run: --yes and --no exclude each other; give one");
  }
  if (values.replay !== undefined && values.record !== undefined) {
    throw new UsageError("run: --replay plays a recording and --record writes one; give one of them");
  }
  secondsOf(values.timeout);
}

function checkPrompt(prompt: string, values: Values): void {
  if (prompt.trim() === "" && values.continue !== true) {
    throw new UsageError("run: the prompt is empty; say what to do with --prompt TEXT");
  }
}

/** Where parked questions are, when this run may park or deliver some. */
function askFiles(host: Host, values: Values): string[] {
  const used = values.unattended === true || values.continue === true;
  return used ? [join(host.worktree, ".polyglav/asks.json")] : [];
}

async function askStore(host: Host): Promise<AskStore> {
  const { AskStore } = await import("../engine/asks.ts");
  return new AskStore({ worktree: host.worktree, stateDir: host.paths.state });
}

/** Whether a permission was granted that this run is to use: its ceiling includes what asks then. */
function permitted(values: Values, asks: AskStore): boolean {
  return asks.below(String(values["session-id"])).some((ask) =>
    ask.kind === "permission" && ask.status === "answered" && asks.vouched(ask)
  );
}

function secondsOf(value: Values[string]): number | null {
  if (value === undefined) return null;
  const seconds = Number(value);
  if (!/^\d+(\.\d+)?$/.test(String(value)) || seconds <= 0 || seconds > 86_400) {
    throw new UsageError(`run: --timeout must be a number of seconds up to 86400, got "${value}"`);
  }
  return seconds;
}

async function turn(
  host: Host,
  provider: Provider,
  prompt: string,
  values: Values,
  { warn, audit }: { readonly warn: (message: string) => void; readonly audit: AuditRun["write"] },
): Promise<number> {
  const { io, settings } = host;
  const port = new LatePort();
  const [
    { Engine },
    { openSession },
    { createHeadlessSink },
    { readInstructions },
    { parts, sandbox, journal, changes, close },
  ] = await Promise.all([
    import("../engine/engine.ts"),
    import("../session/store.ts"),
    import("../ui/headless.ts"),
    import("./_instructions.ts"),
    openDispatcher(host, port, undefined, audit),
  ]);
  const output = (values.output ?? "json") as "json" | "text" | "stream-json";
  const controller = new AbortController();
  const release = onSignals(controller, io);
  const seconds = secondsOf(values.timeout);
  let timedOut = false;
  const timer = seconds === null ? undefined : setTimeout(() => {
    timedOut = true;
    controller.abort(new DOMException("timed out", "TimeoutError"));
  }, seconds * 1000);
  try {
    const instructions = await readInstructions(host, sandbox, warn);
    const session = await openSession({
      worktree: host.worktree,
      stateDir: host.paths.state,
      name: values["session-id"] as string | undefined,
      // The variable speaks for the project, not for a session that something else has changed.
      trust: values.trust === true || (trustsRun(values, io) && "unanchored"),
      noiseTools: settings.noise_tools,
      maxToolChars: settings.session_tool_max_chars,
      canonicalName: (name) => host.registry.get(name)?.name ?? name,
    });
    session.notes.forEach(warn);
    changes.enabled = values.verbose === true;
    journal.begin({ session: session.name, turn: session.object().turns.length + 1 });
    const headless = createHeadlessSink({
      out: io.out,
      err: io.err,
      verbose: values.verbose === true,
      stream: output === "json" ? "none" : output,
      color: io.color,
      settings,
      answer: values.yes === true ? "yes" : "no",
    });
    // There is nobody to say no: what is not answered by --yes has no answer.
    const sink: UiSink = {
      emit: (event) => headless.emit(event),
      confirm: async (request) => await headless.confirm(request) === "yes" ? "yes" : "nobody",
    };
    const engine = new Engine({
      provider,
      dispatcher: parts.dispatcher,
      registry: host.registry,
      policy: host.policy,
      session,
      settings,
      instructions,
      worktree: host.worktree,
      sink,
    });
    let result: TurnResult;
    try {
      const root = port.serve(async () => {
        const { rootHead } = await import("./_root.ts");
        return await rootHead(host, { provider, session, parts, sink, instructions, task: prompt, values });
      });
      const { parent_id } = session.object();
      if (values.continue === true && parent_id !== null) {
        throw new UsageError(
          `run: session "${session.name}" is a sub-agent's; continue the session that started it (polyglav sessions show --tree)`,
        );
      }
      const said = values.continue === true ? await (await root()).begin(prompt) : prompt;
      const answered = engine.runTurn(said, controller.signal);
      // While the model thinks there is time to start the worker that most calls need; one that answers at once needs
      // none, and the one that starts would hold up its answer.
      const warming = setTimeout(() => warmReaders(host, sandbox), WARM_AFTER_MS);
      result = await answered.finally(() => clearTimeout(warming));
    } finally {
      session.close();
    }
    if (timedOut) result = withTimeout(result, seconds!);
    const drift = await closeProvider(provider);
    if (output === "json") {
      io.out(
        `${JSON.stringify(jsonResult(result, provider, session, (await port.made)?.runs ?? []), null, 2)}\n`,
      );
    }
    if (timedOut) io.err(`polyglav: the turn was ended after ${seconds}s (--timeout)\n`);
    if (drift) throw drift;
    return exitCode(result, values.strict === true);
  } finally {
    clearTimeout(timer);
    release();
    await close();
  }
}

/** How long a model thinks before a worker is started for the calls that it may make. */
const WARM_AFTER_MS = 25;

/** Starts a worker for the tools that read. */
function warmReaders(host: Host, sandbox: Sandbox): void {
  const reader = host.registry.list().find(({ access }) => access.length === 1 && access[0] === "read");
  if (!reader || host.policy.allowed(reader).action === "deny") return;
  const permissions = standingPermissions(reader, host.policyInput);
  sandbox.warm({
    permissions,
    guard: { worktree: host.worktree, roots: [], rules: [], consented: [] },
    oneShot: false,
  });
}

function withTimeout(result: TurnResult, seconds: number): TurnResult {
  const error = { code: "timeout", message: `the turn was ended after ${seconds}s (--timeout)` };
  return { ...result, status: "error", errors: [...result.errors, error] };
}

/** Closes the provider; a drift of the recording comes back, to be told after the result. */
async function closeProvider(provider: Provider): Promise<PolyglavError | null> {
  try {
    await provider.close?.();
    return null;
  } catch (error) {
    return error instanceof PolyglavError
      ? error
      : new ConfigError(`the provider could not be closed: ${messageOf(error)}`);
  }
}

function jsonResult(
  result: TurnResult,
  provider: Provider,
  session: { readonly name: string; readonly id: string },
  runs: readonly Run[],
) {
  const subs = runs.filter(({ parent }) => parent !== null)
    .map(({ id, role, session, status, usage }) => ({ id, role, session, status, usage }));
  return {
    content: result.content,
    thinking: result.thinking,
    tool_calls: result.toolCalls,
    errors: result.errors,
    denied: result.denied,
    duration: result.duration,
    usage: result.usage,
    model: provider.model,
    provider: provider.name,
    session: session.name,
    status: result.status,
    run_id: session.id,
    ...(subs.length > 0 ? { sub_agents: subs } : {}),
  };
}

function exitCode(result: TurnResult, strict: boolean): number {
  if (result.status === "cancelled") return EXIT.cancelled;
  if (result.status !== "ok" && result.status !== "truncated") return EXIT.failed;
  return strict && result.denied.length > 0 ? EXIT.denied : EXIT.ok;
}
