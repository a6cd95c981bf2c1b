/**
 * The list of things to do of one session. The session's log is where it is kept: every call that changes it is recorded
 * there with its arguments, and resuming applies them again.
 *
 * @module
 */
import { ToolError } from "../errors.ts";
import type { SessionObject } from "../session/turns.ts";

/** How far a step is. */
export type TodoStatus = "open" | "doing" | "done";

/** One step. */
export interface Todo {
  /** From 1, for good. */
  readonly id: number;
  readonly text: string;
  readonly status: TodoStatus;
}

const MOST = 200;
const MOST_TEXT = 500;
const MARK: Readonly<Record<TodoStatus, string>> = { open: " ", doing: ">", done: "x" };

type Input = Readonly<Record<string, unknown>>;

/** Holds the list. */
export class Todos {
  #items: Todo[] = [];

  /** The list as a session's log has it. Calls that failed are not in it. */
  static of(session: SessionObject): Todos {
    const todos = new Todos();
    for (const turn of session.turns) {
      for (const part of turn.parts) {
        if (part.type !== "tool" || part.tool !== "todo" || part.status !== "ok") continue;
        try {
          todos.apply(part.input);
        } catch { /* a log of another version */ }
      }
    }
    return todos;
  }

  /**
   * Applies one call and returns the whole list as text.
   *
   * @throws {ToolError} for what cannot be done; nothing is changed then
   */
  apply(input: Input): string {
    switch (input.action) {
      case "list":
        break;
      case "add":
        this.#add(input);
        break;
      case "update":
        this.#change(input, true);
        break;
      case "done":
        this.#change({ id: input.id, status: "done" }, false);
        break;
      default:
        throw new ToolError("action must be list, add, update or done", "invalid_arguments");
    }
    return this.text();
  }

  /** The list: `1. [x] text`, with `[>]` for what is being done. */
  text(): string {
    if (this.#items.length === 0) return "(nothing to do yet)";
    return this.#items.map(({ id, text, status }) => `${id}. [${MARK[status]}] ${text}`).join("\n");
  }

  #add(input: Input): void {
    const given = [...listOf(input.texts ?? input.items), ...(input.text === undefined ? [] : [input.text])];
    const texts = given.map((text) => String(text).replace(/\s+/g, " ").trim()).filter((text) => text !== "");
    if (texts.length === 0) {
      throw new ToolError('add needs texts, such as ["read the code"]', "invalid_arguments");
    }
    if (this.#items.length + texts.length > MOST) {
      throw new ToolError(`the list holds at most ${MOST} steps`, "invalid_arguments");
    }
    const status = statusOf(input.status) ?? "open", first = this.#items.length + 1;
    this.#items.push(
      ...texts.map((text, i): Todo => ({
        id: first + i,
        text: text.slice(0, MOST_TEXT).toWellFormed(),
        status,
      })),
    );
  }

  #change(input: Input, needsMore: boolean): void {
    const index = this.#items.findIndex((item) => item.id === Number(input.id));
    if (index < 0) {
      const what = input.id === undefined ? "needs the id of a step" : `finds no step ${input.id}`;
      throw new ToolError(
        `${input.status === "done" && !needsMore ? "done" : "update"} ${what}`,
        "not_found",
      );
    }
    const status = statusOf(input.status), text = typeof input.text === "string" ? input.text.trim() : "";
    if (needsMore && status === undefined && text === "") {
      throw new ToolError("update needs text or status", "invalid_arguments");
    }
    const old = this.#items[index]!;
    this.#items[index] = {
      id: old.id,
      text: text === "" ? old.text : text.replace(/\s+/g, " ").slice(0, MOST_TEXT).toWellFormed(),
      status: status ?? old.status,
    };
  }
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];
}

function statusOf(value: unknown): TodoStatus | undefined {
  if (value === undefined || value === null) return undefined;
  if (value === "open" || value === "doing" || value === "done") return value;
  throw new ToolError(
    `status is ${JSON.stringify(value)}; it must be open, doing or done`,
    "invalid_arguments",
  );
}
