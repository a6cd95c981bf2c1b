/**
 * `git_commit`: stages and commits, nothing else.
 *
 * @module
 */
import { ToolError } from "../src/errors.ts";
import { isAbsolute, isWithin, join, normalize } from "../src/text/path.ts";
import {
  defineTool,
  type ExecResult,
  type Tool,
  type ToolContext,
  type ToolResult,
  toolResult,
} from "../src/tool.ts";
import { commandResult, HELPERS } from "./_command.ts";
import { checkWord, failureOf, GIT_TIMEOUT, gitPaths, oneLine, pathspec, Repository } from "./_git.ts";

/** Seconds for a commit whose hooks run (they may run the project's tests). */
const HOOK_TIMEOUT = 300;

interface CommitArguments {
  readonly operation: "add" | "commit";
  readonly message?: string;
  readonly path?: string;
  readonly all: boolean;
  readonly cwd?: string;
}

/** Stages and commits; asks unless `vcs` is `allow`, and always where everything would be staged. */
export const gitCommit: Tool = defineTool({
  name: "git_commit",
  description: "Stage files (add) or commit. No push, merge or checkout.",
  category: "write",
  permission: "vcs",
  access: ["run"],
  permissionFn(args, { readOnly }) {
    if (readOnly) return { action: "deny", reason: "this mode changes nothing" };
    const why = sweeps(args);
    return why === null ? null : { action: "ask", reason: why };
  },
  paths: (args) => gitPaths(args, args.all),
  // `setsid`: a session for less than a fork costs; beside git, which can start anything, it adds no power.
  programs: () => ["git", "setsid", ...HELPERS],
  keyArg: "operation",
  glyph: "⎇",
  verb: "Git",
  short: "Stage and commit",
  aliases: { commit: { operation: "commit" } },
  paramAliases: { msg: "message", message_text: "message" },
  configKeys: [
    "tool_permission.bash",
    "tool_permission.bash_allow",
    "tools.deny",
    "tools.allow",
    "mode",
    "modes",
  ],
  timeout: (HOOK_TIMEOUT + 4 * GIT_TIMEOUT) * 1000,
  truncate: "middle",
  parameters: {
    type: "object",
    properties: {
      operation: { type: "string", enum: ["add", "commit"], description: "What to do.", default: "commit" },
      message: { type: "string", description: "Commit message." },
      path: {
        type: "string",
        description: "File or directory to stage; with commit, only that is committed.",
      },
      all: { type: "boolean", description: "Stage every change.", default: false },
      cwd: { type: "string", description: "Working directory." },
    },
  },
  async execute(args: CommitArguments, context) {
    const { operation, message, path, all, cwd } = args;
    checkWord("path", path);
    if (operation === "commit" && !message?.trim()) throw invalid("commit requires a message");
    if (message?.includes("\0")) throw invalid("message must not hold NUL characters");
    if (operation === "add" && !all && !path) throw invalid("add requires a path or all=true");
    const repository = await Repository.open(context, cwd);
    const top = await repository.top();
    const run = new Run(repository, context, cwd, programsAllowed(context.config));
    if (all) await run.stage(["-A", ...(isAbove(top, context.worktree) ? ["--", "."] : [])], ["-A"]);
    else if (path) {
      refuseWhole(path, args, top, context);
      await run.stage(["--", pathspec(path)], [path]);
    }
    if (operation === "commit" && !run.failed) await run.commit(message!, all ? undefined : path);
    return run.result();
  },
});

/** One call: its steps and what came of them. */
class Run {
  readonly #repository: Repository;
  readonly #context: ToolContext;
  readonly #cwd: string | undefined;
  readonly #programs: boolean;
  readonly #steps: ToolResult[] = [];

  constructor(repository: Repository, context: ToolContext, cwd: string | undefined, programs: boolean) {
    this.#repository = repository;
    this.#context = context;
    this.#cwd = cwd;
    this.#programs = programs;
  }

  get failed(): boolean {
    return this.#steps.at(-1)?.details?.failed === true;
  }

