import assert from "node:assert/strict";
import { defineTool, type ParameterSchema, type Tool, type ToolMetadata } from "../../src/tool.ts";
import {
  type ActivitySettings,
  formatActivity,
  formatConfirm,
  formatDetails,
  formatDiff,
  formatFooter,
  formatOutcome,
} from "../../src/ui/activity.ts";
import { createStyle } from "../../src/ui/style.ts";

const settings: ActivitySettings = {
  glyph_lines: true,
  glyph_params: true,
  show_errors: true,
  show_notes: true,
};
const plain = createStyle(false), colored = createStyle(true);

function tool(
  name: string,
  category: Tool["category"],
  properties: Record<string, ParameterSchema>,
  metadata: Partial<ToolMetadata<any>> = {},
): Tool {
  return defineTool({
    ...{
      name,
      description: "d",
      category,
      permission: "read",
      access: [],
      parameters: { type: "object", properties },
    },
    ...metadata,
    execute: () => "",
  });
}

const text = { type: "string" } as const,
  whole = { type: "integer" } as const,
  flag = { type: "boolean" } as const;

/** One row for each tool of the table of bundled tools: its metadata, arguments and line. */
const rows: readonly [Tool, Record<string, unknown>, string][] = [
  [
    tool("ask", "ask", { question: text, target: text }, { keyArg: "question" }),
    { question: "Which one?" },
    "~ Ask Which one?",
  ],
  [
    tool("catalog", "catalog", { action: text, kind: text, name: text }, {
      keyArg: "name",
      glyph: "+",
      verb: "Catalog",
    }),
    { action: "show", kind: "role", name: "planner" },
    "+ Catalog planner [action=show, kind=role]",
  ],
  [
    tool("code_test", "exec", { target: text, cwd: text, timeout: whole }, {
      keyArg: "target",
      verb: "Test",
    }),
    { target: "tests/a", timeout: 600 },
    "$ Test tests/a [timeout=600]",
  ],
  [
    tool("code_lint", "exec", { target: text, cwd: text }, { keyArg: "target", verb: "Lint" }),
    { target: "", cwd: "sub" },
    "$ Lint code_lint [cwd=sub]",
  ],
  [
    tool("code_format", "exec", { target: text }, { keyArg: "target", verb: "Format" }),
    {},
    "$ Format code_format",
  ],
  [
    tool("delegate", "delegate", { role: text, task: text, skills: { type: "array" } }, {
      keyArg: "role",
      verb: "Delegate",
    }),
    { role: "tester", task: "run them", skills: ["a", "b"] },
    '↳ Delegate tester [task=run them, skills=["a","b"]]',
  ],
  [
    tool("file_edit", "write", { path: text, old: text, new: text, count: { ...whole, default: 1 } }, {
      keyArg: "path",
    }),
    { path: "a.ts", old: "x\ny", new: "z".repeat(61), count: 1 },
    "→ Write a.ts [old=<3 chars>, new=<61 chars>]",
  ],
  [
    tool("file_read", "read", {
      path: text,
      offset: { ...whole, default: 1 },
      limit: { ...whole, default: 500 },
    }, {
      keyArg: "path",
    }),
    { path: "engine.py", offset: 299, limit: 85 },
    "← Read engine.py [offset=299, limit=85]",
  ],
  [
    tool("file_write", "write", { path: text, content: text, mode: { ...text, default: "w" } }, {
      keyArg: "path",
    }),
    { path: "test.md", content: "z".repeat(60), mode: "a" },
    `→ Write test.md [content=${"z".repeat(60)}, mode=a]`,
  ],
  [
    tool("git", "read", { operation: { ...text, default: "status" }, staged: flag }, {
      keyArg: "operation",
      glyph: "⎇",
      verb: "Git",
    }),
    { operation: "diff", staged: true },
    "⎇ Git diff [staged=true]",
  ],
  [
    tool("git_commit", "write", { operation: text, all: flag }, {
      keyArg: "operation",
      glyph: "⎇",
      verb: "Git",
    }),
    { operation: "commit", all: false },
    "⎇ Git commit [all=false]",
  ],
  [tool("glob", "search", { pattern: text, path: text }, { keyArg: "pattern", glyph: "*", verb: "Glob" }), {
    pattern: "**/*.ts",
  }, "* Glob **/*.ts"],
  [
    tool("grep", "search", { pattern: text, path: text }, { keyArg: "pattern", glyph: "*", verb: "Grep" }),
    { pattern: "TODO", path: "src" },
    "* Grep TODO [path=src]",
  ],
  [tool("handoff", "handoff", { target: text }, { keyArg: "target", glyph: "→", verb: "Handoff" }), {
    target: "parent",
  }, "→ Handoff parent"],
  [
    tool("list_dir", "read", { path: { ...text, default: "." }, depth: { ...whole, default: 1 } }, {
      keyArg: "path",
      glyph: "*",
      verb: "List",
    }),
    { path: ".", depth: 3 },
    "* List . [depth=3]",
  ],
  [
    tool("run_command", "exec", { command: text, cwd: text, timeout: whole }, { keyArg: "command" }),
    { command: "pytest", cwd: "/workspace", timeout: 600 },
    "$ Run pytest [cwd=/workspace, timeout=600]",
  ],
  [tool("team", "delegate", { name: text, task: text }, { keyArg: "name", verb: "Team" }), {
    name: "programming",
  }, "↳ Team programming"],
  [tool("web_fetch", "read", { url: text }, { keyArg: "url", glyph: "↓", verb: "Fetch" }), {
    url: "https://a.b/c",
  }, "↓ Fetch https://a.b/c"],
  [tool("web_search", "search", { query: text }, { keyArg: "query" }), { query: "deno" }, "% Search deno"],
  [tool("mcp_connect", "mcp", { server: text }, { keyArg: "server", glyph: "◈", verb: "MCP" }), {
    server: "x",
  }, "◈ MCP x"],
  [tool("todo", "todo", { action: text }, { keyArg: "action" }), { action: "list" }, "- Todo list"],
  [tool("call_it", "delegate", { role: text }, { keyArg: "role" }), { role: "x" }, "↳ Call x"],
];

