/**
 * Puts tool calls together from the fragments of a stream, as servers of all kinds send them.
 *
 * @module
 */
import type { ToolCall } from "./provider.ts";

/** Calls beyond this number in one reply are not kept. */
export const MAX_KEPT_CALLS = 1024;

/** A fragment of a call; every field may be missing, and servers do leave them out. */
export interface CallFragment {
  readonly index?: unknown;
  readonly id?: unknown;
  readonly function?: { readonly name?: unknown; readonly arguments?: unknown } | null;
}

interface Slot {
  id: string;
  name: string;
  parts: string[];
}

/**
 * Collects fragments. A fragment belongs to the call with its index; where the index is missing, or a server gives
 * every call the same one, a new id or a further name after complete arguments begins a new call.
 */
export class CallCollector {
  #slots: Slot[] = [];
  #byIndex = new Map<number, Slot>();
  /** Characters of all arguments. */
  size = 0;
  /** Fragments that were not kept because there were too many calls. */
  dropped = 0;

  /** Whether anything was collected. */
  get empty(): boolean {
    return this.#slots.length === 0;
  }

  /** Takes one fragment. */
  add(fragment: CallFragment): void {
    const id = typeof fragment.id === "string" || typeof fragment.id === "number" ? String(fragment.id) : "";
    const name = typeof fragment.function?.name === "string" ? fragment.function.name : "";
    const text = argumentText(fragment.function?.arguments);
    const index = typeof fragment.index === "number" ? fragment.index : null;
    const slot = this.#slotFor(index, id, name, text);
    if (!slot) return;
    if (slot.id === "") slot.id = id;
    if (name !== "" && name !== slot.name) {
      // Names come whole; a server that streams them piece by piece sends the pieces before any arguments.
      slot.name = slot.parts.length === 0 && !name.startsWith(slot.name) ? slot.name + name : name;
    }
    if (text !== "") {
      slot.parts.push(text);
      this.size += text.length;
    }
  }

  /** The calls, ids present and unique within the reply. */
  calls(): ToolCall[] {
    const used = new Set<string>();
    return this.#slots.filter((slot) => slot.name !== "" || slot.parts.length > 0 || slot.id !== "").map(
      (slot) => {
        let id = slot.id.toWellFormed();
        while (id === "" || used.has(id)) id = mintId();
        used.add(id);
        return { id, name: slot.name.toWellFormed(), arguments: slot.parts.join("").toWellFormed() };
      },
    );
  }

  #slotFor(index: number | null, id: string, name: string, text: string): Slot | null {
    const known = index === null ? this.#withoutIndex(id, name) : this.#byIndex.get(index);
    if (known && !begins(known, index, id, name, text)) return known;
    if (this.#slots.length >= MAX_KEPT_CALLS) {
      this.dropped++;
      return null;
    }
    const slot: Slot = { id: "", name: "", parts: [] };
    this.#slots.push(slot);
    if (index !== null) this.#byIndex.set(index, slot);
    return slot;
  }

  #withoutIndex(id: string, name: string): Slot | undefined {
    if (id !== "") {
      const same = this.#slots.findLast((slot) => slot.id === id);
      if (same || name !== "") return same;
    }
    return this.#slots[this.#slots.length - 1];
  }
}

/** Whether a fragment for a known call is in truth the beginning of another one. */
function begins(slot: Slot, index: number | null, id: string, name: string, text: string): boolean {
  if (id !== "" && slot.id !== "" && id !== slot.id) return name !== "";
  if (name === "" || slot.parts.length === 0) return false;
  if (id !== "" && id === slot.id && name !== slot.name) return true;
  // The name again, after complete arguments: another whole call, or a server that repeats names.
  const whole = text.trimStart().startsWith("{") || (index === null && id === "");
  return whole && isComplete(slot.parts);
}

function isComplete(parts: string[]): boolean {
  if (!parts[parts.length - 1]!.trimEnd().endsWith("}")) return false;
  try {
    JSON.parse(parts.join(""));
    return true;
  } catch {
    return false;
  }
}

/** Arguments as text: some servers send the object itself. */
function argumentText(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === null || value === undefined) return "";
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    return "";
  }
}

/** A new id in the form that servers give out. */
export function mintId(): string {
  return `call_${crypto.randomUUID().replaceAll("-", "").slice(0, 24)}`;
}
