/**
 * Argument cleaning: what a model sends becomes what a handler declared, or an error that tells the model what to
 * send instead.
 *
 * @module
 */
import { ToolError } from "../errors.ts";
import type { ObjectSchema, ParameterSchema, Tool } from "../tool.ts";

const MAX_SHOWN = 80;

/** Arguments after cleaning: declared names only, typed, defaults filled in. */
export type CleanArguments = Record<string, unknown>;

/**
 * Parses what a model wrote as arguments. Empty text is no arguments; a trailing comma is repaired; an unterminated
 * string, list or object is never closed for it.
 *
 * @param raw JSON text, or a value that is already an object
 * @throws {ToolError} `invalid_arguments` when it is not JSON or not an object
 */
export function parseArguments(raw: unknown): Record<string, unknown> {
  let value = raw;
  if (typeof raw === "string") {
    if (raw.trim() === "") return {};
    value = parseJson(raw);
    // Some models encode the object twice.
    if (typeof value === "string" && value.trimStart().startsWith("{")) value = parseJson(value);
  }
  if (value === undefined || value === null) return {};
  if (typeof value !== "object" || Array.isArray(value)) {
    throw invalid(`arguments must be a JSON object such as {"name": "value"}, got ${show(value)}`);
  }
  return value as Record<string, unknown>;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const repaired = dropTrailingCommas(text);
    if (repaired !== text) {
      try {
        return JSON.parse(repaired);
      } catch { /* the first error names the place in the text as given */ }
    }
    throw invalid(
      `arguments are not valid JSON (${(error as Error).message.replace(/\s+/g, " ").slice(0, 160)}); ` +
        `send one complete JSON object`,
    );
  }
}

/** Removes commas before a closing bracket, outside strings. */
function dropTrailingCommas(text: string): string {
  let out = "", inString = false;
  for (let i = 0; i < text.length; i++) {
    const c = text[i]!;
    if (inString) {
      out += c;
      if (c === "\\") out += text[++i] ?? "";
      else if (c === '"') inString = false;
      continue;
    }
    if (c === '"') inString = true;
    if (c === "," && /^\s*[}\]]/.test(text.slice(i + 1, i + 200))) continue;
    out += c;
  }
  return out;
}

/**
 * Cleans parsed arguments for a tool: parameter aliases absorbed, undeclared and null arguments dropped, types
 * coerced where nothing is lost, defaults filled in.
 *
 * @throws {ToolError} `invalid_arguments` that names the parameter, what was given and what is expected
 */
export function cleanArguments(tool: Tool, given: Readonly<Record<string, unknown>>): CleanArguments {
  const schema = tool.parameters;
  const out: CleanArguments = {};
  const problems: string[] = [];
  const source = absorbAliases(tool, given);
  const required = new Set(schema.required ?? []);
  for (const [name, parameter] of Object.entries(schema.properties)) {
    const value = source[name];
    if (value === undefined || value === null) {
      // Null is what is left out, unless a required parameter takes nothing else in that place.
      if (value === null && required.has(name) && takesNull(parameter)) out[name] = null;
      else if (parameter.default !== undefined) out[name] = structuredClone(parameter.default);
      else if (required.has(name)) problems.push(missing(name, parameter));
      continue;
    }
    try {
      out[name] = coerce(value, parameter, `"${name}"`);
    } catch (error) {
      if (!(error instanceof Mismatch)) throw error;
      problems.push(error.message);
    }
  }
  if (problems.length > 0) throw invalid(`${tool.name}: ${problems.slice(0, 4).join("; ")}`);
  return out;
}

/**
 * Runs the Standard Schema's validator of a tool that was defined with one, on cleaned arguments.
 *
 * @throws {ToolError} `invalid_arguments` with the schema's own issues
 */
export async function validateArguments(tool: Tool, args: CleanArguments): Promise<CleanArguments> {
  if (!tool.validator) return args;
  const result = await tool.validator["~standard"].validate(args);
  if (!result.issues) return result.value as CleanArguments;
  const issues = result.issues.slice(0, 4).map((issue) => {
    const path = (issue.path ?? []).map((p) => String(typeof p === "object" ? p.key : p)).join(".");
    return path ? `parameter "${path}": ${issue.message}` : issue.message;
  });
  throw invalid(`${tool.name}: ${issues.join("; ")}`);
}

function absorbAliases(tool: Tool, given: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const out: Record<string, unknown> = Object.create(null);
  for (const name of Object.keys(tool.parameters.properties)) {
    if (Object.hasOwn(given, name)) out[name] = given[name];
  }
  for (const [alias, name] of Object.entries(tool.paramAliases ?? {})) {
    if (Object.hasOwn(given, alias) && (out[name] === undefined || out[name] === null)) {
      out[name] = given[alias];
    }
  }
  return out;
}

function missing(name: string, parameter: ParameterSchema): string {
  return `parameter "${name}" is missing, expected ${expected(parameter)}`;
}

function takesNull(schema: ParameterSchema): boolean {
  return schema.type === "null" || (Array.isArray(schema.type) && schema.type.includes("null")) ||
    schema.enum?.includes(null) === true || schema.anyOf?.some(takesNull) === true;
}

class Mismatch extends Error {}

function coerce(value: unknown, schema: ParameterSchema, name: string): unknown {
  const types = schema.type === undefined
    ? []
    : Array.isArray(schema.type)
    ? schema.type
    : [schema.type as string];
  let result = value;
  if (types.length > 0) {
    const converted = firstThatFits(value, types, schema, name);
    if (converted === NO) throw mismatch(name, schema, value);
    result = converted;
  } else if (schema.anyOf) {
    return coerceAny(value, schema.anyOf, schema, name);
  }
  if (schema.enum && !schema.enum.includes(result)) throw mismatch(name, schema, value);
  if (typeof result === "number") {
    if (schema.minimum !== undefined && result < schema.minimum) throw mismatch(name, schema, value);
    if (schema.maximum !== undefined && result > schema.maximum) throw mismatch(name, schema, value);
  }
  return result;
}

