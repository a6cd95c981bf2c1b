/**
 * What the policy says, as data.
 *
 * @module
 */
import type { Action, PathUse } from "../tool.ts";

/** One rule that was looked at, in order. */
export interface TrailEntry {
  /** Stable name of the rule: `tools.deny`, `tool_permission.read`, `path_rules[3]`, `worktree`, `permission_fn`, `mode plan: …`. */
  readonly rule: string;
  /** What it said; null when it did not apply. */
  readonly action: Action | null;
  /** One line for a person. */
  readonly reason: string;
}

/** A path of the call after canonicalisation. */
export interface ResolvedPath extends PathUse {
  /** Absolute canonical path: realpath of the deepest existing ancestor and the rest. */
  readonly canonical: string;
  /** Below the worktree. */
  readonly inside: boolean;
  /** The path needs the user's consent before the guard lets it through (outside, or an `ask` rule); why, or null. */
  readonly consent: string | null;
}

/** One command of a checked command line. */
export interface SegmentVerdict {
  /** The segment as text, after quote removal and expansion. */
  readonly text: string;
  /** Whether it may run. */
  readonly allowed: boolean;
  /** The prefix that matched, or why it is refused. */
  readonly reason: string;
  /** The program's name as written, after quote removal; absent where there is no simple command. */
  readonly program?: string;
  /** The words that run, patterns not yet expanded; absent where there is no simple command. */
  readonly argv?: readonly string[];
}

/** A word of a checked command, after quote removal and expansion of variables, braces and `~`. */
export interface ShellWord {
  /** What the program gets, where the word is no pattern or the pattern matches nothing. */
  readonly text: string;
  /** Set for a word with unquoted wildcards: `*`, `?` and `[…]` match, a backslash makes the next character ordinary. */
  readonly pattern?: string;
  /** The word names a path that the command changes; the executor asks the guard about it and all that it expands to. */
  readonly access?: "write";
  /** Where in the word that path begins (`of=PATH`, `--target-directory=PATH`); default 0. */
  readonly accessFrom?: number;
}

/** One redirection, in the order in which they apply. */
export interface ShellRedirect {
  /** The descriptor of the command that is redirected. */
  readonly fd: 0 | 1 | 2;
  /** Opens a file, connects to nothing (`/dev/null`), or copies what `from` stands for at that moment. */
  readonly kind: "read" | "write" | "append" | "null" | "copy";
  /** The file, relative to the directory of that moment (`read`, `write`, `append`). */
  readonly path?: string;
  /** The descriptor that is copied (`copy`). */
  readonly from?: 1 | 2;
}

/** A program, or one of the executor's own commands, with its arguments. */
export interface ShellCommand {
  /** The command's name is the first word. */
  readonly words: readonly ShellWord[];
  /** In order. */
  readonly redirects: readonly ShellRedirect[];
  /** One of the executor's own: no program is started. */
  readonly builtin: boolean;
  /** For messages. */
  readonly text: string;
}

/** Commands joined by pipes. */
export interface ShellPipeline {
  /** `!` in front: success and failure change places. */
  readonly negated: boolean;
  /** At least one. */
  readonly commands: readonly ShellCommand[];
}

/** Pipelines joined by `&&` and `||`, from left to right. */
export interface ShellChain {
  /** Always runs. */
  readonly first: ShellPipeline;
  /** Each runs depending on how the one before ended. */
  readonly rest: readonly { readonly operator: "&&" | "||"; readonly pipeline: ShellPipeline }[];
  /** Ended by `&`. */
  readonly background: boolean;
  /** For messages. */
  readonly text: string;
}

/** A checked command line: what shell_command.ts lets through and sandbox/shell.ts executes. Plain data. */
export interface ShellTree {
  /** In order. */
  readonly chains: readonly ShellChain[];
}

/** A path that a command line touches. */
export interface CommandPath extends PathUse {
  /** Which of the plan's segments touch it, by index; absent where that is not known. */
  readonly segments?: readonly number[];
}

/** How a command line will be run: by the user's shell, or as a checked tree that polyglav executes itself. */
export interface CommandPlan {
  /** By the user's shell, or as a tree. */
  readonly mode: "shell" | "tree";
  /** The tree (mode `tree`); absent where the command line is refused as a whole. */
  readonly tree?: ShellTree;
  /** The first construct that no allowlist lets through, with the text it stands in; null or absent where there is none. */
  readonly refused?: { readonly construct: string; readonly segment: string } | null;
  /**
   * What was said of each simple command: by `bash_allow` for a tree, by `bash_auto` where the shell runs the line
   * because not every command is on that list; empty where neither list is in force.
   */
  readonly segments: readonly SegmentVerdict[];
  /** Programs that may be started, by name or path. */
  readonly programs: readonly string[];
  /**
   * Redirect targets, `cd` directories, files that `test` looks at, directories of patterns and what known writers
   * (`tee`, `cp`, …) change, absolute but not canonical: the path rules decide them too.
   */
  readonly paths: readonly CommandPath[];
}

