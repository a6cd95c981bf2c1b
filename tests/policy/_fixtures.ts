/**
 * Tools and policies for policy tests: the tools have the metadata of the bundled ones, their handlers are never run.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { Settings } from "../../src/config/settings.ts";
import { defaults } from "../../src/config/schema.ts";
import { type PolicyInput, ToolPolicy } from "../../src/policy/tool_policy.ts";
import type { CommandPlan } from "../../src/policy/types.ts";
import { type Action, defineTool, type Tool, type ToolMetadata } from "../../src/tool.ts";

/** Makes a tool of string parameters. */
export function tool(
  spec: Pick<ToolMetadata<any>, "name" | "permission" | "access"> & Partial<ToolMetadata<any>>,
  parameters: readonly string[] = ["path"],
): Tool {
  return defineTool({
    description: "A tool of a test.",
    category: "read",
    parameters: {
      type: "object",
      properties: Object.fromEntries(parameters.map((name) => [name, { type: "string", description: name }])),
    },
    execute: () => "",
    ...spec,
  } as never);
}

/** The bundled tools' shapes. */
export const fileRead: Tool = tool({
  name: "file_read",
  permission: "read",
  access: ["read"],
  pathArg: "path",
  aliases: ["read_file", "read", "view"],
});
/** See above. */
export const listDir: Tool = tool({
  name: "list_dir",
  permission: "list",
  access: ["read"],
  pathArg: "path",
  aliases: ["ls"],
});
/** Its pattern may climb, so it names its paths itself. */
export const glob: Tool = tool({
  name: "glob",
  permission: "read",
  access: ["read"],
  paths: ({ pattern, path }) => [{ path: `${path ?? "."}/${String(pattern).split("*")[0]}`, access: "list" }],
}, ["pattern", "path"]);
/** Writes only. */
export const fileWrite: Tool = tool({
  name: "file_write",
  permission: "edit",
  access: ["write"],
  pathArg: "path",
  aliases: ["write_file", "write"],
}, ["path", "content"]);
/** Reads and writes. */
export const fileEdit: Tool = tool({
  name: "file_edit",
  permission: "edit",
  access: ["read", "write"],
  pathArg: "path",
  aliases: ["edit"],
}, ["path", "old", "new"]);
/** Takes commands. */
export const runCommand: Tool = tool({
  name: "run_command",
  permission: "bash",
  access: ["run"],
  pathArg: "cwd",
  commandArg: "command",
  programs: () => ["$shell"],
  aliases: { bash: {}, exec: {} },
}, ["command", "cwd"]);
/** Starts the program that its test names. */
export const codeTest: Tool = tool({
  name: "code_test",
  permission: "bash",
  access: ["run"],
  pathArg: "cwd",
  programs: (args) => args === null ? ["npm", "make"] : [String(args.target ?? "npm")],
}, ["target", "cwd"]);
/** Looks only, though it starts a program. */
export const git: Tool = tool({
  name: "git",
  permission: "read",
  access: ["run"],
  pathArg: "cwd",
  programs: () => ["git"],
  aliases: { git_status: {}, git_log: {} },
}, ["operation", "cwd"]);
/** Its resolver asks for `all`. */
export const gitCommit: Tool = tool({
  name: "git_commit",
  permission: "vcs",
  access: ["write", "run"],
  permissionFn: (args) => args.all ? { action: "ask", reason: "all files" } : null,
  programs: () => ["git"],
}, ["message", "all"]);
/** Gated by `read`, capped by `web`. */
export const webFetch: Tool = tool({
  name: "web_fetch",
  permission: "read",
  access: ["net"],
  urlArg: "url",
  aliases: ["open", "fetch_page"],
}, ["url"]);
/** Gated by `web` itself. */
export const webSearch: Tool = tool({ name: "web_search", permission: "web", access: ["net"] }, ["query"]);
/** Runs in the host and is never confirmed. */
export const ask: Tool = tool({ name: "ask", permission: "ask", access: [], confirm: false }, ["question"]);
/** Refines per role. */
export const delegate: Tool = tool({
  name: "delegate",
  permission: "delegate",
  access: [],
  permissionFn: (args) => args.role === "ghost" ? "deny" : "allow",
}, ["role"]);

