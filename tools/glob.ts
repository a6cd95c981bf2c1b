/**
 * `glob`: paths that match a pattern.
 *
 * @module
 */
import { ToolError } from "../src/errors.ts";
import {
  compileAlternatives,
  descend,
  type Glob,
  type GlobState,
  isDead,
  isMagic,
  literalStarts,
  matches,
  startState,
} from "../src/text/glob.ts";
import { plural } from "../src/text/lines.ts";
import { isAbsolute, toSlashes } from "../src/text/path.ts";
import { defineTool, type PathUse, type Tool, type Workspace } from "../src/tool.ts";
import { find, missing, shownName } from "./_files.ts";
import { below, isDirectory, list, openPlace, type Place } from "./_walk.ts";

/** Most paths of one result. */
const MOST = 200;

/** Finds files and directories by name. */
export const glob: Tool = defineTool({
  name: "glob",
  description:
    "Find files and directories by pattern: * ? [a-z] {a,b}, ** across directories. Skips what .gitignore names.",
  category: "search",
  permission: "read",
  access: ["read"],
  pathArg: "path",
  paths: ({ pattern, path }) => pathsOf(pattern, path),
  keyArg: "pattern",
  glyph: "*",
  verb: "Glob",
  short: "Find files by pattern",
  note: (result) => result.startsWith('(no matches for "'),
  parameters: {
    type: "object",
    properties: {
      pattern: { type: "string", description: "Such as src/**/*.ts." },
      path: { type: "string", description: "Base directory.", default: "." },
      ignored: { type: "boolean", description: "Also what .gitignore names.", default: false },
    },
    required: ["pattern"],
  },
  execute({ pattern, path, ignored }, { workspace }) {
    if (pattern === "") throw new ToolError("pattern must not be empty", "invalid_arguments");
    const base = find(workspace, path);
    if (!base) throw missing(workspace, "path", path);
    if (base.status.kind !== "directory") {
      throw new ToolError(`not a directory: ${shownName(path)} (name a file by its pattern)`);
    }
    const search = new Search(workspace, ignored);
    for (const start of startsOf(pattern)) search.run(base.path, start);
    return render(search, pattern);
  },
});

/** A directory named by a pattern, and what is to be matched below it: each of the patterns. */
interface Start {
  readonly directory: string;
  readonly patterns: string[];
  readonly directoryOnly: boolean;
}

/** One start for each directory, so that alternatives share a walk. */
function startsOf(pattern: string): Start[] {
  const starts = new Map<string, Start>();
  try {
    for (const { directory, rest } of literalStarts(pattern)) {
      const directoryOnly = rest.endsWith("/"), key = `${directoryOnly} ${directory}`;
      const start = starts.get(key) ?? { directory, patterns: [], directoryOnly };
      start.patterns.push(rest);
      starts.set(key, start);
    }
  } catch (error) {
    throw new ToolError(`pattern: ${(error as Error).message}`, "invalid_arguments");
  }
  return [...starts.values()];
}

/** Every directory that the call lists below: the policy decides on these. */
function pathsOf(pattern: string, path: string): PathUse[] {
  let starts: { readonly directory: string }[] = [];
  try {
    starts = literalStarts(pattern);
  } catch {
    // The handler refuses such a pattern before it looks at anything.
  }
  const all = [path, ...starts.map(({ directory }) => joined(path, directory))];
  return [...new Set(all)].map((use) => ({ path: use, access: "list" }));
}

/** `..` stays as it was written: it is for the policy and the guard to say where it leads. */
function joined(base: string, directory: string): string {
  if (directory === "") return base;
  if (isAbsolute(directory) || directory === "~" || directory.startsWith("~/")) return directory;
  return base === "." ? directory : `${base.replace(/\/+$/, "")}/${directory}`;
}

class Search {
  readonly paths = new Set<string>();
  ignored = 0;

  constructor(readonly workspace: Workspace, readonly withIgnored: boolean) {}

  run(base: string, { directory, patterns, directoryOnly }: Start): void {
    const path = joined(base, directory);
    let glob: Glob;
    try {
      glob = compileAlternatives(patterns, directoryOnly);
    } catch (error) {
      throw new ToolError(`pattern: ${(error as Error).message}`, "invalid_arguments");
    }
    if (this.workspace.status(path)?.kind !== "directory") return;
    const shown = directory === "" || directory.endsWith("/") ? directory : `${directory}/`;
    const canonical = this.workspace.resolve(path, "list");
    if (!patterns.some(isMagic)) return this.#literal(canonical, shown, glob);
    const place = openPlace(this.workspace, canonical, this.withIgnored);
    this.#walk(place, toSlashes(shown).replace(/^(\.\/+)+/, ""), glob, startState(glob));
  }

  /** A pattern without wildcards names one path; nothing hides what is named. */
  #literal(directory: string, shown: string, glob: Glob): void {
    for (const { name, kind } of this.workspace.walkDirectory(directory)) {
      if (!matches(glob, startState(glob), name) || kind === "other") continue;
      if (kind === "directory") this.paths.add(`${shown}${name}/`);
      else if (!glob.directoryOnly) this.paths.add(shown + name);
    }
  }

  #walk(place: Place, shown: string, glob: Glob, state: GlobState): void {
    const listing = list(this.workspace, place);
    this.ignored += listing.ignored;
    for (const entry of listing.entries) {
      const directory = isDirectory(entry);
      if ((directory || !glob.directoryOnly) && matches(glob, state, entry.name)) {
        this.paths.add(`${shown}${entry.name}${directory ? "/" : ""}`);
      }
      if (entry.kind !== "directory") continue;
      const next = descend(glob, state, entry.name);
      if (!isDead(next)) this.#walk(below(listing, entry.name), `${shown}${entry.name}/`, glob, next);
    }
  }
}

function render({ paths, ignored }: Search, pattern: string): string {
  if (paths.size === 0) {
    const none = `(no matches for "${shownName(pattern)}")`;
    if (ignored === 0) return none;
    return `${none}\n(${
      plural(ignored, "entry", "entries")
    } that .gitignore names left out; pass ignored: true to include them)`;
  }
  const sorted = [...paths].sort();
  const lines = sorted.slice(0, MOST).map(shownName);
  if (sorted.length > MOST) lines.push(`... (showing ${MOST} of ${sorted.length} matches)`);
  return lines.join("\n");
}
