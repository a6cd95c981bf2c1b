/**
 * Activity lines: one line for each tool call, what its result says beside it, and the same label in a question.
 *
 * Source: "Status and activity lines" of the tools specification.
 *
 * @module
 */
import type { Settings } from "../config/settings.ts";
import { cleanForTerminal } from "../text/ansi.ts";
import type { Category, Tool, ToolDetails } from "../tool.ts";
import type { Style } from "./style.ts";

/** Which lines are shown, and how. */
export type ActivitySettings = Pick<Settings, "glyph_lines" | "glyph_params" | "show_errors" | "show_notes">;

const defaults: { readonly [C in Category]?: readonly [glyph: string, verb: string] } = {
  read: ["←", "Read"],
  write: ["→", "Write"],
  search: ["%", "Search"],
  exec: ["$", "Run"],
  ask: ["~", "Ask"],
  todo: ["-", "Todo"],
  delegate: ["↳", "Call"],
};

const labelLength = 80;
const valueLength = 60;
const diffLines = 40;
/** Files that one line names. */
const changedFiles = 8;
const echoHead = 20;
const echoTail = 40;

type Arguments = Readonly<Record<string, unknown>>;

/**
 * The line for a call: `← Read engine.py [offset=299, limit=85]`; without a glyph, or with `glyph_lines` off,
 * `[file_read: engine.py]`. One line, safe for a terminal, without colours.
 *
 * @param tool the tool, or the name of one that does not exist
 * @param args arguments after cleaning; those that equal the schema's default are not shown
 */
export function formatActivity(tool: Tool | string, args: Arguments, settings: ActivitySettings): string {
  if (typeof tool === "string") return `[${oneLine(tool, labelLength)}]`;
  const label = labelOf(tool, args);
  const [glyph, verb] = [
    tool.glyph ?? defaults[tool.category]?.[0],
    tool.verb ?? defaults[tool.category]?.[1],
  ];
  if (!settings.glyph_lines || glyph === undefined || verb === undefined) {
    return label.raw === null ? `[${tool.name}]` : `[${tool.name}: ${label.text}]`;
  }
  return `${clean(glyph)} ${clean(verb)} ${label.text}${
    settings.glyph_params ? paramsOf(tool, args, label.raw) : ""
  }`;
}

/** The detail lines of a call: all of the tool's status but its first line. Safe for a terminal, without colours. */
export function formatDetails(tool: Tool, args: Arguments): string[] {
  const status = statusOf(tool, args);
  if (status === null) return [];
  const lines = cleanForTerminal(status).split("\n").slice(1);
  while (lines.at(-1)?.trim() === "") lines.pop();
  return lines;
}

/** The question before a call that needs a yes. */
export function formatConfirm(tool: Tool, args: Arguments, settings: ActivitySettings): string {
  const value = tool.keyArg === undefined ? undefined : args[tool.keyArg];
  const key = value === undefined || value === null || value === "" ? null : textOf(value);
  const label = key === null ? "" : ` ${oneLine(key, labelLength)}`;
  return `? ${tool.name}${label}${settings.glyph_params ? paramsOf(tool, args, key) : ""} - approve? [Y/n] `;
}

/** What is known of a call that ended. */
export interface CallOutcome {
  readonly tool: Tool | null;
  readonly content: string;
  readonly isError: boolean;
  readonly isNote: boolean;
  readonly details: ToolDetails | null;
}

/**
 * What is shown below the activity line when a call ended: the first line of an error, a note, the diff of a write, or
 * the result of a tool that echoes (red when it failed).
 */
export function formatOutcome(outcome: CallOutcome, settings: ActivitySettings, style: Style): string[] {
  const { tool, content, isError, isNote, details } = outcome;
  const failed = details?.failed === true || predicate(tool, content);
  if (isError && !(tool?.echo && failed && !content.startsWith("Error"))) {
    const lines = settings.show_errors ? [style.dim(`! ${oneLine(firstLine(content), 500)}`)] : [];
    return [...lines, ...formatChanged(details?.changed ?? [], style)];
  }
  if (isNote) return settings.show_notes ? [style.dim(oneLine(lastLine(content), 500))] : [];
  if (tool?.echo) {
    const paint = failed ? style.red : style.dim;
    const lines = shorten(cleanForTerminal(content).trimEnd().split("\n")).map(paint);
    return [...lines, ...formatChanged(details?.changed ?? [], style)];
  }
  const diff = details?.diff === undefined ? [] : formatDiff(details.diff, style);
  return [...diff, ...formatChanged(details?.changed ?? [], style)];
}