  async stage(args: string[], shown: string[]): Promise<void> {
    if (!this.#programs) await this.#refuseFiltered(args);
    this.#add(["add", ...shown], await this.#repository.run(["add", ...args], { programs: this.#programs }));
  }

  async commit(message: string, path: string | undefined): Promise<void> {
    const only = path ? ["--", pathspec(path)] : [];
    const shown = ["commit", "-m", message.split("\n", 1)[0]!, ...(path ? ["--", path] : [])];
    const notes = this.#programs ? [] : await this.#skippedHooks();
    if (this.#repository.setting("commit.gpgsign") === "true") {
      notes.push("not signed: git_commit starts no gpg");
    }
    // With nothing to commit, git would look through the submodules, by their own configuration.
    const staged = await this.#repository.run([
      "diff",
      "--cached",
      "--quiet",
      "--no-ext-diff",
      "--",
      ...(path ? [pathspec(path)] : []),
    ]);
    if (staged.code === 0 && !await this.#merging()) {
      return this.#add(shown, {
        ...staged,
        code: 1,
        output: "nothing to commit: nothing is staged",
        notes: [],
      });
    }
    const result = await this.#repository.run(
      ["commit", "--no-edit", "--no-gpg-sign", "--no-status", "-m", message, ...only],
      { programs: this.#programs, timeout: this.#programs ? HOOK_TIMEOUT : GIT_TIMEOUT },
    );
    this.#add(shown, { ...result, notes: [...result.notes, ...notes] });
  }

  result(): ToolResult {
    const last = this.#steps.at(-1)!;
    return toolResult(this.#steps.map((step) => step.content).join("\n"), last.details);
  }

  #add(shown: string[], result: ExecResult): void {
    const failure = failureOf(result);
    if (failure) throw failure;
    this.#steps.push(commandResult({
      command: `git ${shown.join(" ")}`,
      cwd: this.#cwd,
      result,
      timeout: GIT_TIMEOUT,
      what: "git command",
    }));
  }

  async #merging(): Promise<boolean> {
    const head = await this.#repository.run(["rev-parse", "--verify", "--quiet", "MERGE_HEAD"]);
    return head.code === 0;
  }

  /** Without its filter a file would be stored as what it is not (a large file instead of its pointer). */
  async #refuseFiltered(args: readonly string[]): Promise<void> {
    const names = this.#repository.names("filter");
    if (names.length === 0) return;
    const dry = await this.#repository.run([
      "ls-files",
      "-z",
      "-m",
      "-o",
      "--exclude-standard",
      ...(args.includes("--") ? args.filter((word) => word !== "-A") : ["--", ":/"]),
    ], {
      raw: true,
      maxBytes: 4 << 20,
    });
    const files = dry.output.split("\0").filter((name) => name !== "");
    for (let at = 0; at < files.length; at += 200) {
      const some = files.slice(at, at + 200);
      const attributes = await this.#repository.run(["check-attr", "-z", "filter", "--", ...some], {
        raw: true,
        maxBytes: 4 << 20,
      });
      const words = attributes.output.split("\0");
      for (let i = 0; i + 2 < words.length; i += 3) {
        if (!names.includes(words[i + 2]!)) continue;
        throw new ToolError(
          `${words[i]} goes through the filter "${
            words[i + 2]
          }", a program that the configuration names; git_commit runs it only where tool_permission.bash is "allow"`,
          "permission",
        );
      }
    }
  }

  async #skippedHooks(): Promise<string[]> {
    const place = await this.#repository.run(["rev-parse", "--git-path", "hooks"], {
      raw: true,
      plain: true,
    });
    if (place.code !== 0) return [];
    const directory = place.output.replace(/\r?\n$/, "");
    const path = isAbsolute(directory) ? directory : join(this.#repository.directory, directory);
    try {
      const { workspace } = this.#context;
      const hooks = workspace.readDirectory(path).map((entry) => entry.name).filter((name) =>
        HOOKS.has(name) && ((workspace.status(join(path, name))?.mode ?? 0) & 0o111) !== 0
      );
      if (hooks.length === 0) return [];
      return [
        `hooks were not run (${
          hooks.sort().join(", ")
        }): they run only where tool_permission.bash is "allow"`,
      ];
    } catch {
      // They lie where this call may not look.
      return [
        `hooks in ${
          oneLine(directory)
        }, if any, were not run: they run only where tool_permission.bash is "allow"`,
      ];
    }
  }
}

/** Hooks that a commit starts. */
const HOOKS: ReadonlySet<string> = new Set([
  "pre-commit",
  "prepare-commit-msg",
  "commit-msg",
  "post-commit",
  "post-index-change",
  "reference-transaction",
]);

/** Why a call stages more than it names, or null. */
function sweeps({ all, path }: { all?: boolean; path?: string }): string | null {
  if (all) return "all=true stages every change";
  if (path === undefined || path === "") return null;
  const whole = /^[-:]/.test(path) || /[*?[\]\\]/.test(path) || path.startsWith("~");
  const plain = normalize(path);
  if (whole || plain === "." || plain === "/" || /^(\.\.\/)*\.\.$/.test(plain)) {
    return `the path ${JSON.stringify(path)} stages whatever it covers, like all=true`;
  }
  return null;
}

/** A path that names the whole worktree in some other way (absolute, through a link) was not asked about as such. */
function refuseWhole(
  path: string,
  args: CommitArguments,
  top: string,
  { workspace, worktree }: ToolContext,
): void {
  if (sweeps(args) !== null) return;
  const real = workspace.resolve(join(args.cwd || ".", path), "read");
  if (isWithin(worktree, real) || isWithin(top, real)) {
    throw invalid(`the path ${JSON.stringify(path)} is the whole worktree; pass all=true`);
  }
}

/** Whether `path` is truly above `directory`. */
function isAbove(path: string, directory: string): boolean {
  return path !== directory && isWithin(directory, path);
}

/** Whether the repository's own programs may run: where the model could run any command without asking. */
function programsAllowed(config: Readonly<Record<string, unknown>>): boolean {
  const modes = config["modes"] as Record<string, { tool_permission?: Record<string, unknown> }> | undefined;
  const mode = modes?.[String(config["mode"] ?? "build")]?.tool_permission ?? {};
  const bash = mode["bash"] ?? config["tool_permission.bash"];
  const list = (mode["bash_allow"] ?? config["tool_permission.bash_allow"]) as unknown;
  const deny = config["tools.deny"], allow = config["tools.allow"];
  return bash === "allow" && !(Array.isArray(list) && list.length > 0) &&
    !(Array.isArray(deny) && deny.includes("run_command")) &&
    !(Array.isArray(allow) && allow.length > 0 && !allow.includes("run_command"));
}

function invalid(message: string): ToolError {
  return new ToolError(message, "invalid_arguments");
}
