/**
 * What a question shows of a call. Every line is safe for a terminal.
 *
 * @module
 */
import { cleanForTerminal } from "../../text/ansi.ts";
import { formatConfirm } from "../activity.ts";
import type { ConfirmRequest } from "../sink.ts";
import type { Style } from "../style.ts";

/** A call as lines. */
export interface CallView {
  readonly lines: readonly string[];
  /** Something of what will happen is not among the lines. */
  readonly cut: boolean;
}

/** Lines of a command, and of a preview, that are shown without being asked for. */
const COMMAND_LINES = 200;
const PREVIEW_LINES = 120;
const LONGEST_LINE = 4_000;

/** What will happen, why it is asked about, and who asks. */
export async function viewCall(
  request: ConfirmRequest,
  settings: { readonly glyph_params: boolean },
  style: Style,
): Promise<CallView> {
  const { tool, args, decision, asker } = request, lines: string[] = [];
  const show = { glyph_lines: true, show_errors: true, show_notes: true, ...settings };
  const head = formatConfirm(tool, args, show).replace(/ - approve\? \[Y\/n\] $/, "");
  lines.push(`${asker === undefined ? "" : style.cyan(`[${one(asker)}] `)}${style.bold(head)}`);
  const command = tool.commandArg === undefined ? undefined : args[tool.commandArg];
  let cut = false;
  if (typeof command === "string") {
    const all = block(command), shown = all.slice(0, COMMAND_LINES);
    lines.push(...shown.map((line, i) => `${i === 0 ? style.green("  $ ") : "    "}${line}`));
    cut = all.length > shown.length || all.some((line) => line.endsWith("…"));
    if (cut) lines.push(style.yellow(`    … (not all is shown: ${all.length} lines; v shows them)`));
  }
  for (const { text, allowed, reason } of decision.command?.segments ?? []) {
    lines.push(
      allowed
        ? `  ${style.green("✓")} ${one(text)} ${style.dim(`(${one(reason)})`)}`
        : `  ${style.red("✗")} ${one(text)} ${style.yellow(`(${one(reason)})`)}`,
    );
  }
  const preview = typeof command === "string" ? "" : await previewOf(request);
  if (preview.trim() !== "") {
    const all = block(preview.trimEnd()), shown = all.slice(0, PREVIEW_LINES);
    lines.push(...paintDiff(shown, style).map((line) => `  ${line}`));
    if (all.length > shown.length) {
      cut = true;
      lines.push(style.yellow(`  … (${all.length - shown.length} more lines; v shows all)`));
    } else cut ||= all.some((line) => line.endsWith("…") || /^… \(.*\)$/.test(line) || /^\.\.\./.test(line));
  } else if (typeof command !== "string") {
    // Nothing but the arguments says what will happen.
    const long = Object.values(args).some((value) => typeof value !== "number" && String(value).length > 60);
    if (long || !settings.glyph_params) {
      const all = argumentLines(args, style), shown = all.slice(0, PREVIEW_LINES);
      lines.push(...shown);
      cut = all.length > shown.length;
      if (cut) lines.push(style.yellow(`  … (${all.length - shown.length} more lines; v shows all)`));
    }
  }
  for (const { canonical, consent, access } of decision.paths) {
    if (consent === null) continue;
    lines.push(`  ${style.yellow("!")} ${access} ${one(canonical)} ${style.yellow(`(${one(consent)})`)}`);
  }
  lines.push(style.dim(`  ${one(decision.rule)}: ${one(decision.reason)}`));
  return { lines, cut };
}

/** All arguments as they are, to the last character. */
export function argumentLines(args: Readonly<Record<string, unknown>>, style: Style): string[] {
  return Object.entries(args).flatMap(([name, value]) => {
    const text = typeof value === "string" ? value : JSON.stringify(value) ?? String(value);
    const lines = cleanForTerminal(text).split("\n");
    return lines.length === 1
      ? [`  ${style.cyan(`${one(name)}:`)} ${lines[0]}`]
      : [`  ${style.cyan(`${one(name)}:`)}`, ...lines.map((line) => `    ${line}`)];
  });
}

async function previewOf(request: ConfirmRequest): Promise<string> {
  try {
    return await request.preview();
  } catch {
    return "";
  }
}

/** The colours of a unified diff. */
function paintDiff(lines: readonly string[], style: Style): string[] {
  return lines.map((line) =>
    line.startsWith("+")
      ? style.green(line)
      : line.startsWith("-")
      ? style.red(line)
      : line.startsWith("@@")
      ? style.cyan(line)
      : line
  );
}

/** Lines of a text; a line that is far too long is cut. */
function block(text: string): string[] {
  return cleanForTerminal(text).split("\n").map((line) =>
    line.length > LONGEST_LINE ? `${line.slice(0, LONGEST_LINE).toWellFormed()}…` : line
  );
}

function one(text: string): string {
  return cleanForTerminal(text.length > 2_000 ? `${text.slice(0, 2_000)}…` : text, { line: true });
}
