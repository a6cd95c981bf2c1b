/**
 * `/session`, `/sessions`, `/history`, `/print`, `/export`: what was said.
 *
 * @module
 */
import { messageOf, PolyglavError, UsageError } from "../../errors.ts";
import { cleanForTerminal } from "../../text/ansi.ts";
import { isAbsolute, join } from "../../text/path.ts";
import type { CompletionItem } from "../../ui/complete.ts";
import type { Repl } from "../repl/repl.ts";
import { splitWords } from "../repl/words.ts";
import { runCli } from "./_cli.ts";
import type { SlashCommand } from "./_command.ts";

const clean = (text: string) => cleanForTerminal(text, { line: true });
const placeOf = (repl: Repl) => ({ worktree: repl.host.worktree, stateDir: repl.host.paths.state });

/** Names of sessions, for completion. */
export async function sessionItems(repl: Repl): Promise<CompletionItem[]> {
  const { listSessions } = await import("../../session/store.ts");
  return listSessions(placeOf(repl)).filter(({ role }) => role === null).slice(0, 50)
    .map(({ name, prompt }) => ({ text: name, hint: prompt.slice(0, 60) }));
}

/** `/session`. */
export const session: SlashCommand = {
  name: "session",
  aliases: ["resume"],
  summary: "go on with another session, begin a new one, or show the one that is open",
  usage: "[NAME | new]",
  async run(repl, rest) {
    const { style } = repl.front;
    if (rest === "") {
      const open = repl.session;
      if (!open) return repl.print(style.dim("(no session yet: the next prompt begins one)"));
      const { turns, created_at, sub_sessions } = open.object();
      return repl.print(
        `${open.name} #${open.id}, ${turns.length} turn${
          turns.length === 1 ? "" : "s"
        }, begun ${created_at}` +
          (sub_sessions.length > 0 ? `, ${sub_sessions.length} sub-agents` : ""),
      );
    }
    if (rest === "new") {
      await repl.switchTo(null);
      return repl.print(style.dim("(the next prompt begins a new session)"));
    }
    const { checkSessionName } = await import("../../session/store.ts");
    await repl.switchTo(checkSessionName(rest));
    const { turns } = (await repl.opened()).object();
    repl.print(
      style.dim(
        `(session ${rest}: ${turns.length === 0 ? "new" : `${turns.length} turns; /history shows them`})`,
      ),
    );
  },
  complete: async (repl, words) =>
    words.length > 0 ? [] : [{ text: "new", hint: "begin a new one" }, ...await sessionItems(repl)],
};

/** `/sessions`. */
export const sessions: SlashCommand = {
  name: "sessions",
  summary: "the sessions of this project; show, verify, export and delete them",
  usage: "[list | show NAME | verify | delete NAME --yes]",
  run: async (repl, rest) => {
    const words = splitWords(rest), open = repl.session?.name;
    if (words[0] === "delete" && open !== undefined && words.slice(1).includes(open)) {
      throw new UsageError(`"${open}" is the session that is open here; /session new first, then delete it`);
    }
    await runCli(repl, "sessions", words.length === 0 ? ["list"] : words);
  },
  complete: async (repl, words) =>
    words.length === 0
      ? ["list", "show ", "verify ", "export ", "delete "].map((text) => ({ text }))
      : words.length === 1
      ? await sessionItems(repl)
      : [],
};

/** `/history`. */
export const history: SlashCommand = {
  name: "history",
  summary: "what was said in this session; the last N turns",
  usage: "[N]",
  async run(repl, rest) {
    if (!/^\d{0,6}$/.test(rest)) throw new UsageError(`/history takes a number of turns, got "${rest}"`);
    const object = (repl.session ?? (repl.extras.session === null ? null : await repl.opened()))?.object();
    if (!object || object.turns.length === 0) {
      return repl.print(repl.front.style.dim("(nothing was said yet)"));
    }
    const { formatSession } = await import("../_sessions_text.ts");
    const turns = rest === "" ? object.turns : object.turns.slice(-Math.max(1, Number(rest)));
    repl.print(formatSession({ ...object, turns }));
  },
};

/** `/print`. */
export const print: SlashCommand = {
  name: "print",
  summary: "the last answer again, as the model wrote it",
  run(repl) {
    const answer = repl.lastAnswer ?? lastAnswerOf(repl);
    if (answer === null) throw new PolyglavError("there is no answer yet");
    repl.print(cleanForTerminal(answer));
  },
};

function lastAnswerOf(repl: Repl): string | null {
  for (const turn of [...repl.session?.object().turns ?? []].reverse()) {
    const texts = turn.parts.flatMap((part) => part.type === "text" ? [part.text] : []);
    if (texts.length > 0) return texts.join("");
  }
  return null;
}

/** `/export`. */
export const exportCommand: SlashCommand = {
  name: "export",
  summary: "write this session into a new file: Markdown, or .json or .jsonl by its name",
  usage: "[FILE]",
  async run(repl, rest) {
    const open = repl.session;
    if (!open) throw new PolyglavError("there is no session yet");
    const [given = `${open.name}.md`, ...more] = splitWords(rest);
    if (more.length > 0) throw new UsageError("/export takes one file");
    const format = given.endsWith(".jsonl") ? "jsonl" : given.endsWith(".json") ? "json" : "markdown";
    const { exportSession } = await import("../../session/store.ts");
    const { worktree, paths } = repl.host;
    const path = given.startsWith("~/")
      ? join(paths.home, given.slice(2))
      : isAbsolute(given)
      ? given
      : join(worktree, given);
    (await import("../_output_file.ts")).checkOutput("/export", path, worktree);
    const text = await exportSession(placeOf(repl), open.name, format);
    try {
      Deno.writeTextFileSync(path, text, { createNew: true });
    } catch (error) {
      throw new PolyglavError(
        error instanceof Deno.errors.AlreadyExists
          ? `${path} exists already; name another file`
          : `cannot write ${path}: ${messageOf(error)}`,
      );
    }
    repl.print(`wrote ${clean(path)}`);
  },
};
