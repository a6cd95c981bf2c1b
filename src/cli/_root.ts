/**
 * The root agent of `polyglav run`, as sub-agents and questions see it.
 *
 * @module
 */
import { deliverAnswers } from "../engine/ask_routes.ts";
import type { Head, HeadParts } from "../engine/heads.ts";
import { HeadPort } from "../engine/host_port.ts";
import type { Instructions } from "../engine/prompt.ts";
import type { Run } from "../engine/runs.ts";
import { Todos } from "../engine/todos.ts";
import { PolyglavError } from "../errors.ts";
import type { Provider } from "../provider/provider.ts";
import type { OpenSession } from "../session/store.ts";
import type { HostPort } from "../tool.ts";
import type { UiSink } from "../ui/sink.ts";
import type { Invocation } from "./_command.ts";
import { openShared } from "./_heads.ts";
import type { Host } from "./_host.ts";

/** The root's port, and how a continued run begins. */
export interface RootHead {
  readonly port: HostPort;
  /** The root and every sub-agent, in the order of start. */
  readonly runs: readonly Run[];
  /**
   * What a run that is continued is told: the answers to its parked questions, then the prompt.
   *
   * @throws {PolyglavError} where everything still waits for an answer
   */
  begin(prompt: string): string;
}

/** Makes the root of a run. */
export async function rootHead(
  host: Host,
  { provider, session, parts, sink, instructions, task, values }: {
    readonly provider: Provider;
    readonly session: OpenSession;
    readonly parts: HeadParts;
    readonly sink: UiSink;
    readonly instructions: Instructions | null;
    readonly task: string;
    readonly values: Invocation["values"];
  },
): Promise<RootHead> {
  const shared = await openShared(host, {
    sink,
    instructions,
    trust: values.trust === true,
    unattended: values.unattended === true,
    models: (values["approve-model"] ?? []) as readonly string[],
  });
  const about = { role: null, session: session.name, sessionId: session.id, parent: null, task };
  const head: Head = {
    run: shared.runs.start(about),
    parent: null,
    session,
    provider,
    parts,
    depth: 0,
    teams: [],
    task,
    todos: Todos.of(session.object()),
    halted: null,
  };
  return {
    port: new HeadPort(shared, () => head),
    runs: shared.runs.list(),
    begin(prompt) {
      const { texts, waiting } = deliverAnswers(shared, head);
      if (texts.length === 0 && waiting.length > 0 && prompt.trim() === "") {
        const { id, question } = waiting[0]!;
        throw new PolyglavError(
          `session "${session.name}" waits for an answer to ask #${id} (${
            question.slice(0, 80)
          }); give one with: polyglav asks answer ${id} TEXT`,
        );
      }
      const rest = prompt.trim() === "" && texts.length === 0 ? "Go on where you stopped." : prompt;
      return [...texts, rest].filter((text) => text.trim() !== "").join("\n\n");
    },
  };
}
