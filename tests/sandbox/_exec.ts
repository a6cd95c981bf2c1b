/**
 * Starts programs for tests of exec.ts: a scrubbed environment and a temporary folder.
 *
 * @module
 */
import { childEnvironment } from "../../src/sandbox/environment.ts";
import { exec, type ExecSettings } from "../../src/sandbox/exec.ts";
import type { ExecResult } from "../../src/tool.ts";
import type { TestTree } from "../helpers/worktree.ts";

/** The environment of children, with the tree's home. */
export function environment(tree: TestTree): Record<string, string> {
  return { ...childEnvironment(Deno.env.toObject()), HOME: tree.home };
}

/** Runs a script of /bin/sh in the worktree. */
export function sh(tree: TestTree, script: string, more: Partial<ExecSettings> = {}): Promise<ExecResult> {
  return exec(["/bin/sh", "-c", script], {
    cwd: tree.work,
    env: environment(tree),
    timeout: 20_000,
    captureDirectory: tree.root,
    ...more,
  });
}

/** Whether a process still exists and is no zombie. */
export function isAlive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) [ZX] /s.test(Deno.readTextFileSync(`/proc/${pid}/stat`));
  } catch {
    return false;
  }
}

/** Waits until something holds; fails after ten seconds. */
export async function until(what: string, holds: () => boolean): Promise<void> {
  for (let i = 0; i < 500; i++) {
    if (holds()) return;
    await new Promise((done) => setTimeout(done, 20));
  }
  throw new Error(`still not: ${what}`);
}

/** Descriptors that this process has open. */
export function openDescriptors(): number {
  return [...Deno.readDirSync("/proc/self/fd")].length;
}
