/**
 * The ceiling over the whole process: what the policy can ever allow in this run, and what the host itself needs.
 *
 * @module
 */
import { dirname, isWithin, join } from "../text/path.ts";
import type { Settings } from "../config/settings.ts";
import type { Tool } from "../tool.ts";
import { HOST_ENVIRONMENT } from "./_host_environment.ts";
import { parseIPv4, parseIPv6 } from "./_address.ts";
import { type Cidr, cidrText, without } from "./_cidr.ts";
import { type PolicyCore, policyCore } from "./_core.ts";
import { programsOf } from "./_run.ts";
import { rememberedTool } from "./consent.ts";
import { actionAt, prefixesAt, stricter } from "./modes.ts";
import { actionOf, type CompiledRule, ruleFor, rulePath } from "./path_rules.ts";
import { isDenoName, isExecutable } from "./programs.ts";
import type { PolicyInput, ToolPolicy } from "./tool_policy.ts";

export { HOST_ENVIRONMENT };

/** What the ceiling is compiled from. */
export interface CeilingInput {
  readonly policy: Pick<ToolPolicy, "allowed">;
  readonly policyInput: PolicyInput;
  /** Every question is answered with yes. */
  readonly yes: boolean;
  /** Somebody is there to answer. */
  readonly interactive: boolean;
  /** Where the model is; null where none is asked (replay). */
  readonly providerAddress: {
    readonly host: string;
    readonly port: number;
    /** What the host resolves to, where it is a name in a private network. */
    readonly addresses?: readonly string[];
  } | null;
  /** Folders and files with the program's own modules, and Deno's cache. */
  readonly sourceRoots: readonly string[];
  readonly stateDir: string;
  readonly configDir: string;
  readonly extraRead?: readonly string[];
  readonly extraWrite?: readonly string[];
  readonly extraNet?: readonly string[];
  /** Hosts and addresses of the user's own servers, which stay open although they may be private. */
  readonly ownServers?: readonly string[];
  readonly extraEnv?: readonly string[];
  readonly sys?: readonly string[];
  /** The PATH that programs are searched by; default: that of the policy's environment. */
  readonly pathEnv?: string;
  /** Whether a path is a program; default: a look at the file. */
  readonly exists?: (path: string) => boolean;
}

/** Deno permission flags as arrays; `true` is unrestricted. Programs are absolute paths and never Deno itself. */
export interface CeilingFlags {
  read: string[] | true;
  denyRead: string[];
  write: string[] | true;
  denyWrite: string[];
  net: string[] | true;
  denyNet: string[];
  run: string[];
  env: string[];
  sys: string[];
}

/** Ranges that no web page lies in, as far as a person's yes cannot open them. */
const NEVER: readonly Cidr[] = [
  [0x00000000, 8],
  [0xa9fe0000, 16],
  [0xc0000000, 24],
  [0xe0000000, 4],
  [0xf0000000, 4],
  [0xa83f8110, 32],
  [0x646464c8, 32],
];

/** Ranges that ask. */
const PRIVATE: readonly Cidr[] = [
  [0x0a000000, 8],
  [0x64400000, 10],
  [0x7f000000, 8],
  [0xac100000, 12],
  [0xc0a80000, 16],
];

/**
 * The flags under which the program starts itself again. Whatever the policy may come to allow in this run is inside,
 * answers to questions included where somebody (or `--yes`) answers; nothing else is, but for what the host needs: its
 * modules, its configuration, its sessions and the model's address.
 */
export function compileCeiling(tools: readonly Tool[], input: CeilingInput): CeilingFlags {
  const policyInput: PolicyInput = {
    ...input.policyInput,
    ...(input.pathEnv === undefined ? {} : { env: { ...input.policyInput.env, PATH: input.pathEnv } }),
    isProgram: remembered(input.exists ?? input.policyInput.isProgram ?? isExecutable),
    realPath: remembered(input.policyInput.realPath ?? Deno.realPathSync),
  };
  const core = policyCore(policyInput);
  const live = tools.filter((tool) => tool.access.length > 0 && reachable(tool, input, core));
  const answered = input.yes || input.interactive;
  const { worktree } = policyInput;
  const run = programs(live, core);
  return {
    read: answered && live.some(takesPaths) ? true : places([
      worktree,
      ...input.sourceRoots,
      input.configDir,
      input.stateDir,
      ...opened(core, "read"),
      ...opened(core, "write"),
      ...yesPlaces(live, core, "read"),
      ...run,
      ...input.extraRead ?? [],
    ]),
    denyRead: denied(core, "read", input),
    ...writing(live, core, input, answered),
    ...network(live, input, answered),
    run,
    env: unique([...HOST_ENVIRONMENT, ...input.extraEnv ?? []]),
    sys: [...input.sys ?? []],
  };
}

/** The same answer to the same question: several tools name the same programs, and most places on PATH hold none of them. */
function remembered<T>(answer: (path: string) => T): (path: string) => T {
  const known = new Map<string, T>();
  return (path) => {
    if (!known.has(path)) known.set(path, answer(path));
    return known.get(path)!;
  };
}

