import assert from "node:assert/strict";
import type { PathRule, ToolPermission } from "../../src/config/settings.ts";
import { compileCall, NO_PERMISSIONS } from "../../src/policy/compile.ts";
import { type Carve, delegatedPolicy, grantCeiling } from "../../src/policy/delegated.ts";
import { Grants } from "../../src/policy/grants.ts";
import { actionAt, effectivePolicy, stricter } from "../../src/policy/modes.ts";
import { compileHop } from "../../src/policy/web_hop.ts";
import { checkCommand } from "../../src/policy/shell_command.ts";
import { type PolicyInput, ToolPolicy } from "../../src/policy/tool_policy.ts";
import type { Action, Tool } from "../../src/tool.ts";
import { codeTest, fileRead, fileWrite, gitCommit, inputOf, runCommand, webSearch } from "./_fixtures.ts";

const RANK: Readonly<Record<Action, number>> = { deny: 0, ask: 1, allow: 2 };

/** A generator with a seed, so that a failure can be repeated. */
function dice(seed: number): <T>(list: readonly T[]) => T {
  let state = seed;
  return (list) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return list[Math.floor(state / 2 ** 32 * list.length)]!;
  };
}

const COMMANDS = [
  "ls",
  "ls -l src",
  "git status",
  "git log -1",
  "git -c alias.x=!sh x",
  "find . -name a",
  "find . -exec rm a ;",
  "find . -exec rm a \\;",
  "cat a | sort",
  "ls && git status",
  "npm test",
  "echo a > b",
  "lsof",
];
const LISTS: readonly (readonly string[] | undefined)[] = [
  undefined,
  [],
  ["ls"],
  ["ls", "git status", "git log"],
  ["git"],
  ["find"],
  ["find . -exec", "ls"],
  ["find . -name", "cat", "sort"],
  ["cat", "sort", "npm", "ls", "git"],
  [""],
];
const RULES: readonly (readonly PathRule[])[] = [
  [],
  [{ path: "src/", access: "write", action: "deny" }],
  [{ path: "src/", access: "write", action: "deny" }, { path: "src/gen/", access: "write", action: "allow" }],
  [{ path: "*.md", access: "read", action: "ask" }],
  [{ path: "docs/", access: "read", action: "deny" }, { path: "docs/a.md", access: "read", action: "ask" }],
  [{ path: "/outside/", access: "read", action: "allow" }],
];
const PATHS = [
  "a.txt",
  "src/a.ts",
  "src/gen/a.ts",
  "docs/a.md",
  "docs/b.md",
  "readme.md",
  "/outside/a",
  "../b",
];

function permission(roll: ReturnType<typeof dice>): ToolPermission {
  const out: Record<string, Action | readonly string[]> = {};
  for (const key of ["edit", "bash", "read", "vcs", "web"]) {
    const action = roll(["allow", "ask", "deny", "allow", null] as const);
    if (action) out[key] = action;
  }
  const allow = roll(LISTS), auto = roll(LISTS);
  if (allow) out.bash_allow = allow;
  if (auto) out.bash_auto = auto;
  return out as ToolPermission;
}

interface Scene {
  readonly caller: PolicyInput;
  readonly carve: Carve;
  readonly mode: string | undefined;
  readonly sub: PolicyInput;
}

function scene(seed: number, from?: PolicyInput): Scene {
  const roll = dice(seed);
  const carve: Carve = {
    tool_permission: permission(roll),
    path_rules: roll(RULES),
    ...(roll([true, false]) ? { grant_permission: { bash: roll(["allow", "ask", "deny"] as const) } } : {}),
  };
  const caller = from ?? {
    ...inputOf({
      tool_permission: permission(roll),
      grant_permission: roll([{}, {}, { edit: "ask" }, { bash: "allow", read: "allow" }]),
      path_rules: roll(RULES),
      modes: {
        build: {},
        plan: {},
        docs: { tool_permission: { bash: "deny" } },
        free: { tool_permission: { edit: "allow" } },
      },
    }),
    mode: roll(["build", "build", "plan", "docs", "free"]),
    checkCommand,
  };
  const mode = roll([undefined, "build", "plan", "docs", "free"]);
  return { caller, carve, mode, sub: delegatedPolicy(caller, carve, { mode }).input };
}

