/**
 * Taking back what tools wrote, as the command line and the prompt show it.
 *
 * @module
 */
import type { UserPaths } from "../config/paths.ts";
import { undoFiles } from "../sandbox/undo_files.ts";
import { cleanForTerminal } from "../text/ansi.ts";
import { journalFolder } from "../session/folder.ts";
import type { UndoGroup } from "../undo/types.ts";
import { isUndone, Undo, type UndoPlan, type UndoStep } from "../undo/undo.ts";

/** Opens the journal of a worktree. */
export function openUndo(
  place: { readonly worktree: string; readonly paths: Pick<UserPaths, "state"> },
): Undo {
  const { worktree, paths } = place;
  return new Undo({ worktree, stateDir: paths.state, bytes: () => journalFolder(worktree) }, undoFiles);
}

/** One line about a turn: id, session, number, time, files. */
export function describeGroup(group: UndoGroup, worktree: string): string {
  const paths = [...new Set(group.entries.map(({ path }) => path))].map((path) =>
    path.startsWith(`${worktree}/`) ? path.slice(worktree.length + 1) : path
  );
  const who = group.session === null
    ? "a single call"
    : `${group.session}${group.turn === null ? "" : ` turn ${group.turn}`}`;
  const files = paths.length > 4
    ? `${paths.slice(0, 3).join(", ")} and ${paths.length - 3} more`
    : paths.join(", ");
  const when = group.at.slice(0, 19).replace("T", " ");
  return clean(`${group.id}  ${when}  ${who}: ${files}${isUndone(group) ? " (taken back)" : ""}`);
}

const DOES: Readonly<Record<UndoStep["kind"], string>> = {
  restore: "restore",
  remove: "remove (the turn made it)",
  create: "bring back (it was removed since)",
  none: "nothing to do (as it was before)",
};
const DID: Readonly<Record<UndoStep["kind"], string>> = {
  restore: "restored",
  remove: "removed",
  create: "brought back",
  none: "was as before",
};

/** What would happen: each file with its diff, or why it is left alone. Clean for a terminal, without colours. */
export function describePlan({ steps }: UndoPlan): string[] {
  return steps.flatMap((step) => [
    ...describeSteps([step], false),
    ...step.diff === "" || step.problem !== null || step.kind === "none"
      ? []
      : step.diff.replace(/\n$/, "").split("\n").map((line) => cleanForTerminal(`  ${line}`)),
  ]);
}

/** What was done (or is to be), a line for each file. Clean for a terminal. */
export function describeSteps(steps: readonly UndoStep[], done = true): string[] {
  return steps.map(({ shown, kind, problem }) =>
    clean(`${shown}: ${problem === null ? (done ? DID : DOES)[kind] : `left alone, ${problem}`}`)
  );
}

function clean(text: string): string {
  return cleanForTerminal(text, { line: true });
}
