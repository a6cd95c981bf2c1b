/**
 * From what a plugin asks for and what it was granted to the permissions of its host.
 *
 * @module
 */
import { ConfigError } from "../errors.ts";
import type { PluginPermissions } from "../sandbox/plugin_process.ts";
import { basename, dirname, isAbsolute, isWithin, join } from "../text/path.ts";
import type { Access } from "../tool.ts";
import { ACCESS_KINDS, type PluginAccess } from "./manifest.ts";

/** Where a plugin's paths lead. */
export interface AccessPlaces {
  /** Absolute canonical path. */
  readonly worktree: string;
  readonly home: string;
  readonly configDir: string;
  readonly stateDir: string;
  /** A program's absolute path, or null. */
  readonly resolveProgram: (name: string) => string | null;
}

/** What was asked for and granted. */
export function grantedAccess(asked: PluginAccess, grant: PluginAccess): PluginAccess {
  return mapAccess((kind) => asked[kind].filter((value) => grant[kind].includes(value)));
}

/** What was asked for and not granted. */
export function missingAccess(asked: PluginAccess, grant: PluginAccess): PluginAccess {
  return mapAccess((kind) => asked[kind].filter((value) => !grant[kind].includes(value)));
}

function mapAccess(list: (kind: keyof PluginAccess) => readonly string[]): PluginAccess {
  return Object.fromEntries(ACCESS_KINDS.map((kind) => [kind, list(kind)])) as unknown as PluginAccess;
}

/** Access as words: `net:api.example.com`. */
export function accessWords(access: PluginAccess): string[] {
  return ACCESS_KINDS.flatMap((kind) => access[kind].map((value) => `${kind}:${value}`));
}

/** What the tools of a plugin can do, in the words of the policy: all of them run in one process. */
export function accessOf(granted: PluginAccess): Access[] {
  return (["read", "write", "run", "net"] as const).filter((kind) => granted[kind].length > 0);
}

/** Names in the top of a folder that usually hold secrets. */
const SECRETS = /^(?:\.env.*|.*\.pem|.*\.key|id_rsa.*|id_ed25519.*|\.netrc|\.npmrc|credentials.*\.json)$/i;

/**
 * The permissions of a plugin's host. Whatever was granted, the program's own files, `.git` and `.polyglav` of the
 * project stay out of reach, and what usually holds secrets in the top of a folder cannot be read.
 *
 * @throws {ConfigError} for a path that leads out of the project through a link, or holds the program's own files, and for
 * a program that is not there
 */
export function compileAccess(granted: PluginAccess, places: AccessPlaces): PluginPermissions {
  const { worktree, configDir, stateDir } = places;
  const read = granted.read.map((path) => placeOf(path, places));
  const write = granted.write.map((path) => placeOf(path, places));
  for (const path of [...read, ...write]) {
    for (const own of [configDir, stateDir]) {
      if (isWithin(own, path) || isWithin(path, own)) {
        throw new ConfigError(
          `a plugin cannot have ${path}: it holds polyglav's own files; grant a narrower folder`,
        );
      }
    }
  }
  const closed = [".git", ".polyglav"].map((name) => join(worktree, name));
  return {
    // What is written can be read, as the tools of the program do.
    read: [...new Set([...read, ...write])],
    denyRead: [...new Set([...read, ...write].flatMap(secretsIn))],
    write,
    denyWrite: closed.filter((path) => write.some((place) => isWithin(path, place))),
    net: granted.net,
    run: granted.run.map((program) => {
      const path = places.resolveProgram(program);
      if (path === null) throw new ConfigError(`the program ${program} is not there; install it`);
      return path;
    }),
    env: granted.env,
  };
}

function placeOf(path: string, { worktree, home }: AccessPlaces): string {
  const own = !isAbsolute(path) && !path.startsWith("~");
  const absolute = own ? join(worktree, path) : join(home, path.replace(/^~[/\\]?/, "./"));
  const real = canonical(isAbsolute(path) ? join(path) : absolute);
  if (own && !isWithin(real, worktree)) {
    throw new ConfigError(`${path} leads to ${real}, outside the project`);
  }
  if (own && [".git", ".polyglav"].some((name) => isWithin(real, join(worktree, name)))) {
    throw new ConfigError(`${path} belongs to git or polyglav; a plugin cannot have it`);
  }
  return real;
}

/** Links resolved, as far as the path exists. */
function canonical(path: string): string {
  try {
    return Deno.realPathSync(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound) || dirname(path) === path) return path;
    return join(canonical(dirname(path)), basename(path));
  }
}

function secretsIn(folder: string): string[] {
  const names = [".env", ".env.local", ".netrc", ".npmrc"];
  try {
    for (const { name } of Deno.readDirSync(folder)) {
      if (SECRETS.test(name) && !name.includes(",")) names.push(name);
    }
  } catch {
    // A file, or not there yet.
  }
  return names.map((name) => join(folder, name));
}
