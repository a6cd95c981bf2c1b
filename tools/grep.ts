/**
 * `grep`: lines that match a regular expression, in a file or a tree.
 *
 * @module
 */
import { ToolError } from "../src/errors.ts";
import { basename } from "../src/text/path.ts";
import { plural } from "../src/text/lines.ts";
import { defineTool, type Tool, type ToolContext, type Workspace } from "../src/tool.ts";
import { atLeast, find, irregular, missing, shownName } from "./_files.ts";
import { type FileResult, type Findings, merge, Searcher, type SearchOptions, type Unit } from "./_grep.ts";
import { below, list, openPlace, type Place } from "./_walk.ts";

/** Most matches of one result. */
const MOST = 100;
const MOST_CONTEXT = 10;
/** A tree is spread over workers when it has more than this many directories to enter, in about as many parts. */
const PARTS = 48;
/** Files of one part. */
const FILES = 250;
/** Milliseconds after which what was found so far is the result. */
const PATIENCE = 9_000;
/** Milliseconds after which a pattern that does not come to an end is given up. */
const TIMEOUT = 12_000;

/** Searches files for a regular expression. */
export const grep: Tool = defineTool({
  name: "grep",
  description:
    "Search file contents by regular expression, line by line. Skips what .gitignore names, unless `path` is in it.",
  category: "search",
  permission: "read",
  access: ["read"],
  pathArg: "path",
  keyArg: "pattern",
  glyph: "*",
  verb: "Grep",
  aliases: ["find"],
  paramAliases: { query: "pattern" },
  short: "Search file contents",
  timeout: TIMEOUT,
  timeoutHint: "simplify the pattern (nested repetition such as (a+)+ may never end) or narrow path or glob",
  note: (result) => result.startsWith('(no matches for "'),
  parameters: {
    type: "object",
    properties: {
      pattern: { type: "string", description: "Regex; (?i) first ignores case." },
      path: { type: "string", description: "File or directory.", default: "." },
      glob: { type: "string", description: "Only files like *.ts or src/**/*.ts.", default: "*" },
      context: { type: "integer", description: "Lines around each match.", default: 0 },
      ignored: { type: "boolean", description: "Also what .gitignore names.", default: false },
    },
    required: ["pattern"],
  },
  async execute({ pattern, path, glob, context, ignored }, tool) {
    if (pattern === "") throw new ToolError("pattern must not be empty", "invalid_arguments");
    const options: SearchOptions = {
      pattern,
      glob,
      context: Math.min(atLeast("context", context, 0), MOST_CONTEXT),
      most: MOST,
      until: Date.now() + PATIENCE,
    };
    const searcher = new Searcher(options, tool.workspace);
    const found = find(tool.workspace, path);
    if (!found) throw missing(tool.workspace, "path", path);
    if (found.status.kind !== "directory" && found.status.kind !== "file") throw irregular(path);
    const findings = found.status.kind === "directory"
      ? await searchTree(
        searcher,
        openPlace(tool.workspace, tool.workspace.resolve(found.path, "list"), ignored),
        tool,
      )
      : searchFile(searcher, tool.workspace, found.path, path);
    return render(findings, pattern);
  },
  part: (input: { unit: Unit; options: SearchOptions }, { workspace }) =>
    new Searcher(input.options, workspace).search(input.unit),
});

/** A file that is named is searched whatever its name; a rule against reading it is an error. */
function searchFile(searcher: Searcher, workspace: Workspace, path: string, given: string): Findings {
  const real = workspace.resolve(path, "read");
  const name = basename(given) === "." ? basename(real) : basename(given);
  return searcher.searchFile(real, name);
}

