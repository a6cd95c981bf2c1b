/**
 * `file_write`: creates, overwrites or extends a file.
 *
 * @module
 */
import { ToolError } from "../src/errors.ts";
import { decodeText, encodeText, type Encoding, encodingOf, isBinary } from "../src/text/decode.ts";
import { clipDiff, unifiedDiff } from "../src/text/diff.ts";
import { countChars, countLines, splitLines } from "../src/text/lines.ts";
import { toSlashes } from "../src/text/path.ts";
import { defineTool, type Tool, toolResult, type Workspace } from "../src/tool.ts";
import { find, irregular, shownName } from "./_files.ts";
import { DETAIL_LINES, IN_PLACE, LARGEST_DIFF, PREVIEW_LINES } from "./_preview.ts";

/** Lines of a new file that a preview shows. */
const NEW_LINES = 20;

/** Writes a text to a file; missing directories are made. */
export const fileWrite: Tool = defineTool({
  name: "file_write",
  description: "Create or overwrite a file, or append to it. To change parts of a file use file_edit.",
  category: "write",
  permission: "edit",
  access: ["read", "write"],
  pathArg: "path",
  keyArg: "path",
  aliases: ["write_file", "write"],
  paramAliases: { file: "path", file_path: "path" },
  short: "Write a file",
  parameters: {
    type: "object",
    properties: {
      path: { type: "string", description: "File." },
      content: { type: "string", description: "The whole text." },
      mode: { type: "string", enum: ["w", "a"], description: "w: overwrite, a: append.", default: "w" },
    },
    required: ["path", "content"],
  },
  execute({ path, content, mode }, { workspace }) {
    if (!content.isWellFormed()) {
      throw new ToolError("content holds half of a surrogate pair", "invalid_arguments");
    }
    const target = writable(workspace, path), append = modeOf(mode) === "a";
    const old = target.exists ? before(workspace, target.path) : NEW;
    const text = old.crlf ? withCrlf(content) : content;
    const bytes = encodeText(text, append ? old.encoding : "utf-8");
    const report = workspace.writeFile(target.path, bytes, { append });
    const did = report.created ? "Created" : append ? "Appended" : "Overwritten";
    const note = (report.inPlace ? IN_PLACE : "") + (text === content ? "" : "; kept its CRLF line ends");
    const diff = diffOf(old.text, text, append);
    return toolResult(`${did} ${shownName(report.path)} (${sizeOf(content)})${note}`, {
      diff,
      wrote: [report.path],
    });
  },
  preview({ path, content, mode }, { workspace }) {
    const target = writable(workspace, path), append = modeOf(mode) === "a";
    const absolute = workspace.resolve(target.path, "write");
    const last = (did: string) => `(${shownName(absolute)} - ${sizeOf(content)}, ${did})`;
    if (!target.exists) return [shownName(path), ...head(content), last("created")].join("\n");
    const old = before(workspace, target.path);
    const diff = diffOf(old.text, old.crlf ? withCrlf(content) : content, append);
    const body = diff === undefined
      ? "(binary or large file; no diff)"
      : diff === ""
      ? "(no change)"
      : clipDiff(diff, PREVIEW_LINES);
    return [shownName(path), body, last(append ? "appended" : "overwritten")].join("\n");
  },
});

function modeOf(mode: string): "w" | "a" {
  if (mode === "w" || mode === "a") return mode;
  throw new ToolError(
    `mode must be "w" (overwrite) or "a" (append), got ${JSON.stringify(mode)}`,
    "invalid_arguments",
  );
}

function writable(workspace: Workspace, path: string): { path: string; exists: boolean } {
  const found = find(workspace, path);
  if (!found) {
    if (toSlashes(path).endsWith("/")) {
      throw new ToolError(`${shownName(path)} names a directory; add a file name`);
    }
    return { path, exists: false };
  }
  if (found.status.kind === "directory") {
    throw new ToolError(`${shownName(path)} is a directory; add a file name`);
  }
  if (found.status.kind !== "file") {
    throw irregular(path);
  }
  return { path: found.path, exists: true };
}

/** What a file holds before it is written. */
interface Before {
  /** Null where there is no text, too much of it, or none that may be read. */
  readonly text: string | null;
  readonly encoding: Encoding;
  /** Every line ends in CRLF. */
  readonly crlf: boolean;
}

const NEW: Before = { text: "", encoding: "utf-8", crlf: false };

function before(workspace: Workspace, path: string): Before {
  let bytes: Uint8Array;
  try {
    bytes = workspace.readFile(path, { maxBytes: LARGEST_DIFF + 1 });
  } catch {
    // Writing may be allowed where reading is not; it goes without a diff then.
    return { ...NEW, text: null };
  }
  const encoding = encodingOf(bytes), text = isBinary(bytes) ? null : decodeText(bytes);
  const crlf = text !== null && text.includes("\r\n") && !/(^|[^\r])\n/.test(text);
  return { text: bytes.length > LARGEST_DIFF ? null : text, encoding, crlf };
}

/** A file whose lines all end in CRLF keeps them; the model does not see them when it reads. */
function withCrlf(content: string): string {
  return content.includes("\r") ? content : content.replaceAll("\n", "\r\n");
}

function diffOf(old: string | null, text: string, append: boolean): string | undefined {
  if (old === null || text.length > LARGEST_DIFF) return undefined;
  return clipDiff(unifiedDiff(old, append ? old + text : text), DETAIL_LINES);
}

function sizeOf(text: string): string {
  return `${countLines(text)} lines, ${countChars(text)} chars`;
}

function head(content: string): string[] {
  const lines = splitLines(content), shown = lines.slice(0, NEW_LINES).map((line) => `+ ${line}`);
  return lines.length > NEW_LINES ? [...shown, `+ … (${lines.length} lines total)`] : shown;
}
