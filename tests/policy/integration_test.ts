/**
 * The policy with its real neighbours: the real command checker, the guard, and the bundled tools.
 */
import assert from "node:assert/strict";
import { tools } from "../../tools/mod.ts";
import { compileCall, standingPermissions } from "../../src/policy/compile.ts";
import { checkCommand } from "../../src/policy/shell_command.ts";
import { type PolicyInput, ToolPolicy } from "../../src/policy/tool_policy.ts";
import { systemLinks } from "../../src/policy/worktree.ts";
import { createWorkspace } from "../../src/sandbox/guard.ts";
import type { Workspace } from "../../src/tool.ts";
import { makeWorktree, type TestTree } from "../helpers/worktree.ts";
import { fileEdit, fileRead, fileWrite, inputOf, runCommand } from "./_fixtures.ts";

function inputIn(
  tree: TestTree,
  over: Record<string, unknown> = {},
  more: Partial<PolicyInput> = {},
): PolicyInput {
  return inputOf(over, { worktree: tree.work, home: tree.home, ...systemLinks, checkCommand, ...more });
}

const commands: readonly (readonly [command: string, action: "allow" | "deny"])[] = [
  ["echo a", "allow"],
  ["echo a | echo b && echo c; echo d", "allow"],
  ['echo "a;b" 2>&1', "allow"],
  ["echo a > in.txt", "allow"],
  ["echo a > sub/in.txt", "allow"],
  ["cd sub && echo a > in.txt", "allow"],
  ["echo a > ../outside/x", "deny"],
  ["echo a >> ../outside/x", "deny"],
  ["echo a >| ../outside/x", "deny"],
  ["echo a 1> ../outside/x", "deny"],
  ["cd .. && echo a", "deny"],
  ["cd sub/.. && echo a > ../x", "deny"],
  ["cd out && echo a > x", "deny"],
  ["echo a > out/x", "deny"],
  ["echo a > dangling", "deny"],
  ["echo a > .git/hooks/post-commit", "deny"],
  ["cd .git && echo a > config", "deny"],
  ["echo a > .polyglav/config.json", "deny"],
  ["echo a > ~/x", "deny"],
  ["echo a < ../outside/secret.txt", "deny"],
  ["echo a < .env", "deny"],
  ["touch a", "deny"],
  ["echo $(touch a)", "deny"],
  ["echo a\ntouch b", "deny"],
  ["", "deny"],
];

Deno.test("integration: the real checker's plans go through worktree and rules", async (t) => {
  using tree = makeWorktree({
    files: { "sub/a.txt": "", ".env": "S=1" },
    outside: { "secret.txt": "s" },
    links: { out: "../outside", dangling: "../outside/later" },
  });
  const input = inputIn(tree, { tool_permission: { bash: "allow", bash_allow: ["echo"] } });
  const policy = new ToolPolicy(input);
  for (const [command, action] of commands) {
    await t.step(JSON.stringify(command), () => {
      const decision = policy.resolve(runCommand, { command });
      assert.equal(decision.action, action, decision.reason);
      if (action === "deny") assert.match(decision.reason, /^[^\n]+$/);
      const { permissions } = compileCall(runCommand, decision, input, false);
      for (const path of permissions.write) assert.ok(path.startsWith(`${tree.work}/`), path);
    });
  }
});

function tryAll(workspace: Workspace, path: string): string[] {
  const tries: Record<string, () => unknown> = {
    read: () => workspace.readFile(path),
    list: () => workspace.readDirectory(path),
    write: () => workspace.writeFile(path, new TextEncoder().encode("pwned")),
  };
  return Object.entries(tries).filter(([, go]) => {
    try {
      go();
      return true;
    } catch {
      return false;
    }
  }).map(([name]) => name);
}