/** Whether any call of a tool may ever be allowed in this run. */
function reachable(tool: Tool, input: CeilingInput, core: PolicyCore): boolean {
  const { action, rule } = input.policy.allowed(tool);
  if (action === "allow") return true;
  if (action === "ask") {
    if (input.yes || input.interactive || tool.permissionFn || tool.confirm === false) return true;
    if (rememberedTool(tool, core.input.settings) || callsOf(tool, core).length > 0) return true;
    if (
      tool.commandArg !== undefined && prefixesAt(core.effective.permission, "bash_auto").prefixes.length > 0
    ) return true;
  }
  // A lead may grant what stands in grant_permission, but nothing above the name lists and the mode.
  const ceiling = actionAt(core.input.settings.grant_permission ?? {}, tool.permission);
  const liftable = action === "ask" || rule === `tool_permission.${tool.permission}`;
  return liftable && (ceiling === "allow" || (ceiling === "ask" && input.interactive));
}

/** Calls of a tool that a person said yes to for good. */
function callsOf(tool: Tool, core: PolicyCore): Settings["consent"]["calls"] {
  return core.input.settings.consent?.calls.filter((call) => call.tool === tool.name) ?? [];
}

/** Places outside that such calls may touch. */
function yesPlaces(live: readonly Tool[], core: PolicyCore, access: "read" | "write"): string[] {
  return live.flatMap((tool) => callsOf(tool, core)).flatMap(({ paths = [] }) => paths)
    .filter((use) => access === "read" || use.access === "write").map(({ path }) => path);
}

function takesPaths(tool: Tool): boolean {
  return tool.pathArg !== undefined || tool.paths !== undefined || tool.commandArg !== undefined;
}

function programs(live: readonly Tool[], core: PolicyCore): string[] {
  const found = live.flatMap((tool) => {
    const shell = programsOf(tool, "shell", core).paths;
    const auto = tool.commandArg !== undefined &&
      prefixesAt(core.effective.permission, "bash_auto").restricts;
    return auto ? [...shell, ...programsOf(tool, "tree", core).paths] : shell;
  });
  return unique(found).filter((path) => !isDenoName(path));
}

function writing(
  live: readonly Tool[],
  core: PolicyCore,
  input: CeilingInput,
  answered: boolean,
): Pick<CeilingFlags, "write" | "denyWrite"> {
  const { worktree } = core.input, own = join(worktree, ".polyglav");
  const host = [
    join(own, "sessions"),
    join(own, "journal"),
    join(own, ".gitignore"),
    input.stateDir,
    ...input.extraWrite ?? [],
  ];
  const writers = live.filter((tool) =>
    tool.access.includes("write") || (tool.commandArg !== undefined && checks(core))
  );
  if (writers.length === 0) return { write: unique(host), denyWrite: [] };
  const write = answered && writers.some(takesPaths)
    ? true
    : places([worktree, ...host, ...opened(core, "write"), ...yesPlaces(writers, core, "write")]);
  const not = unique([...denied(core, "write", input), ...(answered ? [] : protectedOwn(core, input))]);
  return {
    write,
    denyWrite: write === true ? not : not.filter((path) => write.some((place) => isWithin(path, place))),
  };
}

function checks(core: PolicyCore): boolean {
  const { permission } = core.effective;
  if (actionAt(permission, "edit") === "deny") return false;
  return prefixesAt(permission, "bash_allow").restricts || prefixesAt(permission, "bash_auto").restricts;
}

/** The program's own settings, where nobody can say yes to changing them. */
function protectedOwn(core: PolicyCore, input: CeilingInput): string[] {
  const own = join(core.input.worktree, ".polyglav");
  const files = ["config.json", "roles.json", "teams.json", "skills"].map((name) => join(own, name));
  return [...files, input.configDir].filter((path) =>
    final(core, "write", path) === "ask" && !needed(path, input, "write")
  );
}

/** Places that a rule denies for good and whose path can be written down. */
function denied(core: PolicyCore, access: "read" | "write", input: CeilingInput): string[] {
  const literals = core.rules.filter(({ rule }) => rule.access === access && rule.action === "deny")
    .flatMap(({ patterns }) => patterns.filter(isLiteral).map(({ literal }) => literal));
  const git = access === "write" ? [join(core.input.worktree, ".git")] : [];
  return unique([...git, ...literals]).filter((path) =>
    final(core, access, path) === "deny" && !needed(path, input, access)
  );
}

/**
 * Paths that the rules do not let a call write without asking and that can be written down (no wildcard in them): what a
 * confined command must not write either, whatever program does it; of bare names the path at the worktree's top. In the
 * worktree alone; elsewhere a confined command writes nothing.
 */