/** The policy's answer for one call. */
export interface Decision {
  readonly action: Action;
  /** The rule that decided. */
  readonly rule: string;
  /** One line that says why. */
  readonly reason: string;
  /** Every rule that was looked at, in order; the deciding one is among them. */
  readonly trail: readonly TrailEntry[];
  /** The paths that the call touches. */
  readonly paths: readonly ResolvedPath[];
  /** Present when the tool takes a command line. */
  readonly command?: CommandPlan;
  /**
   * Present where it asks: what a person may say yes to for good. `exact`: this call with these arguments; `tool`: every
   * call that nothing but the tool's key asks. Path rules, web rules and denies are never lifted.
   */
  readonly lifts?: { readonly exact: boolean; readonly tool: boolean };
  /**
   * The grant that made the call possible. Whoever runs the call uses it up first (`Grants.take(id)`), and does not
   * run the call when that says no.
   */
  readonly grant?: {
    readonly id: number;
    readonly scope: "once" | "always";
    readonly origin: "human" | "supervisor";
  };
}

/** Deno permissions of a worker or a process, as absolute canonical paths, `host:port`s and program paths. */
export interface PermissionSet {
  readonly read: readonly string[];
  readonly write: readonly string[];
  readonly run: readonly string[];
  readonly net: readonly string[];
  readonly env: readonly string[];
}

/**
 * A path rule in the form in which the guard applies it: its own copy, matched by its own matcher. The last rule for an
 * access that matches wins; a rule that matches a directory holds for everything below it; case does not count. Globs
 * have `*` and `?` (not `/`), `**` (any number of names, none included), `[...]` and `[!...]`; braces are written out
 * already, and ordinary characters that would be special stand in a class (`[[]`, `[*]`).
 */
export interface GuardRule {
  /**
   * Absolute glob with `/`, or a name pattern without `/`, which matches any one name of the path: below the worktree
   * for paths in it, of the whole path otherwise.
   */
  readonly pattern: string;
  /** What it is about. */
  readonly access: "read" | "write";
  /** What it says. */
  readonly action: Action;
}

/** What the guard in the worker enforces for one call. Comes from configuration and worktree, never from a Decision's action. */
export interface GuardScope {
  /** Absolute canonical path that relative paths are resolved against. */
  readonly worktree: string;
  /** What may be touched without consent: canonical directories (or files). */
  readonly roots: readonly { readonly path: string; readonly access: "read" | "write" }[];
  /** Path rules; the last one that matches wins. */
  readonly rules: readonly GuardRule[];
  /** More lists of rules (a role's): in each the last match counts, and none of them may be against the access. */
  readonly layers?: readonly (readonly GuardRule[])[];
  /** Canonical paths that the user said yes to for this call, exactly, with what lies below them. */
  readonly consented: readonly { readonly path: string; readonly access: "read" | "write" }[];
  /** Name of the temporary sibling for a consented write outside the worktree. */
  readonly temporary?: string;
  /** What `~` and `~/` at the beginning of a path stand for: an absolute path. */
  readonly home?: string;
  /** How a command line runs. */
  readonly command?: CommandPlan;
  /**
   * The only programs that the call may start, by the name that starts them: absolute paths, null for what is not there.
   * From configuration, like the rest. Absent for calls that start none.
   */
  readonly programs?: Readonly<Record<string, string | null>>;
}

/** All that the sandbox needs to run one call. */
export interface CallScope {
  readonly permissions: PermissionSet;
  readonly guard: GuardScope;
  /** Run in a worker of its own that is ended afterwards (anything beyond the standing permissions). */
  readonly oneShot: boolean;
}

/**
 * All that the sandbox needs to make one request of the web: what was checked, and nothing else. Comes from configuration
 * and consent, never from a Decision's action.
 */
export interface HopScope {
  /** `net` for exactly the checked addresses, nothing else. */
  readonly permissions: PermissionSet;
  /** As it is asked for. */
  readonly url: string;
  /** Lower case, without brackets and final dot. */
  readonly host: string;
  readonly port: number;
  /** IP addresses as text, in the order in which they are tried. */
  readonly addresses: readonly string[];
  /** The addresses that are open although they are no public ones: by configuration (`all`) or by consent to each. */
  readonly opened: "all" | readonly string[];
}

/** One line of the audit: session object's `permissions` array. */
export interface PermissionEntry {
  /** The tool's canonical name. */
  readonly tool: string;
  readonly action: Action | "grant";
  readonly decision: "granted" | "declined" | "denied";
  /** ISO 8601. */
  readonly timestamp: string;
  /** The rule that decided. */
  readonly rule: string;
  readonly reason: string;
  /** The path argument, when there is one. */
  readonly path?: string;
  /** Verdict of each segment of a command. */
  readonly segments?: readonly SegmentVerdict[];
  readonly scope?: "once" | "always";
  readonly granted_by?: "human" | "supervisor";
}

/** A file that is about to be written, as the guard saw it. */
export interface FileChange {
  /** Canonical. */
  readonly path: string;
  /** What it holds; null where there is no file, or too much in it (`tooLarge`). */
  readonly before: Uint8Array<ArrayBuffer> | null;
  /** Its permission bits; null where there is no file. */
  readonly mode: number | null;
  /** What is written, or added where `append` says so. */
  readonly written: Uint8Array<ArrayBuffer>;
  /** The bytes go to the end of the file. */
  readonly append: boolean;
  /** Directories above it that have to be made. */
  readonly missing: number;
  /** The file is larger than what is kept. */
  readonly tooLarge: boolean;
}
