/**
 * Who answers what an agent asks, and what an answer does.
 *
 * Source: "Asking the human or the lead" of the tools specification.
 *
 * @module
 */
import { messageOf, PolicyDenied, ToolError } from "../errors.ts";
import type { Provider } from "../provider/provider.ts";
import type { Action } from "../tool.ts";
import type { Question } from "../ui/sink.ts";
import type { AskPlace, ParkedAsk } from "./asks.ts";
import { type Head, questionsOf, type Shared } from "./heads.ts";
import { consultation, DECIDE, DECIDE_PERMISSION } from "./prompts.ts";
import { readConsent } from "./verdicts.ts";

/** A question as the tool hands it over. */
export interface AskInput {
  readonly question: string;
  readonly context?: string;
  readonly options?: readonly string[];
  readonly target?: "human" | "lead";
  readonly kind?: "direction" | "permission";
  readonly permission?: string;
}

/** What nobody answers. */
export const NOBODY: string =
  "ask has no one to answer (no lead agent and no interactive terminal) - decide autonomously or return the question as an open item";

/** Asks, and returns what the asking agent is told. @throws {ToolError} where nobody answers */
export async function routeAsk(
  shared: Shared,
  head: Head,
  input: AskInput,
  signal?: AbortSignal,
): Promise<string> {
  if (input.question.trim() === "") throw new ToolError("the question is empty", "invalid_arguments");
  return (input.kind ?? "direction") === "permission"
    ? await askPermission(shared, head, input, signal)
    : await askDirection(shared, head, input, signal);
}

async function askDirection(
  shared: Shared,
  head: Head,
  input: AskInput,
  signal?: AbortSignal,
): Promise<string> {
  const wanted = input.target ?? (head.parts.settings.ask_policy.direction === "human" ? "human" : "lead");
  const lead = async () => head.parent ? await consult(head.parent, input, head.task, signal) : null;
  if (wanted === "lead") {
    const answer = await lead();
    if (answer !== null) return answer;
  }
  if (shared.unattended) return park(shared, head, input);
  if (shared.sink.ask) {
    return await askPerson(shared, head, input, signal) ??
      "[cancelled] No answer given - decide autonomously or return the question as an open item";
  }
  const answer = wanted === "human" ? await lead() : null;
  if (answer === null) throw new ToolError(NOBODY);
  return answer;
}

interface Wanted {
  /** As asked for. */
  readonly asked: string;
  readonly name: string | null;
  readonly key: string;
  readonly ceiling: Action;
}

async function askPermission(
  shared: Shared,
  head: Head,
  input: AskInput,
  signal?: AbortSignal,
): Promise<string> {
  const wanted = wantedOf(shared, head, input.permission);
  const refused = fixed(shared, head, wanted);
  if (refused) return refused;
  const policy = head.parts.settings.ask_policy.permission;
  if (policy === "deny") return `[denied] Permission "${wanted.asked}" grants are disabled.`;
  const about = { ...input, permission: wanted.asked };
  const byPerson = policy === "human" || wanted.ceiling === "ask" || head.parent === null;
  if (byPerson && shared.sink.ask) {
    const answer = await askPerson(shared, head, about, signal);
    return settle(head, wanted, answer ?? "no", "human");
  }
  if (byPerson && shared.unattended) return park(shared, head, about);
  // An agent may not give what only a person may.
  if (head.parent === null || wanted.ceiling === "ask") throw new ToolError(NOBODY);
  const answer = await consult(head.parent, about, head.task, signal);
  if (answer === null) throw new ToolError(NOBODY);
  return settle(head, wanted, answer, "supervisor");
}

/** What is asked for: a tool (its key, for it alone), or a whole key. */
function wantedOf(shared: Shared, head: Head, permission: string | undefined): Wanted {
  const asked = permission?.trim() ?? "";
  if (asked === "") {
    throw new ToolError(
      'a permission request names the tool or the key in "permission"',
      "invalid_arguments",
    );
  }
  const tool = shared.registry.get(asked), key = tool?.permission ?? asked;
  const keys = new Set([
    ...Object.keys(head.parts.settings.tool_permission).filter((each) => !each.startsWith("bash_")),
    ...shared.registry.list().map((each) => each.permission as string),
  ]);
  if (!keys.has(key)) {
    const names = [...keys].sort().join(", ");
    throw new ToolError(
      `"${asked.slice(0, 80)}" is no tool and no permission key; keys are ${names}`,
      "not_found",
    );
  }
  const ceiling = (head.parent ?? head).parts.ceiling(key);
  return { asked: asked.slice(0, 80), name: tool?.name ?? null, key, ceiling };
}

/** The answer where there is nothing to decide; null where there is. */
function fixed(shared: Shared, head: Head, { asked, name, key, ceiling }: Wanted): string | null {
  const { policy } = head.parts;
  const tools = shared.registry.list().filter((tool) =>
    name === null ? tool.permission === key : tool.name === name
  );
  const standing = tools.map((tool) => policy.allowed(tool));
  if (standing.length > 0 && standing.every(({ action }) => action === "allow")) {
    return `[granted] Permission "${asked}" is there already; what was refused has another reason.`;
  }
  const rule = `tool_permission.${key}`;
  const closed = standing.filter((each) =>
    each.action === "deny" && each.rule !== undefined && each.rule !== rule
  );
  if (standing.length > 0 && closed.length === standing.length) {
    return `[denied] Permission "${asked}" cannot be granted (${closed[0]!.rule}).`;
  }
  return ceiling === "deny"
    ? `[denied] Permission "${asked}" cannot be granted (above the delegation ceiling).`
    : null;
}

