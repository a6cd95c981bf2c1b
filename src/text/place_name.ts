/**
 * Names for what is kept of a folder elsewhere.
 *
 * @module
 */
import { basename } from "./path.ts";
import { sha256 } from "./sha256.ts";

/**
 * A file name for a folder: a readable part (its own name, at most 40 characters) and the beginning of the SHA-256 of its
 * path, which tells folders of one name apart.
 *
 * @param path absolute and canonical
 */
export function placeName(path: string): string {
  const label = basename(path).replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 40) || "root";
  return `${label}-${sha256(new TextEncoder().encode(path)).slice(0, 16)}`;
}