/** Opens directories breadth first until there is enough to share out, or nothing left. */
async function searchTree(
  searcher: Searcher,
  base: Place,
  { workspace, fanout }: ToolContext,
): Promise<Findings> {
  const open: Place[] = [base], files: { place: Place; names: string[] }[] = [];
  let count = 0, ignored = 0;
  while (open.length > 0 && open.length < PARTS) {
    const place = open.shift()!;
    if (!searcher.enters(place)) continue;
    const listing = list(workspace, place), names: string[] = [];
    ignored += listing.ignored;
    for (const { name, kind } of listing.entries) {
      if (kind === "directory") open.push(below(listing, name));
      else if (kind === "file") names.push(name);
    }
    // A directory with many files is several parts.
    for (let at = 0; at < names.length; at += FILES) {
      files.push({ place, names: names.slice(at, at + FILES) });
    }
    count += names.length;
  }
  const units: Unit[] = [
    ...files.map((part) => ({ files: [part] })),
    ...open.map((place) => ({ tree: place })),
  ];
  const results = open.length > 0 || count > FILES * 2
    ? await fanout(pack(units).map((unit) => ({ unit, options: searcher.options }))) as Findings[]
    : units.map((unit) => searcher.search(unit));
  const findings = merge(results, searcher.options.most);
  return { ...findings, ignored: findings.ignored + ignored };
}

/** Small runs of files travel together. */
function pack(units: readonly Unit[]): Unit[] {
  const packed: Unit[] = [];
  let run: { place: Place; names: readonly string[] }[] = [], size = 0;
  const flush = () => {
    if (run.length > 0) packed.push({ files: run });
    [run, size] = [[], 0];
  };
  for (const unit of units) {
    if (!unit.files) packed.push(unit);
    else {
      run.push(...unit.files);
      size += unit.files.reduce((sum, part) => sum + part.names.length, 0);
      if (size >= FILES) flush();
    }
  }
  flush();
  return packed;
}

function render(found: Findings, pattern: string): string {
  const lines: string[] = [];
  for (const file of found.files) renderFile(file, lines);
  if (found.count === 0) lines.push(`(no matches for "${shownName(pattern)}")`);
  else if (found.count > found.shown) {
    lines.push(
      `... (showing first ${found.shown} of ${found.count}${found.stopped || found.more ? "+" : ""} matches)`,
    );
  }
  if (found.binary > 0) lines.push(`(${plural(found.binary, "binary file")} skipped)`);
  if (found.withheld > 0) {
    const rules = found.rules.slice(0, 3).join(", ");
    const them = found.withheld === 1 ? "it" : "one";
    lines.push(
      `(${
        plural(found.withheld, "file")
      } not searched because of path rules: ${rules}; name ${them} as path to search it)`,
    );
  }
  if (found.unread > 0) lines.push(`(${plural(found.unread, "file")} could not be read)`);
  if (found.count === 0 && found.ignored > 0) {
    lines.push(
      `(${
        plural(found.ignored, "entry", "entries")
      } that .gitignore names not searched; pass ignored: true to include them)`,
    );
  }
  if (found.stopped) {
    lines.push(`(stopped after ${PATIENCE / 1000} s, not everything was searched; narrow path or glob)`);
  }
  return lines.join("\n");
}

/** `path:3: text` for a match, `path-2- text` for context; `--` between lines that do not follow each other. */
function renderFile({ path, matches }: FileResult, out: string[]): void {
  const name = shownName(path), matching = new Set(matches.map((match) => match.number));
  let last = -Infinity;
  const context = (number: number, text: string) => {
    if (number <= last || matching.has(number)) return;
    step(number);
    out.push(`${name}-${number}- ${text}`);
  };
  const grouped = matches.some((match) => match.before.length + match.after.length > 0);
  const step = (number: number) => {
    if (grouped && number > last + 1 && out.length > 0) out.push("--");
    last = number;
  };
  for (const match of matches) {
    for (const line of match.before) context(line.number, line.text);
    step(match.number);
    out.push(`${name}:${match.number}: ${match.text}`);
    for (const line of match.after) context(line.number, line.text);
  }
}
