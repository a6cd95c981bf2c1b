/**
 * The project's instructions (AGENTS.md), read through policy and guard like any file.
 *
 * @module
 */
import { messageOf } from "../errors.ts";
import { compileCall } from "../policy/compile.ts";
import type { Sandbox } from "../sandbox/pool.ts";
import { join } from "../text/path.ts";
import { projectInstructions } from "../../tools/_project_instructions.ts";
import type { Host } from "./_host.ts";

/** The instructions, or null where there are none. */
export interface ProjectInstructions {
  readonly file: string;
  readonly text: string;
}

/**
 * Reads the file that `project_instructions` names, if it is there and may be read without a question; else it is
 * skipped, with a warning that says why.
 */
export async function readInstructions(
  host: Host,
  sandbox: Sandbox,
  warn: (message: string) => void,
): Promise<ProjectInstructions | null> {
  const file = host.settings.project_instructions;
  if (file === "") return null;
  try {
    // Most projects have none: that is found out without a worker.
    Deno.lstatSync(join(host.worktree, file));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
  }
  // The rules are those of the tool by which a model would read it.
  const reader = host.registry.get("file_read") ?? projectInstructions;
  const decision = host.policy.resolve(reader, { path: file });
  if (decision.action !== "allow") {
    warn(`${file} is not read as project instructions: ${decision.reason} [${decision.rule}]`);
    return null;
  }
  const scope = compileCall(reader, decision, host.policyInput, false);
  const result = await sandbox.run(projectInstructions, { path: file }, scope, {
    config: {},
    timeout: 10_000,
    env: {},
  });
  if (!result.ok) {
    warn(`${file} is not read as project instructions: ${messageOf(result.message)}`);
    return null;
  }
  const text = String(result.output);
  return text.trim() === "" ? null : { file, text };
}
