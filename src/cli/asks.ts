/**
 * `polyglav asks`: questions that unattended runs parked.
 *
 * @module
 */
import { userPaths } from "../config/paths.ts";
import { AskStore, type ParkedAsk } from "../engine/asks.ts";
import { EXIT, UsageError } from "../errors.ts";
import { cleanForTerminal, cleanJson } from "../text/ansi.ts";
import type { CliIo, Command, Invocation, OptionSpec } from "./_command.ts";
import { resolveWorktree } from "./_worktree.ts";

const OUTPUT: Readonly<Record<string, OptionSpec>> = {
  output: { type: "string", value: "FORMAT", choices: ["text", "json"], help: "text (default) or json" },
};

const list: Command = {
  name: "list",
  summary: "the questions that wait, and those that were answered",
  examples: [["asks list", "one a line"]],
  options: { ...OUTPUT, all: { type: "boolean", help: "also those whose answer has reached its run" } },
  run({ values, io }): number {
    const asks = store(values, io).list().filter((ask) => values.all === true || ask.status !== "delivered");
    if (values.output === "json") io.out(`${cleanJson(JSON.stringify(asks, null, 2))}\n`);
    else if (asks.length === 0) io.err("no questions wait\n");
    else {io.out(
        asks.map((ask) => `#${ask.id}  ${ask.status}  ${one(ask.origin)}  ${one(ask.question)}\n`).join(""),
      );}
    return EXIT.ok;
  },
};

const show: Command = {
  name: "show",
  summary: "one question with its context",
  usage: "ID",
  examples: [["asks show 1", "who asks what, and why"]],
  options: OUTPUT,
  positionals: [1, 1],
  run({ values, positionals, io }): number {
    const ask = store(values, io).get(idOf(positionals[0]!));
    io.out(values.output === "json" ? `${cleanJson(JSON.stringify(ask, null, 2))}\n` : text(ask));
    return EXIT.ok;
  },
};

const answer: Command = {
  name: "answer",
  summary: "answer a question; the run goes on by polyglav run --session-id NAME --continue",
  usage: "ID TEXT",
  details: "A number stands for one of the suggested answers. A permission is answered by yes, always or no.",
  examples: [
    ["asks answer 1 'use port 9090'", "in words"],
    ["asks answer 2 yes", "one use of a permission"],
  ],
  positionals: [2, 2],
  run({ values, positionals, io }): number {
    const ask = store(values, io).answer(idOf(positionals[0]!), positionals[1]!);
    io.out(`Answered ask #${ask.id}\n`);
    io.err(`go on with: polyglav run --session-id ${one(ask.path[0]!.session)} --continue\n`);
    return EXIT.ok;
  },
};

/** The command. */
export const command: Command = {
  name: "asks",
  summary: "Lists, shows and answers the questions that unattended runs parked.",
  details: "polyglav run --unattended parks a question in .polyglav/asks.json instead of failing it.",
  examples: [
    ["asks list", "what waits"],
    ["asks answer 1 'use port 9090'", "answer it"],
    ["run --session-id NAME --continue", "let the run go on with the answer"],
  ],
  subcommands: [list, show, answer],
};

function store(values: Invocation["values"], io: CliIo): AskStore {
  return new AskStore({ worktree: resolveWorktree(values, io), stateDir: userPaths(io.env).state });
}

function idOf(value: string): number {
  if (!/^#?\d{1,9}$/.test(value)) {
    throw new UsageError(`"${value}" is no number of an ask; see: polyglav asks list`);
  }
  return Number(value.replace("#", ""));
}

function text(ask: ParkedAsk): string {
  const lines = [
    `ask #${ask.id} (${ask.status}), ${ask.created_at}`,
    `from: ${
      ask.path.map(({ session, role }) => role === null ? session : `${role} (${session})`).join(" > ")
    }`,
    ...(ask.kind === "permission" ? [`permission: ${ask.permission}`] : []),
    `question: ${ask.question}`,
    ...(ask.context ? [`context: ${ask.context}`] : []),
    ...ask.options.map((option, index) => `  ${index + 1}. ${option}`),
    ...(ask.answer === null ? [] : [`answer: ${ask.answer}`]),
  ];
  return `${cleanForTerminal(lines.join("\n"))}\n`;
}

function one(value: string): string {
  return cleanForTerminal(value, { line: true });
}
