/**
 * The installed plugins of a run: their tools in the registry, and the way to their hosts.
 *
 * @module
 */
import type { Settings } from "../config/settings.ts";
import type { UserPaths } from "../config/paths.ts";
import { messageOf } from "../errors.ts";
import type { AccessPlaces } from "../plugins/access.ts";
import { anyPlugins } from "../plugins/found.ts";
import type { LoadedPlugin, PluginInfo } from "../plugins/load.ts";
import { isDenoName, resolveProgram } from "../policy/programs.ts";
import type { Preset } from "../provider/presets.ts";
import type { ToolRegistry } from "../registry/registry.ts";
import { moduleAddress } from "../sandbox/_module.ts";
import type { PluginLink } from "../sandbox/_plugin_protocol.ts";
import type { PluginHostCode, PluginPlan } from "../sandbox/plugin_process.ts";
import type { CliIo } from "./_command.ts";
import type { LoadedSettings } from "./_load.ts";
import { VERSION } from "./_version.ts";

/** The word by which a compiled binary is told to be a plugin's host. */
export const PLUGIN_HOST = "__plugin-host";

/** What the commands that run tools know of plugins. */
export interface HostPlugins {
  /** Every plugin that was found. */
  readonly infos: readonly PluginInfo[];
  /** Those that count, their tools registered. */
  readonly loaded: readonly LoadedPlugin[];
  /** Starts hosts, for the launcher to hand to `launch`; null where this process may not. */
  readonly link: PluginLink | null;
  /** Presets that they bring. */
  readonly presets: readonly Preset[];
}

/** What is known when plugins are loaded. */
export interface PluginsInput {
  readonly worktree: string;
  readonly paths: UserPaths;
  readonly settings: Settings;
  readonly trusted: boolean;
  readonly io: CliIo;
  readonly registry: ToolRegistry;
  readonly childEnv: Readonly<Record<string, string>>;
  readonly quiet?: boolean;
  /** Nothing is run: no hosts are needed. */
  readonly data?: boolean;
}

/** Whether the user turned a bundled plugin or an installed one off by its name. */
export function isDisabled(settings: Settings, name: string): boolean {
  const own = settings.plugins?.[name];
  return typeof own === "object" && own !== null && (own as { enabled?: unknown }).enabled === false;
}

/** Never called: names the host's modules, so that a program that is loaded from elsewhere has them in its cache. */
export const PARTS: readonly (() => Promise<unknown>)[] = [
  () => import("./_plugin_main.ts"),
  () => import("../lib.ts"),
];

