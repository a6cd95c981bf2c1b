/**
 * `polyglav plugins`: what is installed, what it may do, and whether it counts.
 *
 * @module
 */
import { groups } from "../../tools/mod.ts";
import { setKey, unsetKey } from "../config/edit.ts";
import { entryOf } from "../config/keys.ts";
import { globalConfigFile } from "../config/paths.ts";
import { EXIT, messageOf, UsageError } from "../errors.ts";
import { accessWords, grantedAccess } from "../plugins/access.ts";
import { type PluginFolder, readPluginFolder } from "../plugins/folder.ts";
import { type PluginOrigin, pluginsFolder } from "../plugins/found.ts";
import { loadPlugins, planOf, type PluginInfo } from "../plugins/load.ts";
import {
  copyPlugin,
  describePlugin,
  disablePlugin,
  enablePlugin,
  installPlugin,
  parseGrant,
  sweep,
} from "../plugins/manage.ts";
import { NO_ACCESS, type PluginAccess } from "../plugins/manifest.ts";
import { PluginRunner } from "../plugins/runner.ts";
import { childEnvironment, PASSED } from "../sandbox/environment.ts";
import { canLaunch, ceilingState } from "../sandbox/launch.ts";
import { ProcessLink } from "../sandbox/plugin_process.ts";
import { cleanForTerminal, cleanJson } from "../text/ansi.ts";
import { dirname, join } from "../text/path.ts";
import type { Tool } from "../tool.ts";
import type { CliIo, Command, Invocation } from "./_command.ts";
import { type LoadedSettings, loadSettings } from "./_load.ts";
import { fetchRepository, isRepository } from "./_plugin_source.ts";
import { accessPlaces, hostCode, isDisabled } from "./_plugins.ts";
import { VERSION } from "./_version.ts";

const OUTPUT = {
  type: "string",
  short: "o",
  value: "FORMAT",
  choices: ["text", "json"],
  help: "text (default) or json",
} as const;
const ALLOW = {
  type: "strings",
  value: "ACCESS",
  help: "grant this much of what it asks for: net:HOST, read:PATH, …, a kind for all of it, or all",
} as const;
const PROJECT = { type: "boolean", help: "the plugin of this project, not one of your own" } as const;
const PATH = { type: "string", value: "DIR", help: "the project (default: the current folder)" } as const;

/** The command `plugins`. */
export const command: Command = {
  name: "plugins",
  summary: "list, install, enable and test plugins",
  details:
    "A plugin's code never runs in polyglav itself: it has a process of its own that can do what you granted and " +
    "nothing else. It is enabled as it is at that moment; when its files change, it has to be enabled again.",
  examples: [
    ["plugins list", "what is installed, and whether it counts"],
    ["plugins install ./word-stats", "copy a plugin and enable it, if it asks for nothing"],
  ],
  subcommands: [
    {
      name: "list",
      summary: "bundled and installed plugins with their status",
      examples: [["plugins list", "name, version, status and why"]],
      options: { output: OUTPUT, path: PATH },
      run: list,
    },
    {
      name: "show",
      summary: "one plugin: what it brings, asks for and was granted",
      usage: "NAME",
      examples: [["plugins show word-stats", "for reading"]],
      options: { output: OUTPUT, path: PATH },
      positionals: [1, 1],
      run: show,
    },
    {
      name: "install",
      summary: "copy a plugin from a folder or a git repository",
      usage: "PATH|URL",
      details: "It is enabled at once when it asks for nothing, or for what --allow grants.",
      examples: [
        ["plugins install ./weather --allow all", "from a folder, with all that it asks for"],
        ["plugins install https://example.com/weather.git", "from a git repository"],
      ],
      options: { allow: ALLOW, project: PROJECT, path: PATH },
      positionals: [1, 1],
      run: install,
    },
    {
      name: "enable",
      summary: "let a plugin count, as it is now, with what you grant",
      usage: "NAME",
      examples: [
        ["plugins enable weather --allow net:api.example.com", "grant one host"],
        ["plugins enable polyglav-core-exec", "a bundled one that was disabled"],
      ],
      options: { allow: ALLOW, project: PROJECT, path: PATH },
      positionals: [1, 1],
      run: enable,
    },
    {
      name: "disable",
      summary: "let a plugin count no more; bundled ones, too",
      usage: "NAME",
      examples: [["plugins disable polyglav-core-exec", "no run_command any more"]],
      options: { project: PROJECT, path: PATH },
      positionals: [1, 1],
      run: disable,
    },
    {
      name: "uninstall",
      summary: "disable a plugin and delete its folder",
      usage: "NAME",
      examples: [["plugins uninstall weather", "delete it"]],
      options: { project: PROJECT, path: PATH },
      positionals: [1, 1],
      run: uninstall,
    },
    {
      name: "test",
      summary: "run a plugin's code in its host, without enabling it",
      usage: "NAME|PATH [TOOL JSON]",
      details:
        "Without a tool: loads it and says which tools it brings. What --allow does not grant it does not have.",
      examples: [
        ["plugins test ./word-stats", "does it load?"],
        [`plugins test ./word-stats word_stats '{"text": "a b"}'`, "run one of its tools"],
      ],
      options: { allow: ALLOW, project: PROJECT, path: PATH },
      positionals: [1, 3],
      run: test,
    },
  ],
};

