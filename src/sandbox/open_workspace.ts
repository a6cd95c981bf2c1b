/**
 * The guard of the sandbox for library users: files of one folder, and nothing else.
 *
 * @module
 */
import { messageOf, ToolError } from "../errors.ts";
import type { Workspace } from "../tool.ts";
import type { GuardRule } from "../policy/types.ts";
import { toSlashes } from "../text/path.ts";
import { createWorkspace } from "./guard.ts";

/** How {@link openWorkspace} opens a folder. */
export interface WorkspaceOptions {
  /** Files may be written, too. Default: reading only. */
  readonly write?: boolean;
  /** Rules in place of {@link WORKSPACE_RULES}; the last one that matches wins. */
  readonly rules?: readonly GuardRule[];
}

const SECRETS = [
  ".env*",
  "*.pem",
  "*.key",
  "id_rsa*",
  "id_ed25519*",
  ".netrc",
  ".npmrc",
  "credentials*.json",
];

/** Where the program keeps what files held and what calls brought. */
const KEPT = ["/**/.polyglav/sessions", "/**/.polyglav/journal"];

/**
 * What stays closed in an opened folder: reading what usually holds secrets and what the program kept of files, and
 * writing below `.git` and `.polyglav`.
 */
export const WORKSPACE_RULES: readonly GuardRule[] = [
  ...[...SECRETS, ...KEPT].map((pattern): GuardRule => ({ pattern, access: "read", action: "deny" })),
  ...[".git", ".polyglav"].map((pattern): GuardRule => ({ pattern, access: "write", action: "deny" })),
];

/**
 * Opens a folder for tools: every path is made canonical and compared with the folder before and after it is opened, so
 * that neither `..` nor a link leads out of it. Joining the folder and a model's path as text guards nothing.
 *
 * @param root the folder; relative to the working directory or absolute
 * @throws {ToolError} `not_found` where there is no such folder
 *
 * @example
 * ```ts
 * import { openWorkspace } from "@polyglav/cli/tools";
 *
 * const directory = Deno.makeTempDirSync();
 * const files = openWorkspace(directory, { write: true });
 * files.writeFile("notes/a.txt", new TextEncoder().encode("hello"));
 * try {
 *   files.readFile("../../etc/passwd");
 * } catch (error) {
 *   console.log((error as Error).message); // it is outside
 * }
 * ```
 */
export function openWorkspace(root: string, options: WorkspaceOptions = {}): Workspace {
  let real: string;
  try {
    real = toSlashes(Deno.realPathSync(root));
    if (!Deno.statSync(real).isDirectory) throw new Error("it is not a directory");
  } catch (error) {
    throw new ToolError(
      `Cannot open the workspace ${JSON.stringify(root)}: ${messageOf(error)}; name a folder that exists`,
      error instanceof Deno.errors.NotFound ? "not_found" : "execution",
      { cause: error },
    );
  }
  return createWorkspace({
    worktree: real,
    roots: [
      { path: real, access: "read" },
      ...options.write ? [{ path: real, access: "write" } as const] : [],
    ],
    rules: options.rules ?? WORKSPACE_RULES,
    consented: [],
  });
}
