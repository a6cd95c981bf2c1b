/**
 * Random configurations of a user and of a project: what the policy makes of both together is nowhere wider than what
 * it makes of the user's alone. The seed is fixed, so a failure can be repeated.
 */
import { equal, ok } from "node:assert/strict";
import type { PathRule, Settings } from "../../src/config/settings.ts";
import { narrowRules } from "../../src/config/_narrow_rules.ts";
import { effectivePolicy } from "../../src/policy/modes.ts";
import { compileRules, covers, ruleFor, rulePath } from "../../src/policy/path_rules.ts";
import { hostAllowed } from "../../src/policy/web.ts";
import { makeWorktree } from "../helpers/worktree.ts";
import { loadIn } from "./_support.ts";

function random(seed: number): () => number {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const RANK = { deny: 0, ask: 1, allow: 2 } as const;
type Action = keyof typeof RANK;
const ACTIONS: readonly Action[] = ["deny", "ask", "allow"];
const KEYS = ["bash", "edit", "web", "vcs", "weather"];
const TOOLS = ["file_read", "file_write", "grep", "glob"];
const PREFIXES = ["ls", "git", "git status", "git log", "find . -exec", "find"];
const HOSTS = ["a.invalid", "b.invalid", "*.c.invalid", "x.c.invalid", "a.invalid:8080"];

/** Whatever a file may say of permissions. */
function config(next: () => number, modes: readonly string[]): Record<string, unknown> {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)]!;
  const some = <T>(list: readonly T[]): T[] => list.filter(() => next() < 0.35);
  const actions = () => Object.fromEntries(some(KEYS).map((key) => [key, pick(ACTIONS)]));
  const permission = () => ({
    ...actions(),
    ...(next() < 0.4 ? { bash_allow: some(PREFIXES) } : {}),
    ...(next() < 0.3 ? { bash_auto: some(PREFIXES) } : {}),
  });
  const lists = () => ({
    ...(next() < 0.4 ? { allow: some(TOOLS) } : {}),
    ...(next() < 0.4 ? { deny: some(TOOLS) } : {}),
  });
  return {
    tool_permission: permission(),
    tools: lists(),
    modes: Object.fromEntries(
      some(modes).map((name) => [name, { tool_permission: permission(), tools: lists() }]),
    ),
    ...(next() < 0.3 ? { mode: pick(["build", "plan"]) } : {}),
    ...(next() < 0.5 ? { web: { hosts: some(HOSTS), private: next() < 0.5 } } : {}),
    grant_permission: actions(),
  };
}

/** What is allowed more with `to` in mode `b` than with `from` in mode `a`, or null. */
function wider(from: Settings, a: string, to: Settings, b: string): string | null {
  const was = effectivePolicy(from, a), is = effectivePolicy(to, b);
  const at = (map: typeof was.permission, key: string) => (map[key] ?? "ask") as Action;
  for (const key of KEYS) {
    if (RANK[at(is.permission, key)] > RANK[at(was.permission, key)]) return `${key} rises`;
    if (was.modeDenied.has(key) && !is.modeDenied.has(key)) return `${key} can be granted`;
    if (was.readOnly && is.opened.has(key) && !was.opened.has(key)) return `${key} is opened`;
  }
  if (was.readOnly && !is.readOnly) return "no longer read-only";
  const callable = ({ allow, deny }: typeof was) =>
    TOOLS.filter((name) => !deny.includes(name) && (allow.length === 0 || allow.includes(name)));
  const more = callable(is).find((name) => !callable(was).includes(name));
  if (more) return `${more} can be called`;
  const [oldList, newList] = [was.permission.bash_allow ?? [], is.permission.bash_allow ?? []];
  if (oldList.length > 0 && newList.length === 0) return "the allowlist is lifted";
  const added = oldList.length === 0
    ? undefined
    : newList.find((prefix) => !oldList.includes(prefix) && !prefix.startsWith("/dev/null"));
  if (added) return `${added} is in the allowlist`;
  const auto = (is.permission.bash_auto ?? []).find((prefix) =>
    !(was.permission.bash_auto ?? []).includes(prefix)
  );
  return auto === undefined ? null : `${auto} runs without asking`;
}

