/**
 * Which path texts Windows would read as something other than the file that they seem to name. Pure text, so that
 * it is tested everywhere.
 *
 * Source: Microsoft, "Naming Files, Paths, and Namespaces".
 *
 * @module
 */

const RESERVED =
  /^(?:con|prn|aux|nul|conin\$|conout\$|com[0-9\u00b9\u00b2\u00b3]|lpt[0-9\u00b9\u00b2\u00b3])$/;

/**
 * Why a path must not be used on Windows, or null. Refused are device and verbatim prefixes (`\\.\`, `\\?\`), paths
 * relative to a drive (`C:x`), alternate data streams (`a:b`), device names (`NUL`, `con.txt`), characters that no name
 * has, and names that end in a dot or a blank (Windows drops those, so the checked name would not be the opened one).
 *
 * @param path the path as written, absolute or relative, with `\` or `/`
 */
export function windowsProblem(path: string): string | null {
  const p = path.replaceAll("\\", "/");
  if (/^\/\/[.?](?:\/|$)/.test(p) || /^\/\?\?\//.test(p)) return "it begins with a device prefix";
  const drive = /^[A-Za-z]:/.exec(p);
  if (drive && p[2] !== "/") return "it is relative to a drive; write the whole path";
  for (const part of p.slice(drive ? 3 : 0).split("/")) {
    if (part === "" || part === "." || part === "..") continue;
    if (part.includes(":")) return `"${part}" names an alternate data stream`;
    // deno-lint-ignore no-control-regex
    if (/[<>"|?*\u0000-\u001f]/.test(part)) return `"${part}" holds a character that no file name has`;
    if (/[. ]$/.test(part)) return `"${part}" ends in a dot or a blank, which Windows drops`;
    const stem = (part.split(".")[0] ?? "").trimEnd().toLowerCase();
    if (RESERVED.test(stem)) return `"${part}" is the name of a device`;
  }
  return null;
}

/** Whether a path lies on a network share (`\\server\share`): looking at one already sends credentials there. */
export function isShare(path: string): boolean {
  return /^[\\/]{2}[^\\/.?]/.test(path);
}
