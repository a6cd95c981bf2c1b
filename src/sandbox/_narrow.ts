/**
 * Narrows a worker when it is evaluated: the first import of every entry, so that it comes before any tool's module.
 *
 * @module
 */
import { narrow } from "./_serve.ts";

narrow();
