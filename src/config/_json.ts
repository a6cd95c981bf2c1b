/**
 * Strict JSON (RFC 8259) with places: the runtime's own parser neither says where every error is nor notices that a
 * name is given twice in one object, of which it silently keeps the last.
 *
 * @module
 */
import type { Json } from "../tool.ts";

/** Objects and lists nested deeper than this are refused. */
const DEEPEST = 64;

/** A JSON text and the place of each name in it. */
export interface Parsed {
  /** Objects have no prototype. */
  readonly value: Json;
  /** Offset of a name (its opening quote) in an object of `value`. */
  offset(object: object, name: string): number | undefined;
}

/** What is wrong with a JSON text. */
export class JsonError extends Error {
  /** Where, in UTF-16 units. */
  readonly offset: number;
  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

/** `line:column`, both from 1. */
export function lineAndColumn(text: string, offset: number): string {
  const before = text.slice(0, offset).split(/\r\n|\n|\r/);
  return `${before.length}:${before.at(-1)!.length + 1}`;
}

/**
 * Parses strict JSON.
 *
 * @throws JsonError for anything else, an object that has a name twice included
 */
export function parseJson(text: string): Parsed {
  const offsets = new Map<object, Map<string, number>>();
  const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
  const space = /[ \t\r\n]*/y;
  let at = 0;

  const skip = () => {
    space.lastIndex = at;
    space.test(text);
    at = space.lastIndex;
  };
  const fail = (expected: string): never => {
    if (at >= text.length) throw new JsonError(`the text ends where ${expected} is expected`, text.length);
    if (/^(\/\/|\/\*|#)/.test(text.slice(at))) {
      throw new JsonError("comments are not allowed in JSON; remove it", at);
    }
    const found = JSON.stringify(String.fromCodePoint(text.codePointAt(at)!));
    throw new JsonError(`expected ${expected}, found ${found}`, at);
  };
  const take = (pattern: RegExp): string | null => {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (!match) return null;
    at = pattern.lastIndex;
    return match[0];
  };
  const readString = (expected: string): string => {
    const start = at;
    if (text[at] !== '"') return fail(expected);
    for (at++; text[at] !== '"'; at++) {
      if (text[at] === "\\") at++;
      if (at >= text.length || text[at]! < " ") {
        throw new JsonError("a string that does not end on its line", start);
      }
    }
    at++;
    try {
      return JSON.parse(text.slice(start, at)) as string;
    } catch {
      throw new JsonError("a string with a wrong escape", start);
    }
  };
  const closes = (end: string, first: boolean): boolean => {
    skip();
    if (text[at] === end) return at++, true;
    if (first) return false;
    if (text[at] !== ",") fail(`a comma or ${end}`);
    const comma = at++;
    skip();
    if (text[at] === end) {
      throw new JsonError(`a comma before ${end} is not allowed in JSON; remove it`, comma);
    }
    return false;
  };
  const readObject = (depth: number): Json => {
    const object = Object.create(null) as { [key: string]: Json }, places = new Map<string, number>();
    offsets.set(object, places);
    at++;
    while (!closes("}", places.size === 0)) {
      const start = at, name = readString('a name in double quotes or "}"'), twice = places.get(name);
      if (twice !== undefined) {
        const there = lineAndColumn(text, twice);
        throw new JsonError(`${JSON.stringify(name)} stands here and at ${there}; keep one of them`, start);
      }
      places.set(name, start);
      skip();
      if (text[at] !== ":") fail("a colon");
      at++;
      object[name] = readValue(depth);
    }
    return object;
  };
  const readList = (depth: number): Json => {
    const list: Json[] = [];
    at++;
    while (!closes("]", list.length === 0)) list.push(readValue(depth));
    return list;
  };
  const readValue = (depth: number): Json => {
    skip();
    if (depth > DEEPEST) throw new JsonError(`nested more than ${DEEPEST} deep`, at);
    const first = text[at];
    if (first === "{") return readObject(depth + 1);
    if (first === "[") return readList(depth + 1);
    if (first === '"') return readString("a string");
    for (const [word, value] of [["true", true], ["false", false], ["null", null]] as const) {
      if (text.startsWith(word, at)) return at += word.length, value;
    }
    const digits = take(number);
    if (digits === null) return fail("a value");
    if (!Number.isFinite(Number(digits))) {
      throw new JsonError(`the number ${digits} is too large`, at - digits.length);
    }
    return Number(digits);
  };

  const value = readValue(0);
  skip();
  if (at < text.length) fail("the end of the text");
  return { value, offset: (object, name) => offsets.get(object)?.get(name) };
}
