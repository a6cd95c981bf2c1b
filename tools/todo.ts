/**
 * `todo`: the list of steps of a long task, kept in the session.
 *
 * @module
 */
import { defineTool, type Tool } from "../src/tool.ts";
import { callHost } from "./_host.ts";

/** Keeps the list of things to do; every action returns the list. */
export const todo: Tool = defineTool({
  name: "todo",
  description: "Keep the steps of a long task.",
  category: "todo",
  permission: "todo",
  access: [],
  keyArg: "action",
  parallel: false,
  short: "Keep a list of steps",
  status: ({ action, id, text, texts }) =>
    [action, id === undefined ? "" : `#${id}`, text ?? texts?.join("; ") ?? ""].filter(Boolean).join(" "),
  paramAliases: { items: "texts" },
  parameters: {
    type: "object",
    properties: {
      action: { type: "string", enum: ["list", "add", "update", "done"], description: "What to do." },
      texts: { type: "array", items: { type: "string" }, description: "Steps to add." },
      id: { type: "integer", description: "Step." },
      text: { type: "string", description: "New text." },
      status: { type: "string", enum: ["open", "doing", "done"], description: "New state." },
    },
    required: ["action"],
  },
  execute: (args, context) => callHost(context, "todo", args),
});
