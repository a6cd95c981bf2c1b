import assert from "node:assert/strict";
import { checkText, mayImport, roomOf } from "../../scripts/check_imports.ts";

Deno.test("the most exact room of a file decides", () => {
  assert.equal(roomOf("src/sandbox/entry.ts")?.files, "src/sandbox/entry.ts");
  assert.equal(roomOf("src/sandbox/pool.ts")?.files, "src/sandbox/");
  assert.equal(roomOf("elsewhere.ts"), null);
});

for (
  const [file, target, allowed] of [
    ["src/policy/tool_policy.ts", "src/sandbox/guard.ts", false],
    ["src/sandbox/guard.ts", "src/policy/path_rules.ts", false],
    ["src/sandbox/guard.ts", "src/text/glob.ts", false],
    ["src/sandbox/pool.ts", "src/policy/types.ts", true],
    ["src/sandbox/pool.ts", "tools/mod.ts", false],
    ["src/sandbox/entry.ts", "tools/far_files.ts", true],
    ["src/sandbox/entry.ts", "tools/far_programs.ts", false],
    ["src/engine/engine.ts", "tools/mod.ts", false],
    ["src/engine/engine.ts", "src/sandbox/pool.ts", false],
    ["tools/grep.ts", "tools/_walk.ts", true],
    ["tools/grep.ts", "tools/glob.ts", false],
    ["tools/grep.ts", "src/config/load.ts", false],
    ["src/text/diff.ts", "src/errors.ts", false],
    ["src/tool.ts", "src/errors.ts", false],
  ] as const
) {
  Deno.test(`${file} ${allowed ? "may" : "may not"} import ${target}`, () =>
    assert.equal(mayImport(file, target), allowed));
}

Deno.test("a forbidden name is found in code and not in a comment", () => {
  assert.equal(checkText("src/engine/x.ts", "const p = new Deno.Command('x');").length, 1);
  assert.equal(checkText("src/engine/x.ts", "// never Deno.Command here\n/* console.log */").length, 0);
  assert.equal(checkText("src/sandbox/x.ts", "const p = new Deno.Command('x');").length, 0);
  assert.equal(checkText("tools/x.ts", 'import a from "npm:left-pad@1";').length, 1);
  assert.equal(checkText("src/sandbox/x.ts", "await new Deno.Command('x').output();").length, 1);
});