function coerceAny(
  value: unknown,
  options: readonly ParameterSchema[],
  schema: ParameterSchema,
  name: string,
): unknown {
  for (const option of options) {
    try {
      return coerce(value, option, name);
    } catch (error) {
      if (!(error instanceof Mismatch)) throw error;
    }
  }
  throw mismatch(name, schema, value);
}

const NO = Symbol("does not fit");

function firstThatFits(
  value: unknown,
  types: readonly string[],
  schema: ParameterSchema,
  name: string,
): unknown {
  // A type that fits as it is wins over one that needs a conversion.
  for (const type of types) if (isOfType(value, type)) return deepen(value, schema, name);
  for (const type of types) {
    const converted = convert(value, type, schema);
    if (converted !== NO) return deepen(converted, schema, name);
  }
  return NO;
}

function isOfType(value: unknown, type: string): boolean {
  switch (type) {
    case "string":
      return typeof value === "string";
    case "integer":
      return Number.isSafeInteger(value);
    case "number":
      return typeof value === "number" && Number.isFinite(value);
    case "boolean":
      return typeof value === "boolean";
    case "array":
      return Array.isArray(value);
    case "object":
      return typeof value === "object" && value !== null && !Array.isArray(value);
    default:
      return false;
  }
}

function convert(value: unknown, type: string, schema: ParameterSchema): unknown {
  if (typeof value === "string") {
    const text = value.trim();
    if (type === "integer" || type === "number") {
      if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) return NO;
      const number = Number(text);
      return isOfType(number, type) ? number : NO;
    }
    if (type === "boolean") return /^true$/i.test(text) ? true : /^false$/i.test(text) ? false : NO;
    if (type === "array" || type === "object") {
      if (text.startsWith(type === "array" ? "[" : "{")) {
        try {
          const parsed = JSON.parse(text);
          if (isOfType(parsed, type)) return parsed;
        } catch { /* not JSON: perhaps a single element */ }
      }
      const item = schema.items?.type;
      return type === "array" && (item === undefined || item === "string") ? [value] : NO;
    }
    return NO;
  }
  if (type === "string" && (typeof value === "number" || typeof value === "boolean")) return String(value);
  if (type === "boolean" && (value === 0 || value === 1)) return value === 1;
  return NO;
}

function deepen(value: unknown, schema: ParameterSchema, name: string): unknown {
  if (Array.isArray(value) && schema.items) {
    return value.map((item, i) => coerce(item, schema.items!, `${name}[${i}]`));
  }
  if (schema.properties && typeof value === "object" && value !== null && !Array.isArray(value)) {
    const given = value as Record<string, unknown>, out: Record<string, unknown> = {};
    for (const [key, item] of Object.entries(given)) {
      if (item === null || item === undefined) continue;
      const member = Object.hasOwn(schema.properties, key) ? schema.properties[key] : undefined;
      if (member) out[key] = coerce(item, member, `${name}.${key}`);
      else if (schema.additionalProperties !== false && key !== "__proto__") out[key] = item;
    }
    for (const [key, member] of Object.entries(schema.properties)) {
      if (out[key] !== undefined) continue;
      if (member.default !== undefined) out[key] = structuredClone(member.default);
      else if (schema.required?.includes(key)) {
        throw new Mismatch(missing(`${name.replaceAll('"', "")}.${key}`, member));
      }
    }
    return out;
  }
  return value;
}

function mismatch(name: string, schema: ParameterSchema, value: unknown): Mismatch {
  return new Mismatch(`parameter ${name} must be ${expected(schema)}, got ${show(value)}`);
}

/** What a schema expects, in words. */
function expected(schema: ParameterSchema): string {
  if (schema.enum) return `one of ${schema.enum.map((v) => JSON.stringify(v)).join(", ")}`;
  if (schema.anyOf && schema.type === undefined) return schema.anyOf.map(expected).join(" or ");
  const types = schema.type === undefined
    ? ["any"]
    : Array.isArray(schema.type)
    ? schema.type
    : [schema.type as string];
  const words = types.map((t) =>
    t === "array"
      ? `a list${schema.items ? ` of ${plural(schema.items)}` : ""}`
      : t === "integer"
      ? "an integer"
      : `a${t === "object" ? "n" : ""} ${t}`
  ).join(" or ");
  const { minimum, maximum } = schema;
  if (minimum !== undefined && maximum !== undefined) return `${words} from ${minimum} to ${maximum}`;
  if (minimum !== undefined) return `${words} of at least ${minimum}`;
  return maximum !== undefined ? `${words} of at most ${maximum}` : words;
}

function plural(schema: ParameterSchema): string {
  return typeof schema.type === "string" ? `${schema.type}s` : "values";
}

function show(value: unknown): string {
  let text: string;
  try {
    text = JSON.stringify(value) ?? String(value);
  } catch {
    text = String(value);
  }
  const type = value === null ? "null" : Array.isArray(value) ? "list" : typeof value;
  const short = text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN).toWellFormed()}…` : text;
  return `${short} (${type})`;
}

function invalid(message: string): ToolError {
  return new ToolError(message, "invalid_arguments");
}

/** The schema as a provider should see it: a parameter with a default is not required. */
export function advertisedSchema(schema: ObjectSchema): ObjectSchema {
  const required = (schema.required ?? []).filter((name) => schema.properties[name]?.default === undefined);
  return { ...schema, required };
}
