/**
 * The effective configuration of a run: default < global < user (the user's own file about this project) < project <
 * flags. Objects merge per key at any depth,
 * lists and scalars replace. The file of a project that the user does not trust only narrows.
 *
 * @module
 */
import { ConfigError, UsageError } from "../errors.ts";
import { join } from "../text/path.ts";
import { nearest } from "../text/nearest.ts";
import type { Json } from "../tool.ts";
import { readConfigFile } from "./_files.ts";
import { decode, EMPTY, flagLayer, type Layer, parseFile, parseLayer } from "./_layer.ts";
import { type Ignored, narrowLayer, same, valueAt } from "./_narrow.ts";
import { showName, showValue } from "./_show.ts";
import {
  globalConfigFile,
  PROJECT_CONFIG,
  projectConfigFile,
  type UserPaths,
  userProjectFile,
  WORKTREE,
} from "./paths.ts";
import { assemble, defaultLeaves, MODES, type SchemaEntry } from "./schema.ts";
import type { Settings } from "./settings.ts";
import { isTrusted, TRUSTED_FILES } from "./trust.ts";

/** Where a value comes from, from the weakest to the strongest. */
export type Origin = "default" | "global" | "user" | "project" | "flag";

/** What to load. */
export interface LoadInput {
  /** Canonical. */
  readonly worktree: string;
  readonly paths: UserPaths;
  /** What the command line sets, by dotted key; undefined ones are not there. */
  readonly flags?: Readonly<Record<string, unknown>>;
  /** The user trusts the project for this run (`--trust`, POLYGLAV_TRUST=1); else what is recorded counts. */
  readonly trust: boolean;
  /** Files besides {@link TRUSTED_FILES} that a recorded trust is about, relative to the worktree. */
  readonly trustedFiles?: readonly string[];
  /** Do not look whether trust is recorded: the project counts as trusted only by `trust`. */
  readonly ignoreRecord?: boolean;
}

/** The configuration and where it comes from. */
export interface LoadedConfig {
  readonly settings: Settings;
  /** Where the value of a dotted key comes from; for a group, the strongest of its keys. */
  origin(key: string): Origin;
  /** Dotted keys that are set somewhere (defaults included), sorted, with their values. */
  entries(): (readonly [string, Json])[];
  /** For the user, one line each; the one about missing trust included. */
  readonly warnings: readonly string[];
  /** Keys of the project's file that have no or not their full effect because the project is not trusted. */
  readonly ignored: readonly Ignored[];
  /** The project's file counts in full. */
  readonly trusted: boolean;
  /** The project's file as it was read, or null. */
  readonly projectFile: Uint8Array | null;
}

type Leaves = readonly (readonly [string, SchemaEntry, Json])[];

/**
 * Loads the configuration.
 *
 * @throws ConfigError for a file or a value that cannot be understood: it names file, key, what stands there and what
 * is expected
 * @throws UsageError for such a flag
 */
export function loadConfig(input: LoadInput): LoadedConfig {
  const { worktree, paths } = input;
  const global = readLayer(globalConfigFile(paths)), mine = readUserLayer(paths, worktree);
  const project = readLayer(projectConfigFile(worktree), join(worktree, ".polyglav"));
  const flags = input.flags ? flagLayer(input.flags) : EMPTY;
  const trusted = input.trust || (!input.ignoreRecord && recorded(input, project.bytes));

  const base: Leaves = defaultLeaves(), said = leavesOf(flags);
  const own: Leaves = [...leavesOf(global.layer), ...leavesOf(mine.layer)];
  const ownModes = [...Object.keys(MODES), ...global.layer.modes, ...mine.layer.modes, ...flags.modes];
  let wanted: Leaves = leavesOf(project.layer), modes = ownModes, ignored: readonly Ignored[] = [];
  if (trusted) modes = [...ownModes, ...project.layer.modes];
  else if (project.bytes !== null) {
    const user = assemble([...base, ...own, ...said], ownModes);
    checkMode(user, flags.leaves.has("mode"), mine.layer.leaves.has("mode") ? mine.file : global.file);
    ({ leaves: wanted, ignored } = narrowLayer(project.layer, flags, user));
  }

  const settings = assemble([...base, ...own, ...wanted, ...said], modes);
  const origins = new Map<string, Origin>(), values = new Map<string, readonly [SchemaEntry, Json]>();
  const layers: readonly [Origin, Leaves][] = [
    ["default", base],
    ["global", leavesOf(global.layer)],
    ["user", leavesOf(mine.layer)],
    ["project", wanted],
    ["flag", said],
  ];
  for (const [origin, leaves] of layers) {
    for (const [key, entry, value] of leaves) {
      // A narrowing that changes nothing is still the user's value.
      if (origin === "project" && !trusted && same(values.get(key)?.[1], value)) continue;
      origins.set(key, origin);
      values.set(key, [entry, value]);
    }
  }
  checkMode(
    settings,
    flags.leaves.has("mode"),
    { project: project.file, user: mine.file }[String(origins.get("mode"))] ?? global.file,
  );
  return {
    settings,
    origin: (key) => originOf(key, origins),
    entries: () =>
      [...values].sort(([a], [b]) => a < b ? -1 : 1)
        .map(([key, [entry]]) => [key, valueAt(settings, key, entry) as Json] as const),
    warnings: [
      ...global.layer.warnings,
      ...mine.layer.warnings,
      ...project.layer.warnings,
      ...trustWarning(project.file, ignored),
    ],
    ignored,
    trusted,
    projectFile: project.bytes,
  };
}

