import assert from "node:assert/strict";
import { defineTool, openWorkspace, ToolError, ToolRegistry } from "../../src/lib.ts";
import { makeWorktree } from "../helpers/worktree.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const denied = (error: unknown) => error instanceof ToolError && error.kind === "permission";

Deno.test("a path cannot climb out of an opened folder, nor follow a link out of it", () => {
  using tree = makeWorktree({
    files: { "a.txt": "inside" },
    outside: { "secret.txt": "SECRET" },
    links: { link: "../outside", "file.txt": "../outside/secret.txt" },
  });
  const files = openWorkspace(tree.work, { write: true });
  assert.equal(new TextDecoder().decode(files.readFile("a.txt")), "inside");
  for (const path of ["../outside/secret.txt", "link/secret.txt", "file.txt", `${tree.outside}/secret.txt`]) {
    assert.throws(() => files.readFile(path), denied, path);
    assert.throws(() => files.writeFile(path, bytes("PWNED")), denied, path);
  }
  assert.throws(() => files.writeFile("link/new.txt", bytes("PWNED")), denied);
  assert.equal(tree.read("outside/secret.txt"), "SECRET");
  assert.equal(tree.read("outside/new.txt"), null);
});

Deno.test("without write nothing is written", () => {
  using tree = makeWorktree({ files: { "a.txt": "a" } });
  assert.throws(() => openWorkspace(tree.work).writeFile("a.txt", bytes("b")), denied);
  assert.equal(tree.read("work/a.txt"), "a");
  openWorkspace(tree.work, { write: true }).writeFile("new/a.txt", bytes("b"));
  assert.equal(tree.read("work/new/a.txt"), "b");
});

Deno.test("secrets and .git stay closed unless other rules are given", () => {
  using tree = makeWorktree({ files: { ".env": "KEY=1", "sub/server.pem": "p", ".git/config": "c" } });
  const files = openWorkspace(tree.work, { write: true });
  assert.throws(() => files.readFile(".env"), denied);
  assert.throws(() => files.readFile("sub/server.pem"), denied);
  assert.throws(() => files.writeFile(".git/config", bytes("x")), denied);
  const open = openWorkspace(tree.work, { write: true, rules: [] });
  assert.equal(new TextDecoder().decode(open.readFile(".env")), "KEY=1");
});

Deno.test("open: what the program kept of files in the folder stays closed", () => {
  using tree = makeWorktree({
    files: { ".polyglav/journal/0f": "x", "d/.polyglav/sessions/s.jsonl": "x", ".polyglav/roles.json": "{}" },
  });
  const files = openWorkspace(tree.work);
  for (const path of [".polyglav/journal/0f", "d/.polyglav/sessions/s.jsonl"]) {
    assert.throws(() => files.readFile(path), /denied|closed|rule/, path);
  }
  assert.equal(new TextDecoder().decode(files.readFile(".polyglav/roles.json")), "{}");
});

Deno.test("a folder that is not there is an error that names it", () => {
  using tree = makeWorktree({ files: { "a.txt": "a" } });
  assert.throws(
    () => openWorkspace(`${tree.work}/nope`),
    (error: ToolError) => error.kind === "not_found" && /nope/.test(error.message),
  );
  assert.throws(() => openWorkspace(`${tree.work}/a.txt`), /not a directory/);
});

Deno.test("a tool that needs a workspace gets the one of the call", async () => {
  using tree = makeWorktree({ files: { "a.txt": "one" } });
  const registry = new ToolRegistry().register(defineTool({
    name: "read_it",
    description: "Read a file.",
    access: ["read"],
    requires: ["workspace"],
    parameters: {
      type: "object",
      properties: { path: { type: "string", description: "The file." } },
      required: ["path"],
    },
    execute: ({ path }, { workspace }) => new TextDecoder().decode(workspace.readFile(path)),
  }));
  await assert.rejects(
    registry.execute("read_it", { path: "a.txt" }),
    /tool "read_it" needs the context "workspace"; call executeWith\("read_it", args, \{ workspace: … \}\)/,
  );
  const context = { workspace: openWorkspace(tree.work) };
  assert.equal(await registry.executeWith("read_it", { path: "a.txt" }, context), "one");
  await assert.rejects(
    registry.executeWith("read_it", { path: "../outside" }, context),
    (error: ToolError) => error.kind === "permission",
  );
});

Deno.test("names that every object has do not pass for contexts", async () => {
  const registry = new ToolRegistry().register(defineTool({
    name: "odd",
    description: "d",
    requires: ["constructor"],
    parameters: { type: "object", properties: {} },
    execute: () => "ran",
  }));
  await assert.rejects(registry.execute("odd"), /needs the context "constructor"/);
});
