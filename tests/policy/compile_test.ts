import assert from "node:assert/strict";
import { PolicyDenied } from "../../src/errors.ts";
import {
  compileCall,
  NO_PERMISSIONS,
  samePermissions,
  standingPermissions,
} from "../../src/policy/compile.ts";
import { ToolPolicy } from "../../src/policy/tool_policy.ts";
import type { Decision } from "../../src/policy/types.ts";
import { systemLinks } from "../../src/policy/worktree.ts";
import type { Tool } from "../../src/tool.ts";
import { makeWorktree } from "../helpers/worktree.ts";
import {
  allTools,
  ask,
  codeTest,
  fileEdit,
  fileRead,
  fileWrite,
  git,
  gitCommit,
  inputOf,
  listDir,
  runCommand,
  tool,
  webFetch,
} from "./_fixtures.ts";

const NODE = ["NODE_V8_COVERAGE"];

function compiled(
  subject: Tool,
  args: Record<string, unknown>,
  over: Record<string, unknown> = {},
  consented = false,
) {
  const input = inputOf(over);
  const decision = new ToolPolicy(input).resolve(subject, args);
  return { decision, ...compileCall(subject, decision, input, consented) };
}

const standing: readonly (readonly [Tool, Partial<ReturnType<typeof standingPermissions>>])[] = [
  [fileRead, { read: ["/w"] }],
  [listDir, { read: ["/w"] }],
  [fileWrite, { read: ["/w"], write: ["/w"] }],
  [fileEdit, { read: ["/w"], write: ["/w"] }],
  [runCommand, { read: ["/w"], run: ["/bin/sh"], env: NODE }],
  [codeTest, { read: ["/w"], run: ["/usr/bin/npm", "/usr/bin/make"], env: NODE }],
  [git, { read: ["/w"], run: ["/usr/bin/git"], env: NODE }],
  [gitCommit, { read: ["/w"], write: ["/w"], run: ["/usr/bin/git"], env: NODE }],
  [webFetch, {}],
  [ask, {}],
];
for (const [subject, expected] of standing) {
  Deno.test(`compile: what ${subject.name}'s warm workers may do`, () => {
    assert.deepEqual(standingPermissions(subject, inputOf()), { ...NO_PERMISSIONS, ...expected });
  });
}

Deno.test("compile: an ordinary call runs with the standing permissions, in a warm worker", () => {
  for (
    const [subject, args] of [[fileRead, { path: "a" }], [fileWrite, { path: "a" }], [runCommand, {
      command: "ls",
    }], [git, {}]] as const
  ) {
    const { permissions, oneShot, guard } = compiled(subject, args);
    assert.deepEqual(permissions, standingPermissions(subject, inputOf()), subject.name);
    assert.equal(oneShot, false);
    assert.deepEqual(guard.consented, []);
    assert.equal(guard.temporary, undefined);
    assert.equal(guard.home, "/home/u");
  }
});

Deno.test("compile: the guard gets the worktree as its only place", () => {
  assert.deepEqual(compiled(fileRead, { path: "a" }).guard.roots, [{ path: "/w", access: "read" }]);
  assert.deepEqual(compiled(fileWrite, { path: "a" }).guard.roots, [
    { path: "/w", access: "read" },
    { path: "/w", access: "write" },
  ]);
  assert.deepEqual(compiled(webFetch, { url: "https://example.com" }).guard.roots, []);
});

Deno.test("compile: the guard gets every rule, built-in ones first", () => {
  const { rules } = compiled(fileRead, { path: "a" }, {
    path_rules: [{ path: "src/*.key", access: "read", action: "allow" }, {
      path: "*.txt",
      access: "read",
      action: "allow",
    }],
  }).guard;
  assert.deepEqual(rules[0], { pattern: ".polyglav", access: "write", action: "ask" });
  assert.ok(
    rules.some((rule) => rule.pattern === ".git" && rule.access === "write" && rule.action === "deny"),
  );
  assert.ok(
    rules.some((rule) => rule.pattern === ".env*" && rule.access === "read" && rule.action === "ask"),
  );
  assert.deepEqual(rules.slice(-2), [
    { pattern: "/w/src/*.key", access: "read", action: "allow" },
    { pattern: "/w/**/*.txt", access: "read", action: "allow" },
  ]);
});

