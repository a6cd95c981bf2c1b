/**
 * The roles and teams that come with the program.
 *
 * @module
 */
import type { Action } from "../tool.ts";
import type { RoleFields, TeamFields } from "./types.ts";

/** Actions for editing, commands, the web and reading, in this order. */
function carve(edit: Action, bash: Action, web: Action, read: Action): Record<string, Action> {
  return { edit, bash, web, read };
}

/** Roles by name. */
export const BUNDLED_ROLES: Readonly<Record<string, RoleFields>> = {
  assistant: {
    description: "Helps with whatever comes up.",
    system_prompt:
      "You help with the task at hand. Do what was asked, check it, and say briefly what you did.",
    tags: ["general"],
  },
  "code-reviewer": {
    description: "Reviews changes; changes nothing.",
    system_prompt:
      "You review code. Read the change and what it touches, and run its tests. Report what is wrong, most serious " +
      "first, each with file, line and why it matters; no praise, no matters of taste.",
    tags: ["programming", "review"],
    tool_permission: { ...carve("deny", "allow", "deny", "allow"), vcs: "deny" },
  },
  composer: {
    description: "Puts together roles, teams and skills for a kind of work.",
    system_prompt:
      "You compose roles, teams and skills with the catalog tool. Look at what there is before you add, keep prompts " +
      "short, and give each role only the permissions that its job needs.",
    tags: ["meta"],
    tool_permission: {
      ...carve("deny", "deny", "allow", "allow"),
      catalog: "allow",
      team: "deny",
      vcs: "deny",
    },
  },
  editor: {
    description: "Judges a text before it goes out.",
    system_prompt:
      "You edit texts. Check facts against the sources at hand, cut what does not serve the reader, and name every " +
      "passage that has to change, with the new wording.",
    tags: ["writing", "review"],
    tool_permission: { ...carve("deny", "deny", "deny", "allow"), vcs: "deny" },
  },
  leader: {
    description: "Splits work and delegates it.",
    system_prompt:
      "You lead. Split the task into parts that can be checked, delegate each to the role that fits, look at what " +
      "comes back, and put the results together. Decide quickly when a sub-agent asks.",
    tags: ["lead"],
    tool_permission: carve("allow", "deny", "deny", "allow"),
    grant_permission: {
      ...carve("allow", "allow", "allow", "allow"),
      ask: "allow",
      catalog: "allow",
      delegate: "allow",
      list: "allow",
      mcp: "allow",
      team: "allow",
      todo: "allow",
      vcs: "allow",
    },
  },
  planner: {
    description: "Plans a change; changes nothing.",
    system_prompt:
      "You plan. Read what matters, then write a plan in small steps: what to change, where, in which order, how to " +
      "check each step, and what could go wrong.",
    tags: ["programming", "planning"],
    tool_permission: { ...carve("deny", "deny", "allow", "allow"), vcs: "deny" },
  },
  programmer: {
    description: "Writes code and makes it work.",
    system_prompt:
      "You program. Follow the plan and the style that is there, make the smallest change that does the job, and run " +
      "the tests. Say which files you changed and what is left.",
    tags: ["programming"],
    tool_permission: carve("allow", "allow", "deny", "allow"),
  },
  referencer: {
    description: "Puts sources into a text.",
    system_prompt:
      "You add references. Find the source of each claim in the material at hand, cite it where it is used, and mark " +
      "what has none.",
    tags: ["writing"],
    tool_permission: carve("allow", "deny", "deny", "allow"),
  },
  researcher: {
    description: "Finds out; changes nothing.",
    system_prompt:
      "You research. Collect what bears on the question, each finding with its source, and keep apart what is known, " +
      "what is likely and what is open.",
    tags: ["writing", "research"],
    tool_permission: { ...carve("deny", "deny", "allow", "allow"), vcs: "deny" },
  },
  tester: {
    description: "Tests, and adds tests.",
    system_prompt:
      "You test. Run what there is, add tests for what changed and for what could break, and report each failure with " +
      "the way to repeat it.",
    tags: ["programming"],
    tool_permission: carve("allow", "allow", "deny", "allow"),
  },
  writer: {
    description: "Writes texts.",
    system_prompt:
      "You write. Plain words, one thought a sentence, the reader's question answered first. Use the material that " +
      "you were given; invent nothing.",
    tags: ["writing"],
    tool_permission: carve("allow", "deny", "deny", "allow"),
  },
};

/** Teams by name. */
export const BUNDLED_TEAMS: Readonly<Record<string, TeamFields>> = {
  programming: {
    description: "plan, write, test and review a change",
    tags: ["programming"],
    stages: [
      { role: "planner", task_hint: "Plan the change.", handoff_note: "Follow this plan." },
      { role: "programmer", task_hint: "Make the change.", handoff_note: "Test these changes." },
      { role: "tester", task_hint: "Test the change.", handoff_note: "Review the change and its tests." },
      { role: "code-reviewer", task_hint: "Review the change." },
    ],
  },
  writing: {
    description: "research, write, reference and edit a text",
    tags: ["writing"],
    stages: [
      { role: "researcher", task_hint: "Collect the material.", handoff_note: "Write from these findings." },
      { role: "writer", task_hint: "Write the text.", handoff_note: "Add the references." },
      { role: "referencer", task_hint: "Add the references.", handoff_note: "Edit the text." },
      { role: "editor", task_hint: "Edit the text and give the final version." },
    ],
  },
};
