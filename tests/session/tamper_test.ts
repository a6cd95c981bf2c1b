import assert from "node:assert/strict";
import { readSession, SessionError, verifySession } from "../../src/session/store.ts";
import { sha256 } from "../../src/text/sha256.ts";
import { open, type SessionTree, sessionTree, turn, writeSample } from "./_session.ts";

const hash = (line: string): string => sha256(new TextEncoder().encode(line));

/** Every record with the right `n` and `prev`, as somebody would do who knows the format. */
function chained(lines: readonly string[]): string[] {
  const out: string[] = [];
  for (const line of lines) {
    const prev = out.length === 0 ? "0".repeat(64) : hash(out.at(-1)!);
    out.push(JSON.stringify({ ...JSON.parse(line), n: out.length + 1, prev }));
  }
  return out;
}

async function refuses(tree: SessionTree, record: number | null, message: RegExp): Promise<void> {
  const before = Deno.readFileSync(tree.log("s"));
  const check = await verifySession(tree.place, "s");
  assert.equal(check.ok, false);
  assert.equal(check.record, record);
  assert.match(check.message, message);
  await assert.rejects(
    open(tree.place),
    (error) => error instanceof SessionError && error.kind === "untrusted",
  );
  assert.deepEqual(Deno.readFileSync(tree.log("s")), before, "a refused resume changes nothing");
}

Deno.test("an untouched session verifies", async () => {
  using tree = sessionTree();
  await writeSample(tree.place);
  const check = await verifySession(tree.place, "s");
  assert.deepEqual({ ok: check.ok, records: check.records, record: check.record }, {
    ok: true,
    records: 10,
    record: null,
  });
});

