/**
 * What the commands that run tools share: configuration, registry, policy, the ceiling over the process, and the
 * dispatcher.
 *
 * @module
 */
import { type CeilingFlags, compileCeiling, protectedPaths } from "../policy/compile.ts";
import { Grants } from "../policy/grants.ts";
import { LivePolicy } from "../policy/live.ts";
import type { PolicyInput } from "../policy/tool_policy.ts";
import { ToolRegistry } from "../registry/registry.ts";
import { BWRAP_PATHS, SEATBELT_PATH } from "../sandbox/_confine_paths.ts";
import { childEnvironment, PASSED } from "../sandbox/environment.ts";
import { dirname, isAbsolute, join, toSlashes } from "../text/path.ts";
import type { DispatcherOptions } from "../registry/dispatch.ts";
import type { OptionSpec } from "./_command.ts";
import type { CliIo, Invocation } from "./_command.ts";
import type { AuditFiles } from "./_audit.ts";
import { lateCatalog, partsOf } from "./_heads.ts";
import { type HostPlugins, isDisabled, loadHostPlugins, pluginLayers } from "./_plugins.ts";
import { cachePackages, SERVICE_KEYS, withWorktree } from "./_launch.ts";
import { type LoadedSettings, loadSettings, trustsRun } from "./_load.ts";
import { groups } from "../../tools/mod.ts";
import type { Settings } from "../config/settings.ts";
import type { HostPort } from "../tool.ts";

/** Options of every command that decides about tools. */
export const POLICY_OPTIONS: Readonly<Record<string, OptionSpec>> = {
  mode: { type: "string", short: "m", value: "MODE", help: "build, plan, or a mode of the configuration" },
  trust: { type: "boolean", help: "let this project's configuration count in this run" },
};

/** Options that answer questions in advance. */
export const ANSWER_OPTIONS: Readonly<Record<string, OptionSpec>> = {
  yes: { type: "boolean", short: "y", help: "answer yes to every question" },
  no: { type: "boolean", help: "answer no to every question (the default)" },
};

/** Everything that is known before a tool runs. */
export interface Host extends LoadedSettings {
  readonly io: CliIo;
  readonly settings: Settings & { readonly presets?: HostPlugins["presets"] };
  readonly registry: ToolRegistry;
  /** Can be replaced between calls (`host.policy.setMode`). */
  readonly policy: LivePolicy;
  /** What the policy of this moment was made from. */
  readonly policyInput: PolicyInput;
  /** The scrubbed environment of children. */
  readonly childEnv: Readonly<Record<string, string>>;
  /** Roles, teams and skills; load it before a call is decided that names one. */
  readonly catalog: ReturnType<typeof lateCatalog>;
  /** Installed plugins; null where there are none. */
  readonly plugins: HostPlugins | null;
}

/** What a command's ceiling needs beside the policy. */
export interface CeilingNeeds {
  readonly yes: boolean;
  /** The one tool that the command runs, by its canonical name; without it any may run. */
  readonly only?: string;
  readonly providerAddress?: { readonly host: string; readonly port: number } | null;
  /** Of {@link ownServers}. */
  readonly ownServers?: readonly string[];
  /** Absolute paths of files that the command reads or writes itself. */
  readonly read?: readonly string[];
  readonly write?: readonly string[];
  /** A person may have said yes to something that asks. */
  readonly answered?: boolean;
}

/**
 * Loads configuration, registry and policy.
 *
 * @param flags what the command line sets, by dotted key
 * @throws {ConfigError} {UsageError}
 */
export async function prepare(
  values: Invocation["values"],
  io: CliIo,
  flags: Readonly<Record<string, unknown>> = {},
  options: { readonly quiet?: boolean } = {},
): Promise<Host> {
  const base = loadSettings(values, io, { ...flags, mode: values.mode }, options);
  const { settings } = base.loaded;
  const registry = new ToolRegistry();
  for (const [owner, tools] of Object.entries(groups)) {
    if (isDisabled(settings, owner)) continue;
    for (const tool of tools) registry.register(tool, owner);
  }
  const childEnv = childEnvironment(environmentOf(io), settings.exec.env);
  const plugins = await loadHostPlugins({
    ...base,
    settings,
    // A project without a configuration has nothing else to trust: its plugins are enabled one by one.
    trusted: base.loaded.trusted || base.loaded.projectFile === null,
    io,
    registry,
    childEnv,
    quiet: options.quiet,
  });
  registry.freeze();
  const warn = (message: string) => io.err(`Warning: ${message}\n`);
  if (!options.quiet && listsNames(settings)) {
    const { unknownNames } = await import("./_tool_names.ts");
    unknownNames(settings, [...Object.values(groups).flat(), ...registry.list()]).forEach(warn);
  }
  const catalog = lateCatalog(base, trustsRun(values, io), warn, () => pluginLayers(plugins));
  const policyInput: PolicyInput = {
    settings,
    mode: settings.mode,
    worktree: base.worktree,
    home: base.paths.home,
    configDir: base.paths.config,
    stateDir: base.paths.state,
    shell: shellOf(io),
    env: childEnv,
    wrappers: settings.exec.confine === "off" ? [] : wrappers(),
    grants: new Grants(),
    catalog: () => {
      if (!catalog.loaded) throw new Error("the catalog is not loaded");
      return catalog.loaded.view();
    },
    checkCommand: restricts(settings) ? (await import("../policy/shell_command.ts")).checkCommand : undefined,
  };
  const policy = new LivePolicy(policyInput);
  return {
    ...base,
    io,
    settings: plugins && plugins.presets.length > 0 ? { ...settings, presets: plugins.presets } : settings,
    registry,
    policy,
    get policyInput() {
      return policy.input;
    },
    childEnv,
    catalog,
    plugins,
  };
}

