import assert from "node:assert/strict";
import { inRange, parseVersion } from "../../src/plugins/_semver.ts";
import { parseManifest } from "../../src/plugins/manifest.ts";

const least = { name: "a-plugin", version: "1.0.0", description: "d", polyglav: "*" };
const parse = (more: Record<string, unknown>) =>
  parseManifest(JSON.stringify({ ...least, ...more }), "m.json");

Deno.test("the least manifest asks for nothing and brings nothing", () => {
  assert.deepEqual(parse({}), {
    ...least,
    entry: null,
    access: { read: [], write: [], net: [], run: [], env: [] },
    provides: { tools: [], presets: [], roles: {}, teams: {}, skills: [], commands: [] },
    memory: 128,
  });
});

Deno.test("a whole manifest is read", () => {
  const { access, provides, entry } = parse({
    entry: "src/mod.ts",
    access: {
      read: [".", "~/notes"],
      write: ["out"],
      net: ["api.example.com", "[::1]:80"],
      run: ["jq"],
      env: ["API_KEY"],
    },
    provides: {
      tools: ["one"],
      presets: [{ name: "mine", base_url: "https://llm.example.com/v1", model: "m" }],
      roles: { poet: { system_prompt: "You rhyme." } },
      skills: ["skills/rhyme.md"],
      commands: [{ name: "rhyme", description: "d", prompt: "Rhyme: $ARGUMENTS" }],
    },
  });
  assert.equal(entry, "src/mod.ts");
  assert.deepEqual(access.net, ["api.example.com", "[::1]:80"]);
  assert.deepEqual(provides.presets, [{ name: "mine", baseUrl: "https://llm.example.com/v1", model: "m" }]);
  assert.deepEqual(provides.roles, { poet: { system_prompt: "You rhyme." } });
});

