/**
 * Runs a file of tests in a process of its own, for what can only be seen there: descriptors and memory of a process.
 *
 * @module
 */
import assert from "node:assert/strict";

/** Whether this process was started by {@link alone}. */
export function isAlone(): boolean {
  return Deno.env.get("POLYGLAV_TEST_ALONE") === "1";
}

/** Runs `tests/sandbox/<name>`, or one test of it, and fails with what it says. */
export async function alone(name: string, test = ""): Promise<void> {
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "test",
      "-A",
      "--no-check",
      "--quiet",
      ...(test ? ["--filter", test] : []),
      decodeURIComponent(new URL(`./${name}`, import.meta.url).pathname),
    ],
    env: { NO_COLOR: "1", POLYGLAV_TEST_ALONE: "1" },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const [stdout, stderr, status] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.status,
  ]);
  assert.ok(status.success && /[1-9]\d* passed/.test(stdout), stdout + stderr);
}
