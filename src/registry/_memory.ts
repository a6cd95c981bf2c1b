/**
 * What the tools of one run remember. Kept by the host, bounded, and gone with the run.
 *
 * @module
 */

/** Most entries of one store. */
const MOST_ENTRIES = 32;
/** Most characters of one store, as JSON. */
const MOST_CHARS = 24_000_000;

interface Entry {
  readonly value: unknown;
  readonly size: number;
}

/** The stores of one run by name. The entries used longest ago make room for new ones. */
export class RunStores {
  readonly #stores = new Map<string, Map<string, Entry>>();

  /** A value, or undefined. */
  get(store: string, key: string): unknown {
    const entries = this.#stores.get(store), entry = entries?.get(key);
    if (!entries || !entry) return undefined;
    entries.delete(key);
    entries.set(key, entry);
    return entry.value;
  }

  /** Keeps a value; undefined, or one that is too large, removes what was there. */
  set(store: string, key: string, value: unknown): void {
    let entries = this.#stores.get(store);
    if (!entries) this.#stores.set(store, entries = new Map());
    entries.delete(key);
    if (value === undefined) return;
    const size = sizeOf(value) + key.length;
    if (size > MOST_CHARS) return;
    entries.set(key, { value, size });
    let total = 0;
    for (const entry of entries.values()) total += entry.size;
    for (const [oldest, entry] of entries) {
      if (entries.size <= MOST_ENTRIES && total <= MOST_CHARS) break;
      entries.delete(oldest);
      total -= entry.size;
    }
  }
}

/** Characters of a value; what JSON cannot carry is too large. */
function sizeOf(value: unknown): number {
  if (typeof value === "string") return value.length;
  try {
    return JSON.stringify(value)?.length ?? Infinity;
  } catch {
    return Infinity;
  }
}
