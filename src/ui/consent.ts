/**
 * Rules that a person makes while answering a question: what may be remembered, and for how long.
 *
 * @module
 */
import type { ConfirmRequest } from "./sink.ts";

/** One rule that "always" offers for a call. */
export interface ConsentChoice {
  /** What it covers: exactly this call, every command with this beginning, or every call of this tool that asks. */
  readonly covers: "exact" | "prefix" | "tool";
  /** How long: this session, or this project, saved in the user's own configuration. */
  readonly lasts: "session" | "project";
  /** One line for the list, not yet cleaned for a terminal: `git status …, this session`. */
  readonly label: string;
  /** The rule as it will be written or kept, shown before it is saved: `tool_permission.bash_auto += "git status"`. */
  readonly rule: string;
}

/** Where rules come from and go to; the command line makes it over policy and configuration. */
export interface ConsentRules {
  /** What may be remembered for this call, narrowest first; empty where a rule may not lift the question. */
  choices(request: ConfirmRequest): readonly ConsentChoice[];
  /** Makes a rule of {@link choices} effective for the next decision, and saves it where it is for the project. */
  remember(request: ConfirmRequest, choice: ConsentChoice): Promise<void>;
  /** Lines that explain the decision step by step: the trail of the policy. */
  explain(request: ConfirmRequest): readonly string[];
}
