/**
 * The rows of the configuration's one table, see {@link SCHEMA}.
 *
 * @module
 */
import type { Json } from "../tool.ts";
import type { NarrowRule, SchemaEntry } from "./schema.ts";
import { BUILT_IN_MODES, type Settings } from "./settings.ts";

/** One key without its name. */
export type Row = Omit<SchemaEntry, "key" | "default" | "project" | "narrow"> & {
  readonly default?: Json;
  /** `[rule]`: narrow by that rule; left out: none. */
  readonly project?: "set" | readonly [NarrowRule];
};

/** Names of `T` that are spelled out, without its index signature. */
type Known<T> =
  & keyof { [K in keyof T as string extends K ? never : number extends K ? never : K]: 1 }
  & string;
type Dotted<P extends string, K extends string> = P extends "" ? K : `${P}.${K}`;
/** Dotted keys of all leaves of `T`; an index signature is `*`. */
type Leaves<T, P extends string = ""> = unknown extends T ? P
  : T extends readonly unknown[] | string | number | boolean | null ? P
  :
    | { [K in Known<T>]: Leaves<Exclude<T[K & keyof T], undefined>, Dotted<P, K>> }[Known<T>]
    | (string extends keyof T ? Leaves<Exclude<T[string & keyof T], undefined>, Dotted<P, "*">> : never);

type Carve =
  | "ask"
  | "bash"
  | "catalog"
  | "delegate"
  | "edit"
  | "handoff"
  | "list"
  | "mcp"
  | "read"
  | "team"
  | "todo"
  | "vcs"
  | "web";
/** Every key of the table. */
export type TableKey = Leaves<Settings> | `tool_permission.${Carve}`;

const ACTIONS = ["deny", "ask", "allow"] as const;
const carve = (action: "allow" | "ask", doc: string): Row => ({
  type: "action",
  default: action,
  doc,
  enum: ACTIONS,
  project: ["lower"],
});
const flag = (value: boolean, doc: string, project?: Row["project"], only?: boolean): Row => ({
  type: "boolean",
  default: value,
  doc,
  project,
  only,
});
const count = (value: number, min: number, doc: string, project?: Row["project"]): Row => ({
  type: "integer",
  default: value,
  doc,
  project,
  min,
  unlimited: /0: unlimited/.test(doc) || undefined,
});
const text = (value: string, doc: string, project?: Row["project"], only?: string): Row => ({
  type: "string",
  default: value,
  doc,
  project,
  only,
});

