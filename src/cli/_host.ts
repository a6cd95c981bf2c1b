/**
 * What the commands that run tools share: configuration, registry, policy, the ceiling over the process, and the
 * dispatcher.
 *
 * @module
 */
import { type CeilingFlags, compileCeiling } from "../policy/compile.ts";
import { type PolicyInput, ToolPolicy } from "../policy/tool_policy.ts";
import { ToolRegistry } from "../registry/registry.ts";
import { BWRAP_PATHS, SEATBELT_PATH } from "../sandbox/_confine_probe.ts";
import { childEnvironment, PASSED } from "../sandbox/environment.ts";
import { dirname, isAbsolute, join, toSlashes } from "../text/path.ts";
import type { OptionSpec } from "./_command.ts";
import type { CliIo, Invocation } from "./_command.ts";
import { type LoadedSettings, loadSettings } from "./_load.ts";
import { groups } from "../../tools/mod.ts";
import type { Settings } from "../config/settings.ts";

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

/** Variables with keys of search services. */
const SERVICE_KEYS = ["BRAVE_API_KEY", "TAVILY_API_KEY"];

/** Everything that is known before a tool runs. */
export interface Host extends LoadedSettings {
  readonly io: CliIo;
  readonly settings: Settings;
  readonly registry: ToolRegistry;
  readonly policy: ToolPolicy;
  readonly policyInput: PolicyInput;
  /** The scrubbed environment of children. */
  readonly childEnv: Readonly<Record<string, string>>;
}

/** What a command's ceiling needs beside the policy. */
export interface CeilingNeeds {
  readonly yes: boolean;
  readonly providerAddress?: { readonly host: string; readonly port: number } | null;
  /** Of {@link ownServers}. */
  readonly ownServers?: readonly string[];
  /** Absolute paths of files that the command reads or writes itself. */
  readonly read?: readonly string[];
  readonly write?: readonly string[];
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
    for (const tool of tools) registry.register(tool, owner);
  }
  registry.freeze();
  const childEnv = childEnvironment(environmentOf(io), settings.exec.env);
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
    checkCommand: restricts(settings) ? (await import("../policy/shell_command.ts")).checkCommand : undefined,
  };
  return { ...base, io, settings, registry, policy: new ToolPolicy(policyInput), policyInput, childEnv };
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

/** Whether commands are checked as trees, which needs the parser. */
function restricts(settings: Settings): boolean {
  const layers = [settings.tool_permission, settings.modes[settings.mode]?.tool_permission];
  return layers.some((layer) => (layer?.bash_allow?.length ?? 0) > 0 || (layer?.bash_auto?.length ?? 0) > 0);
}

/** The flags under which a command starts itself again. */
export function ceilingOf(host: Host, needs: CeilingNeeds): CeilingFlags {
  return compileCeiling(host.registry.list(), {
    policy: host.policy,
    policyInput: host.policyInput,
    yes: needs.yes,
    interactive: false,
    providerAddress: needs.providerAddress ?? null,
    ownServers: needs.ownServers ?? [],
    sourceRoots: sourceRoots(),
    stateDir: host.paths.state,
    configDir: host.paths.config,
    extraRead: needs.read ?? [],
    extraWrite: needs.write ?? [],
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
 * @returns the exit code of the process under the ceiling; null: this is that process, go on
 */
export async function underCeiling(host: Host, flags: () => CeilingFlags): Promise<number | null> {
  const { launch, canLaunch, watchLauncher } = await import("../sandbox/launch.ts");
  if (!canLaunch()) {
    watchLauncher(() => Deno.kill(Deno.pid, "SIGTERM"));
    return null;
  }
  return await launch({
    flags: flags(),
    mainModule: Deno.mainModule,
    args: Deno.args,
    env: Deno.env.toObject(),
    worktree: host.worktree,
  });
}

/** Opens the dispatcher of a host. Close the sandbox at the end. */
export async function openDispatcher(host: Host) {
  const [{ Dispatcher }, { Sandbox }, { Confiner }] = await Promise.all([
    import("../registry/dispatch.ts"),
    import("../sandbox/pool.ts"),
    import("../sandbox/confine.ts"),
  ]);
  const sandbox = new Sandbox({ worktree: host.worktree });
  const { settings, paths } = host;
  const confiner = new Confiner({
    mode: settings.exec.confine,
    worktree: host.worktree,
    home: paths.home,
    writable: settings.exec.writable,
    hide: [paths.config, paths.state],
  });
  const dispatcher = new Dispatcher({
    registry: host.registry,
    policy: host.policy,
    policyInput: host.policyInput,
    sandbox,
    childEnv: host.childEnv,
    web: {
      service: async (name) => {
        const { serviceOf } = await import("./_services.ts");
        return serviceOf(name, { settings: host.settings, env: host.io.env, configDir: host.paths.config });
      },
    },
    confine: async () => await confiner.plan(webAllowed(host)) ?? undefined,
  });
  return { dispatcher, sandbox };
}

/** Whether commands may use the network: where `web` is allowed, in this mode. */
function webAllowed({ settings }: Host): boolean {
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
