/**
 * `git`: looks at a repository, never changes it.
 *
 * @module
 */
import { join } from "../src/text/path.ts";
import { defineTool, type Tool, type ToolContext } from "../src/tool.ts";
import { commandResult, headOf, HELPERS, outputBytes } from "./_command.ts";
import { checkWord, failureOf, GIT_TIMEOUT, gitPaths, pathspec, Repository } from "./_git.ts";

interface GitArguments {
  readonly operation: "status" | "diff" | "log" | "branch" | "show" | "rev_parse";
  readonly path?: string;
  readonly limit: number;
  readonly staged: boolean;
  readonly rev?: string;
  readonly cwd?: string;
}

/** Read-only git: status, diff, log, branch, show, rev_parse. */
export const git: Tool = defineTool({
  name: "git",
  description: "Look at the git repository. Read-only.",
  category: "read",
  permission: "read",
  access: ["run"],
  paths: (args) => gitPaths(args),
  // `setsid`: a session for less than a fork costs; beside git, which can start anything, it adds no power.
  programs: () => ["git", "setsid", ...HELPERS],
  keyArg: "operation",
  glyph: "⎇",
  verb: "Git",
  echo: true,
  short: "Look at the git repository",
  aliases: {
    git_status: { operation: "status" },
    git_diff: { operation: "diff" },
    git_log: { operation: "log" },
    git_branch: { operation: "branch" },
    git_show: { operation: "show" },
    git_rev_parse: { operation: "rev_parse" },
  },
  configKeys: ["tool_max_result_chars"],
  timeout: 3 * GIT_TIMEOUT * 1000,
  truncate: "middle",
  parameters: {
    type: "object",
    properties: {
      operation: {
        type: "string",
        enum: ["status", "diff", "log", "branch", "show", "rev_parse"],
        description: "What to look at.",
        default: "status",
      },
      path: { type: "string", description: "Only this path (status, diff, log)." },
      limit: { type: "integer", description: "Commits of log, 1 to 100.", default: 20 },
      staged: { type: "boolean", description: "diff: what is staged.", default: false },
      rev: { type: "string", description: "Revision (show, rev_parse, log, diff)." },
      cwd: { type: "string", description: "Working directory." },
    },
  },
  async execute(args: GitArguments, context) {
    checkWord("path", args.path);
    checkWord("rev", args.rev);
    const { cwd } = args;
    const repository = await Repository.open(context, cwd);
    const { shown, real, notes } = await commandOf(args, repository, context);
    const command = `git ${shown.join(" ")}`;
    const result = await repository.run(real, {
      maxBytes: outputBytes(context.config["tool_max_result_chars"], headOf(command, cwd)),
    });
    const failure = failureOf(result);
    if (failure) throw failure;
    return commandResult({
      command,
      cwd,
      result: { ...result, notes: [...result.notes, ...notes] },
      timeout: GIT_TIMEOUT,
      what: "git command",
    });
  },
});

/** The command as the person sees it, and as it is run. */
async function commandOf(
  args: GitArguments,
  repository: Repository,
  context: ToolContext,
): Promise<{ shown: string[]; real: string[]; notes: string[] }> {
  const { operation, path, rev } = args, notes: string[] = [];
  const files = path ? ["--", pathspec(path)] : [];
  const shownFiles = path ? ["--", path] : [];
  // `diff` takes `--end-of-options` only from git 2.41 on; a leading `-` was refused before.
  const revision = rev ? ["--end-of-options", rev] : [];
  const plain = rev ? [rev] : [];
  switch (operation) {
    case "log": {
      const limit = String(Math.min(100, Math.max(1, args.limit)));
      const shown = ["log", "--oneline", `-${limit}`, ...plain, ...shownFiles];
      const safe = ["--no-show-signature", "--no-ext-diff", "--no-textconv"];
      return { shown, real: ["log", "--oneline", `-${limit}`, ...safe, ...revision, ...files], notes };
    }
    case "branch":
      return { shown: ["branch", "-a"], real: ["branch", "-a"], notes };
    case "show": {
      const safe = ["--no-show-signature", "--no-ext-diff", "--no-textconv", "--submodule=short"];
      return { shown: ["show", "--stat", ...plain], real: ["show", "--stat", ...safe, ...revision], notes };
    }
    case "rev_parse":
      return {
        shown: ["rev-parse", rev || "HEAD"],
        real: ["rev-parse", "--verify", "--end-of-options", rev || "HEAD"],
        notes,
      };
    case "status":
    case "diff": {
      const top = await repository.top(), root = context.worktree;
      // In a larger repository only what lies in the worktree is shown.
      const larger = top !== root && root.startsWith(`${top}/`);
      if (larger) {
        notes.push(`the repository begins further up, at ${top}; shown is what lies in the worktree`);
      }
      const limited = path ? files : larger ? ["--", "."] : [];
      if (operation === "status") {
        return {
          shown: ["status", "--short", "--branch", ...shownFiles],
          real: ["status", "--short", "--branch", "--ignore-submodules=dirty", ...limited],
          notes,
        };
      }
      const staged = args.staged ? ["--cached"] : [];
      const shown = ["diff", ...staged, ...plain, ...shownFiles];
      const safe = ["--no-ext-diff", "--no-textconv", "--submodule=short", "--ignore-submodules=dirty"];
      const real = ["diff", ...staged, ...safe, ...(rev ? [rev] : [])];
      const { exclude, note } = await withheld([...real, ...limited], top, path, repository, context);
      if (note) notes.push(note);
      const scope = exclude.length > 0 && limited.length === 0
        ? ["--", ":/"]
        : limited.length > 0
        ? limited
        : ["--"];
      return { shown, real: [...real, ...scope, ...exclude], notes };
    }
  }
}

/** Files whose content a path rule keeps from walks: left out of a diff, unless the call names them. */
async function withheld(
  diff: readonly string[],
  top: string,
  path: string | undefined,
  repository: Repository,
  context: ToolContext,
): Promise<{ exclude: string[]; note: string | null }> {
  const separator = diff.indexOf("--");
  const command = separator === -1
    ? [...diff, "--name-only", "-z", "--"]
    : [...diff.slice(0, separator), "--name-only", "-z", ...diff.slice(separator)];
  const list = await repository.run(command, {
    raw: true,
    maxBytes: 4 << 20,
  });
  if (list.code !== 0) return { exclude: [], note: null };
  const named = path ? context.workspace.resolve(join(repository.directory, path), "list") : null;
  const kept = list.output.split("\0").filter((name) => {
    const file = join(top, name);
    return name !== "" && file !== named && context.workspace.withheld(file) !== null;
  });
  if (kept.length === 0) return { exclude: [], note: null };
  return {
    exclude: kept.map((name) => `:(top,exclude,literal)${name}`),
    note: `${kept.length} file${kept.length === 1 ? "" : "s"} left out by a path rule: ${
      kept.slice(0, 5).join(", ")
    }; name one in path to see it`,
  };
}
