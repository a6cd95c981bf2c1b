/** Schemas of every supported kind lead to the same tool. @module */
import assert from "node:assert/strict";
import { toStandardJsonSchema } from "@valibot/to-json-schema";
import { type } from "arktype";
import * as v from "valibot";
import { z } from "zod";
import { defineTool, type StandardSchema, type Tool, ToolError, ToolRegistry } from "../../src/lib.ts";

const about = { name: "search", description: "Search for documents matching a query." };
const found = ({ query, limit }: { query: string; limit: number }) =>
  `Found results for: ${query} (limit ${limit})`;

// The handlers are checked: `query` is a string and `limit` a number in all of them, without a cast.
const TOOLS: Record<string, Tool> = {
  "JSON Schema": defineTool({
    ...about,
    parameters: {
      type: "object",
      properties: {
        query: { type: "string", description: "The search query string." },
        limit: { type: "integer", description: "Maximum number of results to return.", default: 10 },
      },
      required: ["query"],
    },
    execute: ({ query, limit }) => found({ query, limit }),
  }),
  zod: defineTool({
    ...about,
    parameters: z.object({
      query: z.string().describe("The search query string."),
      limit: z.int().default(10).describe("Maximum number of results to return."),
    }),
    execute: ({ query, limit }) => found({ query, limit }),
  }),
  valibot: defineTool({
    ...about,
    parameters: toStandardJsonSchema(v.object({
      query: v.pipe(v.string(), v.description("The search query string.")),
      limit: v.optional(
        v.pipe(v.number(), v.integer(), v.description("Maximum number of results to return.")),
        10,
      ),
    })),
    execute: ({ query, limit }) => found({ query, limit }),
  }),
  arktype: defineTool({
    ...about,
    parameters: type({
      query: type("string").describe("The search query string."),
      limit: type("number.integer").describe("Maximum number of results to return.").default(10),
    }),
    execute: ({ query, limit }) => found({ query, limit }),
  }),
};

for (const [kind, tool] of Object.entries(TOOLS)) {
  const registry = new ToolRegistry().register(tool);

  Deno.test(`${kind}: descriptions reach the model and a default makes a parameter optional`, () => {
    const [definition] = registry.definitions();
    assert.equal(definition!.name, "search");
    assert.equal(definition!.description, "Search for documents matching a query.");
    const { type, properties, required } = definition!.parameters;
    assert.equal(type, "object");
    assert.deepEqual(required, ["query"]);
    assert.equal(properties.query!.type, "string");
    assert.equal(properties.query!.description, "The search query string.");
    assert.equal(properties.limit!.type, "integer");
    assert.equal(properties.limit!.description, "Maximum number of results to return.");
    assert.ok(!("$schema" in definition!.parameters));
  });

  Deno.test(`${kind}: a parameter that is left out, or null, gets its default`, async () => {
    assert.equal(await registry.execute("search", { query: "a" }), "Found results for: a (limit 10)");
    assert.equal(
      await registry.execute("search", { query: "a", limit: null }),
      "Found results for: a (limit 10)",
    );
    assert.equal(
      await registry.execute("search", { query: "a", limit: 3 }),
      "Found results for: a (limit 3)",
    );
    assert.equal(
      await registry.execute("search", '{"query": "a", "limit": "7"}'),
      "Found results for: a (limit 7)",
    );
  });

  Deno.test(`${kind}: what does not fit is an error of kind invalid_arguments that names the parameter`, async () => {
    for (
      const [args, name] of [[{}, "query"], [{ query: "a", limit: "many" }, "limit"], [
        { query: {} },
        "query",
      ]]
    ) {
      await assert.rejects(
        registry.execute("search", args),
        (error: ToolError) => error.kind === "invalid_arguments" && error.message.includes(`"${name}"`),
      );
    }
    await assert.rejects(registry.execute("search", "[1]"), /must be a JSON object/);
    await assert.rejects(registry.execute("search", "{"), /not valid JSON/);
  });
}

Deno.test("a check that JSON Schema cannot tell is made by the schema's own validator", async () => {
  const registry = new ToolRegistry().register(defineTool({
    name: "even",
    description: "Takes even numbers.",
    parameters: z.object({ n: z.number().refine((n) => n % 2 === 0, "must be even").describe("A number.") }),
    execute: ({ n }) => n / 2,
  }));
  assert.equal(await registry.execute("even", { n: 4 }), 2);
  await assert.rejects(
    registry.execute("even", { n: 3 }),
    (error: ToolError) =>
      error.kind === "invalid_arguments" && /even: parameter "n": must be even/.test(error.message),
  );
});

Deno.test("a transformation's input is advertised, and the handler gets its output", async () => {
  const tool = defineTool({
    name: "split",
    description: "Splits.",
    parameters: z.object({ words: z.string().transform((text) => text.split(",")).describe("Words.") }),
    execute: ({ words }) => words.length,
  });
  assert.equal(tool.parameters.properties.words!.type, "string");
  assert.equal(await new ToolRegistry().register(tool).execute("split", { words: "a,b,c" }), 3);
});

