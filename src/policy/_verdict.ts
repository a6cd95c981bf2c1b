/**
 * A decision in the making: every rule that is looked at adds a line, and the one that changes the action decides.
 *
 * @module
 */
import type { Action } from "../tool.ts";
import { visible } from "./_text.ts";
import { stricter } from "./modes.ts";
import type { TrailEntry } from "./types.ts";

/** See the module's comment. A deny stays: nothing that comes later lifts it. */
export class Verdict {
  action: Action = "allow";
  rule = "default";
  reason = "nothing restricts it";
  readonly trail: TrailEntry[] = [];

  /** A rule that was looked at and changes nothing. */
  note(rule: string, action: Action | null, reason: string): void {
    this.trail.push({ rule: visible(rule), action, reason: visible(reason) });
  }

  /** A rule that decides, up or down. */
  set(rule: string, action: Action, reason: string): void {
    this.note(rule, action, reason);
    if (this.action === "deny") return;
    [this.action, this.rule, this.reason] = [action, visible(rule), visible(reason)];
  }

  /** A rule that may only make it stricter. */
  lower(rule: string, action: Action, reason: string): void {
    this.note(rule, action, reason);
    if (action === this.action || stricter(action, this.action) !== action) return;
    [this.action, this.rule, this.reason] = [action, visible(rule), visible(reason)];
  }
}
