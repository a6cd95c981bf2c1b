import { deepEqual, equal, match, throws } from "node:assert/strict";
import { readConfigFile, writeConfigFile } from "../../src/config/_files.ts";
import { userPaths } from "../../src/config/paths.ts";
import { makeWorktree } from "../helpers/worktree.ts";
import { failure, load, loadIn, pathsOf } from "./_support.ts";
import { loadConfig } from "../../src/config/load.ts";

const unix = Deno.build.os !== "windows";

/** Makes a FIFO by the system's own command. */
async function fifo(path: string): Promise<void> {
  const { success } = await new Deno.Command("mkfifo", { args: [path] }).output();
  if (!success) throw new Error("mkfifo failed");
}

Deno.test("the project's file must not be reached through a link out of .polyglav", () => {
  using tree = makeWorktree({
    outside: { "config.json": '{"max_rounds": 3}' },
    files: { "settings.json": '{"max_rounds": 3}' },
  });
  Deno.mkdirSync(`${tree.work}/.polyglav`);
  for (const target of ["../../outside/config.json", "../settings.json"]) {
    Deno.symlinkSync(target, `${tree.work}/.polyglav/config.json`);
    match(
      failure(() => loadIn(tree, {})),
      /is reached through a link that leads to .*put the file itself below/,
    );
    Deno.removeSync(`${tree.work}/.polyglav/config.json`);
  }
  Deno.removeSync(`${tree.work}/.polyglav`);
  Deno.symlinkSync("../outside", `${tree.work}/.polyglav`);
  match(failure(() => loadIn(tree, {})), /is reached through a link/);
});

Deno.test("a link within .polyglav is fine, and so is one of the user's own file", () => {
  using tree = makeWorktree();
  tree.write("work/.polyglav/real.json", '{"max_rounds": 3}');
  tree.write("outside/mine.json", '{"model": "m"}');
  Deno.symlinkSync("real.json", `${tree.work}/.polyglav/config.json`);
  Deno.mkdirSync(`${tree.home}/.config/polyglav`, { recursive: true });
  Deno.symlinkSync(`${tree.outside}/mine.json`, `${tree.home}/.config/polyglav/config.json`);
  const { settings } = loadIn(tree, {});
  deepEqual([settings.max_rounds, settings.model], [3, "m"]);
});

Deno.test("a link to nothing, and a ring of links, are errors and no missing file", () => {
  using tree = makeWorktree();
  Deno.mkdirSync(`${tree.work}/.polyglav`);
  for (const target of ["nowhere.json", "config.json"]) {
    Deno.symlinkSync(target, `${tree.work}/.polyglav/config.json`);
    match(failure(() => loadIn(tree, {})), /is a link that cannot be followed/);
    Deno.removeSync(`${tree.work}/.polyglav/config.json`);
  }
});

Deno.test("a directory in the file's place is an error", () => {
  using tree = makeWorktree();
  Deno.mkdirSync(`${tree.work}/.polyglav/config.json`, { recursive: true });
  match(failure(() => loadIn(tree, {})), /config\.json is a directory; it has to be a regular file/);
});

Deno.test({
  name: "a FIFO in the file's place, or behind a link, is an error and does not hang",
  ignore: !unix,
  async fn() {
    using tree = makeWorktree();
    Deno.mkdirSync(`${tree.work}/.polyglav`);
    await fifo(`${tree.work}/.polyglav/config.json`);
    match(failure(() => loadIn(tree, {})), /config\.json is a FIFO/);
    Deno.removeSync(`${tree.work}/.polyglav/config.json`);
    Deno.symlinkSync("/dev/zero", `${tree.work}/.polyglav/config.json`);
    match(failure(() => loadIn(tree, {})), /is reached through a link/);
    Deno.mkdirSync(`${tree.home}/.config/polyglav`, { recursive: true });
    Deno.symlinkSync("/dev/zero", `${tree.home}/.config/polyglav/config.json`);
    match(failure(() => loadIn(tree, {})), /config\.json is a device/);
  },
});

Deno.test("a file over 1 MiB is an error, one of exactly that size is read", () => {
  const pad = (size: number) => `{"model": "${"x".repeat(size - 13)}"}`;
  equal(pad(1_048_576).length, 1_048_576);
  equal(load({ global: pad(1_048_576) }).settings.model.length, 1_048_563);
  match(
    failure(() => load({ global: pad(1_048_577) })),
    /has 1048577 bytes; a configuration file has at most 1048576/,
  );
});

