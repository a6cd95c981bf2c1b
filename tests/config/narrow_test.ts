import { deepEqual, equal, match, ok } from "node:assert/strict";
import { NO_HOST, NOTHING, valueAt } from "../../src/config/_narrow.ts";
import { assemble, defaultLeaves, lookUp, MODES, SCHEMA, type SchemaEntry } from "../../src/config/schema.ts";
import type { Settings } from "../../src/config/settings.ts";
import { makeWorktree } from "../helpers/worktree.ts";
import { load, loadIn } from "./_support.ts";

/** What an untrusted project may simply set: these keys only. */
const MAY_SET = ["glyph_lines", "list_dir_max_entries"];

const rank = (action: unknown) => ["deny", "ask", "allow"].indexOf(action as string);
const subset = (a: readonly unknown[], b: readonly unknown[]) => a.every((name) => b.includes(name));
const restricts = (a: readonly unknown[], b: readonly unknown[]) =>
  b.length === 0 ||
  (a.length > 0 && a.every((name) => b.includes(name) || name === NOTHING || name === NO_HOST));

type NoWider = (result: any, user: any, settings: Settings) => boolean;
const lowerAction: NoWider = (result, user) => rank(result ?? "ask") <= rank(user ?? "ask");
const fewer: NoWider = (result, user) => result <= user;
const fewerOrUnlimited: NoWider = (result, user) => (result || Infinity) <= (user || Infinity);
const onlyTo = (value: unknown): NoWider => (result, user) => result === user || result === value;

/** For each key that may be narrowed: whether `result` allows no more than `user`. Stated anew, not taken from the code. */
const NO_WIDER: Readonly<Record<string, NoWider>> = {
  "ask_policy.permission": (result, user) =>
    ["deny", "human", "auto"].indexOf(result) <= ["deny", "human", "auto"].indexOf(user),
  auto_continue_max: fewer,
  "delegate.max_depth": fewer,
  "delegate.parallel": fewer,
  "exec.confine": (result, user) =>
    ["require", "auto", "off"].indexOf(result) <= ["require", "auto", "off"].indexOf(user),
  glyph_params: onlyTo(true),
  "grant_permission.*": (result, user) => result === undefined || rank(result) <= rank(user ?? "deny"),
  max_rounds: fewer,
  max_team_depth: fewerOrUnlimited,
  memory: onlyTo(false),
  mode: (result, user) => result === user || (result === "plan" && ["build", "own"].includes(user)),
  "modes.*.tool_permission.*": (result, user, { tool_permission }) =>
    rank(result ?? tool_permission.own ?? "ask") <= rank(user ?? tool_permission.own ?? "ask"),
  "modes.*.tool_permission.bash_allow": (result, user) => restricts(result ?? [], user ?? []),
  "modes.*.tools.allow": (result, user) => restricts(result ?? [], user ?? []),
  "modes.*.tools.deny": (result, user) => subset(user ?? [], result ?? []),
  path_rules: (result, user) => {
    const own = user.length;
    return JSON.stringify(result.slice(0, own)) === JSON.stringify(user) &&
      result.slice(own).every(({ action }: { action: string }) => action !== "allow");
  },
  project_instructions: onlyTo(""),
  query_refine: onlyTo(false),
  search_results: fewer,
  show_errors: onlyTo(true),
  show_notes: onlyTo(true),
  stream_retries: fewer,
  "tool_permission.bash_allow": restricts,
  tool_analysis: onlyTo(false),
  tool_calling: onlyTo(false),
  tool_max_result_chars: fewerOrUnlimited,
  tool_status_visible: onlyTo(true),
  "tools.allow": restricts,
  "tools.deny": (result, user) => subset(user, result),
  "web.hosts": restricts,
  "web.private": onlyTo(false),
};

/** Values to try for an entry: all of few, the edges of many. */
function candidates(entry: SchemaEntry): unknown[] {
  if (entry.key === "mode") return ["build", "plan", "own"];
  if (entry.enum) return [...entry.enum];
  switch (entry.type) {
    case "boolean":
      return [true, false];
    case "integer":
    case "number":
    case "number or null": {
      const { min = 0, max = 1_000_000 } = entry;
      return [...new Set([min, Math.min(max, min + 1), max])];
    }
    case "string":
      return ["", "https://one.invalid", "two"];
    case "names":
    case "prefixes":
      return [[], ["a"], ["b"], ["a", "b"], ["a x", "c"]];
    case "hosts":
      return [[], ["a.invalid"], ["b.invalid"], ["a.invalid", "b.invalid"]];
    case "rules":
      return [
        [],
        [{ path: "x", access: "read", action: "allow" }],
        [{ path: "x", access: "read", action: "ask" }, { path: "y", access: "read", action: "deny" }],
      ];
    case "calls":
      return [[], [{ tool: "run_command", arguments: { command: "make" } }]];
    case "price":
      return [[0, 0], [2.5, 10]];
    case "none":
      return [[]];
    default:
      return ["text", { a: 1 }];
  }
}

