import assert from "node:assert/strict";
import { ToolError } from "../../src/errors.ts";
import { join } from "../../src/text/path.ts";
import type { Workspace } from "../../src/tool.ts";
import { makeWorktree } from "../helpers/worktree.ts";
import { reader, refused } from "./_guard.ts";

function walk(workspace: Workspace, directory: string, buffer: Uint8Array): string[] {
  const found: string[] = [];
  for (const { name, kind } of workspace.walkDirectory(directory)) {
    const path = join(directory, name);
    if (kind === "directory") found.push(...walk(workspace, path, buffer));
    else if (kind === "file") {
      const bytes = workspace.walkFile(path, buffer);
      found.push(`${path.slice(workspace.root.length + 1)}=${bytes && new TextDecoder().decode(bytes)}`);
    } else found.push(`${name}:${kind}`);
  }
  return found.sort();
}

Deno.test("a walk reads every file below, and reports links without following them", () => {
  using tree = makeWorktree({
    files: { "a": "1", "d/b": "2", "d/e/c": "3" },
    outside: { "secret": "SECRET" },
    links: { "l": "a", "out": "../outside", "d/loop": ".." },
  });
  const workspace = reader(tree);
  assert.deepEqual(walk(workspace, workspace.resolve(".", "list"), new Uint8Array(100)), [
    "a=1",
    "d/b=2",
    "d/e/c=3",
    "l:symlink",
    "loop:symlink",
    "out:symlink",
  ]);
});

Deno.test("a file that fits is a view into the buffer; a larger one is read whole", () => {
  using tree = makeWorktree({ files: { "small": "1234" } });
  const large = crypto.getRandomValues(new Uint8Array(10_000));
  tree.write("work/large", large);
  tree.write("work/exact", large.subarray(0, 64));
  const workspace = reader(tree), buffer = new Uint8Array(64);
  workspace.walkDirectory(tree.work);
  assert.equal(workspace.walkFile(join(tree.work, "small"), buffer)?.buffer, buffer.buffer);
  assert.deepEqual(workspace.walkFile(join(tree.work, "large"), buffer), large);
  assert.deepEqual(workspace.walkFile(join(tree.work, "exact"), buffer), large.subarray(0, 64));
});

Deno.test("wanted sees all bytes and decides whether they are returned; what it throws is thrown", () => {
  using tree = makeWorktree({ files: { "a": "needle", "b": "hay", "long": "x".repeat(300) } });
  const workspace = reader(tree), buffer = new Uint8Array(64), seen: number[] = [];
  workspace.walkDirectory(tree.work);
  const wanted = (bytes: Uint8Array) => {
    seen.push(bytes.length);
    return new TextDecoder().decode(bytes).includes("needle");
  };
  assert.equal(new TextDecoder().decode(workspace.walkFile(join(tree.work, "a"), buffer, wanted)!), "needle");
  assert.equal(workspace.walkFile(join(tree.work, "b"), buffer, wanted), null);
  assert.equal(workspace.walkFile(join(tree.work, "long"), buffer, wanted), null);
  assert.deepEqual(seen, [6, 3, 300]);
  for (
    const mine of [
      new RangeError("mine"),
      new ToolError("mine"),
      Object.assign(new Error(), { code: "MINE" }),
    ]
  ) {
    const fail = () => {
      throw mine;
    };
    assert.throws(() => workspace.walkFile(join(tree.work, "a"), buffer, fail), (error) => error === mine);
  }
});

Deno.test("a link, a directory and a file that vanished are null; a link's target is never returned", () => {
  using tree = makeWorktree({
    files: { "a": "1", "d/x": "", "gone": "" },
    outside: { "secret": "SECRET" },
    links: { "in": "a", "out": "../outside/secret", "dir": "../outside" },
  });
  const workspace = reader(tree), buffer = new Uint8Array(100);
  workspace.walkDirectory(tree.work);
  Deno.removeSync(join(tree.work, "gone"));
  for (const name of ["in", "out", "dir", "d", "gone"]) {
    assert.equal(workspace.walkFile(join(tree.work, name), buffer), null, name);
    assert.equal(workspace.walkFile(join(tree.work, name), buffer, () => true), null, name);
  }
});

Deno.test("only directories that were walked, or resolve, are walked", () => {
  using tree = makeWorktree({
    files: { "a/b/c": "1" },
    outside: { "secret": "SECRET" },
    links: { "l": "a" },
  });
  const workspace = reader(tree), buffer = new Uint8Array(100);
  workspace.walkDirectory(tree.work);
  refused(() => workspace.walkDirectory(`${tree.work}/l`), "permission", /elsewhere/);
  refused(() => workspace.walkDirectory(`${tree.work}/a/..`), "permission");
  refused(() => workspace.walkDirectory(`${tree.work}/../outside`), "permission");
  refused(() => workspace.walkDirectory(tree.outside), "permission");
  refused(() => workspace.walkFile(`${tree.work}/../outside/secret`, buffer), "permission");
  refused(() => workspace.walkFile(`${tree.outside}/secret`, buffer), "permission");
  assert.equal(workspace.walkFile(`${tree.work}/.`, buffer), null);
  assert.equal(workspace.walkFile(`${tree.work}/`, buffer), null);
  // A directory that was not walked is checked in full.
  assert.equal(new TextDecoder().decode(workspace.walkFile(`${tree.work}/a/b/c`, buffer)!), "1");
  refused(() => workspace.walkDirectory(`${tree.work}/nothing`), "not_found");
});

Deno.test("a directory that was replaced by a link after it was walked gives nothing of the link's target", () => {
  using tree = makeWorktree({ files: { "d/secret": "mine" }, outside: { "secret": "SECRET" } });
  const workspace = reader(tree), buffer = new Uint8Array(100);
  workspace.walkDirectory(tree.work);
  workspace.walkDirectory(join(tree.work, "d"));
  Deno.renameSync(join(tree.work, "d"), join(tree.work, "moved"));
  Deno.symlinkSync("../outside", join(tree.work, "d"));
  assert.equal(workspace.walkFile(join(tree.work, "d/secret"), buffer), null);
  assert.equal(workspace.walkFile(join(tree.work, "d/secret"), buffer, () => true), null);
  refused(() => workspace.walkDirectory(join(tree.work, "d")), "permission", /elsewhere/);
});

Deno.test("a file under a rule is withheld from a walk, and refused when it is read all the same", () => {
  using tree = makeWorktree({ files: { "d/.env": "SECRET", "d/.ENV.x": "SECRET", "d/a": "1" } });
  const workspace = reader(tree, [{ pattern: ".env*", access: "read", action: "ask" }]);
  const buffer = new Uint8Array(100), directory = join(tree.work, "d");
  assert.deepEqual(workspace.walkDirectory(directory).map(({ name }) => name).sort(), [
    ".ENV.x",
    ".env",
    "a",
  ]);
  for (const name of [".env", ".ENV.x"]) {
    assert.ok(workspace.withheld(join(directory, name)));
    refused(() => workspace.walkFile(join(directory, name), buffer), "permission", /path rule/);
    refused(() => workspace.walkFile(join(directory, name), buffer, () => true), "permission", /path rule/);
  }
  assert.equal(workspace.withheld(join(directory, "a")), null);
});
