import assert from "node:assert/strict";
import { loadPlugins, type PluginInfo } from "../../src/plugins/load.ts";
import { disablePlugin, enablePlugin, installPlugin } from "../../src/plugins/manage.ts";
import { NO_ACCESS, type PluginAccess } from "../../src/plugins/manifest.ts";
import { readPluginFolder } from "../../src/plugins/folder.ts";
import { copyFolder, readRecords, recordsFile } from "../../src/plugins/records.ts";
import { makeWorktree, type TestTree } from "../helpers/worktree.ts";
import { fixture, pluginOf } from "./_plugins.ts";

const places = (tree: TestTree) => ({
  configDir: `${tree.home}/.config/polyglav`,
  stateDir: `${tree.home}/.local/state/polyglav`,
});
const userFolder = (tree: TestTree) => `${places(tree).configDir}/plugins`;
const DESCRIBED = [{
  name: "one",
  description: "d",
  parameters: { type: "object", properties: {} },
}];

interface Options {
  readonly trusted?: boolean;
  readonly settings?: Record<string, unknown>;
  readonly version?: string;
}

async function load(tree: TestTree, options: Options = {}) {
  const { infos, loaded } = await loadPlugins({
    ...places(tree),
    worktree: tree.work,
    home: tree.home,
    resolveProgram: () => null,
    trusted: options.trusted ?? true,
    version: options.version ?? "0.1.0",
    settings: options.settings ?? {},
    env: () => undefined,
    runner: {
      call: () => Promise.resolve({ kind: "tool_result", content: "x", details: { wrote: ["/x"] } }),
    },
  });
  return { infos, loaded, one: infos[0] as PluginInfo };
}

async function enable(
  tree: TestTree,
  folder: string,
  grant: PluginAccess = NO_ACCESS,
  project: string | null = null,
) {
  const found = await readPluginFolder(folder);
  return enablePlugin(found, places(tree), { project, grant, tools: DESCRIBED, now: new Date(0) });
}

async function installed(
  tree: TestTree,
  name = "one-plugin",
  manifest: Record<string, unknown> = {},
): Promise<string> {
  const source = pluginOf(tree, name, "export default [];", manifest);
  return (await installPlugin(source, userFolder(tree))).path;
}

Deno.test("a plugin that was copied but not enabled does not count", async () => {
  using tree = makeWorktree();
  await installed(tree);
  const { one, loaded } = await load(tree);
  assert.deepEqual([one.status, one.reason], [
    "disabled",
    "not enabled (polyglav plugins enable one-plugin)",
  ]);
  assert.equal(loaded.length, 0);
});

Deno.test("an enabled plugin counts, with its tools and the plan of its host, from its own copy", async () => {
  using tree = makeWorktree();
  const path = await installed(tree, "one-plugin", {
    access: { read: ["."], net: ["a.example", "b.example"] },
  });
  const record = await enable(tree, path, { ...NO_ACCESS, read: ["."], net: ["b.example", "c.example"] });
  const { one, loaded } = await load(tree);
  assert.deepEqual([one.status, one.reason], ["loaded", "not granted: net:a.example"]);
  const [{ tools, plan, copy }] = loaded as [typeof loaded[number]];
  assert.deepEqual(tools.map(({ name, access, plugin }) => [name, access, plugin]), [[
    "one",
    ["read", "net"],
    "one-plugin",
  ]]);
  assert.equal(copy, copyFolder(places(tree).stateDir, record));
  assert.equal(plan!.root, copy);
  assert.deepEqual(plan!.permissions.net, ["b.example"]);
  assert.ok(Deno.statSync(`${copy}/mod.js`).isFile);
  if (Deno.build.os !== "windows") {
    assert.equal(Deno.statSync(recordsFile(places(tree).configDir)).mode! & 0o777, 0o600);
    assert.equal(Deno.statSync(`${copy}/mod.js`).mode! & 0o777, 0o600);
  }
  const context = { signal: undefined, progress: () => {} } as never;
  assert.equal(
    typeof await tools[0]!.execute({}, context),
    "string",
    "what a plugin returns is text, never details",
  );
});

