/**
 * Sessions as text for reading on a terminal.
 *
 * @module
 */
import type { PermissionEntry } from "../policy/types.ts";
import type { SessionSummary } from "../session/store.ts";
import type { Part, SessionObject, Turn } from "../session/turns.ts";
import { cleanForTerminal } from "../text/ansi.ts";

const shownLines = 12;
const shownInput = 200;

/** A table: name, time, records, first prompt. */
export function formatList(sessions: readonly SessionSummary[]): string {
  const rows = sessions.map((session) => [
    session.name,
    session.updated_at === null ? "-" : time(session.updated_at),
    session.records === null ? "no anchor" : `${session.records} records`,
    [
      ...(session.writer === null ? [] : [`(in use by process ${session.writer || "of unknown id"})`]),
      ...(session.role === null ? [] : [`(${one(session.role)})`]),
      session.problem === null ? one(session.prompt).slice(0, 60) : `! ${one(session.problem)}`,
    ].join(" "),
  ]);
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows.map((row) => `${row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join("  ").trimEnd()}\n`)
    .join("");
}

/** The whole session: turns with their parts, errors, audit. */
export function formatSession(session: SessionObject): string {
  const { turns, errors, permissions } = session;
  const facts = [
    `session ${session.session_name}${session.session_id === "" ? "" : ` (#${one(session.session_id)})`}`,
    count(turns.length, "turn"),
    ...(session.role === null ? [] : [`role ${one(session.role)}`]),
    ...(session.parent_id === null ? [] : [`parent #${one(session.parent_id)}`]),
    ...(session.created_at === "" ? [] : [`${time(session.created_at)} to ${time(session.updated_at)}`]),
  ];
  const lines = [facts.join(", ")];
  if (session.sub_sessions.length > 0) {
    lines.push(`sub-sessions: ${session.sub_sessions.map(one).join(", ")}`);
  }
  for (const turn of turns) lines.push("", ...turnLines(turn));
  if (errors.length > 0) {
    lines.push("", "errors");
    for (const error of errors) {
      lines.push(`  ${time(error.timestamp)}  ${one(`${error.message} (${error.code})`)}`);
    }
  }
  if (permissions.length > 0) {
    lines.push("", "audit");
    for (const entry of permissions) lines.push(...auditLines(entry));
  }
  return `${lines.join("\n")}\n`;
}

function turnLines(turn: Turn): string[] {
  const used = turn.usage ? [`${turn.usage.total_tokens.toLocaleString("en-US")} tokens`] : [];
  const facts = [
    turn.status,
    `${turn.model} (${turn.provider})`,
    `mode ${turn.mode}`,
    time(turn.started_at),
    ...used,
  ];
  return [`turn ${turn.index}: ${one(facts.join(", "))}`, ...turn.parts.flatMap(partLines)];
}

function partLines(part: Part): string[] {
  switch (part.type) {
    case "user":
      return block("> ", part.text, Infinity);
    case "text":
      return block("  ", part.text, Infinity);
    case "thinking":
      return block("  ~ ", part.text, shownLines);
    case "system":
      return block("  # ", part.text, shownLines);
    case "command":
      return block("  / ", `${part.text}\n${part.summary}`, shownLines);
    case "tool": {
      const input = JSON.stringify(part.input),
        cut = input.length > shownInput ? `${input.slice(0, shownInput)}…` : input;
      const state = part.status ?? (part.is_error ? "error" : "ok");
      return [
        `  * ${one(part.tool)} ${one(cut)}${state === "ok" ? "" : ` [${state}]`}`,
        ...(part.output === "" ? [] : block("    | ", part.output, shownLines)),
        ...(part.analysis ? block("    = ", part.analysis, shownLines) : []),
      ];
    }
  }
}

function auditLines(entry: PermissionEntry): string[] {
  const path = entry.path === undefined ? "" : ` ${one(entry.path)}`;
  const by = entry.scope === undefined
    ? ""
    : ` (${one(entry.scope)}, by ${one(entry.granted_by ?? "unknown")})`;
  const head = `${time(entry.timestamp)}  ${entry.action} -> ${entry.decision}  ${entry.tool}`;
  const segments = (entry.segments ?? []).map((segment) =>
    `    ${segment.allowed ? "ok " : "no "} ${one(String(segment.text))}: ${one(String(segment.reason))}`
  );
  return [`  ${one(head)}${path}${by}  [${one(entry.rule)}] ${one(entry.reason)}`, ...segments];
}

function block(prefix: string, text: string, most: number): string[] {
  const all = cleanForTerminal(text).trimEnd().split("\n"), lines = all.slice(0, most);
  const out = lines.map((line) => `${prefix}${line}`.trimEnd());
  if (all.length > lines.length) out.push(`${prefix}… (${all.length - lines.length} more lines)`);
  return out;
}

function time(iso: string): string {
  return one(iso).replace("T", " ").replace(/\.\d+Z$/, "Z");
}

function count(n: number, word: string): string {
  return `${n} ${word}${n === 1 ? "" : "s"}`;
}

function one(text: string): string {
  return cleanForTerminal(text, { line: true });
}
