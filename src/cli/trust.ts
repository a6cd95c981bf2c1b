/**
 * `polyglav trust`: lets the configuration of a project count in full.
 *
 * @module
 */
import { projectFiles } from "../catalog/project.ts";
import { loadConfig } from "../config/load.ts";
import { PROJECT_CONFIG, userPaths } from "../config/paths.ts";
import {
  hashFiles,
  isTrusted,
  listTrust,
  recordTrust,
  revokeTrust,
  type TrustRecord,
} from "../config/trust.ts";
import { ConfigError, EXIT, UsageError } from "../errors.ts";
import { cleanForTerminal, cleanJson } from "../text/ansi.ts";
import { join } from "../text/path.ts";
import { sha256 } from "../text/sha256.ts";
import type { CliIo, Command, Invocation } from "./_command.ts";
import { resolveWorktree } from "./_worktree.ts";

/** The command `trust`. */
export const command: Command = {
  name: "trust",
  summary: "let this project's configuration count",
  details:
    "A project that is not trusted can only narrow what you allow, and brings no roles, teams or skills. Trust is kept " +
    "in your own configuration, with the hash of each file: one that changes has to be trusted again.",
  examples: [
    ["trust", "show what the project's file wants, and trust it as it is now"],
    ["trust --list", "the projects that you trust"],
    ["trust --revoke", "trust this project no more"],
  ],
  options: {
    revoke: { type: "boolean", help: "trust this project no more" },
    list: { type: "boolean", help: "the projects that you trust" },
    path: { type: "string", value: "DIR", help: "the project (default: the current folder)" },
  },
  run({ values, io }: Invocation): number {
    if (values.list === true && values.revoke === true) {
      throw new UsageError("--list and --revoke exclude each other");
    }
    if (values.list === true) return list(io);
    return values.revoke === true ? revoke(values, io) : trust(values, io);
  },
};

function trust(values: Invocation["values"], io: CliIo): number {
  const worktree = resolveWorktree(values, io), paths = userPaths(io.env), name = cleanForTerminal(worktree);
  const before = loadConfig({ worktree, paths, trust: false, ignoreRecord: true });
  const full = loadConfig({ worktree, paths, trust: true });
  const catalog = projectFiles(worktree);
  if (before.projectFile === null && catalog.size === 0) {
    io.err(`There is no ${PROJECT_CONFIG} in ${name}, and no roles, teams or skills: nothing to trust\n`);
    return EXIT.failed;
  }
  // The bytes that are shown are the bytes that are trusted.
  const contents = new Map<string, Uint8Array | null>([[PROJECT_CONFIG, before.projectFile], ...catalog]);
  const query = { paths, worktree, files: [...contents.keys()], contents };
  if (hash(full.projectFile) !== hash(before.projectFile)) {
    throw new ConfigError(`${PROJECT_CONFIG} of ${name} changed while it was read; try again`);
  }
  const wanted = new Map(full.entries());
  for (const path of catalog.keys()) {
    io.out(`${cleanForTerminal(path, { line: true })} says how agents work: look at it\n`);
  }
  if (before.projectFile === null) io.out(`There is no ${PROJECT_CONFIG}\n`);
  else if (before.ignored.length === 0) io.out(`${PROJECT_CONFIG} sets nothing that needs trust\n`);
  else {
    io.out(`${PROJECT_CONFIG} sets these keys, which need trust:\n`);
    for (const { key } of before.ignored) {
      const value = wanted.get(key);
      const text = value === undefined ? "" : ` = ${cleanJson(JSON.stringify(value))}`;
      io.out(`  ${cleanForTerminal(key, { line: true })}${text}\n`);
    }
  }
  if (isTrusted(query)) io.out(`Trusted already: ${name}\n`);
  else {
    recordTrust(query, new Date());
    io.out(`Trusted as it is now: ${name}\n`);
  }
  return EXIT.ok;
}

function hash(bytes: Uint8Array | null): string | null {
  return bytes === null ? null : sha256(bytes);
}

function revoke(values: Invocation["values"], io: CliIo): number {
  const worktree = formerWorktree(values, io), name = cleanForTerminal(worktree);
  const was = revokeTrust(userPaths(io.env), worktree);
  io.out(was ? `No longer trusted: ${name}\n` : `Was not trusted: ${name}\n`);
  return EXIT.ok;
}

/** The worktree, or its path as text where the directory is gone: trust in it can still be revoked. */
function formerWorktree(values: Invocation["values"], io: CliIo): string {
  try {
    return resolveWorktree(values, io);
  } catch (error) {
    if (typeof values.path !== "string" || values.path === "") throw error;
    return join(io.cwd, values.path);
  }
}

function list(io: CliIo): number {
  const paths = userPaths(io.env), records = listTrust(paths);
  if (records.length === 0) io.err("No project is trusted\n");
  for (const record of records) {
    io.out(
      `${stateOf(record).padEnd(9)} ${record.trusted_at}  ${
        cleanForTerminal(record.worktree, { line: true })
      }\n`,
    );
  }
  return EXIT.ok;
}

/** `trusted`, or why the record does not count now. */
function stateOf({ worktree, files }: TrustRecord): string {
  try {
    if (!Deno.statSync(worktree).isDirectory) return "missing";
  } catch {
    return "missing";
  }
  try {
    const now = new Map(
      hashFiles(worktree, files.map(({ path }) => path)).map(({ path, sha256 }) => [path, sha256]),
    );
    return files.every(({ path, sha256 }) => now.get(path) === sha256) ? "trusted" : "changed";
  } catch {
    return "changed";
  }
}
