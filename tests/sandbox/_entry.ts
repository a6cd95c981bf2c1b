/** The far side with the tools of the tests. @module */
import "../../src/sandbox/_narrow.ts";
import "../../src/sandbox/exec.ts";
import "../../src/sandbox/shell.ts";
import { serve } from "../../src/sandbox/_serve.ts";
import { tools } from "./_tools.ts";

serve(tools);
