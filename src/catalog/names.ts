/**
 * Names of roles, teams and skills: they become keys and file names, so only what is safe everywhere passes.
 *
 * @module
 */
import { ToolError } from "../errors.ts";
import type { Kind } from "./types.ts";

const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;
const DEVICE = /^(con|prn|aux|nul|com[0-9]|lpt[0-9]|conin|conout|clock)$/i;

/** Whether a text may be a name: 1 to 64 letters, digits, `_` and `-`, no device name of Windows. */
export function isName(text: unknown): boolean {
  return typeof text === "string" && NAME.test(text) && !DEVICE.test(text);
}

/** Returns the name. @throws {ToolError} `invalid_arguments`, where it may not be one */
export function checkName(kind: Kind, name: string): string {
  if (isName(name)) return name;
  const shown = JSON.stringify(name.length > 80 ? `${name.slice(0, 77)}...` : name);
  throw new ToolError(
    `${shown} cannot be the name of a ${kind}; use 1 to 64 letters, digits, "-" and "_", beginning with a letter or digit`,
    "invalid_arguments",
  );
}
