/**
 * `deno task fuzz [SEED [LINES [COMPARED]]]`: random command lines against the allowlist, then against bash. Prints the seed,
 * which repeats the run.
 *
 * @module
 */
import { compare } from "../tests/sandbox/_shell_compare.ts";
import { commandLine, PLAIN, random } from "../tests/sandbox/_shell_grammar.ts";
import { property } from "../tests/sandbox/_shell_property.ts";

const [seedText, linesText, comparedText] = Deno.args;
const seed = Number(seedText ?? crypto.getRandomValues(new Uint32Array(1))[0]);
const lines = Number(linesText ?? 1_000_000), compared = Number(comparedText ?? 5000);
if (![seed, lines, compared].every(Number.isSafeInteger)) {
  console.error("usage: deno task fuzz [SEED [LINES [COMPARED]]], all of them whole numbers");
  Deno.exit(2);
}
console.log(`seed ${seed}`);
let bad = 0;
for (let done = 0; done < lines; done += 100_000) {
  const { ran, started, violations } = await property(Math.min(100_000, lines - done), seed + done);
  bad += violations.length;
  console.log(`lines ${done}…: ${ran} let through, ${started} programs, ${violations.length} violations`);
  for (const text of violations.slice(0, 10)) console.log(`  ${text}`);
}
const next = random(seed);
for (let done = 0; done < compared; done += 500) {
  const source = function* () {
    while (true) yield commandLine(PLAIN, next);
  };
  const { ran, differences } = await compare(source(), Math.min(500, compared - done));
  bad += differences.length;
  console.log(`compared with bash ${done}…: ${ran}, ${differences.length} differences`);
  for (const each of differences.slice(0, 10)) console.log(JSON.stringify(each, null, 2));
}
Deno.exit(bad === 0 ? 0 : 1);
