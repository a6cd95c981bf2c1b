/**
 * Searching a part of a tree; grep's workers share a tree out in such parts.
 *
 * @module
 */
import {
  compileGlob,
  descend,
  type Glob,
  type GlobState,
  isDead,
  matches,
  matchGlob,
  startState,
} from "../src/text/glob.ts";
import { ToolError } from "../src/errors.ts";
import type { Workspace } from "../src/tool.ts";
import { compilePattern, type Pattern } from "./_pattern.ts";
import { candidateText, looksBinary, type Match, searchBytes } from "./_search.ts";
import { below, list, type Place } from "./_walk.ts";

/** What is searched for; plain data. */
export interface SearchOptions {
  readonly pattern: string;
  /** Which files: a pattern without `/` looks at names, one with it at paths below the base; a leading `!` turns it round. */
  readonly glob: string;
  /** Lines around each match. */
  readonly context: number;
  /** Most matches that are kept. */
  readonly most: number;
  /** When to stop, milliseconds since 1970. */
  readonly until: number;
}

/** A part of a tree: some files of some directories, or a directory and all below it. */
export interface Unit {
  readonly files?: readonly { readonly place: Place; readonly names: readonly string[] }[];
  readonly tree?: Place;
}

/** A file's matches. */
export interface FileResult {
  /** Relative to the base. */
  readonly path: string;
  readonly matches: readonly Match[];
}

/** What was found. */
export interface Findings {
  /** Sorted by path. */
  readonly files: readonly FileResult[];
  /** Matching lines in `files`, and in all. */
  readonly shown: number;
  readonly count: number;
  /** Files that were skipped: binary ones, those that a path rule withholds (and which rules), unreadable ones. */
  readonly binary: number;
  readonly withheld: number;
  readonly rules: readonly string[];
  readonly unread: number;
  /** Entries that .gitignore left out. */
  readonly ignored: number;
  /** Time was up. */
  readonly stopped: boolean;
  /** There were so many matches that not all were counted. */
  readonly more: boolean;
}

/** One for all searches of a worker: reading into the same memory is what makes small files cheap. */
let buffer: Uint8Array | null = null;
const BUFFER = 1 << 20;
/** Matches after which a part only goes on if it has to: what is shown is found by then, and counting costs. */
const COUNTED = 1_000;
/** How often the clock is looked at, in files. */
const TICK = 16;

/** Searches files with one pattern. */
export class Searcher {
  readonly options: SearchOptions;
  readonly #workspace: Workspace;
  readonly #pattern: Pattern;
  readonly #filter: Filter | null;
  #files: FileResult[] = [];
  #rules = new Set<string>();
  #shown = 0;
  #count = 0;
  #binary = 0;
  #withheld = 0;
  #unread = 0;
  #ignored = 0;
  #stopped = false;
  #more = false;
  #ticks = 0;

  /** @throws {ToolError} for an invalid regex or glob */
  constructor(options: SearchOptions, workspace: Workspace) {
    this.options = options;
    this.#workspace = workspace;
    this.#pattern = compilePattern(options.pattern);
    this.#filter = makeFilter(options.glob);
  }

  /** Whether a directory can hold files that the glob admits. */
  enters(place: Place): boolean {
    return this.#filter?.enters(place.prefix) ?? true;
  }

  /** Searches a part of a tree. */
  search(unit: Unit): Findings {
    for (const { place, names } of unit.files ?? []) {
      const files = this.#filter?.files(place.prefix, names) ?? names;
      for (const name of files) this.#file(place, name);
    }
    if (unit.tree) this.#tree(unit.tree);
    return this.#take();
  }

  /** Searches one file that was named. @param path canonical; @param name how results call it */
  searchFile(path: string, name: string): Findings {
    this.#read(path, name, true);
    return this.#take();
  }

  #take(): Findings {
    const findings: Findings = {
      files: this.#files,
      shown: this.#shown,
      count: this.#count,
      binary: this.#binary,
      withheld: this.#withheld,
      rules: [...this.#rules],
      unread: this.#unread,
      ignored: this.#ignored,
      stopped: this.#stopped,
      more: this.#more,
    };
    this.#files = [];
    this.#rules = new Set();
    this.#more = false;
    this.#shown =
      this.#count =
      this.#binary =
      this.#withheld =
      this.#unread =
      this.#ignored =
        0;
    return findings;
  }

