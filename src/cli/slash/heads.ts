/**
 * `/focus`, `/asks`, `/unattended`: whom the person talks to, and who asks whom.
 *
 * @module
 */
import { UsageError } from "../../errors.ts";
import { cleanForTerminal } from "../../text/ansi.ts";
import { splitWords } from "../repl/words.ts";
import { runCli } from "./_cli.ts";
import type { SlashCommand } from "./_command.ts";

const clean = (text: string) => cleanForTerminal(text, { line: true });

/** `/focus`. */
export const focus: SlashCommand = {
  name: "focus",
  aliases: ["runs"],
  summary: "talk to a sub-agent, or to the root again; shows the runs",
  usage: "[root | N]",
  async run(repl, rest) {
    const { style } = repl.front, here = repl.focus;
    if (rest === "") {
      if (repl.runs.length === 0) return repl.print(style.dim("(no runs yet)"));
      return repl.print(
        repl.runs.map((run) => {
          let depth = 0;
          for (let above = run.parent; above; above = above.parent) depth++;
          const at = here === null ? run.parent === null : run === here;
          return `${at ? "*" : " "} ${"  ".repeat(depth)}#${run.id} ${
            clean(run.role ?? "root")
          }  ${run.status}  ${style.dim(clean(run.task.split("\n", 1)[0]!.slice(0, 60)))}`;
        }).join("\n"),
      );
    }
    const { runs } = await repl.shared(), from = here ?? runs.list()[0]!;
    const run = runs.resolve(from, rest);
    await repl.focusOn(run.parent === null ? null : run);
    repl.print(style.dim(`(you talk to #${run.id} ${clean(run.role ?? "root")} now)`));
  },
  complete: (repl, words) =>
    words.length > 0 ? [] : repl.runs.map((run) => ({
      text: run.parent === null ? "root" : String(run.id),
      hint: run.role ?? "root",
    })),
};

/** `/asks`. */
export const asks: SlashCommand = {
  name: "asks",
  summary: "questions that were parked; answer one",
  usage: "[N | N ANSWER | list --all]",
  details: "The answer reaches the agent with your next prompt, in the session that asked.",
  async run(repl, rest) {
    const [, id = "", answer = ""] = /^#?(\d+)\s*([\s\S]*)$/.exec(rest) ?? [];
    const words = id === ""
      ? splitWords(rest)
      : answer === ""
      ? ["show", id]
      : ["answer", "--path", repl.host.worktree, "--", id, answer];
    await runCli(repl, "asks", words.length === 0 ? ["list"] : words);
  },
};

/** `/unattended`. */
export const unattended: SlashCommand = {
  name: "unattended",
  summary: "park the agents' questions instead of showing them, or show them again",
  usage: "[on | off]",
  run(repl, rest) {
    if (rest !== "" && rest !== "on" && rest !== "off") {
      throw new UsageError(`/unattended is on or off, got "${rest}"`);
    }
    repl.unattended = rest === "" ? !repl.unattended : rest === "on";
    repl.print(
      repl.front.style.dim(
        repl.unattended
          ? "(questions are parked; calls that need a yes are still asked about; /asks shows what waits)"
          : "(questions are shown)",
      ),
    );
  },
  complete: (_repl, words) => words.length > 0 ? [] : [{ text: "on" }, { text: "off" }],
};
