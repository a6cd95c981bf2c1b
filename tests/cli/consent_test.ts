/** Rules that a person makes while answering: what is offered, what is saved where, and that it counts at once. @module */
import assert from "node:assert/strict";
import { createConsentRules } from "../../src/cli/_consent.ts";
import { loadConfig } from "../../src/config/load.ts";
import { userPaths, userProjectFile } from "../../src/config/paths.ts";
import { LivePolicy } from "../../src/policy/live.ts";
import { ToolPolicy } from "../../src/policy/tool_policy.ts";
import { checkCommand } from "../../src/policy/shell_command.ts";
import { ToolRegistry } from "../../src/registry/registry.ts";
import type { ConfirmRequest } from "../../src/ui/sink.ts";
import { tools } from "../../tools/mod.ts";
import { runCli } from "../helpers/cli.ts";
import { makeWorktree, type TestTree } from "../helpers/worktree.ts";

const registry = new ToolRegistry();
for (const tool of tools) registry.register(tool);

/** A session in a tree; `begin` is what the next session begins with. */
function session(tree: TestTree, options: { readonly trust?: boolean; readonly mode?: string } = {}) {
  const paths = userPaths((name) => name === "HOME" ? tree.home : undefined);
  const loaded = loadConfig({
    worktree: tree.work,
    paths,
    trust: options.trust ?? false,
    flags: { mode: options.mode },
  });
  const input = {
    settings: loaded.settings,
    mode: loaded.settings.mode,
    worktree: tree.work,
    home: tree.home,
    configDir: paths.config,
    stateDir: paths.state,
    shell: "/bin/sh",
    env: { PATH: "/usr/bin:/bin" },
    checkCommand,
  };
  const policy = new LivePolicy(input);
  const rules = createConsentRules({ policy, worktree: tree.work, paths, loaded });
  const request = (name: string, args: Record<string, unknown>, asker?: string): ConfirmRequest => {
    const tool = registry.get(name)!;
    return { tool, args, decision: policy.resolve(tool, args), preview: () => Promise.resolve(""), asker };
  };
  const action = (name: string, args: Record<string, unknown>) =>
    policy.resolve(registry.get(name)!, args).action;
  return {
    paths,
    loaded,
    policy,
    rules,
    request,
    action,
    file: userProjectFile(paths, tree.work),
    fresh: new ToolPolicy(input),
  };
}

const titles = (list: readonly { covers: string; lasts: string }[]) =>
  list.map(({ covers, lasts }) => `${covers} ${lasts}`);

Deno.test("a command offers exactly this, its beginning and the tool, each for session and project", () => {
  using tree = makeWorktree();
  const { rules, request } = session(tree);
  const list = rules.choices(request("run_command", { command: "git status --short" }));
  assert.deepEqual(titles(list), [
    "exact session",
    "exact project",
    "prefix session",
    "prefix project",
    "tool session",
    "tool project",
  ]);
  assert.equal(list[2]!.rule, 'tool_permission.bash_auto += "git status"');
  assert.match(
    list[0]!.rule,
    /^consent\.calls \+= \{"tool":"run_command","arguments":\{"command":"git status --short"\}\}$/,
  );
  assert.match(list[4]!.label, /every call of run_command, this session/);
});

Deno.test("a rule for the session counts at once, for what it covers alone, and is written nowhere", async () => {
  using tree = makeWorktree();
  const { rules, request, action, paths } = session(tree);
  const asked = request("run_command", { command: "git log -1" });
  const [exact, , prefix] = rules.choices(asked);
  await rules.remember(asked, exact!);
  assert.equal(action("run_command", { command: "git log -1" }), "allow");
  assert.equal(action("run_command", { command: "git log -2" }), "ask");
  await rules.remember(asked, prefix!);
  assert.equal(action("run_command", { command: "git log -2" }), "allow");
  for (
    const command of [
      "git log -1; id",
      "git log --output=x",
      "git -c core.pager=id log",
      "git push",
      "git logx",
    ]
  ) {
    assert.equal(action("run_command", { command }), "ask", command);
  }
  assert.throws(() => Deno.statSync(paths.config), Deno.errors.NotFound);
  assert.equal(session(tree).action("run_command", { command: "git log -1" }), "ask");
});

