/**
 * `file_edit`: replaces a text in a file and leaves every other byte as it is.
 *
 * @module
 */
import { ToolError } from "../src/errors.ts";
import { decodeText, encodingOf } from "../src/text/decode.ts";
import { clipDiff, unifiedDiff } from "../src/text/diff.ts";
import { countChars, countLines } from "../src/text/lines.ts";
import { defineTool, type Tool, toolResult, type Workspace } from "../src/tool.ts";
import { atLeast, find, findFile, LARGEST_FILE, shownName } from "./_files.ts";
import { whyNotFound } from "./_hints.ts";
import { Needle, type Range, replaceRanges } from "./_edit.ts";
import { DETAIL_LINES, IN_PLACE, LARGEST_DIFF, PREVIEW_LINES } from "./_preview.ts";

/** Matches whose lines an error names. */
const MOST_NAMED = 10;
/** Lines around a change in its diff. */
const CONTEXT = 3;

/** Replaces exact text in a file. */
export const fileEdit: Tool = defineTool({
  name: "file_edit",
  description:
    "Replace exact text in a file. Without count, old must occur exactly once. Line ends and other bytes stay.",
  category: "write",
  permission: "edit",
  access: ["read", "write"],
  pathArg: "path",
  keyArg: "path",
  aliases: ["edit"],
  paramAliases: {
    file: "path",
    file_path: "path",
    old_text: "old",
    new_text: "new",
    old_string: "old",
    new_string: "new",
  },
  short: "Edit a file",
  parameters: {
    type: "object",
    properties: {
      path: { type: "string", description: "File." },
      old: { type: "string", description: "Exact text, without line numbers." },
      new: { type: "string", description: "Its replacement." },
      count: { type: "integer", description: "How many to replace; 0: all." },
    },
    required: ["path", "old", "new"],
  },
  execute({ path, old, new: replacement, count }, { workspace }) {
    const { found, bytes } = load(workspace, path, old, replacement, count);
    const plan = planEdit(bytes, old, replacement);
    if (plan.all.length === 0) throw notFound(path, bytes, old);
    if (count === undefined && plan.all.length > 1) throw ambiguous(path, bytes, plan.all);
    const ranges = count ? plan.all.slice(0, count) : plan.all;
    const after = replaceRanges(bytes, ranges, plan.old, replacement);
    if (same(bytes, after)) throw new ToolError(NO_CHANGE, "invalid_arguments");
    const report = workspace.writeFile(found, after, { expected: bytes });
    const text = decodeText(after);
    const counts = `${ranges.length} of ${plan.all.length} occurrences`;
    const size = `${countLines(text)} lines, ${countChars(text)} chars`;
    const note = report.inPlace ? IN_PLACE : "";
    return toolResult(`Edited ${shownName(report.path)} (${counts}, ${size})${note}`, {
      diff: clipDiff(diffAround(bytes, after, ranges), DETAIL_LINES),
      wrote: [report.path],
    });
  },
  preview({ path, old, new: replacement, count }, { workspace }) {
    if (!find(workspace, path)) return `${shownName(path)} (file not found)`;
    const { found, bytes } = load(workspace, path, old, replacement, count);
    const plan = planEdit(bytes, old, replacement);
    if (plan.all.length === 0) return `${shownName(path)} (no match for old text)`;
    if (count === undefined && plan.all.length > 1) {
      return `${shownName(path)} (${plan.all.length} matches for old text, nothing will change)`;
    }
    const ranges = count ? plan.all.slice(0, count) : plan.all;
    const after = replaceRanges(bytes, ranges, plan.old, replacement);
    const diff = clipDiff(diffAround(bytes, after, ranges), PREVIEW_LINES);
    const absolute = shownName(workspace.resolve(found, "write"));
    const last = `(${absolute} - replacing ${ranges.length} of ${plan.all.length} occurrences)`;
    return [shownName(path), diff, last].join("\n");
  },
});

const NO_CHANGE = "old and new are the same text; nothing to change";

