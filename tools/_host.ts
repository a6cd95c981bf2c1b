/**
 * Handing a call over to the engine.
 *
 * @module
 */
import { ToolError } from "../src/errors.ts";
import { type ToolContext, type ToolOutput } from "../src/tool.ts";

/**
 * Performs an operation of the engine.
 *
 * @throws {ToolError} where there is no engine behind the call, and for whatever the engine refuses
 */
export async function callHost(
  context: ToolContext,
  operation: string,
  args: Readonly<Record<string, unknown>>,
): Promise<ToolOutput> {
  if (!context.host) throw new ToolError(`${operation} works inside a run only`, "execution");
  const options = { signal: context.signal, progress: context.progress };
  return await context.host.call(operation, args, options) as ToolOutput;
}
