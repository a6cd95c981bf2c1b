import assert from "node:assert/strict";
import { historyFile, looksSecret, openHistory } from "../../src/ui/history.ts";

function makePlace(): { stateDir: string; worktree: string } & Disposable {
  const stateDir = Deno.makeTempDirSync({ prefix: "polyglav-" });
  return {
    stateDir,
    worktree: "/some/project",
    [Symbol.dispose]: () => Deno.removeSync(stateDir, { recursive: true }),
  };
}

Deno.test("entries of several lines come back in a later session, and in no other project", () => {
  using place = makePlace();
  const history = openHistory(place);
  assert.deepEqual(history.entries, []);
  for (const text of ["one", "two\nlines 你", "two\nlines 你", "  ", " not kept", "three"]) history.add(text);
  assert.deepEqual(openHistory(place).entries, ["one", "two\nlines 你", "three"]);
  assert.deepEqual(openHistory({ ...place, worktree: "/other/project" }).entries, []);
});

Deno.test("only the user can read it", { ignore: Deno.build.os === "windows" }, () => {
  using place = makePlace();
  openHistory(place).add("one");
  assert.equal(Deno.statSync(historyFile(place)).mode! & 0o777, 0o600);
  assert.equal(Deno.statSync(`${place.stateDir}/history`).mode! & 0o777, 0o700);
});

Deno.test("two programs at once lose nothing, also while the file is cut", async () => {
  using place = makePlace();
  const module = new URL("../../src/ui/history.ts", import.meta.url);
  const script = (name: string) =>
    `import { openHistory } from ${JSON.stringify(module.href)};
     const history = openHistory(${JSON.stringify({ ...place, most: 300 })});
     for (let i = 0; i < 100; i++) history.add("${name} " + i);`;
  openHistory({ ...place, most: 300 }).add("first");
  const children = ["a", "b", "c"].map((name) => {
    const file = `${place.stateDir}/${name}.ts`;
    Deno.writeTextFileSync(file, script(name));
    return new Deno.Command(Deno.execPath(), { args: ["run", "-A", "--no-check", file] }).output();
  });
  for (const { success, stderr } of await Promise.all(children)) {
    assert.ok(success, new TextDecoder().decode(stderr));
  }
  const { entries } = openHistory({ ...place, most: 10_000 });
  assert.equal(entries.length, 301);
  for (const name of ["a", "b", "c"]) {
    assert.deepEqual(
      entries.filter((entry) => entry.startsWith(`${name} `)),
      Array.from({ length: 100 }, (_, i) => `${name} ${i}`),
    );
  }
});

Deno.test("it is bounded: the newest entries stay", () => {
  using place = makePlace();
  const history = openHistory({ ...place, most: 10 });
  for (let i = 0; i < 95; i++) history.add(`entry ${i}`);
  history.add("x".repeat(30_000));
  const { entries } = openHistory({ ...place, most: 10 });
  assert.deepEqual(entries, Array.from({ length: 10 }, (_, i) => `entry ${85 + i}`));
  const lines = Deno.readTextFileSync(historyFile(place)).trimEnd().split("\n");
  assert.ok(lines.length < 40, `${lines.length} lines`);
});

Deno.test("torn and foreign lines cost nothing but themselves", () => {
  using place = makePlace();
  openHistory(place).add("one");
  Deno.writeTextFileSync(historyFile(place), '{"no": "string"}\n\n"torn', { append: true });
  openHistory(place).add("two");
  assert.deepEqual(openHistory(place).entries, ["one", "two"]);
});

Deno.test("a place that cannot be written is said once, and entries of this session still come back", () => {
  using place = makePlace();
  Deno.writeTextFileSync(`${place.stateDir}/history`, "a file in the way");
  const said: string[] = [];
  const history = openHistory({ ...place, warn: (message) => said.push(message) });
  history.add("one");
  history.add("two");
  assert.deepEqual(history.entries, ["one", "two"]);
  assert.equal(said.length, 1);
});

Deno.test("what looks like a secret is not written, but can be called up in this session", () => {
  using place = makePlace();
  const secrets = [
    "use sk-abcdefghijklmnop1234 for it",
    "sk-ant-api03-AbCdEf0123456789",
    "my key is AKIAIOSFODNN7EXAMPLE",
    "export GITHUB_TOKEN=ghp_0123456789abcdefghijABCDEFGHIJ012345",
    "password: hunter22",
    "the password is hunter22",
    "curl -H 'Authorization: Bearer abc.def.ghijklmnop'",
    "git clone https://me:hunter2@example.com/x.git",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.abc",
    "-----BEGIN OPENSSH PRIVATE KEY-----\nabc",
    "psql --password=hunter2",
    "set it to wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY7a",
    "0123456789abcdef0123456789abcdef",
  ];
  const history = openHistory(place);
  for (const text of secrets) history.add(text);
  assert.deepEqual(history.entries, secrets);
  assert.deepEqual(openHistory(place).entries, []);
  let written = "";
  try {
    written = Deno.readTextFileSync(historyFile(place));
  } catch { /* nothing was */ }
  assert.equal(written, "");
});

Deno.test("what people write is no secret", () => {
  for (
    const text of [
      "explain src/sandbox/_shell_own.ts and tests/sandbox/shell_run_test.ts",
      "what did commit 2df1bf96a1b2c3d4e5f60718293a4b5c6d7e8f90 change?",
      "why does createTerminalSinkWithManyWordsInItsName fail?",
      "count the tokens of this file",
      '/tool file_read {"path": "README.md"}',
      "see https://example.com/a/very/long/path/with-many-parts/index.html?x=1",
      "is the key of the map a string?",
      "rename MAXIMUM_NUMBER_OF_CONCURRENT_REQUESTS",
    ]
  ) assert.equal(looksSecret(text), false, text);
});
