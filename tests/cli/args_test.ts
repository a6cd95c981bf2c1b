import assert from "node:assert/strict";
import { UsageError } from "../../src/errors.ts";
import { parseLine } from "../../src/cli/_args.ts";
import type { Command } from "../../src/cli/_command.ts";

const sub: Command = {
  name: "show",
  summary: "s",
  usage: "NAME",
  positionals: [1, 1],
  options: { raw: { type: "boolean", help: "" } },
  examples: [],
  run: () => 0,
};
const command: Command = {
  name: "demo",
  summary: "s",
  usage: "[FILE]",
  positionals: [0, 1],
  options: {
    prompt: { type: "string", short: "p", value: "TEXT", help: "" },
    output: { type: "string", choices: ["json", "text"], help: "" },
    verbose: { type: "boolean", short: "v", help: "" },
    tag: { type: "strings", help: "" },
  },
  examples: [],
  subcommands: [sub],
  run: () => 0,
};

const parse = (...words: string[]) => parseLine(command, words);
function refused(wanted: RegExp, ...words: string[]) {
  assert.throws(
    () => parse(...words),
    (e: unknown) => e instanceof UsageError && e.exitCode === 2 && wanted.test(e.message),
  );
}

Deno.test("a value may follow its option, be joined by =, or be glued to the short form", () => {
  for (const words of [["--prompt", "hi"], ["--prompt=hi"], ["-p", "hi"], ["-phi"], ["-p=hi"]]) {
    assert.equal(parse(...words).values.prompt, "hi", words.join(" "));
  }
});

Deno.test("a lone dash is a value, an empty value is a value, and a value may begin with a dash after =", () => {
  assert.equal(parse("--prompt", "-").values.prompt, "-");
  assert.equal(parse("--prompt", "").values.prompt, "");
  assert.equal(parse("--prompt=--verbose").values.prompt, "--verbose");
  assert.equal(parse("--prompt", "--what is this?").values.prompt, "--what is this?");
});

Deno.test("an option in place of a value is an error and not swallowed", () => {
  refused(/--prompt needs a value, got the option "--verbose"/, "--prompt", "--verbose");
  refused(/--prompt needs a value: --prompt TEXT/, "--prompt");
});

Deno.test("a repeated option collects where it may, else the last one counts", () => {
  assert.deepEqual(parse("--tag", "a", "--tag", "b").values.tag, ["a", "b"]);
  assert.equal(parse("--prompt", "a", "--prompt", "b").values.prompt, "b");
});

Deno.test("everything after -- is positional", () => {
  assert.deepEqual(parse("--", "-x").positionals, ["-x"]);
});

Deno.test("unknown options suggest the nearest, and names of the prototype are unknown", () => {
  refused(/unknown option "--promt", did you mean "--prompt"\?/, "--promt", "x");
  refused(/unknown option "--constructor"/, "--constructor");
  refused(/unknown option "-z"/, "-z");
  refused(/--verbose takes no value, got "1"/, "--verbose=1");
  refused(/--output must be one of json, text, got "xml"/, "--output", "xml");
});

Deno.test("too many words are an error that names the first one too many", () => {
  refused(/does not take "b"/, "a", "b");
});

Deno.test("a subcommand has its own options and counts, and shares the global ones", () => {
  const line = parse("show", "x", "--raw", "--path", "d");
  assert.deepEqual([line.names, line.values, line.positionals], [["demo", "show"], { raw: true, path: "d" }, [
    "x",
  ]]);
  refused(/demo show: needs NAME/, "show");
  refused(/unknown option "--raw"/, "--raw");
});

Deno.test("a command with subcommands alone names them, and suggests the nearest", () => {
  const group: Command = { name: "group", summary: "s", examples: [], subcommands: [sub] };
  assert.throws(() => parseLine(group, []), /needs a subcommand: show/);
  assert.throws(() => parseLine(group, ["shwo"]), /unknown subcommand "shwo", did you mean "show"\?/);
});

Deno.test("--help is heard wherever it stands, also where arguments are missing", () => {
  assert.equal(parse("show", "--help").values.help, true);
  assert.equal(parse("-h").values.help, true);
});
