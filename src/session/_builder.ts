/**
 * From records to the session object, one record at a time, so that a running session and one read from disk are
 * built by the same code.
 *
 * @module
 */
import type { PermissionEntry } from "../policy/types.ts";
import type { Usage } from "../provider/provider.ts";
import type { SessionRecord } from "./records.ts";
import type { Part, SessionErrorEntry, SessionObject, Turn, TurnStatus } from "./turns.ts";

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type ToolPart = Mutable<Extract<Part, { type: "tool" }>>;
interface OpenTurn extends Mutable<Turn> {
  parts: Part[];
}

/** Collects records. */
export class SessionBuilder {
  /** Name, id, role, parent and version: the first record. */
  header: Extract<SessionRecord, { type: "session" }> | null = null;
  /** Repairs of the log, oldest first. */
  readonly repairs: Extract<SessionRecord, { type: "repair" }>[] = [];
  readonly #turns: OpenTurn[] = [];
  readonly #errors: SessionErrorEntry[] = [];
  readonly #permissions: PermissionEntry[] = [];
  readonly #subs: string[] = [];
  /** Calls without a result, by id, oldest first (a model may use an id twice). */
  readonly #open = new Map<string, ToolPart[]>();
  #turn: OpenTurn | null = null;
  #first = "";
  #last = "";

  /** Index of the running turn, or null. */
  get running(): number | null {
    return this.#turn?.index ?? null;
  }

  /** Number of turns. */
  get turns(): number {
    return this.#turns.length;
  }

  /** The name under which the oldest call with this id that waits for its result was made, or null. */
  openCall(id: string): { readonly tool: string; readonly input: Readonly<Record<string, unknown>> } | null {
    return this.#open.get(id)?.[0] ?? null;
  }

  /** The process that wrote so far has ended: a turn without an end was cancelled. */
  abandon(): void {
    this.#close("cancelled", null, this.#last);
  }

  /** Takes the next record in. One that does not fit where it stands (a result without a call) changes nothing. */
  add(record: SessionRecord): void {
    const at = record.at, turn = this.#turn;
    this.#first ||= at;
    switch (record.type) {
      case "session":
        this.header ??= record;
        break;
      case "turn": {
        this.#close("cancelled", null, this.#last);
        const { model, provider, mode, reasoning, prompt } = record;
        const index = this.#turns.length + 1;
        this.#turn = {
          ...{ index, started_at: at, ended_at: null, status: "running", model, provider, mode, reasoning },
          usage: null,
          parts: [{ type: "user", text: prompt, timestamp: at }],
        };
        this.#turns.push(this.#turn);
        break;
      }
      case "text":
        turn?.parts.push({ type: record.kind, text: record.text, timestamp: at, round: record.round });
        break;
      case "call": {
        const { id, tool, input, round } = record;
        const part: ToolPart = {
          ...{
            type: "tool",
            id,
            tool,
            input,
            output: "",
            is_error: true,
            analysis: null,
            timestamp: at,
            round,
          },
          status: "interrupted",
        };
        if (!turn) break;
        turn.parts.push(part);
        const same = this.#open.get(id);
        if (same) same.push(part);
        else this.#open.set(id, [part]);
        break;
      }
      case "result": {
        const same = this.#open.get(record.id), part = same?.shift();
        if (same?.length === 0) this.#open.delete(record.id);
        if (!part) break;
        part.output = record.output;
        part.is_error = record.is_error;
        part.analysis = record.analysis;
        part.status = record.is_error ? "error" : "ok";
        break;
      }
      case "permission":
        this.#permissions.push(record.entry);
        break;
      case "error":
        this.#errors.push({ code: record.code, message: record.message, timestamp: at });
        break;
      case "end":
        this.#close(record.status, record.usage, at);
        break;
      case "sub":
        this.#subs.push(record.name);
        break;
      case "command": {
        const { text, summary, compact_from } = record;
        (turn ?? this.#turns.at(-1))?.parts.push({
          type: "command",
          text,
          summary,
          compact_from,
          timestamp: at,
        });
        break;
      }
      case "repair":
        this.repairs.push(record);
        break;
    }
    this.#last = at;
  }

  /**
   * The session object. A turn without an end is `running` while a process writes the session, else `cancelled`.
   * Arrays and turns are copies; parts that are final are shared.
   */
  object(name: string, live: boolean): SessionObject {
    const header = this.header;
    return {
      session_name: header?.name ?? name,
      session_id: header?.id ?? "",
      turns: this.#turns.map((turn) => ({
        ...turn,
        ...(turn === this.#turn && !live ? { status: "cancelled", ended_at: this.#last } as const : {}),
        parts: turn.parts.map((part) => {
          if (part.type !== "tool") return part;
          const runs = live && turn === this.#turn && part.status === "interrupted";
          return runs ? { ...part, status: "running" } : { ...part };
        }),
      })),
      errors: [...this.#errors],
      permissions: [...this.#permissions],
      created_at: this.#first,
      updated_at: this.#last,
      parent_id: header?.parent ?? null,
      sub_sessions: [...this.#subs],
      role: header?.role ?? null,
      version: header?.version ?? 1,
    };
  }

  #close(status: TurnStatus, usage: Usage | null, at: string): void {
    if (!this.#turn) return;
    this.#turn.status = status;
    this.#turn.usage = usage;
    this.#turn.ended_at = at;
    this.#turn = null;
    this.#open.clear();
  }
}