  #tree(place: Place): void {
    if (this.#late() || !this.enters(place)) return;
    const listing = list(this.#workspace, place);
    this.#ignored += listing.ignored;
    const admits = this.#filter?.admits(place.prefix);
    for (const { name, kind } of listing.entries) {
      if (kind === "directory") this.#tree(below(listing, name));
      else if (kind === "file" && (admits === undefined || admits(name))) this.#file(place, name);
    }
  }

  #late(): boolean {
    if (this.#count >= Math.max(COUNTED, this.options.most)) return this.#more = true;
    if (!this.#stopped && this.#ticks++ % TICK === 0) this.#stopped = Date.now() > this.options.until;
    return this.#stopped;
  }

  #file(place: Place, name: string): void {
    if (this.#late()) return;
    const path = place.path.endsWith("/") ? place.path + name : `${place.path}/${name}`;
    this.#read(path, place.prefix + name, false);
  }

  #read(path: string, name: string, named: boolean): void {
    buffer ??= new Uint8Array(BUFFER);
    let binary = false, looked = false, text: string | null = null;
    const wanted = (bytes: Uint8Array) => {
      looked = true;
      binary = looksBinary(bytes);
      text = binary ? null : candidateText(bytes, this.#pattern);
      return text !== null;
    };
    let bytes: Uint8Array | null;
    try {
      bytes = this.#workspace.walkFile(path, buffer, wanted);
    } catch (error) {
      const rule = error instanceof ToolError ? this.#workspace.withheld(path) : null;
      if (named || rule === null) throw error;
      this.#withheld++;
      this.#rules.add(rule);
      return;
    }
    if (bytes === null) {
      if (binary) this.#binary++;
      else if (!looked) this.#unread++;
      return;
    }
    const most = this.options.most - this.#shown;
    const found = searchBytes(bytes, text ?? "", this.#pattern, most, this.options.context);
    if (found === null) this.#binary++;
    else if (found.count > 0) {
      this.#count += found.count;
      this.#shown += found.matches.length;
      if (found.matches.length > 0) this.#files.push({ path: name, matches: found.matches });
    }
  }
}

/** Puts the findings of parts together: sorted by path, the first `most` matches kept. */
export function merge(parts: readonly Findings[], most: number): Findings {
  const all = parts.flatMap((part) => part.files).sort((a, b) =>
    a.path < b.path ? -1 : a.path > b.path ? 1 : 0
  );
  const files: FileResult[] = [];
  let shown = 0;
  for (const file of all) {
    if (shown >= most) break;
    const matches = file.matches.slice(0, most - shown);
    shown += matches.length;
    files.push({ ...file, matches });
  }
  const sum = (key: "count" | "binary" | "withheld" | "unread" | "ignored") =>
    parts.reduce((total, part) => total + part[key], 0);
  return {
    files,
    shown,
    count: sum("count"),
    binary: sum("binary"),
    withheld: sum("withheld"),
    rules: [...new Set(parts.flatMap((part) => part.rules))].sort(),
    unread: sum("unread"),
    ignored: sum("ignored"),
    stopped: parts.some((part) => part.stopped),
    more: parts.some((part) => part.more),
  };
}

/** Which files a glob admits. */
interface Filter {
  /** Whether files below this prefix can be admitted. */
  enters(prefix: string): boolean;
  /** Answers for the names in one directory. */
  admits(prefix: string): (name: string) => boolean;
  files(prefix: string, names: readonly string[]): readonly string[];
}

function makeFilter(text: string): Filter | null {
  const negated = text.startsWith("!");
  let pattern = (negated ? text.slice(1) : text).replace(/^\.?\//, "");
  if (pattern.endsWith("/")) pattern += "**";
  if (!negated && /^(\*|\*\*|\*\*\/\*|)$/.test(pattern)) return null;
  let glob: Glob;
  try {
    glob = compileGlob(pattern);
  } catch (error) {
    throw new ToolError(`glob: ${(error as Error).message}`, "invalid_arguments");
  }
  const admits = pattern.includes("/")
    ? (prefix: string) => {
      const state = stateAt(glob, prefix);
      return (name: string) => matches(glob, state, name) !== negated;
    }
    : () => (name: string) => matchGlob(glob, name) !== negated;
  return {
    enters: (prefix) => negated || !pattern.includes("/") || !isDead(stateAt(glob, prefix)),
    admits,
    files: (prefix, names) => names.filter(admits(prefix)),
  };
}

function stateAt(glob: Glob, prefix: string): GlobState {
  let state = startState(glob);
  for (const name of prefix.split("/").slice(0, -1)) state = descend(glob, state, name);
  return state;
}
