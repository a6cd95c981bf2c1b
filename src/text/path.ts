/**
 * Paths as text: no I/O, no working directory. Separators are `/`; on Windows `\` is read as `/` and a drive letter
 * counts as the root. (The usual packages cost 30 ms of start-up here, which is more than all else that starts.)
 *
 * @module
 */

const windows = Deno.build.os === "windows";

/** `\` to `/` on Windows, where both separate; elsewhere `\` is an ordinary character. */
export function toSlashes(path: string): string {
  return windows ? path.replaceAll("\\", "/") : path;
}

/** The root of an absolute path (`/`, `C:/`), or an empty string for a relative one. */
export function rootOf(path: string): string {
  const p = toSlashes(path);
  if (windows) {
    const drive = /^[A-Za-z]:\//.exec(p) ?? /^\/\/[^/]+\/[^/]+\/?/.exec(p);
    if (drive) return drive[0];
  }
  return p.startsWith("/") ? "/" : "";
}

/** Whether the path begins at a root. */
export function isAbsolute(path: string): boolean {
  return rootOf(path) !== "";
}

/** Resolves `.`, `..` and repeated separators as text; links are not looked at. Never empty (`.`). */
export function normalize(path: string): string {
  const p = toSlashes(path), root = rootOf(p), out: string[] = [];
  for (const part of p.slice(root.length).split("/")) {
    if (part === "" || part === ".") continue;
    if (part !== "..") out.push(part);
    else if (out.length > 0 && out[out.length - 1] !== "..") out.pop();
    else if (root === "") out.push(part);
  }
  return root + out.join("/") || ".";
}

/** Joins and normalizes; an absolute part starts anew, as `cd` does. */
export function join(...parts: string[]): string {
  let path = "";
  for (const part of parts) {
    path = path === "" || isAbsolute(part) ? part : part === "" ? path : `${path}/${part}`;
  }
  return normalize(path);
}

/** Everything before the last part; a root is its own parent. */
export function dirname(path: string): string {
  const p = normalize(path), root = rootOf(p), cut = p.lastIndexOf("/");
  if (p === root) return root;
  if (cut < root.length) return root || ".";
  return p.slice(0, cut);
}

/** The last part. */
export function basename(path: string): string {
  const p = normalize(path);
  return p.slice(Math.max(p.lastIndexOf("/") + 1, rootOf(p).length));
}

/** The last `.suffix` of the last part, or an empty string (`.gitignore` has none). */
export function extname(path: string): string {
  const name = basename(path), dot = name.lastIndexOf(".");
  return dot > 0 ? name.slice(dot) : "";
}

/** Whether `path` is `directory` or below it. Both absolute and normalized; text only, so canonicalise before. */
export function isWithin(path: string, directory: string): boolean {
  if (windows) [path, directory] = [toSlashes(path).toLowerCase(), toSlashes(directory).toLowerCase()];
  if (path === directory) return true;
  return path.startsWith(directory.endsWith("/") ? directory : `${directory}/`);
}

/** `path` as seen from `directory`; `.` for itself. Both absolute. */
export function relative(directory: string, path: string): string {
  const from = normalize(directory).split("/"), to = normalize(path).split("/");
  if (from[from.length - 1] === "") from.pop();
  if (to[to.length - 1] === "") to.pop();
  let same = 0;
  while (same < from.length && same < to.length && from[same] === to[same]) same++;
  return [...from.slice(same).map(() => ".."), ...to.slice(same)].join("/") || ".";
}