Deno.test("compile: a yes to a path outside adds that path and nothing else", () => {
  const { permissions, guard, oneShot } = compiled(fileRead, { path: "/etc/passwd" }, {}, true);
  assert.deepEqual(permissions.read, ["/w", "/etc/passwd"]);
  assert.deepEqual(permissions.write, []);
  assert.deepEqual(guard.consented, [{ path: "/etc/passwd", access: "read" }]);
  assert.equal(oneShot, true);
});

Deno.test("compile: without a yes nothing is added, whatever the decision says", () => {
  for (const path of ["/etc/passwd", "../x", "~/y", ".env", ".git/config"]) {
    for (const subject of [fileRead, fileWrite, fileEdit]) {
      const { permissions, guard, oneShot } = compiled(subject, { path });
      assert.deepEqual(permissions, standingPermissions(subject, inputOf()), path);
      assert.deepEqual(guard.consented, []);
      assert.equal(oneShot, false);
    }
  }
});

Deno.test("compile: a yes to writing outside adds the file and one temporary sibling", () => {
  const { permissions, guard } = compiled(fileWrite, { path: "/etc/x/f" }, {}, true);
  assert.match(guard.temporary!, /^\.polyglav-[0-9a-f-]{36}\.tmp$/);
  assert.deepEqual(permissions.write, ["/w", "/etc/x/f", `/etc/x/${guard.temporary}`]);
  assert.deepEqual(permissions.read, ["/w", "/etc/x/f", `/etc/x/${guard.temporary}`]);
  assert.deepEqual(guard.consented, [{ path: "/etc/x/f", access: "write" }]);
  const again = compiled(fileWrite, { path: "/etc/x/f" }, {}, true);
  assert.notEqual(again.guard.temporary, guard.temporary, "nobody can guess the next one");
});

Deno.test("compile: a yes to a secret inside opens it for the guard and needs no other worker", () => {
  const { permissions, guard, oneShot } = compiled(fileRead, { path: ".env" }, {}, true);
  assert.deepEqual(permissions, standingPermissions(fileRead, inputOf()));
  assert.deepEqual(guard.consented, [{ path: "/w/.env", access: "read" }]);
  assert.equal(oneShot, false);
  assert.equal(guard.temporary, undefined);
});

Deno.test("compile: a yes to a category opens no path", () => {
  const { guard, oneShot } = compiled(fileRead, { path: "a" }, { tool_permission: { read: "ask" } }, true);
  assert.deepEqual(guard.consented, []);
  assert.equal(oneShot, false);
});

Deno.test("compile: a place that a rule opens is a root, and only for the access of the rule", () => {
  const over = { path_rules: [{ path: "/data/**", access: "read", action: "allow" }] };
  const { permissions, guard, oneShot } = compiled(fileRead, { path: "/data/a" }, over);
  assert.deepEqual(permissions.read, ["/w", "/data/a"]);
  assert.deepEqual(guard.roots, [{ path: "/w", access: "read" }, { path: "/data/a", access: "read" }]);
  assert.equal(oneShot, true);
  const writes = compiled(fileWrite, { path: "/data/a" }, over);
  assert.deepEqual(writes.permissions.write, ["/w"]);
});

Deno.test("compile: a decision that claims a path needs no yes is not believed", () => {
  const input = inputOf();
  const forged: Decision = {
    action: "allow",
    rule: "forged",
    reason: "",
    trail: [],
    paths: [
      { path: "/etc/x", access: "write", canonical: "/etc/x", inside: false, consent: null },
      { path: "/etc/y", access: "read", canonical: "/etc/y", inside: false, consent: null },
    ],
  };
  for (const subject of [fileRead, fileWrite]) {
    const { permissions, guard } = compileCall(subject, forged, input, false);
    assert.deepEqual(permissions, standingPermissions(subject, input));
    assert.ok(guard.roots.every(({ path }) => path === "/w"));
  }
});

