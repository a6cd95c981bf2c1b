import assert from "node:assert/strict";
import { verifySession } from "../../src/session/store.ts";
import { open, sessionTree, turn } from "./_session.ts";

/** Counts what passes through Deno's files while `act` runs. */
function count(act: () => void): { readonly reads: number; readonly writes: number; readonly bytes: number } {
  const file = Deno.FsFile.prototype, { readSync, writeSync } = file;
  const plain = { readFileSync: Deno.readFileSync, readTextFileSync: Deno.readTextFileSync };
  let reads = 0, writes = 0, bytes = 0;
  file.readSync = function (buffer: Uint8Array): number | null {
    reads++;
    return readSync.call(this, buffer);
  };
  file.writeSync = function (buffer: Uint8Array): number {
    writes++;
    bytes += buffer.length;
    return writeSync.call(this, buffer);
  };
  for (const name of ["readFileSync", "readTextFileSync"] as const) {
    Object.assign(Deno, {
      [name]: (path: string) => {
        reads++;
        return plain[name](path);
      },
    });
  }
  try {
    act();
  } finally {
    Object.assign(file, { readSync, writeSync });
    Object.assign(Deno, plain);
  }
  return { reads, writes, bytes };
}

Deno.test("an append at record 100,000 reads nothing and writes as much as one at record 10", async () => {
  using tree = sessionTree();
  const session = await open(tree.place);
  session.startTurn(turn);
  let n = 2;
  const upTo = (end: number): void => {
    for (; n < end; n++) session.error(0, "x");
  };
  upTo(10);
  const early = count(() => session.error(0, "y".repeat(100)));
  n++;
  upTo(100_000);
  const late = count(() => session.error(0, "y".repeat(100)));
  session.close();
  assert.deepEqual([early.reads, late.reads], [0, 0]);
  assert.equal(late.writes, early.writes);
  assert.ok(early.bytes > 100);
  assert.equal(
    late.bytes - early.bytes,
    "100000".length - "10".length,
    "only the number of the record is longer",
  );
  const check = await verifySession(tree.place, "s");
  assert.deepEqual([check.ok, check.records], [true, 100_001]);
});
