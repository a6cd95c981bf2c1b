/**
 * Runs git in a checked command line so that the repository's configuration starts nothing: an allowlist that lets
 * `git status` through lets git through, not the dozen programs that a repository can name.
 *
 * Settings with fixed names are overridden by the environment; those whose names a repository chooses (`diff.NAME.textconv`,
 * `filter.NAME.clean`, …) are looked up first, which starts nothing, and overridden one by one. What the prefix of the
 * list spells out (`git -c …`, `--ext-diff`) still goes before.
 *
 * @module
 */
import { ToolError } from "../errors.ts";
import {
  GIT_ENVIRONMENT,
  GIT_OVERRIDES,
  gitConfigEntries,
  gitConfigVariables,
} from "../text/git_settings.ts";

/** Options before the subcommand that take the next word. */
const VALUED = new Set([
  "-C",
  "-c",
  "--namespace",
  "--git-dir",
  "--work-tree",
  "--config-env",
  "--super-prefix",
]);
/** Subcommands that take `--no-ext-diff --no-textconv`. */
const SHOWS = new Set(
  "diff log show whatchanged diff-tree diff-files diff-index range-diff blame annotate shortlog".split(" "),
);
/** Subcommands that take `--ignore-submodules`: a submodule has a configuration of its own, which is not overridden. */
const LOOKS = new Set("status diff log show whatchanged diff-tree diff-files diff-index".split(" "));
/** Subcommands that reach other repositories: by the network alone, because one on this disk brings its own hooks. */
const REACHES = new Set("clone fetch pull push ls-remote remote submodule".split(" "));
/** Subcommands that store or write nothing, so that a file may be seen without its filter. */
const READS = new Set(
  `annotate blame branch cat-file check-ignore cherry count-objects describe diff diff-files diff-index diff-tree
  for-each-ref fsck grep log ls-files ls-remote ls-tree merge-base name-rev range-diff reflog remote rev-list rev-parse
  shortlog show show-branch show-ref status symbolic-ref tag verify-commit version whatchanged`.split(/\s+/),
);

/** Programs that only an option which has to be spelled out starts (`--ext-diff`, `--textconv`). */
const EXTERNAL = /^diff\.(.*\.)?(command|external)$/s, TEXTCONV = /^diff\..*\.textconv$/s;
/** Variables whose name holds the name of something else, and their value: by the end of the key. */
const NAMED: readonly (readonly [RegExp, string])[] = [
  [/^filter\..*\.(clean|smudge|process)$/s, ""],
  [EXTERNAL, ""],
  [TEXTCONV, ""],
  [/^merge\..*\.driver$/s, "false"],
  [/^trailer\..*\.(cmd|command)$/s, ""],
  [/^credential\..*\.helper$/s, ""],
  [/^remote\..*\.uploadpack$/s, "git-upload-pack"],
  [/^remote\..*\.receivepack$/s, "git-receive-pack"],
  [/^remote\..*\.vcs$/s, ""],
  [/^protocol\..*\.allow$/s, "never"],
  [/^(pager|man|browser|sendemail|guitool|alias)\./s, ""],
  [/^core\.gitproxy$/s, ""],
];

/** What is needed to look at a repository. */
export interface GitLook {
  /** Runs git with these words and variables, and answers its output (NUL bytes kept); throws where it failed to start. */
  readonly run: (
    words: readonly string[],
    env: Readonly<Record<string, string>>,
  ) => Promise<{ readonly code: number | null; readonly output: string; readonly complete: boolean }>;
  /** The text of a `.gitmodules` that concerns the working directory; empty where there is none. */
  readonly modules: (directories: readonly string[]) => string;
  /** Whether a directory lies in the worktree, links resolved. */
  readonly inside: (path: string) => boolean;
}

/** Whether a command is git's, by the name that it is called by. */
export function isGit(name: string): boolean {
  return /(^|[\\/])git(\.exe)?$/i.test(name);
}

/**
 * Words and variables by which git starts nothing of the repository's.
 *
 * @param argv the command's words, `git` first
 * @throws {ToolError} `permission` where the repository moves its working tree out of the worktree, or has settings that
 * cannot be overridden
 */