type Values = Invocation["values"];

interface Row {
  readonly name: string;
  readonly origin: "bundled" | PluginOrigin;
  readonly version: string;
  readonly status: PluginInfo["status"];
  readonly reason: string;
  readonly description: string;
  readonly tools: readonly string[];
  readonly asks: readonly string[];
  readonly granted: readonly string[];
  readonly folder: string | null;
}

async function list({ values, io }: Invocation): Promise<number> {
  const rows = await rowsOf(loadSettings(values, io, {}, { quiet: true }), io);
  if (values.output === "json") io.out(`${cleanJson(JSON.stringify(rows, null, 2))}\n`);
  else {
    const width = Math.max(...rows.map(({ name }) => name.length));
    for (const row of rows) {
      const what = row.reason || row.tools.join(" ");
      io.out(
        `${row.name.padEnd(width)}  ${row.version.padEnd(8)}  ${row.status.padEnd(12)}  ${line(what)}\n`,
      );
    }
  }
  return EXIT.ok;
}

async function show({ values, positionals, io }: Invocation): Promise<number> {
  const rows = await rowsOf(loadSettings(values, io, {}, { quiet: true }), io);
  const found = rows.filter(({ name }) => name === positionals[0]);
  if (found.length === 0) throw unknown(positionals[0]!, rows);
  if (values.output === "json") {
    io.out(`${cleanJson(JSON.stringify(found.length === 1 ? found[0] : found, null, 2))}\n`);
  } else for (const row of found) io.out(describeRow(row));
  return EXIT.ok;
}

function describeRow(row: Row): string {
  const words = (list: readonly string[]) => list.length > 0 ? list.join(", ") : "nothing";
  const lines = [
    `${row.name} ${row.version} (${row.origin}): ${row.status}${row.reason ? `, ${row.reason}` : ""}`,
    row.description,
    `tools: ${words(row.tools)}`,
    ...row.origin === "bundled"
      ? []
      : [`asks for: ${words(row.asks)}`, `granted: ${words(row.granted)}`, `folder: ${row.folder}`],
  ];
  return lines.filter((text) => text !== "").map((text) => `${line(text)}\n`).join("");
}

