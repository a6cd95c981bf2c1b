/**
 * Talking to a sub-agent whose run is over: its session goes on, with the permissions that its place in the tree has.
 *
 * @module
 */
import { ToolError } from "../errors.ts";
import type { UiSink } from "../ui/sink.ts";
import { type OpenSub, openSub, type PortMaker } from "./delegation.ts";
import type { Head, Shared } from "./heads.ts";
import type { Run } from "./runs.ts";

/** A sub-agent that a person talks to. */
export interface FocusedHead extends OpenSub {
  /** Releases its session, and those of the agents between it and the root. */
  close(): void;
}

/**
 * Opens a run's session again, and those on the way to it.
 *
 * @param sink the person's own user interface: the sub-agent is shown as the root is
 * @throws {ToolError} where the run is at work, or a role is gone
 */
export async function openFocus(
  shared: Shared,
  root: Head,
  run: Run,
  sink: UiSink,
  port: PortMaker,
): Promise<FocusedHead> {
  if (run.parent === null || run.role === null) throw new ToolError("the root needs no opening");
  if (run.status === "running") throw new ToolError(`run #${run.id} is at work`);
  const above = run.parent === root.run ? null : await openFocus(shared, root, run.parent, sink, port);
  try {
    const sub = await openSub(
      shared,
      above?.head ?? root,
      { role: run.role, task: run.task, teams: [], resumed: run.session, run },
      port,
      (self) => ({
        emit: (event) => sink.emit(event),
        confirm: (request) => sink.confirm({ ...request, asker: self.session.name }),
        ...(sink.ask ? { ask: (question) => sink.ask!({ ...question, asker: self.session.name }) } : {}),
      }),
    );
    return {
      ...sub,
      close() {
        sub.head.session.close();
        above?.close();
      },
    };
  } catch (error) {
    above?.close();
    throw error;
  }
}
