/** Starts the program of the tests under a ceiling: options as JSON in the first argument, the rest is the program's. @module */
import { launch } from "../../src/sandbox/launch.ts";

const { flags, worktree, audit, program } = JSON.parse(Deno.args[0]!);
const code = await launch({
  flags,
  worktree,
  audit,
  mainModule: program ?? new URL("./_program.ts", import.meta.url).href,
  args: Deno.args.slice(1),
  env: Deno.env.toObject(),
});
Deno.exit(code);