async function rowsOf(base: LoadedSettings, io: CliIo): Promise<Row[]> {
  const { settings } = base.loaded;
  const bundled = Object.entries(groups).map(([name, tools]): Row => {
    const off = isDisabled(settings, name);
    return {
      name,
      origin: "bundled",
      version: VERSION,
      status: off ? "disabled" : "loaded",
      reason: off ? `plugins.${name}.enabled is false` : "",
      description: "",
      tools: tools.map((tool) => tool.name),
      asks: [],
      granted: [],
      folder: null,
    };
  });
  const owners = new Map(
    Object.entries(groups).flatMap(([owner, tools]) =>
      tools.flatMap((t) => names(t).map((n) => [n, owner] as const))
    ),
  );
  const { infos, loaded } = await loadPlugins({
    ...placesOf(base, io),
    trusted: base.loaded.trusted || base.loaded.projectFile === null,
    version: VERSION,
    settings: settings.plugins ?? {},
    env: io.env,
    runner: new PluginRunner(null),
  });
  const installed = infos.map((info): Row => {
    const { manifest, record } = info;
    let { status, reason } = info;
    for (const tool of loaded.find((plugin) => plugin.info === info)?.tools ?? []) {
      for (const name of names(tool)) {
        const owner = owners.get(name);
        if (owner !== undefined && !isDisabled(settings, owner)) {
          [status, reason] = ["error", `the name "${name}" already belongs to ${owner}`];
        } else owners.set(name, info.name);
      }
    }
    return {
      ...{ name: info.name, origin: info.origin, folder: info.folder, status, reason },
      version: manifest?.version ?? "?",
      description: manifest?.description ?? "",
      tools: manifest?.provides.tools ?? [],
      asks: accessWords(manifest?.access ?? NO_ACCESS),
      granted: accessWords(manifest && record ? grantedAccess(manifest.access, record.grant) : NO_ACCESS),
    };
  });
  return [...bundled, ...installed];
}

function names(tool: Tool): string[] {
  const { aliases = [] } = tool;
  return [tool.name, ...Array.isArray(aliases) ? aliases : Object.keys(aliases)];
}

async function install({ values, positionals, io }: Invocation): Promise<number> {
  const base = loadSettings(values, io, {}, { quiet: true }), source = positionals[0]!;
  const origin = originOf(values),
    target = ownPlace(base, origin);
  const fetched = isRepository(source) ? await fetchRepository(source, io) : null;
  try {
    const { folder, path, replaced } = await installPlugin(fetched?.folder ?? join(io.cwd, source), target);
    const { name, version, access } = folder.manifest;
    io.out(`${replaced ? "Replaced" : "Installed"} ${name} ${version}: ${line(path)}\n`);
    const asked = accessWords(access), allow = allowOf(values);
    if (asked.length > 0 && allow.length === 0) {
      io.out(`It asks for ${line(asked.join(", "))}\n`);
      io.out(
        `It does not count before you grant that: polyglav plugins enable ${name}${
          origin === "project" ? " --project" : ""
        } --allow all\n`,
      );
      return EXIT.ok;
    }
    return await turnOn(base, io, folder, origin, parseGrant(allow, access));
  } finally {
    fetched?.remove();
  }
}

async function enable({ values, positionals, io }: Invocation): Promise<number> {
  const base = loadSettings(values, io, {}, { quiet: true }), name = positionals[0]!;
  if (Object.hasOwn(groups, name)) return toggle(base, io, name, true);
  const origin = originOf(values), folder = await readPluginFolder(folderOf(base, origin, name));
  const { access } = folder.manifest, grant = parseGrant(allowOf(values), access);
  return await turnOn(base, io, folder, origin, grant);
}

