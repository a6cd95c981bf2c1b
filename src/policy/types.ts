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
  readonly allowed: boolean;
  /** The prefix that matched, or why it is refused. */
  readonly reason: string;
}

/** How a command line will be run: by the user's shell, or as a checked tree that polyglav executes itself. */
export interface CommandPlan {
  readonly mode: "shell" | "tree";
  /** The tree, plain data (mode `tree`); its shape belongs to shell_command.ts and sandbox/shell.ts. */
  readonly tree?: unknown;
  readonly segments: readonly SegmentVerdict[];
  /** Programs that may be started, by name or path. */
  readonly programs: readonly string[];
  /** Redirect targets and `cd` directories, which the path rules decide too. */
  readonly paths: readonly PathUse[];
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
}

/** Deno permissions of a worker or a process, as absolute canonical paths, `host:port`s and program paths. */
export interface PermissionSet {
  readonly read: readonly string[];
  readonly write: readonly string[];
  readonly run: readonly string[];
  readonly net: readonly string[];
  readonly env: readonly string[];
}

/** A path rule in the form in which the guard applies it: its own copy, matched by its own matcher. */
export interface GuardRule {
  /** Absolute glob with `/`, or a name pattern without `/`. */
  readonly pattern: string;
  readonly access: "read" | "write";
  readonly action: Action;
}

/** What the guard in the worker enforces for one call. Comes from configuration and worktree, never from a Decision's action. */
export interface GuardScope {
  readonly worktree: string;
  /** What may be touched without consent: canonical directories (or files). */
  readonly roots: readonly { readonly path: string; readonly access: "read" | "write" }[];
  readonly rules: readonly GuardRule[];
  /** Canonical paths that the user said yes to for this call, exactly, with what lies below them. */
  readonly consented: readonly { readonly path: string; readonly access: "read" | "write" }[];
  /** Name of the temporary sibling for a consented write outside the worktree. */
  readonly temporary?: string;
  /** How a command line runs. */
  readonly command?: CommandPlan;
}

/** All that the sandbox needs to run one call. */
export interface CallScope {
  readonly permissions: PermissionSet;
  readonly guard: GuardScope;
  /** Run in a worker of its own that is ended afterwards (anything beyond the standing permissions). */
  readonly oneShot: boolean;
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
