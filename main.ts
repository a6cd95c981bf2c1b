/**
 * polyglav: a terminal AI agent harness in which every decision is enforced twice.
 *
 * @module
 */
import { main } from "./src/cli/main.ts";

if (import.meta.main) Deno.exit(await main(Deno.args));