/** Files that a command changed, named on one line: `± src/a.ts, b.txt (removed)`. */
export function formatChanged(changed: NonNullable<ToolDetails["changed"]>, style: Style): string[] {
  if (changed.length === 0) return [];
  const names = changed.slice(0, changedFiles).map(({ path, kind }) =>
    `${oneLine(path, 100)}${kind === "changed" ? "" : ` (${kind})`}`
  );
  const more = changed.length > changedFiles ? ` and ${changed.length - changedFiles} more` : "";
  return [style.dim(`± ${names.join(", ")}${more}`)];
}

/** A unified diff's body in colours, at most 40 lines. */
export function formatDiff(diff: string, style: Style): string[] {
  const lines = cleanForTerminal(diff).trimEnd().split("\n"), shown = lines.slice(0, diffLines);
  const out = shown.map((line) =>
    line.startsWith("+")
      ? style.green(line)
      : line.startsWith("-")
      ? style.red(line)
      : line.startsWith("@@")
      ? style.cyan(line)
      : style.dim(line)
  );
  if (lines.length > shown.length) out.push(style.dim(`… (${lines.length - shown.length} more diff lines)`));
  return out;
}

/** What happened in a turn: `(2.1s, 29,238 tokens)`. */
export function formatFooter(seconds: number, tokens: number | null): string {
  const used = tokens === null ? "" : `, ${tokens.toLocaleString("en-US")} tokens`;
  return `(${seconds.toFixed(1)}s${used})`;
}

/** The label as shown, and the text it came from: null where it is only the tool's name. */
function labelOf(tool: Tool, args: Arguments): { readonly text: string; readonly raw: string | null } {
  const status = firstLine(statusOf(tool, args) ?? "").trim();
  if (status !== "") return { text: oneLine(status, labelLength), raw: status };
  const value = tool.keyArg === undefined ? undefined : args[tool.keyArg];
  const key = value === undefined || value === null ? "" : textOf(value);
  if (key.trim() === "") return { text: tool.name, raw: null };
  return { text: oneLine(key, labelLength), raw: key };
}

function paramsOf(tool: Tool, args: Arguments, label: string | null): string {
  const shown: string[] = [];
  for (const [name, parameter] of Object.entries(tool.parameters.properties)) {
    const value = args[name];
    if (name === tool.keyArg || value === undefined || value === null) continue;
    const text = textOf(value);
    if (text === label || (parameter.default !== undefined && text === textOf(parameter.default))) continue;
    const length = [...text].length, long = length > valueLength || /[\n\r]/.test(text);
    shown.push(`${clean(name)}=${long ? `<${length} chars>` : clean(text)}`);
  }
  return shown.length === 0 ? "" : ` [${shown.join(", ")}]`;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value) ?? String(value);
}

function statusOf(tool: Tool, args: Arguments): string | null {
  try {
    return tool.status?.(args) ?? null;
  } catch {
    return null; // arguments that could not be cleaned
  }
}

function predicate(tool: Tool | null, content: string): boolean {
  try {
    return tool?.error?.(content) ?? false;
  } catch {
    return false;
  }
}

function shorten(lines: readonly string[]): string[] {
  const left = lines.length - echoHead - echoTail;
  if (left <= 1) return [...lines];
  return [...lines.slice(0, echoHead), `… (${left} lines left out here)`, ...lines.slice(-echoTail)];
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0]!;
}

function lastLine(text: string): string {
  return text.trimEnd().split("\n").at(-1)!;
}

function clean(text: string): string {
  return cleanForTerminal(text, { line: true });
}

/** One clean line of at most `most` characters. */
function oneLine(text: string, most: number): string {
  const points = [...text.slice(0, most * 2 + 2)];
  return clean(points.length > most ? `${points.slice(0, most - 1).join("")}…` : text);
}
