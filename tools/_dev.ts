/**
 * The project's own commands: what `code_test`, `code_lint` and `code_format` run, and why that.
 *
 * @module
 */
import { ToolError } from "../src/errors.ts";
import { join } from "../src/text/path.ts";
import {
  type PathUse,
  type ResolverAnswer,
  type ResolverInput,
  type ToolContext,
  type ToolResult,
  toolResult,
} from "../src/tool.ts";
import { commandResult, headOf, HELPERS, milliseconds, outputBytes, workingDirectory } from "./_command.ts";
import { detect } from "./_dev_detect.ts";

/** What is done. */
export type DevKind = "test" | "lint" | "format";

/** A command and where it comes from. */
export interface DevCommand {
  readonly argv: readonly string[];
  /** Shown in the result's head. */
  readonly why: string;
  /** How a target takes part: appended, after `--`, in place of the last word, or not at all. */
  readonly target: "append" | "after-dashes" | "replace-last" | "none";
}

/** Arguments of the three tools. */
export interface DevArguments {
  readonly target: string;
  readonly cwd?: string;
  readonly timeout: number;
}

/** The seed's commands, for projects that do not say. */
export const DEFAULTS: Readonly<Record<DevKind, string>> = {
  test: "python -m unittest discover",
  lint: "ruff check .",
  format: "ruff format .",
};

/** Programs that detection may choose. `env` finds Deno, which is never among the programs of a worker itself. */
const DETECTED: readonly string[] = [
  "env",
  "npm",
  "pnpm",
  "yarn",
  "bun",
  "cargo",
  "go",
  "gofmt",
  "make",
  "python",
  "python3",
  "pytest",
  "ruff",
  "black",
];

/** Configuration keys that the three tools read. */
export const DEV_KEYS: readonly string[] = [
  "dev.test_cmd",
  "dev.lint_cmd",
  "dev.format_cmd",
  "tool_max_result_chars",
  "tool_permission.bash_allow",
  "mode",
  "modes",
];

/** Programs that a tool may start with these settings. */
export function devPrograms(kind: DevKind, settings: Readonly<Record<string, unknown>>): readonly string[] {
  const configured = configuredOf((settings["dev"] as Record<string, unknown> | undefined)?.[`${kind}_cmd`]);
  const first = configured && !("problem" in configured) ? configured[0] : undefined;
  if (first === undefined) return [...DETECTED, ...HELPERS];
  return [
    ...new Set([...launched([first]), ...pythons(first)].filter((word) => word !== "deno")),
    ...HELPERS,
  ];
}

/**
 * Under an allowlist a configured command must be on it, as a command line of `run_command` must, and cannot be Deno,
 * which no list lets through. Without one, `bash` gates these tools and a shell that could start anything alike, so that
 * starting Deno by `env` adds nothing.
 */
export function devPermission(kind: DevKind, { settings, permission }: ResolverInput): ResolverAnswer {
  const own = settings["tool_permission"] as Record<string, unknown> | undefined;
  const list = (permission ?? own)?.["bash_allow"];
  const argv = configuredOf((settings["dev"] as Record<string, unknown> | undefined)?.[`${kind}_cmd`]);
  if (!argv || "problem" in argv) return null;
  if (isDeno(argv) && Array.isArray(list) && list.length > 0) {
    return { action: "deny", reason: UNLISTED_DENO };
  }
  if (listed(argv, list)) return null;
  return { action: "deny", reason: `dev.${kind}_cmd is not on tool_permission.bash_allow` };
}

/** The paths that a call touches. */
export function devPaths(kind: DevKind, { target, cwd }: Partial<DevArguments>): PathUse[] {
  const uses: PathUse[] = cwd ? [{ path: cwd, access: "list" }] : [];
  const file = target?.split("::", 1)[0];
  if (!file) return uses;
  const path = cwd && !file.startsWith("~") ? join(cwd, file) : file;
  return [...uses, { path, access: kind === "format" ? "write" : "read" }];
}

/** Runs the project's command. */
export async function runDev(kind: DevKind, args: DevArguments, context: ToolContext): Promise<ToolResult> {
  const { cwd, timeout } = args, target = args.target.trim();
  const limit = milliseconds(timeout);
  if (target.startsWith("-")) {
    throw new ToolError(
      `target must not be an option, got ${JSON.stringify(target)}; options belong into dev.${kind}_cmd`,
      "invalid_arguments",
    );
  }
  const directory = workingDirectory(context.workspace, cwd);
  const chosen = choose(kind, context, directory);
  const argv = withTarget(chosen, target, kind);
  checkAllowlist(kind, argv, context);
  const command = argv.join(" ");
  const result = await start(kind, argv, context, {
    cwd: directory,
    timeout: limit,
    maxBytes: outputBytes(context.config["tool_max_result_chars"], headOf(command, cwd)),
  });
  const after: string[] = [];
  const none = kind === "test" && target !== "" &&
    (result.code === 5 || /^(Ran 0 tests|NO TESTS RAN|collected 0 items)/m.test(result.output));
  if (none) after.push(`Error: no tests matched "${target}" (exit ${result.code})`);
  const report = commandResult({ command, cwd, why: [`[${chosen.why}]`], after, result, timeout });
  return none ? toolResult(report.content, { ...report.details, failed: true }) : report;
}

