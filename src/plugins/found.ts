/**
 * Where plugins lie. Looked at by every run, so nothing else is loaded for it.
 *
 * @module
 */
import { join } from "../text/path.ts";

/** Where a plugin was found. */
export type PluginOrigin = "user" | "project";

/** The folder of the plugins of an origin. */
export function pluginsFolder(
  origin: PluginOrigin,
  places: { readonly configDir: string; readonly worktree: string },
): string {
  return origin === "user" ? join(places.configDir, "plugins") : join(places.worktree, ".polyglav/plugins");
}

/** Whether there is any: the folders are listed, not read. */
export function anyPlugins(places: { readonly configDir: string; readonly worktree: string }): boolean {
  return (["user", "project"] as const).some((origin) => namesIn(pluginsFolder(origin, places)).length > 0);
}

/** Names of the folders in a folder of plugins, sorted. */
export function namesIn(folder: string): string[] {
  try {
    return [...Deno.readDirSync(folder)].filter((entry) => !entry.name.startsWith(".") && !entry.isFile)
      .map(({ name }) => name).sort();
  } catch {
    return [];
  }
}
