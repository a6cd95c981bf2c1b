/**
 * `ask`: a question to the person or to the agent that delegated, answered while the run waits.
 *
 * @module
 */
import { defineTool, type Tool } from "../src/tool.ts";
import { callHost } from "./_host.ts";

/** Asks for a decision or a permission. */
export const ask: Tool = defineTool({
  name: "ask",
  description:
    "Ask the human, or the lead that delegated to you, for a decision or a permission you need to go on.",
  category: "ask",
  permission: "ask",
  access: [],
  confirm: false,
  parallel: false,
  keyArg: "question",
  short: "Ask for a decision or a permission",
  parameters: {
    type: "object",
    properties: {
      question: { type: "string", description: "One question." },
      context: { type: "string", description: "What the answerer must know." },
      options: { type: "array", items: { type: "string" }, description: "Suggested answers." },
      target: { type: "string", enum: ["human", "lead"], description: "Who decides." },
      kind: {
        type: "string",
        enum: ["direction", "permission"],
        default: "direction",
        description: "permission: for one use of what is denied to you.",
      },
      permission: { type: "string", description: "Tool or permission key (kind permission)." },
    },
    required: ["question"],
  },
  execute: (args, context) => callHost(context, "ask", args),
});
