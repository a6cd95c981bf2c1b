/**
 * Walking a tree the way glob and grep see it: in a stable order, without what `.gitignore` and the skip list leave out,
 * never through a link.
 *
 * @module
 */
import { decodeText } from "../src/text/decode.ts";
import { type IgnoreRules, isIgnored, parseIgnore } from "../src/text/gitignore.ts";
import { isWithin, join, relative } from "../src/text/path.ts";
import type { DirectoryEntry, Workspace } from "../src/tool.ts";

/** Directories that are listed, but not entered unless they are named. */
export const SKIPPED: ReadonlySet<string> = new Set([
  "__pycache__",
  ".git",
  ".venv",
  ".polyglav",
  ".opencode",
  "dist",
  "node_modules",
]);

const LARGEST_IGNORE_FILE = 1 << 20;

/** What holds at a directory; plain data, so that another worker can go on from there. */
export interface Place {
  /** Absolute canonical path. */
  readonly path: string;
  /** Path below the walk's base: empty, or with a `/` at its end. */
  readonly prefix: string;
  /** Path below the worktree, as ignore rules see it; the same form. */
  readonly inTree: string;
  /** The skip list holds. */
  readonly skip: boolean;
  /** The .gitignore files that hold here, outermost first; null where they do not count. */
  readonly sources: readonly IgnoreSource[] | null;
}

/** One .gitignore file. */
export interface IgnoreSource {
  /** Its directory below the worktree, as in {@link Place.inTree}. */
  readonly base: string;
  readonly text: string;
}

/** One entry of a directory. */
export interface Entry {
  readonly name: string;
  /** `closed` is a directory of the skip list: listed, not entered. */
  readonly kind: "file" | "link" | "directory" | "closed";
}

/** What a walk sees of a directory. */
export interface Listing {
  /** Sorted so that a walk meets paths in their order as text (a directory sorts as `name/`). */
  readonly entries: readonly Entry[];
  /** What {@link below} needs; the place itself, with its own .gitignore added. */
  readonly place: Place;
  /** How many entries .gitignore left out. */
  readonly ignored: number;
}

/**
 * The place where a walk begins. Where the base lies in a directory that is skipped or ignored, it was named, and
 * nothing below it is left out.
 *
 * @param base canonical path of a directory
 * @param ignored look at what .gitignore names, too; the skip list still holds
 */
export function openPlace(workspace: Workspace, base: string, ignored: boolean): Place {
  const outside = !isWithin(base, workspace.root), below = outside ? "." : relative(workspace.root, base);
  let sources = outside ? [] : readSource(workspace, `${workspace.root}/.git/info/exclude`, "");
  let inTree = "", path = workspace.root;
  for (const name of below === "." ? [] : below.split("/")) {
    sources = [...sources, ...readSource(workspace, join(path, ".gitignore"), inTree)];
    if (SKIPPED.has(name) || isIgnored(rulesOf(sources), inTree + name, name, true)) {
      return { path: base, prefix: "", inTree: `${below}/`, skip: false, sources: null };
    }
    inTree += `${name}/`;
    path = join(path, name);
  }
  return { path: base, prefix: "", inTree, skip: true, sources: ignored ? null : sources };
}

/** The place of a directory in a listing. */
export function below(listing: Listing, name: string): Place {
  const { path, prefix, inTree, skip, sources } = listing.place;
  return {
    path: path.endsWith("/") ? path + name : `${path}/${name}`,
    prefix: `${prefix}${name}/`,
    inTree: `${inTree}${name}/`,
    skip,
    sources,
  };
}

/**
 * Lists a directory. Below the base, one that vanished or may not be read is empty.
 *
 * @throws {ToolError} where the base itself cannot be read
 */
export function list(workspace: Workspace, place: Place): Listing {
  let found: readonly DirectoryEntry[];
  try {
    found = workspace.walkDirectory(place.path);
  } catch (error) {
    if (place.prefix === "") throw error;
    found = [];
  }
  let { sources } = place, ignored = 0;
  if (sources !== null && found.some((entry) => entry.name === ".gitignore" && entry.kind === "file")) {
    sources = [...sources, ...readSource(workspace, join(place.path, ".gitignore"), place.inTree)];
  }
  const rules = sources === null ? null : rulesOf(sources), entries: Entry[] = [];
  for (const { name, kind } of found) {
    if (kind === "other") continue;
    const directory = kind === "directory";
    if (rules !== null && isIgnored(rules, place.inTree + name, name, directory)) ignored++;
    else {
      const closed = directory && place.skip && SKIPPED.has(name);
      entries.push({ name, kind: closed ? "closed" : kind === "symlink" ? "link" : kind });
    }
  }
  entries.sort(byPath);
  return { entries, place: { ...place, sources }, ignored };
}

/** Orders entries as their paths are ordered as text. */
export function byPath(a: Entry, b: Entry): number {
  const x = isDirectory(a) ? `${a.name}/` : a.name, y = isDirectory(b) ? `${b.name}/` : b.name;
  return x < y ? -1 : x > y ? 1 : 0;
}

/** Whether an entry is a directory, entered or not. */
export function isDirectory(entry: Entry): boolean {
  return entry.kind === "directory" || entry.kind === "closed";
}

const compiled = new WeakMap<readonly IgnoreSource[], { readonly rules: IgnoreRules | null }>();

function rulesOf(sources: readonly IgnoreSource[]): IgnoreRules | null {
  let known = compiled.get(sources);
  if (!known) {
    let rules: IgnoreRules | null = null;
    for (const { text, base } of sources) rules = parseIgnore(text, base, rules);
    compiled.set(sources, known = { rules });
  }
  return known.rules;
}

function readSource(workspace: Workspace, path: string, base: string): IgnoreSource[] {
  try {
    const text = decodeText(workspace.readFile(path, { maxBytes: LARGEST_IGNORE_FILE }));
    return [{ base, text }];
  } catch {
    // Not there, or not for us: no rules.
    return [];
  }
}
