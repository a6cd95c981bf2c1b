/**
 * What of a command line is refused, in words.
 *
 * @module
 */
import { shorten } from "./_text.ts";
import type { CommandPlan } from "./types.ts";

/** Every problem of a plan, each with the segment it stands in; an empty text where there is none. */
export function describeProblems(plan: CommandPlan): string {
  const problems = plan.segments.filter((segment) => segment.allowed !== true)
    .map(({ text, reason }) => ({ reason, text }));
  const { refused } = plan;
  if (refused && !problems.some(({ text }) => text === refused.segment)) {
    problems.push({ reason: `${refused.construct} is not allowed`, text: refused.segment });
  }
  const shown = problems.slice(0, 5).map(({ text, reason }) => `${reason} (in: ${shorten(text, 200)})`);
  if (problems.length > 5) shown.push(`and ${problems.length - 5} more`);
  return shown.join("; ");
}
