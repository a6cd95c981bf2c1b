/**
 * Whether a value fits its key.
 *
 * @module
 */
import type { Json } from "../tool.ts";
import type { SchemaEntry } from "./schema.ts";
import { showValue } from "./_show.ts";

/** What is expected of a value of `entry`, as the end of a sentence: `"a whole number from 1"`. */
export function expected(entry: SchemaEntry): string {
  if (entry.enum) return `one of ${entry.enum.map((text) => JSON.stringify(text)).join(", ")}`;
  switch (entry.type) {
    case "integer":
      return `a whole number${bounds(entry)}`;
    case "number":
      return `a number${bounds(entry)}`;
    case "number or null":
      return `a number${bounds(entry)}, or null`;
    case "boolean":
      return "true or false";
    case "string":
      return "a text in double quotes";
    case "names":
      return 'a list of texts, such as ["a", "b"]';
    case "prefixes":
      return 'a list of beginnings of commands, such as ["git status", "ls"]';
    case "hosts":
      return 'a list of host names, such as ["example.com", "*.example.org"]';
    case "price":
      return "two numbers from 0: dollars per million tokens in and out, such as [2.5, 10]";
    case "rules":
      return 'a list of rules, such as [{"path": "secrets/**", "access": "read", "action": "deny"}]';
    case "calls":
      return 'a list of calls, such as [{"tool": "run_command", "arguments": {"command": "make"}}]';
    case "none":
      return "an empty list";
    default:
      return "a JSON value";
  }
}

function bounds({ min, max }: SchemaEntry): string {
  if (min !== undefined && max !== undefined) return ` from ${min} to ${max}`;
  return min !== undefined ? ` from ${min}` : "";
}

/** What is wrong with `value` for `entry`, as `<what stands there>; expected <what>`, or null when it fits. */
export function misfit(entry: SchemaEntry, value: unknown): string | null {
  const wrong = (what: string) => `${what}; expected ${expected(entry)}`;
  if (entry.enum) {
    return typeof value === "string" && entry.enum.includes(value) ? null : wrong(`is ${showValue(value)}`);
  }
  switch (entry.type) {
    case "integer":
    case "number":
    case "number or null": {
      if (value === null && entry.type === "number or null") return null;
      if (typeof value !== "number" || !Number.isFinite(value)) return wrong(`is ${showValue(value)}`);
      if (entry.type === "integer" && !Number.isSafeInteger(value)) return wrong(`is ${value}`);
      const { min = -Infinity, max = Infinity } = entry;
      return value < min || value > max ? wrong(`is ${value}`) : null;
    }
    case "boolean":
      return typeof value === "boolean" ? null : wrong(`is ${showValue(value)}`);
    case "string":
      if (typeof value !== "string") return wrong(`is ${showValue(value)}`);
      return value.includes("\0") ? "has a NUL character; remove it" : null;
    case "names":
    case "prefixes":
    case "hosts":
      return misfitList(entry, value, wrong);
    case "price":
      return Array.isArray(value) && value.length === 2 &&
          value.every((each) => typeof each === "number" && Number.isFinite(each) && each >= 0)
        ? null
        : wrong(`is ${showValue(value)}`);
    case "rules":
      return misfitRules(value, wrong);
    case "calls":
      return misfitCalls(value, wrong);
    case "none":
      return Array.isArray(value) && value.length === 0
        ? null
        : `is ${showValue(value)}, but MCP is not available yet; remove the key`;
    default:
      return null;
  }
}

/**
 * A host name (an international one in its ASCII form, `xn--`) or an address, with an optional port, or `*.` and a
 * name: nothing that a URL parser would read as another host.
 */
const HOST =
  /^(?:(?:\*\.)?[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*|\[[0-9A-Fa-f:.]+\]|[0-9A-Fa-f]*:[0-9A-Fa-f:.]*:[0-9A-Fa-f.]*)(?::\d{1,5})?$/;

function misfitList(entry: SchemaEntry, value: unknown, wrong: (what: string) => string): string | null {
  if (!Array.isArray(value)) return wrong(`is ${showValue(value)}`);
  for (const element of value) {
    if (typeof element !== "string") return wrong(`has the element ${showValue(element)}`);
    if (element.trim() === "" || element.includes("\0")) {
      return wrong(`has the element ${showValue(element)}`);
    }
    if (entry.type === "hosts" && !HOST.test(element)) {
      return wrong(`has the element ${showValue(element)}`);
    }
  }
  return null;
}

/** A range in braces, which rules do not know. */
const RANGE = /\{[^{},/]*[^{},/.\\]\.\.[^{},/.][^{},/]*\}/;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function misfitCalls(value: unknown, wrong: (what: string) => string): string | null {
  if (!Array.isArray(value)) return wrong(`is ${showValue(value)}`);
  for (const [index, call] of value.entries()) {
    const where = `in call ${index + 1}`;
    if (!isObject(call)) return wrong(`has the element ${showValue(call)}`);
    const other = Object.keys(call).find((name) => !["tool", "arguments", "paths"].includes(name));
    if (other !== undefined) return wrong(`has the unknown name ${showValue(other)} ${where}`);
    if (typeof call.tool !== "string" || call.tool === "") return wrong(`has no "tool" ${where}`);
    if (!isObject(call.arguments)) return wrong(`has no object "arguments" ${where}`);
    const paths = call.paths ?? [];
    const fits = Array.isArray(paths) &&
      paths.every((use) =>
        isObject(use) && typeof use.path === "string" && use.path !== "" && !use.path.includes("\0") &&
        ["list", "read", "write"].includes(String(use.access)) && Object.keys(use).length === 2
      );
    if (!fits) return wrong(`has "paths" that are none ${where}`);
  }
  return null;
}

const RULE: Readonly<Record<string, readonly string[] | null>> = {
  path: null,
  access: ["read", "write"],
  action: ["deny", "ask", "allow"],
};

function misfitRules(value: unknown, wrong: (what: string) => string): string | null {
  if (!Array.isArray(value)) return wrong(`is ${showValue(value)}`);
  for (const [index, rule] of value.entries()) {
    if (typeof rule !== "object" || rule === null || Array.isArray(rule)) {
      return wrong(`has the element ${showValue(rule)}`);
    }
    for (const name of Object.keys(rule)) {
      if (!Object.hasOwn(RULE, name)) {
        return wrong(`has the unknown name ${showValue(name)} in rule ${index + 1}`);
      }
    }
    for (const [name, allowed] of Object.entries(RULE)) {
      const part = (rule as Record<string, Json | undefined>)[name];
      if (part === undefined) return wrong(`has no "${name}" in rule ${index + 1}`);
      const fits = typeof part === "string" && (allowed ? allowed.includes(part) : /[^\s\0]/.test(part));
      if (!fits || (typeof part === "string" && part.includes("\0"))) {
        return wrong(`has "${name}": ${showValue(part)} in rule ${index + 1}`);
      }
      // A rule that covers less than its author meant protects nothing.
      if (name === "path" && RANGE.test(part as string)) {
        return `has a range in ${showValue(part)} in rule ${
          index + 1
        }; spell it out, such as {1,2,3}, or use a class such as [1-3]`;
      }
    }
  }
  return null;
}
