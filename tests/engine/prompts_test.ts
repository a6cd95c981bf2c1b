import assert from "node:assert/strict";
import { BUNDLED_ROLES, BUNDLED_TEAMS } from "../../src/catalog/bundled.ts";
import * as prompts from "../../src/engine/prompts.ts";
import { systemPrompt } from "../../src/engine/prompt.ts";
import { groups } from "../../tools/mod.ts";
import { ToolRegistry } from "../../src/registry/registry.ts";

Deno.test("prompts: what sub-agents, leads and stages are told is short", () => {
  assert.ok(prompts.SUB_AGENT.length <= 400, String(prompts.SUB_AGENT.length));
  for (const text of [prompts.DECIDE, prompts.DECIDE_PERMISSION, prompts.SUMMARISE]) {
    assert.ok(text.length <= 260, `${text.length}: ${text}`);
  }
  for (const [name, role] of Object.entries(BUNDLED_ROLES)) {
    const text = prompts.rolePrompt({ ...role, name, origin: "bundled" }, []);
    assert.ok(text.length <= 800, `${name}: ${text.length}`);
  }
  const stages = BUNDLED_TEAMS.programming!.stages!;
  const team = { ...BUNDLED_TEAMS.programming!, name: "programming", origin: "bundled" as const, stages };
  const brief = prompts.stageBrief({
    team,
    task: "",
    stage: stages[3]!,
    results: [],
    number: 4,
    before: stages[2]!,
    loop: { iteration: 1, results: [], findings: null, verdict: "VERDICT:" },
  });
  assert.ok(brief.length <= 450, String(brief.length));
});

Deno.test("prompts: the first request with all bundled tools stays below 12 KB", () => {
  const registry = new ToolRegistry();
  for (const tools of Object.values(groups)) for (const tool of tools) registry.register(tool);
  const tools = registry.definitions().map((tool) => ({ type: "function", function: tool }));
  const system = systemPrompt({
    systemPrompt: "",
    modeInstruction: "",
    instructions: null,
    worktree: "/home/user/project",
    summary: "",
  });
  const bytes =
    new TextEncoder().encode(JSON.stringify({ messages: [{ role: "system", content: system }], tools }))
      .length;
  assert.ok(tools.length >= 20, String(tools.length));
  assert.ok(bytes <= 12_000, String(bytes));
});

Deno.test("prompts: cutting keeps whole words and says so", () => {
  assert.equal(prompts.cut("short", 10), "short");
  assert.equal(prompts.cut("one two three", 9), "one two\n... (truncated)");
  assert.equal(prompts.cut("x".repeat(20), 10), `${"x".repeat(10)}\n... (truncated)`);
  assert.ok(prompts.cut("🙂".repeat(20), 11).isWellFormed());
});
