/**
 * `/help`: the commands, one command, or one tool.
 *
 * @module
 */
import { UsageError } from "../../errors.ts";
import { cleanForTerminal } from "../../text/ansi.ts";
import { nearest } from "../../text/nearest.ts";
import type { Tool } from "../../tool.ts";
import type { Repl } from "../repl/repl.ts";
import type { SlashCommand } from "./_command.ts";

/** Makes the command over the table that it is in. */
export function helpCommand(table: () => readonly SlashCommand[]): SlashCommand {
  return {
    name: "help",
    aliases: ["?", "h"],
    summary: "the commands; what a command or a tool does",
    usage: "[COMMAND | TOOL]",
    run(repl, rest) {
      const word = rest.replace(/^\//, "").toLowerCase();
      const all = [...table(), ...repl.more];
      if (word === "") return repl.print(overview(all, repl));
      const command = all.find(({ name, aliases }) => name === word || aliases?.includes(word));
      const tool = repl.host.registry.get(word);
      // `/help todo` is about the command, `/help /todo` as well; a tool of that name follows.
      if (command) repl.print(commandText(command));
      if (tool && (!command || !rest.startsWith("/"))) repl.print(toolText(tool, repl));
      if (command || tool) return;
      const near = nearest(word, [
        ...all.flatMap(({ name, aliases }) => [name, ...aliases ?? []]),
        ...repl.host.registry.list().map(({ name }) => name),
      ]);
      throw new UsageError(`there is no command or tool "${word}"${near ? `, did you mean "${near}"?` : ""}`);
    },
    complete: (repl, words) =>
      words.length > 0 ? [] : [
        ...[...table(), ...repl.more].map(({ name, summary }) => ({ text: name, hint: summary })),
        ...repl.host.registry.list().map(({ name }) => ({ text: name, hint: "tool" })),
      ],
  };
}

function overview(table: readonly SlashCommand[], { front: { style, columns } }: Repl): string {
  const label = ({ name, usage }: SlashCommand) => `/${name}${usage ? ` ${usage}` : ""}`;
  const width = Math.min(30, Math.max(...table.map((command) => label(command).length))) + 2;
  const lines = table.map((command) => {
    const left = label(command), { summary, aliases } = command;
    const also = aliases?.length ? style.dim(` (also ${aliases.map((a) => `/${a}`).join(", ")})`) : "";
    if (columns < width + 30) return `${style.bold(left)}\n  ${summary}${also}`;
    return `${style.bold(left)}${
      left.length < width ? " ".repeat(width - left.length) : `\n${" ".repeat(width)}`
    }${summary}${also}`;
  });
  return [
    ...lines,
    "",
    `${style.bold("@FILE")} attaches a file, ${
      style.bold("!COMMAND")
    } runs a command, both through the policy.`,
    `${style.bold('"""')} begins and ends a text of several lines; so does ${
      style.bold("\\")
    } at the end of each, or Alt-Enter.`,
    `${style.bold("Tab")} completes, ${style.bold("Ctrl-R")} searches what was typed, ${
      style.bold("Ctrl-C")
    } cancels, ${style.bold("Ctrl-D")} leaves.`,
  ].join("\n");
}

function commandText({ name, usage, summary, aliases, details }: SlashCommand): string {
  return [
    `/${name}${usage ? ` ${usage}` : ""}`,
    `  ${summary}`,
    ...aliases?.length ? [`  also: ${aliases.map((alias) => `/${alias}`).join(", ")}`] : [],
    ...details?.split("\n").map((line) => `  ${line}`) ?? [],
  ].join("\n");
}

/** Description, parameters, category and permission of a tool. */
export function toolText(tool: Tool, { live, front: { style } }: Repl): string {
  const standing = live.allowed(tool), required = new Set(tool.parameters.required ?? []);
  const clean = (text: string) => cleanForTerminal(text);
  const aliases = Array.isArray(tool.aliases) ? tool.aliases : Object.keys(tool.aliases ?? {});
  const lines = [
    `${style.bold(tool.name)}${tool.plugin ? style.dim(` (plugin ${clean(tool.plugin)})`) : ""}`,
    ...clean(tool.description).split("\n").map((line) => `  ${line}`),
    `  category ${tool.category}, permission ${clean(tool.permission)}: ${standing.action} (${
      clean(standing.rule)
    })`,
    ...aliases.length > 0 ? [`  also called ${clean(aliases.join(", "))}`] : [],
  ];
  for (const [name, parameter] of Object.entries(tool.parameters.properties)) {
    const type = [parameter.type ?? "any"].flat().join(" or ");
    const more = [
      type,
      ...required.has(name) ? ["required"] : [],
      ...parameter.default === undefined ? [] : [`default ${JSON.stringify(parameter.default)}`],
      ...parameter.enum ? [`one of ${parameter.enum.map(String).join(", ")}`] : [],
    ].join(", ");
    lines.push(`  ${clean(name)} ${style.dim(`(${clean(more)})`)} ${clean(parameter.description ?? "")}`);
  }
  return lines.join("\n");
}
