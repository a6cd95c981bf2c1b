/**
 * Names of sessions: they become file names, so only what is safe on every system passes.
 *
 * @module
 */
import { UsageError } from "../errors.ts";

const longest = 100;
const device = /^(con|prn|aux|nul|com[0-9]|lpt[0-9]|conin|conout|clock)(\.|$)/i;

/**
 * Returns the name when it may be one: 1 to 100 of `A-Z a-z 0-9 . _ -`, beginning with a letter, a digit or `_`, not
 * ending with a dot, and no device name of Windows.
 *
 * @throws {UsageError} which says what is wrong with it
 */
export function checkSessionName(name: string): string {
  const why = fault(name);
  if (why === null) return name;
  throw new UsageError(
    `session name ${
      JSON.stringify(name.length > 120 ? `${name.slice(0, 117)}...` : name)
    } ${why}; use letters, digits, ".", "_" and "-"`,
  );
}

function fault(name: string): string | null {
  if (name === "") return "is empty";
  if (name.length > longest) return `has ${name.length} characters, more than ${longest}`;
  const bad = /[^A-Za-z0-9._-]/u.exec(name);
  if (bad) return `contains ${JSON.stringify(bad[0])}`;
  if (/^[.-]/.test(name)) return `begins with "${name[0]}"`;
  if (name.endsWith(".")) return `ends with "."`;
  if (device.test(name)) return "is the name of a device on some systems";
  return null;
}

/** Six random digits and lower-case letters. */
export function newSessionId(): string {
  let id = "";
  while (id.length < 6) {
    for (const byte of crypto.getRandomValues(new Uint8Array(8))) {
      if (byte < 252 && id.length < 6) id += (byte % 36).toString(36);
    }
  }
  return id;
}

/** A name for a session that was given none: `[prefix]<date>_<time>_<id>`, in UTC. */
export function newSessionName(now: Date, id: string, prefix = ""): string {
  const stamp = now.toISOString().slice(0, 19).replaceAll("-", "").replaceAll(":", "").replace("T", "_");
  return `${prefix}${stamp}_${id}`;
}
