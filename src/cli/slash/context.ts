/**
 * `/compact` and `/context`: what the model is sent.
 *
 * @module
 */
import { PolyglavError } from "../../errors.ts";
import { cleanForTerminal } from "../../text/ansi.ts";
import type { SlashCommand } from "./_command.ts";

const number = (value: number) => value.toLocaleString("en-US");

/** `/context`. */
export const context: SlashCommand = {
  name: "context",
  summary: "how full the model's window is, and of what",
  async run(repl) {
    const { tokens, window, parts } = await repl.context(), { style } = repl.front;
    const share = window > 0 ? ` of ${number(window)} (${Math.round(tokens * 100 / window)}%)` : "";
    const widest = Math.max(...parts.map(({ name }) => name.length));
    repl.print([
      `about ${number(tokens)} tokens${share}`,
      ...parts.map((part) => `  ${part.name.padEnd(widest)}  ${number(part.tokens).padStart(9)}`),
      ...window > 0 ? [] : [style.dim("(context_window is not set, so nothing is compacted by itself)")],
    ].join("\n"));
  },
};

/** `/compact`. */
export const compact: SlashCommand = {
  name: "compact",
  summary: "replace what the model knows of the conversation by a summary; the session keeps everything",
  async run(repl) {
    const before = (await repl.context()).tokens, summary = await repl.compact();
    if (summary === "") throw new PolyglavError("no summary came, so everything stays as it was");
    const after = (await repl.context()).tokens, { style } = repl.front;
    repl.print(style.dim(cleanForTerminal(summary)));
    repl.print(style.dim(`(compacted: about ${number(before)} tokens before, ${number(after)} now)`));
  },
};
