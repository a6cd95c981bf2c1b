/**
 * Files that a person lets a command write into a project: a link that the project brought along must not make them
 * something else's.
 *
 * @module
 */
import { UsageError } from "../errors.ts";
import { dirname, isWithin, toSlashes } from "../text/path.ts";

/**
 * Throws where the way to a file goes through the project and leaves it by a link, or ends in a link to nothing.
 * A way that does not touch the project is the person's own.
 *
 * @param option what names the file, such as `run: --record`
 * @param path absolute
 * @param worktree canonical
 * @throws {UsageError}
 */
export function checkOutput(option: string, path: string, worktree: string): void {
  const way = [path];
  for (let at = path; dirname(at) !== at; at = dirname(at)) way.unshift(dirname(at));
  let entered = false;
  for (const place of way) {
    const real = realOf(place);
    if (real === null) return;
    const inside = real !== "" && isWithin(real, worktree);
    if (entered && !inside) {
      throw new UsageError(
        `${option} ${path}: ${place} is a link that leads out of the project; name the file itself`,
      );
    }
    entered ||= inside;
  }
}

/** The canonical path; null where nothing is, empty for a link to nothing. */
function realOf(path: string): string | null {
  try {
    return toSlashes(Deno.realPathSync(path));
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound || error instanceof Deno.errors.FilesystemLoop)) return null;
  }
  try {
    return Deno.lstatSync(path).isSymlink ? "" : null;
  } catch {
    return null;
  }
}