Deno.test("a rule for the project is the user's own file, for the user alone, and counts in the next session", async () => {
  using tree = makeWorktree();
  const { rules, request, action, file } = session(tree);
  const asked = request("run_command", { command: "npm test" });
  for (const choice of rules.choices(asked).filter(({ lasts }) => lasts === "project")) {
    await rules.remember(asked, choice);
  }
  assert.equal(action("run_command", { command: "npm test" }), "allow");
  assert.deepEqual(JSON.parse(Deno.readTextFileSync(file)), {
    $worktree: tree.work,
    consent: { calls: [{ tool: "run_command", arguments: { command: "npm test" } }], tools: ["run_command"] },
    tool_permission: { bash_auto: ["npm test"] },
  });
  assert.equal(Deno.statSync(file).mode! & 0o777, 0o600);
  assert.equal([...Deno.readDirSync(tree.work)].length, 0, "nothing in the repository");
  const next = session(tree);
  assert.equal(next.action("run_command", { command: "npm test" }), "allow");
  assert.equal(next.loaded.origin("consent.tools"), "user");
  assert.equal(session(tree, { mode: "plan" }).action("run_command", { command: "npm test" }), "deny");
});

Deno.test("what the user's global file allows goes on counting beside a rule for the project", async () => {
  using tree = makeWorktree();
  tree.write("home/.config/polyglav/config.json", JSON.stringify({ tool_permission: { bash_auto: ["ls"] } }));
  const { rules, request } = session(tree);
  const asked = request("run_command", { command: "ls && git status" });
  const choice = rules.choices(asked).find(({ covers, lasts }) =>
    covers === "prefix" && lasts === "project"
  )!;
  assert.equal(choice.rule, 'tool_permission.bash_auto += "git status"');
  await rules.remember(asked, choice);
  const next = session(tree);
  assert.deepEqual(next.loaded.settings.tool_permission.bash_auto, ["ls", "git status"]);
  assert.equal(next.action("run_command", { command: "ls && git status" }), "allow");
});

Deno.test("where a mode has a list of its own the beginning goes there", async () => {
  using tree = makeWorktree();
  tree.write(
    "home/.config/polyglav/config.json",
    JSON.stringify({ modes: { own: { tool_permission: { bash_auto: ["ls"] } } } }),
  );
  const { rules, request, action } = session(tree, { mode: "own" });
  const asked = request("run_command", { command: "git status" });
  const choice = rules.choices(asked).find(({ covers, lasts }) =>
    covers === "prefix" && lasts === "project"
  )!;
  assert.equal(choice.rule, 'modes.own.tool_permission.bash_auto += "git status"');
  await rules.remember(asked, choice);
  assert.equal(action("run_command", { command: "git status" }), "allow");
  assert.equal(session(tree, { mode: "own" }).action("run_command", { command: "ls; git status" }), "allow");
  assert.equal(session(tree).action("run_command", { command: "git status" }), "ask");
});

Deno.test("no rule for the project is offered where a trusted project replaces the list", () => {
  using tree = makeWorktree();
  tree.write("work/.polyglav/config.json", JSON.stringify({ tool_permission: { bash_auto: ["ls"] } }));
  const { rules, request } = session(tree, { trust: true });
  assert.deepEqual(titles(rules.choices(request("run_command", { command: "git status" }))), [
    "exact session",
    "exact project",
    "prefix session",
    "tool session",
    "tool project",
  ]);
});

Deno.test("nothing is offered for path rules, private addresses, sub-agents and what is no question", () => {
  using tree = makeWorktree({ files: { ".env": "A=1" } });
  const { rules, request } = session(tree);
  for (
    const asked of [
      request("file_read", { path: ".env" }),
      request("file_write", { path: ".polyglav/config.json", content: "{}" }),
      request("web_fetch", { url: "http://127.0.0.1:8080/" }),
      request("file_write", { path: ".git/config", content: "" }),
      request("file_read", { path: "a" }),
      request("run_command", { command: "ls" }, "sub_1"),
    ]
  ) assert.deepEqual(rules.choices(asked), [], `${asked.tool.name} ${JSON.stringify(asked.args)}`);
});