/** A key that stands for the entry. */
function sample({ key }: SchemaEntry): string {
  return key.replace("modes.*", "modes.own").replace(/\*$/, "own");
}

const GROUND = { modes: { own: {} } };

Deno.test("no key of an untrusted project widens anything, whatever the user has and the project wants", () => {
  using tree = makeWorktree();
  let tried = 0;
  for (const entry of SCHEMA) {
    const key = sample(entry), values = candidates(entry);
    for (const mine of [undefined, ...values]) {
      const global = mine === undefined ? GROUND : { ...GROUND, [key]: mine };
      const user = loadIn(tree, { global, project: {} }).settings;
      for (const theirs of values) {
        tried++;
        const { settings, ignored, origin, warnings } = loadIn(tree, { global, project: { [key]: theirs } });
        const [was, is] = [valueAt(user, key, entry), valueAt(settings, key, entry)];
        const what = `${key}: user ${JSON.stringify(mine)}, project ${JSON.stringify(theirs)}, result ${
          JSON.stringify(is)
        }`;
        if (entry.project === "none") deepEqual(is, was, what);
        else if (entry.project === "set") {
          ok(MAY_SET.includes(entry.key), `${entry.key} may not be settable`);
          deepEqual(is, theirs, what);
        } else {
          const check = entry.type === "action" && entry.key.startsWith("tool_permission.")
            ? lowerAction
            : NO_WIDER[entry.key];
          ok(check, `say in this test what is no wider for ${entry.key}`);
          ok(check(is, was, user), what);
        }
        // What has not its full effect is named, in the list and in one warning.
        const full = JSON.stringify(is) === JSON.stringify(theirs);
        const extended = entry.narrow === "append" || entry.narrow === "rules";
        if (!full && !extended) ok(ignored.some((other) => other.key === key), what);
        equal(
          warnings.filter((text) => text.includes("not trusted")).length,
          ignored.length > 0 ? 1 : 0,
          what,
        );
        for (const other of ignored) ok(warnings.at(-1)!.includes(other.key), what);
        if (JSON.stringify(is) === JSON.stringify(was)) {
          ok(origin(key) !== "project" || entry.project === "set", what);
        }
        // Nothing else moves.
        const rest = (settings: Settings) => {
          const copy = JSON.parse(JSON.stringify(settings));
          const path = key.split(".");
          let at = copy;
          for (const part of path.slice(0, -1)) at = at?.[part];
          if (at) delete at[path.at(-1)!];
          return copy;
        };
        const empty = (value: any) => {
          for (const name of ["tools", "tool_permission"]) {
            if (value.modes.own[name] && Object.keys(value.modes.own[name]).length === 0) {
              delete value.modes.own[name];
            }
          }
          return value;
        };
        deepEqual(empty(rest(settings)), empty(rest(user)), what);
      }
    }
  }
  ok(tried > 500, `${tried}`);
});

Deno.test("a trusted project sets every key in full", () => {
  using tree = makeWorktree();
  for (const entry of SCHEMA) {
    const key = sample(entry);
    for (const theirs of candidates(entry)) {
      const { settings, ignored } = loadIn(tree, { global: GROUND, project: { [key]: theirs }, trust: true });
      equal(JSON.stringify(valueAt(settings, key, entry)), JSON.stringify(theirs), key);
      deepEqual(ignored, []);
    }
  }
});

