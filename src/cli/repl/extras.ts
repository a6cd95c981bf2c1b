/**
 * Small things that an interactive session remembers.
 *
 * @module
 */
import type { CallResult } from "../../registry/dispatch.ts";
import { isAbsolute, join } from "../../text/path.ts";
import type { Mention } from "./mentions.ts";

/** See the module's comment. */
export class Extras {
  /** Name of the session to open; null: a new one. */
  session: string | null = null;
  /** Result of the last call that the person made. */
  lastCall: CallResult | null = null;

  /** Takes note of a call of the person's. */
  called(result: CallResult): void {
    this.lastCall = result;
  }

  /**
   * Where a mention leads: only whether something is there is looked at; reading it is the tool's business. Null: nothing
   * is there, so it is text.
   */
  async locate(
    worktree: string,
    home: string,
    mention: Mention,
  ): Promise<{ readonly path: string; readonly isDirectory: boolean } | null> {
    for (const path of new Set([mention.path, mention.trimmed])) {
      const full = path.startsWith("~/")
        ? join(home, path.slice(2))
        : isAbsolute(path)
        ? path
        : join(worktree, path);
      try {
        return { path, isDirectory: (await Deno.stat(full)).isDirectory };
      } catch { /* not this one */ }
    }
    return null;
  }
}
