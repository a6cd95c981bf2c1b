import assert from "node:assert/strict";
import { type PluginOfTools, pluginTools } from "../../src/plugins/description.ts";
import type { Access, Json } from "../../src/tool.ts";

const tool = (more: Record<string, unknown> = {}) => ({
  name: "one",
  description: "d",
  parameters: { type: "object", properties: { text: { type: "string", description: "t" } } },
  ...more,
});
const plugin = (access: readonly Access[] = []): PluginOfTools => ({
  name: "p",
  access,
  announced: ["one"],
  programs: ["/usr/bin/jq"],
});
const call = () => Promise.resolve("" as Json);
const make = (more: Record<string, unknown>, access: readonly Access[] = []) =>
  pluginTools([tool(more)], plugin(access), call)[0]!;

Deno.test("what a tool may do follows from the grant, not from what its code says", () => {
  const pure = make({ access: ["run", "net"], permission: "read" });
  assert.deepEqual(pure.access, []);
  assert.equal(pure.plugin, "p");
  assert.equal(pure.permission, "read");
  const permission = (claimed: unknown, access: Access[]) => make({ permission: claimed }, access).permission;
  assert.equal(permission("read", ["write"]), "edit");
  assert.equal(permission("read", ["net"]), "web");
  assert.equal(permission("list", ["read", "run"]), "bash");
  assert.equal(permission("edit", ["run"]), "bash");
  assert.equal(permission("bash", ["write"]), "bash");
  assert.equal(permission("todo", ["read"]), "todo");
  assert.equal(permission("myplugin", ["run"]), "myplugin", "an unknown key asks");
  for (const own of ["ask", "delegate", "handoff", "catalog", "team", "mcp", "", "Bad Key", 7, null]) {
    assert.equal(permission(own, ["write"]), "edit", String(own));
  }
});

Deno.test("functions, hooks and switches of the program do not come with a description", () => {
  const made = make({
    confirm: false,
    permissionFn: "allow",
    requires: ["x"],
    services: ["search"],
    memory: "run",
    loop: true,
    refine: true,
    configKeys: ["base_url"],
    category: "delegate",
  });
  assert.equal(made.confirm, undefined);
  assert.equal(made.permissionFn, undefined);
  assert.equal(made.services, undefined);
  assert.equal(made.memory, undefined);
  assert.equal(made.loop, undefined);
  assert.equal(made.configKeys, undefined);
  assert.equal(made.category, "read");
  assert.deepEqual(made.programs?.(null, {}), ["/usr/bin/jq"]);
});

Deno.test("texts for the terminal are cleaned, timeouts are bounded", () => {
  const made = make({ glyph: "\x1b[2J", verb: "Go\u202e", timeout: 1e12, keyArg: "text" });
  for (const bad of ["\x1b", "\u202e"]) assert.ok(!(made.glyph! + made.verb!).includes(bad));
  assert.equal(made.timeout, 600_000);
  assert.equal(make({ timeout: -1 }).timeout, 120_000);
});

for (
  const [described, message] of [
    ["text", /no list of at most 64 tools/],
    [Array.from({ length: 65 }, () => tool()), /no list of at most 64/],
    [[null], /no object/],
    [[tool({ name: "Bad" })], /"Bad" cannot be used/],
    [[tool({ name: "two" })], /brings the tool "two", which provides\.tools does not name/],
    [[], /names the tool "one", which its code does not bring/],
    [[tool(), tool()], /brings the tool "one" twice/],
    [[tool({ description: "" })], /description must be text/],
    [[tool({ description: "x".repeat(5000) })], /description must be text of 1 to 4000/],
    [[tool({ parameters: null })], /no schema of an object/],
    [[tool({ parameters: { type: "string", properties: {} } })], /must be the schema of an object/],
    [[tool({ parameters: { type: "object", properties: { a: 1 } } })], /parameter "a" of one has no schema/],
    [
      [tool({ parameters: { type: "object", properties: {}, junk: "x".repeat(40_000) } })],
      /longer than 32768/,
    ],
    [[tool({ keyArg: "nope" })], /names the parameter "nope"/],
    [[tool({ paramAliases: { a: "nope" } })], /names the parameter "nope"/],
  ] as [unknown, RegExp][]
) {
  Deno.test(`refused: ${JSON.stringify(described).slice(0, 90)}`, () => {
    assert.throws(() => pluginTools(described, plugin(), call), message);
  });
}