Deno.test("a place outside is offered exactly, and opens that place alone", async () => {
  using tree = makeWorktree({ outside: { a: "1", b: "2" } });
  const { rules, request, action } = session(tree);
  const asked = request("file_read", { path: "../outside/a" });
  const list = rules.choices(asked);
  assert.deepEqual(titles(list), ["exact session", "exact project"]);
  await rules.remember(asked, list[1]!);
  assert.equal(action("file_read", { path: "../outside/a" }), "allow");
  assert.equal(action("file_read", { path: "../outside/b" }), "ask");
  assert.equal(action("file_read", { path: "../outside/a", limit: 1 }), "ask");
  assert.equal(session(tree).action("file_read", { path: "../outside/a" }), "allow");
});

Deno.test("a call that is too large to be kept is not offered as a whole", () => {
  using tree = makeWorktree();
  tree.write("home/.config/polyglav/config.json", JSON.stringify({ tool_permission: { edit: "ask" } }));
  const { rules, request } = session(tree);
  const args = { path: "a", content: "x".repeat(3000) };
  assert.deepEqual(titles(rules.choices(request("file_write", args))), ["tool session", "tool project"]);
});

Deno.test("a choice that was never offered for the call is refused, and a copy of one that was counts", async () => {
  using tree = makeWorktree();
  const { rules, request, action } = session(tree);
  const asked = request("run_command", { command: "git status" });
  const forged = {
    covers: "prefix",
    lasts: "session",
    label: "",
    rule: 'tool_permission.bash_auto += "sh"',
  } as const;
  await assert.rejects(rules.remember(asked, forged), /no longer/);
  await rules.remember(asked, { ...rules.choices(asked)[2]! });
  assert.equal(action("run_command", { command: "git status" }), "allow");
});

Deno.test("a file that says it is about another project is left out, and not written over", async () => {
  using tree = makeWorktree();
  const { file, rules, request } = session(tree);
  const text = JSON.stringify({ $worktree: "/elsewhere", consent: { tools: ["run_command"] } });
  tree.write(file.slice(tree.root.length + 1), text);
  const next = session(tree);
  assert.equal(next.action("run_command", { command: "ls" }), "ask");
  assert.match(next.loaded.warnings.join("\n"), /is ignored: its "\$worktree" is not/);
  const asked = request("run_command", { command: "ls" });
  await assert.rejects(rules.remember(asked, rules.choices(asked)[1]!), /move the file away/);
  assert.equal(Deno.readTextFileSync(file), text);
});

Deno.test("explaining tells the trail", () => {
  using tree = makeWorktree();
  const { rules, request } = session(tree);
  assert.match(rules.explain(request("run_command", { command: "ls" })).join("\n"), /tool_permission\.bash/);
});

Deno.test("config list, set and unset know the user's own file for the project", async () => {
  using tree = makeWorktree();
  const { file } = session(tree);
  const set = await runCli(tree, ["config", "set", "--user", "consent.tools", '["run_command"]']);
  assert.equal(set.code, 0, set.stderr);
  assert.equal(Deno.statSync(file).mode! & 0o777, 0o600);
  const list = await runCli(tree, ["config", "list", "--show-origin"]);
  assert.match(list.stdout, /^user\s+consent\.tools = \["run_command"\]$/m);
  assert.match(
    (await runCli(tree, ["config", "list", "--user"])).stdout,
    /^consent\.tools = \["run_command"\]\n$/,
  );
  const gone = await runCli(tree, ["config", "unset", "--user", "consent.tools"]);
  assert.equal(gone.code, 0, gone.stderr);
  assert.equal((await runCli(tree, ["config", "get", "consent.tools"])).stdout, "[]\n");
  assert.equal((await runCli(tree, ["config", "set", "--user", "--global", "model", "x"])).code, 2);
});
