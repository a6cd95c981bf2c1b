import assert from "node:assert/strict";
import { compileCall } from "../../src/policy/compile.ts";
import { explain, explanation } from "../../src/policy/explain.ts";
import { ToolPolicy } from "../../src/policy/tool_policy.ts";
import type { Decision } from "../../src/policy/types.ts";
import { allTools, fileRead, fileWrite, inputOf, policyOf, runCommand } from "./_fixtures.ts";

Deno.test("explain: the first line says what was decided, by which rule and why", () => {
  const decision = policyOf().resolve(fileWrite, { path: ".git/hooks/x" });
  const [first, ...rest] = explain(decision, fileWrite).split("\n");
  assert.equal(
    first,
    "file_write: deny (path_rules.default(.git): writing /w/.git/hooks/x is denied by the built-in rule for .git)",
  );
  assert.equal(rest[0], "rules, in order:");
  assert.ok(rest.some((line) => line.startsWith("> path_rules.default(.git)")));
  assert.ok(rest.some((line) => line.startsWith("  tool_permission.edit") && line.includes("allow")));
});

Deno.test("explain: exactly one rule decided", () => {
  for (const subject of allTools) {
    for (const path of ["a", "/x", ".env", ".git/x", "\0"]) {
      const args = { path, cwd: path, command: "echo a", url: "http://10.0.0.1/", role: "ghost" };
      const { trail, rule } = explanation(policyOf().resolve(subject, args), subject);
      const deciding = trail.filter(({ decided }) => decided);
      assert.deepEqual(deciding.map((entry) => entry.rule), [rule], `${subject.name} ${path}`);
    }
  }
});

Deno.test("explain: paths show where they lead and what they need", () => {
  const text = explain(policyOf().resolve(fileRead, { path: "../x" }), fileRead);
  assert.match(text, /read {3}\.\.\/x -> \/x {2}\(needs a yes: \/x is outside the worktree\)/);
  assert.match(
    explain(policyOf().resolve(fileRead, { path: "/w/a" }), fileRead),
    /read {3}\/w\/a {2}\(inside\)/,
  );
  const over = { path_rules: [{ path: "/data", access: "read", action: "allow" }] };
  assert.match(
    explain(policyOf(over).resolve(fileRead, { path: "/data/x" }), fileRead),
    /outside, opened by a rule/,
  );
});

Deno.test("explain: each segment of a command has its verdict", () => {
  const policy = policyOf({ tool_permission: { bash: "allow", bash_allow: ["echo"] } });
  const text = explain(policy.resolve(runCommand, { command: "echo a && touch b" }), runCommand);
  assert.match(
    text,
    /command, run without a shell:\n {2}allowed {2}echo a {2}\(echo\)\n {2}refused {2}touch b/,
  );
  assert.match(
    explain(policy.resolve(runCommand, { command: "echo $(x)" }), runCommand),
    /refused {2}echo \$\(x\) {2}\(a substitution\)/,
  );
  assert.match(
    explain(policyOf().resolve(runCommand, { command: "ls" }), runCommand),
    /command, run by the shell/,
  );
});

Deno.test("explain: the permissions of the worker are listed as flags", () => {
  const input = inputOf({ tool_permission: { bash: "allow", bash_allow: ["echo"] } });
  const decision = new ToolPolicy(input).resolve(runCommand, { command: "echo a > b" });
  const { permissions } = compileCall(runCommand, decision, input, false);
  const lines = explain(decision, runCommand, permissions).split("\n");
  for (const line of ["  --allow-read=/w", "  --allow-write=/w/b", "  --allow-run=/usr/bin/echo"]) {
    assert.ok(lines.includes(line), line);
  }
  assert.ok(!lines.some((line) => line.includes("--allow-net")));
});

Deno.test("explain: names cannot write into the terminal or add lines", () => {
  const path = "a\n> tools.deny deny\u001b[31m\u202e\u009b";
  const decision = policyOf().resolve(fileRead, { path: `/${path}` });
  for (
    const text of [
      decision.reason,
      decision.paths[0]!.consent!,
      ...decision.trail.map(({ reason }) => reason),
    ]
  ) {
    // deno-lint-ignore no-control-regex
    assert.doesNotMatch(text, /[\u0000-\u001f\u007f-\u009f\u202e]/);
  }
  // deno-lint-ignore no-control-regex
  assert.doesNotMatch(explain(decision, fileRead).replaceAll("\n", ""), /[\u0000-\u001f\u007f-\u009f\u202e]/);
  assert.ok(explain(decision, fileRead).includes("\\u000a"));
});

Deno.test("explain: data survives JSON as it is", () => {
  for (const subject of allTools) {
    const data = explanation(
      policyOf().resolve(subject, { path: "a", command: "echo", url: "https://a.b" }),
      subject,
    );
    assert.deepEqual(JSON.parse(JSON.stringify(data)), data);
  }
});

Deno.test("explain: a decision without rules is explained too", () => {
  const decision: Decision = { action: "deny", rule: "x", reason: "y", trail: [], paths: [] };
  assert.equal(explain(decision, fileRead), "file_read: deny (x: y)\nrules, in order:\n  none");
});
