/**
 * The far side: what runs in a worker of the sandbox. It gives up what it must not have, and only then loads tools.
 *
 * @module
 */
import { narrow, serve } from "./_serve.ts";

narrow();
const { tools } = await import("../../tools/mod.ts");
serve(tools);