function recorded(input: LoadInput, bytes: Uint8Array | null): boolean {
  const files = [...TRUSTED_FILES, ...(input.trustedFiles ?? [])];
  if (bytes === null && files.length === 1) return false;
  return isTrusted({
    paths: input.paths,
    worktree: input.worktree,
    files,
    contents: new Map([[PROJECT_CONFIG, bytes]]),
  });
}

function readLayer(file: string, within?: string): { file: string; bytes: Uint8Array | null; layer: Layer } {
  const bytes = readConfigFile(file, within);
  const text = bytes === null ? null : decode(file, bytes);
  return { file, bytes, layer: text === null ? EMPTY : parseLayer(file, text) };
}

/** The user's own file about this project; one that says it is about another is left out, with a warning. */
function readUserLayer(paths: UserPaths, worktree: string): ReturnType<typeof readLayer> {
  const file = userProjectFile(paths, worktree), bytes = readConfigFile(file, undefined);
  if (bytes === null) return { file, bytes, layer: EMPTY };
  const text = decode(file, bytes), { root } = parseFile(file, text);
  if (root[WORKTREE] === worktree) return { file, bytes, layer: parseLayer(file, text) };
  const warning = `${showName(file)} is ignored: its "${WORKTREE}" is not ${showName(worktree)}`;
  return { file, bytes, layer: { ...EMPTY, warnings: [warning] } };
}

function leavesOf(layer: Layer): Leaves {
  return [...layer.leaves].map(([key, { entry, value }]) => [key, entry, value] as const);
}

function checkMode({ mode, modes }: Settings, isFlag: boolean, file: string): void {
  if (mode in modes) return;
  const names = Object.keys(modes), meant = nearest(mode, names);
  const message = `mode is ${showValue(mode)}, which is no mode; ` +
    (meant === null
      ? `there are ${names.join(", ")}`
      : `did you mean ${meant}? (there are ${names.join(", ")})`);
  throw isFlag ? new UsageError(message) : new ConfigError(`${showName(file)}: ${message}`);
}

function trustWarning(file: string, ignored: readonly Ignored[]): string[] {
  if (ignored.length === 0) return [];
  const keys = ignored.slice(0, 20).map(({ key }) => showName(key)).join(", ");
  const more = ignored.length > 20 ? ` and ${ignored.length - 20} more` : "";
  return [
    `this project is not trusted, so these keys of ${
      showName(file)
    } only count as far as they narrow what you ` +
    `allow: ${keys}${more}; look at the file, then run polyglav trust (or pass --trust for one run)`,
  ];
}

const STRENGTH: readonly Origin[] = ["default", "global", "user", "project", "flag"];

function originOf(key: string, origins: ReadonlyMap<string, Origin>): Origin {
  const own = origins.get(key);
  if (own !== undefined) return own;
  let strongest = 0;
  for (const [other, origin] of origins) {
    if (other.startsWith(`${key}.`)) strongest = Math.max(strongest, STRENGTH.indexOf(origin));
  }
  return STRENGTH[strongest]!;
}
