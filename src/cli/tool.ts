/**
 * `polyglav tool`: runs one registered tool through the same policy as the loop, or lists the tools.
 *
 * @module
 */
import { UsageError } from "../errors.ts";
import type { Command, Invocation } from "./_command.ts";
import {
  ANSWER_OPTIONS,
  ceilingOf,
  type Host,
  openDispatcher,
  ownServers,
  POLICY_OPTIONS,
  prepare,
  underCeiling,
} from "./_host.ts";

/** The command. */
export const command: Command = {
  name: "tool",
  summary: "Runs one tool through the policy, or lists the tools.",
  usage: "[NAME [JSON]]",
  details:
    "JSON holds the tool's arguments; `-` reads them from standard input. The result goes to standard output.\n" +
    "A call that needs a yes is denied unless --yes is given.",
  positionals: [0, 2],
  options: {
    ...POLICY_OPTIONS,
    ...ANSWER_OPTIONS,
    output: {
      type: "string",
      short: "o",
      value: "FORMAT",
      choices: ["text", "json"],
      help: "text (default) or one JSON object",
    },
    verbose: { type: "boolean", short: "v", help: "show the activity line and the diff on standard error" },
  },
  examples: [
    ["tool", "list the tools and what the policy says of each"],
    [`tool file_read '{"path": "README.md", "limit": 20}'`, "read the first lines of a file"],
    [`tool grep '{"pattern": "TODO", "glob": "*.ts"}'`, "search the project"],
    [
      `tool file_write '{"path": "a.txt", "content": "hi"}' --mode plan`,
      "refused: plan mode changes nothing",
    ],
    [`tool file_read '{"path": "/etc/hostname"}' --yes`, "a path outside the project needs a yes"],
  ],
  run,
};

async function run({ values, positionals, io }: Invocation): Promise<number> {
  if (values.yes === true && values.no === true) {
    throw new UsageError("tool: --yes and --no exclude each other; give one");
  }
  const [name, json] = positionals;
  const host = await prepare(values, io, {}, { quiet: await launches() });
  if (name === undefined) return list(host, values.output === "json");
  const tool = host.registry.get(name);
  const own = tool?.access.includes("net") && await launches() ? await ownServers(host, null) : [];
  const needs = { yes: values.yes === true, ownServers: own, only: tool?.name ?? "" };
  const code = await underCeiling(host, () => ceilingOf(host, needs));
  if (code !== null) return code;
  return await call(host, name, json === "-" ? await io.stdin() : json ?? "{}", values);
}

/** Whether another process of this run goes on, which prints the warnings then. */
async function launches(): Promise<boolean> {
  return (await import("../sandbox/launch.ts")).canLaunch();
}

function list(host: Host, json: boolean): number {
  const rows = host.registry.list().map((tool) => ({ tool, ...host.policy.allowed(tool) }));
  if (json) {
    const data = rows.map(({ tool, action, rule }) => ({
      name: tool.name,
      action,
      rule,
      category: tool.category,
      permission: tool.permission,
      aliases: Array.isArray(tool.aliases) ? tool.aliases : Object.keys(tool.aliases ?? {}),
      description: tool.description,
      parameters: tool.parameters,
    }));
    host.io.out(`${JSON.stringify(data, null, 2)}\n`);
    return 0;
  }
  const width = Math.max(...rows.map(({ tool }) => tool.name.length));
  for (const { tool, action } of rows) {
    host.io.out(
      `${tool.name.padEnd(width)}  ${action.padEnd(5)}  ${tool.short ?? firstSentence(tool.description)}\n`,
    );
  }
  return 0;
}

function firstSentence(text: string): string {
  return /^[^.]*\.?/.exec(text)![0].slice(0, 90);
}

async function call(host: Host, name: string, json: string, values: Invocation["values"]): Promise<number> {
  const { io } = host;
  const { dispatcher, changes, close } = await openDispatcher(host);
  changes.enabled = values.verbose === true;
  const { onSignals } = await import("./_signals.ts");
  const controller = new AbortController();
  const release = onSignals(controller, io);
  try {
    const result = await dispatcher.call(name, json, {
      signal: controller.signal,
      confirm: () => Promise.resolve(values.yes === true ? "yes" : "nobody"),
    });
    if (values.verbose === true) await show(host, result, io.color);
    if (values.output === "json") {
      const { tool: _, decision, ...rest } = result;
      const data = {
        tool: rest.name,
        arguments: rest.args,
        content: rest.content,
        is_error: rest.isError,
        failed: rest.failed,
        outcome: rest.outcome,
        rule: decision?.rule ?? null,
        reason: decision?.reason ?? null,
        details: rest.details,
        duration: Math.round(rest.duration) / 1000,
      };
      io.out(`${(await import("../text/ansi.ts")).cleanJson(JSON.stringify(data, null, 2))}\n`);
    } else {
      const text = result.content.endsWith("\n") ? result.content : `${result.content}\n`;
      // A file's text must not steer the terminal that it is shown on; a pipe gets it as it is.
      io.out(io.stdoutIsTerminal ? (await import("../text/ansi.ts")).cleanForTerminal(text) : text);
    }
    if (controller.signal.aborted) return 130;
    return result.failed ? 1 : 0;
  } finally {
    release();
    await close();
  }
}

type Shown = Awaited<ReturnType<Awaited<ReturnType<typeof openDispatcher>>["dispatcher"]["call"]>>;

async function show(host: Host, result: Shown, color: boolean): Promise<void> {
  const [{ formatActivity, formatOutcome }, { createStyle }] = await Promise.all([
    import("../ui/activity.ts"),
    import("../ui/style.ts"),
  ]);
  host.io.err(`${formatActivity(result.tool ?? result.name, result.args, host.settings)}\n`);
  const event = { type: "tool_end" as const, id: "", ...result, args: result.args };
  for (const line of formatOutcome(event, host.settings, createStyle(color))) host.io.err(`${line}\n`);
}
