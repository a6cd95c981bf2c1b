/**
 * The property that the allowlist stands for: whatever the text, the executor starts nothing that is not listed. Checked
 * with the real checker and the real executor over a recording host.
 *
 * @module
 */
import { ToolError } from "../../src/errors.ts";
import { checkCommand, planAllowed } from "../../src/policy/shell_command.ts";
import { TreeRun } from "../../src/sandbox/_shell_run.ts";
import { commandLine, HOSTILE, PLAIN, random } from "./_shell_grammar.ts";
import { recordingHost } from "./_shell_recorder.ts";

/** The list. */
export const LIST: readonly string[] = [
  "rec",
  "ok",
  "no",
  "two",
  "echo",
  "printf",
  "git log",
  "find .",
  "sort",
  "xargs",
  "env",
];

/** Files whose names would do harm as options or as code. */
const NAMES = [
  "a.txt",
  "b.txt",
  "c1",
  "d/",
  "-exec",
  "--output=x",
  "-o",
  "evil",
  "e",
  "s&e&",
  "$(evil)",
  "`evil`",
  "; evil",
  "a\nevil",
  ".hid",
  "|evil",
  "[a",
  "sp ace",
  "--",
  "+x",
  "é",
];

/** What was tried, and the starts that should not have been. */
export interface Outcome {
  readonly tried: number;
  /** Lines that were let through. */
  readonly ran: number;
  /** Programs that were started. */
  readonly started: number;
  readonly violations: string[];
}

/** Why a start breaks the promise, or null. Written without the checker's help, on purpose. */
function violation(argv: readonly string[]): string | null {
  const [name, first] = argv;
  if (!["rec", "ok", "no", "two", "git", "find", "sort", "xargs", "env"].includes(name ?? "")) {
    return "not listed";
  }
  if (name === "git" && first !== "log") return "git without log";
  if (name === "find" && first !== ".") return "find without .";
  if (name === "git" && argv.some((word) => /^--ou?t?p?u?t?(=|$)/.test(word))) return "git writes";
  if (
    name === "find" &&
    argv.some((word) => /^-(exec|execdir|ok|okdir|delete|fprint0?|fprintf|fls)$/.test(word))
  ) return "find acts";
  const end = argv.indexOf("--");
  if (
    name === "sort" &&
    argv.slice(0, end < 0 ? undefined : end).some((word) =>
      /^-[^-]*o|^--o/.test(word) && !/^-[^o]*[ktS]/.test(word)
    )
  ) return "sort writes";
  if (name === "xargs" || name === "env") {
    const valued = name === "xargs" ? /^-[nIPLEdsa]$/ : /^-[uC]$/;
    if (argv.some((word, i) => i > 0 && !word.startsWith("-") && !valued.test(argv[i - 1]!))) {
      return "starts a program";
    }
  }
  return null;
}

/** Tries random lines; every other one is hostile. */
export async function property(count: number, seed: number): Promise<Outcome> {
  const next = random(seed), worktree = "/w", violations: string[] = [];
  let ran = 0, started = 0;
  for (let i = 0; i < count; i++) {
    const command = commandLine(next() < 0.5 ? HOSTILE : PLAIN, next);
    const plan = checkCommand(command, {
      prefixes: LIST,
      worktree,
      cwd: worktree,
      env: { V: "v w", W: "*", E: "", S: " -exec evil ", HOME: "/w/home", PATH: "/bin" },
      shell: "/bin/sh",
      home: "/w/home",
    });
    // What an open policy would do with a plan that was not let through: the executor has its own look at it.
    if (!planAllowed(plan)) {
      if (plan.tree && plan.refused) {
        violations.push(`a tree in spite of a refusal: ${JSON.stringify(command)}`);
      }
      continue;
    }
    ran++;
    const host = recordingHost(worktree, NAMES, () => Math.floor(next() * 2));
    const run = new TreeRun(host, {}, { logical: worktree, physical: worktree, previous: null, status: 0 });
    try {
      await run.run(plan.tree!);
      await Promise.all(run.jobs.map((job) => job.done));
    } catch (error) {
      if (!(error instanceof ToolError)) {
        throw new Error(`${JSON.stringify(command)}: ${error}`, { cause: error });
      }
    }
    started += host.started.length;
    for (const argv of host.started) {
      const why = violation(argv);
      if (why !== null) violations.push(`${why}: ${JSON.stringify(argv)} by ${JSON.stringify(command)}`);
    }
  }
  return { tried: count, ran, started, violations };
}