function* callsOf(): Generator<[Tool, Record<string, unknown>]> {
  for (const command of COMMANDS) yield [runCommand, { command }];
  for (const path of PATHS) {
    yield [fileRead, { path }];
    yield [fileWrite, { path, content: "" }];
  }
  yield [gitCommit, { message: "m" }];
  yield [webSearch, { query: "q" }];
  for (const target of ["npm", "make", "ls"]) yield [codeTest, { target }];
}

/** What the role alone says: its own lists and actions, over a caller that allows everything. */
function roleAlone({ caller, carve }: Scene): PolicyInput {
  const open = Object.fromEntries(
    ["edit", "bash", "read", "vcs", "web", "list"].map((key) => [key, "allow"]),
  );
  return {
    ...inputOf({
      tool_permission: {
        ...open,
        // A list of what runs by itself without a word on bash: as for a role that asks.
        ...(carve.tool_permission?.bash_auto?.length ? { bash: "ask" } : {}),
        ...carve.tool_permission,
      },
      path_rules: [{ path: "/**", access: "read", action: "allow" }, {
        path: "/**",
        access: "write",
        action: "allow",
      }, ...carve.path_rules ?? []],
    }),
    worktree: caller.worktree,
    checkCommand,
  };
}

const SCENES = Array.from({ length: 150 }, (_, seed) => scene(seed + 1));

Deno.test("delegated, property: a sub-agent is never wider than its caller, nor than its mode", () => {
  let narrower = 0;
  for (const [seed, { caller, mode, sub }] of SCENES.entries()) {
    const one = new ToolPolicy(caller), two = new ToolPolicy(sub);
    const other = caller.mode === "plan" ? one : new ToolPolicy({ ...caller, mode: mode ?? caller.mode });
    for (const [tool, args] of callsOf()) {
      const [a, b, c] = [one, two, other].map((policy) => policy.resolve(tool, args).action) as [
        Action,
        Action,
        Action,
      ];
      assert.ok(
        RANK[b] <= RANK[a],
        `scene ${seed + 1}: ${tool.name} ${JSON.stringify(args)}: ${a} became ${b}`,
      );
      assert.ok(
        RANK[b] <= RANK[c],
        `scene ${seed + 1}: ${tool.name} ${JSON.stringify(args)}: mode says ${c}, got ${b}`,
      );
      if (RANK[b] < RANK[a]) narrower++;
    }
  }
  assert.ok(narrower > 250, "the roles do narrow something");
});

Deno.test("delegated, property: a sub-agent is never narrower than what caller, role, ceiling and mode all allow", () => {
  let kept = 0;
  for (const [seed, scene] of SCENES.entries()) {
    const { caller, mode, sub } = scene;
    const wanted = caller.mode === "plan" ? "plan" : mode ?? caller.mode;
    const all = [caller, { ...caller, mode: wanted }, roleAlone(scene)].map((input) => new ToolPolicy(input));
    const two = new ToolPolicy(sub);
    for (const [tool, args] of callsOf()) {
      const ceiling = actionAt(caller.settings.grant_permission, tool.permission) ?? "allow";
      const least = all.map((policy) => policy.resolve(tool, args).action).reduce(stricter, ceiling);
      // A command that runs by itself only for some of them asks or is refused by the others' actions.
      const got = two.resolve(tool, args).action;
      assert.ok(
        RANK[got] >= RANK[least],
        `scene ${seed + 1}: ${tool.name} ${JSON.stringify(args)}: all say ${least}, got ${got}`,
      );
      if (least === "allow") kept++;
    }
  }
  assert.ok(kept > 150, "something is left");
});

Deno.test("delegated, property: three levels down nothing is wider than any level above", () => {
  for (let seed = 1; seed <= 80; seed++) {
    const first = scene(seed), second = scene(seed + 1000, first.sub), third = scene(seed + 2000, second.sub);
    const levels = [first.caller, first.sub, second.sub, third.sub].map((input) => new ToolPolicy(input));
    for (const [tool, args] of callsOf()) {
      const actions = levels.map((policy) => RANK[policy.resolve(tool, args).action]);
      for (let i = 1; i < actions.length; i++) {
        assert.ok(
          actions[i]! <= actions[i - 1]!,
          `${seed}: ${tool.name} ${JSON.stringify(args)}: ${actions}`,
        );
      }
    }
  }
});

