/**
 * `file_read`: a text file with numbered lines, in windows.
 *
 * @module
 */
import { ToolError } from "../src/errors.ts";
import { encodingOf, isBinary } from "../src/text/decode.ts";
import { grouped } from "../src/text/lines.ts";
import { defineTool, type Tool, type Workspace } from "../src/tool.ts";
import { atLeast, findFile, LARGEST_FILE, shownName } from "./_files.ts";
import { LineWindow, type WindowLine } from "./_window.ts";

const TRUNCATED = "... (truncated)";
/** How much of a file decides whether it is text. */
const PROBE = 8192;
/** Most characters of one result where the configuration sets no cap. */
const MOST_CHARS = 64 * 1024 * 1024;

/** Reads a file: a header with its size, then the numbered lines of a window. */
export const fileRead: Tool = defineTool({
  name: "file_read",
  description:
    "Read a text file. The header gives its size, each line its number. Page large files by offset and limit.",
  category: "read",
  permission: "read",
  access: ["read"],
  pathArg: "path",
  keyArg: "path",
  aliases: ["read_file", "read", "view"],
  paramAliases: { file: "path", file_path: "path" },
  configKeys: ["tool_max_result_chars"],
  short: "Read a file",
  note: (result) => /^# [^\n]*\n\((empty file|past the end: [^\n]*)\)$/.test(result),
  parameters: {
    type: "object",
    properties: {
      path: { type: "string", description: "File." },
      offset: { type: "integer", description: "First line, from 1.", default: 1 },
      limit: { type: "integer", description: "Most lines; 0: header only.", default: 500 },
    },
    required: ["path"],
  },
  execute({ path, offset, limit }, { workspace, config }) {
    const first = Math.max(1, atLeast("offset", offset, 0));
    atLeast("limit", limit, 0);
    const found = findFile(workspace, path, "use list_dir instead");
    const configured = Number(config["tool_max_result_chars"] ?? 0);
    const cap = configured > 0 ? configured : MOST_CHARS;
    const window = new LineWindow(first, limit, cap);
    const whole = readInto(window, workspace, found.path, found.status.size, path);
    const size = whole
      ? `${window.lines} lines, ${window.chars} chars`
      : `more than ${window.lines} lines, ${window.chars} chars (only the first ${
        LARGEST_FILE >> 20
      } MB were read)`;
    return render(`# ${shownName(path)} - ${size}`, window, first, limit, cap);
  },
});

/** Reads a file into the window; false where only its beginning could be read. */
function readInto(
  window: LineWindow,
  workspace: Workspace,
  path: string,
  size: number,
  given: string,
): boolean {
  let decoder: TextDecoder | null = null;
  const push = (bytes: Uint8Array) => {
    if (decoder === null) {
      if (isBinary(bytes.subarray(0, PROBE))) {
        throw new ToolError(
          `${shownName(given)} is a binary file (${grouped(size)} bytes), which cannot be shown as text`,
        );
      }
      decoder = new TextDecoder(encodingOf(bytes));
    }
    window.push(decoder.decode(bytes, { stream: true }));
  };
  let whole = true;
  if (size > LARGEST_FILE / 4 && workspace.readChunks) workspace.readChunks(path, push);
  else {
    const bytes = workspace.readFile(path, { maxBytes: LARGEST_FILE + 1 });
    whole = bytes.length <= LARGEST_FILE;
    push(bytes);
  }
  window.push((decoder as TextDecoder | null)?.decode() ?? "");
  window.end();
  return whole;
}

function render(head: string, window: LineWindow, first: number, limit: number, cap: number): string {
  if (limit === 0) return head;
  if (window.lines === 0) return `${head}\n(empty file)`;
  if (first > window.lines) return `${head}\n(past the end: the file has ${window.lines} lines)`;
  const last = Math.min(first + limit - 1, window.lines);
  const title = (to: number) =>
    first === 1 && to === window.lines ? head : `${head} (showing ${first}-${to})`;
  const all = number(window.kept, first, last);
  const full = `${title(last)}\n${all.join("\n")}`;
  if (all.length === last - first + 1 && full.length <= cap) return full;
  const room = cap - `${head} (showing ${first}-${last})`.length - TRUNCATED.length - 2;
  let used = 0, count = 0;
  while (count < all.length - 1 && used + all[count]!.length + 1 <= room) used += all[count++]!.length + 1;
  if (count > 0) {
    const shown = first + count - 1;
    return [title(shown), ...number(window.kept.slice(0, count), first, shown), TRUNCATED].join("\n");
  }
  return [title(first), cut(window.kept[0]!, first, room), TRUNCATED].filter((line) => line !== "").join(
    "\n",
  );
}

function number(lines: readonly WindowLine[], first: number, last: number): string[] {
  const width = String(last).length;
  return lines.map((line, i) => `${String(first + i).padStart(width)}|${line.text}`);
}

/** As much of a line as there is room for, and how much there is of it. */
function cut(line: WindowLine, at: number, room: number): string {
  const mark = `… (line cut, ${line.length} chars)`, left = room - `${at}|`.length - mark.length;
  if (left <= 0) return "";
  if (line.length <= left) return `${at}|${line.text}`;
  return `${at}|${line.text.slice(0, left).replace(/[\ud800-\udbff]$/, "")}${mark}`;
}
