import assert from "node:assert/strict";
import { ToolError } from "../../src/errors.ts";
import { defineTool, type ParameterSchema, type Tool } from "../../src/tool.ts";
import {
  advertisedSchema,
  cleanArguments,
  parseArguments,
  validateArguments,
} from "../../src/registry/arguments.ts";

function tool(
  properties: Record<string, ParameterSchema>,
  required: string[] = [],
  more: Partial<Tool> = {},
): Tool {
  return defineTool({
    name: "probe",
    description: "A probe.",
    category: "read",
    permission: "read",
    access: [],
    parameters: { type: "object", properties, required },
    execute: () => "",
    ...more,
  } as never);
}

function clean(
  properties: Record<string, ParameterSchema>,
  given: Record<string, unknown>,
  required: string[] = [],
) {
  return cleanArguments(tool(properties, required), given);
}

function messageOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    assert.ok(error instanceof ToolError, `threw ${error}`);
    assert.equal(error.kind, "invalid_arguments");
    assert.ok(!error.message.includes("\n"), "one line");
    return error.message;
  }
  throw new assert.AssertionError({ message: "did not throw" });
}

Deno.test("empty text and null are no arguments", () => {
  for (const raw of ["", "  \n", "null", null, undefined, "{}"]) assert.deepEqual(parseArguments(raw), {});
});

Deno.test("a trailing comma is repaired, also before a bracket deep inside", () => {
  assert.deepEqual(parseArguments('{"a": [1, 2, ], "b": "x",}'), { a: [1, 2], b: "x" });
});

Deno.test("a comma and a bracket inside a string stay what they are when a trailing comma is repaired", () => {
  assert.deepEqual(parseArguments('{"a": ",}\\",]", }'), { a: ',}",]' });
});

for (const text of ['{"path": "a.txt"', '{"path": "a.tx', '["a"', '{"a": 1', '{"content": "half of a fi']) {
  Deno.test(`unterminated arguments are never closed: ${text}`, () => {
    assert.match(messageOf(() => parseArguments(text)), /not valid JSON.*send one complete JSON object/);
  });
}

for (const raw of ["[1]", "5", '"text"', "true", [1], 5]) {
  Deno.test(`arguments that are no object are refused: ${JSON.stringify(raw)}`, () => {
    assert.match(messageOf(() => parseArguments(raw)), /must be a JSON object/);
  });
}

Deno.test("an object that was encoded twice is read", () => {
  assert.deepEqual(parseArguments(JSON.stringify('{"path": "a"}')), { path: "a" });
});

Deno.test("undeclared and null arguments are dropped", () => {
  const out = clean({ path: { type: "string" }, depth: { type: "integer" } }, {
    path: "a",
    depth: null,
    recursive: true,
    _config: {},
  });
  assert.deepEqual(out, { path: "a" });
});

Deno.test("names of the prototype are neither parameters nor leaks", () => {
  const given = JSON.parse('{"__proto__": {"path": "x"}, "constructor": 1, "toString": "y"}');
  assert.deepEqual(clean({ path: { type: "string" } }, given), {});
  assert.match(messageOf(() => clean({ path: { type: "string" } }, given, ["path"])), /"path" is missing/);
});

Deno.test("a parameter alias fills in for a missing or null name and never overrides a given one", () => {
  const t = tool({ path: { type: "string" } }, ["path"], { paramAliases: { file: "path" } } as never);
  assert.deepEqual(cleanArguments(t, { file: "a" }), { path: "a" });
  assert.deepEqual(cleanArguments(t, { path: null, file: "a" }), { path: "a" });
  assert.deepEqual(cleanArguments(t, { path: "b", file: "a" }), { path: "b" });
});

Deno.test("a default fills in for a parameter that was left out or null", () => {
  const limit: ParameterSchema = { type: "integer", default: 10 };
  assert.deepEqual(clean({ limit }, {}), { limit: 10 });
  assert.deepEqual(clean({ limit }, { limit: null }), { limit: 10 });
  assert.deepEqual(clean({ limit }, { limit: 3 }), { limit: 3 });
});

Deno.test("what a handler does to a default does not reach the next call", () => {
  const t = tool({
    tags: { type: "array", default: [] },
    box: { type: "object", properties: { list: { type: "array", default: ["x"] } } },
  });
  const first = cleanArguments(t, { box: {} }) as { tags: string[]; box: { list: string[] } };
  first.tags.push("kept");
  first.box.list.push("kept");
  assert.deepEqual(cleanArguments(t, { box: {} }), { tags: [], box: { list: ["x"] } });
  assert.deepEqual(t.parameters.properties.tags!.default, []);
});

Deno.test("the advertised schema does not require a parameter that has a default", () => {
  const t = tool({ a: { type: "string" }, b: { type: "integer", default: 1 } }, ["a", "b"]);
  assert.deepEqual(advertisedSchema(t.parameters).required, ["a"]);
});

