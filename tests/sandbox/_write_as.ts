/** Writes `d/a` below the given worktree as the user nobody, and prints the report. @module */
import process from "node:process";
import { createWorkspace } from "../../src/sandbox/guard.ts";

const worktree = Deno.args[0]!;
const workspace = createWorkspace({
  worktree,
  roots: [{ path: worktree, access: "write" }],
  rules: [],
  consented: [],
});
process.setgid?.(65534);
process.setuid?.(65534);
console.log(JSON.stringify(workspace.writeFile("d/a", new TextEncoder().encode("new"))));
