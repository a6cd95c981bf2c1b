/**
 * `polyglav undo`: takes back what the tools of a turn wrote.
 *
 * @module
 */
import { EXIT, UsageError } from "../errors.ts";
import type { Command, Invocation } from "./_command.ts";
import { loadSettings } from "./_load.ts";

/** The command. */
export const command: Command = {
  name: "undo",
  summary: "Takes back what tools wrote in a turn.",
  usage: "[TURN]",
  details:
    "Without TURN it is the newest turn that was not taken back. Exactly the files that tools wrote get their old text;\n" +
    "those that changed since are left alone, as is everything that commands did. Without --yes it shows what would\n" +
    "happen, and asks where there is a terminal.",
  positionals: [0, 1],
  options: {
    "session-id": { type: "string", value: "NAME", help: "the session that the turn is of" },
    list: { type: "boolean", short: "l", help: "list the turns that can be taken back" },
    yes: { type: "boolean", short: "y", help: "do it without asking" },
    output: {
      type: "string",
      short: "o",
      value: "FORMAT",
      choices: ["text", "json"],
      help: "text (default) or json",
    },
  },
  examples: [
    ["undo", "show what taking back the last turn would change"],
    ["undo --yes", "take it back"],
    ["undo --list", "turns that wrote something, the newest first"],
    ["undo 3 --session-id monday --yes", "take back turn 3 of a session"],
  ],
  run,
};

async function run({ values, positionals, io }: Invocation): Promise<number> {
  const { worktree, paths } = loadSettings(values, io, {}, { quiet: true });
  const { describeGroup, describePlan, describeSteps, openUndo } = await import("./_undo.ts");
  const undo = openUndo({ worktree, paths }), json = values.output === "json";
  const session = values["session-id"] as string | undefined;
  const say = (lines: readonly string[]) => lines.forEach((line) => io.out(`${line}\n`));
  if (values.list === true) {
    if (positionals.length > 0) throw new UsageError("undo: --list takes no turn");
    const groups = undo.groups(session);
    if (json) io.out(`${JSON.stringify(groups, null, 2)}\n`);
    else if (groups.length === 0) io.err("Nothing that tools wrote is kept for this project\n");
    else say(groups.map((group) => describeGroup(group, worktree)));
    return EXIT.ok;
  }
  const plan = await undo.plan(undo.find(positionals[0], session));
  const possible = plan.steps.some(({ problem }) => problem === null);
  if (!json) say([describeGroup(plan.group, worktree), ...describePlan(plan)]);
  const go = possible && (values.yes === true || (!json && asks(io) && confirm("Take this back?")));
  if (!go) {
    if (json) io.out(`${JSON.stringify({ turn: plan.group.id, done: false, files: plan.steps }, null, 2)}\n`);
    else io.err(possible ? "Nothing was changed; add --yes to do it\n" : "Nothing was changed\n");
    return possible && values.yes !== true ? EXIT.ok : EXIT.failed;
  }
  const steps = await undo.apply(plan);
  if (json) io.out(`${JSON.stringify({ turn: plan.group.id, done: true, files: steps }, null, 2)}\n`);
  else say(["", ...describeSteps(steps)]);
  return steps.every(({ problem }) => problem === null) ? EXIT.ok : EXIT.failed;
}

function asks({ stdinIsTerminal, stdoutIsTerminal }: Invocation["io"]): boolean {
  return stdinIsTerminal && stdoutIsTerminal;
}
