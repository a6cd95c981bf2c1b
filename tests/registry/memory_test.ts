import assert from "node:assert/strict";
import { RunStores } from "../../src/registry/_memory.ts";

Deno.test("stores are apart, and undefined removes", () => {
  const stores = new RunStores();
  stores.set("a", "k", 1);
  stores.set("b", "k", 2);
  assert.deepEqual([stores.get("a", "k"), stores.get("b", "k"), stores.get("c", "k")], [1, 2, undefined]);
  stores.set("a", "k", undefined);
  assert.equal(stores.get("a", "k"), undefined);
});

Deno.test("the entries used longest ago make room: by number and by size", () => {
  const stores = new RunStores();
  for (let i = 0; i < 40; i++) {
    stores.set("a", String(i), i);
    stores.get("a", "0");
  }
  assert.equal(stores.get("a", "0"), 0);
  assert.equal(stores.get("a", "1"), undefined);
  assert.equal(stores.get("a", "39"), 39);
  const large = "x".repeat(10_000_000);
  for (const key of ["p", "q", "r"]) stores.set("b", key, large);
  assert.deepEqual([stores.get("b", "p"), stores.get("b", "r")], [undefined, large]);
});

Deno.test("what is too large or no plain data is not kept, and the old value is gone", () => {
  const stores = new RunStores(), circle: Record<string, unknown> = {};
  circle.self = circle;
  for (const value of ["x".repeat(30_000_000), circle, 5n]) {
    stores.set("a", "k", "old");
    stores.set("a", "k", value);
    assert.equal(stores.get("a", "k"), undefined);
  }
});
