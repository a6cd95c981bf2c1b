/**
 * A process that writes records until it is killed, and prints the number of each one that was acknowledged.
 * Arguments: worktree, state directory, name, size of each record's text.
 */
import { openSession } from "../../src/session/store.ts";
import { turn } from "./_session.ts";

const [worktree, stateDir, name, size] = Deno.args as [string, string, string, string];
const session = await openSession({ worktree, stateDir, name, noiseTools: [], maxToolChars: 0 });
session.startTurn(turn);
for (let n = 3;; n++) {
  session.text("text", "x".repeat(Number(size)), n);
  Deno.stdout.writeSync(new TextEncoder().encode(`${n}\n`));
}
