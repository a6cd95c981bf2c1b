/**
 * What the catalog holds: roles, teams and skills.
 *
 * @module
 */
import type { PathRule, ToolPermission } from "../config/settings.ts";
import type { Action } from "../tool.ts";

/** What kind of entry. */
export type Kind = "role" | "team" | "skill";

/** The layer that an entry comes from, weakest first; `merged`: more than one. `local` is the project's. */
export type Origin = "bundled" | "plugin" | "global" | "local" | "merged";

/** An agent by its job. Everything but the name is optional. */
export interface RoleFields {
  readonly description?: string;
  /** Stands before the task. */
  readonly system_prompt?: string;
  /** Another model of the same provider. */
  readonly model?: string;
  readonly tags?: readonly string[];
  /** Names of skills that it always gets. */
  readonly skills?: readonly string[];
  /** What it takes of its caller's permissions. */
  readonly tool_permission?: ToolPermission;
  /** Ceiling for its own sub-agents. */
  readonly grant_permission?: Readonly<Record<string, Action>>;
  readonly ask_policy?: {
    readonly permission?: "auto" | "human" | "deny";
    readonly direction?: "auto" | "human" | "lead";
  };
  /** Rules beside the caller's. */
  readonly path_rules?: readonly PathRule[];
}

/** One step of a team. */
export interface Stage {
  /** Name of a role. */
  readonly role: string;
  /** A mode; default the caller's. */
  readonly mode?: string;
  /** What this stage is to do. */
  readonly task_hint?: string;
  /** What it tells the next stage. */
  readonly handoff_note?: string;
  readonly skills?: readonly string[];
}

/** Stages that are repeated until a reviewer passes them. */
export interface Loop {
  /** First stage: its role, or its index from 0. */
  readonly from: string | number;
  /** The reviewing stage. */
  readonly until: string | number;
  /** Most rounds. */
  readonly max_iterations?: number;
  /** What stands before `PASS` on the reviewer's last line. */
  readonly verdict?: string;
}

/** A chain of stages. */
export interface TeamFields {
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly stages?: readonly Stage[];
  readonly loop?: Loop;
}

/** A text that roles and stages can be given. */
export interface SkillFields {
  readonly description?: string;
  readonly tags?: readonly string[];
  /** The text itself, without front matter. */
  readonly content: string;
}

/** A role, as all layers together have it. */
export type Role = RoleFields & { readonly name: string; readonly origin: Origin };
/** A team, as all layers together have it. */
export type Team = TeamFields & {
  readonly name: string;
  readonly origin: Origin;
  readonly stages: readonly Stage[];
};
/** A skill. */
export type Skill = SkillFields & {
  readonly name: string;
  readonly origin: Origin;
  readonly description: string;
};