/** Checks the arguments and reads the file. */
function load(
  workspace: Workspace,
  path: string,
  old: string,
  replacement: string,
  count: number | undefined,
): { found: string; bytes: Uint8Array } {
  if (old === "") {
    throw new ToolError(
      "old text must not be empty; use file_write to create or append",
      "invalid_arguments",
    );
  }
  if (!replacement.isWellFormed()) {
    throw new ToolError("new holds half of a surrogate pair", "invalid_arguments");
  }
  if (count !== undefined) atLeast("count", count, 0);
  const found = findFile(workspace, path, "name a file in it; list_dir shows them");
  if (old === replacement) throw new ToolError(NO_CHANGE, "invalid_arguments");
  const { size } = found.status;
  if (size > LARGEST_FILE) {
    throw new ToolError(
      `${shownName(path)} is too large to edit (${Math.floor(size / 2 ** 20)} MB; at most ${
        LARGEST_FILE / 2 ** 20
      } MB)`,
    );
  }
  return { found: found.path, bytes: workspace.readFile(found.path, { maxBytes: LARGEST_FILE + 1 }) };
}

/** All matches, and the text that they are of: `old`, or `old` with plain line breaks where it has CRLF in vain. */
function planEdit(
  bytes: Uint8Array,
  old: string,
  replacement: string,
): { all: readonly Range[]; old: string } {
  const encoding = encodingOf(bytes), all = new Needle(old, encoding).findAll(bytes);
  if (all.length > 0 || !old.includes("\r\n")) return { all, old };
  const plain = old.replaceAll("\r\n", "\n");
  if (plain === replacement) return { all: [], old };
  return { all: new Needle(plain, encoding).findAll(bytes), old: plain };
}

function notFound(path: string, bytes: Uint8Array, old: string): ToolError {
  const why = whyNotFound(decodeText(bytes), old);
  return new ToolError(
    `old text not found in ${shownName(path)}${why === "" ? "" : `; ${shownName(why)}`}`,
    "not_found",
  );
}

function ambiguous(path: string, bytes: Uint8Array, ranges: readonly Range[]): ToolError {
  const numbers = ranges.slice(0, MOST_NAMED).map((range) => lineAt(bytes, range.start));
  const lines = `lines ${[...new Set(numbers)].join(", ")}${ranges.length > MOST_NAMED ? ", …" : ""}`;
  return new ToolError(
    `old text occurs ${ranges.length} times in ${
      shownName(path)
    } (${lines}); nothing was changed: add lines around it ` +
      "until it is unique, or pass count (the first N, 0 = all)",
    "invalid_arguments",
  );
}

function same(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}

/** The diff of the part that changed: everything before and after it is the same by construction. */
function diffAround(before: Uint8Array, after: Uint8Array, ranges: readonly Range[]): string {
  const unit = encodingOf(before) === "utf-8" ? 1 : 2;
  if (unit === 2) return small(decodeText(before), decodeText(after), 1);
  const from = backLines(before, ranges[0]!.start, CONTEXT);
  const last = ranges[ranges.length - 1]!.end, to = forwardLines(before, last, CONTEXT);
  const decoder = new TextDecoder();
  const old = decoder.decode(before.subarray(from, to));
  const now = decoder.decode(after.subarray(from, after.length - (before.length - to)));
  return small(old, now, lineAt(before, from));
}

function small(before: string, after: string, firstLine: number): string {
  if (before.length + after.length > LARGEST_DIFF) return "";
  return unifiedDiff(before, after, { context: CONTEXT, firstLine });
}

function lineAt(bytes: Uint8Array, at: number): number {
  if (encodingOf(bytes) !== "utf-8") return decodeText(bytes.subarray(0, at)).split("\n").length;
  let line = 1;
  for (let i = bytes.indexOf(10); i !== -1 && i < at; i = bytes.indexOf(10, i + 1)) line++;
  return line;
}

function backLines(bytes: Uint8Array, at: number, count: number): number {
  let from = at;
  for (let i = 0; i <= count; i++) {
    const found = from === 0 ? -1 : bytes.lastIndexOf(10, from - 1);
    if (found === -1) return 0;
    from = found;
  }
  return from + 1;
}

function forwardLines(bytes: Uint8Array, at: number, count: number): number {
  // A match that ends with its line break is followed by `count` lines; else its own line comes first.
  let to = at;
  for (let i = at > 0 && bytes[at - 1] === 10 ? 1 : 0; i <= count; i++) {
    const found = bytes.indexOf(10, to);
    if (found === -1) return bytes.length;
    to = found + 1;
  }
  return to;
}
