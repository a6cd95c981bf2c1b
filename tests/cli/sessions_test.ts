import assert from "node:assert/strict";
import { parseLine } from "../../src/cli/_args.ts";
import { command } from "../../src/cli/sessions.ts";
import { UsageError } from "../../src/errors.ts";
import { open, type SessionTree, sessionTree, turn, writeSample } from "../session/_session.ts";

/** Runs `polyglav sessions …` in the tree's worktree. */
async function sessions(
  tree: SessionTree,
  ...words: string[]
): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  let out = "", err = "";
  const line = parseLine(command, [...words, "--path", "work"]);
  const code = await line.command.run!({
    values: line.values,
    positionals: line.positionals,
    io: {
      out: (text) => out += text,
      err: (text) => err += text,
      env: (name) => ({ HOME: tree.home, USERPROFILE: tree.home } as Record<string, string>)[name],
      cwd: tree.root,
      ...{
        stdinIsTerminal: false,
        stdoutIsTerminal: words.includes("-"),
        stderrIsTerminal: false,
        color: false,
      },
      stdin: () => Promise.reject(new Error("nothing reads standard input")),
    },
  });
  return { code, out, err };
}

/** The place that the command line makes of the tree's home. */
function sampleTree(): SessionTree {
  const tree = sessionTree();
  return Object.assign(tree, {
    place: { worktree: tree.work, stateDir: `${tree.home}/.local/state/polyglav` },
  });
}

Deno.test("sessions list: a line for each, or that there are none", async () => {
  using tree = sampleTree();
  assert.deepEqual(await sessions(tree, "list"), { code: 0, out: "", err: "no sessions here yet\n" });
  await writeSample(tree.place, "audit");
  const { out } = await sessions(tree, "list");
  assert.match(out, /^audit {2}\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ {2}10 records {2}hello\n$/);
  assert.equal(JSON.parse((await sessions(tree, "list", "--output", "json")).out)[0].name, "audit");
});

Deno.test("sessions show: turns, tools and audit as text, the object as JSON", async () => {
  using tree = sampleTree();
  await writeSample(tree.place, "audit");
  const { code, out, err } = await sessions(tree, "show", "audit");
  assert.deepEqual([code, err], [0, ""]);
  for (
    const text of [
      "turn 1: ok, m (p), mode build",
      "\n> hello\n",
      '\n  * file_read {"path":"a.txt"}\n    | # a.txt\n',
      '\n  * grep {"pattern":"x"} [error]\n    | Error: no\n    = it failed\n',
      "\n  done\n",
      "once (500)",
      "allow -> granted  file_read a.txt  [tool_permission.read] allowed",
    ]
  ) assert.ok(out.includes(text), `${text} in ${out}`);
  const object = JSON.parse((await sessions(tree, "show", "audit", "--output", "json")).out);
  assert.equal(object.session_name, "audit");
  assert.deepEqual(Object.keys(object), [
    ...["session_name", "session_id", "turns", "errors", "permissions", "created_at", "updated_at"],
    ...["parent_id", "sub_sessions", "role", "version"],
  ]);
});

Deno.test("sessions show: what others wrote does not act on the terminal", async () => {
  using tree = sampleTree();
  const session = await open(tree.place, { name: "audit" });
  session.startTurn({ ...turn, prompt: "\x1b]0;x\x07\u202e" });
  session.toolStart({ id: "a", tool: "x\x1b[1m", input: { "\x9b": "\r" }, round: 1 });
  session.toolEnd({ id: "a", output: "\x9b2J", is_error: false });
  session.close();
  for (
    const words of [["show", "audit"], ["show", "audit", "--output", "json"], ["list"], [
      "export",
      "audit",
      "-o",
      "-",
    ]]
  ) {
    const { out } = await sessions(tree, ...words);
    for (const char of out) {
      const code = char.charCodeAt(0);
      assert.ok(
        code === 10 || (code >= 0x20 && code < 0x7f) || (code >= 0xa0 && code !== 0x202e),
        `${words}: ${code}`,
      );
    }
  }
});

