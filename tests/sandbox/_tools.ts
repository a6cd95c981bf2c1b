/**
 * Tools that sandbox tests run, hostile ones among them.
 *
 * @module
 */
import { defineTool, type Json, type Tool } from "../../src/tool.ts";

const text = { type: "string", description: "Text." } as const;

function tool(
  name: string,
  access: Tool["access"],
  execute: Tool["execute"],
  more: Pick<Partial<Tool>, "permission" | "category" | "preview" | "part" | "programs"> = {},
): Tool {
  return defineTool({
    name,
    description: "For tests.",
    category: "read",
    permission: "read",
    access,
    parameters: { type: "object", properties: { path: text, value: text } },
    pathArg: "path",
    ...more,
    execute,
  });
}

const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
const encode = (value: string) => new TextEncoder().encode(value);

/** Reads a file through the guard. */
export const read: Tool = tool(
  "read",
  ["read"],
  ({ path }, { workspace }) => decode(workspace.readFile(path)),
);

/** Lists a directory through the guard. */
export const list: Tool = tool(
  "list",
  ["read"],
  ({ path }, { workspace }) =>
    workspace.readDirectory(path).map(({ name, kind }) => `${kind} ${name}`).sort(),
  { permission: "list" },
);

/** Writes a file through the guard. */
export const write: Tool = tool(
  "write",
  ["read", "write"],
  ({ path, value }, { workspace }) => ({ ...workspace.writeFile(path, encode(value)) }),
  {
    category: "write",
    permission: "edit",
    preview: ({ path }, { workspace }) => `would write over ${decode(workspace.readFile(path))}`,
  },
);

/** Reads every file below the worktree by the walk's fast path. */
export const walk: Tool = tool("walk", ["read"], ({ path }, { workspace }) => {
  const found: string[] = [], buffer = new Uint8Array(1 << 16);
  const visit = (directory: string) => {
    for (const { name, kind } of workspace.walkDirectory(directory)) {
      const at = `${directory}/${name}`;
      if (kind === "directory") visit(at);
      else if (workspace.withheld(at) === null) {
        const bytes = workspace.walkFile(at, buffer);
        if (bytes) found.push(`${name}: ${decode(bytes)}`);
      }
    }
  };
  visit(workspace.resolve(path ?? ".", "list"));
  return found.sort();
});

/** Runs JavaScript in the worker: what a hostile or broken tool could do, without the guard. */
export const evil: Tool = tool(
  "evil",
  ["read"],
  async ({ value }, context) =>
    await new (Object.getPrototypeOf(async function () {}).constructor)("ctx", value)(context),
);

/** The same with permission to write. */
export const evilWrite: Tool = tool("evil_write", ["read", "write"], evil.execute, { permission: "edit" });

/** The same with permission to start programs. */
export const evilRun: Tool = tool("evil_run", ["read", "run"], evil.execute, {
  permission: "bash",
  programs: () => ["/bin/sh", "/bin/sleep"],
});

/** Doubles numbers, in parts. */
export const double: Tool = tool(
  "double",
  ["read"],
  async ({ value }, { fanout }) => await fanout(JSON.parse(value)) as Json[],
  {
    part: async (input) => {
      if (input === "fail") throw new Error("this part failed");
      if (input === "worker") await new Promise((done) => setTimeout(done, 5));
      if (input === "worker") return (globalThis as unknown as { me?: number }).me ??= Math.random();
      if (input === "hang") { while (true); }
      if (input === "close") (globalThis as unknown as { close(): void }).close();
      await new Promise((done) => setTimeout(done, 5));
      return Number(input) * 2;
    },
  },
);

/** All of them. */
export const tools: readonly Tool[] = [read, list, write, walk, evil, evilWrite, evilRun, double];