/** Describes the plugin in its host, then records it. */
async function turnOn(
  base: LoadedSettings,
  io: CliIo,
  folder: PluginFolder,
  origin: PluginOrigin,
  grant: PluginAccess,
): Promise<number> {
  const { manifest } = folder, { name } = manifest, places = placesOf(base, io);
  const project = origin === "project" ? base.worktree : null;
  let tools;
  try {
    ({ described: tools } = await inHost(
      base,
      io,
      folder,
      grant,
      (link) => describePlugin(folder, grant, link),
    ));
  } catch (error) {
    sweep(places);
    throw new UsageError(`plugin ${name} cannot be enabled: ${messageOf(error)}`);
  }
  enablePlugin(folder, places, { project, grant, tools, now: new Date() });
  if (isDisabled(base.loaded.settings, name)) toggle(base, io, name, true);
  const granted = accessWords(grantedAccess(manifest.access, grant)), asked = accessWords(manifest.access);
  const missing = asked.filter((word) => !granted.includes(word));
  io.out(
    `Enabled ${name} ${manifest.version}${granted.length > 0 ? ` with ${line(granted.join(", "))}` : ""}\n`,
  );
  if (missing.length > 0) io.out(`Not granted: ${line(missing.join(", "))} (--allow)\n`);
  if (grant.run.length > 0) io.out(`What ${line(grant.run.join(", "))} do is not limited by polyglav\n`);
  const row = (await rowsOf(base, io)).find((one) => one.name === name && one.origin === origin);
  if (row && row.status !== "loaded" && !row.reason.startsWith("plugins.")) {
    io.err(`Warning: it does not count: ${line(row.reason)}\n`);
    return EXIT.failed;
  }
  return EXIT.ok;
}

function disable({ values, positionals, io }: Invocation): number {
  const base = loadSettings(values, io, {}, { quiet: true }), name = positionals[0]!;
  if (Object.hasOwn(groups, name)) return toggle(base, io, name, false);
  const project = originOf(values) === "project" ? base.worktree : null;
  const was = disablePlugin({ name, project }, placesOf(base, io));
  io.out(was ? `Disabled ${name}\n` : `${line(name)} was not enabled\n`);
  return was ? EXIT.ok : EXIT.failed;
}

/** A bundled plugin is turned off and on by the user's own configuration. */
function toggle({ paths }: LoadedSettings, io: CliIo, name: string, on: boolean): number {
  const key = `plugins.${name}`, file = { path: globalConfigFile(paths), mode: 0o600, directoryMode: 0o700 };
  if (on) unsetKey(file, key, true);
  else setKey(file, key, entryOf(key), { enabled: false });
  io.out(`${on ? "Enabled" : "Disabled"} ${name}\n`);
  return EXIT.ok;
}

function uninstall({ values, positionals, io }: Invocation): number {
  const base = loadSettings(values, io, {}, { quiet: true }),
    name = positionals[0]!,
    origin = originOf(values);
  if (Object.hasOwn(groups, name)) throw new UsageError(`${name} is bundled; disable it instead`);
  const folder = folderOf(base, origin, name);
  ownPlace(base, origin);
  disablePlugin({ name, project: origin === "project" ? base.worktree : null }, placesOf(base, io));
  try {
    // A link is taken away itself, not what it leads to.
    Deno.removeSync(folder, { recursive: !Deno.lstatSync(folder).isSymlink });
  } catch (error) {
    throw new UsageError(`${folder} cannot be deleted: ${messageOf(error)}`);
  }
  io.out(`Uninstalled ${name}\n`);
  return EXIT.ok;
}

async function test({ values, positionals, io }: Invocation): Promise<number> {
  const base = loadSettings(values, io, {}, { quiet: true }), [what, tool, json] = positionals;
  const named = /^[a-z0-9-]+$/.test(what!);
  const folder = await readPluginFolder(
    named ? folderOf(base, originOf(values), what!) : join(io.cwd, what!),
    { anyName: !named },
  );
  const { manifest } = folder, grant = parseGrant(allowOf(values), manifest.access);
  return await inHost(base, io, folder, grant, async (link) => {
    const { tools } = await describePlugin(folder, grant, link);
    if (tool === undefined) {
      io.out(
        `${manifest.name} ${manifest.version} loads; tools: ${
          tools.map(({ name }) => name).join(", ") || "none"
        }\n`,
      );
      return EXIT.ok;
    }
    const found = tools.find(({ name }) => name === tool);
    if (!found) {
      throw new UsageError(
        `${manifest.name} has no tool "${tool}"; it has ${tools.map(({ name }) => name).join(", ")}`,
      );
    }
    const { cleanArguments, parseArguments } = await import("../registry/arguments.ts");
    const runner = new PluginRunner(link);
    try {
      const args = cleanArguments(found, parseArguments(json === "-" ? await io.stdin() : json ?? "{}"));
      const config = base.loaded.settings.plugins?.[manifest.name] as Record<string, unknown> | undefined;
      const value = await runner.call(manifest.name, tool, { args, config: config ?? {}, timeout: 120_000 });
      const text = typeof value === "string" ? value : JSON.stringify(value);
      io.out(`${io.stdoutIsTerminal ? cleanForTerminal(text) : text}\n`);
      return EXIT.ok;
    } catch (error) {
      io.out(`Error: ${messageOf(error)}\n`);
      return EXIT.failed;
    } finally {
      runner.close();
    }
  });
}