Deno.test("narrowing always applies: what is stricter counts without trust", () => {
  const { settings, ignored } = load({
    global: {
      tool_permission: { bash: "allow", weather: "allow", bash_allow: ["git status", "ls"] },
      tools: { deny: ["grep"] },
      modes: { own: { tool_permission: { web: "ask" } } },
      web: { hosts: ["*.example.com", "docs.invalid"], private: true },
      max_rounds: 50,
      exec: { confine: "off" },
    },
    project: {
      tool_permission: { bash: "ask", edit: "deny", weather: "deny", bash_allow: ["ls", "git"] },
      tools: { deny: ["glob"], allow: ["file_read"] },
      modes: { own: { tool_permission: { web: "deny", edit: "deny" } }, plan: { tools: { deny: ["x"] } } },
      web: { hosts: ["api.example.com", "docs.invalid:443"], private: false },
      max_rounds: 5,
      exec: { confine: "require" },
      path_rules: [{ path: "secrets/**", access: "read", action: "deny" }],
      tool_calling: false,
    },
  });
  const { tool_permission: permission } = settings;
  deepEqual([permission.bash, permission.edit, permission.weather, permission.bash_allow], [
    "ask",
    "deny",
    "deny",
    ["git status", "ls"],
  ]);
  deepEqual(settings.tools, { deny: ["grep", "glob"], allow: ["file_read"] });
  deepEqual({ ...settings.modes.own!.tool_permission }, { web: "deny", edit: "deny" });
  deepEqual(settings.modes.plan!.tools!.deny, ["x"]);
  deepEqual(settings.web, { hosts: ["docs.invalid:443", "api.example.com"].toSorted(), private: false });
  deepEqual([settings.max_rounds, settings.exec.confine, settings.tool_calling], [5, "require", false]);
  deepEqual(settings.path_rules, [{ path: "secrets/**", access: "read", action: "deny" }]);
  deepEqual(ignored.map(({ key }) => key), ["tool_permission.bash_allow"]);
});

Deno.test("lists with nothing in common allow nothing, and not everything", () => {
  const { settings } = load({
    global: {
      tools: { allow: ["a"] },
      tool_permission: { bash_allow: ["ls"] },
      web: { hosts: ["a.invalid"] },
    },
    project: {
      tools: { allow: ["b"] },
      tool_permission: { bash_allow: ["rm"] },
      web: { hosts: ["b.invalid"] },
    },
  });
  deepEqual(settings.tools.allow, [NOTHING]);
  deepEqual(settings.tool_permission.bash_allow, [NOTHING]);
  deepEqual(settings.web.hosts, [NO_HOST]);
});

Deno.test("a longer command of the project does not count: it could spell out what the user's shorter one refuses", () => {
  const { settings } = load({
    global: { tool_permission: { bash_allow: ["find", "git log"] } },
    project: { tool_permission: { bash_allow: ["find . -exec", "git"] } },
  });
  deepEqual(settings.tool_permission.bash_allow, ["git log"]);
});

Deno.test("a prefix is compared word by word", () => {
  const { settings } = load({
    global: { tool_permission: { bash_allow: ["gitleaks", "git  status"] } },
    project: { tool_permission: { bash_allow: ["git"] } },
  });
  deepEqual(settings.tool_permission.bash_allow, ["git  status"]);
});

Deno.test("an empty list does not lift the user's", () => {
  const mine = {
    tools: { allow: ["a"], deny: ["b"] },
    tool_permission: { bash_allow: ["ls"] },
    web: { hosts: ["a.invalid"] },
  };
  const { settings, ignored } = load({
    global: mine,
    project: { tools: { allow: [], deny: [] }, tool_permission: { bash_allow: [] }, web: { hosts: [] } },
  });
  deepEqual([settings.tools, settings.tool_permission.bash_allow, settings.web.hosts], [
    mine.tools,
    ["ls"],
    ["a.invalid"],
  ]);
  equal(ignored.length, 4);
});

Deno.test("hosts meet by name and port, and no name slips in by its looks", () => {
  const meet = (mine: string[], theirs: string[]) =>
    load({ global: { web: { hosts: mine } }, project: { web: { hosts: theirs } } }).settings.web.hosts;
  deepEqual(meet(["*.example.com"], ["a.example.com", "example.com", "badexample.com"]), ["a.example.com"]);
  deepEqual(meet(["a.example.com"], ["*.example.com"]), ["a.example.com"]);
  deepEqual(meet(["*.example.com"], ["*.b.example.com"]), ["*.b.example.com"]);
  deepEqual(meet(["Example.COM"], ["example.com:8080"]), ["example.com:8080"]);
  deepEqual(meet(["example.com:443"], ["example.com:80"]), [NO_HOST]);
  deepEqual(meet(["[::1]"], ["[::1]:80", "[::2]"]), ["[::1]:80"]);
  for (
    const host of [
      "evil.invalid#.example.com",
      "evil.invalid/.example.com",
      "u@a.example.com",
      "a。b.example.com",
      "*",
    ]
  ) {
    try {
      meet(["*.example.com"], [host]);
      ok(false, host);
    } catch (error) {
      match((error as Error).message, /web\.hosts has the element/);
    }
  }
});

Deno.test("a project adds no modes, not even an empty one, and cannot make up the one that is mistyped", () => {
  const { settings, ignored } = load({
    project: { modes: { plna: {}, free: { tool_permission: { bash: "deny" } } }, mode: "free" },
  });
  deepEqual(Object.keys(settings.modes), ["build", "plan"]);
  equal(settings.mode, "build");
  deepEqual(ignored.map(({ key }) => key).sort(), ["mode", "modes.free.tool_permission.bash", "modes.plna"]);
});

