import assert from "node:assert/strict";
import { cleanArguments } from "../../src/registry/arguments.ts";
import { ToolRegistry } from "../../src/registry/registry.ts";
import type { ParameterSchema, Tool } from "../../src/tool.ts";
import { tools as files } from "../../tools/far_files.ts";
import { tools as programs } from "../../tools/far_programs.ts";
import { tools as web } from "../../tools/far_web.ts";
import { groups, internalTools, tools } from "../../tools/mod.ts";

const bundled = Object.values(groups).flat();

/** A value that a schema accepts. */
function sample(schema: ParameterSchema): unknown {
  if (schema.enum) return schema.enum[0];
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  switch (type) {
    case "integer":
    case "number":
      return schema.minimum ?? 1;
    case "boolean":
      return false;
    case "array":
      return [];
    case "object":
      return {};
    default:
      return "x";
  }
}

function farOf(tool: Tool): readonly Tool[] | null {
  if (tool.access.length === 0) return null;
  if (tool.access.includes("run")) return programs;
  return tool.access.includes("read") || tool.access.includes("write") ? files : web;
}

Deno.test("all bundled tools register together: no name or alias twice", () => {
  const registry = new ToolRegistry();
  for (const [owner, list] of Object.entries(groups)) list.forEach((tool) => registry.register(tool, owner));
  assert.equal(registry.list().length, bundled.length);
});

for (const tool of tools) {
  Deno.test(`${tool.name}: described, its parameters too, and the schema is closed over its required names`, () => {
    assert.match(tool.description, /^[A-Z].{10,}/s);
    for (const [name, schema] of Object.entries(tool.parameters.properties)) {
      assert.match(name, /^[a-z][a-z_]*$/);
      assert.ok(schema.description && schema.description.length > 3, `${name} is not described`);
      assert.ok(schema.type || schema.anyOf || schema.enum, `${name} has no type`);
    }
    for (const name of tool.parameters.required ?? []) assert.ok(tool.parameters.properties[name], name);
    JSON.stringify(tool.parameters);
  });

  Deno.test(`${tool.name}: permission and access are declared, and files are never touched without a path that the policy sees`, () => {
    assert.ok(tool.permission && tool.category && Array.isArray(tool.access));
    if (tool.access.some((a) => a === "read" || a === "write")) {
      assert.ok(tool.pathArg || tool.paths || tool.commandArg, "no path argument");
    }
    if (tool.access.includes("run")) assert.ok(tool.programs && tool.programs(null, {}).length >= 0);
    if (tool.access.includes("net")) assert.ok(tool.urlArg || tool.services, "no URL argument");
  });

  Deno.test(`${tool.name}: no undeclared argument reaches the handler`, () => {
    const given = Object.fromEntries(
      Object.entries(tool.parameters.properties).map(([name, s]) => [name, sample(s)]),
    );
    const cleaned = cleanArguments(tool, { ...given, undeclared_argument: 1, _config: {} });
    assert.ok(Object.keys(cleaned).every((name) => name in tool.parameters.properties));
  });

  Deno.test(`${tool.name}: the worker that runs it carries it`, () => {
    const far = farOf(tool);
    if (far) assert.ok(far.some((other) => other === tool), "add it to its list in tools/far_*.ts");
    else assert.equal(tool.access.length, 0);
  });
}

Deno.test("the lists of the workers hold nothing that is not bundled", () => {
  const known = new Set([...bundled, ...internalTools]);
  for (const tool of [...files, ...programs, ...web]) assert.ok(known.has(tool), tool.name);
});
