/**
 * `list_dir`: a directory as a tree.
 *
 * @module
 */
import { ToolError } from "../src/errors.ts";
import { defineTool, type DirectoryEntry, type FileKind, type Tool, type Workspace } from "../src/tool.ts";
import { atLeast, find, missing, shownName } from "./_files.ts";
import { openPlace, SKIPPED } from "./_walk.ts";

/** Directories that are opened to count what the cap hides. */
const MOST_COUNTED = 2_000;

/** Lists a directory: sub-directories first, sizes in bytes, links marked and not followed. */
export const listDir: Tool = defineTool({
  name: "list_dir",
  description: "List a directory; depth > 1 gives a tree.",
  category: "read",
  permission: "list",
  access: ["read"],
  pathArg: "path",
  paths: ({ path }) => [{ path, access: "list" }],
  keyArg: "path",
  glyph: "*",
  verb: "List",
  aliases: ["ls"],
  paramAliases: { directory: "path" },
  configKeys: ["list_dir_max_entries"],
  short: "List a directory",
  note: (result) => /^[^\n]*:\n\(empty directory\)$/.test(result),
  parameters: {
    type: "object",
    properties: {
      path: { type: "string", description: "Directory.", default: "." },
      depth: { type: "integer", description: "Levels.", default: 1 },
    },
  },
  execute({ path, depth }, { workspace, config }) {
    const levels = Math.max(1, atLeast("depth", depth, 0));
    const found = find(workspace, path);
    if (!found) throw missing(workspace, "path", path);
    if (found.status.kind !== "directory") {
      throw new ToolError(`${shownName(path)} is not a directory (use file_read instead)`);
    }
    const base = workspace.resolve(found.path, "list");
    const cap = Number(config["list_dir_max_entries"] ?? 0);
    // Named directories are opened, also those of the skip list.
    const skip = openPlace(workspace, base, true).skip;
    const tree = new Tree(workspace, cap > 0 ? cap : Infinity, skip);
    tree.add(base, levels, "  ");
    const lines = [`${shownName(path)}:`, ...tree.lines];
    if (tree.total === 0) lines.push("(empty directory)");
    else if (tree.total > tree.lines.length) {
      const total = `${tree.total}${tree.counted ? "" : "+"}`;
      lines.push(`... (showing first ${tree.lines.length} of ${total} entries)`);
    }
    return lines.join("\n");
  },
});

class Tree {
  readonly lines: string[] = [];
  /** Entries in all, shown or not. */
  total = 0;
  /** Whether `total` is all there is: counting beyond the cap stops at some point. */
  counted = true;
  #opened = 0;

  constructor(
    readonly workspace: Workspace,
    readonly cap: number,
    readonly skip: boolean,
  ) {}

  add(directory: string, levels: number, indent: string): void {
    const prefix = directory.endsWith("/") ? directory : `${directory}/`;
    for (const { name, kind } of this.#read(directory, indent)) {
      this.total++;
      if (this.lines.length < this.cap) this.lines.push(indent + this.#label(prefix + name, name, kind));
      if (kind !== "directory" || levels <= 1 || (this.skip && SKIPPED.has(name))) continue;
      if (this.lines.length >= this.cap && ++this.#opened > MOST_COUNTED) this.counted = false;
      else this.add(prefix + name, levels - 1, `${indent}  `);
    }
  }

  #read(directory: string, indent: string): DirectoryEntry[] {
    try {
      return this.workspace.walkDirectory(directory).sort(byKindAndName);
    } catch (error) {
      if (indent === "  ") throw error;
      return [];
    }
  }

  #label(path: string, name: string, kind: FileKind): string {
    const shown = shownName(name);
    if (kind === "directory") return `${shown}/`;
    if (kind === "other") return `${shown}  (special file)`;
    let status;
    try {
      status = this.workspace.status(path);
    } catch {
      return kind === "symlink" ? `${shown}  (link out of reach)` : shown;
    }
    if (kind === "file") return status ? `${shown}  ${status.size}` : shown;
    if (!status) return `${shown}  (broken link)`;
    return status.kind === "directory" ? `${shown}/  (link)` : `${shown}  ${status.size}  (link)`;
  }
}

/** Directories first, then names without regard to case; equal ones by code units, so that the order is one. */
function byKindAndName(a: DirectoryEntry, b: DirectoryEntry): number {
  if ((a.kind === "directory") !== (b.kind === "directory")) return a.kind === "directory" ? -1 : 1;
  const x = a.name.toLowerCase(), y = b.name.toLowerCase();
  if (x !== y) return x < y ? -1 : 1;
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}
