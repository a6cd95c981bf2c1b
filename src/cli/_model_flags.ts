/**
 * What the command line says of the model, for the commands that talk to one.
 *
 * @module
 */
import { UsageError } from "../errors.ts";
import type { Invocation } from "./_command.ts";

/**
 * Settings that the command line sets, by dotted key.
 *
 * @param command its name, for messages
 * @throws {UsageError}
 */
export function modelFlags(command: string, values: Invocation["values"]): Record<string, unknown> {
  const rounds = values["max-rounds"];
  if (rounds !== undefined && !/^[1-9]\d{0,6}$/.test(String(rounds))) {
    throw new UsageError(`${command}: --max-rounds must be a number from 1, got "${rounds}"`);
  }
  return {
    model: values.model,
    provider: values.provider,
    base_url: values["base-url"],
    ...(rounds === undefined ? {} : { max_rounds: Number(rounds) }),
  };
}
