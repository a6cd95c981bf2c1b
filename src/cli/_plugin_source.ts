/**
 * Plugins from git repositories: fetched into a temporary folder, none of their code run.
 *
 * @module
 */
import { UsageError } from "../errors.ts";
import { cleanForTerminal } from "../text/ansi.ts";
import { join } from "../text/path.ts";
import type { CliIo } from "./_command.ts";

/** Whether a source is the address of a repository and not a folder. */
export function isRepository(source: string): boolean {
  return /^(?:https|ssh|git\+ssh|file):\/\//i.test(source) || /^[\w.-]+@[\w.-]+:[^\\]+$/.test(source) ||
    /^(?:https?|git|ext|ftps?)::?/i.test(source);
}

/** Settings under which a repository's own configuration starts nothing. */
const QUIET = [
  "-c",
  "core.hooksPath=/dev/null",
  "-c",
  "core.fsmonitor=false",
  "-c",
  "protocol.allow=never",
  "-c",
  "protocol.https.allow=always",
  "-c",
  "protocol.ssh.allow=always",
  "-c",
  "protocol.file.allow=always",
];

/**
 * Clones a repository.
 *
 * @returns the folder, and what takes it away again
 * @throws {UsageError} with what git said
 */
export async function fetchRepository(url: string, io: CliIo): Promise<{ folder: string; remove(): void }> {
  if (/^(?:http|git|ext|ftps?)::?/i.test(url)) {
    throw new UsageError(`${cleanForTerminal(url, { line: true })}: use an https, ssh or file address`);
  }
  const { exec } = await import("../sandbox/exec.ts");
  const temporary = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "polyglav-" }));
  const remove = () => {
    try {
      Deno.removeSync(temporary, { recursive: true });
    } catch {
      // The system's cleaning gets it.
    }
  };
  const folder = join(temporary, "plugin"),
    env: Record<string, string> = { GIT_TERMINAL_PROMPT: "0", LC_ALL: "C" };
  for (const name of ["PATH", "HOME", "SSH_AUTH_SOCK", "USERPROFILE", "SYSTEMROOT", "TMPDIR", "TEMP"]) {
    const value = io.env(name);
    if (value !== undefined) env[name] = value;
  }
  try {
    const words = [
      "git",
      ...QUIET,
      "clone",
      "--quiet",
      "--depth",
      "1",
      "--no-recurse-submodules",
      "--",
      url,
      folder,
    ];
    const { code, output } = await exec(words, { cwd: temporary, env, timeout: 120_000 });
    if (code === 0) return { folder, remove };
    throw new UsageError(
      `git cannot fetch ${cleanForTerminal(url, { line: true })}: ${
        cleanForTerminal(output.trim(), { line: true }).slice(-300)
      }`,
    );
  } catch (error) {
    remove();
    throw error;
  }
}
