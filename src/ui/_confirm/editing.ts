/**
 * Which argument of a call a person may change before it runs.
 *
 * @module
 */
import type { Tool } from "../../tool.ts";

/**
 * The arguments that can be edited as text, the likeliest first: the command of a tool that takes one, and nothing else;
 * of a tool that writes, its texts before its path; of all others its key argument before the rest.
 */
export function editable(tool: Tool, args: Readonly<Record<string, unknown>>): string[] {
  if (tool.commandArg !== undefined) {
    return typeof args[tool.commandArg] === "string" ? [tool.commandArg] : [];
  }
  const names = Object.keys(tool.parameters.properties).filter((name) => typeof args[name] === "string");
  const choice = (name: string) => tool.parameters.properties[name]?.enum !== undefined;
  const writes = tool.access.includes("write");
  const weight = (name: string) =>
    choice(name) ? 3 : name === tool.pathArg ? 2 : (name === tool.keyArg) === writes ? 1 : 0;
  const order = [...names].sort((a, b) => weight(a) - weight(b));
  // Of two texts of a write (what is looked for, what takes its place) the later one is the new one.
  const texts = order.filter((name) => weight(name) === 0);
  return writes ? [...texts.reverse(), ...order.filter((name) => weight(name) !== 0)] : order;
}
