/** A yes opens what was asked for, in policy, permissions and guard alike, and nothing beside it. @module */
import assert from "node:assert/strict";
import { join } from "../../src/text/path.ts";
import { makeWorktree, type TestTree } from "../helpers/worktree.ts";
import { SECRET, target } from "./_layers.ts";

const real = { name: "policy real, workers compiled", open: false, inherit: false };

function tree(): TestTree {
  return makeWorktree({
    files: { ".env": "A=1\n", "a.txt": "text\n" },
    outside: { "asked": "asked\n", "secret": SECRET, "d/x": "asked\n", "d/y": "asked\n" },
    links: { "l": "../outside/asked" },
  });
}

Deno.test("approved reads outside, by path, by link and of a whole directory", async () => {
  using disk = tree();
  using aim = target(disk, real);
  for (const path of ["../outside/asked", "l", join(disk.outside, "asked")]) {
    const result = await aim.approved("file_read", { path });
    assert.equal(result.isError, false, result.content);
    assert.match(result.content, /asked/);
  }
  const found = await aim.approved("grep", { pattern: "asked", path: "../outside/d" });
  assert.equal(found.isError, false, found.content);
  assert.match(found.content, /x/);
  assert.match(found.content, /y/);
  assert.ok(!found.content.includes(SECRET));
  // What was approved once is not open afterwards.
  assert.equal((await aim.call("file_read", { path: "../outside/asked" })).isError, true);
});

Deno.test("approved writes outside: replaced, created, and created with its parents", async () => {
  using disk = tree();
  using aim = target(disk, real);
  Deno.chmodSync(join(disk.outside, "asked"), 0o600);
  for (const path of ["../outside/asked", "../outside/new", "../outside/n/e/w/file"]) {
    const result = await aim.approved("file_write", { path, content: "written\n" });
    assert.equal(result.isError, false, result.content);
    assert.equal(disk.read(path.slice(3)), "written\n");
  }
  assert.equal(Deno.statSync(join(disk.outside, "asked")).mode! & 0o777, 0o600);
  const edited = await aim.approved("file_edit", { path: "l", old: "written", new: "edited" });
  assert.equal(edited.isError, false, edited.content);
  assert.equal(disk.read("outside/asked"), "edited\n");
  assert.equal(Deno.readLinkSync(join(disk.work, "l")), "../outside/asked");
  const everything = [...Deno.readDirSync(disk.outside)].map(({ name }) => name).sort();
  assert.deepEqual(everything, ["asked", "d", "n", "new", "secret"]);
  assert.equal(disk.read("outside/secret"), SECRET);
});

Deno.test("approved secrets inside the worktree", async () => {
  using disk = tree();
  using aim = target(disk, real);
  const result = await aim.approved("file_read", { path: ".env" });
  assert.equal(result.isError, false, result.content);
  assert.match(result.content, /A=1/);
  assert.equal((await aim.call("file_read", { path: ".env" })).isError, true);
});

Deno.test("a yes does not lift what is denied for good, and nothing opens the system's pseudo files", async () => {
  using disk = tree();
  using aim = target(disk, real);
  disk.write("work/.git/config", "git");
  for (const path of [".git/config", ".git/hooks/x"]) {
    assert.equal((await aim.approved("file_write", { path, content: "PWNED" })).isError, true);
  }
  assert.equal(disk.read("work/.git/config"), "git");
  for (const path of ["/proc/self/environ", "/dev/null", "/dev/stdin", "/sys/kernel"]) {
    const result = await aim.approved("file_read", { path });
    assert.equal(result.isError, true, result.content);
  }
});