/** Programs by which commands are confined here, as far as they can be looked for. */
function wrappers(): string[] {
  const paths = Deno.build.os === "linux" ? BWRAP_PATHS : Deno.build.os === "darwin" ? [SEATBELT_PATH] : [];
  return paths.filter((path) => {
    try {
      return Deno.statSync(path).isFile;
    } catch (error) {
      // Under a ceiling it cannot be looked at; whether it can be started is known.
      return error instanceof Deno.errors.NotCapable &&
        Deno.permissions.querySync({ name: "run", command: path }).state === "granted";
    }
  });
}

/** Whether there are lists of tools' names to look over. */
function listsNames({ tools, mode, modes }: Settings): boolean {
  const own = modes[mode]?.tools;
  return [tools.allow, tools.deny, own?.allow, own?.deny].some((list) => (list?.length ?? 0) > 0);
}

/** Whether commands are checked as trees, which needs the parser. */
function restricts(settings: Settings): boolean {
  const layers = [settings.tool_permission, settings.modes[settings.mode]?.tool_permission];
  return layers.some((layer) => (layer?.bash_allow?.length ?? 0) > 0 || (layer?.bash_auto?.length ?? 0) > 0);
}

/** The flags under which a command starts itself again. */
export function ceilingOf(host: Host, needs: CeilingNeeds): CeilingFlags {
  // What plugins can do, their own hosts can do: the program needs none of it.
  const tools = host.registry.list().filter((tool) =>
    tool.plugin === undefined && (needs.only === undefined || tool.name === needs.only)
  );
  const catalog = needs.only === undefined || tools.some((tool) => tool.access.length === 0);
  return compileCeiling(tools, {
    policy: host.policy,
    policyInput: host.policyInput,
    yes: needs.yes,
    interactive: needs.answered === true,
    providerAddress: needs.providerAddress ?? null,
    ownServers: needs.ownServers ?? [],
    sourceRoots: sourceRoots(),
    stateDir: host.paths.state,
    configDir: host.paths.config,
    extraRead: needs.read ?? [],
    extraWrite: [...needs.write ?? [], ...catalog ? catalogFiles(host) : []],
    extraEnv: [...PASSED, ...SERVICE_KEYS, "POLYGLAV_DEBUG"],
  });
}

/**
 * Hosts and addresses of the user's own servers, which the ceiling must not close where web tools may run.
 *
 * @param provider where the model is; null where none is asked
 */
export async function ownServers(host: Host, provider: { readonly host: string } | null): Promise<string[]> {
  if (provider === null && host.settings.search.provider !== "searxng") return [];
  return await (await import("./_services.ts")).ownServers(host.settings, provider);
}

/** Folders of the program's own modules; none where they are not local files. */
export function sourceRoots(): string[] {
  const main = new URL(Deno.mainModule);
  return main.protocol === "file:" ? [toSlashes(dirname(filePath(main)))] : [];
}