Deno.test("compile: an open policy compiles to the same scope as a closed one", () => {
  for (const subject of allTools) {
    for (const path of ["a", "/etc/passwd", ".git/config", "../x", ".env"]) {
      const args = { path, cwd: path, command: "echo a > /x", url: "https://example.com" };
      const scope = (open: boolean) => {
        const input = inputOf({ tool_permission: { bash: "allow", bash_allow: ["echo"] } }, { open });
        return compileCall(subject, new ToolPolicy(input).resolve(subject, args), input, false);
      };
      const [closed, opened] = [scope(false), scope(true)];
      assert.deepEqual(opened.permissions, closed.permissions, `${subject.name} ${path}`);
      assert.deepEqual(opened.guard.roots, closed.guard.roots);
      assert.deepEqual(opened.guard.consented, []);
    }
  }
});

const LISTED = { tool_permission: { bash: "allow", bash_allow: ["echo", "'git' log", "make"] } };

Deno.test("compile: under an allowlist the programs are its own, and no shell is among them", () => {
  const { permissions, oneShot } = compiled(runCommand, { command: "echo a" }, LISTED);
  assert.deepEqual(permissions.run, ["/usr/bin/echo", "/usr/bin/git", "/usr/bin/make"]);
  assert.deepEqual(permissions.write, []);
  assert.equal(oneShot, false);
});

Deno.test("compile: an allowlist that cannot be understood starts nothing", () => {
  for (const bash_allow of ["echo", [""], [7]]) {
    assert.deepEqual(standingPermissions(runCommand, inputOf({ tool_permission: { bash_allow } })).run, []);
  }
});

Deno.test("compile: a redirect adds the file that it writes, inside the worktree alone", () => {
  const { permissions, guard, oneShot } = compiled(runCommand, { command: "echo a > out.txt" }, LISTED);
  assert.deepEqual(permissions.write, ["/w/out.txt"]);
  assert.deepEqual(guard.roots, [{ path: "/w", access: "read" }, { path: "/w/out.txt", access: "write" }]);
  assert.equal(oneShot, true);
  for (const target of ["/etc/x", "../x", ".git/hooks/x", ".polyglav/config.json"]) {
    const refused = compiled(runCommand, { command: `echo a > ${target}` }, LISTED);
    assert.equal(refused.decision.action, "deny");
    assert.deepEqual(refused.permissions.write, [], target);
  }
});

Deno.test("compile: a command that runs by itself gets the programs of that list, the others the shell", () => {
  const over = { tool_permission: { bash: "ask", bash_auto: ["echo"] } };
  const automatic = compiled(runCommand, { command: "echo a" }, over);
  assert.deepEqual([automatic.permissions.run, automatic.oneShot], [["/usr/bin/echo"], false]);
  assert.deepEqual(compiled(runCommand, { command: "touch a" }, over).permissions.run, ["/bin/sh"]);
});

Deno.test("compile: the sandbox's own helpers come along, what confines children too", () => {
  const subject = tool({
    name: "t",
    permission: "bash",
    access: ["run"],
    commandArg: "path",
    programs: () => ["$shell", "mkfifo", "kill"],
  });
  const input = inputOf(LISTED, { wrappers: ["/usr/bin/bwrap"] });
  assert.deepEqual(standingPermissions(subject, input).run, [
    ...["/usr/bin/echo", "/usr/bin/git", "/usr/bin/make"],
    ...["/usr/bin/mkfifo", "/usr/bin/kill", "/usr/bin/bwrap"],
  ]);
  assert.deepEqual(standingPermissions(fileRead, input).run, []);
});

