/**
 * What the agents of a run go through: for the root, and for every sub-agent below it the same with narrower permissions.
 *
 * @module
 */
import type { Layer } from "../catalog/_layer.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { isTrusted } from "../config/trust.ts";
import type { HeadParts, Shared } from "../engine/heads.ts";
import type { Instructions } from "../engine/prompt.ts";
import { delegatedPolicy, grantCeiling } from "../policy/delegated.ts";
import { followMode } from "../policy/follow.ts";
import { Grants } from "../policy/grants.ts";
import { LivePolicy, type PolicyPort } from "../policy/live.ts";
import { type PolicyInput, ToolPolicy } from "../policy/tool_policy.ts";
import type { Dispatcher, DispatcherOptions } from "../registry/dispatch.ts";
import type { ToolRegistry } from "../registry/registry.ts";
import type { HostPort } from "../tool.ts";
import type { UiSink } from "../ui/sink.ts";
import type { LoadedSettings } from "./_load.ts";

/** What all agents of a process have in common below the policy. */
export interface Ground {
  readonly registry: ToolRegistry;
  /** Makes a dispatcher for these options. */
  readonly dispatcher: (options: Pick<DispatcherOptions, "policy" | "policyInput" | "host">) => Dispatcher;
  /** The parser of commands, where a role brings a list of them. */
  readonly checker: () => Promise<PolicyInput["checkCommand"]>;
}

/** The parts of an agent whose policy is made from this input; a live policy brings its own of each moment. */
export function partsOf(
  ground: Ground,
  input: PolicyInput,
  policy: PolicyPort,
  host: HostPort,
  reduced: readonly string[] = [],
): HeadParts & { readonly dispatcher: Dispatcher } {
  const now = () => policy instanceof LivePolicy ? policy.input : input;
  return {
    dispatcher: ground.dispatcher({ policy, policyInput: input, host }),
    policy,
    get settings() {
      return now().settings;
    },
    reduced,
    grant: (request) => void now().grants!.add(request),
    ceiling: (key) => grantCeiling(now().settings, now().mode, key),
    async open({ role, mode, systemPrompt, host: port }) {
      const { input: narrowed, reduced } = delegatedPolicy(now(), role, {
        mode,
        systemPrompt,
        grants: new Grants(),
        canonical: (name) => ground.registry.get(name)?.name ?? name,
      });
      const lists = narrowed.settings.tool_permission;
      const checks = narrowed.checkCommand === undefined && (lists.bash_allow || lists.bash_auto);
      const own = checks ? { ...narrowed, checkCommand: await ground.checker() } : narrowed;
      const live = policy instanceof LivePolicy ? followMode(policy, own) : new ToolPolicy(own);
      return partsOf(ground, own, live, port, reduced);
    },
  };
}

/** The catalog of a project, loaded when it is first needed; what it has to say is a warning. */
export function lateCatalog(
  { worktree, paths, loaded: { settings } }: LoadedSettings,
  trustsRun: boolean,
  warn: (message: string) => void,
  plugins: () => Promise<readonly Layer[]> = () => Promise.resolve([]),
): { load(): Promise<Catalog>; readonly loaded: Catalog | null } {
  let loaded: Catalog | null = null;
  return {
    get loaded() {
      return loaded;
    },
    async load() {
      const [{ Catalog }, { ensureStateFolder }, layers] = await Promise.all([
        import("../catalog/catalog.ts"),
        import("../session/folder.ts"),
        plugins(),
      ]);
      loaded ??= new Catalog({
        worktree,
        configDir: paths.config,
        plugins: layers,
        permissionKeys: Object.keys(settings.tool_permission),
        warn,
        trusts: (path, bytes) =>
          trustsRun || isTrusted({ paths, worktree, files: [path], contents: new Map([[path, bytes]]) }),
        ensureFolder: (child) => ensureStateFolder(worktree, child),
      });
      return loaded;
    },
  };
}

/** What a run's agents share, from what its command knows. */
export async function openShared(
  host: LoadedSettings & {
    readonly registry: ToolRegistry;
    readonly catalog: ReturnType<typeof lateCatalog>;
  },
  options: {
    readonly sink: UiSink;
    readonly instructions: Instructions | null;
    readonly trust: boolean;
    readonly unattended: boolean;
    readonly models: readonly string[];
  },
): Promise<Shared> {
  const [{ Runs }, { AskStore }, { openSession, readSession }, catalog] = await Promise.all([
    import("../engine/runs.ts"),
    import("../engine/asks.ts"),
    import("../session/store.ts"),
    host.catalog.load(),
  ]);
  const { worktree, paths, registry, loaded: { settings } } = host, { trust, ...rest } = options;
  const place = { worktree, stateDir: paths.state };
  return {
    ...rest,
    catalog,
    registry,
    worktree,
    runs: new Runs(),
    asks: new AskStore(place),
    readSession: (name) => readSession(place, name),
    openSession: (session) =>
      openSession({
        ...place,
        ...session,
        prefix: "sub_",
        trust,
        noiseTools: settings.noise_tools,
        maxToolChars: settings.session_tool_max_chars,
        canonicalName: (name) => registry.get(name)?.name ?? name,
      }),
  };
}
