import { deepEqual, equal, ok } from "node:assert/strict";
import { jsonSchema } from "../../src/config/json_schema.ts";
import { misfit } from "../../src/config/_values.ts";
import { defaults, lookUp, SCHEMA } from "../../src/config/schema.ts";

/** Dotted keys of the leaves of a value; empty groups count as leaves. */
function leaves(value: unknown, prefix = ""): string[] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [prefix];
  const entries = Object.entries(value);
  if (entries.length === 0) return [prefix];
  return entries.flatMap(([name, part]) => leaves(part, prefix === "" ? name : `${prefix}.${name}`));
}

Deno.test("each leaf of the default settings has an entry, and each entry with a default a leaf", () => {
  const found = leaves(defaults());
  const groups = ["grant_permission", "exec.env", "plugins", "prices", "modes.build"];
  for (const key of found) {
    if (groups.includes(key)) equal(lookUp(key), "section", key);
    else ok(typeof lookUp(key) === "object" && lookUp(key) !== null, key);
  }
  for (const { key } of SCHEMA) if (!key.includes("*")) ok(found.includes(key), key);
});

Deno.test("every default fits its own entry", () => {
  for (const entry of SCHEMA) {
    if (!entry.key.includes("*")) equal(misfit(entry, entry.default), null, entry.key);
  }
});

Deno.test("every entry has one line of text, and a narrowing exactly where it says narrow", () => {
  for (const entry of SCHEMA) {
    ok(/^[^\n]{8,120}\.$/.test(entry.doc), `${entry.key}: ${entry.doc}`);
    equal(entry.narrow !== undefined, entry.project === "narrow", entry.key);
    equal(entry.only !== undefined, entry.narrow === "only", entry.key);
  }
});

Deno.test("defaults are as documented", () => {
  const settings = defaults();
  deepEqual({ ...settings.tool_permission }, {
    ask: "allow",
    bash: "ask",
    bash_allow: [],
    bash_auto: [],
    catalog: "allow",
    delegate: "allow",
    edit: "allow",
    handoff: "allow",
    list: "allow",
    mcp: "ask",
    read: "allow",
    team: "allow",
    todo: "allow",
    vcs: "ask",
    web: "allow",
  });
  deepEqual(settings.ask_policy, { permission: "auto", direction: "human" });
  deepEqual({ ...settings.grant_permission }, {});
  deepEqual(settings.noise_tools, ["web_fetch", "open", "fetch_page"]);
  deepEqual(settings.tools, { allow: [], deny: [] });
  deepEqual(settings.path_rules, []);
  deepEqual(settings.dev, { test_cmd: "", lint_cmd: "", format_cmd: "" });
  deepEqual(settings.delegate, { parallel: 4, max_depth: 3 });
  deepEqual(Object.keys(settings.modes), ["build", "plan"]);
  const { provider, base_url, model, mode, tool_calling, project_instructions, exec } = settings;
  deepEqual({ provider, base_url, model, mode, tool_calling, project_instructions, confine: exec.confine }, {
    provider: "auto",
    base_url: "",
    model: "",
    mode: "build",
    tool_calling: true,
    project_instructions: "AGENTS.md",
    confine: "auto",
  });
  const numbers = [
    settings.tool_max_result_chars,
    settings.list_dir_max_entries,
    settings.session_tool_max_chars,
    settings.search_results,
    settings.max_rounds,
    settings.stream_retries,
    settings.stream_retry_delay,
    settings.auto_continue_max,
    settings.confirm_timeout,
    settings.max_team_depth,
  ];
  deepEqual(numbers, [100_000, 200, 0, 5, 100, 2, 0.5, 2, 0, 2]);
});

Deno.test("plan mode changes nothing and tells the model that it is read-only", () => {
  const { plan, build } = defaults().modes;
  deepEqual({ ...plan!.tool_permission }, { bash: "deny", edit: "deny", mcp: "deny", vcs: "deny" });
  ok(plan!.system_prompt!.includes("read-only"));
  deepEqual({ ...build }, {});
});

Deno.test("defaults are a new value each time", () => {
  const one = defaults() as unknown as { tools: { deny: string[] } };
  one.tools.deny.push("x");
  deepEqual(defaults().tools.deny, []);
});

Deno.test("keys are looked up by the entry that spells out most", () => {
  const found = (key: string) => {
    const entry = lookUp(key);
    return entry === null || entry === "section" ? entry : entry.key;
  };
  for (
    const [key, expected] of [
      ["model", "model"],
      ["tools", "section"],
      ["modes", "section"],
      ["modes.review", "section"],
      ["modes.review.tools", "section"],
      ["modes.review.tool_permission.bash", "modes.*.tool_permission.*"],
      ["modes.review.tool_permission.bash_auto", "modes.*.tool_permission.bash_auto"],
      ["tool_permission.bash_allow", "tool_permission.bash_allow"],
      ["tool_permission.own", "tool_permission.*"],
      ["tool_permission.bash.more", "tool_permission.*"],
      ["exec.env.A.B", "exec.env.*"],
      ["model.x", null],
      ["modes..system_prompt", null],
      ["tool_permission.", null],
      ["", null],
      ["modes.*.system_prompt", "modes.*.system_prompt"],
      ["__proto__", null],
      ["tool_permission.__proto__", null],
      ["plugins.constructor", null],
      ["toString", null],
      ["modes.x.hasOwnProperty", null],
    ] as const
  ) equal(found(key), expected, key);
});

Deno.test("the JSON Schema describes nested and dotted keys, free names and bounds", () => {
  const schema = jsonSchema() as any;
  equal(schema.$schema, "https://json-schema.org/draft/2020-12/schema");
  equal(schema.properties.tool_permission.properties.bash.default, "ask");
  deepEqual(schema.properties.tool_permission.properties.bash.enum, ["deny", "ask", "allow"]);
  deepEqual(schema.properties.tool_permission.additionalProperties.enum, ["deny", "ask", "allow"]);
  equal(schema.properties["tool_permission.bash"].default, "ask");
  equal(schema.properties["exec.confine"].default, "auto");
  equal(schema.properties.max_rounds.minimum, 1);
  deepEqual(schema.properties.temperature.type, ["number", "null"]);
  const [mode] = Object.values(schema.properties.modes.patternProperties) as any[];
  deepEqual(Object.keys(mode.properties).sort(), ["system_prompt", "tool_permission", "tools"]);
  equal(schema.additionalProperties, false);
  equal(schema.properties.mcp.properties.servers.maxItems, 0);
  for (const { key, doc } of SCHEMA) {
    ok(JSON.stringify(schema).includes(JSON.stringify(doc).slice(1, -1)), key);
  }
});

Deno.test("prices: two numbers by the model's name, dots and slashes in it included", () => {
  const entry = lookUp("prices.openai/gpt-4.1") as (typeof SCHEMA)[number];
  equal(entry.key, "prices.*");
  equal(entry.project, "none");
  for (const value of [[2.5, 10], [0, 0]]) equal(misfit(entry, value), null);
  for (const value of [[1], [1, 2, 3], [-1, 2], ["1", 2], 5, null, {}, [NaN, 1]]) {
    ok(misfit(entry, value)?.includes("two numbers"), JSON.stringify(value));
  }
});
