/**
 * Grants: what somebody allowed beyond the policy, for one call or for the rest of a run.
 *
 * A grant lifts an `ask` or a `deny` of the tool's category. It never lifts `tools.deny`, a missing place in
 * `tools.allow`, what a mode denies, a path rule, the worktree, a command list or the web rules.
 *
 * @module
 */
import { PolicyDenied } from "../errors.ts";
import type { Action, Tool } from "../tool.ts";

/** What is granted. */
export interface GrantSpec {
  /** Canonical name of the one tool that it is for; null: every tool of the category. */
  readonly name: string | null;
  /** The `tool_permission` key. */
  readonly permission: string;
  /** One call, or every call of this run. */
  readonly scope: "once" | "always";
  /** Who said yes: a person, or the agent that delegated. */
  readonly origin: "human" | "supervisor";
  /** The most that may be granted for this key: `allow` by anyone, `ask` by a person alone, `deny` by nobody. */
  readonly ceiling: Action;
}

/** A grant that was given. */
export interface Grant extends GrantSpec {
  readonly id: number;
}

/** The grants of one run, in the order in which they were given. */
export class Grants {
  #next = 1;
  #live = new Map<number, Grant>();
  #issued = new Map<number, Grant>();

  /**
   * Gives a grant.
   *
   * @throws {PolicyDenied} when the ceiling forbids it, or an agent would grant for good or where a person must
   */
  add(spec: GrantSpec): Grant {
    const refuse = (why: string): never => {
      throw new PolicyDenied(`Permission "${spec.permission}" cannot be granted: ${why}`, "grant_permission");
    };
    if (spec.ceiling === "deny") refuse("it is above the ceiling");
    if (spec.ceiling !== "allow" && spec.ceiling !== "ask") refuse("its ceiling cannot be understood");
    if (spec.origin !== "human" && spec.ceiling === "ask") refuse("only a person may grant it");
    if (spec.origin !== "human" && spec.scope !== "once") refuse("an agent grants one call at a time");
    const grant: Grant = Object.freeze({
      name: spec.name,
      permission: spec.permission,
      scope: spec.scope === "always" ? "always" : "once",
      origin: spec.origin,
      ceiling: spec.ceiling,
      id: this.#next++,
    });
    this.#live.set(grant.id, grant);
    this.#issued.set(grant.id, grant);
    return grant;
  }

  /** The grant that a call of this tool would use: one for good before one for a single call. Uses nothing up. */
  find(tool: Pick<Tool, "name" | "permission">): Grant | null {
    let once: Grant | null = null;
    for (const grant of this.#live.values()) {
      if (grant.permission !== tool.permission) continue;
      if (grant.name !== null && grant.name !== tool.name) continue;
      if (grant.scope === "always") return grant;
      once ??= grant;
    }
    return once;
  }

  /**
   * Uses a grant: true when it still held, and a grant for one call is gone afterwards. Whoever gets false must not
   * run the call; another one was faster.
   */
  take(id: number): boolean {
    const grant = this.#live.get(id);
    if (!grant) return false;
    if (grant.scope === "once") this.#live.delete(id);
    return true;
  }

  /** Whether this grant was given for such a tool, whether or not it was used since: what it lifts is compiled by that. */
  covers(id: number, tool: Pick<Tool, "name" | "permission">): boolean {
    const grant = this.#issued.get(id);
    return grant !== undefined && grant.permission === tool.permission &&
      (grant.name === null || grant.name === tool.name);
  }

  /** Withdraws a grant. */
  revoke(id: number): void {
    this.#live.delete(id);
  }

  /** The grants that hold now. */
  list(): readonly Grant[] {
    return [...this.#live.values()];
  }
}
