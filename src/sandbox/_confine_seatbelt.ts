/**
 * The profile of macOS's sandbox-exec. Source: the system's own profiles below /System/Library/Sandbox/Profiles (the
 * last rule that matches decides).
 *
 * @module
 */
import type { ConfineSpec } from "./confine.ts";

/** The profile as text. Pure. */
export function seatbeltProfile(spec: ConfineSpec): string {
  const lines = ["(version 1)", "(allow default)"];
  lines.push("(deny file-write*)");
  lines.push(
    '(allow file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (regex #"^/dev/fd/"))',
  );
  // There are no private mounts here: the per-user temporary folders stay shared.
  lines.push('(allow file-write* (regex #"^/private/var/folders/[^/]+/[^/]+/[TC]/"))');
  lines.push('(allow file-write* (subpath "/private/tmp"))');
  for (const path of [...spec.writable, ...spec.overlays, ...spec.empty, spec.worktree, ...spec.git]) {
    lines.push(`(allow file-write* (subpath ${quote(path)}))`);
  }
  // Renaming or removing a git directory would take its protected parts along.
  for (const path of spec.git) lines.push(`(deny file-write-unlink (literal ${quote(path)}))`);
  for (const { path, directory } of [...spec.protect, ...spec.absent]) {
    lines.push(`(deny file-write* (${directory ? "subpath" : "literal"} ${quote(path)}))`);
  }
  for (const { path, directory } of spec.hide) {
    lines.push(`(deny file-read* file-write* (${directory ? "subpath" : "literal"} ${quote(path)}))`);
  }
  lines.push("(deny process-info* (target others))", "(deny signal (target others))");
  lines.push("(allow signal (target same-sandbox))");
  lines.push(
    '(deny mach-lookup (global-name "com.apple.SecurityServer") (global-name "com.apple.pasteboard.1"))',
  );
  lines.push("(deny appleevent-send)");
  if (!spec.network) lines.push("(deny network*)", "(deny system-socket)");
  return lines.join("\n");
}

/** A string of the profile language. */
function quote(text: string): string {
  return `"${text.replace(/[\\"]/g, "\\$&")}"`;
}
