/**
 * The parts of the prompt that need no terminal.
 */
import assert from "node:assert/strict";
import { mentionsOf, withAttachments } from "../../src/cli/repl/mentions.ts";
import { LiveProvider } from "../../src/cli/repl/provider.ts";
import { saveKey } from "../../src/cli/repl/keys.ts";
import { withSessionRules } from "../../src/cli/repl/session_rules.ts";
import { splitWords } from "../../src/cli/repl/words.ts";
import { isSlash, SLASH_COMMANDS, slashCommand } from "../../src/cli/slash/mod.ts";
import { inverted } from "../../src/cli/slash/undo.ts";
import { ConfigError, ProviderError, UsageError } from "../../src/errors.ts";
import type { Provider } from "../../src/provider/provider.ts";
import { readKeys } from "../../src/provider/detect.ts";
import { unifiedDiff } from "../../src/text/diff.ts";
import { loadConfig } from "../../src/config/load.ts";
import { makeWorktree } from "../helpers/worktree.ts";

Deno.test("words: quotes keep blanks, a backslash takes the next character, nothing is expanded", () => {
  assert.deepEqual(splitWords(`set a "b c" 'd "e' f\\ g "" $HOME *`, false), [
    ...["set", "a", "b c", 'd "e', "f g", "", "$HOME", "*"],
  ]);
  assert.deepEqual(splitWords(`C:\\dir\\x "C:\\a b"`, true), ["C:\\dir\\x", "C:\\a b"]);
  assert.deepEqual(splitWords('"a\\"b\\\\" "a\\n"', false), ['a"b\\', "a\\n"]);
  assert.deepEqual(splitWords("  \n ", false), []);
  assert.throws(() => splitWords(`a "b`, false), UsageError);
});

Deno.test("mentions: at the beginning of a word, with quotes for blanks; an address is none", () => {
  const paths = (text: string) =>
    mentionsOf(text).map(({ path, trimmed }) => path === trimmed ? path : [path, trimmed]);
  assert.deepEqual(paths("@a.ts and @src/b.ts, then (@c.ts)!"), [
    "a.ts",
    ["src/b.ts,", "src/b.ts"],
    ["c.ts)!", "c.ts"],
  ]);
  assert.deepEqual(paths('see @"my file.txt". @../x @~/y @/etc/hosts'), [
    "my file.txt",
    "../x",
    "~/y",
    "/etc/hosts",
  ]);
  assert.deepEqual(paths("mail me@example.com @ @. foo@bar"), []);
  assert.deepEqual(paths("@a @a"), ["a"]);
  assert.equal(withAttachments("hi", []), "hi");
  assert.equal(withAttachments("hi @a", [{ path: "a", content: "x\n" }]), "hi @a\n\n[attached: a]\nx");
});

Deno.test("a line is a command when it begins with /word, not when it begins with a path", () => {
  for (const line of ["/help", "/help x", "/?", "/undo\nmore"]) assert.ok(isSlash(line), line);
  for (const line of ["/usr/bin/ls is what?", "/", "//", " /help", "/1", "text"]) {
    assert.ok(!isSlash(line), line);
  }
});

Deno.test("the table: every command of the specification, names and aliases once, each with a summary", () => {
  const wanted =
    "tool mode model models provider connect config compact context session sessions history print export " +
    "undo diff todo roles teams skills focus asks unattended plugins policy trust doctor version exit help";
  for (const name of wanted.split(" ")) assert.ok(slashCommand(name), name);
  const names = SLASH_COMMANDS.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
  assert.equal(new Set(names).size, names.length);
  for (const { name, summary } of SLASH_COMMANDS) {
    assert.ok(summary.length > 5 && !summary.includes("\n"), name);
  }
});

Deno.test("a diff is turned round: its own inverse, and the lines of a change in order", () => {
  const before = "a\nb\nc\nd\n", after = "a\nB\nC\nd\ne\n";
  assert.deepEqual(
    inverted(unifiedDiff(after, before)),
    unifiedDiff(before, after).replace(/\n$/, "").split("\n"),
  );
  assert.deepEqual(inverted(""), []);
});

