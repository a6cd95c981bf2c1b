/**
 * A session on disk for tests, and its files as bytes.
 *
 * @module
 */
import {
  type OpenSession,
  openSession,
  type OpenSessionOptions,
  type SessionPlace,
} from "../../src/session/store.ts";
import { join } from "../../src/text/path.ts";
import { makeWorktree, type TestTree } from "../helpers/worktree.ts";

/** A tree with the place of its sessions. */
export interface SessionTree extends TestTree {
  readonly place: SessionPlace;
  /** Path of a session's log. */
  log(name: string): string;
  /** Path of a session's anchor. */
  anchor(name: string): string;
  /** Lines of a log. */
  lines(name: string): string[];
  /** Replaces a log. */
  setLines(name: string, lines: readonly string[]): void;
}

/** Makes a worktree whose state directory lies in its home. */
export function sessionTree(): SessionTree {
  const tree = makeWorktree(), stateDir = join(tree.home, "state");
  const log = (name: string): string => join(tree.work, ".polyglav/sessions", `${name}.jsonl`);
  const anchors = (): string =>
    join(stateDir, "anchors", [...Deno.readDirSync(join(stateDir, "anchors"))][0]!.name);
  return Object.assign(tree, {
    place: { worktree: tree.work, stateDir },
    log,
    anchor: (name: string): string => join(anchors(), `${name}.anchor`),
    lines: (name: string): string[] => Deno.readTextFileSync(log(name)).split("\n").slice(0, -1),
    setLines(name: string, lines: readonly string[]): void {
      Deno.writeTextFileSync(log(name), lines.map((line) => `${line}\n`).join(""));
    },
  });
}

/** Opens a session with the defaults of tests. */
export function open(place: SessionPlace, options: Partial<OpenSessionOptions> = {}): Promise<OpenSession> {
  return openSession({ name: "s", noiseTools: [], maxToolChars: 0, ...place, ...options });
}

/** The members of a turn that do not matter here. */
export const turn = { model: "m", provider: "p", mode: "build", reasoning: "auto", prompt: "hello" } as const;

/** Writes a session of ten records: one turn with two tool calls. */
export async function writeSample(place: SessionPlace, name = "s"): Promise<void> {
  const session = await open(place, { name });
  session.startTurn(turn);
  session.toolStart({ id: "a", tool: "file_read", input: { path: "a.txt" }, round: 1 });
  session.permission({
    tool: "file_read",
    action: "allow",
    decision: "granted",
    timestamp: "2026-01-02T03:04:05.000Z",
    rule: "tool_permission.read",
    reason: "allowed",
    path: "a.txt",
  });
  session.toolEnd({ id: "a", output: "# a.txt", is_error: false });
  session.toolStart({ id: "b", tool: "grep", input: { pattern: "x" }, round: 2 });
  session.toolEnd({ id: "b", output: "Error: no", is_error: true, analysis: "it failed" });
  session.text("text", "done", 3);
  session.error(500, "once");
  session.endTurn("ok", { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 });
  session.close();
}