Deno.test("delegated: under plan nothing writes, whatever role, stage mode and grants say", () => {
  const caller = {
    ...inputOf({ tool_permission: { edit: "allow", bash: "allow", vcs: "allow" } }),
    mode: "plan",
  };
  const carve: Carve = {
    tool_permission: { edit: "allow", bash: "allow", vcs: "allow" },
    grant_permission: { edit: "allow" },
  };
  let input: PolicyInput = caller;
  for (const mode of ["build", "plan", undefined]) {
    const grants = new Grants();
    for (const key of ["edit", "bash", "vcs"]) {
      grants.add({ name: null, permission: key, scope: "always", origin: "human", ceiling: "allow" });
    }
    input = delegatedPolicy(input, carve, { mode, grants }).input;
    assert.equal(input.mode, "plan");
    const policy = new ToolPolicy(input), open = { ...input, open: true };
    for (
      const [tool, args] of [[fileWrite, { path: "a", content: "" }], [runCommand, { command: "ls" }], [
        gitCommit,
        { message: "m" },
      ]] as const
    ) {
      assert.equal(policy.resolve(tool, args).action, "deny", tool.name);
      const decision = new ToolPolicy(open).resolve(tool, args);
      assert.equal(decision.action, "allow", "the policy is open");
      assert.deepEqual(compileCall(tool, decision, open, true).permissions, NO_PERMISSIONS, tool.name);
    }
  }
});

Deno.test("delegated: the caller's mode goes on to deny, also where the stage's mode would not", () => {
  const caller = {
    ...inputOf(
      { tool_permission: { bash: "allow" }, modes: { docs: { tool_permission: { bash: "deny" } } } } as never,
    ),
    mode: "docs",
  };
  const grants = new Grants();
  grants.add({ name: null, permission: "bash", scope: "once", origin: "human", ceiling: "allow" });
  const { input } = delegatedPolicy(caller, {}, { mode: "build", grants });
  assert.equal(input.mode, "build");
  assert.equal(
    new ToolPolicy(input).resolve(runCommand, { command: "ls" }).action,
    "deny",
    "not even a grant lifts it",
  );
});

Deno.test("delegated: an entry that spells out more than the caller's opens nothing, and a shorter one closes nothing", () => {
  const caller = {
    ...inputOf({ tool_permission: { bash: "allow", bash_allow: ["find", "git"] } }),
    checkCommand,
  };
  const role = (bash_allow: string[]) =>
    new ToolPolicy(delegatedPolicy(caller, { tool_permission: { bash_allow } }).input);
  assert.equal(
    role(["find . -exec"]).resolve(runCommand, { command: "find . -exec rm a \\;" }).action,
    "deny",
  );
  assert.equal(role(["git status"]).resolve(runCommand, { command: "git status" }).action, "allow");
  assert.equal(role(["git status"]).resolve(runCommand, { command: "git log" }).action, "deny");
  assert.equal(role(["find", "git", "ls"]).resolve(runCommand, { command: "ls" }).action, "deny");
  assert.equal(
    role(["find", "git", "ls"]).resolve(runCommand, { command: "git status && find . -name a" }).action,
    "allow",
  );
});

Deno.test("delegated: the worker of a narrower role has fewer programs and no write", () => {
  const caller = {
    ...inputOf({ tool_permission: { bash: "allow", bash_allow: ["ls", "cat"] } }),
    checkCommand,
  };
  const { input } = delegatedPolicy(caller, { tool_permission: { edit: "deny", bash_allow: ["ls"] } });
  const run =
    compileCall(runCommand, new ToolPolicy(input).resolve(runCommand, { command: "ls" }), input, false)
      .permissions.run;
  assert.ok(
    run.some((path) => path.endsWith("/ls")) && !run.some((path) => path.endsWith("/cat")),
    run.join(),
  );
  assert.deepEqual(
    compileCall(fileWrite, { action: "allow", rule: "x", reason: "x", trail: [], paths: [] }, input, false)
      .permissions,
    NO_PERMISSIONS,
  );
});

Deno.test("delegated: a role without the web gets no hop, whatever was decided", () => {
  const caller = inputOf({ tool_permission: { web: "allow" } });
  const { input } = delegatedPolicy(caller, { tool_permission: { web: "deny" } });
  assert.ok(compileHop("https://example.com/", ["93.184.216.34"], caller, true));
  assert.throws(
    () => compileHop("https://example.com/", ["93.184.216.34"], { ...input, open: true }, true),
    /web is deny/,
  );
});