Deno.test("a validator may be asynchronous", async () => {
  const tool = defineTool({
    name: "slow",
    description: "Checks elsewhere.",
    parameters: z.object({
      id: z.string().refine(async (id) => await Promise.resolve(id !== "bad"), "is taken"),
    }),
    execute: ({ id }) => id,
  });
  const registry = new ToolRegistry().register(tool);
  assert.equal(await registry.execute("slow", { id: "good" }), "good");
  await assert.rejects(registry.execute("slow", { id: "bad" }), /"id": is taken/);
});

Deno.test("null reaches a required parameter that takes it", async () => {
  const registry = new ToolRegistry().register(defineTool({
    name: "nullable",
    description: "Takes null.",
    parameters: z.object({ a: z.string().nullable(), b: z.string().optional() }),
    execute: (args) => JSON.stringify(args),
  }));
  assert.equal(await registry.execute("nullable", { a: null, b: null }), '{"a":null}');
  await assert.rejects(registry.execute("nullable", {}), /"a" is missing/);
});

Deno.test("a schema without JSON Schema says how to get one", () => {
  const parameters = v.object({ a: v.string() }) as unknown as StandardSchema<{ a: string }>;
  assert.throws(
    () => defineTool({ ...about, parameters, execute: ({ a }) => a }),
    /valibot schema carries no JSON Schema.*toStandardJsonSchema/,
  );
});

Deno.test("a schema that cannot be written as JSON Schema is a TypeError that names the tool", () => {
  assert.throws(
    () => defineTool({ ...about, parameters: z.object({ at: z.date() }), execute: () => "" }),
    /Cannot define tool "search": its zod schema cannot be written as JSON Schema/,
  );
});

Deno.test("a schema of anything but an object is refused", () => {
  assert.throws(
    () => defineTool({ ...about, parameters: z.array(z.string()) as never, execute: () => "" }),
    /must be the schema of an object/,
  );
});

Deno.test("metadata that names a parameter which does not exist is refused", () => {
  assert.throws(
    () =>
      defineTool({
        ...about,
        keyArg: "nope" as never,
        parameters: { type: "object", properties: {} },
        execute: () => "",
      }),
    /names the parameter "nope"/,
  );
  assert.throws(
    () =>
      defineTool({
        ...about,
        name: "Bad Name",
        parameters: { type: "object", properties: {} },
        execute: () => "",
      }),
    /Cannot define tool "Bad Name"/,
  );
});

Deno.test("what no type checker looked at is refused by name: description, parameters, handler, required", () => {
  const whole = {
    name: "probe",
    description: "d",
    parameters: { type: "object", properties: {} },
    execute: () => "",
  };
  const define = (more: object) => () => defineTool({ ...whole, ...more } as never);
  define({})();
  assert.throws(define({ description: undefined }), /"probe": it needs a description/);
  assert.throws(define({ description: " " }), /"probe": it needs a description/);
  assert.throws(define({ parameters: undefined }), /"probe": it needs parameters/);
  assert.throws(define({ parameters: null }), /"probe": it needs parameters/);
  assert.throws(define({ execute: undefined }), /"probe": it needs a handler/);
  assert.throws(
    define({ parameters: { type: "object", properties: { a: { type: "string" } }, required: ["b"] } }),
    /"probe": "required" names the parameter "b", which the schema does not declare/,
  );
});

Deno.test("category and permission follow from access, never laxer than what it can do", () => {
  const made = (access: Tool["access"]) => {
    const { category, permission } = defineTool({
      ...about,
      access,
      parameters: { type: "object", properties: {} },
      execute: () => "",
    });
    return [category, permission];
  };
  assert.deepEqual(made([]), ["read", "read"]);
  assert.deepEqual(made(["read"]), ["read", "read"]);
  assert.deepEqual(made(["net"]), ["search", "web"]);
  assert.deepEqual(made(["read", "write", "net"]), ["write", "edit"]);
  assert.deepEqual(made(["write", "run"]), ["exec", "bash"]);
});

Deno.test("types of handlers are inferred from JSON Schema", () => {
  defineTool({
    ...about,
    parameters: {
      type: "object",
      properties: {
        mode: { enum: ["a", "b"] },
        list: { type: "array", items: { type: "string" } },
        maybe: { type: "boolean" },
      },
      required: ["mode", "list"],
    },
    execute: ({ mode, list, maybe }) => {
      const checked: ["a" | "b", string[], boolean | undefined] = [mode, list, maybe];
      // @ts-expect-error a parameter that is not required may be missing
      const wrong: boolean = maybe;
      return String([checked, wrong]);
    },
  });
});

Deno.test("the program's own modules load none of the schema libraries", async () => {
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--json", "main.ts"],
    cwd: decodeURIComponent(new URL("../../", import.meta.url).pathname),
  }).output();
  const graph = JSON.parse(new TextDecoder().decode(stdout));
  const specifiers: string[] = graph.modules.map((module: { specifier: string }) => module.specifier);
  assert.ok(specifiers.some((name) => name.endsWith("/src/registry/registry.ts")));
  const named = specifiers.filter((name) => /^npm:|npm\//.test(name));
  assert.deepEqual(named.filter((name) => /\b(?:zod|valibot|to-json-schema|arktype)\b/.test(name)), []);
});
