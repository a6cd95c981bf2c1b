/**
 * One layer of the catalog: what one place says, checked entry by entry.
 *
 * @module
 */
import { ConfigError, messageOf } from "../errors.ts";
import { join } from "../text/path.ts";
import { decode, readFile, readNames } from "./_files.ts";
import { roleProblem, teamOf, teamProblem } from "./_shape.ts";
import { isName } from "./names.ts";
import { parseSkill } from "./skills.ts";
import type { Kind, Origin, RoleFields, SkillFields, TeamFields } from "./types.ts";

/** Fields by kind. */
export interface FieldsOf {
  readonly role: RoleFields;
  readonly team: TeamFields;
  readonly skill: SkillFields & { readonly description: string };
}

/** One layer. */
export interface Layer {
  readonly origin: Exclude<Origin, "merged">;
  readonly role: Map<string, RoleFields>;
  readonly team: Map<string, TeamFields>;
  readonly skill: Map<string, FieldsOf["skill"]>;
  /** What cannot be used, one line each, by kind and name (`role ghost`). */
  readonly problems: Map<string, string>;
}

/** An empty layer. */
export function emptyLayer(origin: Layer["origin"]): Layer {
  return { origin, role: new Map(), team: new Map(), skill: new Map(), problems: new Map() };
}

/** Entries of a roles or teams file: an object by name, or a list of objects with `name`. @throws {ConfigError} */
export function parseEntries(path: string, text: string): Map<string, Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new ConfigError(`${path} is no JSON: ${messageOf(error)}`);
  }
  const entries = new Map<string, Record<string, unknown>>();
  const add = (name: unknown, fields: unknown) => {
    if (typeof name !== "string" || !isName(name)) {
      throw new ConfigError(
        `${path}: ${
          JSON.stringify(name) ?? "an entry without a name"
        } cannot be a name; use letters, digits, "-" and "_"`,
      );
    }
    if (entries.has(name)) throw new ConfigError(`${path}: "${name}" stands there twice`);
    if (typeof fields !== "object" || fields === null || Array.isArray(fields)) {
      throw new ConfigError(`${path}: "${name}" must be an object`);
    }
    entries.set(name, fields as Record<string, unknown>);
  };
  if (Array.isArray(value)) {
    for (const item of value) {
      if (typeof item !== "object" || item === null) {
        throw new ConfigError(`${path}: a list of objects with "name" is expected`);
      }
      const { name, ...fields } = item as Record<string, unknown>;
      add(name, fields);
    }
  } else if (typeof value === "object" && value !== null) {
    for (const [name, fields] of Object.entries(value)) add(name, fields);
  } else throw new ConfigError(`${path} must hold an object by name, or a list of objects with "name"`);
  return entries;
}

/** Puts the entries of a roles or teams file into a layer. @throws {ConfigError} when the file as a whole is broken */
export function addEntries(layer: Layer, kind: "role" | "team", path: string, text: string): void {
  for (const [name, fields] of parseEntries(path, text)) {
    const problem = kind === "role" ? roleProblem(fields) : teamProblem(fields);
    if (problem) {
      layer.problems.set(`${kind} ${name}`, `${kind} "${name}" of ${path} cannot be used: ${problem}`);
    } else if (kind === "role") layer.role.set(name, fields as RoleFields);
    else layer.team.set(name, teamOf(fields));
  }
}

/** A skill's file. */
export interface SkillFile {
  readonly name: string;
  /** Relative to the folder of skills. */
  readonly path: string;
}

/** The skills of a folder: `NAME.md`, or a folder `NAME` with a `SKILL.md`. @throws {ConfigError} */
export function findSkills(folder: string, below: string | null): SkillFile[] {
  const found = new Map<string, SkillFile>();
  for (const entry of readNames(folder, below)) {
    const single = /^(.+)\.md$/i.exec(entry.name)?.[1];
    if (single !== undefined && !entry.isDirectory && isName(single)) {
      found.set(single, { name: single, path: entry.name });
    } else if (!found.has(entry.name) && isName(entry.name) && !entry.isFile) {
      const path = `${entry.name}/SKILL.md`;
      if (below !== null && entry.isSymlink) continue;
      if (exists(join(folder, path))) found.set(entry.name, { name: entry.name, path });
    }
  }
  return [...found.values()];
}

function exists(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch {
    return false;
  }
}

/** Puts a skill's bytes into a layer. */
export function addSkill(layer: Layer, name: string, path: string, bytes: Uint8Array): void {
  layer.skill.set(name, parseSkill(decode(path, bytes)));
}

/** Notes that a skill cannot be used; the others can. */
export function noteSkill(layer: Layer, name: string, error: ConfigError): void {
  layer.problems.set(`skill ${name}`, `skill "${name}" cannot be used: ${error.message}`);
}

/** Does what reads a skill, and notes why it cannot be. */
export function orNote(layer: Layer, name: string, read: () => void): void {
  try {
    read();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    noteSkill(layer, name, error);
  }
}

/** A layer of the user's own files in a folder: roles.json, teams.json, skills/. @throws {ConfigError} */
export function readGlobal(folder: string): Layer {
  const layer = emptyLayer("global");
  for (const kind of ["role", "team"] as const) {
    const path = join(folder, `${kind}s.json`), bytes = readFile(path, null);
    if (bytes) addEntries(layer, kind, path, decode(path, bytes));
  }
  const skills = join(folder, "skills");
  for (const { name, path } of findSkills(skills, null)) {
    orNote(layer, name, () => {
      const bytes = readFile(join(skills, path), null);
      if (bytes) addSkill(layer, name, join(skills, path), bytes);
    });
  }
  return layer;
}

/** The file of a kind below `.polyglav`; for a skill its own. */
export function localPath(kind: Kind, name: string): string {
  return kind === "skill" ? `.polyglav/skills/${name}.md` : `.polyglav/${kind}s.json`;
}