Deno.test("in a mode that says nothing of a key, a project may only deny it", () => {
  for (const value of ["allow", "ask"]) {
    const { settings } = load({
      global: { tool_permission: { deploy: "allow" } },
      project: { modes: { plan: { tool_permission: { deploy: value } } } },
    });
    equal(
      settings.modes.plan!.tool_permission!.deploy,
      undefined,
      "plan stays closed for what it does not name",
    );
  }
  const { settings } = load({ project: { modes: { plan: { tool_permission: { web: "deny" } } } } });
  equal(settings.modes.plan!.tool_permission!.web, "deny");
});

Deno.test("a mode's own allowlist is kept within the one in force there", () => {
  const { settings } = load({
    global: {
      tool_permission: { bash_allow: ["ls", "cat"] },
      tools: { allow: ["a", "b"] },
      modes: { own: { tool_permission: { bash_allow: [] }, tools: { allow: ["b", "c"] } } },
    },
    project: {
      modes: { own: { tool_permission: { bash_allow: ["cat", "rm"] }, tools: { allow: ["a", "c"] } } },
    },
  });
  deepEqual(settings.modes.own!.tool_permission!.bash_allow, ["cat"]);
  deepEqual(settings.modes.own!.tools!.allow, ["c"]);
});

Deno.test("a project may ask for plan mode where that is narrower, and for no other", () => {
  equal(load({ project: { mode: "plan" } }).settings.mode, "plan");
  const stricter = { modes: { careful: { tool_permission: { web: "deny" } } }, mode: "careful" };
  equal(load({ global: stricter, project: { mode: "plan" } }).settings.mode, "careful");
  equal(load({ global: stricter, project: { mode: "build" } }).settings.mode, "careful");
  equal(load({ project: { mode: "plan" }, flags: { mode: "build" } }).settings.mode, "build");
  const loose = { modes: { plan: { tool_permission: { bash: "allow" } } } };
  equal(load({ global: loose, project: { mode: "plan" } }).settings.mode, "build");
  const listed = { tools: { allow: ["file_read"] }, modes: { plan: { tools: { allow: ["file_write"] } } } };
  equal(load({ global: listed, project: { mode: "plan" } }).settings.mode, "build");
});

Deno.test("the ceiling for grants is not opened by naming a key in it", () => {
  const grants = (global: unknown, project: unknown) => ({
    ...load({ global: { grant_permission: global }, project: { grant_permission: project } }).settings
      .grant_permission,
  });
  deepEqual(grants({}, { bash: "ask", edit: "allow" }), {});
  deepEqual(grants({}, { bash: "deny" }), { bash: "deny" });
  deepEqual(grants({ bash: "ask" }, { bash: "allow", edit: "ask" }), { bash: "ask" });
  deepEqual(grants({ bash: "allow" }, { bash: "ask" }), { bash: "ask" });
});

Deno.test("what the command line says is not narrowed, and narrowing is measured against it", () => {
  const { settings, ignored } = load({
    project: { max_rounds: 5, tool_permission: { bash: "ask", edit: "ask" } },
    flags: { max_rounds: 50, "tool_permission.edit": "deny" },
  });
  deepEqual([settings.max_rounds, settings.tool_permission.edit, settings.tool_permission.bash], [
    50,
    "deny",
    "ask",
  ]);
  deepEqual(ignored, []);
  const mode = load({
    project: { modes: { build: { tool_permission: { edit: "ask" } } } },
    flags: { "tool_permission.edit": "deny" },
  });
  equal(mode.settings.modes.build!.tool_permission, undefined);
});

Deno.test("a project that wants what the user has anyway is not warned about", () => {
  const { ignored, warnings } = load({
    global: { provider: "ollama", dev: { test_cmd: "make" } },
    project: { provider: "ollama", "dev.test_cmd": "make", tool_permission: { bash: "ask" } },
  });
  deepEqual([ignored, warnings], [[], []]);
});

Deno.test("the warning names the keys once, and how to trust", () => {
  const { warnings } = load({
    project: { provider: "x", base_url: "http://x", dev: { lint_cmd: "x" }, exec: { env: { A: "1" } } },
  });
  equal(warnings.length, 1);
  match(
    warnings[0]!,
    /not trusted.*provider, base_url, dev\.lint_cmd, exec\.env\.A; .*polyglav trust.*--trust/,
  );
});

Deno.test("the defaults stand in the table that the tests above read", () => {
  const settings = assemble(defaultLeaves(), Object.keys(MODES));
  equal(settings.mode, "build");
  ok(SCHEMA.every((entry) => lookUp(sample(entry)) !== null));
});
