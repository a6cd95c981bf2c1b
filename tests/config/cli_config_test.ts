import { deepEqual, equal, match, ok } from "node:assert/strict";
import { runCli } from "../helpers/cli.ts";
import { makeWorktree } from "../helpers/worktree.ts";
import { cli } from "./_cli.ts";
import { write } from "./_support.ts";

Deno.test("get prints the value alone: texts bare, the rest as JSON", async () => {
  using tree = makeWorktree();
  write(tree, { global: { model: "m x", tools: { deny: ["a"] }, exec: { env: { A: "1" } } } });
  const get = async (key: string, ...more: string[]) =>
    (await cli(tree, ["config", "get", key, ...more])).out;
  equal(await get("model"), "m x\n");
  equal(await get("tools.deny"), '["a"]\n');
  equal(await get("max_rounds"), "100\n");
  equal(await get("temperature"), "null\n");
  equal(await get("tools"), '{"allow":[],"deny":["a"]}\n');
  equal(await get("exec.env.A"), "1\n");
  equal(await get("grant_permission"), "{}\n");
  equal(await get("model", "--show-origin"), "global\tm x\n");
  equal(await get("tools", "--show-origin"), 'global\t{"allow":[],"deny":["a"]}\n');
  equal(await get("search.provider", "--show-origin"), "default\tduckduckgo\n");
});

Deno.test("get of an unknown key names the nearest (exit 2), of one that is not set says so (exit 1)", async () => {
  using tree = makeWorktree();
  deepEqual(await cli(tree, ["config", "get", "modle"]), {
    code: 2,
    out: "",
    err: "modle is not a key of the configuration; did you mean model?\n",
  });
  deepEqual(await cli(tree, ["config", "get", "exec.env.A"]), {
    code: 1,
    out: "",
    err: "exec.env.A is not set\n",
  });
  deepEqual(await cli(tree, ["config", "get", "modes.own"]), {
    code: 1,
    out: "",
    err: "modes.own is not set\n",
  });
  deepEqual(await cli(tree, ["config", "get", "model", "--global"]), {
    code: 1,
    out: "",
    err: "model is not set in the global file\n",
  });
});

Deno.test("list shows every key, with origins and as JSON", async () => {
  using tree = makeWorktree();
  write(tree, { global: { model: "m" }, project: { max_rounds: 3 } });
  const text = (await cli(tree, ["config", "list", "--show-origin"])).out.trim().split("\n");
  ok(text.includes('global   model = "m"'));
  ok(text.includes("project  max_rounds = 3"));
  ok(text.includes('default  tool_permission.bash = "ask"'));
  ok((await cli(tree, ["config", "list"])).out.includes('\nmodel = "m"\n'));
  const json = JSON.parse((await cli(tree, ["config", "list", "--output", "json"])).out);
  deepEqual([json.model, json.max_rounds, json["modes.plan.tool_permission.edit"]], ["m", 3, "deny"]);
  const origins = JSON.parse((await cli(tree, ["config", "list", "--output", "json", "--show-origin"])).out);
  deepEqual(origins.max_rounds, { value: 3, origin: "project" });
  equal((await cli(tree, ["config", "list", "--global"])).out, 'model = "m"\n');
});

Deno.test("set writes the project's file by default and the user's with --global", async () => {
  using tree = makeWorktree();
  const first = await cli(tree, ["config", "set", "tool_permission.bash", "deny"]);
  deepEqual([first.code, first.out], [0, ""]);
  match(first.err, /tool_permission\.bash is set in .*work\/\.polyglav\/config\.json/);
  equal(tree.read("work/.polyglav/config.json"), '{\n  "tool_permission": {\n    "bash": "deny"\n  }\n}\n');
  await cli(tree, ["config", "set", "--global", "model", "m"]);
  equal(tree.read("home/.config/polyglav/config.json"), '{\n  "model": "m"\n}\n');
  equal((await cli(tree, ["config", "get", "model"])).out, "m\n");
  if (Deno.build.os !== "windows") {
    equal(Deno.statSync(`${tree.work}/.polyglav/config.json`).mode! & 0o777 & ~0o022, 0o644);
    equal(Deno.statSync(`${tree.home}/.config/polyglav/config.json`).mode! & 0o777, 0o600);
  }
});

