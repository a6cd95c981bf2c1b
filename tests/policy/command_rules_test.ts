import assert from "node:assert/strict";
import { compileCall, compileCeiling } from "../../src/policy/compile.ts";
import { explain } from "../../src/policy/explain.ts";
import { checkCommand } from "../../src/policy/shell_command.ts";
import { ToolPolicy } from "../../src/policy/tool_policy.ts";
import type { Action } from "../../src/tool.ts";
import { inputOf, runCommand, tool } from "./_fixtures.ts";

const LIST = ["echo", "git log", "tee", "cp", "cat", "ghost", "dx"];

function decide(
  command: string,
  permission: Record<string, unknown>,
  more: Parameters<typeof inputOf>[1] = {},
) {
  const input = inputOf({ tool_permission: permission }, {
    checkCommand,
    isProgram: (path) => path.startsWith("/usr/bin/") && path !== "/usr/bin/ghost",
    ...more,
  });
  return { input, decision: new ToolPolicy(input).resolve(runCommand, { command }) };
}

const writes: readonly string[] = [
  "echo a > f",
  "echo a >> f",
  "echo a >| f",
  "echo a &> f",
  "echo a 2> f",
  "cat < g | tee f",
  "tee -a f",
  "cp a b",
  "cat a | cat > f",
  "true && echo a > f",
];

for (const command of writes) {
  Deno.test(`commands: ${command} does what edit gates`, () => {
    const action = (edit: string, bash: string, more: Record<string, unknown> = {}): Action =>
      decide(command, { bash, edit, bash_allow: LIST, ...more }).decision.action;
    assert.equal(action("allow", "allow"), "allow");
    assert.equal(action("ask", "allow"), "ask");
    assert.equal(action("deny", "allow"), "deny");
    assert.equal(action("deny", "ask"), "deny");
    // What runs by itself asks, too, where writing asks.
    assert.equal(action("ask", "ask", { bash_auto: LIST }), "ask");
    assert.equal(action("allow", "ask", { bash_auto: LIST }), "allow");
    assert.equal(decide(command, { bash: "ask", edit: "ask", bash_auto: LIST }).decision.action, "ask");
    assert.equal(decide(command, { bash: "ask", edit: "deny", bash_auto: LIST }).decision.action, "ask");
  });
}

Deno.test("commands: what writes nothing does not look at edit", () => {
  for (const command of ["echo a", "cat < f", "echo a > /dev/null", "git log 2>&1", "cat a | cat"]) {
    const { decision } = decide(command, { bash: "allow", edit: "deny", bash_allow: LIST });
    assert.equal(decision.action, "allow", command);
  }
});

Deno.test("commands: with edit denied a worker gets no file to write, whatever the decision says", () => {
  const { input, decision } = decide("echo a > f", { bash: "allow", edit: "deny", bash_allow: LIST }, {
    open: true,
  });
  assert.equal(decision.action, "allow");
  const { permissions, guard } = compileCall(runCommand, decision, input, true);
  assert.deepEqual(permissions.write, []);
  assert.ok(guard.roots.every(({ access }) => access === "read"));
  const ceiling = (edit: string) => {
    const input = inputOf({ tool_permission: { bash: "allow", edit, bash_allow: LIST } }, { checkCommand });
    const places = { sourceRoots: [], stateDir: "/s", configDir: "/c", providerAddress: null };
    return compileCeiling([runCommand], {
      policy: new ToolPolicy(input),
      policyInput: input,
      yes: false,
      interactive: false,
      ...places,
    });
  };
  assert.ok((ceiling("allow").write as string[]).includes("/w"));
  assert.ok(!(ceiling("deny").write as string[]).includes("/w"));
});

Deno.test("commands: a denial names every problem and what is allowed", () => {
  const { decision } = decide("rm -rf x; echo $(id) && git push | sh", { bash: "allow", bash_allow: LIST });
  assert.equal(decision.action, "deny");
  for (
    const part of [
      "`rm` matches no entry",
      "command substitution",
      "`git` matches no entry",
      "`sh` matches no entry",
    ]
  ) {
    assert.ok(decision.reason.includes(part), `${part} in: ${decision.reason}`);
  }
  assert.match(decision.reason, /allowed: echo, git log, tee, cp, cat, ghost, dx$/);
});

Deno.test("commands: many problems are counted", () => {
  const { decision } = decide("a; b; c; d; e; f; g", { bash: "allow", bash_allow: LIST });
  assert.match(decision.reason, /and 2 more; allowed/);
});

Deno.test("commands: explained, a refused construct stands once, and the list of programs is shown", () => {
  const { decision } = decide("echo a; echo $(id)", { bash: "allow", bash_allow: LIST });
  const text = explain(decision, runCommand, null, ["/usr/bin/echo", "/usr/bin/git"]);
  const lines = text.split("\n").filter((line) => line.startsWith("  refused"));
  assert.equal(lines.length, 1, text);
  assert.match(text, /\n {2}allowed {2}echo a {2}\(matches `echo`\)/);
  assert.match(text, /--allow-run=\/usr\/bin\/echo,\/usr\/bin\/git$/);
});

Deno.test("commands: the worker is told where each listed program is, from the configuration", () => {
  const { input, decision } = decide("echo a; ghost", { bash: "allow", bash_allow: LIST });
  const { guard } = compileCall(runCommand, decision, input, false);
  assert.deepEqual(guard.programs, {
    echo: "/usr/bin/echo",
    git: "/usr/bin/git",
    tee: "/usr/bin/tee",
    cp: "/usr/bin/cp",
    cat: "/usr/bin/cat",
    ghost: null,
    dx: "/usr/bin/dx",
  });
});

Deno.test("commands: a program that is not listed is not among them, whatever the plan says", () => {
  const { input, decision } = decide("sh -c x", { bash: "allow", bash_allow: LIST }, { open: true });
  const forged = { ...decision, command: { ...decision.command!, programs: ["sh"], segments: [] } };
  const { guard, permissions } = compileCall(runCommand, forged, input, true);
  assert.ok(!Object.hasOwn(guard.programs!, "sh"));
  assert.ok(permissions.run.every((path) => !/\/(ba)?sh$/.test(path)));
});

Deno.test("commands: where children are confined the worker starts what confines, and its helpers", () => {
  const subject = tool({
    name: "run_command",
    permission: "bash",
    access: ["run"],
    commandArg: "command",
    programs: () => ["$shell", "mkfifo", "kill"],
  }, ["command"]);
  const input = inputOf({ tool_permission: { bash: "allow", bash_allow: LIST } }, {
    checkCommand,
    wrappers: ["/usr/bin/bwrap"],
  });
  const decision = new ToolPolicy(input).resolve(subject, { command: "echo a" });
  const confined = compileCall(subject, decision, input, false, "/usr/bin/bwrap");
  assert.deepEqual([...confined.permissions.run].sort(), [
    "/usr/bin/bwrap",
    "/usr/bin/kill",
    "/usr/bin/mkfifo",
  ]);
  assert.equal(confined.oneShot, false);
  assert.equal(confined.guard.programs?.["echo"], "/usr/bin/echo");
});

Deno.test("commands: a listed name that leads to Deno is refused", () => {
  const realPath = (path: string) => path === "/usr/bin/dx" ? Deno.execPath() : path;
  const { decision } = decide("dx", { bash: "allow", bash_allow: LIST }, { realPath });
  assert.equal(decision.action, "deny");
  assert.match(decision.reason, /may be Deno itself/);
});
