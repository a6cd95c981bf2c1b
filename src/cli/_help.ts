/**
 * Help texts, made from the commands' declarations.
 *
 * @module
 */
import { GLOBAL_OPTIONS } from "./_args.ts";
import type { Command, OptionSpec } from "./_command.ts";

/** The exit codes, for help. */
export const EXIT_CODES = `Exit codes:
  0    done
  1    the turn or the tool failed, a denied "tool" call included
  2    usage or configuration
  3    with --strict: the turn ended well, but a call was denied
  4    replay drift
  130  cancelled`;

/** Help of the whole program. */
export function programHelp(
  version: string,
  commands: readonly { readonly name: string; readonly summary: string }[],
): string {
  return `polyglav ${version}: a terminal AI agent whose every decision is enforced twice

Usage: polyglav COMMAND [OPTIONS]

Commands:
${columns(commands.map((c) => [c.name, c.summary]))}

Options:
${
    columns([["-h, --help", "show help; after a command: that command's"], [
      "-V, --version",
      "show the version",
    ]])
  }

Examples:
${
    columns([
      ['polyglav run -p "explain main.ts"', "one headless turn in this folder"],
      [`polyglav tool grep '{"pattern": "TODO"}'`, "run one tool through the same policy"],
      ["polyglav policy", "what each tool may do here"],
    ])
  }

${EXIT_CODES}
`;
}

/** Help of one command. */
export function commandHelp(names: readonly string[], command: Command): string {
  const name = names.join(" ");
  const parts = [command.summary, "", `Usage: polyglav ${name} ${usageOf(command)}`.trimEnd()];
  if (command.details) parts.push("", command.details);
  if (command.subcommands) {
    parts.push(
      "",
      "Commands:",
      columns(command.subcommands.map((c) => [`${c.name} ${c.usage ?? ""}`.trim(), c.summary])),
    );
  }
  const options = { ...command.options, ...GLOBAL_OPTIONS };
  parts.push(
    "",
    "Options:",
    columns(Object.entries(options).map(([key, spec]) => [optionLabel(key, spec), optionText(spec)])),
  );
  if (command.examples.length > 0) {
    parts.push("", "Examples:", columns(command.examples.map(([line, what]) => [`polyglav ${line}`, what])));
  }
  parts.push("", EXIT_CODES, "");
  return parts.join("\n");
}

function usageOf(command: Command): string {
  const below = !command.subcommands ? "" : command.run ? "[COMMAND]" : "COMMAND";
  return [below, command.usage ?? "", "[OPTIONS]"].filter(Boolean).join(" ");
}

function optionLabel(name: string, spec: OptionSpec): string {
  const value = spec.type === "boolean" ? "" : ` ${spec.value ?? "VALUE"}`;
  return `${spec.short ? `-${spec.short}, ` : ""}--${name}${value}`;
}

function optionText(spec: OptionSpec): string {
  return spec.choices ? `${spec.help} (${spec.choices.join(", ")})` : spec.help;
}

function columns(rows: readonly (readonly [string, string])[]): string {
  const width = Math.min(44, Math.max(...rows.map(([left]) => left.length)) + 2);
  return rows.map(([left, right]) =>
    left.length < width ? `  ${left.padEnd(width)}${right}` : `  ${left}\n  ${" ".repeat(width)}${right}`
  ).join("\n");
}
