import assert from "node:assert/strict";
import { compileCall } from "../../src/policy/compile.ts";
import { checkCommand } from "../../src/policy/shell_command.ts";
import { ToolPolicy } from "../../src/policy/tool_policy.ts";
import { codeTest, git, inputOf, policyOf, runCommand, testRows } from "./_fixtures.ts";

testRows([
  // commands
  [
    "a listed command runs",
    { tool_permission: { bash: "allow", bash_allow: ["echo"] } },
    runCommand,
    { command: "echo a" },
    "allow",
    "tool_permission.bash",
  ],
  [
    "a listed command still asks",
    { tool_permission: { bash: "ask", bash_allow: ["echo"] } },
    runCommand,
    { command: "echo a" },
    "ask",
    "tool_permission.bash",
  ],
  [
    "an unlisted command is denied",
    { tool_permission: { bash: "allow", bash_allow: ["echo"] } },
    runCommand,
    { command: "touch a" },
    "deny",
    "tool_permission.bash_allow",
  ],
  [
    "one unlisted segment denies all",
    { tool_permission: { bash: "allow", bash_allow: ["echo"] } },
    runCommand,
    { command: "echo a && touch b" },
    "deny",
    "tool_permission.bash_allow",
  ],
  [
    "a refused construct denies",
    { tool_permission: { bash: "allow", bash_allow: ["echo"] } },
    runCommand,
    { command: "echo $(x)" },
    "deny",
    "tool_permission.bash_allow",
  ],
  [
    "nothing to check denies",
    { tool_permission: { bash: "allow", bash_allow: ["echo"] } },
    runCommand,
    { command: " " },
    "deny",
    "tool_permission.bash_allow",
  ],
  [
    "a command that is no text is denied",
    { tool_permission: { bash: "allow" } },
    runCommand,
    { command: 5 },
    "deny",
    "tool_permission.bash_allow",
  ],
  [
    "a list that is no list denies",
    { tool_permission: { bash: "allow", bash_allow: "echo" } },
    runCommand,
    { command: "echo a" },
    "deny",
    "tool_permission.bash_allow",
  ],
  [
    "a list of nothing that can be understood denies",
    { tool_permission: { bash: "allow", bash_allow: ["", 3] } },
    runCommand,
    { command: "echo a" },
    "deny",
    "tool_permission.bash_allow",
  ],
  [
    "a redirect inside runs",
    { tool_permission: { bash: "allow", bash_allow: ["echo"] } },
    runCommand,
    { command: "echo a > b.txt" },
    "allow",
    "tool_permission.bash",
  ],
  [
    "a redirect outside is denied",
    { tool_permission: { bash: "allow", bash_allow: ["echo"] } },
    runCommand,
    { command: "echo a > /tmp/x" },
    "deny",
    "tool_permission.bash_allow",
  ],
  [
    "a redirect into .git is denied",
    { tool_permission: { bash: "allow", bash_allow: ["echo"] } },
    runCommand,
    { command: "echo a > .git/hooks/x" },
    "deny",
    "tool_permission.bash_allow",
  ],
  [
    "a redirect into the own configuration is denied",
    { tool_permission: { bash: "allow", bash_allow: ["echo"] } },
    runCommand,
    { command: "echo a > .polyglav/config.json" },
    "deny",
    "tool_permission.bash_allow",
  ],
  [
    "a redirect to a place that a rule opens runs",
    {
      tool_permission: { bash: "allow", bash_allow: ["echo"] },
      path_rules: [{ path: "/data", access: "write", action: "allow" }],
    },
    runCommand,
    { command: "echo a > /data/x" },
    "allow",
    "tool_permission.bash",
  ],
  [
    "bash_auto makes ask allow",
    { tool_permission: { bash: "ask", bash_auto: ["echo"] } },
    runCommand,
    { command: "echo a" },
    "allow",
    "tool_permission.bash_auto",
  ],
  [
    "bash_auto leaves the rest asking",
    { tool_permission: { bash: "ask", bash_auto: ["echo"] } },
    runCommand,
    { command: "echo a && touch b" },
    "ask",
    "tool_permission.bash",
  ],
  [
    "bash_auto does not lift a deny",
    { tool_permission: { bash: "deny", bash_auto: ["echo"] } },
    runCommand,
    { command: "echo a" },
    "deny",
    "tool_permission.bash",
  ],
  [
    "bash_auto does not lift bash_allow",
    { tool_permission: { bash: "ask", bash_auto: ["echo"], bash_allow: ["ls"] } },
    runCommand,
    { command: "echo a" },
    "deny",
    "tool_permission.bash_allow",
  ],
  [
    "bash_auto does not lift the worktree",
    { tool_permission: { bash: "ask", bash_auto: ["echo"] } },
    runCommand,
    { command: "echo a", cwd: "/" },
    "ask",
    "tool_permission.bash",
  ],
  [
    "bash_auto does not cover a redirect outside",
    { tool_permission: { bash: "ask", bash_auto: ["echo"] } },
    runCommand,
    { command: "echo a > /x" },
    "ask",
    "tool_permission.bash",
  ],
  [
    "a dev tool obeys the command list",
    { tool_permission: { bash: "allow", bash_allow: ["git"] } },
    codeTest,
    {},
    "deny",
    "programs",
  ],
  [
    "a dev tool whose program is listed runs",
    { tool_permission: { bash: "allow", bash_allow: ["npm test"] } },
    codeTest,
    {},
    "allow",
    "tool_permission.bash",
  ],
  [
    "a tool that would start Deno is denied",
    { tool_permission: { bash: "allow" } },
    codeTest,
    { target: "deno" },
    "deny",
    "programs",
  ],
  [
    "a listed command that is Deno is denied",
    { tool_permission: { bash: "allow", bash_allow: ["deno"] } },
    runCommand,
    { command: "deno run -A x.ts" },
    "deny",
    "tool_permission.bash_allow",
  ],
  [
    "git is not under the command list",
    { tool_permission: { bash: "allow", bash_allow: ["ls"] } },
    git,
    {},
    "allow",
    "tool_permission.read",
  ],
]);

