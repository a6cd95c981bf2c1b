/**
 * `/tool` and `/todo`: tools by hand, through the same policy as the model's calls.
 *
 * @module
 */
import { UsageError } from "../../errors.ts";
import { cleanForTerminal } from "../../text/ansi.ts";
import { nearest } from "../../text/nearest.ts";
import type { Repl } from "../repl/repl.ts";
import type { SlashCommand } from "./_command.ts";

/** `/tool`. */
export const tool: SlashCommand = {
  name: "tool",
  aliases: ["t"],
  summary: "run a tool, or list the tools",
  usage: "[NAME [JSON | TEXT]]",
  details: "JSON holds the arguments; text that is no JSON object is the main argument: /tool grep TODO\n" +
    "A tool that works with the model (delegate, team) runs as a turn, and the model answers.",
  async run(repl, rest) {
    const [, name = "", given = ""] = /^(\S*)\s*([\s\S]*)$/.exec(rest)!;
    if (name === "") return list(repl);
    const { registry } = repl.host, found = registry.get(name);
    if (!found) {
      const near = nearest(name, registry.list().map((each) => each.name));
      throw new UsageError(
        `there is no tool "${name}"${near ? `, did you mean "${near}"?` : ""}; /tool lists them`,
      );
    }
    const args = argumentsOf(given, found.keyArg);
    if (found.loop === true) {
      const parsed = typeof args === "string" ? parseObject(args) : args;
      return void await repl.loopTool(found.name, parsed);
    }
    await showCall(repl, found.name, args);
  },
  complete: (repl, words) =>
    words.length > 0 ? [] : repl.host.registry.list().map((each) => ({
      text: `${each.name} `,
      hint: repl.live.allowed(each).action,
    })),
};

/** `/todo`. */
export const todo: SlashCommand = {
  name: "todo",
  aliases: ["todos"],
  summary: "the list of steps; add, start and finish some",
  usage: "[add TEXT | start N | done N | open N]",
  async run(repl, rest) {
    const [, verb = "", given = ""] = /^(\S*)\s*([\s\S]*)$/.exec(rest)!;
    const status = ({ start: "doing", doing: "doing", done: "done", open: "open" } as const)[verb as "start"];
    if (verb !== "" && verb !== "list" && verb !== "add" && status === undefined) {
      throw new UsageError(`/todo does not know "${verb}"; use add TEXT, start N, done N or open N`);
    }
    if (verb === "add" && given === "") throw new UsageError("/todo add needs a text");
    if (status !== undefined && !/^\d+$/.test(given)) {
      throw new UsageError(`/todo ${verb} needs the number of a step`);
    }
    const args = verb === "add"
      ? { action: "add", texts: [given] }
      : status === undefined
      ? { action: "list" }
      : { action: "update", id: Number(given), status };
    await showCall(repl, "todo", args, { keep: args.action === "list" ? null : `/todo ${rest}` });
  },
  complete: (_repl, words) =>
    words.length > 0 ? [] : ["add ", "start ", "done ", "open "].map((text) => ({ text })),
};

/**
 * Runs a tool for the person and shows its result whole.
 *
 * @param options `keep`: the call changes the session, so it is recorded there as a turn of this text
 */
export async function showCall(
  repl: Repl,
  name: string,
  args: unknown,
  options: { readonly keep?: string | null } = {},
): Promise<void> {
  const result = await (options.keep ? repl.keptCall(options.keep, name, args) : repl.call(name, args));
  // What the sink has shown already.
  const shown = (result.isError && repl.settings.show_errors) ||
    (result.isNote && repl.settings.show_notes);
  if (!shown && !result.cancelled) repl.print(cleanForTerminal(result.content));
}

function list(repl: Repl): void {
  const rows = repl.host.registry.list().map((each) => ({ tool: each, ...repl.live.allowed(each) }));
  const width = Math.max(...rows.map((row) => row.tool.name.length)), { style } = repl.front;
  const paint = { allow: style.green, ask: style.yellow, deny: style.red };
  repl.print(
    rows.map(({ tool, action }) =>
      `${tool.name.padEnd(width)}  ${paint[action](action.padEnd(5))}  ${
        style.dim(
          cleanForTerminal(tool.short ?? /^[^.]*\.?/.exec(tool.description)![0].slice(0, 90), { line: true }),
        )
      }`
    ).join("\n"),
  );
}

/** JSON as it is (the registry repairs what can be repaired), other text as the main argument. */
function argumentsOf(given: string, keyArg: string | undefined): string | Record<string, unknown> {
  if (given === "") return {};
  if (given.startsWith("{") || keyArg === undefined) return given;
  return { [keyArg]: given };
}

function parseObject(text: string): Record<string, unknown> {
  try {
    const value = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  } catch { /* below */ }
  throw new UsageError('the arguments must be a JSON object, such as {"role": "writer", "task": "…"}');
}
