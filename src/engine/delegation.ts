/**
 * Sub-agents: an engine of its own, with its own session and narrower permissions, that works on one task and hands back
 * its answer.
 *
 * @module
 */
import type { Role, Skill } from "../catalog/types.ts";
import { messageOf, ToolError } from "../errors.ts";
import type { Provider } from "../provider/provider.ts";
import type { HostCallOptions, HostPort } from "../tool.ts";
import type { UiEvent, UiSink } from "../ui/sink.ts";
import { complete, deliverAnswers } from "./ask_routes.ts";
import { rebuild } from "./context.ts";
import { Engine, type TurnResult } from "./engine.ts";
import { type Head, questionsOf, type Shared } from "./heads.ts";
import { rolePrompt, SUMMARISE } from "./prompts.ts";
import type { Run } from "./runs.ts";
import { Todos } from "./todos.ts";

/** What a sub-agent is to do. */
export interface SubTask {
  readonly role: string;
  readonly task: string;
  readonly skills?: readonly string[];
  readonly mode?: string;
  /** Session, run or `last`; empty: a new one. */
  readonly resume?: string;
  readonly context?: "continue" | "compact" | "new";
  /** Teams that it works in. */
  readonly teams: readonly string[];
}

/** What came of it. */
export interface SubResult {
  readonly session: string;
  readonly result: TurnResult;
  /** Keys for which the role asked for more than it got. */
  readonly reduced: readonly string[];
}

/** Makes the port of a sub-agent; host_port.ts gives it, so that the two need not know each other. */
export type PortMaker = (head: () => Head | null) => HostPort;

/** Longest text of a session that is summarised. */
const SUMMARY_SOURCE = 60_000;
const FACTS = 320;

/** The `delegate` operation: runs a task and says what came of it. @throws {ToolError} where it cannot or did not */
export async function delegate(
  shared: Shared,
  head: Head,
  task: Omit<SubTask, "teams">,
  options: HostCallOptions,
  port: PortMaker,
): Promise<string> {
  const { max_depth } = head.parts.settings.delegate;
  if (head.depth >= max_depth) {
    throw new ToolError(`delegation depth limit reached (${max_depth}): do this yourself`, "permission");
  }
  const sub = await runSub(shared, head, { ...task, teams: head.teams }, options, port);
  const { result } = sub, name = task.role;
  if (result.status === "ok" || result.status === "truncated") {
    const text = result.content?.trim() ? result.content : `(${facts(result) || "no content"})`;
    return `[delegate ${name}] ${text}`;
  }
  const why = failureOf(result), more = result.status === "cancelled" ? "" : facts(result);
  throw new ToolError(
    `delegated task failed: ${why}${
      more ? ` (${more})` : ""
    }; to go on there, delegate to ${name} again with resume "${sub.session}"`,
  );
}

/** Why a turn failed, in words. */
export function failureOf({ status, errors }: TurnResult): string {
  if (status === "cancelled") return "cancelled";
  return errors.map(({ message }) => message).join("; ") || `it ended as ${status}`;
}

/** What a turn without an answer did. */
function facts({ toolCalls }: TurnResult): string {
  if (toolCalls.length === 0) return "";
  const wrote = [
    ...new Set(
      toolCalls.flatMap(({ name, arguments: args }) =>
        /write|edit/.test(name) && typeof args.path === "string" ? [args.path] : []
      ),
    ),
  ];
  const command = toolCalls.findLast(({ arguments: args }) => typeof args.command === "string");
  const parts = ["no final text", `${toolCalls.length} tool call${toolCalls.length === 1 ? "" : "s"}`];
  if (wrote.length > 0) {
    parts.push(
      `wrote: ${wrote.slice(0, 5).join(", ")}${wrote.length > 5 ? ` (+${wrote.length - 5} more)` : ""}`,
    );
  }
  if (command) parts.push(`last bash: $ ${String(command.arguments.command).split("\n", 1)[0]}`);
  return parts.join("; ").slice(0, FACTS).toWellFormed();
}

