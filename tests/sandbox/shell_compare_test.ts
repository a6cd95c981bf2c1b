import assert from "node:assert/strict";
import { compare } from "./_shell_compare.ts";
import { commandLine, PLAIN, random } from "./_shell_grammar.ts";

// In a file of its own: starting a process costs by the memory of the one that starts it.
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
