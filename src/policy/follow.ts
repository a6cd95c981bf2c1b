/**
 * The policy of a sub-agent whose caller's mode is switched while it runs.
 *
 * @module
 */
import { delegatedPolicy } from "./delegated.ts";
import { LivePolicy } from "./live.ts";
import type { PolicyInput } from "./tool_policy.ts";

/**
 * A policy that is the sub-agent's own as long as its caller is in the mode in which it was opened, and in another mode
 * what of its own that mode leaves: it never gets wider than it was when it was opened.
 *
 * @param caller whose mode counts
 * @param own what the sub-agent was opened with
 */
export function followMode(caller: LivePolicy, own: PolicyInput): LivePolicy {
  const opened = caller.mode, live = new LivePolicy(own);
  caller.onChange(() => {
    const next = caller.mode === opened ? own : inMode(own, caller.mode);
    if (next.settings !== live.input.settings) {
      live.replace(next).catch(() => {/* own lists need no other parser */});
    }
  });
  return live;
}

/** What a mode leaves of a policy; of one that it does not know, what plan leaves. */
function inMode(own: PolicyInput, mode: string): PolicyInput {
  const narrow = (mode: string) =>
    delegatedPolicy(own, {}, { mode, systemPrompt: own.settings.system_prompt, grants: own.grants }).input;
  try {
    return narrow(mode);
  } catch {
    return narrow("plan");
  }
}