/** All of the above. */
export const allTools: readonly Tool[] = [
  fileRead,
  listDir,
  glob,
  fileWrite,
  fileEdit,
  runCommand,
  codeTest,
  git,
  gitCommit,
  webFetch,
  webSearch,
  ask,
  delegate,
];

/** Settings over the defaults; `tool_permission` is merged, everything else replaced. */
export function settings(over: Record<string, unknown> = {}): Settings {
  const base = defaults();
  const permission = { ...base.tool_permission, ...over.tool_permission as Record<string, never> };
  return { ...base, ...over, tool_permission: permission } as Settings;
}

/** A checker of commands for tests: splits at `&&`, compares first words, and takes `> FILE` for a redirect. */
export function checkWords(
  command: string,
  context: { prefixes: readonly string[]; cwd: string },
): CommandPlan {
  if (command.includes("$(")) {
    return {
      mode: "tree",
      segments: [],
      refused: { construct: "a substitution", segment: command },
      programs: [],
      paths: [],
    };
  }
  const parts = command.split("&&").map((part) => part.trim()).filter((part) => part !== "");
  const segments = parts.map((text) => {
    const word = text.split(" ")[0]!;
    const allowed = context.prefixes.includes(word);
    return { text, allowed, reason: allowed ? word : `${word} is not allowed` };
  });
  const paths = parts.flatMap((text) => {
    const target = /> *(\S+)$/.exec(text)?.[1];
    return target
      ? [{ path: target.startsWith("/") ? target : `${context.cwd}/${target}`, access: "write" as const }]
      : [];
  });
  const programs = parts.map((text) => text.split(" ")[0]!);
  return { mode: "tree", tree: { chains: [] }, segments, programs, paths };
}

/** A policy's input on paths that need not exist. */
export function inputOf(over: Record<string, unknown> = {}, more: Partial<PolicyInput> = {}): PolicyInput {
  return {
    settings: settings(over),
    mode: "build",
    worktree: "/w",
    home: "/home/u",
    configDir: "/home/u/.config/polyglav",
    stateDir: "/home/u/.local/state/polyglav",
    shell: "/bin/sh",
    env: { PATH: "/usr/bin:/bin" },
    realPath: (path) => path,
    readLink: (path) => {
      throw new TypeError(`no link: ${path}`);
    },
    isProgram: (path) => path.startsWith("/usr/bin/") || path === "/bin/sh",
    checkCommand: checkWords,
    ...more,
  };
}

/** A policy from {@link inputOf}. */
export function policyOf(over: Record<string, unknown> = {}, more: Partial<PolicyInput> = {}): ToolPolicy {
  return new ToolPolicy(inputOf(over, more));
}

/** A row of a table of decisions. */
export type Row = readonly [
  name: string,
  over: Record<string, unknown>,
  tool: Tool,
  args: Record<string, unknown>,
  action: Action,
  rule: string,
];

/** One test per row: the action, the rule that decided, and that the trail says the same. */
export function testRows(rows: readonly Row[]): void {
  for (const [name, over, subject, args, action, rule] of rows) {
    Deno.test(`policy: ${name}`, () => {
      const decision = policyOf(over).resolve(subject, args);
      assert.deepEqual([decision.action, decision.rule], [action, rule], decision.reason);
      assert.ok(
        decision.trail.some((entry) =>
          entry.rule === rule && entry.action === action && entry.reason === decision.reason
        ),
        "the deciding rule is in the trail",
      );
      assert.doesNotMatch(decision.reason, /\n/);
    });
  }
}