Deno.test("delegated: path rules of a role reach the guard as a list of their own", () => {
  const caller = inputOf({ path_rules: [{ path: "src/", access: "write", action: "deny" }] });
  const { input } = delegatedPolicy(caller, {
    path_rules: [{ path: "docs/x", access: "write", action: "deny" }],
  });
  const policy = new ToolPolicy(input);
  for (const path of ["src/a", "docs/x/a"]) {
    assert.equal(policy.resolve(fileWrite, { path, content: "" }).action, "deny", path);
  }
  const { guard } = compileCall(
    fileWrite,
    policy.resolve(fileWrite, { path: "a", content: "" }),
    input,
    false,
  );
  assert.equal(guard.layers?.length, 1);
  assert.match(guard.layers![0]![0]!.pattern, /\/docs\/x$/);
});

Deno.test("delegated: the ceiling for grants goes down the tree and never up", () => {
  const caller = inputOf({
    tool_permission: { bash: "deny", edit: "ask" },
    grant_permission: { bash: "allow", read: "allow" },
  });
  assert.equal(grantCeiling(caller.settings, "build", "bash"), "allow");
  assert.equal(
    grantCeiling(caller.settings, "build", "edit"),
    "deny",
    "a map that lacks the key grants nothing",
  );
  const sub = delegatedPolicy(caller, { grant_permission: { bash: "ask", edit: "allow" } }).input;
  assert.equal(grantCeiling(sub.settings, sub.mode, "bash"), "ask");
  assert.equal(grantCeiling(sub.settings, sub.mode, "edit"), "deny");
  const plain = inputOf({ tool_permission: { bash: "deny", edit: "ask" } });
  assert.equal(grantCeiling(plain.settings, "build", "edit"), "ask", "without a map: what it may do itself");
  const below = delegatedPolicy(plain, { tool_permission: { edit: "deny" } }).input;
  assert.equal(grantCeiling(below.settings, below.mode, "edit"), "deny");
});

Deno.test("delegated: reduced names the keys for which the role asked for more; grants are not inherited", () => {
  const grants = new Grants();
  grants.add({ name: null, permission: "bash", scope: "always", origin: "human", ceiling: "allow" });
  const caller = { ...inputOf({ tool_permission: { bash: "deny", edit: "allow" } }), grants };
  const { input, reduced } = delegatedPolicy(caller, {
    tool_permission: { bash: "allow", edit: "allow", web: "deny" },
  });
  assert.deepEqual(reduced, ["bash"]);
  assert.equal(input.grants, undefined);
  assert.equal(effectivePolicy(input.settings, input.mode).permission.bash, "deny");
});

Deno.test("delegated: tools.allow of mode and caller meet by canonical name, tools.deny adds up", () => {
  const caller = inputOf({
    tools: { allow: ["view", "grep"], deny: ["git"] },
    modes: {
      look: { tools: { allow: ["file_read", "glob"], deny: ["ls"] } },
      other: { tools: { allow: ["glob"] } },
    },
  });
  const canonical = (name: string) => name === "view" ? "file_read" : name;
  const { settings } = delegatedPolicy(caller, {}, { mode: "look", canonical }).input;
  assert.deepEqual([settings.tools.allow, [...settings.tools.deny].sort()], [["view"], ["git", "ls"]]);
  const none = new ToolPolicy(delegatedPolicy(caller, {}, { mode: "other", canonical }).input);
  assert.equal(none.allowed(fileRead).action, "deny", "nothing in common is nothing, not everything");
});

Deno.test("delegated: who decides about permissions only gets stricter", () => {
  const caller = inputOf({ ask_policy: { permission: "human", direction: "human" } });
  const policy = (ask_policy: Carve["ask_policy"]) =>
    delegatedPolicy(caller, { ask_policy }).input.settings.ask_policy;
  assert.deepEqual(policy({ permission: "auto", direction: "lead" }), {
    permission: "human",
    direction: "lead",
  });
  assert.deepEqual(policy({ permission: "deny" }), { permission: "deny", direction: "human" });
});

Deno.test("grants: what one covers is known after it was used, and nothing else", () => {
  const grants = new Grants();
  const { id } = grants.add({
    name: "run_command",
    permission: "bash",
    scope: "once",
    origin: "human",
    ceiling: "allow",
  });
  grants.take(id);
  assert.equal(grants.covers(id, runCommand), true);
  assert.equal(grants.covers(id, fileWrite), false);
  assert.equal(grants.covers(id, codeTest), false);
  assert.equal(grants.covers(99, runCommand), false);
});
