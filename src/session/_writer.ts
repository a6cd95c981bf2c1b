/**
 * What the engine writes to: each method is one record, on disk before it returns.
 *
 * @module
 */
import type { PermissionEntry } from "../policy/types.ts";
import type { Usage } from "../provider/provider.ts";
import type { SessionBuilder } from "./_builder.ts";
import { SessionError } from "./error.ts";
import type { SessionLog } from "./log.ts";
import type { RecordBody } from "./records.ts";
import type { SessionObject, SessionWriter, TurnStatus } from "./turns.ts";

/** A session that is open for writing, with what later issues of its kind need beside {@link SessionWriter}. */
export interface OpenSession extends SessionWriter {
  /** What had to be repaired or accepted when it was opened, one line each, for the user. */
  readonly notes: readonly string[];
  /** It continues a session that existed before. */
  readonly resumed: boolean;
  /** Notes the name of a session that was started on behalf of this one. */
  subSession(name: string): void;
  /** Records a command of the user that changes what the model is sent, such as a compaction. */
  command(text: string, summary: string, compactFrom: number): void;
}

/** What is left out of the log. */
export interface LogLimits {
  /** Canonical names of tools whose results are not kept. */
  readonly noise: ReadonlySet<string>;
  /** The tool's canonical name; unknown names as they are. */
  readonly canonical: (name: string) => string;
  /** Most characters of a result; 0: all. */
  readonly maxToolChars: number;
}

/** Writes a session. */
export class Writer implements OpenSession {
  readonly #log: SessionLog;
  readonly #builder: SessionBuilder;
  readonly #limits: LogLimits;
  readonly #clock: () => Date;
  readonly #release: () => void;
  #closed = false;

  constructor(
    readonly name: string,
    readonly id: string,
    readonly notes: readonly string[],
    readonly resumed: boolean,
    parts: {
      readonly log: SessionLog;
      readonly builder: SessionBuilder;
      readonly limits: LogLimits;
      readonly clock: () => Date;
      readonly release: () => void;
    },
  ) {
    this.#log = parts.log;
    this.#builder = parts.builder;
    this.#limits = parts.limits;
    this.#clock = parts.clock;
    this.#release = parts.release;
  }

  object(): SessionObject {
    return this.#builder.object(this.name, !this.#closed);
  }

  startTurn(turn: Parameters<SessionWriter["startTurn"]>[0]): number {
    const { model, provider, mode, reasoning, prompt } = turn;
    this.#log.checkPath();
    this.#add({ type: "turn", model, provider, mode, reasoning, prompt });
    return this.#builder.turns;
  }

  text(kind: "text" | "thinking" | "system", text: string, round: number): void {
    this.#needTurn();
    this.#add({ type: "text", kind, text, round });
  }

  toolStart(call: Parameters<SessionWriter["toolStart"]>[0]): void {
    this.#needTurn();
    const { id, tool, input, round } = call;
    this.#add({ type: "call", id, tool, input, round });
  }

  toolEnd(call: Parameters<SessionWriter["toolEnd"]>[0]): void {
    const { id, output, is_error, analysis = null } = call, open = this.#builder.openCall(id);
    if (!open) throw new SessionError(`no tool call "${id}" waits for a result`, "io");
    const kept = is_error ? output : this.#withoutNoise(open, output);
    this.#add({ type: "result", id, output: cut(kept, this.#limits.maxToolChars), is_error, analysis });
  }

  permission(entry: PermissionEntry): void {
    this.#add({ type: "permission", entry });
  }

  error(code: number | string, message: string): void {
    this.#add({ type: "error", code, message });
  }

  endTurn(status: TurnStatus, usage: Usage | null): void {
    this.#needTurn();
    this.#add({ type: "end", status, usage });
  }

  subSession(name: string): void {
    this.#add({ type: "sub", name });
  }

  command(text: string, summary: string, compactFrom: number): void {
    this.#add({ type: "command", text, summary, compact_from: compactFrom });
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#log.close();
    this.#release();
  }

  #add(body: RecordBody): void {
    this.#builder.add(this.#log.append(body, this.#clock()));
  }

  #needTurn(): void {
    if (this.#builder.running === null) throw new SessionError("no turn is running in this session", "io");
  }

  #withoutNoise(call: { tool: string; input: Readonly<Record<string, unknown>> }, output: string): string {
    const tool = this.#limits.canonical(call.tool);
    if (!this.#limits.noise.has(tool)) return output;
    const input = JSON.stringify(call.input), size = output.length.toLocaleString("en-US");
    const again = input.length > 300 ? "the same arguments" : input;
    // Arguments such as the number of a search result mean nothing later; the beginning says what it was.
    const first = output.split("\n", 1)[0]!, began = first.length <= 300 ? `; it began: ${first}` : "";
    return `[${tool} result excluded from log; see tool call above for parameters (${size} characters${began}; to see it, call ${tool} again with ${again})]`;
  }
}

function cut(text: string, most: number): string {
  if (most <= 0 || text.length <= most) return text;
  const last = text.charCodeAt(most - 1), end = last >= 0xd800 && last <= 0xdbff ? most - 1 : most;
  return `${text.slice(0, end)}… (truncated from ${text.length} chars)`;
}
