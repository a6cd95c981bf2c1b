/**
 * A session as Markdown.
 *
 * @module
 */
import type { Part, SessionObject, Turn } from "./turns.ts";

/** Renders a session for people: a heading for each turn, tools with input and output, then errors and the audit. */
export function sessionToMarkdown(session: SessionObject): string {
  const blocks = [`# Session ${inline(session.session_name)}`, facts(session)];
  for (const turn of session.turns) blocks.push(...turnBlocks(turn));
  if (session.errors.length > 0) {
    blocks.push("## Errors");
    blocks.push(
      session.errors.map((error) =>
        `- ${error.timestamp}: ${inline(error.message)} (${inline(String(error.code))})`
      ).join("\n"),
    );
  }
  if (session.permissions.length > 0) {
    blocks.push(
      "## Permissions",
      "| time | tool | action | decision | rule | path |\n| --- | --- | --- | --- | --- | --- |\n" +
        session.permissions.map((entry) =>
          `| ${
            [entry.timestamp, entry.tool, entry.action, entry.decision, entry.rule, entry.path ?? ""].map(
              cell,
            ).join(" | ")
          } |`
        ).join("\n"),
    );
  }
  return `${blocks.join("\n\n")}\n`;
}

function facts(session: SessionObject): string {
  const lines = [
    `- id: ${session.session_id}`,
    `- created: ${session.created_at}`,
    `- updated: ${session.updated_at}`,
  ];
  if (session.role !== null) lines.push(`- role: ${inline(session.role)}`);
  if (session.parent_id !== null) lines.push(`- parent: ${inline(session.parent_id)}`);
  if (session.sub_sessions.length > 0) {
    lines.push(`- sub-sessions: ${session.sub_sessions.map(inline).join(", ")}`);
  }
  return lines.join("\n");
}

function turnBlocks(turn: Turn): string[] {
  const used = turn.usage ? `, ${turn.usage.total_tokens.toLocaleString("en-US")} tokens` : "";
  const head = `_${inline(turn.model)} (${inline(turn.provider)}), mode ${
    inline(turn.mode)
  }, ${turn.status}, ${turn.started_at}${used}_`;
  return [`## Turn ${turn.index}`, head, ...turn.parts.map(partBlock)];
}

function partBlock(part: Part): string {
  switch (part.type) {
    case "user":
      return `**User**\n\n${fence(part.text)}`;
    case "text":
      return part.text.trim();
    case "thinking":
      return `**Thinking**\n\n${quote(part.text)}`;
    case "system":
      return `**Note**\n\n${quote(part.text)}`;
    case "command":
      return `**Command** ${inline(part.text)}\n\n${quote(part.summary)}`;
    case "tool": {
      const state = part.status ?? (part.is_error ? "error" : "ok");
      const input = fence(JSON.stringify(part.input, null, 2), "json");
      const output = part.output === "" ? "" : `\n\n${fence(part.output)}`;
      const analysis = part.analysis ? `\n\n${quote(part.analysis)}` : "";
      return `**Tool** ${inline(part.tool)} (${state})\n\n${input}${output}${analysis}`;
    }
  }
}

/** A code block whose fence is longer than any run of backticks in the text. */
function fence(text: string, language = ""): string {
  const runs = text.match(/`+/g) ?? [], longest = runs.reduce((most, run) => Math.max(most, run.length), 2);
  const marks = "`".repeat(longest + 1);
  return `${marks}${language}\n${text.endsWith("\n") ? text : `${text}\n`}${marks}`;
}

function quote(text: string): string {
  return text.trimEnd().split("\n").map((line) => `> ${line}`.trimEnd()).join("\n");
}

/** Text on one line that Markdown does not interpret. */
function inline(text: string): string {
  return text.replace(/\s+/g, " ").replace(/[\\`*_{}[\]<>#|~!]/g, "\\$&");
}

function cell(text: string): string {
  return inline(text) || " ";
}