Deno.test("integration: with an open policy the guard alone keeps what the rules and the worktree forbid", () => {
  using tree = makeWorktree({
    files: { ".git/config": "g", ".polyglav/config.json": "{}", ".env": "S=1", "a.txt": "a" },
    outside: { "secret.txt": "s" },
    links: { out: "../outside", "out.txt": "../outside/secret.txt", dangling: "../outside/later" },
  });
  const input = inputIn(tree, {}, { open: true });
  const policy = new ToolPolicy(input);
  const forbidden: Record<string, string[]> = {
    "a.txt": ["read", "write"],
    ".env": ["write"],
    ".git/config": ["read"],
    ".git/hooks/post-commit": [],
    ".polyglav/config.json": ["read"],
    "out": [],
    "out.txt": [],
    "out/secret.txt": [],
    "dangling": [],
    "../outside/secret.txt": [],
    [`${tree.outside}/secret.txt`]: [],
    "~/x": [],
    "/etc/passwd": [],
  };
  for (const [path, possible] of Object.entries(forbidden)) {
    const decision = policy.resolve(fileEdit, { path });
    assert.equal(decision.action, "allow");
    const { guard } = compileCall(fileEdit, decision, input, false);
    assert.deepEqual(tryAll(createWorkspace(guard), path), possible, path);
  }
  assert.equal(tree.read("outside/secret.txt"), "s");
  assert.equal(tree.read("outside/later"), null);
});

Deno.test("integration: a yes opens the one path in the guard, under every spelling of it", () => {
  using tree = makeWorktree({
    outside: { "a.txt": "a", "b.txt": "b" },
    links: { "a-link": "../outside/a.txt" },
  });
  const input = inputIn(tree), policy = new ToolPolicy(input);
  for (const path of ["../outside/a.txt", "a-link", `${tree.outside}/a.txt`]) {
    const { guard } = compileCall(fileRead, policy.resolve(fileRead, { path }), input, true);
    const workspace = createWorkspace(guard);
    assert.deepEqual(tryAll(workspace, path), ["read"], path);
    assert.deepEqual(tryAll(workspace, `${tree.outside}/b.txt`), []);
  }
});

Deno.test("integration: policy and guard mean the same file by ~", () => {
  using tree = makeWorktree({ files: { "~/x.txt": "in the worktree" } });
  tree.write("home/x.txt", "in the home");
  const input = inputIn(tree), decision = new ToolPolicy(input).resolve(fileRead, { path: "~/x.txt" });
  assert.equal(decision.action, "ask");
  const { guard } = compileCall(fileRead, decision, input, true);
  assert.equal(new TextDecoder().decode(createWorkspace(guard).readFile("~/x.txt")), "in the home");
});

Deno.test("integration: every bundled tool has a standing set that stays in the worktree", () => {
  const input = inputOf({ tool_permission: { bash: "allow", vcs: "allow" } });
  for (const subject of tools) {
    const { read, write, net } = standingPermissions(subject, input);
    for (const path of [...read, ...write]) assert.equal(path, "/w", subject.name);
    assert.deepEqual(net, [], subject.name);
    if (!subject.access.includes("write")) assert.deepEqual(write, [], subject.name);
  }
});

Deno.test("integration: no bundled tool can change anything in plan mode", () => {
  const permission = Object.fromEntries(tools.map((subject) => [subject.permission, "allow"]));
  const policy = new ToolPolicy(inputOf({ tool_permission: permission }, { mode: "plan" }));
  for (const subject of tools) {
    const changes = subject.access.includes("write") || subject.commandArg !== undefined ||
      ["bash", "edit", "vcs"].includes(subject.permission);
    assert.equal(policy.allowed(subject).action === "deny", changes, subject.name);
  }
});

Deno.test("integration: a file that is written under one rule is not read under another", () => {
  using tree = makeWorktree({ files: { ".env": "S=1" } });
  const input = inputIn(tree);
  const decision = new ToolPolicy(input).resolve(fileWrite, { path: ".env" });
  assert.equal(decision.action, "allow");
  const { guard } = compileCall(fileWrite, decision, input, false);
  assert.deepEqual(tryAll(createWorkspace(guard), ".env"), ["write"]);
});
