/**
 * Which directory a command works in.
 *
 * @module
 */
import { messageOf, UsageError } from "../errors.ts";
import { join, toSlashes } from "../text/path.ts";
import type { CliIo, Invocation } from "./_command.ts";

/**
 * The canonical worktree: `--path` (relative to the working directory), or the working directory itself.
 *
 * @throws UsageError when it is no directory
 */
export function resolveWorktree(values: Invocation["values"], io: Pick<CliIo, "cwd">): string {
  const given = typeof values.path === "string" ? values.path : undefined;
  if (given === "") throw new UsageError("--path is empty; give a directory");
  const path = given === undefined ? io.cwd : join(io.cwd, given);
  const name = given === undefined ? `the working directory ${io.cwd}` : `--path ${given}`;
  let canonical: string, info: Deno.FileInfo;
  try {
    canonical = Deno.realPathSync(path);
    info = Deno.statSync(canonical);
  } catch (error) {
    const missing = error instanceof Deno.errors.NotFound;
    throw new UsageError(
      `${name} ${missing ? "does not exist" : `cannot be used: ${messageOf(error)}`}; give a directory`,
    );
  }
  if (!info.isDirectory) throw new UsageError(`${name} is no directory; give a directory`);
  return toSlashes(canonical);
}
