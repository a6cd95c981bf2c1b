import { deepEqual, equal, match } from "node:assert/strict";
import { setKey, unsetKey } from "../../src/config/edit.ts";
import { lookUp, type SchemaEntry } from "../../src/config/schema.ts";
import type { Json } from "../../src/tool.ts";
import { makeWorktree } from "../helpers/worktree.ts";
import { failure } from "./_support.ts";

/** Applies edits to a file with `before` as content and returns the new one. */
function edit(before: string | null, ...edits: [string, Json?][]): string | null {
  using tree = makeWorktree(before === null ? {} : { files: { "c.json": before } });
  const file = { path: `${tree.work}/c.json`, mode: 0o644, directoryMode: 0o755 };
  for (const [key, value] of edits) {
    const found = lookUp(key);
    if (value !== undefined) setKey(file, key, found as SchemaEntry, value);
    else unsetKey(file, key, found === null || found === "section");
  }
  return tree.read("work/c.json");
}

const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;

Deno.test("a new file gets nested keys and an indent of two", () => {
  equal(
    edit(null, ["tool_permission.bash", "deny"]),
    '{\n  "tool_permission": {\n    "bash": "deny"\n  }\n}\n',
  );
  equal(edit(null, ["model", "m"]), '{\n  "model": "m"\n}\n');
  equal(edit(null, ["exec.env.A.B", "1"]), json({ exec: { env: { "A.B": "1" } } }));
  equal(edit(null, ["modes.own.tools.deny", ["x"]]), json({ modes: { own: { tools: { deny: ["x"] } } } }));
});

Deno.test("a key is changed where it stands, in its spelling, and all else stays in its order", () => {
  const nested = { z: 1, tools: { deny: ["a"], allow: [] }, a: { unknown: [1, { b: null }] } };
  equal(edit(json(nested), ["tools.deny", ["b"]]), json({ ...nested, tools: { deny: ["b"], allow: [] } }));
  const dotted = { "tools.deny": ["a"], a: 1 };
  equal(edit(json(dotted), ["tools.deny", ["b"]]), json({ "tools.deny": ["b"], a: 1 }));
  const mixed = { "modes.own": { "tool_permission.bash": "ask" } };
  equal(
    edit(json(mixed), ["modes.own.tool_permission.bash", "deny"]),
    json({ "modes.own": { "tool_permission.bash": "deny" } }),
  );
});

Deno.test("a new key goes to its group, dotted where its neighbours are", () => {
  equal(
    edit(json({ tools: { deny: [] } }), ["tools.allow", ["a"]]),
    json({ tools: { deny: [], allow: ["a"] } }),
  );
  equal(
    edit(json({ "tools.deny": [] }), ["tools.allow", ["a"]]),
    json({ "tools.deny": [], "tools.allow": ["a"] }),
  );
  equal(
    edit(json({ "modes.own": {} }), ["modes.own.tools.deny", ["a"]]),
    json({ "modes.own": { tools: { deny: ["a"] } } }),
  );
  equal(
    edit(json({ modes: { "own.tools.allow": [] } }), ["modes.own.tools.deny", ["a"]]),
    json({ modes: { "own.tools.allow": [], "own.tools.deny": ["a"] } }),
  );
});

Deno.test("removing takes the key in every spelling, and groups that become empty, but no mode", () => {
  equal(edit(json({ a: 1, exec: { env: { A: "1" } } }), ["exec.env.A"]), json({ a: 1 }));
  equal(
    edit(json({ exec: { env: { A: "1", B: "2" } } }), ["exec.env.A"]),
    json({ exec: { env: { B: "2" } } }),
  );
  equal(
    edit(json({ modes: { own: { tools: { deny: [] } } } }), ["modes.own.tools.deny"]),
    json({ modes: { own: {} } }),
  );
  equal(edit(json({ "tools.deny": [], tools: { deny: [] } }), ["tools.deny"]), json({}));
  equal(
    edit(json({ "modes.own.tools.deny": [], modes: { own: {}, b: {} } }), ["modes.own"]),
    json({ modes: { b: {} } }),
  );
  equal(edit(json({ modle: "x", model: "y" }), ["modle"]), json({ model: "y" }));
  equal(
    edit(json({ exec: { env: { A: "1", "A.B": "2" } } }), ["exec.env.A"]),
    json({ exec: { env: { "A.B": "2" } } }),
  );
});

Deno.test("removing what is not there writes nothing", () => {
  equal(edit(null, ["model"]), null);
  equal(edit('{"a":1}', ["model"]), '{"a":1}');
});

Deno.test("a byte order mark and names with a meaning in JavaScript survive", () => {
  equal(edit('\ufeff{"a": 1}', ["model", "m"]), `\ufeff${json({ a: 1, model: "m" })}`);
  match(edit('{"__proto__": {"x": 1}, "a": 2}', ["model", "m"])!, /"__proto__": \{\n {4}"x": 1/);
});

Deno.test("a file that cannot be understood is not touched", () => {
  using tree = makeWorktree();
  const file = { path: `${tree.work}/c.json`, mode: 0o644, directoryMode: 0o755 };
  const model = lookUp("model") as SchemaEntry, deny = lookUp("tools.deny") as SchemaEntry;
  for (const text of ["{", "[]", '{"a": 1, "a": 2}']) {
    tree.write("work/c.json", text);
    match(failure(() => setKey(file, "model", model, "m")), /c\.json/);
    equal(tree.read("work/c.json"), text);
  }
  tree.write("work/c.json", '{"tools": 5}');
  match(failure(() => setKey(file, "tools.deny", deny, [])), /c\.json: tools is 5; expected an object/);
  tree.write("work/c.json", '{"tools": {"deny": []}, "tools.deny": []}');
  match(failure(() => setKey(file, "tools.deny", deny, [])), /spells tools\.deny twice/);
  deepEqual([...Deno.readDirSync(tree.work)].map(({ name }) => name), ["c.json"]);
});
