/**
 * Roles, teams and skills of a project: bundled < plugin < global < project, merged field by field, each entry with its
 * origin. Read when first asked for.
 *
 * @module
 */
import { messageOf, ToolError } from "../errors.ts";
import { nearest } from "../text/nearest.ts";
import type { CatalogView } from "../tool.ts";
import { emptyLayer, type FieldsOf, type Layer, readGlobal } from "./_layer.ts";
import { loopStages, roleProblem, teamOf, teamProblem } from "./_shape.ts";
import { BUNDLED_ROLES, BUNDLED_TEAMS } from "./bundled.ts";
import { checkName } from "./names.ts";
import { ProjectLayer, type ProjectOptions } from "./project.ts";
import type { Kind, Origin, Role, Skill, Team } from "./types.ts";

export type { Kind, Origin, Role, Skill, Stage, Team } from "./types.ts";
export { loopStages } from "./_shape.ts";

/** What a catalog is made from. */
export interface CatalogOptions extends ProjectOptions {
  /** The user's configuration directory. */
  readonly configDir: string;
  /** What plugins bring, in order. */
  readonly plugins?: readonly Layer[];
  /** The permission keys that there are; without them keys are not checked. */
  readonly permissionKeys?: readonly string[];
  /** Told once about what does not count, one line each. */
  readonly warn?: (message: string) => void;
}

interface EntryOf {
  readonly role: Role;
  readonly team: Team;
  readonly skill: Skill;
}

/** See the module's comment. */
export class Catalog {
  readonly #options: CatalogOptions;
  readonly #project: ProjectLayer;
  #layers: readonly Layer[] | null = null;
  readonly #warned = new Set<string>();

  /** @param options nothing is read yet */
  constructor(options: CatalogOptions) {
    this.#options = options;
    this.#project = new ProjectLayer(options);
  }

  /** All entries of a kind that can be used, sorted by name. @throws {ConfigError} when a file as a whole cannot be understood */
  list<K extends Kind>(kind: K): EntryOf[K][] {
    return this.#names(kind).sort().map((name) => this.find(kind, name)!);
  }

  /** An entry, or null. @throws {ConfigError} as {@link list}; {ToolError} for one that stands there but is broken */
  find<K extends Kind>(kind: K, name: string): EntryOf[K] | null {
    const layers = this.#all();
    const broken = layers.map(({ problems }) => problems.get(`${kind} ${name}`)).find((each) => each);
    if (broken) throw new ToolError(broken, "invalid_arguments");
    const having = layers.filter((layer) => layer[kind].has(name));
    if (having.length === 0) return null;
    const origin: Origin = having.length > 1 ? "merged" : having[0]!.origin;
    const fields = Object.assign({}, ...having.map((layer) => layer[kind].get(name)));
    return {
      ...(kind === "team" ? { stages: [] } : {}),
      ...fields,
      name,
      origin,
    } as unknown as EntryOf[K];
  }

  /** An entry. @throws {ToolError} `not_found`, which says what there is */
  get<K extends Kind>(kind: K, name: string): EntryOf[K] {
    const found = this.find(kind, name);
    if (found) return found;
    throw new ToolError(this.unknown(kind, name), "not_found");
  }

  /** The message for a name that there is not. */
  unknown(kind: Kind, name: string): string {
    const names = this.list(kind).map((entry) => entry.name), meant = nearest(name, names);
    const shown = JSON.stringify(name.length > 80 ? `${name.slice(0, 77)}...` : name);
    const hint = meant ? ` did you mean ${meant}?` : "";
    return names.length === 0
      ? `unknown ${kind} ${shown}; there are no ${kind}s`
      : `unknown ${kind} ${shown};${hint} there are ${names.join(", ")}`;
  }

  /** The project's file that an entry stands in (or would), relative to the worktree, and whether what stands there counts. */
  fileOf(kind: Kind, name: string): { readonly path: string; readonly trusted: boolean } {
    return this.#project.fileOf(kind, checkName(kind, name));
  }

  /** Whether this run saved the entry itself. */
  savedHere(kind: Kind, name: string): boolean {
    return this.#project.savedHere(kind, name);
  }

  /** The layer whose own entry stands on top. */
  layerOf(kind: Kind, name: string): Layer["origin"] | null {
    return this.#all().findLast((layer) => layer[kind].has(name))?.origin ?? null;
  }

  /** Roles and teams as resolvers see them. Broken entries are not among them. @throws {ConfigError} as {@link list} */
  view(): CatalogView {
    const pick = <K extends "role" | "team">(kind: K) =>
      new Map(this.#names(kind).map((name) => [name, this.find(kind, name)!]));
    return { roles: pick("role"), teams: pick("team") };
  }

  #names(kind: Kind): string[] {
    const layers = this.#all(), names = new Set(layers.flatMap((layer) => [...layer[kind].keys()]));
    return [...names].filter((name) => !layers.some((layer) => layer.problems.has(`${kind} ${name}`)));
  }

