/**
 * `polyglav completions`: what shells need to complete the program's commands and options.
 *
 * @module
 */
import { UsageError } from "../errors.ts";
import { nearest } from "../text/nearest.ts";
import type { Command, Invocation } from "./_command.ts";
import { levelsOf } from "./_completions/tree.ts";

/** The shells that there are scripts for. */
const SHELLS = ["bash", "zsh", "fish", "powershell"] as const;

/** The command. */
export const command: Command = {
  name: "completions",
  summary: "Prints a script that makes a shell complete commands, options and names of tools.",
  usage: SHELLS.join("|"),
  details: `bash:        eval "$(polyglav completions bash)" in ~/.bashrc
zsh:         source <(polyglav completions zsh) in ~/.zshrc, after compinit
fish:        polyglav completions fish > ~/.config/fish/completions/polyglav.fish
powershell:  polyglav completions powershell | Out-String | Invoke-Expression in $PROFILE`,
  positionals: [1, 1],
  examples: [
    [
      "completions bash > ~/.local/share/bash-completion/completions/polyglav",
      "for bash, loaded when needed",
    ],
    ["completions fish > ~/.config/fish/completions/polyglav.fish", "for fish"],
  ],
  run: print,
};

async function print({ positionals: [shell = ""], io }: Invocation): Promise<number> {
  const script = await completionScript(shell);
  if (script === null) {
    const near = nearest(shell, SHELLS);
    throw new UsageError(
      `completions: no script for "${shell}"; ${
        near ? `did you mean ${near}?` : `there is ${SHELLS.join(", ")}`
      }`,
    );
  }
  io.out(script);
  return 0;
}

/** The script of a shell, from the table of commands; null for a shell that has none. */
export async function completionScript(shell: string): Promise<string | null> {
  if (!(SHELLS as readonly string[]).includes(shell)) return null;
  const [{ COMMANDS }, { groups }, { SCHEMA }] = await Promise.all([
    import("./_table.ts"),
    import("../../tools/mod.ts"),
    import("../config/schema.ts"),
  ]);
  const commands = await Promise.all(COMMANDS.map(async ({ summary, load }) => ({
    summary,
    command: (await load()).command,
  })));
  const tools = Object.values(groups).flat().map(({ name }) => name).sort();
  const keys = SCHEMA.map(({ key }) => key).filter((key) => !key.includes("*"));
  const levels = levelsOf(commands, {
    completions: SHELLS,
    tool: tools,
    "policy explain": tools,
    "config get": keys,
    "config set": keys,
    "config unset": keys,
  });
  switch (shell) {
    case "bash":
      return (await import("./_completions/bash.ts")).bashScript(levels);
    case "zsh":
      return (await import("./_completions/zsh.ts")).zshScript(levels);
    case "fish":
      return (await import("./_completions/fish.ts")).fishScript(levels);
    default:
      return (await import("./_completions/powershell.ts")).powershellScript(levels);
  }
}
