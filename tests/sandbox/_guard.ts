/**
 * A guard over a test tree, without policy and worker.
 *
 * @module
 */
import assert from "node:assert/strict";
import { ToolError, type ToolErrorKind } from "../../src/errors.ts";
import type { GuardRule, GuardScope } from "../../src/policy/types.ts";
import { createWorkspace } from "../../src/sandbox/guard.ts";
import type { Workspace } from "../../src/tool.ts";
import type { TestTree } from "../helpers/worktree.ts";

/** The scope of a tool that reads and writes the worktree. */
export function scopeOf(tree: TestTree, more: Partial<GuardScope> = {}): GuardScope {
  return {
    worktree: tree.work,
    home: tree.home,
    roots: [{ path: tree.work, access: "write" }],
    rules: [],
    consented: [],
    ...more,
  };
}

/** A guard that may write. */
export function guard(tree: TestTree, more: Partial<GuardScope> = {}): Workspace {
  return createWorkspace(scopeOf(tree, more));
}

/** A guard that may only read. */
export function reader(tree: TestTree, rules: readonly GuardRule[] = []): Workspace {
  return guard(tree, { roots: [{ path: tree.work, access: "read" }], rules });
}

/** The text of a file. */
export function textOf(workspace: Workspace, path: string): string {
  return new TextDecoder().decode(workspace.readFile(path));
}

/** Bytes of a text. */
export function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** Asserts that a call is refused with this kind and a one-line message that matches. */
export function refused(call: () => unknown, kind: ToolErrorKind, message?: RegExp): void {
  assert.throws(call, (error: unknown) => {
    assert.ok(error instanceof ToolError, `${error}`);
    assert.equal(error.kind, kind, error.message);
    assert.doesNotMatch(error.message, /\n/);
    assert.ok(error.message.length < 400, "the message is short");
    if (message) assert.match(error.message, message);
    return true;
  });
}

/** Names in a directory on disk, sorted. */
export function names(path: string): string[] {
  return [...Deno.readDirSync(path)].map(({ name }) => name).sort();
}

/** Runs a program of the system and waits for it. */
export async function system(program: string, ...args: string[]): Promise<void> {
  const { success } = await new Deno.Command(program, { args, stdout: "null", stderr: "inherit" }).spawn()
    .status;
  assert.ok(success, `${program} ${args.join(" ")}`);
}
