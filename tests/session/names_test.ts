import assert from "node:assert/strict";
import { UsageError } from "../../src/errors.ts";
import { checkSessionName, newSessionId, newSessionName } from "../../src/session/names.ts";

Deno.test("a session name that is safe everywhere passes unchanged", () => {
  for (const name of ["a", "audit", "A.b_c-1", "0", "_x", "console", "nullable", "com", "x".repeat(100)]) {
    assert.equal(checkSessionName(name), name);
  }
});

Deno.test("a session name that is a path, hidden, an option, a device or too long is refused", () => {
  const bad = [
    ...[
      "",
      ".",
      "..",
      "../x",
      "a/b",
      "a\\b",
      "/etc/x",
      ".x",
      "-x",
      "a b",
      "a\n",
      "a\0",
      "ä",
      "x".repeat(101),
      "a.",
    ],
    ...["con", "NUL", "nul.txt", "Com1", "lpt9.a.b", "aux", "a:b", "~", "$x", "a*", "\u202ea"],
  ];
  for (const name of bad) assert.throws(() => checkSessionName(name), UsageError, JSON.stringify(name));
});

Deno.test("the message of a refused name is one line and shows what is wrong", () => {
  assert.throws(() => checkSessionName("../x"), { message: /"\.\.\/x" contains "\/"/ });
  assert.throws(() => checkSessionName("a\nb"), (error: Error) => !error.message.includes("\n"));
  assert.throws(() => checkSessionName("x".repeat(5000)), (error: Error) => error.message.length < 300);
});

Deno.test("a made-up name is a valid one and carries date, time and id", () => {
  const id = newSessionId(), name = newSessionName(new Date("2026-03-04T05:06:07.891Z"), id, "sub_");
  assert.match(id, /^[0-9a-z]{6}$/);
  assert.equal(name, `sub_20260304_050607_${id}`);
  assert.equal(checkSessionName(name), name);
  assert.notEqual(newSessionId(), newSessionId());
});