/** Where the code of hosts is. */
export function hostCode(): PluginHostCode {
  // In a build its files lie beside each other and below `src/`.
  const root = new URL(import.meta.url.endsWith(".ts") ? "../" : "./", import.meta.url);
  const folder = decodeURIComponent(root.pathname).replace(/\/$/, "");
  return {
    main: Deno.build.standalone ? null : moduleAddress("cli/_plugin_main.ts").href,
    command: [PLUGIN_HOST],
    sourceRoots: root.protocol === "file:"
      ? [Deno.build.os === "windows" ? folder.replace(/^\//, "") : folder]
      : [],
    library: moduleAddress("lib.ts").href,
  };
}

/** Where plugins' paths and programs lead. */
export function accessPlaces(input: Omit<PluginsInput, "registry" | "quiet">): AccessPlaces {
  const { worktree, paths, childEnv } = input;
  return {
    worktree,
    home: paths.home,
    configDir: paths.config,
    stateDir: paths.state,
    resolveProgram: (name) => {
      if (isDenoName(name)) return null;
      const search = { path: childEnv.PATH ?? childEnv.Path ?? "", pathExt: childEnv.PATHEXT, worktree };
      return resolveProgram(name, search).path ?? (mayLook() ? null : name);
    },
  };
}

/** Under a ceiling programs cannot be looked at; the launcher has. */
function mayLook(): boolean {
  return Deno.permissions.querySync({ name: "read" }).state === "granted";
}

/** Loads the plugins that count and registers their tools; null where none is installed. */
export async function loadHostPlugins(input: PluginsInput): Promise<HostPlugins | null> {
  const { worktree, paths, settings, trusted, io, registry } = input;
  if (!anyPlugins({ configDir: paths.config, worktree })) return null;
  const { loadPlugins } = await import("../plugins/load.ts");
  const plans: PluginPlan[] = [];
  const [{ PluginRunner }, { link, lack, own }] = await Promise.all([
    import("../plugins/runner.ts"),
    input.data ? { link: null, lack: undefined, own: false } : chooseLink(plans),
  ]);
  const { infos, loaded } = await loadPlugins({
    ...accessPlaces(input),
    trusted,
    version: VERSION,
    settings: settings.plugins ?? {},
    env: io.env,
    runner: new PluginRunner(link, { lack }),
  });
  const counting: LoadedPlugin[] = [], all: PluginInfo[] = infos.filter(({ status }) => status !== "loaded");
  for (const plugin of loaded) {
    try {
      registry.registerToolset({ tools: () => plugin.tools }, plugin.info.name);
      if (plugin.plan) plans.push(plugin.plan);
      counting.push(plugin);
      all.push(plugin.info);
    } catch (error) {
      all.push({ ...plugin.info, status: "error", reason: messageOf(error) });
    }
  }
  all.sort((a, b) => a.name < b.name ? -1 : 1);
  if (!input.quiet) {
    for (const { name, status, reason, record } of all) {
      if (record && (status === "error" || status === "incompatible")) {
        io.err(`Warning: plugin ${name} does not count: ${reason}\n`);
      }
    }
  }
  const presets = counting.flatMap(({ provides }) =>
    provides.presets.map(({ name, baseUrl, model }): Preset => ({
      name,
      baseUrl,
      keyVariables: [],
      needsKey: false,
      model: model ?? "",
    }))
  );
  return { infos: all, loaded: counting, link: own && plans.length > 0 ? link : null, presets };
}

async function chooseLink(
  plans: readonly PluginPlan[],
): Promise<{ link: PluginLink | null; lack?: string; own: boolean }> {
  const { ceilingState } = await import("../sandbox/launch.ts");
  const state = ceilingState();
  if (state === "launcher" || state === "compiled") {
    const { ProcessLink } = await import("../sandbox/plugin_process.ts");
    return { link: new ProcessLink(plans, hostCode()), own: state === "launcher" };
  }
  const [{ readCeiling }, { ChannelLink }] = await Promise.all([
    import("../sandbox/flags.ts"),
    import("../sandbox/plugin_channel.ts"),
  ]);
  const note = state === "ceiling" ? readCeiling()?.plugins : undefined;
  if (!note) {
    const lack =
      "plugins are started by the launcher; run polyglav with deno run -A, which sets its own ceiling";
    return { link: null, lack, own: false };
  }
  const link = new ChannelLink(note);
  // Taken at once, so that nobody else can.
  void link.connect();
  return { link, own: false };
}

/** What the plugins that count bring to the catalog, for commands that run no tools. */
export async function catalogLayers(base: LoadedSettings, io: CliIo) {
  const { worktree, paths, loaded: { settings, trusted, projectFile } } = base;
  if (!anyPlugins({ configDir: paths.config, worktree })) return [];
  const [{ ToolRegistry }, { groups }] = await Promise.all([
    import("../registry/registry.ts"),
    import("../../tools/mod.ts"),
  ]);
  const registry = new ToolRegistry();
  for (const [owner, tools] of Object.entries(groups)) {
    if (!isDisabled(settings, owner)) registry.registerToolset({ tools: () => tools }, owner);
  }
  const childEnv = { PATH: io.env("PATH") ?? "", PATHEXT: io.env("PATHEXT") ?? "" };
  const input = {
    worktree,
    paths,
    settings,
    trusted: trusted || projectFile === null,
    io,
    registry,
    childEnv,
  };
  return await pluginLayers(await loadHostPlugins({ ...input, data: true }));
}

/** Roles, teams and skills that plugins bring, as layers of the catalog. */
export async function pluginLayers(plugins: HostPlugins | null) {
  if (
    !plugins?.loaded.some(({ provides: p }) =>
      p.skills.length + Object.keys({ ...p.roles, ...p.teams }).length > 0
    )
  ) {
    return [];
  }
  const [{ emptyLayer }, { roleProblem, teamOf, teamProblem }, { parseSkill }] = await Promise.all([
    import("../catalog/_layer.ts"),
    import("../catalog/_shape.ts"),
    import("../catalog/skills.ts"),
  ]);
  return plugins.loaded.map(({ info, provides, copy }) => {
    const layer = emptyLayer("plugin");
    const problem = (kind: string, name: string, what: string) =>
      layer.problems.set(
        `${kind} ${name}`,
        `plugin ${info.name}: the ${kind} "${name}" cannot be used: ${what}`,
      );
    for (const [name, role] of Object.entries(provides.roles)) {
      const wrong = roleProblem(role);
      if (wrong === null) layer.role.set(name, role as never);
      else problem("role", name, wrong);
    }
    for (const [name, team] of Object.entries(provides.teams)) {
      const wrong = teamProblem(team);
      if (wrong === null) layer.team.set(name, teamOf(team as never));
      else problem("team", name, wrong);
    }
    for (const path of provides.skills) {
      const name = path.split("/").at(-1)!.replace(/\.md$/i, "");
      try {
        layer.skill.set(name, parseSkill(Deno.readTextFileSync(`${copy}/${path}`)));
      } catch (error) {
        problem("skill", name, messageOf(error));
      }
    }
    return layer;
  });
}
