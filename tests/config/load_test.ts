import { deepEqual, equal, match, ok } from "node:assert/strict";
import { failure, load } from "./_support.ts";

Deno.test("without files the defaults hold", () => {
  const { settings, warnings, ignored, trusted, origin, projectFile } = load({});
  equal(settings.tool_permission.bash, "ask");
  equal(origin("tool_permission.bash"), "default");
  deepEqual([warnings, ignored, trusted, projectFile], [[], [], false, null]);
});

Deno.test("each layer wins over the one before, key by key", () => {
  const { settings, origin } = load({
    global: { model: "g", max_rounds: 10, search_results: 7, tool_permission: { bash: "deny", edit: "ask" } },
    project: { model: "p", max_rounds: 20, tool_permission: { edit: "deny" } },
    flags: { model: "f", provider: undefined },
    trust: true,
  });
  deepEqual([settings.model, settings.max_rounds, settings.search_results, settings.stream_retries], [
    "f",
    20,
    7,
    2,
  ]);
  deepEqual([settings.tool_permission.bash, settings.tool_permission.edit, settings.tool_permission.read], [
    "deny",
    "deny",
    "allow",
  ]);
  deepEqual(
    [
      "model",
      "max_rounds",
      "search_results",
      "stream_retries",
      "tool_permission.bash",
      "tool_permission",
      "provider",
    ]
      .map(origin),
    ["flag", "project", "global", "default", "global", "project", "default"],
  );
});

Deno.test("objects merge at any depth, lists and scalars replace", () => {
  const { settings } = load({
    global: {
      modes: { review: { system_prompt: "look", tool_permission: { edit: "deny", web: "ask" } } },
      tools: { deny: ["a"], allow: ["x"] },
      exec: { env: { A: "1", B: "2" } },
      plugins: { p: { deep: { one: 1, two: 2 }, list: [1] } },
    },
    project: {
      modes: { review: { tool_permission: { web: "deny" } } },
      tools: { deny: ["b"] },
      exec: { env: { B: "3" } },
      plugins: { p: { deep: { two: 3 }, list: [2] } },
    },
    trust: true,
  });
  const { review } = settings.modes;
  deepEqual([review!.system_prompt, { ...review!.tool_permission }], ["look", { edit: "deny", web: "deny" }]);
  deepEqual(settings.tools, { deny: ["b"], allow: ["x"] });
  deepEqual({ ...settings.exec.env }, { A: "1", B: "3" });
  equal(JSON.stringify(settings.plugins), '{"p":{"deep":{"one":1,"two":3},"list":[2]}}');
});

Deno.test("own modes leave build and plan in place, and a mode may be empty", () => {
  const { settings } = load({ global: { modes: { free: {} } } });
  deepEqual(Object.keys(settings.modes).sort(), ["build", "free", "plan"]);
  equal(settings.modes.plan!.tool_permission!.edit, "deny");
});

Deno.test("the user may loosen plan for themselves", () => {
  const { settings } = load({ global: { modes: { plan: { tool_permission: { edit: "ask" } } } } });
  deepEqual({ ...settings.modes.plan!.tool_permission }, {
    bash: "deny",
    edit: "ask",
    mcp: "deny",
    vcs: "deny",
  });
});

Deno.test("dotted and nested spellings mean the same, also mixed at any depth", () => {
  const spellings = [
    {
      tools: { deny: ["x"] },
      tool_permission: { bash: "deny" },
      exec: { confine: "off", env: { "A.B": "1" } },
    },
    { "tools.deny": ["x"], "tool_permission.bash": "deny", "exec.confine": "off", "exec.env.A.B": "1" },
    {
      "tools.deny": ["x"],
      "tool_permission": { bash: "deny" },
      exec: { confine: "off" },
      "exec.env": { "A.B": "1" },
    },
  ];
  const [first, ...rest] = spellings.map((global) => JSON.stringify(load({ global }).settings));
  for (const other of rest) equal(other, first);
  const { settings } = load({
    global: { "modes.review": { "tool_permission.bash": "deny", "tools.deny": ["y"] } },
  });
  equal(JSON.stringify(settings.modes.review), '{"tool_permission":{"bash":"deny"},"tools":{"deny":["y"]}}');
});

