/**
 * `handoff`: control over the conversation goes to another run.
 *
 * @module
 */
import { defineTool, type Tool } from "../src/tool.ts";
import { callHost } from "./_host.ts";

/** Pauses or ends this run and hands control to another one. */
export const handoff: Tool = defineTool({
  name: "handoff",
  description: "Interactive sessions: hand control to another run and end this turn.",
  category: "handoff",
  permission: "handoff",
  access: [],
  keyArg: "target",
  glyph: "→",
  verb: "Handoff",
  parallel: false,
  short: "Hand control to another run",
  parameters: {
    type: "object",
    properties: {
      target: { type: "string", description: "parent, child, sibling, root, #run or session." },
      done: { type: "boolean", default: false, description: "This run is finished, not paused." },
    },
    required: ["target"],
  },
  execute: (args, context) => callHost(context, "handoff", args),
});