Deno.test("random projects never widen the policy of random users, in any mode", () => {
  using tree = makeWorktree();
  const next = random(20_240_601);
  let narrowed = 0;
  for (let round = 0; round < 300; round++) {
    const global = config(next, ["build", "plan", "own"]),
      project = config(next, ["build", "plan", "own", "new"]);
    const user = loadIn(tree, { global, project: {} }).settings,
      both = loadIn(tree, { global, project }).settings;
    const told = () => JSON.stringify({ global, project });
    for (const mode of Object.keys(user.modes)) {
      const found = wider(user, mode, both, mode);
      ok(found === null, `mode ${mode}: ${found}: ${told()}`);
    }
    ok(
      wider(user, user.mode, both, both.mode) === null,
      `start: ${wider(user, user.mode, both, both.mode)}: ${told()}`,
    );
    ok(Object.keys(both.modes).every((name) => name in user.modes), told());
    ok(!both.web.private || user.web.private, told());
    for (
      const [host, port] of [["a.invalid", 80], ["a.invalid", 8080], ["b.invalid", 80], ["x.c.invalid", 1], [
        "d.invalid",
        80,
      ]] as const
    ) {
      ok(
        !hostAllowed(host, port, both.web.hosts) || hostAllowed(host, port, user.web.hosts),
        `${host}: ${told()}`,
      );
    }
    for (const key of KEYS) {
      const was = Object.keys(user.grant_permission).length === 0
        ? undefined
        : user.grant_permission[key] ?? "deny";
      const is = Object.keys(both.grant_permission).length === 0
        ? undefined
        : both.grant_permission[key] ?? "deny";
      ok(
        was === undefined ? is === undefined || is === "deny" : RANK[is!] <= RANK[was],
        `grant ${key}: ${told()}`,
      );
    }
    if (JSON.stringify(user) !== JSON.stringify(both)) narrowed++;
  }
  ok(narrowed > 200, `the projects must have had an effect: ${narrowed}`);
});

const PATTERNS = [
  "secrets/**",
  "secrets/pub",
  "secrets",
  "*.pem",
  "src/**/gen",
  "a/../secrets/**",
  "./secrets/x.pem",
  "**",
  ".git/**",
  ".git",
  "{secrets,src}/pub/**",
  "link/**",
  ".github/**",
  "SECRETS/PUB/*",
];
const PATHS = [
  "secrets/x.pem",
  "secrets/pub/a.txt",
  "secrets/pub/gen/b.pem",
  "src/a/gen/c.ts",
  "src/pub/d",
  "readme.md",
  ".git/hooks/pre-commit",
  "sub/.git/config",
  ".github/workflows/ci.yml",
  ".env",
  "deep/.env",
  "key.pem",
];

Deno.test("random path rules of a project never raise what the user's and the built-in rules say", () => {
  using tree = makeWorktree({ files: { "secrets/x.pem": "" }, links: { link: "secrets" } });
  const next = random(7),
    base = {
      worktree: tree.work,
      home: tree.home,
      configDir: `${tree.home}/.config/polyglav`,
      realPath: Deno.realPathSync,
      readLink: Deno.readLinkSync,
    };
  const pick = <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)]!;
  const some = (): PathRule[] =>
    Array.from({ length: Math.floor(next() * 5) }, () => ({
      path: next() < 0.15 ? `${tree.work}/${pick(PATTERNS)}` : pick(PATTERNS),
      access: pick(["read", "write"]),
      action: pick(ACTIONS),
    }));
  const paths = PATHS.map((path) => rulePath(`${tree.work}/${path}`, tree.work));
  let lowered = 0;
  for (let round = 0; round < 300; round++) {
    const own = some(), wanted = some(), added = narrowRules(own, wanted);
    const before = compileRules(own, base), after = compileRules([...own, ...added], base);
    const project = compileRules(wanted, base);
    for (const path of paths) {
      for (const access of ["read", "write"] as const) {
        const was = ruleFor(before, access, path)?.rule.action ?? "allow";
        const is = ruleFor(after, access, path)?.rule.action ?? "allow";
        ok(
          RANK[is] <= RANK[was],
          `${path.path} ${access}: ${was} became ${is}: ${JSON.stringify({ own, wanted, added })}`,
        );
        if (RANK[is] < RANK[was]) lowered++;
        // What the project does not name stays as it was. (Own rules through links are compared as text, and the
        // built-in deny of .git may come back; both only narrow.)
        const named = project.some((rule) =>
          !rule.builtIn && rule.rule.access === access && rule.rule.action !== "allow" && covers(rule, path)
        );
        const plain = !own.some((rule) => rule.path.includes("link")) && !path.path.includes("/.git/");
        if (!named && plain) {
          equal(is, was, `${path.path} ${access}: ${JSON.stringify({ own, wanted, added })}`);
        }
        const theirs = ruleFor(project, access, path);
        if (theirs && !theirs.builtIn && theirs.rule.action !== "allow") {
          ok(
            RANK[is] <= RANK[theirs.rule.action],
            `${path.path} ${access}: the project's ${theirs.rule.action} has no effect`,
          );
        }
      }
    }
  }
  ok(lowered > 250, `${lowered}`);
});
