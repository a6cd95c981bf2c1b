/**
 * A program under a ceiling: does what its first argument says and prints JSON.
 *
 * @module
 */
import { ceilingState, watchLauncher } from "../../src/sandbox/launch.ts";
import { Sandbox } from "../../src/sandbox/pool.ts";
import * as tools from "./_tools.ts";

const [what, ...rest] = Deno.args;
const state = (name: "read" | "write", path: string) => {
  const { state, partial } = Deno.permissions.querySync({ name, path });
  return partial ? "partial" : state;
};
const attempt = (call: () => unknown) => {
  try {
    return call() ?? "done";
  } catch (error) {
    return (error as Error).name;
  }
};

if (what === "state") {
  console.log(JSON.stringify({
    state: ceilingState(),
    args: rest,
    environment: Deno.env.toObject(),
    hidden: attempt(() => Deno.env.get("DENO_AUTH_TOKENS")) ?? null,
    deno: Deno.permissions.querySync({ name: "run", command: Deno.execPath() }).state,
  }));
} else if (what === "try") {
  const [read, write] = JSON.parse(rest[0]!) as [string[], string[]];
  console.log(JSON.stringify([
    read.map((path) => attempt(() => Deno.readTextFileSync(path))),
    write.map((path) => attempt(() => Deno.writeTextFileSync(path, "PWNED"))),
    await fetch("http://127.0.0.1:8123/").then(() => "done", (error) => error.name),
    attempt(() => new Deno.Command(Deno.execPath(), { args: ["eval", "1"] }).spawn()),
  ]));
} else if (what === "calls") {
  const calls = JSON.parse(rest[0]!);
  const sandbox = new Sandbox({ worktree: rest[1]!, entry: new URL("./_entry.ts", import.meta.url) });
  const results = [];
  for (const { tool, args, scope } of calls) {
    const found = tools.tools.find(({ name }) => name === tool)!;
    results.push(await sandbox.run(found, args, scope, { config: {}, timeout: 20_000, env: {} }));
  }
  sandbox.close();
  console.log(JSON.stringify(results));
} else if (what === "exit") {
  Deno.exit(Number(rest[0]));
} else if (what === "wait") {
  watchLauncher(() => Deno.exit(9));
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    Deno.addSignalListener(signal, () => {
      console.log(signal);
      Deno.exit(40);
    });
  }
  console.log(JSON.stringify({ pid: Deno.pid, parent: Deno.ppid, temporary: state("write", "/tmp") }));
  setInterval(() => {}, 1000);
}
