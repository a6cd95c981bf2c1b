import assert from "node:assert/strict";
import { makeWorktree } from "../helpers/worktree.ts";

const root = decodeURIComponent(new URL("../..", import.meta.url).pathname).replace(/\/$/, "");

for (const script of ["demo", "check_imports"]) {
  Deno.test(`scripts/${script}.ts works in a folder whose name a URL spells differently`, async () => {
    using tree = makeWorktree();
    const place = `${tree.root}/a ü %20 b`;
    Deno.symlinkSync(root, place);
    const { code, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", `${place}/scripts/${script}.ts`],
      stdin: "null",
      cwd: tree.root,
      env: { NO_COLOR: "1" },
    }).output();
    assert.equal(code, 0, new TextDecoder().decode(stderr));
  });
}
