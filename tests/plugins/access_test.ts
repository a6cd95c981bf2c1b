import assert from "node:assert/strict";
import {
  accessOf,
  type AccessPlaces,
  compileAccess,
  grantedAccess,
  missingAccess,
} from "../../src/plugins/access.ts";
import { parseGrant } from "../../src/plugins/manage.ts";
import { NO_ACCESS } from "../../src/plugins/manifest.ts";
import { makeWorktree, type TestTree } from "../helpers/worktree.ts";

const places = (tree: TestTree): AccessPlaces => ({
  worktree: tree.work,
  home: tree.home,
  configDir: `${tree.home}/.config/polyglav`,
  stateDir: `${tree.home}/.local/state/polyglav`,
  resolveProgram: (name) => name === "jq" ? "/usr/bin/jq" : null,
});

Deno.test("what a plugin gets is what it asks for and was granted, word for word", () => {
  const asked = { ...NO_ACCESS, read: [".", "docs"], net: ["a.example", "b.example"] };
  const grant = { ...NO_ACCESS, read: ["docs"], net: ["b.example", "evil.example"], run: ["sh"] };
  assert.deepEqual(grantedAccess(asked, grant), { ...NO_ACCESS, read: ["docs"], net: ["b.example"] });
  assert.deepEqual(missingAccess(asked, grant), { ...NO_ACCESS, read: ["."], net: ["a.example"] });
  assert.deepEqual(accessOf(grantedAccess(asked, grant)), ["read", "net"]);
});

Deno.test("a grant names what is asked for, a kind, or all", () => {
  const asked = { ...NO_ACCESS, read: ["."], net: ["a.example", "[::1]:80"] };
  assert.deepEqual(parseGrant([], asked), NO_ACCESS);
  assert.deepEqual(parseGrant(["all"], asked), asked);
  assert.deepEqual(parseGrant(["net"], asked), { ...NO_ACCESS, net: asked.net });
  assert.deepEqual(parseGrant(["net:[::1]:80", "read:."], asked), {
    ...NO_ACCESS,
    read: ["."],
    net: ["[::1]:80"],
  });
  assert.throws(
    () => parseGrant(["net:evil.example"], asked),
    /does not ask for that; it asks for read:\., net:a\.example/,
  );
  assert.throws(() => parseGrant(["everything"], asked), /does not ask/);
});

Deno.test("paths become absolute, and git's and polyglav's own stay closed", () => {
  using tree = makeWorktree({ files: { "docs/a.txt": "", ".env": "", "server.pem": "" } });
  Deno.mkdirSync(`${tree.home}/notes`);
  const set = compileAccess(
    { ...NO_ACCESS, read: ["~/notes"], write: [".", "new/folder"], run: ["jq"] },
    places(tree),
  );
  assert.deepEqual(set.write, [tree.work, `${tree.work}/new/folder`]);
  assert.deepEqual(set.read, [`${tree.home}/notes`, tree.work, `${tree.work}/new/folder`]);
  assert.deepEqual(set.denyWrite, [`${tree.work}/.git`, `${tree.work}/.polyglav`]);
  assert.ok(set.denyRead.includes(`${tree.work}/.env`) && set.denyRead.includes(`${tree.work}/server.pem`));
  assert.deepEqual(set.run, ["/usr/bin/jq"]);
});

Deno.test("what leads out of the project, or holds the program's own files, is refused", () => {
  using tree = makeWorktree({ links: { way: "../outside", "deep/way": "../../outside" } });
  const at = places(tree);
  for (const path of ["way", "way/new", "deep/way/x"]) {
    assert.throws(() => compileAccess({ ...NO_ACCESS, read: [path] }, at), /outside the project/, path);
  }
  for (const path of [".git", ".git/hooks", ".polyglav", ".polyglav/sessions"]) {
    assert.throws(
      () => compileAccess({ ...NO_ACCESS, write: [path] }, at),
      /belongs to git or polyglav/,
      path,
    );
  }
  for (const path of [tree.home, `${tree.home}/.config`, at.configDir, `${at.stateDir}/x`, "~/.config"]) {
    assert.throws(
      () => compileAccess({ ...NO_ACCESS, read: [path] }, at),
      /holds polyglav's own files/,
      path,
    );
  }
  assert.throws(() => compileAccess({ ...NO_ACCESS, run: ["nope"] }, at), /program nope is not there/);
});
