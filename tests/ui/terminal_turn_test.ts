import { deepEqual, match } from "node:assert/strict";
import { defaults } from "../../src/config/schema.ts";
import { createStyle } from "../../src/ui/style.ts";
import { createTerminalSink } from "../../src/ui/terminal.ts";
import { rig, tool } from "../engine/_harness.ts";

Deno.test("a turn of the engine on a terminal: answer, activity, cost, and what the last request filled", async () => {
  await using run = await rig([
    { tool_calls: [{ name: "look", arguments: { path: "a" } }] },
    { content: "It is **fine**." },
  ], { tools: [tool("look", () => "Error: nothing there", { keyArg: "path" })] });
  let out = "";
  const sink = createTerminalSink({
    write: (text) => out += text,
    columns: () => 120,
    style: createStyle(false),
    live: false,
    settings: { ...defaults(), context_window: 36, prices: { scripted: [100, 1000] } },
    prompts: { confirm: () => Promise.resolve("no"), ask: () => Promise.resolve(null) },
  });
  const result = await run.run("go");
  for (const event of run.events) sink.emit(event);
  sink.close();
  // Each reply of the scripted server counts 11 tokens in and 7 out; only the last one says what the window holds.
  deepEqual([result.usage?.total_tokens, result.context], [36, 18]);
  match(
    out,
    /^← Read a\n! Error: nothing there\n\nIt is \*\*fine\*\*\.\n\(\d\.\ds, 22 tokens in, 14 out, \$0\.02, context 50% of 36\)\n$/,
  );
});