Deno.test("one key in two spellings is an error that names both", () => {
  const message = failure(() => load({ global: { "tools.deny": ["x"], tools: { deny: [] } } }));
  match(message, /tools\.deny is given twice, as "tools\.deny" and as "tools" in "deny"/);
  match(message, /config\.json:1:\d+:/);
});

Deno.test("one name twice in one object is an error: the runtime's parser would drop the first", () => {
  const text = '{"tool_permission": {"bash": "deny"},\n "tool_permission": {"edit": "deny"}}';
  match(failure(() => load({ global: text })), /config\.json:2:2: "tool_permission" stands here and at 1:2/);
});

Deno.test("a broken file is an error that names file, line and column", () => {
  for (
    const [text, expected] of [
      ['{"a": 1,\n  "b" 2}', /:2:7: expected a colon, found "2"/],
      ['{"model": "x"', /:1:14: the text ends where a comma or } is expected/],
      ['{"model": "x",}', /:1:14: a comma before } is not allowed/],
      ["{'model': 'x'}", /:1:2: expected a name in double quotes/],
      ['{\n// why\n"model": "x"}', /:2:1: comments are not allowed/],
      ['{"model": "x\ny"}', /:1:11: a string that does not end on its line/],
      ['{"model": "\\x"}', /:1:11: a string with a wrong escape/],
      ['{"max_rounds": 01}', /:1:17: expected a comma or }, found "1"/],
      ['{"max_rounds": 1e999}', /:1:16: the number 1e999 is too large/],
      ['{"model": nul}', /:1:11: expected a value, found "n"/],
      ['{"model": "x"} {}', /:1:16: expected the end of the text/],
      ["", /:1:1: the text ends where a value is expected/],
      [`{"plugins": {"x": ${"[".repeat(100_000)}`, /nested more than 64 deep/],
      ["[]", /config\.json holds \[\]; expected an object/],
      ["null", /config\.json holds null; expected an object/],
    ] as const
  ) {
    const message = failure(() => load({ global: text }));
    match(message, expected);
    ok(!message.includes("\n"), message);
  }
});

Deno.test("a file that is not UTF-8 is an error, and a byte order mark is none", () => {
  const utf16 = new Uint8Array([0xff, 0xfe, 0x7b, 0, 0x7d, 0]);
  match(failure(() => load({ global: new TextDecoder("latin1").decode(utf16) + "\ud800" })), /config\.json/);
  equal(load({ global: '\ufeff{"model": "m"}' }).settings.model, "m");
});

