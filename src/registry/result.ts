/**
 * Results: what a handler returned becomes text for the model, capped once and for every tool.
 *
 * @module
 */
import type { ToolDetails, ToolOutput, ToolResult } from "../tool.ts";

/** The line that ends a result which was cut. */
export const TRUNCATED = "... (truncated)";

/** Separates what goes to the model from what goes to the person. JSON values become compact JSON text. */
export function splitOutput(
  output: ToolOutput | undefined,
): { content: string; details: ToolDetails | null } {
  if (typeof output === "string") return { content: output.toWellFormed(), details: null };
  if (output === undefined || output === null) return { content: "", details: null };
  if (isToolResult(output)) {
    return { content: output.content.toWellFormed(), details: output.details ?? null };
  }
  return { content: JSON.stringify(output).toWellFormed(), details: null };
}

/** Whether a result keeps apart what the model and the person see. */
export function isToolResult(output: ToolOutput): output is ToolResult {
  return typeof output === "object" && output !== null && !Array.isArray(output) &&
    (output as ToolResult).kind === "tool_result" && typeof (output as ToolResult).content === "string";
}

/** Whether a result is a failure: its first line begins `Error: ` (or `Error <doing something>: `). */
export function isErrorText(content: string): boolean {
  return /^Error(: | (reading|writing|listing|running|fetching|executing) [^\n]*: )/.test(content);
}

/**
 * Cuts a result that is longer than `max` characters (UTF-16 units; 0 = no limit) at a line boundary, at its end or
 * in its middle, and says so.
 */
export function capResult(content: string, max: number, where: "end" | "middle" = "end"): string {
  if (max <= 0 || content.length <= max) return content;
  return where === "end" ? `${cutEnd(content, max)}\n${TRUNCATED}` : cutMiddle(content, max);
}

function cutEnd(text: string, max: number): string {
  const line = text.lastIndexOf("\n", max);
  // One line longer than the cap is cut inside, so that something useful is left.
  if (line >= max / 2) return text.slice(0, line);
  return text.slice(0, max).replace(/[\uD800-\uDBFF]$/, "");
}

function cutStart(text: string, max: number): string {
  const from = text.length - max, line = text.indexOf("\n", from);
  if (line !== -1 && line - from <= max / 2) return text.slice(line + 1);
  return text.slice(from).replace(/^[\uDC00-\uDFFF]/, "");
}

function cutMiddle(text: string, max: number): string {
  const head = cutEnd(text, Math.ceil(max / 2)), tail = cutStart(text, Math.floor(max / 2));
  const middle = text.slice(head.length, text.length - tail.length);
  const lines = middle.split("\n").length - 1;
  return `${head}\n${TRUNCATED} ${
    lines > 1 ? `${lines - 1} lines, ` : ""
  }${middle.length} characters left out\n${tail}`;
}
