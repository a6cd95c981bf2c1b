/**
 * Keeps a worker's later calls from what an earlier one did to its globals. A bundled tool is trusted, and the
 * worker's permissions hold whatever it does; this is for a tool that breaks things by accident, and for the guard, which
 * lives beside the tools and builds on these.
 *
 * @module
 */

/** Classes on whose methods the guard and the protocol build. Assigning to instances still works. */
const CLASSES: readonly (abstract new (...args: any[]) => unknown)[] = [
  String,
  Array,
  Map,
  Set,
  RegExp,
  Uint8Array,
  Int32Array,
  TextEncoder,
  TextDecoder,
  AbortController,
];

/** Freezes what is cheap to freeze: the `Deno` object, the prototypes that the guard uses, and the way to the host. */
export function harden(): void {
  for (const made of CLASSES) Object.freeze(made.prototype);
  for (const object of [Deno.permissions, Deno, Atomics, JSON, Math, Reflect]) Object.freeze(object);
  for (const name of ["postMessage", "close", "Deno", "Atomics", "JSON", "crypto"]) {
    Object.defineProperty(globalThis, name, {
      value: (globalThis as unknown as Record<string, unknown>)[name],
      writable: false,
      configurable: false,
      enumerable: true,
    });
  }
}
