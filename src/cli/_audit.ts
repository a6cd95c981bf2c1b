/**
 * `run --audit FILE`: one list of what was decided and of what the runtime saw accessed, by time, as JSON Lines.
 *
 * The policy's lines carry `"source": "policy"` and what the session records of a decision; the runtime's
 * `"source": "runtime"`, `permission`, `value`, and how often it was asked for. The runtime's list is Deno's own
 * (`DENO_AUDIT_PERMISSIONS`), which also holds what was asked for and refused; child processes are beyond it.
 *
 * @module
 */
import { messageOf, UsageError } from "../errors.ts";
import { basename, dirname, join, toSlashes } from "../text/path.ts";
import type { PermissionEntry } from "../policy/types.ts";

/** Variable in which the supervisor tells the program where decisions go. */
export const AUDIT_VARIABLE = "POLYGLAV_AUDIT";

/** An audit in the making: two lists in a private folder, and the file that they will become. */
export interface AuditFiles {
  /** The program under the ceiling appends its decisions here. */
  readonly decisions: string;
  /** Deno writes its checks here. */
  readonly runtime: string;
  /** Writes the file and removes the folder. @throws {UsageError} where it cannot be written */
  finish(): void;
}

/**
 * Begins an audit.
 *
 * @param file absolute path; what is there is replaced at the end
 * @throws {UsageError} where no file can be written there
 */
export function openAudit(file: string): AuditFiles {
  checkTarget(file);
  const folder = toSlashes(Deno.realPathSync(Deno.makeTempDirSync({ prefix: "polyglav-audit-" })));
  const decisions = join(folder, "decisions.jsonl"), runtime = join(folder, "runtime.jsonl");
  Deno.writeTextFileSync(decisions, "", { mode: 0o600 });
  return {
    decisions,
    runtime,
    finish() {
      try {
        writeAudit(file, mergeAudit(read(decisions), read(runtime)));
      } finally {
        Deno.removeSync(folder, { recursive: true });
      }
    },
  };
}

/** Refuses a place where no file can be. */
export function checkTarget(file: string): void {
  const status = (path: string) => {
    try {
      return Deno.statSync(path);
    } catch {
      return null;
    }
  };
  if (status(file)?.isDirectory) throw new UsageError(`run: --audit ${file} is a directory; name a file`);
  if (!status(dirname(file))?.isDirectory) {
    throw new UsageError(`run: --audit ${file}: the folder ${dirname(file)} is not there; make it first`);
  }
}

/** One decision as a line. */
export function decisionLine(entry: PermissionEntry): string {
  return `${JSON.stringify({ source: "policy", ...entry })}\n`;
}

/** Replaces the file; readable by its owner alone. @throws {UsageError} where that is not possible */
export function writeAudit(file: string, text: string): void {
  const temporary = join(dirname(file), `.${basename(file)}.${crypto.randomUUID().slice(0, 8)}.tmp`);
  try {
    Deno.writeTextFileSync(temporary, text, { createNew: true, mode: 0o600 });
    Deno.renameSync(temporary, file);
  } catch (error) {
    try {
      Deno.removeSync(temporary);
    } catch { /* it was never made */ }
    throw new UsageError(`run: --audit ${file} cannot be written (${messageOf(error)})`);
  }
}

interface Access {
  readonly source: "runtime";
  readonly timestamp: string;
  readonly permission: string;
  readonly value: string;
  count: number;
  last: string;
}

/**
 * Both lists as one, by time; an access that was repeated is one line with its count. Of lines that cannot be read (the
 * last one of a process that was killed) the number is told in a line of its own.
 *
 * @param decisions lines of {@link decisionLine}
 * @param runtime lines of Deno's list
 */
export function mergeAudit(decisions: string, runtime: string): string {
  const accesses = new Map<string, Access>(), entries: { timestamp?: unknown }[] = [];
  let unread = 0;
  for (const line of decisions.split("\n").filter(Boolean)) {
    const entry = parsed(line);
    if (entry) entries.push(entry);
    else unread++;
  }
  for (const line of runtime.split("\n").filter(Boolean)) {
    const entry = parsed(line);
    if (!entry) {
      unread++;
      continue;
    }
    const permission = String(entry.permission),
      value = String(entry.value ?? ""),
      time = String(entry.datetime);
    const key = JSON.stringify([permission, value]), known = accesses.get(key);
    if (known) {
      known.count++;
      known.last = time;
    } else {
      accesses.set(key, { source: "runtime", timestamp: time, permission, value, count: 1, last: time });
    }
  }
  const all = [...accesses.values(), ...entries].map((entry) => ({ entry, at: timeOf(entry.timestamp) }));
  all.sort((a, b) => a.at - b.at);
  const lines: unknown[] = all.map(({ entry }) => entry);
  if (unread > 0) lines.push({ source: "audit", problem: `${unread} lines could not be read` });
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}

function timeOf(text: unknown): number {
  const time = Date.parse(String(text));
  return Number.isNaN(time) ? 0 : time;
}

function parsed(line: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? value as Record<string, unknown> : null;
  } catch {
    return null;
  }
}

function read(path: string): string {
  try {
    return Deno.readTextFileSync(path);
  } catch {
    return "";
  }
}