/** Runs one sub-agent to its end. @throws {ToolError} where it cannot be started */
export async function runSub(
  shared: Shared,
  head: Head,
  task: SubTask,
  { signal = new AbortController().signal, progress }: HostCallOptions,
  port: PortMaker,
): Promise<SubResult> {
  if (task.task.trim() === "") throw new ToolError("the task is empty", "invalid_arguments");
  const role = shared.catalog.get("role", task.role);
  const resumed = task.context === "new" ? null : await resumable(shared, head, role.name, task.resume ?? "");
  const sub = await openSub(
    shared,
    head,
    { ...task, resumed },
    port,
    (self) => subSink(shared, self, role.name, progress),
  );
  const { session, run } = sub.head;
  try {
    for (const name of sub.missing) progress?.(`${role.name}: skill "${name}" does not exist, left out`);
    if (resumed !== null && task.context === "compact") {
      await compactSession(sub.head, session.object().turns.length, signal);
    }
    const { texts } = deliverAnswers(shared, sub.head);
    const result = await sub.engine.runTurn([...texts, task.task].join("\n\n"), signal);
    shared.runs.end(run, result.status, result.usage);
    return { session: session.name, result, reduced: sub.head.parts.reduced };
  } catch (error) {
    shared.runs.end(run, "error", null);
    throw error;
  } finally {
    session.close();
  }
}

/** A sub-agent that is ready for a turn. Close its session at the end. */
export interface OpenSub {
  readonly head: Head;
  readonly engine: Engine;
  /** Skills that do not exist. */
  readonly missing: readonly string[];
}

/**
 * Opens a sub-agent: its permissions, its session and its engine.
 *
 * @param about `resumed`: name of the session that goes on; `run`: the run that goes on, without one a new one starts
 * @param sink its user interface
 * @throws {ToolError} where it cannot be started
 */
export async function openSub(
  shared: Shared,
  head: Head,
  about: Omit<SubTask, "resume" | "context"> & { readonly resumed: string | null; readonly run?: Run },
  port: PortMaker,
  sink: (self: Head) => UiSink,
): Promise<OpenSub> {
  const role = shared.catalog.get("role", about.role);
  const provider = providerFor(shared, head, role);
  const { skills, missing } = skillsOf(shared, role, about.skills ?? []);
  let sub: Head | null = null;
  const parts = await head.parts.open({
    role,
    mode: about.mode,
    systemPrompt: rolePrompt(role, skills),
    host: port(() => sub),
  });
  const session = await shared.openSession({
    name: about.resumed ?? undefined,
    role: role.name,
    parentId: head.session.id,
  });
  try {
    if (about.resumed === null) head.session.subSession(session.name);
    const run = about.run ?? shared.runs.start({
      ...{ role: role.name, session: session.name, sessionId: session.id, task: about.task },
      parent: head.run,
    });
    const self: Head = {
      run,
      parent: head,
      session,
      provider,
      parts,
      depth: head.depth + 1,
      teams: about.teams,
      task: about.task,
      todos: Todos.of(session.object()),
      halted: null,
    };
    sub = self;
    const engine = new Engine({
      provider,
      dispatcher: parts.dispatcher,
      registry: shared.registry,
      policy: parts.policy,
      session,
      sink: sink(self),
      settings: parts.settings,
      instructions: shared.instructions,
      worktree: shared.worktree,
      halted: () => self.halted,
    });
    return { head: self, engine, missing };
  } catch (error) {
    session.close();
    throw error;
  }
}

/**
 * The session that is to go on: one that this agent started under the same role, or null for a new one.
 *
 * @throws {ToolError} where there is none
 */