Deno.test("sessions show and export of a changed session warn", async () => {
  using tree = sampleTree();
  await writeSample(tree.place, "audit");
  tree.setLines("audit", tree.lines("audit").with(4, "x"));
  for (const name of ["show", "export"]) {
    const { code, out, err } = await sessions(tree, name, "audit");
    assert.equal(code, 0);
    assert.match(err, /^warning: audit: record 5 cannot be read\n$/);
    assert.match(out, /audit/);
  }
});

Deno.test("sessions verify: a line for each, exit 1 when one is wrong, all of them without names", async () => {
  using tree = sampleTree();
  for (const name of ["a", "b", "c"]) await writeSample(tree.place, name);
  assert.match(
    (await sessions(tree, "verify")).out,
    /^ok {3}a: 10 records, head [0-9a-f]{12}\nok {3}b: .*\nok {3}c: .*\n$/,
  );
  tree.setLines("b", tree.lines("b").slice(0, 5));
  Deno.removeSync(tree.log("c"));
  const { code, out } = await sessions(tree, "verify");
  assert.equal(code, 1);
  assert.match(
    out,
    /^ok {3}a: .*\nFAIL b: records 6 to 10 are missing at the end\nFAIL c: its file is gone; .*10 records\n$/,
  );
  await assert.rejects(sessions(tree, "show", "c"), { message: /session c: its file is gone/ });
  assert.equal((await sessions(tree, "verify", "a")).code, 0);
  assert.equal((await sessions(tree, "verify", "a", "nope")).code, 1);
});

Deno.test("sessions export: a file, relative to where the program was started, or standard output", async () => {
  using tree = sampleTree();
  await writeSample(tree.place, "audit");
  const { out } = await sessions(tree, "export", "audit", "--format", "jsonl");
  assert.equal(out, Deno.readTextFileSync(tree.log("audit")));
  assert.equal((await sessions(tree, "export", "audit", "--out", "outside/x.md")).out, "");
  assert.match(tree.read("outside/x.md")!, /^# Session audit\n/);
  await assert.rejects(sessions(tree, "export", "audit", "--out", "none/x.md"), {
    message: /cannot write .*none\/x\.md/,
  });
});

Deno.test("sessions delete: needs --yes, then the session and its anchor are gone", async () => {
  using tree = sampleTree();
  await writeSample(tree.place, "audit");
  await assert.rejects(sessions(tree, "delete", "audit"), UsageError);
  assert.equal(tree.lines("audit").length, 10);
  const { code, err } = await sessions(tree, "delete", "audit", "--yes");
  assert.equal(code, 0);
  assert.match(err, /^removed .*audit\.jsonl\nremoved .*audit\.anchor\n$/);
  assert.deepEqual((await sessions(tree, "verify")).out, "");
  await assert.rejects(sessions(tree, "show", "audit"), { message: /there is no session "audit"/ });
});

Deno.test("sessions: names that are paths are refused before anything is touched", async () => {
  using tree = sampleTree();
  tree.write("outside/x.jsonl", "x");
  for (const words of [["show"], ["verify"], ["export"], ["delete", "--yes"]]) {
    await assert.rejects(sessions(tree, words[0]!, "../../../outside/x", ...words.slice(1)), UsageError);
  }
  assert.equal(tree.read("outside/x.jsonl"), "x");
});

Deno.test("sessions: every subcommand has an example, and a missing folder is a usage error", async () => {
  for (const sub of command.subcommands!) assert.ok(sub.examples.length > 0, sub.name);
  using tree = sampleTree();
  Deno.removeSync(tree.work);
  await assert.rejects(sessions(tree, "list"), UsageError);
  tree.write("work", "a file");
  await assert.rejects(sessions(tree, "list"), UsageError);
});
