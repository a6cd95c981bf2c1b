/**
 * `/undo` and `/diff`: what tools wrote, and taking it back.
 *
 * @module
 */
import { UsageError } from "../../errors.ts";
import { cleanForTerminal } from "../../text/ansi.ts";
import { formatChanged } from "../../ui/activity.ts";
import type { Style } from "../../ui/style.ts";
import type { Repl } from "../repl/repl.ts";
import type { SlashCommand } from "./_command.ts";
import { showCall } from "./tools.ts";

async function open(repl: Repl) {
  const texts = await import("../_undo.ts");
  return { undo: texts.openUndo(repl.host), texts, session: repl.talksTo };
}

/** `/undo`. */
export const undo: SlashCommand = {
  name: "undo",
  summary: "take back what tools wrote in the last turn, or in another one",
  usage: "[TURN | list]",
  details:
    "Shows what would happen and asks. Exactly the files that tools wrote get their old text; those that changed since\n" +
    "are left alone, as is everything that commands did.",
  async run(repl, rest) {
    const { undo, texts, session } = await open(repl), { style } = repl.front;
    if (rest === "list") {
      const groups = undo.groups(session);
      return repl.print(
        groups.length === 0
          ? style.dim("(nothing that tools wrote is kept)")
          : groups.map((group) => texts.describeGroup(group, repl.host.worktree)).join("\n"),
      );
    }
    if (/\s/.test(rest)) throw new UsageError("/undo takes a number of a turn, or list");
    const plan = await undo.plan(undo.find(rest === "" ? undefined : rest, session));
    repl.print(texts.describeGroup(plan.group, repl.host.worktree));
    repl.print(painted(texts.describePlan(plan), style).join("\n"));
    if (!plan.steps.some(({ problem, kind }) => problem === null && kind !== "none")) {
      return repl.print(style.dim("(there is nothing to take back)"));
    }
    const answer = await repl.front.ask({ question: "Take this back?", options: ["yes", "no"] });
    if (!/^y(es)?$/i.test(answer?.trim() ?? "")) return repl.print(style.dim("(nothing was changed)"));
    const steps = await undo.apply(plan), lines = texts.describeSteps(steps);
    repl.print(lines.join("\n"));
    repl.note(
      `[the user took back what was written in ${
        plan.group.turn === null ? "a call" : `turn ${plan.group.turn}`
      }]\n${lines.join("\n")}`,
    );
  },
  complete: async (repl, words) => {
    if (words.length > 0) return [];
    const { undo, texts, session } = await open(repl);
    const turns = undo.groups(session).filter(({ turn }) => turn !== null);
    return [
      { text: "list", hint: "the turns that wrote something" },
      ...turns.map((group) => ({
        text: String(group.turn),
        hint: texts.describeGroup(group, repl.host.worktree),
      })),
    ];
  },
};

/** `/diff`. */
export const diff: SlashCommand = {
  name: "diff",
  summary: "what tools changed in this session, or in one turn; what git sees as changed",
  usage: "[TURN | git]",
  details:
    "Files that changed again after the turn are named, without a diff. Tracked files that commands changed are named.\n" +
    "/diff git is git diff of the project.",
  async run(repl, rest) {
    if (rest === "git") return await showCall(repl, "git", { operation: "diff" });
    const { undo, session } = await open(repl), { style } = repl.front;
    if (rest !== "" && !/^\d{1,9}$/.test(rest)) {
      throw new UsageError(`/diff takes a number of a turn, or git`);
    }
    const groups = undo.groups(session).filter((group) => rest === "" || String(group.turn) === rest)
      .reverse();
    const told = await commandChanges(repl, rest === "" ? undefined : Number(rest));
    if (groups.length === 0) {
      if (told) return;
      return repl.print(
        style.dim(`(tools wrote nothing${rest === "" ? " in this session" : ` in turn ${rest}`})`),
      );
    }
    for (const group of groups) {
      repl.print(style.bold(group.turn === null ? "your own call" : `turn ${group.turn}`));
      for (const step of (await undo.plan(group)).steps) {
        const state = step.problem !== null
          ? `  (${step.problem})`
          : step.kind === "none"
          ? "  (as before)"
          : step.kind === "remove"
          ? "  (new)"
          : step.kind === "create"
          ? "  (removed since)"
          : "";
        const lines = step.problem === null ? inverted(step.diff).map((line) => `  ${line}`) : [];
        repl.print(
          [
            cleanForTerminal(step.shown + state, { line: true }),
            ...painted(lines.map((l) => cleanForTerminal(l)), style),
          ].join("\n"),
        );
      }
    }
  },
};

/** Tracked files that commands changed in the session or in one turn, or why that is not known. @returns whether there are some */
async function commandChanges(repl: Repl, turn?: number): Promise<boolean> {
  const changes = await repl.changes(), { style } = repl.front, list = changes.list(turn);
  if (list.length > 0) {
    const where = turn === undefined ? "since this session was opened" : `in turn ${turn}`;
    repl.print([`commands changed ${where}:`, ...formatChanged(list, style)].join("\n"));
  } else if (changes.skipped !== null) {
    repl.print(style.dim(`(what commands change is not watched: ${changes.skipped})`));
  }
  return list.length > 0;
}

/** Lines of a diff that are indented by two, in colours. */
function painted(lines: readonly string[], style: Style): string[] {
  return lines.map((line) =>
    line.startsWith("  +")
      ? style.green(line)
      : line.startsWith("  -")
      ? style.red(line)
      : line.startsWith("  @@")
      ? style.cyan(line)
      : line
  );
}

/** The lines of a unified diff, the other way round. */
export function inverted(diff: string): string[] {
  const out: string[] = [];
  let removed: string[] = [], added: string[] = [];
  const flush = () => {
    out.push(...removed, ...added);
    [removed, added] = [[], []];
  };
  for (const line of diff === "" ? [] : diff.replace(/\n$/, "").split("\n")) {
    const hunk = /^@@ -(\S+) \+(\S+) @@(.*)$/.exec(line);
    if (line.startsWith("+")) removed.push(`-${line.slice(1)}`);
    else if (line.startsWith("-")) added.push(`+${line.slice(1)}`);
    else {
      flush();
      out.push(hunk ? `@@ -${hunk[2]} +${hunk[1]} @@${hunk[3]}` : line);
    }
  }
  flush();
  return out;
}
