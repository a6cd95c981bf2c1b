/**
 * `polyglav sessions`: list, show, verify, export and delete.
 *
 * @module
 */
import { userPaths } from "../config/paths.ts";
import { EXIT, messageOf, PolyglavError, UsageError } from "../errors.ts";
import {
  deleteSession,
  type ExportFormat,
  exportSession,
  inspectSession,
  listSessions,
  type SessionCheck,
  sessionNames,
  type SessionPlace,
  verifySession,
} from "../session/store.ts";
import { cleanForTerminal, cleanJson } from "../text/ansi.ts";
import { isAbsolute, join, toSlashes } from "../text/path.ts";
import type { CliIo, Command, Invocation } from "./_command.ts";
import { checkOutput } from "./_output_file.ts";
import { formatList, formatSession } from "./_sessions_text.ts";
import { resolveWorktree } from "./_worktree.ts";

const list: Command = {
  name: "list",
  summary: "the sessions of this project, last used first",
  examples: [["sessions list", "name, time, records and first prompt of each"]],
  options: {
    output: { type: "string", value: "FORMAT", choices: ["text", "json"], help: "text (default) or json" },
  },
  run({ values, io }): number {
    const sessions = listSessions(place(values, io));
    if (values.output === "json") io.out(`${cleanJson(JSON.stringify(sessions, null, 2))}\n`);
    else if (sessions.length === 0) io.err("no sessions here yet\n");
    else io.out(formatList(sessions));
    return EXIT.ok;
  },
};

const show: Command = {
  name: "show",
  summary: "one session: turns, tool calls, errors and the audit of decisions",
  usage: "NAME | --tree [NAME]",
  details: "A session that was changed by something else is shown as far as it can be read, with a warning.",
  examples: [
    ["sessions show audit", "for reading"],
    ["sessions show audit --tree", "the session and the sub-agents below it, one a line"],
    ["sessions show audit --output json", "the session object, with turns, errors and permissions"],
  ],
  options: {
    output: { type: "string", value: "FORMAT", choices: ["text", "json"], help: "text (default) or json" },
    tree: { type: "boolean", help: "who started whom; without a name: all sessions" },
  },
  positionals: [0, 1],
  async run({ values, positionals, io }): Promise<number> {
    if (values.tree === true) {
      const { sessionTree, formatTree } = await import("./_sessions_tree.ts");
      const tree = await sessionTree(place(values, io), positionals[0] ?? null);
      io.out(values.output === "json" ? `${cleanJson(JSON.stringify(tree, null, 2))}\n` : formatTree(tree));
      return EXIT.ok;
    }
    if (positionals.length === 0) {
      throw new UsageError("sessions show: needs the name of a session, or --tree");
    }
    const { session, check } = await inspectSession(place(values, io), positionals[0]!);
    if (!check.ok && check.records === 0) throw new PolyglavError(`session ${line(check)}`);
    if (!check.ok) io.err(`warning: ${line(check)}\n`);
    io.out(
      values.output === "json" ? `${cleanJson(JSON.stringify(session, null, 2))}\n` : formatSession(session),
    );
    return EXIT.ok;
  },
};

const verify: Command = {
  name: "verify",
  summary: "check that sessions are exactly what was written",
  usage: "[NAME...]",
  details:
    "Compares each record with the hash that the next one carries, and length and end with the anchor that is\n" +
    "kept outside the project. Without a name: all sessions. Exit 1 when one of them cannot be relied on.",
  examples: [
    ["sessions verify", "all sessions of this project"],
    ["sessions verify audit", "one of them"],
  ],
  positionals: [0, 1000],
  async run({ values, positionals, io }): Promise<number> {
    const where = place(values, io), names = positionals.length > 0 ? positionals : sessionNames(where);
    if (names.length === 0) io.err("no sessions here yet\n");
    let ok = true;
    for (const name of names) {
      const check = await verifySession(where, name);
      ok &&= check.ok;
      io.out(`${check.ok ? "ok  " : "FAIL"} ${line(check)}\n`);
    }
    return ok ? EXIT.ok : EXIT.failed;
  },
};

const exportCommand: Command = {
  name: "export",
  summary: "write a session as Markdown, JSON or its log",
  usage: "NAME",
  examples: [
    ["sessions export audit --out audit.md", "Markdown into a file"],
    ["sessions export audit --format jsonl", "the log as it stands, to standard output"],
  ],
  options: {
    out: {
      type: "string",
      short: "o",
      value: "FILE",
      help: "file to write, or - for standard output (default)",
    },
    format: {
      type: "string",
      value: "FORMAT",
      choices: ["markdown", "json", "jsonl"],
      help: "markdown (default), json or jsonl",
    },
  },
  positionals: [1, 1],
  async run({ values, positionals, io }): Promise<number> {
    const where = place(values, io),
      name = positionals[0]!,
      format = (values.format ?? "markdown") as ExportFormat;
    const text = await exportSession(where, name, format);
    const check = await verifySession(where, name);
    if (!check.ok) io.err(`warning: ${line(check)}\n`);
    const out = typeof values.out === "string" ? values.out : "-";
    if (out === "-") {
      // On a terminal what others wrote must not act; in a file or pipe it stays as it is.
      io.out(io.stdoutIsTerminal ? (format === "markdown" ? cleanForTerminal(text) : cleanJson(text)) : text);
      return EXIT.ok;
    }
    const path = isAbsolute(out) ? join(out) : join(toSlashes(io.cwd), out);
    checkOutput("sessions export: --out", path, where.worktree);
    try {
      Deno.writeTextFileSync(path, text);
    } catch (error) {
      throw new PolyglavError(`cannot write ${path}: ${messageOf(error)}`, EXIT.failed, { cause: error });
    }
    io.err(`wrote ${path}\n`);
    return EXIT.ok;
  },
};

const remove: Command = {
  name: "delete",
  summary: "delete a session, copies that were kept of it, and its anchor",
  usage: "NAME",
  examples: [["sessions delete audit --yes", "for good"]],
  options: { yes: { type: "boolean", short: "y", help: "needed, as nothing brings a session back" } },
  positionals: [1, 1],
  async run({ values, positionals, io }): Promise<number> {
    const where = place(values, io), name = positionals[0]!;
    if (values.yes !== true) {
      throw new UsageError(`deleting session "${name}" cannot be undone; say --yes to do it`);
    }
    for (const path of await deleteSession(where, name)) io.err(`removed ${path}\n`);
    return EXIT.ok;
  },
};

/** The `sessions` command. */
export const command: Command = {
  name: "sessions",
  summary: "list, show, verify, export and delete sessions",
  details:
    "A session is the log of a conversation: what was asked, every call and its result, and every decision of\n" +
    "the policy. The logs are in .polyglav/sessions; what protects them from changes is kept outside the project.",
  examples: [
    ["sessions list", "what there is"],
    ["sessions show audit --output json", "one of them, for programs"],
    ["sessions verify", "nothing was changed since it was written"],
  ],
  subcommands: [list, show, verify, exportCommand, remove],
};

function place(values: Invocation["values"], io: CliIo): SessionPlace {
  return { worktree: resolveWorktree(values, io), stateDir: userPaths(io.env).state };
}

function line(check: SessionCheck): string {
  return cleanForTerminal(`${check.name}: ${check.message}`, { line: true });
}
