/**
 * Where the programs are that confine commands; apart, so that the start of the program need not load the rest.
 *
 * @module
 */

/** Where bubblewrap is installed. */
export const BWRAP_PATHS: readonly string[] = ["/usr/bin/bwrap", "/bin/bwrap", "/usr/local/bin/bwrap"];
/** Where macOS has it. */
export const SEATBELT_PATH = "/usr/bin/sandbox-exec";