Deno.test("a wrong type is an error that names file, place, key, what stands there and what is expected", () => {
  for (
    const [config, expected] of [
      [{ max_rounds: "9" }, /max_rounds is "9"; expected a whole number from 1$/],
      [{ max_rounds: 0 }, /max_rounds is 0; expected a whole number from 1$/],
      [{ max_rounds: 1.5 }, /max_rounds is 1\.5; expected/],
      [{ search_results: 51 }, /search_results is 51; expected a whole number from 1 to 50$/],
      [{ temperature: "hot" }, /temperature is "hot"; expected a number from 0 to 2, or null$/],
      [{ glyph_lines: "yes" }, /glyph_lines is "yes"; expected true or false$/],
      [{ model: null }, /model is null; expected a text in double quotes$/],
      [{ model: "a\0b" }, /model has a NUL character/],
      [{ "tools.deny": "glob" }, /tools\.deny is "glob"; expected a list of texts/],
      [{ tools: { deny: ["a", 1] } }, /tools\.deny has the element 1; expected a list of texts/],
      [{ tools: { deny: [" "] } }, /tools\.deny has the element " "/],
      [{ tools: [] }, /tools is \[\]; expected an object with keys such as "allow"/],
      [{ modes: "plan" }, /modes is "plan"; expected an object/],
      [{ modes: { "a b": {} } }, /"a b" cannot be the name of a mode/],
      [{ reasoning: "max" }, /reasoning is "max"; expected one of "auto", "off"/],
      [{ web: { hosts: ["https://example.com/"] } }, /web\.hosts has the element "https:\/\/example\.com\/"/],
      [{ exec: { env: { A: 1 } } }, /exec\.env\.A is 1; expected a text/],
      [{ exec: { env: { "A=B": "1" } } }, /exec\.env\.A=B is no variable/],
      [{ path_rules: {} }, /path_rules is \{\}; expected a list of rules/],
      [{ path_rules: [{ path: "x", access: "read" }] }, /path_rules has no "action" in rule 1/],
      [{ path_rules: [{ path: "x", access: "exec", action: "deny" }] }, /has "access": "exec" in rule 1/],
      [
        { path_rules: [{ path: "x", access: "read", action: "deny", extra: 1 }] },
        /unknown name "extra" in rule 1/,
      ],
      [{ path_rules: [{ path: "", access: "read", action: "deny" }] }, /has "path": "" in rule 1/],
      // What a rule does not know it would silently not cover.
      [
        { path_rules: [{ path: "logs/f{1..9}.txt", access: "read", action: "deny" }] },
        /has a range in "logs\/f\{1\.\.9\}\.txt" in rule 1; spell it out/,
      ],
    ] as const
  ) {
    const message = failure(() => load({ global: config }));
    match(message, expected);
    match(message, /\.config\/polyglav\/config\.json:1:\d+: /);
  }
});

Deno.test("a permission that cannot be understood never means allow: it is an error, in every layer", () => {
  for (const value of ["alow", "ALLOW", " allow", "", true, 1, null, ["allow"], { allow: true }]) {
    for (
      const config of [
        { tool_permission: { bash: value } },
        { "tool_permission.bash": value },
        { tool_permission: { own_key: value } },
        { grant_permission: { bash: value } },
        { modes: { plan: { tool_permission: { edit: value } } } },
        { ask_policy: { permission: value } },
        { exec: { confine: value } },
        { path_rules: [{ path: "x", access: "read", action: value }] },
      ]
    ) {
      ok(failure(() => load({ global: config })).includes("expected"), JSON.stringify(config));
      ok(failure(() => load({ project: config })).includes("expected"), JSON.stringify(config));
      ok(failure(() => load({ project: config, trust: true })).includes("expected"), JSON.stringify(config));
    }
    ok(failure(() => load({ flags: { "tool_permission.bash": value } })).startsWith("command line:"));
  }
  match(
    failure(() => load({ global: { tool_permission: { bash_alow: ["ls"] } } })),
    /did you mean tool_permission\.bash_allow\?/,
  );
});

Deno.test("an unknown key is a warning with the nearest name, and nothing else", () => {
  const { warnings, settings } = load({
    global: {
      modle: "x",
      tool_permision: { bash: "deny" },
      "exec.confin": "off",
      "completely.else": 1,
      tools: { dney: [] },
    },
  });
  equal(settings.model, "");
  deepEqual(warnings.map((text) => text.replace(/^.*config\.json:1:\d+: /, "")), [
    "modle is not a key of the configuration; did you mean model?",
    "tool_permision is not a key of the configuration; did you mean tool_permission?",
    "exec.confin is not a key of the configuration; did you mean exec.confine?",
    "completely.else is not a key of the configuration; polyglav config list shows all",
    "tools.dney is not a key of the configuration; did you mean tools.deny?",
  ]);
});

Deno.test("a permission key of no bundled tool counts, with a warning", () => {
  const { warnings, settings } = load({ global: { tool_permission: { bahs: "deny", weather: "allow" } } });
  deepEqual([settings.tool_permission.bahs, settings.tool_permission.weather], ["deny", "allow"]);
  match(
    warnings[0]!,
    /tool_permission\.bahs is no permission key of the bundled tools; did you mean tool_permission\.bash\?/,
  );
  match(warnings[1]!, /tool_permission\.weather .*; it counts only for plugins/);
});

