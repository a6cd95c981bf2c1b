/**
 * The thread of a plugin that was granted files: plugin_worker.ts with the guard, which costs its Node modules.
 *
 * @module
 */
import { createWorkspace } from "./guard.ts";
import { provideFiles } from "./plugin_worker.ts";

provideFiles(createWorkspace);
