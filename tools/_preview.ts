/**
 * Bounds on what previews and details show of a change.
 *
 * @module
 */

/** Lines of a diff before a confirm prompt. */
export const PREVIEW_LINES = 40;
/** Lines of a diff that a user interface gets with a result. */
export const DETAIL_LINES = 2_000;
/** Larger texts are not compared. */
export const LARGEST_DIFF: number = 4 * 1024 * 1024;
/** What a result adds where the file could not be replaced as a whole. */
export const IN_PLACE =
  "; written in place, as the file has several hard links or its directory takes no new file";