Deno.test("a plugin whose files changed since it was enabled does not count", async () => {
  using tree = makeWorktree();
  const path = await installed(tree);
  await enable(tree, path);
  assert.equal((await load(tree)).one.status, "loaded");
  for (
    const change of [
      () => Deno.writeTextFileSync(`${path}/mod.js`, "export default [1];"),
      () => Deno.writeTextFileSync(`${path}/more.js`, ""),
    ]
  ) {
    change();
    const { one, loaded } = await load(tree);
    assert.equal(one.status, "error");
    assert.match(one.reason, /changed since it was enabled/);
    assert.equal(loaded.length, 0);
    await enable(tree, path);
    assert.equal((await load(tree)).one.status, "loaded");
  }
  assert.equal([...Deno.readDirSync(`${places(tree).stateDir}/plugins`)].length, 1, "old copies are gone");
});

Deno.test("disabling takes record and copy away", async () => {
  using tree = makeWorktree();
  const record = await enable(tree, await installed(tree));
  assert.ok(disablePlugin({ name: "one-plugin", project: null }, places(tree)));
  assert.ok(!disablePlugin({ name: "one-plugin", project: null }, places(tree)));
  assert.throws(() => Deno.statSync(copyFolder(places(tree).stateDir, record)), Deno.errors.NotFound);
  assert.equal((await load(tree)).one.status, "disabled");
});

Deno.test("settings turn a plugin off", async () => {
  using tree = makeWorktree();
  await enable(tree, await installed(tree));
  const { one } = await load(tree, { settings: { "one-plugin": { enabled: false } } });
  assert.deepEqual([one.status, one.reason], ["disabled", "plugins.one-plugin.enabled is false"]);
  assert.equal(
    (await load(tree, { settings: { "one-plugin": { enabled: true, key: 1 } } })).one.status,
    "loaded",
  );
});

Deno.test("a plugin for other versions is incompatible, with the reason", async () => {
  using tree = makeWorktree();
  await enable(tree, await installed(tree, "one-plugin", { polyglav: "^2.0.0" }));
  const { one } = await load(tree);
  assert.deepEqual([one.status, one.reason], ["incompatible", "it needs polyglav ^2.0.0; this is 0.1.0"]);
  assert.equal((await load(tree, { version: "2.3.4" })).one.status, "loaded");
  await installed(tree, "one-plugin", { polyglav: "new" });
  assert.match((await load(tree)).one.reason, /"new", which is no range/);
});

Deno.test("a project's plugin counts only in a trusted project, and only for the project it was enabled in", async () => {
  using tree = makeWorktree();
  const source = pluginOf(tree, "local", "export default [];");
  const { path } = await installPlugin(source, `${tree.work}/.polyglav/plugins`);
  assert.equal((await load(tree)).one.status, "disabled");
  await enable(tree, path, NO_ACCESS, "/elsewhere");
  assert.match((await load(tree)).one.reason, /not enabled/);
  await enable(tree, path, NO_ACCESS, null);
  assert.match(
    (await load(tree)).one.reason,
    /not enabled/,
    "what is enabled for the user is not for a project",
  );
  await enable(tree, path, NO_ACCESS, tree.work);
  assert.equal((await load(tree)).one.status, "loaded");
  const { one } = await load(tree, { trusted: false });
  assert.deepEqual([one.status, one.reason, one.manifest], [
    "disabled",
    "the project is not trusted (polyglav trust)",
    null,
  ]);
});

Deno.test("the user's plugin wins over a project's of the same name", async () => {
  using tree = makeWorktree();
  await enable(tree, await installed(tree));
  const { path } = await installPlugin(
    pluginOf(tree, "one-plugin", "evil"),
    `${tree.work}/.polyglav/plugins`,
  );
  await enable(tree, path, NO_ACCESS, tree.work);
  const { infos, loaded } = await load(tree);
  assert.deepEqual(infos.map(({ origin, status }) => [origin, status]), [["user", "loaded"], [
    "project",
    "error",
  ]]);
  assert.match(infos[1]!.reason, /you have installed a plugin of that name/);
  assert.equal(loaded.length, 1);
});

