/**
 * Sessions as a tree: who started whom.
 *
 * @module
 */
import { readSession, sessionNames, type SessionPlace } from "../session/store.ts";
import type { SessionObject } from "../session/turns.ts";
import { cleanForTerminal } from "../text/ansi.ts";

/** One session with those that it started. */
export interface SessionNode {
  readonly name: string;
  /** Six characters; empty where the session cannot be read. */
  readonly id: string;
  readonly role: string | null;
  /** Of its last turn; `missing` where the session cannot be read. */
  readonly status: string;
  readonly turns: number;
  /** Beginning of its first prompt. */
  readonly task: string;
  readonly children: readonly SessionNode[];
}

/**
 * The tree below a session, or all trees of the worktree.
 *
 * @throws {SessionError} where the named session does not exist
 */
export async function sessionTree(place: SessionPlace, name: string | null): Promise<readonly SessionNode[]> {
  if (name !== null) return [await nodeOf(place, name, new Set(), true)];
  const names = sessionNames(place), objects = new Map<string, SessionObject | null>();
  for (const each of names) objects.set(each, await readOrNull(place, each));
  const below = new Set([...objects.values()].flatMap((object) => object?.sub_sessions ?? []));
  const nodes: SessionNode[] = [];
  for (const each of names) if (!below.has(each)) nodes.push(await nodeOf(place, each, new Set(), false));
  return nodes;
}

async function readOrNull(place: SessionPlace, name: string): Promise<SessionObject | null> {
  try {
    return await readSession(place, name);
  } catch {
    return null;
  }
}

async function nodeOf(
  place: SessionPlace,
  name: string,
  above: ReadonlySet<string>,
  strict: boolean,
): Promise<SessionNode> {
  const object = strict ? await readSession(place, name) : await readOrNull(place, name);
  const path = new Set([...above, name]), children: SessionNode[] = [];
  for (const child of object?.sub_sessions ?? []) {
    // A log that was tampered with may name itself.
    if (!path.has(child)) children.push(await nodeOf(place, child, path, false));
  }
  const first = object?.turns[0]?.parts[0];
  return {
    name,
    id: object?.session_id ?? "",
    role: object?.role ?? null,
    status: object === null ? "missing" : object.turns.at(-1)?.status ?? "empty",
    turns: object?.turns.length ?? 0,
    task: first?.type === "user" ? first.text.slice(0, 200) : "",
    children,
  };
}

/** The tree as lines. */
export function formatTree(nodes: readonly SessionNode[], depth = 0): string {
  return nodes.map((node) => {
    const facts = [node.role, node.status].filter((fact) => fact !== null).join(", ");
    const task = cleanForTerminal(node.task.slice(0, 60), { line: true });
    const line = `${"  ".repeat(depth)}${node.name} (${cleanForTerminal(facts, { line: true })})${
      task ? `  ${task}` : ""
    }`;
    return `${line}\n${formatTree(node.children, depth + 1)}`;
  }).join("");
}