Deno.test("policy: a checker that throws denies, and so does having none", () => {
  const over = { tool_permission: { bash: "allow", bash_allow: ["echo"] } };
  const broken = policyOf(over, {
    checkCommand: () => {
      throw new Error("parser died");
    },
  });
  assert.match(broken.resolve(runCommand, { command: "echo" }).reason, /parser died/);
  assert.equal(broken.resolve(runCommand, { command: "echo" }).action, "deny");
  assert.equal(
    policyOf(over, { checkCommand: undefined }).resolve(runCommand, { command: "echo" }).action,
    "deny",
  );
});

Deno.test("policy: a checker that says yes without a tree is not believed", () => {
  const over = { tool_permission: { bash: "allow", bash_allow: ["echo"] } };
  const segments = [{ text: "echo", allowed: true, reason: "echo" }];
  const policy = policyOf(over, {
    checkCommand: () => ({ mode: "tree", segments, programs: [], paths: [] }),
  });
  assert.equal(policy.resolve(runCommand, { command: "echo" }).action, "deny");
  const shell = policyOf(over, {
    checkCommand: () => ({ mode: "shell", tree: { chains: [] }, segments, programs: [], paths: [] }),
  });
  assert.equal(shell.resolve(runCommand, { command: "echo" }).action, "deny");
});

Deno.test("policy: a refusal names what is refused and what is allowed", () => {
  const policy = policyOf({ tool_permission: { bash: "allow", bash_allow: ["echo", "git status"] } });
  const { reason } = policy.resolve(runCommand, { command: "echo a && touch b" });
  for (const part of ["touch", "touch b", "echo, git status"]) assert.ok(reason.includes(part), reason);
});

Deno.test("policy: without a list the user's shell runs the command", () => {
  const { command } = policyOf({ tool_permission: { bash: "allow" } }).resolve(runCommand, {
    command: "a | b",
  });
  assert.deepEqual(command, { mode: "shell", segments: [], programs: ["/bin/sh"], paths: [] });
});

Deno.test("policy: a path that is denied refuses its segment, and the refusal names it", () => {
  const over = { tool_permission: { bash: "allow", bash_allow: ["cat", "ls"] } };
  const policy = policyOf(over, { checkCommand });
  const of = (command: string) => policy.resolve(runCommand, { command });
  const { action, reason, command } = of("ls && cat a > ../x; cat a | cat >> ../x");
  assert.equal(action, "deny");
  assert.ok(reason.includes("(in: cat a > ../x)") && reason.includes("(in: cat >> ../x)"), reason);
  assert.deepEqual(command!.segments.map(({ allowed }) => allowed), [true, false, true, false]);
  assert.deepEqual(of("cd .. && ls").command!.segments.map(({ allowed }) => allowed), [false, true]);
});