for (const [definition, args, line] of rows) {
  Deno.test(`the activity line of ${definition.name}`, () => {
    assert.equal(formatActivity(definition, args, settings), line);
  });
}

Deno.test("arguments that the model left out, and those it left at their default, are not shown", () => {
  const read = rows[7]![0];
  assert.equal(
    formatActivity(read, { path: "README.md", offset: 1, limit: 500 }, settings),
    "← Read README.md",
  );
  assert.equal(
    formatActivity(read, { path: "README.md", offset: null, other: 1 }, settings),
    "← Read README.md",
  );
});

Deno.test("without glyph_params the bracket is left out", () => {
  const off = { ...settings, glyph_params: false };
  assert.equal(formatActivity(rows[7]![0], { path: "a", offset: 9 }, off), "← Read a");
});

Deno.test("a category without a glyph, or glyph_lines off, gives the bracketed line", () => {
  const bare = tool("catalog", "catalog", { name: text, kind: text }, { keyArg: "name" });
  assert.equal(formatActivity(bare, { name: "x", kind: "role" }, settings), "[catalog: x]");
  assert.equal(formatActivity(bare, {}, settings), "[catalog]");
  const off = { ...settings, glyph_lines: false };
  assert.equal(formatActivity(rows[7]![0], { path: "a", offset: 9 }, off), "[file_read: a]");
  assert.equal(formatActivity("no_such_tool", { a: 1 }, settings), "[no_such_tool]");
});

Deno.test("the first line of a status is the label, the rest are details; one that throws is done without", () => {
  const write = tool("file_write", "write", { path: text, content: text }, {
    keyArg: "path",
    status: ({ path, content }) => `${path}\n+ ${content}\n(1 line)\n`,
  });
  assert.equal(formatActivity(write, { path: "a.md", content: "hi" }, settings), "→ Write a.md [content=hi]");
  assert.deepEqual(formatDetails(write, { path: "a.md", content: "h\x1b[1m" }), ["+ h␛[1m", "(1 line)"]);
  const broken = tool("x", "read", { path: text }, { keyArg: "path", status: (args) => args.none.at(0) });
  assert.equal(formatActivity(broken, { path: "a" }, settings), "← Read a");
  assert.deepEqual(formatDetails(broken, { path: "a" }), []);
});

Deno.test("a parameter whose text is the label is not repeated", () => {
  const both = tool("x", "read", { path: text, also: text }, { keyArg: "path" });
  assert.equal(formatActivity(both, { path: "a", also: "a" }, settings), "← Read a");
});

Deno.test("a label is cut to 80 characters, not through one", () => {
  const run = rows[15]![0];
  const exact = "x".repeat(80),
    label = (command: string): string => formatActivity(run, { command }, settings).slice("$ Run ".length);
  assert.equal(label(exact), exact);
  assert.equal(label(`${exact}y`), `${"x".repeat(79)}…`);
  assert.equal([...label("😀".repeat(200))].length, 80);
  assert.equal(label("😀".repeat(81)), `${"😀".repeat(79)}…`);
});

Deno.test("an activity line is one line and obeys nothing in its arguments", () => {
  const run = rows[15]![0];
  const line = formatActivity(run, { command: "ls\n\x1b[2K\rrm -rf /", cwd: "\u202ex\x9b" }, settings);
  assert.equal(line, "$ Run ls↵␛[2K␍rm -rf / [cwd=\\u202ex\\x9b]");
});

Deno.test("values are JSON's, not another language's", () => {
  const any = tool("x", "read", { a: {}, b: {}, c: {}, d: {} }, {});
  const line = formatActivity(any, { a: true, b: ["x", null], c: { k: 1.5 }, d: "it's" }, settings);
  assert.equal(line, `← Read x [a=true, b=["x",null], c={"k":1.5}, d=it's]`);
});