/** A missing or a surplus key is a type error: the keys are the leaves of {@link Settings}. */
export const TABLE: Readonly<Record<TableKey, Row>> = {
  provider: text(
    "auto",
    "Who answers: auto, openai, ollama, groq, anthropic, openrouter, openai-compatible or replay.",
  ),
  base_url: text("", "Address of the provider's API; empty: the provider's own."),
  model: text("", "Name of the model; empty: the provider's default."),
  reasoning: {
    type: "string",
    default: "auto",
    enum: ["auto", "off", "low", "medium", "high"],
    doc: "How much the model thinks before it answers.",
  },
  max_tokens: count(0, 0, "Most tokens of one answer; 0: the provider's default."),
  temperature: {
    type: "number or null",
    default: null,
    min: 0,
    max: 2,
    doc: "Sampling temperature; null: not sent.",
  },
  context_window: count(0, 0, "Tokens that the model's window holds; 0: unknown."),
  system_prompt: text("", "Text that goes to the model before everything else."),
  mode: text("build", "Mode to start in; one of the names in modes.", ["mode"]),
  "modes.*.system_prompt": text("", "What the model is told in this mode."),
  "modes.*.tool_permission.*": {
    type: "action",
    enum: ACTIONS,
    project: ["lower"],
    doc: "Action by permission key in this mode; it wins over tool_permission.",
  },
  "modes.*.tool_permission.bash_allow": {
    type: "prefixes",
    project: ["restrict"],
    doc: "Replaces tool_permission.bash_allow in this mode.",
  },
  "modes.*.tool_permission.bash_auto": {
    type: "prefixes",
    doc: "Replaces tool_permission.bash_auto in this mode.",
  },
  "modes.*.tools.allow": {
    type: "names",
    project: ["restrict"],
    doc: "Replaces tools.allow in this mode when it is not empty.",
  },
  "modes.*.tools.deny": {
    type: "names",
    project: ["append"],
    doc: "Tools that are denied in this mode as well.",
  },
  tool_calling: flag(true, "Offer tools to the model.", ["only"], false),
  "tools.allow": {
    type: "names",
    default: [],
    project: ["restrict"],
    doc: "When not empty, only these tools may be called.",
  },
  "tools.deny": {
    type: "names",
    default: [],
    project: ["append"],
    doc: "Tools that may never be called; wins over tools.allow.",
  },
  "tool_permission.ask": carve("allow", "Asking the human or the lead agent."),
  "tool_permission.bash": carve("ask", "Running commands: run_command and the dev tools."),
  "tool_permission.catalog": carve("allow", "Reading and saving roles, teams and skills."),
  "tool_permission.delegate": carve("allow", "Running a task under a role."),
  "tool_permission.edit": carve("allow", "Writing and editing files."),
  "tool_permission.handoff": carve("allow", "Handing control to another run."),
  "tool_permission.list": carve("allow", "Listing directories."),
  "tool_permission.mcp": carve("ask", "Tools of MCP servers."),
  "tool_permission.read": carve("allow", "Reading and searching files."),
  "tool_permission.team": carve("allow", "Running a team."),
  "tool_permission.todo": carve("allow", "Keeping the list of things to do."),
  "tool_permission.vcs": carve("ask", "Staging and committing with git."),
  "tool_permission.web": carve("allow", "Searching and reading the web."),
  "tool_permission.*": {
    type: "action",
    enum: ACTIONS,
    project: ["lower"],
    doc: "Action of a permission key that a plugin brings; without one it is ask.",
  },
  "tool_permission.bash_allow": {
    type: "prefixes",
    default: [],
    project: ["restrict"],
    doc: "Beginnings of commands; when not empty, every part of a command must match one.",
  },
  "tool_permission.bash_auto": {
    type: "prefixes",
    default: [],
    doc: "Beginnings of commands that run without asking when every part of a command matches one.",
  },
  "grant_permission.*": {
    type: "action",
    enum: ACTIONS,
    project: ["ceiling"],
    doc: "Most that may be granted to sub-agents, by permission key; none: what the caller may do.",
  },
  "ask_policy.permission": {
    type: "string",
    default: "auto",
    enum: ["deny", "human", "auto"],
    project: ["earlier"],
    doc: "Who decides a sub-agent's request for a permission: auto (its lead), human, or deny.",
  },
  "ask_policy.direction": {
    type: "string",
    default: "human",
    enum: ["auto", "human", "lead"],
    doc: "Who answers a question about the work: human, lead, or auto (the lead, where there is one).",
  },
  path_rules: {
    type: "rules",
    default: [],
    project: ["rules"],
    doc:
      "Rules by path, read after the built-in ones (.git, .polyglav, keys and secrets); the last match wins.",
  },
  "consent.tools": {
    type: "names",
    default: [],
    doc: "Tools whose calls need no yes where only their permission key asks; never lifts a rule or a deny.",
  },
  "consent.calls": {
    type: "calls",
    default: [],
    doc:
      "Single calls, with all their arguments, that need no yes; written by the answer always to a question.",
  },
  "web.hosts": {
    type: "hosts",
    default: [],
    project: ["restrict"],
    doc: "Hosts that web tools may reach (*.example.com: all below); empty: any public host.",
  },
  "web.private": flag(
    false,
    "Let web tools reach loopback and private addresses without asking.",
    ["only"],
    false,
  ),
  "search.provider": {
    type: "string",
    default: "duckduckgo",
    enum: ["duckduckgo", "searxng", "brave", "tavily", "none"],
    doc: "Who searches the web.",
  },
  "search.url": text("", "Address of the searxng instance."),
  search_results: { ...count(5, 1, "Results of a web search.", ["lower"]), max: 50 },
  "exec.confine": {
    type: "string",
    default: "auto",
    enum: ["require", "auto", "off"],
    project: ["earlier"],
    doc: "Confine commands by the operating system: auto (where it can), require (or refuse), off.",
  },
  "exec.env.*": { type: "string", doc: "A variable that commands get in addition." },
  "exec.writable": {
    type: "names",
    default: [
      "~/.bun/install/cache",
      "~/.cache/deno",
      "~/.cache/go-build",
      "~/.cache/node",
      "~/.cache/pip",
      "~/.cache/pnpm",
      "~/.cache/pypoetry",
      "~/.cache/ruff",
      "~/.cache/uv",
      "~/.cache/yarn",
      "~/.cargo/git",
      "~/.cargo/registry",
      "~/.gradle/caches",
      "~/.local/share/pnpm/store",
      "~/.m2/repository",
      "~/.npm/_cacache",
      "~/.npm/_logs",
      "~/Library/Caches/deno",
      "~/Library/Caches/go-build",
      "~/Library/Caches/pip",
      "~/Library/Caches/Yarn",
      "~/Library/pnpm/store",
      "~/go/pkg",
    ],
    doc:
      "Directories outside the worktree that confined commands may write, such as caches of package managers.",
  },
  "dev.test_cmd": text("", "Command of code_test; empty: found from the project."),
  "dev.lint_cmd": text("", "Command of code_lint; empty: found from the project."),
  "dev.format_cmd": text("", "Command of code_format; empty: found from the project."),
  "delegate.parallel": count(4, 1, "Read-only delegations that run at the same time.", ["lower"]),
  "delegate.max_depth": count(3, 0, "How deep sub-agents may delegate.", ["lower"]),
  max_team_depth: count(2, 0, "How deep teams may run teams; 0: unlimited.", ["lower"]),
  memory: flag(false, "Not available yet: roles and teams keep no memory of their runs.", ["only"], false),
  project_instructions: text(
    "AGENTS.md",
    "File in the worktree whose text goes to the model; empty: none.",
    ["only"],
    "",
  ),
  tool_status_visible: flag(true, "Show what tools do.", ["only"], true),
  glyph_lines: flag(true, "Activity lines with a glyph and a verb, else [tool: argument].", "set"),
  glyph_params: flag(true, "Show a call's other arguments behind its line and in prompts.", ["only"], true),
  show_errors: flag(true, "Show the first line of a failed call's result.", ["only"], true),
  show_notes: flag(true, "Show short notes that a tool returns instead of content.", ["only"], true),
  show_thinking: flag(false, "Show what the model thinks; else only how long it thought."),
  "terminal.title": flag(true, "Set the title of the terminal's window."),
  "terminal.bell": {
    type: "number",
    default: 0,
    min: 0,
    max: 86_400,
    doc: "Ring the bell when a question waits, and when a turn of at least so many seconds ends; 0: never.",
  },
  "prices.*": {
    type: "price",
    doc: "Dollars per million tokens of a model, by its name: [of what is sent, of what comes back].",
  },
  tool_analysis: flag(
    false,
    "One line by the model about each result, for the log (one more request).",
    ["only"],
    false,
  ),
  tool_max_result_chars: count(100_000, 0, "Most characters of a tool's result; 0: unlimited.", ["lower"]),
  list_dir_max_entries: count(200, 0, "Most entries that list_dir returns; 0: unlimited.", "set"),
  session_tool_max_chars: count(
    0,
    0,
    "Most characters of a tool's result kept in session files; 0: unlimited.",
  ),
  noise_tools: {
    type: "names",
    default: ["web_fetch", "open", "fetch_page"],
    doc: "Tools whose results session files replace by a marker.",
  },
  query_refine: flag(
    false,
    "Let the model improve short search queries (one more request).",
    ["only"],
    false,
  ),
  query_refine_min_words: count(3, 0, "Queries of at most this many words are improved."),
  query_refine_context: count(4, 0, "Recent messages that the improvement looks at."),
  auto_continue_max: count(2, 0, "How often an answer that was cut for length is continued.", ["lower"]),
  stream_retries: count(2, 0, "How often a failed request is repeated.", ["lower"]),
  stream_retry_delay: {
    type: "number",
    default: 0.5,
    min: 0,
    max: 600,
    doc: "Seconds before the first repetition; doubles each time.",
  },
  confirm_timeout: {
    type: "number",
    default: 0,
    min: 0,
    max: 604_800,
    doc: "Seconds after which a question counts as declined; 0: waits for ever.",
  },
  max_rounds: count(100, 1, "Rounds of requests in one turn.", ["lower"]),
  compact_threshold: {
    type: "number",
    default: 0.8,
    min: 0,
    max: 1,
    doc: "Share of the window at which the context is compacted; 0: never.",
  },
  "mcp.servers": {
    type: "none",
    default: [],
    doc: "MCP is not available yet: anything but an empty list is an error.",
  },
  "plugins.*": { type: "any", doc: "Settings of a plugin, by its name." },
};

/** The modes that are always there, as dotted keys; the user's configuration merges into them. */
export const MODES: Readonly<Record<string, Readonly<Record<string, Json>>>> = Object.fromEntries(
  Object.entries(BUILT_IN_MODES).map(([name, { system_prompt, tool_permission = {} }]) => [name, {
    ...(system_prompt === undefined ? {} : { system_prompt }),
    ...Object.fromEntries(
      Object.entries(tool_permission).map(([key, value]) => [`tool_permission.${key}`, value as Json]),
    ),
  }]),
);
