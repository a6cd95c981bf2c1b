/**
 * The far side of tools that start programs; see entry.ts.
 *
 * @module
 */
import "./_narrow.ts";
import "./exec.ts";
import "./shell.ts";
import { serve } from "./_serve.ts";
import { tools } from "../../tools/far_programs.ts";

serve(tools);
