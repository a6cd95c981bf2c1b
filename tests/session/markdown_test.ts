import assert from "node:assert/strict";
import { sessionToMarkdown } from "../../src/session/markdown.ts";
import type { Part, SessionObject } from "../../src/session/turns.ts";

const at = "2026-05-06T07:08:09.010Z";

function session(parts: readonly Part[]): SessionObject {
  return {
    session_name: "a_b",
    session_id: "ab12cd",
    turns: [{
      ...{
        index: 1,
        started_at: at,
        ended_at: at,
        status: "ok",
        model: "m",
        provider: "p",
        mode: "build",
      } as const,
      ...{ reasoning: "auto", usage: null, parts },
    }],
    errors: [{ code: 500, message: "it\nbroke", timestamp: at }],
    permissions: [{
      ...{
        tool: "grep",
        action: "ask",
        decision: "declined",
        timestamp: at,
        rule: "r",
        reason: "w",
        path: "a|b",
      } as const,
    }],
    ...{ created_at: at, updated_at: at, parent_id: null, sub_sessions: [], role: null, version: 1 },
  };
}

Deno.test("Markdown has a heading for each turn, tools with input and output, errors and the audit", () => {
  const text = sessionToMarkdown(session([
    { type: "user", text: "# not a heading", timestamp: at },
    { type: "thinking", text: "one\ntwo", timestamp: at },
    {
      ...{
        type: "tool",
        id: "1",
        tool: "grep",
        input: { pattern: "x" },
        output: "a:1: x",
        is_error: false,
      } as const,
      ...{ analysis: null, timestamp: at, round: 1 },
    },
    { type: "text", text: "**answer**", timestamp: at },
  ]));
  assert.ok(text.startsWith("# Session a\\_b\n"));
  assert.ok(text.includes("## Turn 1\n"));
  assert.ok(text.includes("```\n# not a heading\n```"));
  assert.ok(text.includes("> one\n> two"));
  assert.ok(text.includes('**Tool** grep (ok)\n\n```json\n{\n  "pattern": "x"\n}\n```\n\n```\na:1: x\n```'));
  assert.ok(text.includes("\n\n**answer**\n\n"));
  assert.ok(text.includes(`- ${at}: it broke (500)`));
  assert.ok(text.includes(`| ${at} | grep | ask | declined | r | a\\|b |`));
});

Deno.test("a tool's result cannot end the code block that it stands in", () => {
  const output = "```\n````js\n# escaped\n```",
    part = { type: "tool", id: "1", tool: "t", input: {}, output } as const;
  const text = sessionToMarkdown(
    session([{ ...part, is_error: false, analysis: null, timestamp: at, round: 1 }]),
  );
  assert.ok(text.includes(`\n\`\`\`\`\`\n${output}\n\`\`\`\`\`\n`));
});
