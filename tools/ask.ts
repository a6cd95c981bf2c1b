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
  description: "Ask the human or your lead for a decision or permission you need.",
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
      context: { type: "string", description: "Background." },
      options: { type: "array", items: { type: "string" }, description: "Suggested answers." },
      target: { type: "string", enum: ["human", "lead"], description: "Who decides." },
      kind: {
        type: "string",
        enum: ["direction", "permission"],
        default: "direction",
        description: "permission: to use what is denied.",
      },
      permission: { type: "string", description: "Tool or key." },
    },
    required: ["question"],
  },
  execute: (args, context) => callHost(context, "ask", args),
});