Deno.test("thousands of unknown keys are no thousands of warnings", () => {
  const many = Object.fromEntries(Array.from({ length: 5000 }, (_, n) => [`unknown_${n}`, n]));
  const { warnings } = load({ global: many });
  equal(warnings.length, 21);
  match(warnings.at(-1)!, /4980 more keys are unknown/);
});

Deno.test("names with a meaning in JavaScript are harmless and reported", () => {
  const text = `{"__proto__": {"model": "evil"}, "constructor": {"prototype": {"bash": "allow"}},
    "tool_permission": {"__proto__": {"bash": "allow"}, "constructor": "allow", "toString": "deny"},
    "modes": {"__proto__": {"tool_permission": {"bash": "allow"}}},
    "plugins": {"p": {"__proto__": {"polluted": true}}}}`;
  const { settings, warnings } = load({ global: text, trust: true });
  equal(settings.model, "");
  equal(settings.tool_permission.bash, "ask");
  equal(settings.tool_permission.constructor, undefined);
  equal(settings.tool_permission.toString as unknown, "deny");
  equal(settings.tool_permission.hasOwnProperty as unknown, undefined);
  deepEqual(Object.keys(settings.modes), ["build", "plan"]);
  equal(({} as Record<string, unknown>).polluted, undefined);
  equal(({} as Record<string, unknown>).model, undefined);
  equal(warnings.filter((text) => text.includes("cannot be a name")).length, 5);
});

Deno.test("a message shows controls instead of sending them to the terminal", () => {
  const { warnings } = load({ global: { "\u001b[2J\u202e\u009b": 1 } });
  const message = failure(() => load({ global: { model: ["\u001b[2J\u202e\n"] } }));
  for (const text of [...warnings, message]) {
    // deno-lint-ignore no-control-regex
    ok(!/[\u0000-\u001f\u007f-\u009f\u202e]/.test(text), JSON.stringify(text));
  }
});

Deno.test("a mode that does not exist is an error with the nearest name", () => {
  match(
    failure(() => load({ global: { mode: "plna" } })),
    /config\.json: mode is "plna", which is no mode; did you mean plan\?/,
  );
  match(
    failure(() => load({ flags: { mode: "xyzzy" } })),
    /^mode is "xyzzy", which is no mode; there are build, plan$/,
  );
  match(failure(() => load({ flags: { mode: "constructor" } })), /is no mode/);
  equal(load({ global: { modes: { own: {} } }, flags: { mode: "own" } }).settings.mode, "own");
});

Deno.test("servers of MCP are an error that says so, and an empty list is fine", () => {
  deepEqual(load({ global: { mcp: { servers: [] } } }).warnings, []);
  for (const servers of [[{ name: "x", command: "y" }], {}, null]) {
    match(failure(() => load({ global: { mcp: { servers } } })), /mcp\.servers .*MCP is not available yet/);
  }
  match(failure(() => load({ project: { "mcp.servers": [{}] } })), /MCP is not available yet/);
});

Deno.test("flags are checked like files, and an unknown one is an error", () => {
  equal(load({ flags: { "tool_permission.bash": "allow", max_rounds: 3 } }).settings.max_rounds, 3);
  match(failure(() => load({ flags: { max_rounds: NaN } })), /^command line: max_rounds/);
  match(failure(() => load({ flags: { max_ronds: 3 } })), /max_ronds is not a key/);
});

Deno.test("an editor's $schema is no key", () => {
  deepEqual(load({ global: { $schema: "./schema.json" } }).warnings, []);
  equal(load({ global: { tools: { $schema: "x" } } }).warnings.length, 1);
});

Deno.test("entries list what is set anywhere, sorted, as it counts", () => {
  const entries = load({ global: { modes: { own: { system_prompt: "x" } } }, project: { max_rounds: 3 } })
    .entries();
  const keys = entries.map(([key]) => key);
  deepEqual(keys, keys.toSorted());
  const found = new Map(entries);
  deepEqual([found.get("max_rounds"), found.get("modes.own.system_prompt"), found.get("model")], [
    3,
    "x",
    "",
  ]);
});