Deno.test("names of the program cannot be taken", async () => {
  using tree = makeWorktree();
  const source = pluginOf(tree, "polyglav-core-fs", "");
  await assert.rejects(installPlugin(source, userFolder(tree)), /names that begin with polyglav-/);
  Deno.mkdirSync(userFolder(tree), { recursive: true });
  Deno.renameSync(source, `${userFolder(tree)}/polyglav-core-fs`);
  const { one } = await load(tree);
  assert.deepEqual([one.status, one.reason], [
    "error",
    "names that begin with polyglav- belong to the program",
  ]);
});

Deno.test("a broken plugin is an error with the reason, and harms no other", async () => {
  using tree = makeWorktree();
  const good = await installed(tree, "good");
  await enable(tree, good);
  const place = userFolder(tree);
  Deno.mkdirSync(`${place}/empty`);
  Deno.mkdirSync(`${place}/broken`);
  Deno.writeTextFileSync(`${place}/broken/manifest.json`, "{");
  Deno.renameSync(pluginOf(tree, "renamed", ""), `${place}/other-name`);
  Deno.symlinkSync(fixture("word-stats"), `${place}/link`);
  const { infos } = await load(tree);
  const status = Object.fromEntries(infos.map((info) => [info.name, info.status]));
  assert.equal(status.good, "loaded");
  assert.equal(status.empty, "error");
  assert.equal(status.broken, "error");
  assert.match(infos.find(({ name }) => name === "broken")!.reason, /no JSON/);
  assert.notEqual(status["other-name"], "loaded");
  assert.notEqual(status.link, "loaded");
});

Deno.test("links and special files are no part of a plugin", async () => {
  using tree = makeWorktree({ outside: { "secret.txt": "S" } });
  const folder = pluginOf(tree, "linked", "");
  Deno.symlinkSync(`${tree.outside}/secret.txt`, `${folder}/data.txt`);
  await assert.rejects(readPluginFolder(folder), /data\.txt is a link; a plugin is made of regular files/);
  Deno.removeSync(`${folder}/data.txt`);
  Deno.symlinkSync(tree.outside, `${folder}/sub`);
  await assert.rejects(readPluginFolder(folder), /sub is a link/);
  Deno.removeSync(`${folder}/sub`);
  Deno.mkdirSync(`${folder}/.git`);
  Deno.mkdirSync(`${folder}/node_modules`);
  assert.deepEqual([...(await readPluginFolder(folder)).files.keys()], ["manifest.json", "mod.js"]);
});

Deno.test("names and contents cannot be shifted without changing the hash", async () => {
  using tree = makeWorktree();
  const a = pluginOf(tree, "same", "ab"), before = (await readPluginFolder(a)).hash;
  assert.equal((await readPluginFolder(a)).hash, before);
  Deno.renameSync(`${a}/mod.js`, `${a}/mod.jsa`);
  Deno.writeTextFileSync(`${a}/mod.jsa`, "b");
  Deno.writeTextFileSync(`${a}/mod.js`, "");
  assert.notEqual((await readPluginFolder(a)).hash, before);
});

Deno.test("a broken list of enabled plugins enables nothing and is never replaced", async () => {
  using tree = makeWorktree();
  const path = await installed(tree);
  await enable(tree, path);
  const file = recordsFile(places(tree).configDir);
  for (
    const text of ["{", "[]", '{"version": 2, "plugins": []}', '{"version": 1, "plugins": [{"name": "x"}]}']
  ) {
    Deno.writeTextFileSync(file, text);
    const { one, loaded } = await load(tree);
    assert.equal(one.status, "error");
    assert.match(one.reason, /no list of enabled plugins/);
    assert.equal(loaded.length, 0);
    await assert.rejects(enable(tree, path), /no list of enabled plugins/);
    assert.equal(Deno.readTextFileSync(file), text);
  }
});

Deno.test("an update replaces the installed files and has to be enabled again", async () => {
  using tree = makeWorktree();
  await enable(tree, await installed(tree));
  const source = pluginOf(tree, "one-plugin", "export default [2];", { version: "1.1.0" });
  assert.ok((await installPlugin(source, userFolder(tree))).replaced);
  assert.match((await load(tree)).one.reason, /changed since it was enabled/);
  assert.equal(readRecords(places(tree).configDir)[0]!.version, "1.0.0");
});
