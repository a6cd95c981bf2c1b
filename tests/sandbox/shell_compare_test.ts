import assert from "node:assert/strict";
import { alone, isAlone } from "./_alone.ts";
import { compare } from "./_shell_compare.ts";
import { commandLine, PLAIN, random } from "./_shell_grammar.ts";

const name = "2,000 random command lines do as real processes what bash does";

// In a process of its own: to start a process costs by the memory of the one that starts it.
Deno.test({
  name,
  ignore: Deno.build.os === "windows",
  async fn() {
    if (!isAlone()) return await alone("shell_compare_test.ts", name);
    const next = random(5);
    const lines = function* () {
      while (true) yield commandLine(PLAIN, next);
    };
    const { ran, differences } = await compare(lines(), 2000);
    assert.deepEqual(differences.slice(0, 3), []);
    assert.ok(ran > 1900, `only ${ran} were compared`);
  },
});
