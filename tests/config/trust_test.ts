import { deepEqual, equal, match, ok } from "node:assert/strict";
import { loadConfig } from "../../src/config/load.ts";
import { PROJECT_CONFIG } from "../../src/config/paths.ts";
import {
  hashFiles,
  isTrusted,
  listTrust,
  recordTrust,
  revokeTrust,
  trustFile,
} from "../../src/config/trust.ts";
import { makeWorktree, type TestTree } from "../helpers/worktree.ts";
import { failure, pathsOf, write } from "./_support.ts";

const unix = Deno.build.os !== "windows";
const NOW = new Date("2024-05-06T07:08:09Z");
const PROJECT = { provider: "openai-compatible", tool_permission: { bash: "allow" } };

function trusts(tree: TestTree, files?: string[]): boolean {
  return isTrusted({ paths: pathsOf(tree), worktree: tree.work, files });
}

function load(tree: TestTree, trustedFiles?: string[]) {
  return loadConfig({ worktree: tree.work, paths: pathsOf(tree), trust: false, trustedFiles });
}

Deno.test("a project is trusted with exactly the file that was recorded", () => {
  using tree = makeWorktree();
  write(tree, { project: PROJECT });
  equal(trusts(tree), false);
  deepEqual([load(tree).trusted, load(tree).settings.tool_permission.bash], [false, "ask"]);
  const record = recordTrust({ paths: pathsOf(tree), worktree: tree.work }, NOW);
  deepEqual([record.worktree, record.trusted_at], [tree.work, "2024-05-06T07:08:09.000Z"]);
  const { trusted, settings, ignored, warnings } = load(tree);
  deepEqual([trusted, settings.provider, settings.tool_permission.bash, ignored, warnings], [
    true,
    "openai-compatible",
    "allow",
    [],
    [],
  ]);
});

Deno.test("a changed file ends the trust, the former content brings it back", () => {
  using tree = makeWorktree();
  write(tree, { project: PROJECT });
  recordTrust({ paths: pathsOf(tree), worktree: tree.work }, NOW);
  write(tree, { project: `${JSON.stringify(PROJECT)} ` });
  deepEqual([trusts(tree), load(tree).trusted, load(tree).settings.provider], [false, false, "auto"]);
  Deno.removeSync(`${tree.work}/${PROJECT_CONFIG}`);
  equal(trusts(tree), false);
  write(tree, { project: PROJECT });
  equal(trusts(tree), true);
});

Deno.test("trust belongs to one worktree: a copy of it is not trusted", () => {
  using tree = makeWorktree();
  write(tree, { project: PROJECT });
  recordTrust({ paths: pathsOf(tree), worktree: tree.work }, NOW);
  tree.write(`outside/${PROJECT_CONFIG}`, JSON.stringify(PROJECT));
  equal(isTrusted({ paths: pathsOf(tree), worktree: tree.outside }), false);
  equal(isTrusted({ paths: pathsOf(tree), worktree: `${tree.work}/.polyglav` }), false);
});

Deno.test("more files may be part of the trust: each one counts by itself, and a change, addition or removal ends its trust", () => {
  using tree = makeWorktree();
  write(tree, { project: PROJECT });
  const files = [".polyglav/roles.json", PROJECT_CONFIG, ".polyglav/skills/a.md"];
  tree.write("work/.polyglav/roles.json", "{}");
  recordTrust({ paths: pathsOf(tree), worktree: tree.work, files }, NOW);
  equal(trusts(tree, files.toReversed()), true);
  equal(load(tree, [".polyglav/skills/a.md", ".polyglav/roles.json"]).trusted, true);
  equal(trusts(tree), true, "the configuration alone");
  equal(trusts(tree, [...files, ".polyglav/more.json"]), false);
  tree.write("work/.polyglav/roles.json", "{ }");
  equal(trusts(tree, files), false, "changed");
  equal(trusts(tree), true, "the configuration did not change");
  tree.write("work/.polyglav/roles.json", "{}");
  tree.write("work/.polyglav/skills/a.md", "new");
  equal(trusts(tree, files), false, "added");
  Deno.removeSync(`${tree.work}/.polyglav/skills/a.md`);
  equal(trusts(tree, files), true);
  Deno.removeSync(`${tree.work}/.polyglav/roles.json`);
  equal(trusts(tree, files), false, "removed");
});

