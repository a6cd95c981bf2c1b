/**
 * Entries of the catalog as text.
 *
 * @module
 */
import type { Kind, Role, Skill, Team } from "./types.ts";

/** One line: name, what it is about, origin. */
export function entryLine(kind: Kind, entry: Role | Team | Skill): string {
  const facts = [entry.name];
  if (kind === "role") {
    const { model, skills } = entry as Role;
    if (model) facts.push(`model=${model}`);
    tagged(facts, entry.tags);
    if (skills?.length) facts.push(`skills=${skills.join(",")}`);
  } else if (kind === "team") tagged(facts, entry.tags);
  const head = `- ${facts.join(" ")} (${entry.origin})`;
  if (kind === "team") return `${head}: ${chain(entry as Team)}`;
  const about = (entry as Role | Skill).description;
  return about ? `${head}: ${cut(about, 80)}` : head;
}

/** All that is known of an entry. */
export function entryText(kind: Kind, entry: Role | Team | Skill): string {
  const head = `${entry.name} (${entry.origin})`;
  if (kind === "skill") return `${head}\n${(entry as Skill).content}`;
  const lines = [head];
  const add = (name: string, value: unknown) => {
    if (value === undefined || value === "" || (Array.isArray(value) && value.length === 0)) return;
    lines.push(`${name}: ${typeof value === "string" ? value : list(value)}`);
  };
  add("description", entry.description);
  if (kind === "role") {
    const role = entry as Role;
    add("system_prompt", role.system_prompt);
    add("model", role.model);
    add("skills", role.skills);
    add("tags", role.tags);
    add("tool_permission", role.tool_permission);
    add("grant_permission", role.grant_permission);
    add("ask_policy", role.ask_policy);
    if (role.path_rules?.length) lines.push(`path_rules: ${JSON.stringify(role.path_rules)}`);
  } else {
    const team = entry as Team;
    add("tags", team.tags);
    team.stages.forEach((stage, index) => {
      lines.push(`${index + 1}. ${stage.role}${stage.mode ? ` mode=${stage.mode}` : ""}`);
      if (stage.skills?.length) lines.push(`   skills: ${stage.skills.join(", ")}`);
      if (stage.task_hint) lines.push(`   task_hint: ${stage.task_hint}`);
      if (stage.handoff_note) lines.push(`   handoff_note: ${stage.handoff_note}`);
    });
    add("loop", team.loop);
  }
  return lines.join("\n");
}

function chain(team: Team): string {
  return team.stages.map(({ role }) => role).join(" > ") || "(no stages)";
}

function tagged(facts: string[], tags?: readonly string[]): void {
  if (tags?.length) facts.push(`tags=${tags.join(",")}`);
}

function list(value: unknown): string {
  return Array.isArray(value) ? value.join(", ") : JSON.stringify(value);
}

function cut(text: string, most: number): string {
  const line = text.split("\n", 1)[0]!;
  return line.length > most ? `${line.slice(0, most - 1)}…` : line;
}