function filePath(url: URL): string {
  const path = decodeURIComponent(url.pathname);
  return Deno.build.os === "windows" ? path.replace(/^\//, "") : path;
}

/**
 * Starts this command again under its ceiling, where that is possible and has not happened.
 *
 * @param audit what the runtime checks and what the program decides is written there
 * @returns the exit code of the process under the ceiling; null: this is that process, go on
 */
export async function underCeiling(
  host: Host,
  flags: () => CeilingFlags,
  audit?: AuditFiles,
): Promise<number | null> {
  const { launch, canLaunch, watchLauncher } = await import("../sandbox/launch.ts");
  if (!canLaunch()) {
    watchLauncher(() => void import("./_signals.ts").then(({ cancelAndLeave }) => cancelAndLeave()));
    return null;
  }
  await cachePackages(host.paths.state, host.io);
  return await launch({
    flags: flags(),
    mainModule: Deno.mainModule,
    args: withWorktree(Deno.args, host.worktree),
    env: audit ? { ...Deno.env.toObject(), POLYGLAV_AUDIT: audit.decisions } : Deno.env.toObject(),
    worktree: host.worktree,
    audit: audit?.runtime,
    plugins: host.plugins?.link ?? undefined,
  });
}

/** Where the catalog is written, when a tool may write it. */
function catalogFiles(host: Host): string[] {
  if (host.policy.readOnly) return [];
  const open = host.registry.list().some((tool) =>
    tool.permission === "catalog" && host.policy.allowed(tool).action !== "deny"
  );
  return open
    ? ["roles.json", "teams.json", "skills"].map((name) => join(host.worktree, ".polyglav", name))
    : [];
}

/**
 * Opens what the calls of a host go through. Close it at the end.
 *
 * @param port what tools without access reach; default: the catalog alone
 * @param audit told every decision
 */
export async function openDispatcher(
  host: Host,
  port?: HostPort,
  needs: CeilingNeeds = { yes: false },
  audit?: DispatcherOptions["audit"],
) {
  const [
    { Dispatcher },
    { Sandbox },
    { Confiner },
    { Journal },
    { ChangeWatch },
    { journalFolder },
    catalog,
  ] = await Promise
    .all([
      import("../registry/dispatch.ts"),
      import("../sandbox/pool.ts"),
      import("../sandbox/confine.ts"),
      import("../undo/journal.ts"),
      import("../undo/changes.ts"),
      import("../session/folder.ts"),
      host.catalog.load(),
    ]);
  const { ceilingState } = await import("../sandbox/launch.ts");
  // Flags that were written by hand after `policy --output flags`: what else they open is what the policy said.
  const ceiling = ceilingState() === "own" ? ceilingOf(host, needs) : undefined;
  const sandbox = new Sandbox({ worktree: host.worktree, ceiling });
  const { settings, paths, policyInput: first } = host;
  const confiner = new Confiner({
    mode: settings.exec.confine,
    worktree: host.worktree,
    home: paths.home,
    writable: settings.exec.writable,
    hide: [paths.config, paths.state],
    protect: protectedPaths(host.policyInput),
    finishes: true,
  });
  const journal = new Journal({
    worktree: host.worktree,
    stateDir: paths.state,
    bytes: () => journalFolder(host.worktree),
    warn: (message) => host.io.err(`Warning: ${message}\n`),
  });
  const changes = new ChangeWatch(host.worktree);
  const shared = {
    registry: host.registry,
    sandbox,
    journal,
    watch: changes,
    audit,
    childEnv: host.childEnv,
    web: {
      service: async (name: string) => {
        const { serviceOf } = await import("./_services.ts");
        return serviceOf(name, { settings: host.settings, env: host.io.env, configDir: host.paths.config });
      },
    },
  };
  const ground = {
    registry: host.registry,
    dispatcher: (options: Pick<DispatcherOptions, "policy" | "policyInput" | "host">) =>
      new Dispatcher({
        ...shared,
        ...options,
        confine: async (input) => {
          const protect = input === first ? [] : protectedPaths(input);
          return await confiner.plan(webAllowed(input), protect) ?? undefined;
        },
      }),
    checker: async () => (await import("../policy/shell_command.ts")).checkCommand,
  };
  const reached: HostPort = port ?? {
    call: async (...call) =>
      await (await import("../engine/host_port.ts")).catalogPort(() => catalog, host.policy.readOnly).call(
        ...call,
      ),
  };
  const parts = partsOf(ground, host.policyInput, host.policy, reached);
  return {
    dispatcher: parts.dispatcher,
    sandbox,
    parts,
    /** Keeps what tools are about to change; `begin` says which turn it is. */
    journal,
    /** What commands change of tracked files; off until somebody looks. */
    changes,
    /** Ends all workers, and takes away what confined commands have left. */
    async close(): Promise<void> {
      sandbox.close();
      journal.tidy();
      journal.close();
      await confiner.finish();
    },
  };
}

/** Whether commands may use the network: where `web` is allowed, in this mode. */
function webAllowed({ settings }: Pick<PolicyInput, "settings">): boolean {
  return (settings.modes[settings.mode]?.tool_permission?.web ?? settings.tool_permission.web) === "allow";
}

/** A path of the command line, absolute. */
export function pathArgument(value: unknown, io: CliIo): string | undefined {
  if (typeof value !== "string") return undefined;
  return isAbsolute(value) ? join(value) : join(toSlashes(io.cwd), value);
}

function environmentOf(io: CliIo): Record<string, string> {
  const out: Record<string, string> = {};
  for (
    const name of [...PASSED, "LC_ALL", "LC_CTYPE", "LC_MESSAGES", "LC_COLLATE", "LC_NUMERIC", "LC_TIME"]
  ) {
    const value = io.env(name);
    if (value !== undefined) out[name] = value;
  }
  return out;
}

/** The user's shell where it reads what models write, else the system's. */
function shellOf(io: CliIo): string {
  if (Deno.build.os === "windows") return io.env("COMSPEC") ?? "C:/Windows/System32/cmd.exe";
  const own = io.env("SHELL") ?? "";
  return /^\/.*\/(ba|z|da|k|a)?sh$/.test(own) ? own : "/bin/sh";
}
