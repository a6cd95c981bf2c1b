/**
 * The table of commands: what the program's help, its dispatch, the completion scripts and the prompt know of them.
 *
 * @module
 */
import type { Command } from "./_command.ts";

/** A command as the list has it. */
export interface CommandEntry {
  readonly name: string;
  /** What the list says of it. */
  readonly summary: string;
  /** Loads its declaration. */
  readonly load: () => Promise<{ command: Command }>;
}

/** Every command, in the order of the list. */
export const COMMANDS: readonly CommandEntry[] = [
  {
    name: "repl",
    summary: "the prompt, as without a command on a terminal",
    load: () => import("./repl.ts"),
  },
  {
    name: "run",
    summary: "one headless turn: a model plans, tools act, the policy decides",
    load: () => import("./run.ts"),
  },
  {
    name: "tool",
    summary: "run one tool through the policy, or list the tools",
    load: () => import("./tool.ts"),
  },
  { name: "policy", summary: "what each tool may do here, and why", load: () => import("./policy.ts") },
  {
    name: "sessions",
    summary: "list, show, verify, export and delete sessions",
    load: () => import("./sessions.ts"),
  },
  { name: "undo", summary: "take back what tools wrote in a turn", load: () => import("./undo.ts") },
  {
    name: "config",
    summary: "list, get, set and unset configuration; its schema",
    load: () => import("./config.ts"),
  },
  {
    name: "roles",
    summary: "the roles that sub-agents work under",
    load: () => import("./roles.ts"),
  },
  { name: "teams", summary: "the teams: chains of roles", load: () => import("./teams.ts") },
  { name: "skills", summary: "the skills: texts that roles are given", load: () => import("./skills.ts") },
  {
    name: "asks",
    summary: "questions of unattended runs: list, show, answer",
    load: () => import("./asks.ts"),
  },
  {
    name: "plugins",
    summary: "list, install, enable and test plugins",
    load: () => import("./plugins.ts"),
  },
  { name: "trust", summary: "let this project's configuration count", load: () => import("./trust.ts") },
  {
    name: "doctor",
    summary: "check which rings of the sandbox are active",
    load: () => import("./doctor.ts"),
  },
  {
    name: "completions",
    summary: "the script by which a shell completes all this",
    load: () => import("./completions.ts"),
  },
];
