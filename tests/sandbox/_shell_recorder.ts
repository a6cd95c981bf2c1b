/**
 * A host for the executor that starts nothing: it remembers what would have been started, and what was opened.
 *
 * @module
 */
import { ToolError } from "../../src/errors.ts";
import { isWithin, normalize } from "../../src/text/path.ts";
import type { DirectoryEntry } from "../../src/tool.ts";
import type { StartedProcess } from "../../src/sandbox/exec.ts";
import type { ShellHost } from "../../src/sandbox/_shell_host.ts";

/** What the executor did. */
export interface Recording {
  readonly started: (readonly string[])[];
  readonly opened: { readonly path: string; readonly mode: string }[];
}

/**
 * @param worktree the only directory that the host's files lie in
 * @param names files in it (a trailing slash: a directory)
 * @param status exit status of the next program
 */
export function recordingHost(
  worktree: string,
  names: readonly string[],
  status: () => number,
): ShellHost & Recording {
  const started: (readonly string[])[] = [], opened: { path: string; mode: string }[] = [];
  const entries: DirectoryEntry[] = names.map((name) => ({
    name: name.replace(/\/$/, ""),
    kind: name.endsWith("/") ? "directory" : "file",
  }));
  const inside = (path: string) => {
    const real = normalize(path);
    if (!isWithin(real, worktree)) throw new ToolError(`${path} is outside the worktree`, "permission");
    return real;
  };
  return {
    started,
    opened,
    output: "null",
    take: () => {},
    start({ argv }) {
      started.push(argv);
      return Promise.resolve(fakeProcess(status()));
    },
    open(path, mode) {
      opened.push({ path: inside(path), mode });
      return { fd: 99, close: () => {} };
    },
    write: () => {},
    resolve: (path) => inside(path),
    status(path) {
      const real = inside(path), name = real.slice(worktree.length + 1);
      const kind = real === worktree ? "directory" : entries.find((entry) => entry.name === name)?.kind;
      return kind === undefined ? null : { kind, size: 1, mode: 0o755, modified: 0, links: 1 };
    },
    list: (path) => inside(path) === worktree ? entries : [],
  };
}

function fakeProcess(code: number): StartedProcess {
  return {
    pid: 0,
    exited: Promise.resolve({ code, signal: null }),
    stdinFd: -1,
    writeStdin: () => Promise.resolve(),
    closeStdin: () => {},
    readOutput: () => Promise.resolve(),
    pipeOutput: () => {},
    closeOutput: () => {},
    kill: () => {},
    killGroup: () => Promise.resolve(),
  };
}
