import assert from "node:assert/strict";
import { ToolError } from "../../src/errors.ts";
import { ToolRegistry } from "../../src/registry/registry.ts";
import { defineTool, type Tool, type Toolset } from "../../src/tool.ts";

const base = { description: "d", category: "read", permission: "read", access: [] } as const;

function echo(name: string, more: Partial<Tool> = {}): Tool {
  return defineTool({
    ...base,
    name,
    parameters: {
      type: "object",
      properties: { text: { type: "string", description: "t" } },
      required: ["text"],
    },
    execute: ({ text }: { text: string }) => `<${text}>`,
    ...more,
  } as never);
}

Deno.test("a tool is found by its name and its aliases, and an alias presets arguments", async () => {
  const registry = new ToolRegistry().register(
    echo("say", { aliases: { shout: { text: "HEY" }, utter: {} } }),
  );
  assert.equal(await registry.execute("say", { text: "a" }), "<a>");
  assert.equal(await registry.execute("utter", '{"text": "b"}'), "<b>");
  assert.equal(await registry.execute("shout", {}), "<HEY>");
  assert.equal(registry.get("shout")?.name, "say");
});

Deno.test("a duplicate name or alias is an error that names both owners", () => {
  const registry = new ToolRegistry().register(echo("say", { aliases: ["tell"] }), "first plugin");
  assert.throws(
    () => registry.register(echo("say"), "second plugin"),
    /"say" of second plugin.*"say" of first plugin/,
  );
  assert.throws(
    () => registry.register(echo("tell"), "second plugin"),
    /"tell".*belongs to "say" of first plugin/,
  );
  assert.throws(() => registry.register(echo("other", { aliases: ["say"] }), "x"), /"say"/);
  assert.deepEqual(
    registry.list().map((t) => t.name),
    ["say"],
    "a refused registration leaves nothing behind",
  );
  assert.equal(registry.get("other"), null);
});

Deno.test("what is no tool is refused where it is registered", () => {
  for (const wrong of [undefined, null, "say", { name: "say" }, { execute: () => "" }]) {
    assert.throws(() => new ToolRegistry().register(wrong as never, "mine"), {
      name: "TypeError",
      message: "Cannot register what mine gave: it is no tool; make one with defineTool",
    });
  }
  for (const wrong of [undefined, null, {}, 5]) {
    assert.throws(() => new ToolRegistry().registerToolset(wrong as never), /is no toolset/);
  }
});

Deno.test("a frozen registry takes nothing more", () => {
  const registry = new ToolRegistry().register(echo("say")).freeze();
  assert.ok(registry.frozen);
  assert.throws(() => registry.register(echo("more")), /frozen/);
});

Deno.test("definitions hold canonical names alone, in order, without what the policy denies", () => {
  const registry = new ToolRegistry().register(echo("b_tool", { aliases: ["bb"] })).register(echo("a_tool"));
  assert.deepEqual(registry.definitions().map((d) => d.name), ["b_tool", "a_tool"]);
  const policy = { allowed: (tool: Tool) => ({ action: tool.name === "b_tool" ? "deny" : "ask" }) };
  assert.deepEqual(registry.definitions(policy).map((d) => d.name), ["a_tool"]);
  assert.deepEqual(Object.keys(registry.definitions()[0]!), ["name", "description", "parameters"]);
});

Deno.test("an unknown tool names the ones that exist", async () => {
  const registry = new ToolRegistry().register(echo("say"));
  await assert.rejects(
    registry.execute("nope"),
    (e: ToolError) => e.kind === "not_found" && /unknown tool "nope"\. Available tools: say/.test(e.message),
  );
  await assert.rejects(registry.execute("__proto__"), /unknown tool/);
  await assert.rejects(registry.execute("constructor"), /unknown tool/);
});

Deno.test("a tool that needs a context fails without it and says which", async () => {
  const registry = new ToolRegistry().register(defineTool({
    ...base,
    name: "who",
    parameters: { type: "object", properties: {} },
    requires: ["identity"],
    execute: (_, context) => String(context.extras?.identity),
  }));
  await assert.rejects(registry.execute("who"), /needs the context "identity"/);
  assert.equal(await registry.executeWith("who", {}, { identity: "me" }), "me");
});

Deno.test("plain execute gives a handler no files and says so", async () => {
  const registry = new ToolRegistry().register(defineTool({
    ...base,
    name: "peek",
    parameters: { type: "object", properties: {} },
    execute: (_, context) => context.workspace.root,
  }));
  await assert.rejects(registry.execute("peek"), /no workspace/);
});

Deno.test("JSON results stay JSON and a thrown error becomes a ToolError with the tool's name", async () => {
  const registry = new ToolRegistry()
    .register(echo("json", { execute: () => ({ n: 1 }) }))
    .register(echo("boom", {
      execute: () => {
        throw new TypeError("bad\nthing");
      },
    }));
  assert.deepEqual(await registry.execute("json", { text: "" }), { n: 1 });
  await assert.rejects(
    registry.execute("boom", { text: "" }),
    (e: ToolError) => e instanceof ToolError && e.message === "boom failed: bad thing",
  );
});

Deno.test("a handler that returns nothing gives null, and JSON that looks like a result stays JSON", async () => {
  const json = { kind: "tool_result", rows: [1] };
  const registry = new ToolRegistry()
    .register(echo("nothing", { execute: () => undefined as never }))
    .register(echo("json", { execute: () => json }));
  assert.equal(await registry.execute("nothing", { text: "" }), null);
  assert.deepEqual(await registry.execute("json", { text: "" }), json);
});

Deno.test("a toolset registers all of its tools", async () => {
  class Counter implements Toolset {
    #n = 0;
    tools() {
      return [
        defineTool({
          ...base,
          name: "add",
          parameters: { type: "object", properties: {} },
          execute: () => `${++this.#n}`,
        }),
        defineTool({
          ...base,
          name: "total",
          parameters: { type: "object", properties: {} },
          execute: () => `${this.#n}`,
        }),
      ];
    }
  }
  const registry = new ToolRegistry().registerToolset(new Counter());
  await registry.execute("add");
  await registry.execute("add");
  assert.equal(await registry.execute("total"), "2");
});

Deno.test("defining a tool refuses a bad name, a schema that is no object's and metadata that names no parameter", () => {
  assert.throws(() => echo("Bad-Name"), /lower case/);
  assert.throws(() => echo("x", { parameters: { type: "string" } } as never), /schema of an object/);
  assert.throws(() => echo("x", { keyArg: "nope" } as never), /"nope"/);
  assert.throws(() => echo("x", { paramAliases: { q: "nope" } } as never), /"nope"/);
});