Deno.test("policy: redirections need what the keys edit and read say", () => {
  const of = (keys: Record<string, string>, command: string) =>
    policyOf({ tool_permission: { bash: "allow", bash_allow: ["cat"], ...keys } }, { checkCommand })
      .resolve(runCommand, { command });
  for (
    const [keys, command, action, rule] of [
      [{ edit: "ask" }, "cat a > b", "ask", "tool_permission.edit"],
      [{ edit: "ask" }, "cat < a", "allow", "tool_permission.bash"],
      [{ edit: "deny" }, "cat a > b", "deny", "tool_permission.bash_allow"],
      [{ read: "ask" }, "cat < a", "ask", "tool_permission.read"],
      [{ read: "deny" }, "cat < a", "deny", "tool_permission.bash_allow"],
      [{ read: "deny" }, "cat a > b", "allow", "tool_permission.bash"],
      [{ edit: "ask", read: "deny" }, "cat < a > b", "deny", "tool_permission.bash_allow"],
      [{ edit: "deny", read: "deny" }, "cat a > /dev/null 2>&1", "allow", "tool_permission.bash"],
    ] as const
  ) {
    const decision = of(keys, command);
    assert.deepEqual([decision.action, decision.rule], [action, rule], `${JSON.stringify(keys)} ${command}`);
  }
  const both = of({ edit: "ask", read: "ask" }, "cat < a > b; cat < c > d");
  assert.deepEqual(both.trail.filter(({ action }) => action === "ask").map(({ rule }) => rule), [
    "tool_permission.read",
    "tool_permission.edit",
  ]);
});

Deno.test("policy: a redirect replaces no file that a rule keeps from being read", () => {
  const path_rules = [
    { path: "/data", access: "write", action: "allow" },
    { path: "secret", access: "read", action: "deny" },
  ];
  const policy = policyOf({ path_rules, tool_permission: { bash: "allow", bash_allow: ["echo", "tee"] } }, {
    checkCommand,
  });
  for (
    const [command, action] of [
      ["echo a > .env", "deny"],
      ["echo a >> sub/id_rsa", "deny"],
      ["echo a | tee .env", "deny"],
      ["echo a > secret/x", "deny"],
      ["echo a > env.txt", "allow"],
      ["echo a > /data/x", "allow"],
    ] as const
  ) assert.equal(policy.resolve(runCommand, { command }).action, action, command);
});

Deno.test("policy: a command that bash_auto leaves to the shell still shows the verdicts", () => {
  const over = { tool_permission: { bash: "ask", bash_auto: ["ls"] } };
  const { action, command, trail } = policyOf(over, { checkCommand })
    .resolve(runCommand, { command: "ls | wc -l" });
  assert.deepEqual([action, command!.mode, command!.programs], ["ask", "shell", ["/bin/sh"]]);
  assert.deepEqual(command!.segments.map(({ text, allowed }) => [text, allowed]), [["ls", true], [
    "wc -l",
    false,
  ]]);
  assert.ok(trail.some(({ rule, reason }) => rule === "tool_permission.bash_auto" && /`wc`/.test(reason)));
});

Deno.test("policy: of what a dev tool chooses from, only what is listed can start, whatever is decided", () => {
  const choosing = { ...codeTest, programs: () => ["npm", "make", "env", "kill"] };
  const programs = (over: Record<string, unknown>, more = {}) => {
    const input = inputOf({ tool_permission: { bash: "allow", ...over } }, more);
    const decision = new ToolPolicy(input).resolve(choosing, {});
    return {
      action: decision.action,
      names: Object.keys(compileCall(choosing, decision, input, false).guard.programs!),
    };
  };
  assert.deepEqual(programs({}), { action: "allow", names: ["npm", "make", "env"] });
  assert.deepEqual(programs({ bash_allow: ["make test", "ls"] }), { action: "allow", names: ["make"] });
  assert.deepEqual(programs({ bash_allow: ["ls", "makes"] }), { action: "deny", names: [] });
  assert.deepEqual(programs({ bash_allow: ["ls"] }, { open: true }), { action: "allow", names: [] });
  const within = { allow: [["npm test"]], auto: [], rules: [] };
  assert.deepEqual(programs({ bash_allow: ["make", "npm"] }, { within }), {
    action: "allow",
    names: ["npm"],
  });
  assert.deepEqual(programs({ bash_allow: ["make"] }, { within }), { action: "deny", names: [] });
});
