/**
 * The far side of file tools: what runs in a worker of the sandbox. It gives up what it must not have before a tool's
 * module is evaluated.
 *
 * Whatever a handler loads later must be imported here too: a narrowed worker can load no new local module.
 *
 * @module
 */
import "./_narrow.ts";
import { serve } from "./_serve.ts";
import { tools } from "../../tools/far_files.ts";

serve(tools);
