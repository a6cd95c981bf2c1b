/**
 * From a decision to Deno permissions: what one call's worker may do, what a tool's warm workers may do, and the ceiling
 * over the whole process.
 *
 * Everything here comes from configuration, worktree and the tool's `access`, never from a decision's action: a policy
 * that says yes to everything still compiles to a worker that cannot leave the worktree. A yes adds exactly the path that
 * it was said to.
 *
 * @module
 */
import { PolicyDenied } from "../errors.ts";
import { basename, dirname, isWithin, join } from "../text/path.ts";
import type { Tool } from "../tool.ts";
import { type PolicyCore, policyCore } from "./_core.ts";
import { guardRules, ruleFor, rulePath } from "./path_rules.ts";
import { NO_DENO } from "./programs.ts";
import { helpersOf, programsOf, withoutHelpers } from "./_run.ts";
import { actionAt } from "./modes.ts";
import { aliasesOf, type PolicyInput } from "./tool_policy.ts";
import type { CallScope, Decision, GuardScope, PermissionSet, ResolvedPath } from "./types.ts";

export {
  type CeilingFlags,
  type CeilingInput,
  compileCeiling,
  HOST_ENVIRONMENT,
  protectedPaths,
} from "./_ceiling.ts";

/** No permission at all. */
export const NO_PERMISSIONS: PermissionSet = Object.freeze({
  read: [],
  write: [],
  run: [],
  net: [],
  env: [],
});

/** What a worker asks for to start programs (node:child_process reads it). */
const RUN_ENVIRONMENT = ["NODE_V8_COVERAGE"];

type Granted = GuardScope["consented"][number];

/**
 * The permissions that a tool's warm workers have, whatever the call: the worktree for reading and, for tools that write,
 * for writing; the programs that the tool may ever start with these settings. A tool without `access` has none.
 */
export function standingPermissions(tool: Tool, input: PolicyInput): PermissionSet {
  const core = policyCore(input);
  if (closed(tool, core)) return NO_PERMISSIONS;
  return permissionsOf(tool, core, programsOf(tool, "shell", core).paths);
}

/**
 * What one call may do.
 *
 * @param decision of `ToolPolicy.resolve` for the same tool and arguments
 * @param consented somebody said yes to an `ask`: the paths that needed it are opened, exactly
 * @param confiner the program that confines what this call starts, where one does: its worker has to start nothing else
 * @throws {PolicyDenied} when the call would start Deno itself
 */
export function compileCall(
  tool: Tool,
  decision: Decision,
  input: PolicyInput,
  consented: boolean,
  confiner?: string,
): CallScope {
  const core = policyCore(input);
  if (closed(tool, core) && !(decision.grant && input.grants?.covers(decision.grant.id, tool))) {
    // Whatever was decided: with these settings the tool is not to run, so it gets nothing.
    const guard = { worktree: input.worktree, roots: [], rules: core.guard, consented: [], programs: {} };
    return { permissions: NO_PERMISSIONS, guard, oneShot: false };
  }
  const programs = programsOf(tool, decision.command?.mode ?? "shell", core);
  if (programs.deno.length > 0 && withoutHelpers(programs.paths.map(basename)).length === 0) {
    throw new PolicyDenied(`${programs.deno[0]}: ${NO_DENO}`, "programs");
  }
  const run = confiner === undefined ? programs.paths : [...helpersOf(programs.paths), confiner];
  const base = permissionsOf(tool, core, run);
  const yes = consented ? decision.paths.filter((path) => path.consent !== null).map(granted) : [];
  const lifted = tool.access.length === 0
    ? []
    : decision.paths.filter((path) => !path.inside && openedByRule(path, core)).map(granted);
  const targets = decision.command?.mode === "tree" ? writeTargets(decision.paths, core) : [];
  const outside = [...yes, ...lifted].filter(({ path }) => !isWithin(path, input.worktree));
  const temporary = outside.some(({ access }) => access === "write")
    ? `.polyglav-${crypto.randomUUID()}.tmp`
    : undefined;
  const read = new Set(base.read), write = new Set(base.write);
  if (tool.access.length > 0) {
    for (const { path } of targets) write.add(path);
    for (const { path, access } of outside) {
      read.add(path);
      if (access === "read") continue;
      write.add(path);
      for (const more of [join(dirname(path), `./${temporary}`), missingParent(path, core)]) {
        if (more === null) continue;
        read.add(more);
        write.add(more);
      }
    }
  }
  const permissions: PermissionSet = { ...base, read: [...read], write: [...write] };
  const guard: GuardScope = {
    worktree: input.worktree,
    roots: [
      ...base.read.map((path): Granted => ({ path, access: "read" })),
      ...base.write.map((path): Granted => ({ path, access: "write" })),
      ...targets,
      ...lifted,
    ],
    rules: core.guard,
    ...(core.layers.length === 0
      ? {}
      : { layers: core.layers.map((layer) => guardRules(layer, input.worktree)) }),
    consented: yes,
    ...(temporary === undefined ? {} : { temporary }),
    home: input.home,
    ...(decision.command ? { command: decision.command } : {}),
    ...(tool.access.includes("run") ? { programs: programs.byName } : {}),
  };
  return { permissions, guard, oneShot: !samePermissions(permissions, base) };
}