Deno.test("compile: a tool that could only start Deno is refused, others never get it", () => {
  const programs = (names: string[]) =>
    tool({ name: "t", permission: "bash", access: ["run"], programs: () => names });
  const call = (subject: Tool) => {
    const input = inputOf({ tool_permission: { bash: "allow" } });
    return compileCall(subject, new ToolPolicy(input).resolve(subject, {}), input, false);
  };
  for (const name of ["deno", "/usr/bin/deno", "DENO.EXE"]) {
    assert.throws(
      () => call(programs([name])),
      (error: unknown) => error instanceof PolicyDenied && error.rule === "programs",
    );
  }
  assert.deepEqual(call(programs(["deno", "make"])).permissions.run, ["/usr/bin/make"]);
  const broken = tool({
    name: "t",
    permission: "read",
    access: ["run"],
    programs: (args) => {
      if (args === null) throw new Error("no");
      return ["git"];
    },
  });
  assert.throws(() => call(broken), PolicyDenied);
});

Deno.test("compile: a tool without access gets nothing, not even with a yes", () => {
  const host = tool({ name: "t", permission: "edit", access: [], pathArg: "path" });
  const { permissions, guard, oneShot } = compiled(host, { path: "/etc/x" }, {}, true);
  assert.deepEqual(permissions, NO_PERMISSIONS);
  assert.deepEqual(guard.roots, []);
  assert.equal(oneShot, false);
});

Deno.test("compile: parents that have to be made for a write outside are opened from the first that is missing", () => {
  using tree = makeWorktree();
  const input = inputOf({}, { worktree: tree.work, home: tree.home, ...systemLinks });
  const path = `${tree.outside}/new/deep/f.txt`;
  const decision = new ToolPolicy(input).resolve(fileWrite, { path });
  const { permissions } = compileCall(fileWrite, decision, input, true);
  assert.ok(permissions.write.includes(`${tree.outside}/new`));
  assert.ok(!permissions.write.includes(tree.outside));
});

Deno.test("compile: permissions are compared as sets", () => {
  const a = { ...NO_PERMISSIONS, read: ["/a", "/b"] };
  assert.ok(samePermissions(a, { ...NO_PERMISSIONS, read: ["/b", "/a", "/a"] }));
  assert.ok(!samePermissions(a, { ...NO_PERMISSIONS, read: ["/a"] }));
  assert.ok(!samePermissions(a, { ...a, run: ["/x"] }));
});

Deno.test("compile: where .git points elsewhere, that place is protected too", () => {
  using tree = makeWorktree({
    files: {
      ".git": "gitdir: ./store/repo\n",
      "store/repo/config": "",
      "store/repo/commondir": "../common\n",
      "store/common/config": "",
    },
  });
  const input = inputOf({}, { worktree: tree.work, home: tree.home, ...systemLinks });
  const policy = new ToolPolicy(input);
  for (const path of ["store/repo/config", "store/repo/hooks/x", "store/common/config", ".git"]) {
    assert.equal(policy.resolve(fileWrite, { path }).action, "deny", path);
  }
  assert.equal(policy.resolve(fileWrite, { path: "store/other" }).action, "allow");
});

Deno.test("compile: where .git is a link, the place that it leads to is protected", () => {
  using tree = makeWorktree({ files: { "store/config": "" }, links: { ".git": "store" } });
  const policy = new ToolPolicy(inputOf({}, { worktree: tree.work, home: tree.home, ...systemLinks }));
  for (const path of ["store/config", ".git/config", "store/hooks/x"]) {
    assert.equal(policy.resolve(fileWrite, { path }).action, "deny", path);
  }
});

Deno.test("compile: where .polyglav is a link, the place that it leads to asks, and no link makes .git ask", () => {
  using tree = makeWorktree({ files: { "conf/config.json": "" }, links: { ".polyglav": "conf" } });
  const policy = () => new ToolPolicy(inputOf({}, { worktree: tree.work, home: tree.home, ...systemLinks }));
  for (const path of ["conf/config.json", ".polyglav/config.json"]) {
    assert.equal(policy().resolve(fileWrite, { path }).action, "ask", path);
  }
  Deno.mkdirSync(`${tree.work}/.git/hooks`, { recursive: true });
  Deno.removeSync(`${tree.work}/.polyglav`);
  Deno.symlinkSync(".git/hooks", `${tree.work}/.polyglav`);
  for (const path of [".polyglav/post-commit", ".git/hooks/post-commit"]) {
    assert.equal(policy().resolve(fileWrite, { path }).action, "deny", path);
  }
});