export function protectedPaths(input: PolicyInput): string[] {
  const core = policyCore(input), { worktree } = input, found: string[] = [];
  for (const rules of [core.rules, ...core.layers]) {
    for (const { rule, patterns } of rules) {
      if (rule.access !== "write" || rule.action === "allow") continue;
      for (const pattern of patterns) {
        const literal = writtenDown(pattern, worktree);
        if (literal === null) continue;
        if (!isWithin(literal, worktree) || literal === worktree) continue;
        const decided = ruleFor(rules, "write", rulePath(literal, worktree));
        if (decided && decided.rule.action !== "allow") found.push(literal);
      }
    }
  }
  return unique(found);
}

/** The path that a pattern names; of a bare name, which counts at any depth, the one at the top. */
function writtenDown(pattern: CompiledRule["patterns"][number], worktree: string): string | null {
  if (isLiteral(pattern)) return pattern.literal;
  return pattern.anywhere && !/[[\]{}*?\\]/.test(pattern.text) ? join(worktree, pattern.text) : null;
}

function isLiteral(pattern: CompiledRule["patterns"][number]): boolean {
  return !pattern.anywhere && pattern.segments.every((segment) => segment !== "**" && segment.plain);
}

/** What the rules say of a place and everything below it; null where a later rule may say something else below. */
function final(core: PolicyCore, access: "read" | "write", path: string): string | null {
  const decided = ruleFor(core.rules, access, rulePath(path, core.input.worktree));
  if (decided === null) return null;
  const later = core.rules.slice(core.rules.indexOf(decided) + 1);
  const overridden = later.some(({ rule, patterns }) =>
    rule.access === access && stricter(rule.action, decided.rule.action) !== rule.action &&
    patterns.some((pattern) =>
      pattern.anywhere || isWithin(pattern.literal, path) || isWithin(path, pattern.literal)
    )
  );
  return overridden ? null : actionOf(decided);
}

/** Whether denying a place would take something from the host that it needs. */
function needed(path: string, input: CeilingInput, access: "read" | "write"): boolean {
  const { worktree } = input.policyInput, own = join(worktree, ".polyglav");
  const places = access === "read"
    ? [worktree, own, input.configDir, input.stateDir, ...input.sourceRoots, ...input.extraRead ?? []]
    : [worktree, join(own, "sessions"), join(own, "journal"), input.stateDir, ...input.extraWrite ?? []];
  return places.some((place) => isWithin(place, path));
}

/** Places outside the worktree that a rule of the user's opens: the part of the path before any wildcard. */
function opened(core: PolicyCore, access: "read" | "write"): string[] {
  const found: string[] = [];
  for (const { rule, patterns, builtIn } of core.rules) {
    if (builtIn || rule.access !== access || rule.action !== "allow") continue;
    for (const pattern of patterns) {
      if (pattern.anywhere || pattern.literal === "" || isWithin(pattern.literal, core.input.worktree)) {
        continue;
      }
      found.push(pattern.literal);
    }
  }
  return found;
}

function network(
  live: readonly Tool[],
  input: CeilingInput,
  answered: boolean,
): Pick<CeilingFlags, "net" | "denyNet"> {
  const provider = input.providerAddress;
  const web = live.some((tool) => tool.access.includes("net"));
  if (!web) {
    return {
      net: unique([...(provider ? [hostPort(provider.host, provider.port)] : []), ...input.extraNet ?? []]),
      denyNet: [],
    };
  }
  const { settings } = input.policyInput;
  if (settings.web?.private === true) return { net: true, denyNet: [] };
  const keep = ownAddresses([
    ...(provider ? [provider.host, ...provider.addresses ?? []] : []),
    ...input.ownServers ?? [],
  ]);
  let ranges: Cidr[] = [...NEVER, ...(answered ? [] : PRIVATE)];
  for (const address of keep.v4) ranges = ranges.flatMap((range) => without(range, address));
  const v6 = ["::", "fd00:ec2::254", "fd20:ce::254", ...(answered ? [] : ["::1"])];
  const kept = new Set(keep.v6.map(String));
  return {
    net: true,
    denyNet: [
      ...ranges.map(cidrText),
      ...v6.filter((text) => !kept.has(String(parseIPv6(text)))).map((text) => `[${text}]`),
    ],
  };
}

function hostPort(host: string, port: number): string {
  return `${host.includes(":") && !host.startsWith("[") ? `[${host}]` : host}:${port}`;
}

function ownAddresses(given: readonly string[]): { v4: number[]; v6: (readonly number[])[] } {
  const local = given.some((host) => /(?:^|\.)localhost\.?$/i.test(host));
  const texts = [...given, ...(local ? ["127.0.0.1", "::1"] : [])];
  const v4: number[] = [], v6: (readonly number[])[] = [];
  for (const text of texts) {
    const four = parseIPv4(text), six = text.includes(":") ? parseIPv6(text) : null;
    if (four !== null) v4.push(four);
    else if (six !== null) v6.push(six);
  }
  return { v4, v6 };
}

/** A list of paths; a root among them is no restriction. */
function places(paths: readonly string[]): string[] | true {
  return paths.some((path) => path !== "" && dirname(path) === path) ? true : unique(paths);
}

function unique(values: readonly string[]): string[] {
  return [...new Set(values.filter((value) => value !== ""))];
}