Deno.test("a key is saved beside the others, for the user alone, and a broken file is left as it is", () => {
  using tree = makeWorktree();
  const file = `${tree.home}/.config/polyglav/providers.json`;
  saveKey(file, "groq", "k1");
  saveKey(file, "openai", "k2");
  tree.write(
    "home/.config/polyglav/providers.json",
    tree.read("home/.config/polyglav/providers.json")!.replace('"k1"', '"k1", "note": 1'),
  );
  saveKey(file, "groq", "k3");
  assert.deepEqual(JSON.parse(Deno.readTextFileSync(file)), {
    groq: { api_key: "k3", note: 1 },
    openai: { api_key: "k2" },
  });
  assert.deepEqual({ ...readKeys(`${tree.home}/.config/polyglav`) }, { groq: "k3", openai: "k2" });
  if (Deno.build.os !== "windows") assert.equal(Deno.statSync(file).mode! & 0o777, 0o600);
  Deno.writeTextFileSync(file, "{ broken");
  assert.throws(
    () => saveKey(file, "groq", "k4"),
    (error: Error) => error instanceof ConfigError && !error.message.includes("k4"),
  );
  assert.equal(Deno.readTextFileSync(file), "{ broken");
  assert.deepEqual([...Deno.readDirSync(`${tree.home}/.config/polyglav`)].map(({ name }) => name), [
    "providers.json",
  ]);
});

Deno.test("rules of the session stay when the configuration is read again; what was taken out of it goes", () => {
  using tree = makeWorktree();
  const paths = {
    home: tree.home,
    config: `${tree.home}/.config/polyglav`,
    state: `${tree.home}/.local/state/polyglav`,
  };
  const load = (auto: string[], tools: string[]) => {
    tree.write(
      "home/.config/polyglav/config.json",
      JSON.stringify({ tool_permission: { bash_auto: auto }, consent: { tools } }),
    );
    return loadConfig({ worktree: tree.work, paths, trust: false }).settings;
  };
  const before = load(["git status"], ["run_command"]);
  const now = {
    ...before,
    tool_permission: { ...before.tool_permission, bash_auto: ["git status", "wc"] },
    consent: { ...before.consent, calls: [{ tool: "file_read", arguments: { path: "x" } }] },
  };
  const after = withSessionRules(load([], []), now, before);
  assert.deepEqual(after.tool_permission.bash_auto, ["wc"]);
  assert.deepEqual(after.consent, { calls: [{ tool: "file_read", arguments: { path: "x" } }], tools: [] });
});

Deno.test("the provider is changed only for one that can be opened, and a first failure is tried again", async () => {
  const opened: string[] = [], closed: string[] = [];
  let fails = true;
  const provider = new LiveProvider(
    { provider: "auto", base_url: "", model: "a" },
    ({ provider: name, model }) => {
      if (fails) return Promise.reject(new ProviderError("no model to talk to"));
      opened.push(`${name} ${model}`);
      const made: Provider = {
        name,
        model,
        async *chat() {
          yield { type: "token", text: model };
        },
        close: () => Promise.resolve(void closed.push(model)),
      };
      return Promise.resolve(made);
    },
  );
  await assert.rejects(provider.ready(), ProviderError);
  fails = false;
  await Promise.all([provider.ready(), provider.ready()]);
  assert.deepEqual(opened, ["auto a"]);
  await provider.use({ model: "b" });
  fails = true;
  await assert.rejects(provider.use({ provider: "groq" }), ProviderError);
  assert.deepEqual([provider.name, provider.model, provider.settings.provider], ["auto", "b", "auto"]);
  const events = [];
  for await (const event of provider.chat([], [], { model: "b" })) events.push(event);
  assert.deepEqual(events, [{ type: "token", text: "b" }]);
  assert.deepEqual(closed, ["a"]);
  await provider.close();
  assert.deepEqual(closed, ["a", "b"]);
});
