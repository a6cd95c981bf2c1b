/**
 * The project's layer: files below `.polyglav/`, which count only as far as the user trusts them.
 *
 * A role's prompt steers an agent as much as any instruction, so a repository that was merely cloned brings none: each
 * file counts when it is exactly what the user trusted (`polyglav trust`), or when the run trusts the project. What this
 * run saved itself counts in this run.
 *
 * @module
 */
import { ConfigError } from "../errors.ts";
import { join } from "../text/path.ts";
import { decode, readFile, removeFile, replaceFile } from "./_files.ts";
import {
  addEntries,
  addSkill,
  emptyLayer,
  type FieldsOf,
  findSkills,
  type Layer,
  localPath,
  noteSkill,
  orNote,
  parseEntries,
} from "./_layer.ts";
import { formatSkill, parseSkill } from "./skills.ts";
import type { Kind } from "./types.ts";

/** How the project's layer is read and written. */
export interface ProjectOptions {
  /** Canonical. */
  readonly worktree: string;
  /** Whether the user trusts a file with these bytes; @param path relative to the worktree */
  trusts(path: string, bytes: Uint8Array): boolean;
  /** Makes `.polyglav`, or a folder in it, and returns its path. */
  ensureFolder(child?: string): string;
}

/**
 * Files of the project's catalog that exist, relative to the worktree, with their bytes.
 *
 * @param skip told of a skill that cannot be read, which is left out then; without it that is an error too
 * @throws {ConfigError}
 */
export function projectFiles(
  worktree: string,
  skip?: (path: string, error: ConfigError) => void,
): Map<string, Uint8Array> {
  const files = new Map<string, Uint8Array>(), skills = ".polyglav/skills";
  const paths = [
    ".polyglav/roles.json",
    ".polyglav/teams.json",
    ...findSkills(join(worktree, skills), worktree).map(({ path }) => `${skills}/${path}`),
  ];
  for (const path of paths) {
    try {
      const bytes = readFile(join(worktree, path), worktree);
      if (bytes) files.set(path, bytes);
    } catch (error) {
      if (!skip || !path.startsWith(`${skills}/`) || !(error instanceof ConfigError)) throw error;
      skip(path, error);
    }
  }
  return files;
}

/** Reads and writes the project's layer. */
export class ProjectLayer {
  readonly #options: ProjectOptions;
  /** What this run saved, whether or not the rest of the file counts. */
  readonly #saved = emptyLayer("local");
  /** Files as this run wrote them, and whether what stood there before counted. */
  readonly #written = new Map<string, { text: string; trusted: boolean }>();
  /** Files that do not count. */
  readonly untrusted: string[] = [];

  /** @param options see {@link ProjectOptions} */
  constructor(options: ProjectOptions) {
    this.#options = options;
  }

