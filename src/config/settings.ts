/**
 * The effective configuration as one nested value. What each key means, its default and what a project file may do
 * with it stand in schema.ts.
 *
 * @module
 */
import type { Action } from "../tool.ts";

/** Actions by permission key, with the command lists beside them. */
export interface ToolPermission {
  /** `allow`, `ask` or `deny` by permission key. */
  readonly [key: string]: Action | readonly string[] | undefined;
  /** Prefixes that every segment of a command must match; empty: no restriction. */
  readonly bash_allow?: readonly string[];
  /** Prefixes under which a command runs without asking when every segment matches. */
  readonly bash_auto?: readonly string[];
}

/** What a mode lays over the base policy. */
export interface ModeSpec {
  readonly system_prompt?: string;
  readonly tool_permission?: ToolPermission;
  readonly tools?: { readonly allow?: readonly string[]; readonly deny?: readonly string[] };
}

/** The modes that are there without any configuration; the user's own entries merge into them. */
export const BUILT_IN_MODES: Readonly<Record<"build" | "plan", ModeSpec>> = {
  build: {},
  plan: {
    system_prompt:
      "You are in plan mode, which is read-only: look at the project with the tools that read and search, change " +
      "nothing and run no commands. Answer with a plan: what to change, where, in which order, and how to check it. " +
      "Leave the work itself until the user switches the mode.",
    tool_permission: { bash: "deny", edit: "deny", mcp: "deny", vcs: "deny" },
  },
};

/** One path rule; the last one that matches wins. */
export interface PathRule {
  /** Glob: relative ones are anchored to the worktree, a pattern without `/` matches any name below it; absolute and `~/` ones match anywhere. */
  readonly path: string;
  /** `write` rules gate writing; `read` rules gate reading content. */
  readonly access: "read" | "write";
  readonly action: Action;
}

/** What a model costs, in dollars per million tokens: of what is sent, and of what comes back. */
export type Price = readonly [input: number, output: number];

/** A call that a person said yes to once and for all: this tool with these arguments, and nothing else. */
export interface ConsentCall {
  /** The tool's canonical name. */
  readonly tool: string;
  readonly arguments: { readonly [name: string]: unknown };
  /** Places outside the worktree that it touches, canonical; the yes holds as long as the call leads there. */
  readonly paths?: readonly { readonly path: string; readonly access: "list" | "read" | "write" }[];
}

/** The effective configuration. */
export interface Settings {
  readonly provider: string;
  readonly base_url: string;
  readonly model: string;
  readonly reasoning: "auto" | "off" | "low" | "medium" | "high";
  /** 0: the provider's default. */
  readonly max_tokens: number;
  /** Null: not sent. */
  readonly temperature: number | null;
  /** Tokens of the model's window; 0: unknown. */
  readonly context_window: number;
  readonly system_prompt: string;
  readonly mode: string;
  readonly modes: { readonly [name: string]: ModeSpec };
  readonly tool_calling: boolean;
  readonly tools: { readonly allow: readonly string[]; readonly deny: readonly string[] };
  readonly tool_permission: ToolPermission;
  readonly grant_permission: { readonly [key: string]: Action };
  readonly ask_policy: {
    readonly permission: "auto" | "human" | "deny";
    readonly direction: "auto" | "human" | "lead";
  };
  readonly path_rules: readonly PathRule[];
  /** What a person said yes to for good: no question is asked where nothing but the tool's category asks. */
  readonly consent: { readonly tools: readonly string[]; readonly calls: readonly ConsentCall[] };
  readonly web: { readonly hosts: readonly string[]; readonly private: boolean };
  readonly search: { readonly provider: string; readonly url: string };
  readonly search_results: number;
  readonly exec: {
    readonly confine: "auto" | "require" | "off";
    readonly env: { readonly [name: string]: string };
    readonly writable: readonly string[];
  };
  /** Empty: found from the project. */
  readonly dev: { readonly test_cmd: string; readonly lint_cmd: string; readonly format_cmd: string };
  readonly delegate: { readonly parallel: number; readonly max_depth: number };
  readonly max_team_depth: number;
  readonly memory: boolean;
  readonly project_instructions: string;
  readonly tool_status_visible: boolean;
  readonly glyph_lines: boolean;
  readonly glyph_params: boolean;
  readonly show_errors: boolean;
  readonly show_notes: boolean;
  readonly show_thinking: boolean;
  /** `bell`: seconds after which the end of a turn rings, and questions do; 0: nothing rings. */
  readonly terminal: { readonly title: boolean; readonly bell: number };
  /** By the model's name. */
  readonly prices: { readonly [model: string]: Price };
  readonly tool_analysis: boolean;
  /** 0: unlimited. */
  readonly tool_max_result_chars: number;
  /** 0: unlimited. */
  readonly list_dir_max_entries: number;
  /** 0: unlimited. */
  readonly session_tool_max_chars: number;
  readonly noise_tools: readonly string[];
  readonly query_refine: boolean;
  readonly query_refine_min_words: number;
  readonly query_refine_context: number;
  readonly auto_continue_max: number;
  readonly stream_retries: number;
  /** Seconds; the base of the backoff. */
  readonly stream_retry_delay: number;
  /** Seconds; 0: waits for ever. */
  readonly confirm_timeout: number;
  /** Rounds of one turn. */
  readonly max_rounds: number;
  /** Share of the window at which the context is compacted; 0: never. */
  readonly compact_threshold: number;
  /** MCP servers: always empty as long as the program speaks no MCP (anything else is an error that says so). */
  readonly mcp?: { readonly servers: readonly unknown[] };
  /** Settings of plugins by plugin name; each plugin reads its own. */
  readonly plugins?: { readonly [name: string]: unknown };
}