const lossless: [ParameterSchema, unknown, unknown][] = [
  [{ type: "integer" }, "5", 5],
  [{ type: "integer" }, " -7 ", -7],
  [{ type: "integer" }, 5.0, 5],
  [{ type: "integer" }, "1e3", 1000],
  [{ type: "number" }, "2.5", 2.5],
  [{ type: "boolean" }, "true", true],
  [{ type: "boolean" }, "False", false],
  [{ type: "boolean" }, 1, true],
  [{ type: "string" }, 12, "12"],
  [{ type: "string" }, false, "false"],
  [{ type: "array", items: { type: "string" } }, "one", ["one"]],
  [{ type: "array", items: { type: "string" } }, '["a", "b"]', ["a", "b"]],
  [{ type: "array", items: { type: "integer" } }, ["1", 2], [1, 2]],
  [{ type: "object" }, '{"a": 1}', { a: 1 }],
  [{ type: ["integer", "null"] }, "4", 4],
  [{ anyOf: [{ type: "integer" }, { type: "string" }] }, "x", "x"],
];
for (const [schema, given, wanted] of lossless) {
  Deno.test(`${JSON.stringify(given)} becomes ${JSON.stringify(wanted)} for ${JSON.stringify(schema)}`, () => {
    assert.deepEqual(clean({ p: schema }, { p: given }), { p: wanted });
  });
}

const lossy: [ParameterSchema, unknown, RegExp][] = [
  [{ type: "integer" }, "ten", /"p" must be an integer, got "ten" \(string\)/],
  [{ type: "integer" }, 1.5, /an integer, got 1.5 \(number\)/],
  [{ type: "integer" }, "0x10", /an integer/],
  [{ type: "integer" }, "9007199254740993", /an integer/],
  [{ type: "integer" }, "", /an integer/],
  [{ type: "integer" }, true, /an integer, got true \(boolean\)/],
  [{ type: "integer", minimum: 1 }, 0, /an integer of at least 1, got 0/],
  [{ type: "integer", minimum: 1, maximum: 600 }, 601, /an integer from 1 to 600, got 601/],
  [{ type: "number" }, "1e999", /a number/],
  [{ type: "boolean" }, "yes", /a boolean, got "yes"/],
  [{ type: "boolean" }, 2, /a boolean/],
  [{ type: "string" }, ["a"], /a string, got \["a"\] \(list\)/],
  [{ type: "string" }, { a: 1 }, /a string, got .* \(object\)/],
  [{ type: "string", enum: ["w", "a"] }, "x", /one of "w", "a", got "x"/],
  [{ type: "array", items: { type: "integer" } }, "one", /a list of integers, got "one"/],
  [{ type: "array", items: { type: "string" } }, ["a", {}], /"p"\[1\] must be a string/],
  [{ type: "object" }, "text", /an object/],
  [{ type: "string" }, "x".repeat(0) || [], /a string, got \[\]/],
];
for (const [schema, given, wanted] of lossy) {
  Deno.test(`${JSON.stringify(given)} is refused for ${JSON.stringify(schema)}`, () => {
    assert.match(messageOf(() => clean({ p: schema }, { p: given })), wanted);
  });
}

Deno.test("several problems are told together and a long value is cut", () => {
  const text = messageOf(() =>
    clean({ a: { type: "integer" }, b: { type: "string" } }, { a: "y".repeat(500) }, ["a", "b"])
  );
  assert.match(
    text,
    /^probe: parameter "a" must be an integer.*; parameter "b" is missing, expected a string$/,
  );
  assert.ok(text.length < 300, text);
});

Deno.test("members of an object parameter are checked, filled and named in errors", () => {
  const schema: ParameterSchema = {
    type: "array",
    items: {
      type: "object",
      properties: { role: { type: "string" }, n: { type: "integer", default: 1 } },
      required: ["role"],
    },
  };
  assert.deepEqual(clean({ p: schema }, { p: [{ role: "a", n: "2" }, { role: "b" }] }), {
    p: [{ role: "a", n: 2 }, { role: "b", n: 1 }],
  });
  assert.match(messageOf(() => clean({ p: schema }, { p: [{}] })), /role" is missing/);
});

Deno.test("a Standard Schema's own validator has the last word and its issues name the parameter", async () => {
  const t = {
    ...tool({ n: { type: "integer" } }),
    validator: {
      "~standard": {
        version: 1 as const,
        vendor: "test",
        validate: (value: unknown) => {
          const { n } = value as { n: number };
          return n % 2 === 0
            ? { value: { n: n * 10 } }
            : { issues: [{ message: "must be even", path: ["n"] }] };
        },
      },
    },
  } as Tool;
  assert.deepEqual(await validateArguments(t, { n: 2 }), { n: 20 });
  await assert.rejects(validateArguments(t, { n: 3 }), /probe: parameter "n": must be even/);
});