Deno.test("the question before a call names tool, key argument and parameters", () => {
  const run = rows[15]![0];
  assert.equal(
    formatConfirm(run, { command: "make", cwd: "/w" }, settings),
    "? run_command make [cwd=/w] - approve? [Y/n] ",
  );
  assert.equal(formatConfirm(run, {}, settings), "? run_command - approve? [Y/n] ");
});

const outcome = { tool: rows[7]![0], content: "# a - 1 lines", isError: false, isNote: false, details: null };

Deno.test("an error shows its first line, dimmed, unless show_errors is off", () => {
  const failed = { ...outcome, content: "Error: file not found: a\x1b[0m\nmore", isError: true };
  assert.deepEqual(formatOutcome(failed, settings, plain), ["! Error: file not found: a␛[0m"]);
  assert.deepEqual(formatOutcome({ ...failed, tool: null }, settings, colored), [
    "\x1b[2m! Error: file not found: a␛[0m\x1b[22m",
  ]);
  assert.deepEqual(formatOutcome(failed, { ...settings, show_errors: false }, plain), []);
});

Deno.test("a note shows its last line, unless show_notes is off", () => {
  const note = { ...outcome, content: "# a - 0 lines\n(empty file)\n\n", isNote: true };
  assert.deepEqual(formatOutcome(note, settings, plain), ["(empty file)"]);
  assert.deepEqual(formatOutcome(note, { ...settings, show_notes: false }, plain), []);
});

Deno.test("a result is shown only for tools that echo, red when the command failed", () => {
  assert.deepEqual(formatOutcome(outcome, settings, plain), []);
  const echo = tool("run_command", "exec", { command: text }, {
    echo: true,
    error: (r) => r.includes("exit 1"),
  });
  const ran = { ...outcome, tool: echo, content: "$ ls\nexit 0\na\n" };
  assert.deepEqual(
    formatOutcome(ran, settings, colored),
    ["$ ls", "exit 0", "a"].map((line) => `\x1b[2m${line}\x1b[22m`),
  );
  const red = (line: string): string => `\x1b[31m${line}\x1b[39m`;
  assert.deepEqual(
    formatOutcome({ ...ran, content: "$ ls\nexit 1" }, settings, colored),
    ["$ ls", "exit 1"].map(red),
  );
  assert.deepEqual(formatOutcome({ ...ran, details: { failed: true } }, settings, colored)[0], red("$ ls"));
  const error = { ...ran, content: "Error: cwd not found: x", isError: true, details: { failed: true } };
  assert.deepEqual(formatOutcome(error, settings, plain), ["! Error: cwd not found: x"]);
});

Deno.test("a long echo keeps head and tail and counts what is left out", () => {
  const echo = tool("run_command", "exec", { command: text }, { echo: true });
  const content = Array.from({ length: 100 }, (_, i) => `line ${i + 1}`).join("\n");
  const lines = formatOutcome({ ...outcome, tool: echo, content }, settings, plain);
  assert.equal(lines.length, 61);
  assert.deepEqual([lines[19], lines[20], lines[21], lines[60]], [
    "line 20",
    "… (40 lines left out here)",
    "line 61",
    "line 100",
  ]);
});

Deno.test("the diff of a write is coloured line by line and cut after 40 lines", () => {
  const details = { diff: "@@ -1 +1 @@\n-old\x1b[0m\n+new\n same\n" };
  assert.deepEqual(formatOutcome({ ...outcome, details }, settings, colored), [
    "\x1b[36m@@ -1 +1 @@\x1b[39m",
    "\x1b[31m-old␛[0m\x1b[39m",
    "\x1b[32m+new\x1b[39m",
    "\x1b[2m same\x1b[22m",
  ]);
  const long = formatDiff("+x\n".repeat(50), plain);
  assert.deepEqual([long.length, long[40]], [41, "… (10 more diff lines)"]);
  assert.equal(formatDiff("+x\n".repeat(40), plain).length, 40);
});

Deno.test("the footer has seconds and tokens", () => {
  assert.equal(formatFooter(2.06, 29238), "(2.1s, 29,238 tokens)");
  assert.equal(formatFooter(0, null), "(0.0s)");
});

Deno.test("tracked files that a command changed are named on one clean line below its output", async () => {
  const { formatChanged } = await import("../../src/ui/activity.ts");
  const style = createStyle(false);
  assert.deepEqual(formatChanged([], style), []);
  assert.deepEqual(
    formatChanged([{ path: "a", kind: "changed" }, { path: "b\x1b[2J", kind: "removed" }], style).map((
      line,
    ) => line.includes("\x1b")),
    [false],
  );
  const many = Array.from({ length: 12 }, (_, i) => ({ path: `f${i}`, kind: "made" as const }));
  assert.match(formatChanged(many, style)[0]!, /^± f0 \(made\), .*f7 \(made\) and 4 more$/);
});