  /** Reads it anew. @throws {ConfigError} */
  read(): Layer {
    const { worktree } = this.#options, layer = emptyLayer("local");
    this.untrusted.length = 0;
    const unusable = (path: string, error: ConfigError) => noteSkill(layer, nameOf(path), error);
    for (const [path, bytes] of projectFiles(worktree, unusable)) {
      if (!this.#counts(path, bytes)) {
        this.untrusted.push(path);
        continue;
      }
      const kind = /\/(role|team)s\.json$/.exec(path)?.[1] as "role" | "team" | undefined;
      if (kind) addEntries(layer, kind, path, decode(path, bytes));
      else orNote(layer, nameOf(path), () => addSkill(layer, nameOf(path), path, bytes));
    }
    for (const kind of ["role", "team", "skill"] as const) {
      for (const [name, fields] of this.#saved[kind]) (layer[kind] as Map<string, unknown>).set(name, fields);
    }
    return layer;
  }

  /** The file that an entry stands in (or would), relative to the worktree, and whether what stands there counts. */
  fileOf(kind: Kind, name: string): { readonly path: string; readonly trusted: boolean } {
    const path = kind === "skill" ? this.#skillPath(name) : localPath(kind, name);
    const bytes = readFile(join(this.#options.worktree, path), this.#options.worktree);
    return { path, trusted: bytes === null || this.#counts(path, bytes) };
  }

  /** Whether this run saved the entry itself. */
  savedHere(kind: Kind, name: string): boolean {
    return this.#saved[kind].has(name);
  }

  #counts(path: string, bytes: Uint8Array): boolean {
    const own = this.#written.get(path);
    if (own && own.text === new TextDecoder().decode(bytes)) return own.trusted;
    return this.#options.trusts(path, bytes);
  }

  /**
   * Saves an entry: given fields replace those that stand in the file, others stay. Other entries of the file stay as
   * they are written.
   *
   * @param check says what is wrong with the merged fields, before anything is written
   * @returns the fields as they stand now
   * @throws {ConfigError} when the file cannot be understood, {ToolError} when it cannot be written
   */
  save<K extends Kind>(
    kind: K,
    name: string,
    fields: Partial<FieldsOf[K]>,
    check: (fields: FieldsOf[K]) => void,
  ): void {
    const { worktree, ensureFolder } = this.#options;
    const path = kind === "skill" ? this.#skillPath(name) : localPath(kind, name),
      full = join(worktree, path);
    const bytes = readFile(full, worktree), trusted = bytes === null || this.#counts(path, bytes);
    const old = bytes === null ? "" : decode(path, bytes);
    let text: string, merged: FieldsOf[K];
    if (kind === "skill") {
      const before: Partial<FieldsOf["skill"]> = bytes === null ? {} : headerOf(old);
      merged = { ...before, ...fields } as FieldsOf[K];
      check(merged);
      text = formatSkill(merged as FieldsOf["skill"], name);
      merged = parseSkill(text) as FieldsOf[K];
    } else {
      const entries = old === "" ? new Map<string, Record<string, unknown>>() : parseEntries(path, old);
      merged = { ...entries.get(name), ...fields } as unknown as FieldsOf[K];
      check(merged);
      entries.set(name, merged as Record<string, unknown>);
      text = write(entries);
    }
    ensureFolder();
    if (kind === "skill" && !path.endsWith("/SKILL.md")) ensureFolder("skills");
    replaceFile(full, text, ensureFolder("sessions"), worktree);
    this.#written.set(path, { text, trusted });
    (this.#saved[kind] as Map<string, FieldsOf[K]>).set(name, merged);
  }

  /** Removes an entry from its file; false where there is none. @throws {ConfigError} {ToolError} */
  remove(kind: Kind, name: string): boolean {
    const { worktree, ensureFolder } = this.#options;
    const path = kind === "skill" ? this.#skillPath(name) : localPath(kind, name),
      full = join(worktree, path);
    const bytes = readFile(full, worktree);
    this.#saved[kind].delete(name);
    if (bytes === null) return false;
    if (kind === "skill") {
      removeFile(full, worktree);
      return true;
    }
    const entries = parseEntries(path, decode(path, bytes)), trusted = this.#counts(path, bytes);
    if (!entries.delete(name)) return false;
    const text = write(entries);
    replaceFile(full, text, ensureFolder("sessions"), worktree);
    this.#written.set(path, { text, trusted });
    return true;
  }

  /** Where a skill stands: the folder form where it exists, else the single file. */
  #skillPath(name: string): string {
    const { worktree } = this.#options, single = localPath("skill", name);
    const folder = `.polyglav/skills/${name}/SKILL.md`;
    return readFile(join(worktree, single), worktree) === null && readFile(join(worktree, folder), worktree)
      ? folder
      : single;
  }
}

/** What a skill's header says; a description that was only taken from the content is not in it. */
function headerOf(text: string): Partial<FieldsOf["skill"]> {
  const parsed = parseSkill(text), { description, ...rest } = parsed;
  return parseSkill(parsed.content).description === description ? rest : { ...rest, description };
}

function write(entries: ReadonlyMap<string, unknown>): string {
  return `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`;
}

function nameOf(path: string): string {
  return /\/skills\/([^/]+?)(?:\/SKILL)?\.md$/i.exec(path)![1]!;
}