Deno.test("set reads the value as the key wants it", async () => {
  using tree = makeWorktree();
  const set = async (key: string, value: string) => {
    const { code, err } = await cli(tree, ["config", "set", "--global", key, "--", value]);
    return code === 0 ? (await cli(tree, ["config", "get", key])).out.trim() : err.trim();
  };
  equal(await set("model", "7"), "7");
  equal(JSON.parse(tree.read("home/.config/polyglav/config.json")!).model, "7");
  equal(await set("max_rounds", "7"), "7");
  equal(await set("temperature", "0.5"), "0.5");
  equal(await set("temperature", "null"), "null");
  equal(await set("glyph_lines", "false"), "false");
  equal(await set("tools.deny", '["a", "b"]'), '["a","b"]');
  equal(await set("plugins.p", '{"a": 1}'), '{"a":1}');
  equal(await set("plugins.q", "plain"), "plain");
  equal(await set("system_prompt", ""), "");
  equal(await set("path_rules", "[]"), "[]");
  match(await set("max_rounds", "many"), /^max_rounds: many is not a whole number from 1$/);
  match(await set("max_rounds", "-1"), /^max_rounds is -1; expected a whole number from 1$/);
  match(await set("glyph_lines", "yes"), /^glyph_lines: yes is not true or false$/);
  match(await set("tools.deny", "glob"), /^tools\.deny: glob is not a list of texts/);
  match(await set("tool_permission.bash", "alow"), /^tool_permission\.bash is "alow"; expected one of/);
  match(await set("tools", "{}"), /^tools is a group of keys/);
  match(await set("modle", "x"), /did you mean model\?$/);
  match(await set("exec.env.A=B", "x"), /is no variable/);
  match(await set("__proto__.x", "x"), /is not a key/);
  match(await set("mcp.servers", '[{"name": "x"}]'), /MCP is not available yet/);
  match(await set("mode", "plna"), /^there is no mode "plna"; did you mean plan\? there are build, plan$/);
  equal(tree.read("work/.polyglav/config.json"), null);
});

Deno.test("a mode of one's own can be the mode to start in once it is there", async () => {
  using tree = makeWorktree();
  equal((await cli(tree, ["config", "set", "--global", "mode", "own"])).code, 2);
  await cli(tree, ["config", "set", "--global", "modes.own.system_prompt", "mine"]);
  equal((await cli(tree, ["config", "set", "--global", "mode", "own"])).code, 0);
});

Deno.test("set and unset can repair a file whose keys are wrong, and say what is still wrong", async () => {
  using tree = makeWorktree();
  write(tree, { project: { max_rounds: "x", glyph_lines: 3 } });
  equal((await cli(tree, ["config", "list"])).code, 2);
  const { code, err } = await cli(tree, ["config", "set", "max_rounds", "3"]);
  equal(code, 0);
  match(err, /Warning: .*glyph_lines is 3; expected true or false/);
  equal((await cli(tree, ["config", "unset", "glyph_lines"])).code, 0);
  equal((await cli(tree, ["config", "get", "max_rounds"])).out, "3\n");
});

Deno.test("unset removes unknown keys too, and is content where there is nothing to remove", async () => {
  using tree = makeWorktree();
  write(tree, { project: { modle: "x", tools: { deny: ["a"] } } });
  match((await cli(tree, ["config", "unset", "modle"])).err, /modle is removed from/);
  match((await cli(tree, ["config", "unset", "modle"])).err, /modle is not a key .* did you mean model\?/);
  match((await cli(tree, ["config", "unset", "model"])).err, /model was not set in/);
  equal((await cli(tree, ["config", "unset", "tools"])).code, 0);
  equal(tree.read("work/.polyglav/config.json"), "{}\n");
});

Deno.test("a key that needs trust is set, with a note; so is one that the project overrides", async () => {
  using tree = makeWorktree();
  match(
    (await cli(tree, ["config", "set", "provider", "ollama"])).err,
    /Note: provider counts in full once you run polyglav trust/,
  );
  await cli(tree, ["trust"]);
  match(
    (await cli(tree, ["config", "set", "max_rounds", "3"])).err,
    /Note: the project's file changed.*polyglav trust/,
  );
  match(
    (await cli(tree, ["config", "set", "--global", "max_rounds", "9"])).err,
    /Note: in this project .* sets max_rounds too/,
  );
  equal(
    (await cli(tree, ["config", "set", "glyph_lines", "false"], { env: { POLYGLAV_TRUST: "1" } })).err
      .includes("Note"),
    false,
  );
});