Deno.test("a changed byte is found in every record, the last one included", async () => {
  using tree = sessionTree();
  await writeSample(tree.place);
  const lines = tree.lines("s");
  for (let i = 0; i < lines.length; i++) {
    const changed = lines[i]!.replace(/"at":"20/, '"at":"30');
    assert.notEqual(changed, lines[i]);
    tree.setLines("s", lines.with(i, changed));
    await refuses(tree, i + 1, new RegExp(`record ${i + 1} `));
  }
});

Deno.test("a changed byte that breaks the JSON is found where it stands", async () => {
  using tree = sessionTree();
  await writeSample(tree.place);
  const lines = tree.lines("s");
  tree.setLines("s", lines.with(4, lines[4]!.replace("}", "]")));
  await refuses(tree, 5, /record 5 cannot be read/);
});

Deno.test("a dropped record is found", async () => {
  using tree = sessionTree();
  await writeSample(tree.place);
  tree.setLines("s", tree.lines("s").toSpliced(3, 1));
  await refuses(tree, 4, /record 4 is missing/);
});

Deno.test("two swapped records are found", async () => {
  using tree = sessionTree();
  await writeSample(tree.place);
  const lines = tree.lines("s");
  tree.setLines("s", lines.with(3, lines[4]!).with(4, lines[3]!));
  await refuses(tree, 4, /out of order/);
});

Deno.test("a doubled record is found", async () => {
  using tree = sessionTree();
  await writeSample(tree.place);
  const lines = tree.lines("s");
  tree.setLines("s", lines.toSpliced(4, 0, lines[3]!));
  await refuses(tree, 5, /there twice/);
});

Deno.test("records cut off at the end are found, and so is an empty file", async () => {
  using tree = sessionTree();
  await writeSample(tree.place);
  const lines = tree.lines("s");
  tree.setLines("s", lines.slice(0, 9));
  await refuses(tree, 10, /record 10 is missing at the end/);
  tree.setLines("s", lines.slice(0, 4));
  await refuses(tree, 5, /records 5 to 10 are missing at the end/);
  tree.setLines("s", []);
  await refuses(tree, 1, /records 1 to 10 are missing/);
});

Deno.test("a record cut in the middle of a session that ended well is found", async () => {
  using tree = sessionTree();
  await writeSample(tree.place);
  Deno.truncateSync(tree.log("s"), Deno.statSync(tree.log("s")).size - 7);
  await refuses(tree, 10, /record 10 is missing/);
});

Deno.test("a forged record with a right chain is found, one or several", async () => {
  using tree = sessionTree();
  await writeSample(tree.place);
  const lines = tree.lines("s"),
    forged = '{"type":"error","code":0,"message":"forged","at":"2026-01-01T00:00:00.000Z"}';
  tree.setLines("s", chained([...lines, forged]));
  assert.deepEqual(tree.lines("s").slice(0, 10), lines, "the forged chain leaves the real records alone");
  await refuses(tree, 11, /record 11 was added/);
  tree.setLines("s", chained([...lines, forged, forged]));
  await refuses(tree, 11, /record 11 was added/);
});

Deno.test("bytes without a line feed after the last record are found", async () => {
  using tree = sessionTree();
  await writeSample(tree.place);
  Deno.writeTextFileSync(tree.log("s"), '{"n":11', { append: true });
  await refuses(tree, 10, /7 bytes after record 10 were added/);
});

Deno.test("a whole chain that was rewritten is found by the anchor", async () => {
  using tree = sessionTree();
  await writeSample(tree.place);
  const lines = tree.lines("s");
  tree.setLines("s", chained(lines.with(2, lines[2]!.replace("a.txt", "b.txt"))));
  await refuses(tree, 10, /record 10 is not the one that was written/);
});

Deno.test("an older copy of the whole file is found", async () => {
  using tree = sessionTree();
  await writeSample(tree.place);
  const older = Deno.readFileSync(tree.log("s"));
  const session = await open(tree.place);
  session.startTurn(turn);
  session.endTurn("ok", null);
  session.close();
  assert.equal((await verifySession(tree.place, "s")).ok, true);
  Deno.writeFileSync(tree.log("s"), older);
  await refuses(tree, 11, /records 11 to 12 are missing/);
});

Deno.test("the file of another session under this name is found, even with its anchor", async () => {
  using tree = sessionTree();
  await writeSample(tree.place, "s");
  await writeSample(tree.place, "other");
  Deno.copyFileSync(tree.log("other"), tree.log("s"));
  await refuses(tree, 10, /not the one that was written/);
  Deno.copyFileSync(tree.anchor("other"), tree.anchor("s"));
  await refuses(tree, 1, /holds session "other"/);
});

Deno.test("a session whose file is gone fails, is not begun anew in silence, and is named by the anchor", async () => {
  using tree = sessionTree();
  await writeSample(tree.place);
  Deno.removeSync(tree.log("s"));
  const check = await verifySession(tree.place, "s");
  assert.equal(check.ok, false);
  assert.match(check.message, /gone.* 10 records/);
  await assert.rejects(open(tree.place), { kind: "untrusted", message: /--trust/ });
  const session = await open(tree.place, { trust: true });
  assert.match(session.notes.join(), /10 records was gone/);
  session.close();
  assert.equal((await verifySession(tree.place, "s")).ok, true);
});

Deno.test("a session without an anchor is shown, fails to verify, and is resumed only with trust", async () => {
  using tree = sessionTree();
  await writeSample(tree.place);
  Deno.removeSync(tree.anchor("s"));
  await refuses(tree, 10, /no anchor on this machine/);
  assert.equal((await readSession(tree.place, "s")).turns.length, 1);
  const before = tree.lines("s");
  const session = await open(tree.place, { trust: true });
  session.close();
  assert.deepEqual(tree.lines("s").slice(0, 10), before);
  assert.match(tree.lines("s")[10]!, /"type":"repair"/);
  const check = await verifySession(tree.place, "s");
  assert.equal(check.ok, true);
  assert.match(check.message, /repaired at record 11: resumed with --trust/);
});

Deno.test("trust in what has no anchor is no trust in what was changed, is another session, or is gone", async () => {
  const trust = "unanchored";
  using tree = sessionTree();
  await writeSample(tree.place);
  const lines = tree.lines("s");
  const refused = () =>
    assert.rejects(open(tree.place, { trust }), { kind: "untrusted", message: /--trust/ });
  tree.setLines("s", lines.with(4, lines[4]!.replace(/\w{8}/, "FORGED00")));
  await refused();
  Deno.writeTextFileSync(tree.log("s"), "no session\n");
  await refused();
  assert.equal(Deno.readTextFileSync(tree.log("s")), "no session\n");
  Deno.removeSync(tree.log("s"));
  await refused();
  Deno.removeSync(tree.anchor("s"));
  Deno.writeTextFileSync(tree.log("s"), "no session\n");
  await refused();
  // Another session's file under this name, with no anchor to tell.
  tree.setLines("s", lines.with(0, lines[0]!.replace('"name":"s"', '"name":"t"')));
  await refused();
  tree.setLines("s", lines);
  (await open(tree.place, { trust })).close();
  assert.equal((await verifySession(tree.place, "s")).ok, true);
});

Deno.test("a damaged anchor fails", async () => {
  using tree = sessionTree();
  await writeSample(tree.place);
  Deno.writeTextFileSync(tree.anchor("s"), "x".repeat(384));
  await refuses(tree, 10, /anchor is damaged/);
});

Deno.test("with trust a changed session is continued after the whole file was kept", async () => {
  using tree = sessionTree();
  await writeSample(tree.place);
  const lines = tree.lines("s");
  tree.setLines("s", lines.with(4, "garbage").with(7, lines[7]!.replace("done", "DONE")));
  const tampered = Deno.readFileSync(tree.log("s"));
  const session = await open(tree.place, { trust: true });
  assert.match(session.notes.join(), /record 5 cannot be read.*s\.jsonl\.kept-1/);
  assert.equal(session.startTurn(turn), 2);
  session.close();
  assert.deepEqual(Deno.readFileSync(`${tree.log("s")}.kept-1`), tampered);
  const check = await verifySession(tree.place, "s");
  assert.equal(check.ok, true, check.message);
  assert.match(check.message, /kept as s\.jsonl\.kept-1/);
  const { turns, session_id } = await readSession(tree.place, "s");
  assert.equal(turns[0]!.parts.at(-1)!.type, "text");
  assert.equal(session_id, JSON.parse(lines[0]!).id);
});

Deno.test("with trust a file that is no session at all is kept whole and a session begun", async () => {
  using tree = sessionTree();
  await writeSample(tree.place);
  const junk = new Uint8Array(5000).map((_, i) => i * 7 % 256);
  Deno.writeFileSync(tree.log("s"), junk);
  await assert.rejects(open(tree.place), { kind: "untrusted" });
  (await open(tree.place, { trust: true })).close();
  assert.deepEqual(Deno.readFileSync(`${tree.log("s")}.kept-1`), junk);
  assert.equal((await verifySession(tree.place, "s")).ok, true);
  Deno.writeFileSync(tree.log("s"), junk.toReversed());
  (await open(tree.place, { trust: true })).close();
  assert.deepEqual(Deno.readFileSync(`${tree.log("s")}.kept-1`), junk, "a copy is never overwritten");
  assert.deepEqual(Deno.readFileSync(`${tree.log("s")}.kept-2`), junk.toReversed());
});

Deno.test("something else that writes or removes the log under a running session ends its recording", async () => {
  using tree = sessionTree();
  const session = await open(tree.place);
  session.startTurn(turn);
  Deno.writeTextFileSync(tree.log("s"), "x\n", { append: true });
  assert.throws(() => session.text("text", "a", 1), { kind: "io", message: /changed by another program/ });
  assert.throws(() => session.error(0, "a"), { kind: "io" }, "and it stays ended");
  session.close();
  const other = await open(tree.place, { name: "t" });
  other.startTurn(turn);
  Deno.removeSync(tree.log("t"));
  assert.throws(() => other.text("text", "a", 1), { message: /removed by another program/ });
  other.close();
  const moved = await open(tree.place, { name: "u" });
  moved.startTurn(turn);
  moved.endTurn("ok", null);
  Deno.renameSync(tree.log("u"), `${tree.log("u")}.away`);
  assert.throws(() => moved.startTurn(turn), { message: /moved, removed or exchanged/ });
  moved.close();
});

Deno.test("records that a hostile file makes up are refused one by one and never break the reader", async () => {
  using tree = sessionTree();
  await writeSample(tree.place);
  const lines = tree.lines("s"), deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`;
  const bad = [
    "null",
    "[]",
    "1",
    '"x"',
    "{}",
    '{"type":"toString"}',
    '{"type":"__proto__"}',
    deep,
    "\u0000",
    "",
    '{"n":5,"prev":"","at":"x","type":"call","id":1,"tool":"x","input":{},"round":1}',
    '{"n":5,"prev":"","at":"x","type":"call","id":"x","tool":"x","input":[],"round":1}',
    '{"n":5,"prev":"","at":"x","type":"permission","entry":{}}',
    '{"n":5,"prev":"","at":"x","type":"end","status":"fine","usage":null}',
    '{"n":5,"prev":"","at":"x","type":"end","status":"ok","usage":{"prompt_tokens":"1"}}',
    '{"n":"5","prev":"","at":"x","type":"error","code":0,"message":""}',
  ];
  for (const line of bad) {
    tree.setLines("s", lines.with(4, line));
    const check = await verifySession(tree.place, "s");
    assert.equal(check.record, 5, line.slice(0, 100));
    assert.match(check.message, /record 5 cannot be read/);
    assert.equal((await readSession(tree.place, "s")).turns.length, 1);
  }
});