async function resumable(shared: Shared, head: Head, role: string, resume: string): Promise<string | null> {
  const word = resume.trim().replace(/^session:/, "");
  if (word === "") return null;
  const mine = head.session.object().sub_sessions;
  const run = shared.runs.list().find((each) =>
    each.parent === head.run &&
    (each.id === Number(word.replace(/^#/, "")) || `#${each.sessionId}` === word.toLowerCase())
  );
  const names = word === "last" ? [...mine].reverse() : [
    run?.session ??
      mine.find((name) => name === word || (word.startsWith("#") && name.endsWith(`_${word.slice(1)}`))),
  ];
  for (const name of names) {
    if (name === undefined) continue;
    try {
      const session = await shared.readSession(name);
      if (session.role === role && session.parent_id === head.session.id) return name;
    } catch { /* gone, or not to be read */ }
    if (word !== "last") break;
  }
  throw new ToolError(
    `Cannot resume "${resume.trim().slice(0, 80)}": not found among your own sub-agents of the role ${role}`,
    "not_found",
  );
}

/** The provider, with the role's model. What this run's agents wrote into a role themselves has to be approved. */
function providerFor(shared: Shared, head: Head, role: Role): Provider {
  const { model } = role, own = head.provider;
  if (model === undefined || model === own.model) return own;
  if (shared.catalog.savedHere("role", role.name) && !shared.models.includes(model)) {
    throw new ToolError(
      `role "${role.name}" uses unapproved model "${model}" - start the run with --approve-model ${model}, or leave the model out`,
      "permission",
    );
  }
  return {
    name: own.name,
    model,
    chat: (messages, tools, options) => own.chat(messages, tools, { ...options, model }),
  };
}

function skillsOf(
  shared: Shared,
  role: Role,
  more: readonly string[],
): { readonly skills: Skill[]; readonly missing: string[] } {
  const skills: Skill[] = [], missing: string[] = [];
  for (const name of new Set([...role.skills ?? [], ...more])) {
    const skill = shared.catalog.find("skill", name);
    if (skill) skills.push(skill);
    else missing.push(name);
  }
  return { skills, missing };
}

/**
 * Replaces what a session knows of its first turns by a summary; its log keeps everything. Where no summary comes, it
 * stays as it is.
 *
 * @returns the summary, empty where there is none
 */
export async function compactSession(
  head: Pick<Head, "session" | "provider">,
  turns: number,
  signal: AbortSignal,
): Promise<string> {
  if (turns === 0) return "";
  const text = rebuild(head.session.object()).messages.map(({ role, content }) => `${role}: ${content ?? ""}`)
    .join("\n");
  const summary = await complete(head.provider, SUMMARISE, text.slice(-SUMMARY_SOURCE), signal);
  if (summary !== "") head.session.command("compact", summary, turns + 1);
  return summary;
}

/** What a sub-agent's user interface is: lines of progress in its caller's, and questions to the person, if there is one. */
function subSink(
  shared: Shared,
  head: Head,
  label: string,
  progress: ((text: string) => void) | undefined,
): UiSink {
  return {
    emit(event) {
      const line = lineOf(event);
      if (line !== null) progress?.(`${label}: ${line}`);
    },
    async confirm(request) {
      // Nobody is asked on behalf of a sub-agent without seeing whose call it is.
      if (!shared.sink.ask) return "nobody";
      return await questionsOf(shared).run(() =>
        shared.sink.confirm({ ...request, asker: head.session.name })
      );
    },
  };
}

function lineOf(event: UiEvent): string | null {
  switch (event.type) {
    case "tool_start": {
      const key = event.tool?.keyArg === undefined ? undefined : event.args[event.tool.keyArg];
      return `${event.name}${key === undefined ? "" : ` ${String(key).split("\n", 1)[0]!.slice(0, 80)}`}`;
    }
    case "tool_progress":
      return event.text;
    case "tool_end":
      return event.isError ? `! ${event.content.split("\n", 1)[0]!.slice(0, 200)}` : null;
    case "retry":
      return `trying again in ${event.seconds.toFixed(1)}s: ${messageOf(event.reason)}`;
    case "warning":
    case "error":
      return event.message;
    default:
      return null;
  }
}
