/**
 * The JSON Schema of a configuration file, so that editors complete and check it.
 *
 * @module
 */
import type { Json } from "../tool.ts";
import { SCHEMA, type SchemaEntry } from "./schema.ts";

type Schema = { [keyword: string]: Json };

const MODE_NAME = "^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$";

/** JSON Schema (draft 2020-12) of `config.json`; nested and dotted spellings of a key are both in it. */
export function jsonSchema(): { [keyword: string]: Json } {
  const root = group();
  (root.properties as Schema).$schema = {
    type: "string",
    description: "Address of this schema, for editors.",
  };
  for (const entry of SCHEMA) {
    place(root, entry.key.split("."), entry);
    if (/^[^.*]+\.[^*]+$/.test(entry.key)) (root.properties as Schema)[entry.key] = valueSchema(entry);
  }
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "polyglav configuration",
    ...root,
  };
}

function group(): Schema {
  return { type: "object", properties: {}, additionalProperties: false };
}

function place(root: Schema, parts: readonly string[], entry: SchemaEntry): void {
  let at = root;
  for (const [index, part] of parts.entries()) {
    const last = index === parts.length - 1;
    if (part !== "*") {
      const properties = at.properties as Schema;
      if (last) properties[part] = valueSchema(entry);
      else at = (properties[part] ??= group()) as Schema;
    } else if (last) at.additionalProperties = valueSchema(entry);
    else {
      const named = (at.patternProperties ??= {}) as Schema;
      at = (named[MODE_NAME] ??= group()) as Schema;
    }
  }
}

function valueSchema(entry: SchemaEntry): Schema {
  const schema: Schema = { ...shape(entry), description: describe(entry) };
  if (!entry.key.includes("*")) schema.default = structuredClone(entry.default);
  if (entry.min !== undefined) schema.minimum = entry.min;
  if (entry.max !== undefined) schema.maximum = entry.max;
  return schema;
}

function shape(entry: SchemaEntry): Schema {
  if (entry.enum) return { enum: [...entry.enum] };
  switch (entry.type) {
    case "integer":
    case "number":
    case "boolean":
    case "string":
      return { type: entry.type };
    case "number or null":
      return { type: ["number", "null"] };
    case "names":
    case "prefixes":
    case "hosts":
      return { type: "array", items: { type: "string", minLength: 1 } };
    case "price":
      return { type: "array", items: { type: "number", minimum: 0 }, minItems: 2, maxItems: 2 };
    case "none":
      return { type: "array", maxItems: 0 };
    case "calls":
      return {
        type: "array",
        items: {
          type: "object",
          properties: {
            tool: { type: "string", minLength: 1 },
            arguments: { type: "object" },
            paths: {
              type: "array",
              items: {
                type: "object",
                properties: { path: { type: "string" }, access: { enum: ["list", "read", "write"] } },
                required: ["path", "access"],
                additionalProperties: false,
              },
            },
          },
          required: ["tool", "arguments"],
          additionalProperties: false,
        },
      };
    case "rules":
      return {
        type: "array",
        items: {
          type: "object",
          properties: {
            path: { type: "string", minLength: 1 },
            access: { enum: ["read", "write"] },
            action: { enum: ["deny", "ask", "allow"] },
          },
          required: ["path", "access", "action"],
          additionalProperties: false,
        },
      };
    default:
      return {};
  }
}

const UNTRUSTED = {
  set: "A project may set it.",
  narrow: "A project that is not trusted may only narrow it.",
  none: "A project may set it only when it is trusted.",
} as const;

function describe(entry: SchemaEntry): string {
  return `${entry.doc} ${UNTRUSTED[entry.project]}`;
}
