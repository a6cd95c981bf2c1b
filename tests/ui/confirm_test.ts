import assert from "node:assert/strict";
import { createConfirm } from "../../src/ui/confirm.ts";
import { settle } from "./_fake_tty.ts";
import { editTool, makeDesk, QUIET, requestOf, runTool } from "./_questions.ts";

const push = () => requestOf(runTool, { command: "git push" });

Deno.test("y is yes, n and Escape are no, Ctrl-C cancels the turn; Enter, other keys and pasted text say nothing", async () => {
  for (
    const [keys, wanted] of [
      [["y"], "yes"],
      [["Y"], "yes"],
      [["yes"], "yes"],
      [["n"], "no"],
      [["\x1b"], "no"],
      [["\x03"], "cancel"],
      [["\x04"], "no"],
      [["\r", "x", "\x1b[A", "\x1b[200~y\x1b[201~", "yonder", "n"], "no"],
    ] as const
  ) {
    using desk = makeDesk();
    const answer = createConfirm(desk)(push());
    await desk.answer(...keys);
    assert.equal(await answer, wanted, JSON.stringify(keys));
  }
});

Deno.test("Ctrl-C cancels before the quiet time is over, too", async () => {
  using desk = makeDesk();
  const answer = createConfirm(desk)(push());
  await settle();
  desk.tty.type("\x03");
  assert.equal(await answer, "cancel");
});

Deno.test("what was typed ahead answers nothing and is not lost", async () => {
  using desk = makeDesk();
  desk.tty.type("y\ry");
  await settle();
  const answer = createConfirm(desk)(push());
  await settle();
  desk.tty.type("y");
  await settle(500); // a line was begun: the quiet time is longer
  desk.tty.type("y");
  await settle(900);
  desk.tty.type("n");
  assert.equal(await answer, "no");
  assert.deepEqual(await desk.input.readLine({ prompt: "" }), { kind: "line", text: "y" });
  const rest = desk.input.readLine({ prompt: "" });
  desk.tty.type("\r");
  assert.deepEqual(await rest, { kind: "line", text: "yyy" });
});

Deno.test("a command is shown to its last byte, with each part's verdict, the rule and who asks", async () => {
  using desk = makeDesk();
  const command = "echo hi\nrm -rf / # \x1b[8mhidden\x1b]0;x\x07\u202e\r";
  const answer = createConfirm(desk)(requestOf(runTool, { command, cwd: "sub" }, {
    asker: "sub_1\x1b[1m",
    decision: {
      reason: "commands ask",
      command: {
        mode: "shell",
        programs: [],
        paths: [],
        segments: [{ text: "echo hi", allowed: true, reason: "echo" }, {
          text: "rm -rf /\x1b[A",
          allowed: false,
          reason: "no prefix",
        }],
      },
      paths: [{
        path: "/etc",
        canonical: "/etc",
        access: "write",
        inside: false,
        consent: "outside the worktree",
      }],
    },
  }));
  await desk.answer("n");
  assert.equal(await answer, "no");
  const { output } = desk.tty;
  assert.ok(!output.includes("\x1b"), JSON.stringify(output));
  for (
    const part of [
      "[sub_1␛[1m] ? run_command",
      "cwd=sub",
      "  $ echo hi\n    rm -rf / # ␛[8mhidden␛]0;x␇\\u202e␍\n",
      "✓ echo hi (echo)",
      "✗ rm -rf /␛[A (no prefix)",
      "! write /etc (outside the worktree)",
      "tool_permission.bash: commands ask",
      "approve? [y yes  n no  a always…  e edit  ? why] ",
    ]
  ) assert.ok(output.includes(part), `${part} in ${output}`);
});

Deno.test("yes to a command that is too long to be shown shows all of it first", async () => {
  using desk = makeDesk();
  const command = `${"echo x\n".repeat(400)}rm -rf hidden`;
  const answer = createConfirm(desk)(requestOf(runTool, { command }));
  await desk.answer("y");
  await settle(20);
  assert.ok(desk.tty.output.includes("rm -rf hidden"));
  await desk.answer("n");
  assert.equal(await answer, "no");
});

