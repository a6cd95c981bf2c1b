/**
 * Skills as text: Markdown, with or without the front matter that other agents use (`SKILL.md`).
 *
 * Source: the Agent Skills format (agentskills.io): YAML front matter with `name` and `description`, then Markdown. Of
 * YAML only what such headers use is read: `key: value`, quoted values, lists, and blocks (`|`, `>`).
 *
 * @module
 */
import type { SkillFields } from "./types.ts";

const HEADER = /^---[ \t]*\r?\n([\s\S]*?)(?:\r?\n)?---[ \t]*(?:\r?\n|$)/;

/** Reads a skill's text. Never throws: what is no header is content. */
export function parseSkill(text: string): SkillFields & { readonly description: string } {
  const bare = text.replace(/^\uFEFF/, ""), header = HEADER.exec(bare);
  const values = header ? parseHeader(header[1]!) : new Map<string, string | string[]>();
  const content = header ? bare.slice(header[0].length).replace(/^(\s*\r?\n)+/, "") : bare;
  const said = values.get("description"), tags = values.get("tags");
  const description = typeof said === "string" && said !== "" ? said : firstLine(content);
  const list = Array.isArray(tags) ? tags : tags?.split(",").map((tag) => tag.trim()).filter(Boolean);
  return { description, content, ...(list && list.length > 0 ? { tags: list } : {}) };
}

/** A skill's text as it is saved; without description and tags it is the content alone. */
export function formatSkill({ description, tags, content }: SkillFields, name: string): string {
  if (!description && !tags?.length) return content;
  const lines = [`name: ${name}`];
  if (description) lines.push(`description: ${JSON.stringify(description.replace(/\s+/g, " ").trim())}`);
  if (tags?.length) lines.push(`tags: [${tags.map((tag) => JSON.stringify(tag)).join(", ")}]`);
  return `---\n${lines.join("\n")}\n---\n\n${content}`;
}

function firstLine(content: string): string {
  const line = content.split("\n").map((each) => each.replace(/^#+\s*/, "").trim()).find((each) =>
    each !== ""
  );
  return line ?? "";
}

function parseHeader(text: string): Map<string, string | string[]> {
  const values = new Map<string, string | string[]>(), lines = text.split(/\r?\n/);
  for (let i = 0; i < lines.length; i++) {
    const found = /^([A-Za-z_][\w-]*):(?:[ \t]+(.*))?$/.exec(lines[i]!);
    if (!found) continue;
    const [, key, rest = ""] = found, value = rest.trim();
    const below: string[] = [];
    while (i + 1 < lines.length && /^(\s+\S|\s*$)/.test(lines[i + 1]!)) below.push(lines[++i]!.trim());
    while (below.at(-1) === "") below.pop();
    if (/^[|>][+-]?$/.test(value)) values.set(key!, below.join(value.startsWith("|") ? "\n" : " "));
    else if (value === "" && below.every((line) => line.startsWith("- ")) && below.length > 0) {
      values.set(key!, below.map((line) => unquote(line.slice(2).trim())));
    } else if (value.startsWith("[") && value.endsWith("]")) {
      values.set(
        key!,
        value.slice(1, -1).split(",").map((item) => unquote(item.trim())).filter((item) => item !== ""),
      );
    } else values.set(key!, unquote([value, ...below].join(" ").trim()));
  }
  return values;
}

function unquote(text: string): string {
  if (/^".*"$/s.test(text)) {
    try {
      return String(JSON.parse(text));
    } catch {
      return text.slice(1, -1);
    }
  }
  return /^'.*'$/s.test(text) ? text.slice(1, -1).replaceAll("''", "'") : text;
}