/** Does what an answer to a permission request says. */
function settle(head: Head, wanted: Wanted, answer: string, origin: "human" | "supervisor"): string {
  const consent = readConsent(answer), { asked } = wanted;
  const scope = consent === "always" && origin === "human" ? "always" : "once";
  if (consent !== "once" && consent !== "always") {
    record(head, wanted, "declined", scope, origin);
    return origin === "human"
      ? `[denied] Permission "${asked}" declined by the operator.`
      : `[denied] Permission "${asked}" not approved by the lead.`;
  }
  try {
    head.parts.grant({ name: wanted.name, permission: wanted.key, scope, origin, ceiling: wanted.ceiling });
  } catch (error) {
    if (!(error instanceof PolicyDenied)) throw error;
    record(head, wanted, "denied", scope, origin);
    return `[denied] ${messageOf(error)}`;
  }
  record(head, wanted, "granted", scope, origin);
  return origin === "human"
    ? `[granted] Permission "${asked}" approved (${scope}).`
    : `[granted] Permission "${asked}" approved for one use.`;
}

function record(
  head: Head,
  { asked, key }: Wanted,
  decision: "granted" | "declined" | "denied",
  scope: "once" | "always",
  origin: "human" | "supervisor",
): void {
  head.session.permission({
    tool: asked,
    action: "grant",
    decision,
    timestamp: new Date().toISOString(),
    rule: `grant_permission.${key}`,
    reason: `asked of ${origin === "human" ? "the operator" : "the lead"}`,
    scope,
    granted_by: origin,
  });
}

async function askPerson(
  shared: Shared,
  head: Head,
  { question, context, options, permission }: AskInput,
  signal?: AbortSignal,
): Promise<string | null> {
  const asked: Question = {
    question,
    context,
    options,
    permission,
    signal,
    ...(head.parent ? { asker: head.session.name } : {}),
  };
  const answer = await questionsOf(shared).run(async () =>
    signal?.aborted ? null : await shared.sink.ask!(asked)
  );
  return answer === null || answer.trim() === "" ? null : answer;
}

function park(shared: Shared, head: Head, input: AskInput): string {
  const path: AskPlace[] = [];
  for (let at: Head | null = head; at; at = at.parent) {
    path.unshift({ session: at.session.name, role: at.run.role });
  }
  const { id } = shared.asks.park({
    question: input.question,
    path,
    context: input.context ?? "",
    options: input.options ?? [],
    kind: input.kind ?? "direction",
    permission: input.permission ?? "",
  });
  return `[parked] Ask #${id} parked for the operator (session ${head.session.name}); do what does not depend on it, then end: the answer continues this session.`;
}

/** Asks a lead's model once, without tools. Null: no answer came. */
async function consult(
  lead: Head,
  input: AskInput,
  task: string,
  signal?: AbortSignal,
): Promise<string | null> {
  const system = input.permission ? DECIDE_PERMISSION : DECIDE;
  const text = await complete(lead.provider, system, consultation(input, task), signal);
  return text === "" ? null : text;
}

/** One request without tools; the text, empty where none came. */
export async function complete(
  provider: Provider,
  system: string,
  user: string,
  signal?: AbortSignal,
): Promise<string> {
  let text = "";
  try {
    const messages = [{ role: "system", content: system }, {
      role: "user",
      content: user.toWellFormed(),
    }] as const;
    for await (const event of provider.chat(messages, [], { model: provider.model, signal })) {
      if (event.type === "token") text += event.text;
      else if (event.type === "error") return "";
      else if (event.type === "done" && (event.finish === "cut" || event.finish === "cancelled")) return "";
    }
  } catch {
    return "";
  }
  return text.trim();
}

/**
 * What a session is told of the parked questions that were answered: its own answers, which are delivered thereby
 * (permissions as grants), and which of its sub-agents have one waiting.
 *
 * @returns one paragraph each, and the asks that still wait for an answer
 */
export function deliverAnswers(
  shared: Shared,
  head: Head,
): { readonly texts: readonly string[]; readonly waiting: readonly ParkedAsk[] } {
  const texts: string[] = [], waiting: ParkedAsk[] = [], done: number[] = [];
  for (const ask of shared.asks.below(head.session.name)) {
    if (ask.status === "pending" || ask.answer === null) waiting.push(ask);
    else if (!shared.asks.vouched(ask)) {
      waiting.push(ask);
      shared.sink.emit({
        type: "warning",
        message:
          `the answer to ask #${ask.id} was not given by "polyglav asks answer" on this machine, so it does not count`,
      });
    } else if (ask.origin === head.session.name) {
      texts.push(`[answer to parked ask #${ask.id}] ${answerText(shared, head, ask)}`);
      done.push(ask.id);
    } else {
      const next = ask.path[ask.path.findIndex(({ session }) => session === head.session.name) + 1]!;
      texts.push(
        `[parked ask #${ask.id} of ${
          next.role ?? "a sub-agent"
        } was answered] Delegate to role "${next.role}" again with resume "${next.session}", so that it goes on.`,
      );
    }
  }
  shared.asks.delivered(done);
  return { texts, waiting };
}

function answerText(shared: Shared, head: Head, ask: ParkedAsk): string {
  if (ask.kind === "direction") return ask.answer!;
  const wanted = wantedOf(shared, head, ask.permission);
  if (head.parts.settings.ask_policy.permission === "deny") {
    return `[denied] Permission "${wanted.asked}" grants are disabled.`;
  }
  return fixed(shared, head, wanted) ?? settle(head, wanted, ask.answer!, "human");
}
