/**
 * A decision in the making: every rule that is looked at adds a line, and the one that changes the action decides.
 *
 * @module
 */
import type { Action } from "../tool.ts";
import { visible } from "./_text.ts";
import { stricter } from "./modes.ts";
import type { TrailEntry } from "./types.ts";

/**
 * What asks: the tool's category, its resolver, the cap of what reaches the network, a path outside the worktree, the
 * files of a checked command, or anything else (path rules, web rules). Only some of it may be remembered.
 */
export type AskKind = "category" | "resolver" | "cap" | "worktree" | "files" | "other";

/** See the module's comment. A deny stays: nothing that comes later lifts it. */
export class Verdict {
  action: Action = "allow";
  rule = "default";
  reason = "nothing restricts it";
  readonly trail: TrailEntry[] = [];
  /** What asks as it stands now. */
  readonly asks: Set<AskKind> = new Set();

  /** A rule that was looked at and changes nothing. */
  note(rule: string, action: Action | null, reason: string): void {
    this.trail.push({ rule: visible(rule), action, reason: visible(reason) });
  }

  /** A rule that decides, up or down. */
  set(rule: string, action: Action, reason: string, kind: AskKind = "other"): void {
    this.note(rule, action, reason);
    this.asks.clear();
    if (action === "ask") this.asks.add(kind);
    if (this.action === "deny") return;
    [this.action, this.rule, this.reason] = [action, visible(rule), visible(reason)];
  }

  /** A rule that may only make it stricter. */
  lower(rule: string, action: Action, reason: string, kind: AskKind = "other"): void {
    this.note(rule, action, reason);
    if (action === "ask") this.asks.add(kind);
    if (action === this.action || stricter(action, this.action) !== action) return;
    [this.action, this.rule, this.reason] = [action, visible(rule), visible(reason)];
  }
}
