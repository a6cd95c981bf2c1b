/**
 * Finds the installed plugins, says of each whether it counts and why not, and makes tools and host plans of those that
 * do. Runs none of their code.
 *
 * @module
 */
import { ConfigError, messageOf } from "../errors.ts";
import type { PluginPlan } from "../sandbox/plugin_process.ts";
import { join } from "../text/path.ts";
import type { Tool } from "../tool.ts";
import { inRange } from "./_semver.ts";
import {
  accessOf,
  type AccessPlaces,
  accessWords,
  compileAccess,
  grantedAccess,
  missingAccess,
} from "./access.ts";
import { pluginTools } from "./description.ts";
import { namesIn, type PluginOrigin, pluginsFolder } from "./found.ts";
import { readManifest, readPluginFolder } from "./folder.ts";
import { PLUGIN_NAME, type PluginManifest, type PluginProvides } from "./manifest.ts";
import { copyFolder, type PluginRecord, readRecords } from "./records.ts";
import type { PluginRunner } from "./runner.ts";

/** Whether a plugin counts. */
export type PluginStatus = "loaded" | "disabled" | "incompatible" | "error";

/** A plugin that was found. */
export interface PluginInfo {
  readonly name: string;
  readonly origin: PluginOrigin;
  readonly folder: string;
  readonly status: PluginStatus;
  /** Why it does not count; of a loaded one what it was not granted; empty: nothing to say. */
  readonly reason: string;
  /** Null where it cannot be read. */
  readonly manifest: PluginManifest | null;
  readonly record: PluginRecord | null;
}

/** A plugin that counts. */
export interface LoadedPlugin {
  readonly info: PluginInfo;
  readonly tools: readonly Tool[];
  /** How its host is started; null: it brings no tools. */
  readonly plan: PluginPlan | null;
  readonly provides: PluginProvides;
  /** The folder that it runs from. */
  readonly copy: string;
}

/** What loading needs to know. */
export interface LoadInput extends AccessPlaces {
  /** The project is trusted: its plugins may count. */
  readonly trusted: boolean;
  /** Version of this program. */
  readonly version: string;
  /** The user's settings of plugins, by name; `enabled: false` turns one off. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** A variable of the environment. */
  readonly env: (name: string) => string | undefined;
  readonly runner: Pick<PluginRunner, "call">;
}

/** Loads what is enabled. Never throws for what a plugin does wrong: that is its status. */
export async function loadPlugins(
  input: LoadInput,
): Promise<{ infos: PluginInfo[]; loaded: LoadedPlugin[] }> {
  const infos: PluginInfo[] = [], loaded: LoadedPlugin[] = [];
  let records: readonly PluginRecord[] = [], broken = "";
  try {
    records = readRecords(input.configDir);
  } catch (error) {
    broken = messageOf(error);
  }
  const names = new Set<string>();
  for (const origin of ["user", "project"] as const) {
    const place = pluginsFolder(origin, input);
    for (const name of namesIn(place)) {
      const folder = join(place, name);
      const project = origin === "project" ? input.worktree : null;
      const record = records.find((one) => one.name === name && one.project === project) ?? null;
      const base = { name, origin, folder, record };
      try {
        if (broken !== "") throw new ConfigError(broken);
        const found = await look(base, names.has(name), input);
        if (found.status === "loaded") {
          const plugin = make({ ...base, ...found }, input);
          loaded.push(plugin);
          infos.push(plugin.info);
        } else infos.push({ ...base, ...found });
      } catch (error) {
        infos.push({ ...base, status: "error", reason: messageOf(error), manifest: quietManifest(folder) });
      }
      names.add(name);
    }
  }
  return { infos, loaded };
}

type Look = Pick<PluginInfo, "status" | "reason" | "manifest">;