Deno.test("set refuses a project's file that a link leads elsewhere", async () => {
  using tree = makeWorktree({ outside: { "config.json": "{}" } });
  Deno.mkdirSync(`${tree.work}/.polyglav`);
  Deno.symlinkSync("../../outside/config.json", `${tree.work}/.polyglav/config.json`);
  const { code, err } = await cli(tree, ["config", "set", "glyph_lines", "false"]);
  equal(code, 2);
  match(err, /through a link/);
  equal(tree.read("outside/config.json"), "{}");
});

Deno.test("a directory that is not there, or is none, is a usage error", async () => {
  using tree = makeWorktree({ files: { "a.txt": "" } });
  deepEqual(await cli(tree, ["config", "list", "--path", "nowhere"]), {
    code: 2,
    out: "",
    err: "--path nowhere does not exist; give a directory\n",
  });
  match((await cli(tree, ["config", "list", "--path", "a.txt"])).err, /--path a\.txt is no directory/);
  match((await cli(tree, ["config", "list", "--path="])).err, /--path is empty/);
});

Deno.test("--path is relative to the working directory, and links to the worktree are followed", async () => {
  using tree = makeWorktree({ files: { ".polyglav/config.json": '{"max_rounds": 3}' } });
  Deno.symlinkSync("work", `${tree.root}/link`);
  for (const path of ["work", "./link", `${tree.root}/work/`, "outside/../work"]) {
    equal(
      (await cli(tree, ["config", "get", "max_rounds", "--path", path], { cwd: tree.root })).out,
      "3\n",
      path,
    );
  }
});

Deno.test("on a terminal, texts of a project send no escapes", async () => {
  using tree = makeWorktree();
  write(tree, {
    project: { model: "\u001b[2J", provider: "\u009b" },
    global: { base_url: "\u001b]0;x\u0007" },
  });
  for (
    const words of [["config", "list", "--trust"], ["config", "get", "base_url"], [
      "config",
      "get",
      "model",
      "--trust",
    ]]
  ) {
    const { out } = await cli(tree, words, { terminal: true });
    // deno-lint-ignore no-control-regex
    ok(!/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/.test(out), words.join(" "));
  }
  equal(
    (await cli(tree, ["config", "get", "base_url"])).out,
    "\u001b]0;x\u0007\n",
    "a program gets the value itself",
  );
});

Deno.test("warnings come once on standard error, and POLYGLAV_TRUST counts only as 1", async () => {
  using tree = makeWorktree();
  write(tree, { project: { provider: "ollama" } });
  const get = (value: string) => cli(tree, ["config", "get", "provider"], { env: { POLYGLAV_TRUST: value } });
  deepEqual([(await get("1")).out, (await get("1")).err], ["ollama\n", ""]);
  for (const value of ["true", "yes", " 1", "01", "on"]) {
    const { out, err } = await get(value);
    equal(out, "auto\n", value);
    match(err, /POLYGLAV_TRUST counts only when it is 1/);
    equal(err.split("is not trusted").length, 2);
  }
  equal((await get("0")).err.includes("counts only"), false);
  equal((await cli(tree, ["config", "get", "provider", "--trust"])).out, "ollama\n");
});

Deno.test("schema prints a JSON Schema", async () => {
  using tree = makeWorktree();
  const { out } = await cli(tree, ["config", "schema"]);
  equal(JSON.parse(out).properties.model.type, "string");
});

Deno.test("the program itself: set, get, a broken file", async () => {
  using tree = makeWorktree();
  const env = { POLYGLAV_TRUST: null };
  equal((await runCli(tree, ["config", "set", "max_rounds", "7"], { env })).code, 0);
  deepEqual(await runCli(tree, ["config", "get", "max_rounds"], { env }), {
    code: 0,
    stdout: "7\n",
    stderr: "",
  });
  tree.write("work/.polyglav/config.json", '{"max_rounds": 7,}');
  const { code, stdout, stderr } = await runCli(tree, ["config", "get", "max_rounds"], { env });
  deepEqual([code, stdout], [2, ""]);
  match(
    stderr,
    /^polyglav: .*\.polyglav\/config\.json:1:17: a comma before } is not allowed in JSON; remove it\n$/,
  );
});
