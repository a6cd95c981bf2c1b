/** The far side with the tools of the tests. @module */
import { narrow, serve } from "../../src/sandbox/_serve.ts";

narrow();
const { tools } = await import("./_tools.ts");
serve(tools);
