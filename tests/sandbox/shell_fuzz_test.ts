import assert from "node:assert/strict";
import { compare } from "./_shell_compare.ts";
import { commandLine, PLAIN, random } from "./_shell_grammar.ts";
import { property } from "./_shell_property.ts";

Deno.test("of 100,000 random command lines none starts a program outside of the list", async () => {
  const outcome = await property(100_000, 20_260);
  assert.deepEqual(outcome.violations.slice(0, 5), []);
  // The grammar must not have become one of refusals alone.
  assert.ok(outcome.ran > 15_000, `only ${outcome.ran} lines were let through`);
  assert.ok(outcome.started > 10_000, `only ${outcome.started} programs were started`);
});

Deno.test({
  name: "2,000 random command lines do as real processes what bash does",
  ignore: Deno.build.os === "windows",
  async fn() {
    const next = random(5);
    const lines = function* () {
      while (true) yield commandLine(PLAIN, next);
    };
    const { ran, differences } = await compare(lines(), 2000);
    assert.deepEqual(differences.slice(0, 3), []);
    assert.ok(ran > 1900, `only ${ran} were compared`);
  },
});