Deno.test("an edit shows its diff; a write without a preview shows its arguments", async () => {
  using desk = makeDesk();
  const args = { path: "a.txt", old: "one", new: `two ${"words ".repeat(20)}\nthree` };
  const confirm = createConfirm(desk);
  const answer = confirm(
    requestOf(editTool, args, { preview: () => Promise.resolve("a.txt\n@@ -1 +1 @@\n-one\n+two\x1b[m") }),
  );
  await desk.answer("n");
  await answer;
  assert.ok(desk.tty.output.includes("  -one\n  +two␛[m\n"));
  desk.tty.output = "";
  const second = confirm(requestOf(editTool, args, { preview: () => Promise.reject(new Error("no")) }));
  await desk.answer("n");
  await second;
  assert.ok(desk.tty.output.includes("    three\n"));
});

Deno.test("a: the rule is shown, a second key keeps it, and it holds before the call runs", async () => {
  using desk = makeDesk();
  const answer = createConfirm(desk)(push());
  await desk.answer("a", "2");
  assert.ok(desk.tty.output.includes('tool_permission.bash_auto += "git push" (is saved for this project)'));
  assert.deepEqual(desk.rules.kept, []);
  await desk.answer("y");
  assert.equal(await answer, "yes");
  assert.deepEqual(desk.rules.kept.map(({ lasts }) => lasts), ["project"]);
});

Deno.test("a: everything but the second key leads back to the question, and a rule that cannot be kept is no yes", async () => {
  using desk = makeDesk();
  const answer = createConfirm(desk)(push());
  await desk.answer("a", "9", "a", "n", "a", "1", "n");
  desk.rules.refuses = true;
  await desk.answer("a", "1", "y");
  assert.match(desk.tty.output, /the rule was not kept: the file is read-only/);
  await desk.answer("n");
  assert.equal(await answer, "no");
  assert.deepEqual(desk.rules.kept, []);
});

Deno.test("a and e are not offered where there is nothing to keep or to change", async () => {
  using desk = makeDesk();
  desk.rules.offered = [];
  const answer = createConfirm(desk)(requestOf(editTool, {}));
  await desk.answer("a", "e", "n");
  assert.equal(await answer, "no");
  assert.ok(desk.tty.output.includes("approve? [y yes  n no  ? why] "));
});

Deno.test("e: the command is edited as it stands; an unchanged one leads back", async () => {
  using desk = makeDesk();
  const command = 'printf "a\\\nb" \\';
  const answer = createConfirm(desk)(requestOf(runTool, { command, cwd: "sub" }));
  await desk.answer("e", "\r", "e", "!", "\r");
  assert.deepEqual(await answer, { edit: { command: `${command}!`, cwd: "sub" } });
});

Deno.test("e: of an edit the new text comes first; Ctrl-C in the editor leads back", async () => {
  using desk = makeDesk();
  const answer = createConfirm(desk)(requestOf(editTool, { path: "a", old: "one", new: "two" }));
  await desk.answer("e", "1", "\x03", "e", "1", "\x15", "three", "\r");
  assert.deepEqual(await answer, { edit: { path: "a", old: "one", new: "three" } });
});

Deno.test("?: the trail is shown, cleaned, and the question stands again", async () => {
  using desk = makeDesk();
  const answer = createConfirm(desk)(push());
  await desk.answer("?", "y");
  assert.equal(await answer, "yes");
  assert.ok(desk.tty.output.includes("  tool_permission.bash: ask\n  ␛[2Jmode build: nothing\n"));
});

Deno.test("confirm_timeout answers no, wherever the question stands", async () => {
  for (const keys of [[], ["a"], ["e", "x"]]) {
    using desk = makeDesk();
    desk.settings.confirm_timeout = (QUIET + 200) / 1000;
    const answer = createConfirm(desk)(push());
    await desk.answer(...keys);
    assert.equal(await answer, "no");
  }
});

Deno.test("a terminal that goes away is no yes", async () => {
  using desk = makeDesk();
  const answer = createConfirm(desk)(push());
  await settle(20);
  desk.tty.hangUp();
  assert.equal(await answer, "no");
});

Deno.test("questions of several agents come one at a time", async () => {
  using desk = makeDesk();
  const confirm = createConfirm(desk);
  const first = confirm(push()), second = confirm(requestOf(runTool, { command: "ls" }));
  await settle(20);
  assert.ok(!desk.tty.output.includes("$ ls"));
  await desk.answer("y");
  assert.equal(await first, "yes");
  await desk.answer("n");
  assert.equal(await second, "no");
});

Deno.test("forty columns: the keys fit into the line", async () => {
  using desk = makeDesk(40);
  const answer = createConfirm(desk)(push());
  await desk.answer("n");
  await answer;
  assert.ok(desk.tty.output.includes("approve? [y/n/a/e/?] "));
});
