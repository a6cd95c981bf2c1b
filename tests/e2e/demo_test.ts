import assert from "node:assert/strict";

Deno.test("the demo runs the main job: eight calls and more, one refused with its reason, a diff, an answer, a session that verifies", async () => {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", decodeURIComponent(new URL("../../scripts/demo.ts", import.meta.url).pathname)],
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const [stdout, stderr, status] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.status,
  ]);
  assert.equal(status.code, 0, stderr);
  const calls = stderr.split("\n").filter((line) => /^(\*|←|→|%|\$) /.test(line));
  assert.ok(calls.length >= 8, calls.join("\n"));
  assert.match(
    stderr,
    /^\+ {2}return items\.reduce\(\(sum, item\) => sum \+ item\.cents \* item\.quantity, 0\);$/m,
  );
  assert.match(stderr, /^! Error: .*salaries\.txt is outside the worktree/m);
  assert.match(stdout, /now multiplies each price by its quantity/);
  assert.match(stdout, /^ok +demo: \d+ records/m);
  assert.match(stdout, /ask -> declined {2}file_read \.\.\/private\/salaries\.txt/);
  assert.ok(
    !(stdout + stderr).includes("nobody's business\n1|") && !/\d\|nobody's business/.test(stdout + stderr),
  );
});
