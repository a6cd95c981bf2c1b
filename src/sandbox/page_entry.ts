/**
 * The far side of web tools, which turn into text what the host had fetched: without files, programs or network; see
 * entry.ts.
 *
 * @module
 */
import "./_narrow.ts";
import { serve } from "./_serve.ts";
import { tools } from "../../tools/far_web.ts";

serve(tools);
