/**
 * Swaps what lies at paths as fast as it can, until its standard input ends: `file` against a link to a secret, and
 * `directory` against a link to a directory of secrets.
 *
 * @module
 */
import { join } from "../../src/text/path.ts";

const [root, what] = Deno.args as [string, string];
const work = join(root, "work"), stash = join(root, "stash"), at = join(work, what);
const good = join(stash, "good"), link = join(stash, "link");
const clear = (path: string) => {
  try {
    Deno.removeSync(path, { recursive: true });
  } catch {
    // It is being written to.
  }
};
/** Moves something; what a writer has made there in the moment between is thrown away. */
const move = (from: string, to: string) => {
  while (true) {
    try {
      return Deno.renameSync(from, to);
    } catch {
      clear(to);
    }
  }
};
const rounds = () => {
  for (let i = 0; i < 200; i++) {
    move(at, good);
    move(link, at);
    move(at, link);
    move(good, at);
  }
};
let going = true;
Deno.stdin.read(new Uint8Array(1)).then(() => going = false);
console.log("flipping");
while (going) {
  rounds();
  await new Promise((done) => setTimeout(done, 0));
}