/** Does something with the plugin's host, started from a copy of exactly these files. */
async function inHost<T>(
  base: LoadedSettings,
  io: CliIo,
  { manifest, files, hash }: PluginFolder,
  grant: PluginAccess,
  use: (link: ProcessLink) => Promise<T>,
): Promise<T> {
  if (!canLaunch() && ceilingState() !== "compiled") {
    throw new UsageError(
      "this process may not start Deno, so it cannot try a plugin; run polyglav with deno run -A",
    );
  }
  const places = placesOf(base, io), copy = copyPlugin(places.stateDir, { name: manifest.name, hash }, files);
  const plans = manifest.entry === null
    ? []
    : [planOf(manifest, { grant }, copy, { ...places, env: io.env })];
  const link = new ProcessLink(plans, hostCode());
  try {
    return await use(link);
  } finally {
    link.close();
    // The copy of one that is not enabled goes again.
    sweep(places);
  }
}

function placesOf(base: LoadedSettings, io: CliIo) {
  const { worktree, paths, loaded: { settings, trusted } } = base;
  const env: Record<string, string> = {};
  for (const name of PASSED) {
    const value = io.env(name);
    if (value !== undefined) env[name] = value;
  }
  const childEnv = childEnvironment(env, settings.exec.env);
  return accessPlaces({ worktree, paths, settings, trusted, io, childEnv });
}

function folderOf({ worktree, paths }: LoadedSettings, origin: PluginOrigin, name: string): string {
  const place = pluginsFolder(origin, { configDir: paths.config, worktree });
  if (/^[a-z0-9-]+$/.test(name)) {
    try {
      const folder = join(place, name);
      Deno.lstatSync(folder);
      return folder;
    } catch { /* told below */ }
  }
  throw new UsageError(
    `there is no plugin "${name}" in ${place}; see "polyglav plugins list"${
      origin === "user" ? " (--project for one of this project)" : ""
    }`,
  );
}

/**
 * The folder of plugins, to be changed. A repository may bring a link in its place, behind which other things lie.
 *
 * @throws {UsageError} where that is so
 */
function ownPlace({ worktree, paths }: LoadedSettings, origin: PluginOrigin): string {
  const place = pluginsFolder(origin, { configDir: paths.config, worktree });
  if (origin === "user") return place;
  for (const path of [dirname(place), place]) {
    try {
      if (!Deno.lstatSync(path).isSymlink) continue;
    } catch {
      continue;
    }
    throw new UsageError(`${path} is a link, and what it leads to is not changed; remove it first`);
  }
  return place;
}

function unknown(name: string, rows: readonly Row[]): UsageError {
  return new UsageError(`there is no plugin "${name}"; there are ${rows.map((row) => row.name).join(", ")}`);
}

function originOf(values: Values): PluginOrigin {
  return values.project === true ? "project" : "user";
}

function allowOf(values: Values): readonly string[] {
  return (values.allow as readonly string[] | undefined) ?? [];
}

function line(text: string): string {
  return cleanForTerminal(text, { line: true });
}
