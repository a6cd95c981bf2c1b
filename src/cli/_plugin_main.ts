/**
 * Where a plugin's host begins: a process of its own, started by the launcher.
 *
 * @module
 */
import { hostPlugin } from "../sandbox/plugin_host.ts";

if (import.meta.main) await hostPlugin(Deno.args[0] ?? "", Deno.exit);
