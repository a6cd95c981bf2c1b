/**
 * The bundled tools, grouped into the bundled plugins. To add a tool: write `tools/<name>.ts` and add it to its group.
 *
 * @module
 */
import type { Tool } from "../src/tool.ts";

/** The bundled plugins and their tools. */
export const groups: Readonly<Record<string, readonly Tool[]>> = {};

/** Tools that the program itself uses; never shown to a model. */
export const internalTools: readonly Tool[] = [];

/** Every tool that a worker can run. */
export const tools: readonly Tool[] = [...Object.values(groups).flat(), ...internalTools];
