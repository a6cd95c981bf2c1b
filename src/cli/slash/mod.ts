/**
 * The slash commands: one table, from which dispatch, `/help`, suggestions and completion are made.
 *
 * @module
 */
import { UsageError } from "../../errors.ts";
import { nearest } from "../../text/nearest.ts";
import type { Repl } from "../repl/repl.ts";
import type { SlashCommand } from "./_command.ts";
import { roles, skills, teams } from "./catalog.ts";
import { connect } from "./connect.ts";
import { compact, context } from "./context.ts";
import { asks, focus, unattended } from "./heads.ts";
import { helpCommand } from "./help.ts";
import { mode, model, models, provider } from "./mode.ts";
import { config, doctor, exit, plugins, policy, trust, version } from "./program.ts";
import { exportCommand, history, print, session, sessions } from "./sessions.ts";
import { todo, tool } from "./tools.ts";
import { diff, undo } from "./undo.ts";

export type { SlashCommand } from "./_command.ts";

/** Every slash command, in the order of `/help`. */
export const SLASH_COMMANDS: readonly SlashCommand[] = [
  helpCommand(() => SLASH_COMMANDS),
  tool,
  mode,
  model,
  models,
  provider,
  connect,
  config,
  compact,
  context,
  session,
  sessions,
  history,
  print,
  exportCommand,
  undo,
  diff,
  todo,
  roles,
  teams,
  skills,
  focus,
  asks,
  unattended,
  plugins,
  policy,
  trust,
  doctor,
  version,
  exit,
];

/** Whether a line is meant as a slash command: `/word`, and no path such as `/usr/bin`. */
export function isSlash(line: string): boolean {
  return /^\/[A-Za-z?][\w-]*(?:\s|$)/.test(line);
}

/** The command of a name or alias among the built-in ones and those that plugins bring; null: there is none. */
export function slashCommand(name: string, more: readonly SlashCommand[] = []): SlashCommand | null {
  const all = [...SLASH_COMMANDS, ...more];
  return all.find((command) => command.name === name) ??
    all.find((command) => command.aliases?.includes(name)) ?? null;
}

/**
 * Runs a line for which {@link isSlash} holds.
 *
 * @param more commands that plugins bring
 * @throws {UsageError} for an unknown command: names the nearest; what the command throws
 */
export async function runSlash(repl: Repl, line: string, more: readonly SlashCommand[] = []): Promise<void> {
  const [, name = "", rest = ""] = /^\/(\S+)\s*([\s\S]*)$/.exec(line)!;
  const command = slashCommand(name.toLowerCase(), more);
  if (!command) {
    const all = [...SLASH_COMMANDS, ...more].flatMap((each) => [each.name, ...each.aliases ?? []]);
    const near = nearest(name.toLowerCase(), all);
    throw new UsageError(
      `there is no command /${name}${near ? `, did you mean /${near}?` : ""} (/help lists them)`,
    );
  }
  // What a command cannot take is said, not dropped.
  if (command.usage === undefined && rest.trim() !== "") {
    throw new UsageError(`/${command.name} takes nothing behind it, got "${rest.trim().slice(0, 100)}"`);
  }
  await command.run(repl, rest.trim());
}
