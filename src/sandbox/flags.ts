/**
 * Permission sets as Deno takes them: a worker's options, and a process's command line.
 *
 * @module
 */
import { ConfigError } from "../errors.ts";
import { isWithin } from "../text/path.ts";
import type { CeilingFlags } from "../policy/compile.ts";
import type { PermissionSet } from "../policy/types.ts";
import type { WorkerBirth } from "./_protocol.ts";
import type { ChannelNote } from "./plugin_channel.ts";

/** Name of the variable in which the launcher tells the program under which ceiling it runs. */
export const CEILING_VARIABLE = "POLYGLAV_CEILING";

/** What the launcher tells. */
export interface CeilingNote {
  readonly flags: CeilingFlags;
  /** A private folder (0700) that the launcher removes when the program ends, or null. */
  readonly scratch: string | null;
  /** Process id of the launcher. */
  readonly launcher: number;
  /** An interactive session: the flags bound nothing. */
  readonly open?: boolean;
  /** Where the program asks the launcher for plugins' hosts; absent where there are no plugins. */
  readonly plugins?: ChannelNote;
}

/** How a worker is made. */
export interface WorkerPlan {
  /** The `deno.permissions` option. */
  readonly permissions: Deno.PermissionOptionsObject;
  /** What the worker gives up itself, before it loads a tool. */
  readonly birth: WorkerBirth;
}

/** The ceiling that the launcher set over this process; null where there is none or it cannot be known. */
export function readCeiling(): CeilingNote | null {
  try {
    const text = Deno.env.get(CEILING_VARIABLE);
    return text ? JSON.parse(text) as CeilingNote : null;
  } catch {
    return null;
  }
}

/**
 * The options of a worker that has exactly these permissions, as far as this process has them: what the process lacks
 * is left out, and the tool is refused there.
 *
 * Deno refuses a list with a folder in which the process itself has a denied place. Such a kind is inherited, and the
 * worker gives up the process's other paths itself ({@link WorkerBirth}).
 *
 * @param ceiling the process's own lists, where they are known
 * @param oneShot the call is about a path outside: folders with denied places are left out instead
 */
export function workerPlan(set: PermissionSet, ceiling: CeilingFlags | null, oneShot: boolean): WorkerPlan {
  const drop: WorkerBirth["drop"][number][] = [];
  const files = (name: "read" | "write"): string[] | "inherit" | false => {
    const list: string[] = [];
    let mixed = false;
    for (const path of set[name]) {
      const { state, partial } = Deno.permissions.querySync({ name, path });
      if (state !== "granted") continue;
      if (partial) mixed = true;
      else list.push(path);
    }
    if (!mixed) return list.length > 0 ? list : false;
    if (oneShot && list.length > 0) return list;
    drop.push(...others(name, set[name], ceiling));
    return "inherit";
  };
  const permissions: Deno.PermissionOptionsObject = {
    read: files("read"),
    write: files("write"),
    run: granted(set.run, (command) => ({ name: "run", command })),
    net: granted(set.net, (host) => ({ name: "net", host })),
    env: granted(set.env, (variable) => ({ name: "env", variable })),
    sys: false,
    ffi: false,
    import: false,
  };
  return { permissions, birth: { drop } };
}

function granted(
  values: readonly string[],
  query: (value: string) => Deno.PermissionDescriptor,
): string[] | false {
  const list = values.filter((value) => Deno.permissions.querySync(query(value)).state === "granted");
  return list.length > 0 ? list : false;
}

/** The process's entries that a worker which inherits must give up. */
function others(
  name: "read" | "write",
  wanted: readonly string[],
  ceiling: CeilingFlags | null,
): WorkerBirth["drop"][number][] {
  if (Deno.permissions.querySync({ name }).state === "granted") {
    throw new ConfigError(
      `Cannot narrow a worker: this process may ${name} everywhere but in denied places; ` +
        `start it with -A (it then sets its own ceiling) or list the folders in --allow-${name}`,
    );
  }
  const list = ceiling?.[name];
  const entries = list === true ? ROOTS : list ?? [];
  return entries.filter((path) => !wanted.some((keep) => isWithin(path, keep))).map((path) => ({
    name,
    path,
  }));
}

/** All file systems, as Deno takes them in a list. */
const ROOTS: readonly string[] = Deno.build.os === "windows"
  ? Array.from("ABCDEFGHIJKLMNOPQRSTUVWXYZ", (letter) => `${letter}:/`)
  : ["/"];

/**
 * A ceiling whose unrestricted `read` and `write` are lists where they have denied places: what is not in a list cannot
 * be given up by a worker.
 *
 * @param keep folders that workers will be narrowed to
 */
export function listed(flags: CeilingFlags, keep: readonly string[]): CeilingFlags {
  const all = () => [...new Set([...ROOTS, ...keep])];
  return {
    ...flags,
    read: flags.read === true && flags.denyRead.length > 0 ? all() : flags.read,
    write: flags.write === true && flags.denyWrite.length > 0 ? all() : flags.write,
  };
}

/**
 * The flags of `deno run` for a ceiling.
 *
 * @param keep folders that workers will be narrowed to: listed beside an unrestricted `read` or `write` with denied
 * places, so that a worker can give up the rest
 * @throws {ConfigError} for a path with a comma, which a flag cannot carry
 */
export function ceilingArguments(flags: CeilingFlags, keep: readonly string[] = []): string[] {
  const out: string[] = [
    "--no-prompt",
    "--cached-only",
    "--unstable-worker-options",
    "--unstable-lazy-dynamic-imports",
  ];
  const list = (flag: string, values: readonly string[], kind: string) => {
    if (values.length > 0) out.push(`--${flag}=${values.map((value) => checked(value, kind)).join(",")}`);
  };
  const { read, write, net } = listed(flags, keep);
  const kinds = [["read", read, flags.denyRead], ["write", write, flags.denyWrite], [
    "net",
    net,
    flags.denyNet,
  ]] as const;
  for (const [name, allow, deny] of kinds) {
    if (allow === true) out.push(`--allow-${name}`);
    else list(`allow-${name}`, allow, name);
    list(`deny-${name}`, deny, name);
  }
  list("allow-run", flags.run, "run");
  list("allow-env", flags.env, "env");
  list("allow-sys", flags.sys, "sys");
  out.push("--ignore-env");
  return out;
}

function checked(value: string, kind: string): string {
  if (value.includes(",")) {
    throw new ConfigError(
      `Cannot set the ceiling: Deno reads the comma in ${JSON.stringify(value)} (${kind}) as two values; ` +
        `use a path without commas`,
    );
  }
  return value;
}