Deno.test("what is hashed is what was read before, where a caller hands it over", () => {
  using tree = makeWorktree();
  write(tree, { project: PROJECT });
  const seen = new TextEncoder().encode("what the user saw");
  recordTrust(
    { paths: pathsOf(tree), worktree: tree.work, contents: new Map([[PROJECT_CONFIG, seen]]) },
    NOW,
  );
  equal(trusts(tree), false, "the file on disk is another one");
  equal(
    hashFiles(tree.work, [PROJECT_CONFIG], new Map([[PROJECT_CONFIG, seen]]))[0]!.sha256,
    listTrust(pathsOf(tree))[0]!.files[0]!.sha256,
  );
});

Deno.test("the hash is the file's SHA-256", async () => {
  using tree = makeWorktree();
  write(tree, { project: PROJECT });
  const bytes = Deno.readFileSync(`${tree.work}/${PROJECT_CONFIG}`);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  equal(hashFiles(tree.work, [PROJECT_CONFIG])[0]!.sha256, digest.toHex());
});

Deno.test({
  name: "the record is for the user alone",
  ignore: !unix,
  fn() {
    using tree = makeWorktree();
    write(tree, { project: PROJECT });
    recordTrust({ paths: pathsOf(tree), worktree: tree.work }, NOW);
    const file = trustFile(pathsOf(tree));
    equal(Deno.statSync(file).mode! & 0o777, 0o600);
    equal(Deno.statSync(pathsOf(tree).config).mode! & 0o777, 0o700);
    Deno.chmodSync(file, 0o644);
    recordTrust({ paths: pathsOf(tree), worktree: tree.outside }, NOW);
    equal(Deno.statSync(file).mode! & 0o777, 0o600);
    deepEqual([...Deno.readDirSync(pathsOf(tree).config)].map(({ name }) => name), ["trust.json"]);
  },
});

Deno.test("revoking ends trust in one project and leaves the others", () => {
  using tree = makeWorktree();
  write(tree, { project: PROJECT });
  const paths = pathsOf(tree);
  recordTrust({ paths, worktree: tree.work }, NOW);
  recordTrust({ paths, worktree: tree.outside }, NOW);
  recordTrust({ paths, worktree: tree.work }, NOW);
  deepEqual(listTrust(paths).map(({ worktree }) => worktree), [tree.outside, tree.work]);
  equal(revokeTrust(paths, tree.work), true);
  equal(revokeTrust(paths, tree.work), false);
  deepEqual([trusts(tree), listTrust(paths).length], [false, 1]);
});

Deno.test("a broken record is an error that names it: never trust, and never replaced", () => {
  using tree = makeWorktree();
  write(tree, { project: PROJECT });
  const paths = pathsOf(tree), file = trustFile(paths);
  recordTrust({ paths, worktree: tree.work }, NOW);
  const good = JSON.parse(Deno.readTextFileSync(file));
  const change = (edit: (value: any) => unknown) => {
    const copy = structuredClone(good);
    return JSON.stringify(edit(copy) ?? copy);
  };
  for (
    const text of [
      "",
      "{",
      "[]",
      "null",
      "true",
      "{}",
      change((value) => void (value.version = 2)),
      change((value) => void (value.projects = {})),
      change((value) => void (value.projects = [null])),
      change((value) => void (value.projects[0].files = [])),
      change((value) => void (value.projects[0].files[0].sha256 = "")),
      change((value) => void (value.projects[0].files[0].sha256 = true)),
      change((value) => void delete value.projects[0].files[0].sha256),
      change((value) => void (value.projects[0].files[0].path = "../../outside/x")),
      change((value) => void (value.projects[0].files[0].path = ".polyglav/../../x")),
      change((value) => void value.projects.push(value.projects[0])),
      change((value) => void (value.projects[0].worktree = 1)),
    ]
  ) {
    Deno.writeTextFileSync(file, text);
    for (
      const action of [
        () => trusts(tree),
        () => load(tree),
        () => recordTrust({ paths, worktree: tree.work }, NOW),
        () => revokeTrust(paths, tree.work),
        () => listTrust(paths),
      ]
    ) ok(failure(action).includes(file), text);
    equal(Deno.readTextFileSync(file), text);
  }
});

Deno.test("without a file of the project the record is not even looked at", () => {
  using tree = makeWorktree();
  tree.write("home/.config/polyglav/trust.json", "broken");
  equal(load(tree).trusted, false);
  match(failure(() => load(tree, [".polyglav/roles.json"])), /trust\.json/);
});

Deno.test("trust for one run needs no record and leaves none", () => {
  using tree = makeWorktree();
  write(tree, { project: PROJECT });
  const { trusted, settings } = loadConfig({ worktree: tree.work, paths: pathsOf(tree), trust: true });
  deepEqual([trusted, settings.provider, tree.read("home/.config/polyglav/trust.json")], [
    true,
    "openai-compatible",
    null,
  ]);
});