async function look(
  { name, origin, folder, record }: Pick<PluginInfo, "name" | "origin" | "folder" | "record">,
  taken: boolean,
  input: LoadInput,
): Promise<Look> {
  if (!PLUGIN_NAME.test(name) || name.startsWith("polyglav-")) {
    const why = name.startsWith("polyglav-")
      ? "names that begin with polyglav- belong to the program"
      : "its name is no plugin's";
    return { status: "error", reason: why, manifest: quietManifest(folder) };
  }
  if (taken) {
    return {
      status: "error",
      reason: "you have installed a plugin of that name; it counts",
      manifest: quietManifest(folder),
    };
  }
  // Nothing of an untrusted project is read any further.
  if (origin === "project" && !input.trusted) {
    return { status: "disabled", reason: "the project is not trusted (polyglav trust)", manifest: null };
  }
  const manifest = readManifest(folder);
  const fits = inRange(input.version, manifest.polyglav);
  if (fits !== true) {
    const reason = fits === null
      ? `it needs polyglav ${JSON.stringify(manifest.polyglav)}, which is no range of versions`
      : `it needs polyglav ${manifest.polyglav}; this is ${input.version}`;
    return { status: "incompatible", reason, manifest };
  }
  const settings = input.settings[name] as { enabled?: unknown } | undefined;
  if (settings?.enabled === false) {
    return { status: "disabled", reason: `plugins.${name}.enabled is false`, manifest };
  }
  if (!record) {
    return { status: "disabled", reason: `not enabled (polyglav plugins enable ${name})`, manifest };
  }
  const { hash } = await readPluginFolder(folder);
  if (hash !== record.hash) {
    return {
      status: "error",
      reason: `its files changed since it was enabled; look at them, then: polyglav plugins enable ${name}`,
      manifest,
    };
  }
  const missing = accessWords(missingAccess(manifest.access, record.grant));
  return {
    status: "loaded",
    reason: missing.length > 0 ? `not granted: ${missing.join(", ")}` : "",
    manifest,
  };
}

function make(info: PluginInfo, input: LoadInput): LoadedPlugin {
  const manifest = info.manifest!, record = info.record!, { name } = info;
  const granted = grantedAccess(manifest.access, record.grant);
  const copy = copyFolder(input.stateDir, record);
  const plan = manifest.entry === null ? null : planOf(manifest, record, copy, input);
  const config = settingsOf(input.settings[name]);
  const tools = plan === null ? [] : pluginTools(
    record.tools,
    { name, access: accessOf(granted), announced: manifest.provides.tools, programs: plan.permissions.run },
    async (tool, args, { signal, progress }, timeout) => {
      const value = await input.runner.call(name, tool, {
        args,
        config,
        timeout,
        signal,
        onProgress: progress,
      });
      return typeof value === "string" ? value : JSON.stringify(value);
    },
  );
  return { info, tools, plan, provides: manifest.provides, copy };
}

/** How a plugin's host is started. @throws {ConfigError} see `compileAccess` */
export function planOf(
  manifest: PluginManifest,
  record: Pick<PluginRecord, "grant">,
  copy: string,
  input: AccessPlaces & Pick<LoadInput, "env">,
): PluginPlan {
  const granted = grantedAccess(manifest.access, record.grant);
  return {
    name: manifest.name,
    root: copy,
    entry: manifest.entry!,
    permissions: compileAccess(granted, input),
    memory: manifest.memory,
    worktree: input.worktree,
    env: environment(granted.env, granted.run.length > 0, input.env),
  };
}

/** What Deno needs, what was granted, and for programs what every child gets. */
function environment(
  granted: readonly string[],
  programs: boolean,
  env: (name: string) => string | undefined,
): Record<string, string> {
  const names = [
    ...[
      "DENO_DIR",
      "HOME",
      "XDG_CACHE_HOME",
      "USERPROFILE",
      "LOCALAPPDATA",
      "SYSTEMROOT",
      "TEMP",
      "TMP",
      "TMPDIR",
    ],
    ...programs ? ["PATH", "PATHEXT", "LANG", "LC_ALL"] : [],
    ...granted,
  ];
  const out: Record<string, string> = { DENO_NO_UPDATE_CHECK: "1", DENO_NO_PACKAGE_JSON: "1", NO_COLOR: "1" };
  for (const name of names) {
    const value = env(name);
    if (value !== undefined) out[name] = value;
  }
  return out;
}

function settingsOf(value: unknown): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return {};
  const { enabled: _, ...rest } = value as Record<string, unknown>;
  return rest;
}

function quietManifest(folder: string): PluginManifest | null {
  try {
    return readManifest(folder);
  } catch {
    return null;
  }
}