function choose(kind: DevKind, context: ToolContext, directory: string): DevCommand {
  const key = `dev.${kind}_cmd`, configured = configuredOf(context.config[key]);
  if (configured && "problem" in configured) {
    throw new ToolError(`${key} ${configured.problem}`, "invalid_arguments");
  }
  if (configured) {
    const isDefault = configured.join(" ") === DEFAULTS[kind];
    const discover = kind === "test" && /(^| )-m unittest discover$/.test(configured.join(" "));
    return {
      argv: configured,
      why: `configured: ${key}`,
      target: discover || (isDefault && configured.at(-1) === ".") ? "replace-last" : "append",
    };
  }
  return detect(kind, context.workspace, directory) ?? {
    argv: DEFAULTS[kind].split(" "),
    why: `default: no project file says how; set ${key} to change it`,
    target: "replace-last",
  };
}

function withTarget({ argv, target: how, why }: DevCommand, target: string, kind: DevKind): string[] {
  if (target === "") return [...argv];
  switch (how) {
    case "append":
      return [...argv, target];
    case "after-dashes":
      return [...argv, "--", target];
    case "replace-last":
      return [...argv.slice(0, -1), target];
    case "none":
      throw new ToolError(
        `${
          argv.join(" ")
        } takes no target (${why}); leave target out, or set dev.${kind}_cmd to a command that takes one`,
        "invalid_arguments",
      );
  }
}

async function start(
  kind: DevKind,
  argv: readonly string[],
  context: ToolContext,
  options: Parameters<ToolContext["exec"]>[1],
) {
  const program = argv[0]!;
  for (const name of pythons(program)) {
    try {
      return await context.exec(launched([name, ...argv.slice(1)]), options);
    } catch (error) {
      if (
        !(error instanceof ToolError) || error.kind !== "not_found" ||
        !error.message.startsWith("command not")
      ) {
        throw error;
      }
    }
  }
  throw new ToolError(
    `command not found: ${program} (install it so that it is on PATH, or set dev.${kind}_cmd to the project's own command)`,
    "not_found",
  );
}

/** The interpreter goes by two names. */
function pythons(program: string): string[] {
  return program === "python"
    ? ["python", "python3"]
    : program === "python3"
    ? ["python3", "python"]
    : [program];
}

const UNLISTED_DENO =
  "under tool_permission.bash_allow nothing starts Deno, which could start anything; run it where bash is allowed without a list";

function isDeno([program = ""]: readonly string[]): boolean {
  return /(^|[\\/])deno(\.exe)?$/i.test(program);
}

/** Deno is no worker's own program (whoever may start it may start it without limits); `env` finds it as a shell would. */
function launched(argv: readonly string[]): string[] {
  return argv[0] === "deno" ? ["env", ...argv] : [...argv];
}

function configuredOf(value: unknown): string[] | { problem: string } | null {
  if (typeof value !== "string" || value.trim() === "") return null;
  return splitWords(value);
}

function checkAllowlist(kind: DevKind, argv: readonly string[], { config }: ToolContext): void {
  const modes = config["modes"] as Record<string, { tool_permission?: Record<string, unknown> }> | undefined;
  const mode = modes?.[String(config["mode"] ?? "build")]?.tool_permission?.["bash_allow"];
  for (const list of [config["tool_permission.bash_allow"], mode]) {
    if (isDeno(argv) && Array.isArray(list) && list.length > 0) {
      throw new ToolError(UNLISTED_DENO, "permission");
    }
    if (listed(argv, list) || listed(shortForm(argv), list)) continue;
    throw new ToolError(
      `code_${kind} would run "${argv.join(" ")}", which tool_permission.bash_allow does not list: ${
        (list as string[]).join(", ")
      }`,
      "permission",
    );
  }
}

/** `npm run test` is `npm test`, and an entry may say it either way. */
function shortForm(argv: readonly string[]): readonly string[] {
  const [program = "", verb, script, ...rest] = argv;
  const same = verb === "run" && script === "test" && /^(npm|pnpm|yarn)$/.test(program);
  return same ? [program, script, ...rest] : argv;
}

/** Whether an entry matches word by word; no list lets everything through. */
function listed(argv: readonly string[], list: unknown): boolean {
  if (!Array.isArray(list) || list.length === 0) return true;
  return list.some((entry) => {
    const words = typeof entry === "string" ? entry.trim().split(/\s+/).filter(Boolean) : [];
    return words.length > 0 && words.every((word, i) => argv[i] === word);
  });
}

/**
 * Splits a command as a shell does (quotes and backslashes), without expanding anything. An operator is a problem, because
 * no shell will see it.
 */
export function splitWords(text: string): string[] | { problem: string } {
  const words: string[] = [];
  let word: string | null = null, quote = "";
  for (let i = 0; i < text.length; i++) {
    const c = text[i]!;
    if (quote !== "") {
      if (c === quote) quote = "";
      else if (c === "\\" && quote === '"' && /["\\$`]/.test(text[i + 1] ?? "")) word += text[++i]!;
      else word += c;
    } else if (/\s/.test(c)) {
      if (word !== null) words.push(word);
      word = null;
    } else if (c === "'" || c === '"') {
      quote = c;
      word ??= "";
    } else if (c === "\\" && i + 1 < text.length) word = (word ?? "") + text[++i]!;
    else if (/[;&|<>`]/.test(c) || (c === "$" && text[i + 1] === "(")) {
      return {
        problem: `holds ${JSON.stringify(c)}, but it is started without a shell; write sh -c '...' around it`,
      };
    } else word = (word ?? "") + c;
  }
  if (quote !== "") return { problem: `has a ${quote} that is not closed` };
  if (word !== null) words.push(word);
  return words.length > 0 && words[0] !== "" ? words : { problem: "names no program" };
}