export async function hardenGit(
  argv: readonly string[],
  look: GitLook,
): Promise<{ readonly argv: readonly string[]; readonly env: Record<string, string> }> {
  const at = subcommandAt(argv), subcommand = argv[at] ?? "", before = argv.slice(1, at);
  const env = { ...GIT_ENVIRONMENT };
  const reaches = REACHES.has(subcommand);
  if (reaches) Object.assign(env, { GIT_ALLOW_PROTOCOL: "git:http:https:ssh", GIT_SSH_COMMAND: "ssh" });
  // `status` refreshes the index only where it may take a lock; what changes a repository must take it.
  if (!READS.has(subcommand)) delete env.GIT_OPTIONAL_LOCKS;
  const spelled = new Set<RegExp>();
  if (argv.includes("--ext-diff")) spelled.add(EXTERNAL);
  if (argv.includes("--textconv")) spelled.add(TEXTCONV);
  const fixed = GIT_OVERRIDES.filter(([key]) => !KEPT.has(key) && !(reaches && ONLINE.has(key)));
  const pairs: (readonly [string, string])[] = [...fixed, ["fetch.recurseSubmodules", "false"]];
  pairs.push(["push.recurseSubmodules", "no"]);
  const list = await look.run([...before, "config", "--list", "--includes", "-z"], {
    ...env,
    ...gitConfigVariables(pairs),
  });
  // Where git cannot read its configuration, the command itself says why.
  if (list.code === 0) {
    if (!list.complete) throw refused("is too large to be looked through");
    const entries = gitConfigEntries(list.output), required = READS.has(subcommand) ? "false" : "true";
    for (const [key] of entries) {
      const named = NAMED.find(([pattern]) => pattern.test(key) && !spelled.has(pattern));
      if (named && key.includes("\ufffd")) {
        throw refused(`names ${JSON.stringify(key)}, which is not valid UTF-8`);
      }
      if (named) pairs.push([key, named[1]]);
      const hook = /^hook\.(.*)\./s.exec(key)?.[1];
      if (hook !== undefined) pairs.push([`hook.${hook}.enabled`, "false"]);
      if (/^filter\./.test(key)) pairs.push([`${key.slice(0, key.lastIndexOf("."))}.required`, required]);
      const module = /^submodule\.(.*)\./s.exec(key)?.[1];
      if (module !== undefined) pairs.push([`submodule.${module}.ignore`, "dirty"]);
    }
    if (entries.some(([key]) => key === "core.worktree")) {
      const top = await look.run([...before, "rev-parse", "--show-toplevel"], {
        ...env,
        ...gitConfigVariables(pairs),
      });
      const path = top.output.replace(/\r?\n$/, "");
      if (top.code === 0 && !look.inside(path)) throw refused(`moves its working tree to ${path}`);
    }
  }
  for (const name of moduleNames(look.modules(directoriesOf(before)))) {
    pairs.push([`submodule.${name}.ignore`, "dirty"]);
  }
  const flags = [
    ...(SHOWS.has(subcommand) ? ["--no-ext-diff", "--no-textconv"] : []),
    ...(LOOKS.has(subcommand) ? ["--ignore-submodules=dirty"] : []),
  ];
  const words = [...argv.slice(0, at + 1), ...flags, ...argv.slice(at + 1)];
  const unique = [...new Map(pairs.map((pair) => [pair[0], pair])).values()];
  return { argv: words, env: { ...env, ...gitConfigVariables(unique) } };
}

/** Settings of looks that a person may want to see as they are. */
const KEPT = new Set(["format.pretty", "color.ui", "gc.auto", "commit.verbose"]);
/** Settings that would keep a command from the network whose business that is. */
const ONLINE = new Set(["protocol.allow", "core.sshCommand"]);

function refused(why: string): ToolError {
  return new ToolError(`the repository's git configuration ${why}; git was not run`, "permission");
}

function subcommandAt(argv: readonly string[]): number {
  let at = 1;
  while (at < argv.length && argv[at]!.startsWith("-")) at += VALUED.has(argv[at]!) ? 2 : 1;
  return Math.min(at, argv.length);
}

/** The values of `-C`, in order. */
function directoriesOf(before: readonly string[]): string[] {
  return before.flatMap((word, i) => word === "-C" && before[i + 1] !== undefined ? [before[i + 1]!] : []);
}

function moduleNames(text: string): string[] {
  return [...text.matchAll(/^[ \t]*\[submodule[ \t]+"((?:[^"\\\n]|\\.)*)"\]/gm)].map(([, name]) =>
    name!.replace(/\\(.)/g, "$1")
  );
}