  /**
   * Saves to the project: the fields given replace those of the project's entry, the others stay.
   *
   * @returns notes, one line each
   * @throws {ToolError} for a name or fields that cannot be, {ConfigError} for a broken file
   */
  save<K extends Kind>(kind: K, name: string, fields: Partial<FieldsOf[K]>): string[] {
    checkName(kind, name);
    const given = kind === "team" ? teamOf(fields as Record<string, unknown>) : fields;
    this.#project.save(kind, name, given as Partial<FieldsOf[K]>, (merged) => {
      const problem = kind === "role"
        ? roleProblem(merged)
        : kind === "team"
        ? teamProblem(merged)
        : (merged as FieldsOf["skill"]).content?.trim()
        ? null
        : "needs content";
      if (problem) throw new ToolError(`the ${kind} was not saved: ${problem}`, "invalid_arguments");
    });
    this.reload();
    return this.validate(kind, name);
  }

  /** Removes the project's entry. @throws {ToolError} where there is none */
  remove(kind: Kind, name: string): void {
    checkName(kind, name);
    const layer = this.layerOf(kind, name);
    if (layer !== null && layer !== "local") {
      throw new ToolError(
        layer === "bundled"
          ? `${kind} "${name}" is bundled - override it with save instead of remove`
          : `${kind} "${name}" is ${layer}, not local - override it with save instead of remove`,
        "permission",
      );
    }
    if (!this.#project.remove(kind, name)) {
      throw new ToolError(`no local ${kind} to remove: ${name}`, "not_found");
    }
    this.reload();
  }

  /** The next look reads the files anew. */
  reload(): void {
    this.#layers = null;
  }

  /** What is wrong with an entry, with all of a kind, or with everything; one line each. */
  validate(kind?: Kind, name?: string): string[] {
    const out: string[] = [];
    let layers: readonly Layer[];
    try {
      layers = this.#all();
    } catch (error) {
      return [messageOf(error)];
    }
    const wanted = (of: Kind, called: string) =>
      (kind === undefined || kind === of) && (name === undefined || name === called);
    for (const layer of layers) {
      for (const [key, problem] of layer.problems) {
        const [of, called] = key.split(" ") as [Kind, string];
        if (wanted(of, called)) out.push(problem);
      }
    }
    for (const called of this.#names("role").filter((each) => wanted("role", each))) {
      const role = this.find("role", called)!;
      out.push(...this.#missing("skill", role.skills ?? [], `role "${called}"`), ...this.#unknownKeys(role));
    }
    for (const called of this.#names("team").filter((each) => wanted("team", each))) {
      const team = this.find("team", called)!, where = `team "${called}"`, loop = loopStages(team);
      if (team.stages.length === 0) out.push(`${where} has no stages`);
      out.push(...this.#missing("role", team.stages.map(({ role }) => role), where));
      out.push(...this.#missing("skill", team.stages.flatMap(({ skills }) => skills ?? []), where));
      if (typeof loop === "string") out.push(`${where}: ${loop}`);
    }
    if (name !== undefined && kind !== undefined && out.length === 0 && !this.find(kind, name)) {
      out.push(this.unknown(kind, name));
    }
    return out;
  }

  /** A key that no tool has restricts nothing: most often it is misspelt. */
  #unknownKeys({ name, tool_permission = {}, grant_permission = {} }: Role): string[] {
    const { permissionKeys: known } = this.#options;
    if (!known) return [];
    const keys = new Set([...Object.keys(tool_permission), ...Object.keys(grant_permission)]);
    return [...keys].filter((key) => !known.includes(key) && key !== "bash_allow" && key !== "bash_auto")
      .map((key) => {
        const meant = nearest(key, known);
        return `role "${name}" names the permission "${key.slice(0, 80)}", which does not exist${
          meant ? ` (did you mean ${meant}?)` : ""
        }`;
      });
  }

  #missing(kind: Kind, names: readonly string[], where: string): string[] {
    const known = new Set(this.#names(kind));
    return [...new Set(names)].filter((name) => !known.has(name))
      .map((name) => `${where} names the ${kind} "${name}", which does not exist`);
  }

  #all(): readonly Layer[] {
    if (this.#layers) return this.#layers;
    const bundled = emptyLayer("bundled");
    for (const [name, role] of Object.entries(BUNDLED_ROLES)) bundled.role.set(name, role);
    for (const [name, team] of Object.entries(BUNDLED_TEAMS)) bundled.team.set(name, team);
    const layers = [
      bundled,
      ...this.#options.plugins ?? [],
      readGlobal(this.#options.configDir),
      this.#project.read(),
    ];
    this.#layers = layers;
    this.#warn(layers);
    return layers;
  }

  #warn(layers: readonly Layer[]): void {
    const { warn } = this.#options, { untrusted } = this.#project;
    const messages = layers.flatMap(({ problems }) => [...problems.values()]);
    if (untrusted.length > 0) {
      messages.push(
        `not trusted, so left out: ${
          untrusted.join(", ")
        }; look at them, then run polyglav trust (or pass --trust for one run)`,
      );
    }
    for (const name of this.#names("role")) messages.push(...this.#unknownKeys(this.find("role", name)!));
    for (const message of messages) {
      if (!this.#warned.has(message)) warn?.(message);
      this.#warned.add(message);
    }
  }
}
