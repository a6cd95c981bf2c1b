/** The user's own file about one project: between the global file and the project's, with the authority of the first. @module */
import assert from "node:assert/strict";
import { setKey, userConfigFile } from "../../src/config/edit.ts";
import { entryOf } from "../../src/config/keys.ts";
import { userProjectFile } from "../../src/config/paths.ts";
import { makeWorktree, type TestTree } from "../helpers/worktree.ts";
import { failure, loadIn, pathsOf, type Setup } from "./_support.ts";

function loadWith(tree: TestTree, mine: unknown, setup: Setup = {}) {
  const file = userProjectFile(pathsOf(tree), tree.work);
  const text = typeof mine === "string" ? mine : JSON.stringify({ $worktree: tree.work, ...mine as object });
  tree.write(file.slice(tree.root.length + 1), text);
  return loadIn(tree, setup);
}

Deno.test("it comes after the global file and before the project's, and flags come last", () => {
  using tree = makeWorktree();
  const global = { model: "g", max_rounds: 5, tool_permission: { bash: "deny", web: "deny" } };
  const mine = { model: "u", max_rounds: 6, tool_permission: { bash: "allow" } };
  const { settings, origin, warnings } = loadWith(tree, mine, { global });
  assert.deepEqual([settings.model, settings.max_rounds], ["u", 6]);
  assert.deepEqual([settings.tool_permission.bash, settings.tool_permission.web], ["allow", "deny"]);
  assert.deepEqual([origin("model"), origin("tool_permission.web"), origin("tool_permission")], [
    "user",
    "global",
    "user",
  ]);
  assert.deepEqual(warnings, []);
  const trusted = loadIn(tree, { global, project: { model: "p" }, trust: true });
  assert.deepEqual([trusted.settings.model, trusted.origin("model")], ["p", "project"]);
  const flagged = loadIn(tree, { global, project: { model: "p" }, trust: true, flags: { model: "f" } });
  assert.equal(flagged.settings.model, "f");
});

Deno.test("an untrusted project narrows what the user's own file allows, and widens nothing", () => {
  using tree = makeWorktree();
  const mine = {
    tool_permission: { bash: "allow", bash_allow: ["ls", "cat"] },
    consent: { tools: ["git_commit"] },
  };
  const project = {
    tool_permission: { bash: "ask", edit: "allow", bash_allow: ["ls", "rm"], bash_auto: ["rm"] },
    consent: { tools: ["run_command"], calls: [{ tool: "run_command", arguments: { command: "id" } }] },
  };
  const { settings, ignored } = loadWith(tree, mine, { project });
  assert.equal(settings.tool_permission.bash, "ask");
  assert.deepEqual([...settings.tool_permission.bash_allow!], ["ls"]);
  assert.deepEqual([...settings.tool_permission.bash_auto!], []);
  assert.deepEqual(settings.consent, { tools: ["git_commit"], calls: [] });
  assert.ok(ignored.some(({ key }) => key === "consent.tools"));
  assert.ok(ignored.some(({ key }) => key === "consent.calls"));
});

Deno.test("it brings modes, and its mistakes are errors that name it", () => {
  using tree = makeWorktree();
  const own = loadWith(tree, { mode: "mine", modes: { mine: { system_prompt: "x" } } });
  assert.deepEqual([own.settings.mode, own.origin("mode")], ["mine", "user"]);
  assert.match(
    failure(() => loadWith(tree, { mode: "nope" })),
    /projects\/work-[0-9a-f]{16}\.json: mode is "nope"/,
  );
  assert.match(failure(() => loadWith(tree, { consent: { tools: "x" } })), /consent\.tools is "x"/);
  for (
    const calls of [
      ["x"],
      [{ tool: "x" }],
      [{ tool: "", arguments: {} }],
      [{ tool: "x", arguments: [] }],
      [{ tool: "x", arguments: {}, more: 1 }],
      [{ tool: "x", arguments: {}, paths: [{ path: "/a", access: "run" }] }],
      [{ tool: "x", arguments: {}, paths: [{ path: "/a" }] }],
    ]
  ) {
    assert.match(
      failure(() => loadWith(tree, { consent: { calls } })),
      /consent\.calls has/,
      JSON.stringify(calls),
    );
  }
  assert.match(failure(() => loadWith(tree, "{")), /projects\/work-/);
});

Deno.test("a file without its project's name, or with another's, counts for nothing", () => {
  using tree = makeWorktree();
  for (
    const text of [
      '{"model": "x"}',
      '{"$worktree": "/other", "model": "x"}',
      '{"$worktree": 1, "model": "x"}',
    ]
  ) {
    const { settings, warnings } = loadWith(tree, text);
    assert.equal(settings.model, "");
    assert.match(warnings.join(), /is ignored/);
  }
});

Deno.test("projects of the same name have files of their own, and a written one is for the user alone", () => {
  using one = makeWorktree();
  using two = makeWorktree();
  const paths = pathsOf(one);
  assert.notEqual(userProjectFile(paths, one.work), userProjectFile(paths, two.work));
  assert.match(userProjectFile(paths, "/tmp/a b\n../x"), /projects\/x-[0-9a-f]{16}\.json$/);
  assert.match(userProjectFile(paths, "/"), /projects\/root-[0-9a-f]{16}\.json$/);
  const file = userConfigFile(paths, one.work);
  setKey(file, "model", entryOf("model"), "m");
  setKey(file, "consent.tools", entryOf("consent.tools"), ["x"]);
  assert.equal(Deno.statSync(file.path).mode! & 0o777, 0o600);
  assert.deepEqual(JSON.parse(Deno.readTextFileSync(file.path)), {
    $worktree: one.work,
    model: "m",
    consent: { tools: ["x"] },
  });
  assert.equal(loadIn(one, {}).settings.model, "m");
});
