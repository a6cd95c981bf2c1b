/**
 * The port by which tools without access reach the engine: ask, catalog, delegate, team, handoff, todo.
 *
 * @module
 */
import type { Catalog, Kind } from "../catalog/catalog.ts";
import { entryLine, entryText } from "../catalog/text.ts";
import { ToolError } from "../errors.ts";
import type { HostCallOptions, HostPort } from "../tool.ts";
import { type AskInput, NOBODY, routeAsk } from "./ask_routes.ts";
import { delegate, type SubTask } from "./delegation.ts";
import type { Head, Shared } from "./heads.ts";
import { runTeam, type TeamTask } from "./teams.ts";

type Input = Readonly<Record<string, unknown>>;

/** The port of one agent. */
export class HeadPort implements HostPort {
  readonly #shared: Shared;
  readonly #head: () => Head | null;

  /** @param shared what the agents of the run share; @param head the agent whose calls come here, once it is there */
  constructor(shared: Shared, head: () => Head | null) {
    this.#shared = shared;
    this.#head = head;
  }

  /** Whether a person can be asked. */
  get attended(): boolean {
    return this.#shared.sink.ask !== undefined;
  }

  /** Performs an operation. @throws {ToolError} for an unknown one and for whatever it refuses */
  async call(operation: string, input: Input, options: HostCallOptions = {}): Promise<unknown> {
    const head = this.#head(), shared = this.#shared;
    if (operation === "catalog") return catalogCall(shared.catalog, input, head);
    if (!head) throw new ToolError("the run is not there yet");
    const port = (of: () => Head | null): HostPort => new HeadPort(shared, of);
    switch (operation) {
      case "ask":
        return await routeAsk(shared, head, input as unknown as AskInput, options.signal);
      case "delegate":
        return await delegate(shared, head, input as unknown as SubTask, options, port);
      case "team":
        return await runTeam(shared, head, input as unknown as TeamTask, options, port);
      case "handoff":
        return handOff(shared, head, String(input.target), input.done === true);
      case "todo":
        return head.todos.apply(input);
      default:
        throw new ToolError(`this host does not offer "${operation}"`);
    }
  }
}

/** The port where there is no run: the catalog works, all else says why not. */
export function catalogPort(catalog: () => Catalog, readOnly: boolean): HostPort {
  const refusals: Readonly<Record<string, string>> = {
    ask: NOBODY,
    handoff: NO_FOCUS,
    delegate: 'delegate needs a conversation; use polyglav run -p "..."',
    team: 'team needs a conversation; use polyglav run -p "..."',
    todo: "todo keeps its list in a session, and there is none here; use polyglav run",
  };
  return {
    call(operation, input) {
      return Promise.resolve().then(() => {
        if (operation === "catalog") return catalogCall(catalog(), input, null, readOnly);
        // What is not there is said first: it is the same mistake in a conversation.
        if (operation === "delegate") catalog().get("role", String(input.role));
        if (operation === "team" && catalog().get("team", String(input.name)).stages.length === 0) {
          throw new ToolError(`team "${input.name}" has no stages`);
        }
        throw new ToolError(refusals[operation] ?? `this host does not offer "${operation}"`);
      });
    },
  };
}

const NO_FOCUS =
  "handoff is only available in the REPL focus session - answer with what you have, or delegate the rest";

function handOff(shared: Shared, head: Head, target: string, done: boolean): string {
  if (!shared.focus || (head.parent && !shared.focus.holds?.(head.run))) throw new ToolError(NO_FOCUS);
  const to = shared.runs.resolve(head.run, target);
  if (to === head.run) throw new ToolError("handoff needs another run than this one", "invalid_arguments");
  shared.focus.handOver(head.run, to);
  head.run.status = done ? "done" : "paused";
  head.halted = `control was handed to #${to.id}`;
  return `[handoff] Control handed to #${to.id} ${to.role ?? "root"}. This run is ${
    done ? "finished" : "paused"
  }; its turn ends here.`;
}

const KINDS: readonly string[] = ["role", "team", "skill"];
const FIELDS: Readonly<Record<Kind, readonly string[]>> = {
  role: [
    "description",
    "system_prompt",
    "model",
    "skills",
    "tags",
    "tool_permission",
    "grant_permission",
    "ask_policy",
  ],
  team: ["description", "tags", "stages", "loop"],
  skill: ["content", "description", "tags"],
};

/** The `catalog` operation. */
function catalogCall(catalog: Catalog, input: Input, head: Head | null, readOnly = false): string {
  const { action } = input;
  if (action === "reload") {
    catalog.reload();
    return "Reloaded catalogs: roles, teams, skills";
  }
  if (!["list", "show", "validate", "save", "remove"].includes(String(action))) {
    throw new ToolError("action must be list, show, validate, save, remove, or reload", "invalid_arguments");
  }
  const name = input.name === undefined ? "" : String(input.name).trim();
  if (action === "validate" && input.kind === undefined) return checked(catalog.validate());
  if (!KINDS.includes(String(input.kind))) {
    throw new ToolError("kind must be role, team, or skill", "invalid_arguments");
  }
  const kind = input.kind as Kind;
  if (action === "list") {
    const lines = catalog.list(kind).map((entry) => entryLine(kind, entry));
    return lines.length > 0 ? lines.join("\n") : `(no ${kind}s)`;
  }
  if (action === "validate") return checked(catalog.validate(kind, name || undefined));
  if (name === "") throw new ToolError(`name is required to ${action} a ${kind}`, "invalid_arguments");
  if (action === "show") return entryText(kind, catalog.get(kind, name));
  // The policy has refused this already; what changes nothing changes nothing here either.
  if (readOnly || (head && head.parts.policy.readOnly === true)) {
    throw new ToolError(`this mode changes nothing, so ${action} is off`, "permission");
  }
  if (action === "remove") {
    catalog.remove(kind, name);
    return `Removed ${kind}: ${name} (local)`;
  }
  const given = Object.fromEntries(
    FIELDS[kind].filter((field) => input[field] !== undefined).map((field) => [field, input[field]]),
  );
  const notes = catalog.save(kind, name, given);
  return [`Saved ${kind}: ${name} (local)`, ...notes.map((note) => `note: ${note}`)].join("\n");
}

function checked(problems: readonly string[]): string {
  return problems.length === 0 ? "ok" : problems.join("\n");
}