for (
  const [more, message] of [
    [{ name: "Bad Name" }, /name is "Bad Name"; expected lower case/],
    [{ name: "../up" }, /name is/],
    [{ version: "one" }, /version is "one"; expected three numbers/],
    [{ description: "" }, /description is ""/],
    [{ polyglav: undefined }, /polyglav is missing/],
    [{ extra: 1 }, /extra is unknown; expected .*name/],
    [{ entry: "../mod.ts" }, /entry is "\.\.\/mod\.ts"; expected a file of the plugin's folder/],
    [{ entry: "/etc/x.ts" }, /entry is/],
    [{ provides: { tools: ["one"] } }, /entry is missing/],
    [{ entry: "m.js", provides: { tools: ["Bad"] } }, /provides\.tools is "Bad"/],
    [{ provides: { skills: ["../x.md"] } }, /provides\.skills is/],
    [{ provides: { skills: ["x.txt"] } }, /provides\.skills is "x\.txt"/],
    [{ provides: { other: [] } }, /provides\.other is unknown/],
    [{ provides: { roles: { "Bad Role": {} } } }, /provides\.roles is "Bad Role"/],
    [{ provides: { roles: { __proto__x: {} } } }, /provides\.roles is/],
    [
      { provides: { presets: [{ name: "x", base_url: "file:///x" }] } },
      /provides\.presets\[0\]\.base_url is/,
    ],
    [
      { provides: { presets: [{ name: "x", base_url: "https://x", key_variable: "K" }] } },
      /key_variable is unknown/,
    ],
    [{ provides: { commands: [{ name: "x" }] } }, /provides\.commands\[0\]\.description is missing/],
    [{ access: [] }, /access must be an object/],
    [{ access: { read: "all" } }, /access\.read is "all"; expected a list of texts/],
    [{ access: { read: ["../x"] } }, /access\.read is "\.\.\/x"; expected paths without "\.\."/],
    [{ access: { read: ["a/../../x"] } }, /access\.read/],
    [{ access: { read: ["/"] } }, /access\.read is "\/"; expected a folder below that/],
    [{ access: { read: ["~"] } }, /access\.read is "~"/],
    [{ access: { read: ["a,b"] } }, /access\.read is "a,b"; expected values without commas/],
    [{ access: { write: ["*.txt"] } }, /access\.write is .*without wildcards/],
    [{ access: { net: ["*"] } }, /access\.net is "\*"/],
    [{ access: { net: ["*.example.com"] } }, /access\.net/],
    [{ access: { net: ["10.0.0.0/8"] } }, /access\.net/],
    [{ access: { net: ["https://example.com"] } }, /access\.net/],
    [{ access: { net: ["a.example,evil.example"] } }, /access\.net/],
    [{ access: { net: ["unix:/run/x"] } }, /access\.net/],
    [{ access: { run: ["deno"] } }, /access\.run is "deno"; expected another program than deno/],
    [{ access: { run: ["/usr/bin/deno"] } }, /access\.run/],
    [{ access: { run: ["./local"] } }, /access\.run/],
    [{ access: { env: ["DENO_DIR"] } }, /access\.env is "DENO_DIR"/],
    [{ access: { env: ["LD_PRELOAD"] } }, /access\.env/],
    [{ access: { env: ["A*"] } }, /access\.env/],
    [{ access: { sys: ["hostname"] } }, /access\.sys is unknown/],
    [{ memory: 5 }, /memory is 5; expected megabytes from 32 to 2048/],
    [{ memory: 1e9 }, /memory/],
  ] as const
) {
  Deno.test(`refused: ${JSON.stringify(more)}`, () => {
    assert.throws(
      () => parse(more),
      (error: Error) => message.test(error.message) && error.message.startsWith("m.json: "),
    );
  });
}

Deno.test("what is no JSON object is refused", () => {
  assert.throws(() => parseManifest("{", "m.json"), /^ConfigError: m\.json is no JSON/);
  assert.throws(() => parseManifest("[]", "m.json"), /m\.json: the file must be an object/);
  assert.throws(() => parseManifest("null", "m.json"), /must be an object/);
});

Deno.test("versions and ranges", () => {
  assert.deepEqual(parseVersion("1.2.3"), [1, 2, 3]);
  assert.deepEqual(parseVersion("v1.2.3-beta.1"), [1, 2, 3]);
  assert.equal(parseVersion("1.2"), null);
  const cases: [string, string, boolean | null][] = [
    ["1.2.3", "*", true],
    ["1.2.3", "1.2.3", true],
    ["1.2.4", "1.2.3", false],
    ["1.2.4", "=1.2", true],
    ["1.2.3", "1.x", true],
    ["2.0.0", "1.x", false],
    ["1.9.9", "1", true],
    ["1.2.3", "^1.2", true],
    ["1.9.0", "^1.2.3", true],
    ["2.0.0", "^1.2.3", false],
    ["1.2.2", "^1.2.3", false],
    ["0.1.5", "^0.1.2", true],
    ["0.2.0", "^0.1.2", false],
    ["0.0.3", "^0.0.3", true],
    ["0.0.4", "^0.0.3", false],
    ["0.9.0", "^0", true],
    ["1.2.9", "~1.2.3", true],
    ["1.3.0", "~1.2.3", false],
    ["1.9.0", "~1", true],
    ["0.1.0", ">=0.1.0 <1", true],
    ["1.0.0", ">=0.1.0 <1", false],
    ["0.1.0", ">= 0.1.0 < 1", true],
    ["1.2.5", ">1.2", false],
    ["1.3.0", ">1.2", true],
    ["1.2.5", "<=1.2", true],
    ["1.3.0", "<=1.2", false],
    ["3.1.0", "1.x || 3.x", true],
    ["2.1.0", "1.x || 3.x", false],
    ["1.0.0", "banana", null],
    ["1.0.0", "", null],
    ["1.0.0", "1.x ||", null],
    ["1.0.0", ">=1 && <2", null],
  ];
  for (const [version, range, expected] of cases) {
    assert.equal(inRange(version, range), expected, `${version} in ${range}`);
  }
});
