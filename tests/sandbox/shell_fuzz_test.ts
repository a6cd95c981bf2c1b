import assert from "node:assert/strict";
import { property } from "./_shell_property.ts";

Deno.test("of 100,000 random command lines none starts a program outside of the list", async () => {
  const outcome = await property(100_000, 20_260);
  assert.deepEqual(outcome.violations.slice(0, 5), []);
  // The grammar must not have become one of refusals alone.
  assert.ok(outcome.ran > 15_000, `only ${outcome.ran} lines were let through`);
  assert.ok(outcome.started > 10_000, `only ${outcome.started} programs were started`);
});