Deno.test("bytes that are no UTF-8 are an error", () => {
  using tree = makeWorktree();
  tree.write("work/.polyglav/config.json", new Uint8Array([0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00]));
  match(failure(() => loadIn(tree, {})), /config\.json is not UTF-8 text/);
});

Deno.test("a file where a directory is expected counts as no configuration", () => {
  using tree = makeWorktree({ files: { ".polyglav": "a file" } });
  equal(loadIn(tree, {}).projectFile, null);
});

Deno.test("writing replaces the file at once, keeps its mode and leaves nothing behind", () => {
  using tree = makeWorktree({ files: { "a.json": "old" } });
  const path = `${tree.work}/a.json`;
  if (unix) Deno.chmodSync(path, 0o640);
  writeConfigFile(path, "new", { mode: 0o600 });
  equal(tree.read("work/a.json"), "new");
  if (unix) equal(Deno.statSync(path).mode! & 0o777, 0o640);
  writeConfigFile(path, "newer", { mode: 0o600, exact: true });
  if (unix) equal(Deno.statSync(path).mode! & 0o777, 0o600);
  deepEqual([...Deno.readDirSync(tree.work)].map(({ name }) => name), ["a.json"]);
});

Deno.test("writing keeps a link and replaces its target, unless that lies elsewhere", () => {
  using tree = makeWorktree({ outside: { "a.json": "old" }, links: { "d/a.json": "../../outside/a.json" } });
  const path = `${tree.work}/d/a.json`;
  throws(() => writeConfigFile(path, "new", { mode: 0o600, within: `${tree.work}/d` }), /through a link/);
  equal(tree.read("outside/a.json"), "old");
  writeConfigFile(path, "new", { mode: 0o600 });
  equal(tree.read("outside/a.json"), "new");
  equal(Deno.lstatSync(path).isSymlink, true);
});

Deno.test("writing below a directory that is a link out is refused before anything is made", () => {
  using tree = makeWorktree();
  Deno.symlinkSync("../outside", `${tree.work}/.polyglav`);
  throws(
    () =>
      writeConfigFile(`${tree.work}/.polyglav/config.json`, "{}", {
        mode: 0o600,
        within: `${tree.work}/.polyglav`,
      }),
    /through a link/,
  );
  deepEqual([...Deno.readDirSync(tree.outside)], []);
});

Deno.test("a missing file reads as null", () => {
  using tree = makeWorktree();
  equal(readConfigFile(`${tree.work}/none.json`), null);
  equal(readConfigFile(`${tree.work}/none/none.json`), null);
});

Deno.test({
  name: "the user's directories follow XDG where it is absolute, and the platform",
  ignore: !unix,
  fn() {
    const from = (env: Record<string, string>, os?: typeof Deno.build.os) =>
      userPaths((name) => env[name], os);
    deepEqual(from({ HOME: "/h/" }), {
      home: "/h",
      config: "/h/.config/polyglav",
      state: "/h/.local/state/polyglav",
    });
    deepEqual(from({ HOME: "/h", XDG_CONFIG_HOME: "/c", XDG_STATE_HOME: "/s" }), {
      home: "/h",
      config: "/c/polyglav",
      state: "/s/polyglav",
    });
    equal(from({ HOME: "/h", XDG_CONFIG_HOME: "c", XDG_STATE_HOME: "" }).config, "/h/.config/polyglav");
    deepEqual(from({ USERPROFILE: "/u", APPDATA: "/a", LOCALAPPDATA: "/l" }, "windows"), {
      home: "/u",
      config: "/a/polyglav",
      state: "/l/polyglav",
    });
    match(failure(() => from({})), /HOME is not set/);
    match(failure(() => from({ HOME: "relative" })), /HOME is "relative"; set it to your home directory/);
  },
});

Deno.test("XDG_CONFIG_HOME leads to another global file", () => {
  using tree = makeWorktree({ outside: { "polyglav/config.json": '{"model": "xdg"}' } });
  const paths = userPaths((name) =>
    ({ HOME: tree.home, USERPROFILE: tree.home, XDG_CONFIG_HOME: tree.outside })[name]
  );
  equal(loadConfig({ worktree: tree.work, paths, trust: false }).settings.model, "xdg");
  equal(loadConfig({ worktree: tree.work, paths: pathsOf(tree), trust: false }).settings.model, "");
});
