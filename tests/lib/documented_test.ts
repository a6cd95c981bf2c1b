/** What the package exports is documented, and nothing that it names is hidden. @module */
import assert from "node:assert/strict";

Deno.test("the public entry points pass deno doc --lint", async () => {
  const root = new URL("../../", import.meta.url);
  const { exports } = JSON.parse(Deno.readTextFileSync(new URL("deno.json", root))) as {
    exports: Record<string, string>;
  };
  const { code, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["doc", "--lint", ...Object.values(exports)],
    cwd: root,
    env: { NO_COLOR: "1" },
  }).output();
  assert.equal(code, 0, new TextDecoder().decode(stderr));
});