/**
 * Whether the configuration closes a tool whatever its arguments: by name, by its key, or in a mode that changes
 * nothing. Read from the configuration here, not from a decision.
 */
function closed(tool: Tool, { effective }: PolicyCore): boolean {
  const names = new Set([tool.name, ...aliasesOf(tool)].map((name) => name.toLowerCase()));
  const named = (list: readonly string[]) => list.some((name) => names.has(name.toLowerCase()));
  if (named(effective.deny) || (effective.allow.length > 0 && !named(effective.allow))) return true;
  if (actionAt(effective.permission, tool.permission) === "deny") return true;
  const writes = tool.access.includes("write") || tool.commandArg !== undefined;
  return effective.readOnly && writes && !effective.opened.has(tool.permission);
}

/** Whether two sets hold the same permissions, in whatever order. */
export function samePermissions(a: PermissionSet, b: PermissionSet): boolean {
  return (["read", "write", "run", "net", "env"] as const).every((kind) => {
    const left = new Set(a[kind]), right = new Set(b[kind]);
    return left.size === right.size && [...left].every((value) => right.has(value));
  });
}

function permissionsOf(tool: Tool, core: PolicyCore, programs: readonly string[]): PermissionSet {
  const { worktree } = core.input;
  const has = (access: "read" | "write" | "run") => tool.access.includes(access);
  return {
    read: has("read") || has("write") || has("run") ? [worktree] : [],
    write: has("write") ? [worktree] : [],
    run: has("run") ? programs : [],
    net: [],
    env: has("run") ? RUN_ENVIRONMENT : [],
  };
}

function granted({ canonical, access }: ResolvedPath): Granted {
  return { path: canonical, access: access === "write" ? "write" : "read" };
}

/** Whether a rule of the user's opens a path outside; asked again here, because it must not come from the decision. */
function openedByRule(path: ResolvedPath, core: PolicyCore): boolean {
  if (path.consent !== null) return false;
  const access = path.access === "write" ? "write" : "read";
  const rule = ruleFor(core.rules, access, rulePath(path.canonical, core.input.worktree));
  return rule !== null && !rule.builtIn && rule.rule.action === "allow";
}

/** Files that a checked command line may write: in the worktree (or opened by a rule), and under no rule against it. */
function writeTargets(paths: readonly ResolvedPath[], core: PolicyCore): readonly Granted[] {
  if ((actionAt(core.effective.permission, "edit") ?? "deny") === "deny") return [];
  return paths.filter((path) => {
    if (path.access !== "write") return false;
    const place = rulePath(path.canonical, core.input.worktree), rule = ruleFor(core.rules, "write", place);
    if (core.layers.some((layer) => (ruleFor(layer, "write", place)?.rule.action ?? "allow") !== "allow")) {
      return false;
    }
    return path.inside ? rule === null || rule.rule.action === "allow" : openedByRule(path, core);
  }).map(granted);
}

/** The topmost directory above a path that does not exist yet and has to be made; null where the parent is there. */
function missingParent(path: string, core: PolicyCore): string | null {
  let missing: string | null = null;
  for (let directory = dirname(path); dirname(directory) !== directory; directory = dirname(directory)) {
    try {
      core.base.realPath(directory);
      break;
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) break;
      missing = directory;
    }
  }
  return missing;
}
