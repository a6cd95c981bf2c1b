import assert from "node:assert/strict";
import { ConfigError, ProviderError } from "../../src/errors.ts";
import { createProvider, providerAddress, readKeys } from "../../src/provider/detect.ts";
import { addressOf, baseUrlOf, normalizeBaseUrl, presetOf } from "../../src/provider/presets.ts";
import { startModel } from "../helpers/model_server.ts";
import { makeWorktree } from "../helpers/worktree.ts";
import { collect } from "./_collect.ts";

const AUTO = { provider: "auto", base_url: "", model: "" };
const env = (values: Record<string, string>) => (name: string) => values[name];

Deno.test("auto: the address follows configuration, then keys, then an Ollama on this machine", () => {
  const at = (settings: Partial<typeof AUTO>, vars: Record<string, string> = {}, keys = {}) => {
    const address = providerAddress({ ...AUTO, ...settings }, env(vars), keys);
    return address && `${address.host}:${address.port}`;
  };
  assert.equal(at({}), "127.0.0.1:11434");
  assert.equal(at({}, { OPENAI_API_KEY: "k" }), "api.openai.com:443");
  assert.equal(at({}, { ANTHROPIC_API_KEY: "k", GROQ_API_KEY: "k" }), "api.groq.com:443");
  assert.equal(at({}, {}, { anthropic: "k" }), "api.anthropic.com:443");
  assert.equal(at({}, { OPENROUTER_API_KEY: "k" }, { openai: "k" }), "openrouter.ai:443");
  assert.equal(at({ base_url: "http://10.0.0.1:8080" }, { OPENAI_API_KEY: "k" }), "10.0.0.1:8080");
  assert.equal(at({ provider: "ollama" }, { OPENAI_API_KEY: "k" }), "127.0.0.1:11434");
  assert.equal(at({ provider: "openai", base_url: "https://proxy.test/v1" }), "proxy.test:443");
  assert.equal(at({ provider: "openai-compatible", base_url: "http://[::1]:8080/v1" }), "::1:8080");
  assert.equal(at({ provider: "replay" }), null);
});

Deno.test("OLLAMA_HOST says where Ollama is, in each form that its own client takes", () => {
  for (
    const [host, expected] of [
      ["", "http://127.0.0.1:11434/v1"],
      ["0.0.0.0", "http://127.0.0.1:11434/v1"],
      ["[::]:8000", "http://[::1]:8000/v1"],
      ["::1", "http://[::1]:11434/v1"],
      [" box ", "http://box:11434/v1"],
      ["box:80", "http://box/v1"],
      [":8080", "http://127.0.0.1:8080/v1"],
      ["https://box", "https://box/v1"],
      ["http://box:9/below/", "http://box:9/below/v1"],
    ] as const
  ) assert.equal(baseUrlOf(presetOf("ollama"), env({ OLLAMA_HOST: host })), expected, host);
  assert.throws(() => baseUrlOf(presetOf("ollama"), env({ OLLAMA_HOST: "a b" })), /OLLAMA_HOST is "a b"/);
  // Other providers do not look at it, and what is configured wins.
  const vars = { OLLAMA_HOST: "box:1" };
  assert.equal(baseUrlOf(presetOf("openai"), env(vars)), "https://api.openai.com/v1");
  assert.deepEqual(providerAddress(AUTO, env(vars), {}), { host: "box", port: 1 });
  assert.deepEqual(providerAddress({ ...AUTO, provider: "ollama", base_url: "http://c:2" }, env(vars), {}), {
    host: "c",
    port: 2,
  });
});

Deno.test("an Ollama at OLLAMA_HOST is found and asked", async () => {
  await using server = startModel([{ content: "ok" }]);
  const provider = await createProvider({
    settings: AUTO,
    paths: { config: "/nonexistent" },
    env: env({ OLLAMA_HOST: new URL(server.url).host }),
  });
  await collect(provider);
  assert.equal(provider.name, "ollama");
  assert.equal(server.requests.length, 1);
});

Deno.test("a key of one provider never goes to another server", async () => {
  await using server = startModel([{ content: "ok" }]);
  const provider = await createProvider({
    settings: { provider: "openai-compatible", base_url: server.url, model: "m" },
    paths: { config: "/nonexistent" },
    env: env({ OPENAI_API_KEY: "sk-other", GROQ_API_KEY: "gsk" }),
  });
  await collect(provider);
  assert.equal(server.requests[0]!.headers.get("authorization"), null);
});

Deno.test("keys come from providers.json, and a readable file gives a warning", async () => {
  using tree = makeWorktree();
  const file = `${tree.home}/providers.json`;
  Deno.writeTextFileSync(file, '{"openai-compatible": {"api_key": "sk-file"}, "groq": "gsk-file"}', {
    mode: 0o600,
  });
  const warnings: string[] = [];
  assert.deepEqual({ ...readKeys(tree.home, (w) => warnings.push(w)) }, {
    "openai-compatible": "sk-file",
    groq: "gsk-file",
  });
  assert.equal(warnings.length, 0);
  if (Deno.build.os !== "windows") {
    Deno.chmodSync(file, 0o644);
    readKeys(tree.home, (w) => warnings.push(w));
    assert.match(warnings[0]!, /providers\.json may be read by others \(mode 644\)/);
    assert.ok(!warnings[0]!.includes("sk-file"));
  }
  await using server = startModel([{ content: "ok" }]);
  const provider = await createProvider({
    settings: { provider: "openai-compatible", base_url: server.url, model: "m" },
    paths: { config: tree.home },
    env: env({}),
  });
  await collect(provider);
  assert.equal(server.requests[0]!.headers.get("authorization"), "Bearer sk-file");
});

Deno.test("a broken providers.json is a configuration error without its content", () => {
  using tree = makeWorktree();
  for (
    const text of [
      '{"openai": "sk-SECRET"',
      '["sk-SECRET"]',
      '{"openai": ["sk-SECRET"]}',
      '{"openai": {"api_key": 5}}',
    ]
  ) {
    Deno.writeTextFileSync(`${tree.home}/providers.json`, text, { mode: 0o600 });
    assert.throws(() => readKeys(tree.home), (error: unknown) => {
      assert.ok(error instanceof ConfigError);
      assert.match(error.message, /providers\.json/);
      assert.ok(!error.message.includes("SECRET"), error.message);
      return true;
    });
  }
  assert.deepEqual(readKeys(`${tree.home}/nothing-here`), {});
});

Deno.test("a key that cannot be a header is refused without being shown", () => {
  assert.throws(
    () => providerAddress({ ...AUTO, provider: "openai" }, env({ OPENAI_API_KEY: "sk-A\nB" }), {}),
    (error: unknown) => error instanceof ProviderError && !error.message.includes("sk-A"),
  );
});

Deno.test("openai-compatible needs base_url; without a model it takes the first that the server lists", async () => {
  const input = { paths: { config: "/nonexistent" }, env: env({}) };
  await assert.rejects(
    createProvider({ ...input, settings: { ...AUTO, provider: "openai-compatible" } }),
    (error: unknown) => error instanceof ConfigError && /needs base_url/.test(error.message),
  );
  await using server = startModel();
  server.models = ["first", "second"];
  const settings = { provider: "openai-compatible", base_url: server.url.replace("/v1", ""), model: "" };
  assert.equal((await createProvider({ ...input, settings })).model, "first");
  server.models = [];
  await assert.rejects(createProvider({ ...input, settings }), /set one: --model NAME/);
});

Deno.test("an unknown provider names those that are known; a missing key says where it goes", async () => {
  const input = { paths: { config: "/nonexistent" }, env: env({}) };
  await assert.rejects(
    createProvider({ ...input, settings: { ...AUTO, provider: "opnai" } }),
    /"opnai" is not known; use one of auto, openai, groq/,
  );
  await assert.rejects(
    createProvider({ ...input, settings: { ...AUTO, provider: "groq" } }),
    (error: unknown) => error instanceof ProviderError && /set GROQ_API_KEY/.test(error.message),
  );
  await assert.rejects(
    createProvider({ ...input, settings: { ...AUTO, provider: "replay" } }),
    /--replay FILE/,
  );
});

Deno.test({
  name: "auto without key and Ollama says in three lines how to get going",
  // Nothing may answer here, whatever runs on this machine.
  permissions: { net: [], read: true },
  fn: async () => {
    await assert.rejects(
      createProvider({ settings: AUTO, paths: { config: "/nonexistent" }, env: env({}) }),
      (error: unknown) => {
        assert.ok(error instanceof ProviderError);
        assert.equal(error.message.split("\n").length, 3);
        assert.match(error.message, /OPENAI_API_KEY/);
        assert.match(error.message, /ollama pull/);
        return true;
      },
    );
  },
});

Deno.test("an unencrypted server elsewhere gets a warning when a key goes there", async () => {
  const warnings: string[] = [];
  await createProvider({
    settings: { provider: "openai-compatible", base_url: "http://192.0.2.1/v1", model: "m" },
    paths: { config: "/nonexistent" },
    env: env({ OPENAI_COMPATIBLE_API_KEY: "k" }),
    warn: (w) => warnings.push(w),
  });
  assert.match(warnings[0]!, /http:\/\/192\.0\.2\.1 gets the key of openai-compatible unencrypted/);
});

Deno.test("base URLs are brought into one form", () => {
  const cases: [string, string][] = [
    ["http://127.0.0.1:8080", "http://127.0.0.1:8080/v1"],
    ["http://127.0.0.1:8080/", "http://127.0.0.1:8080/v1"],
    ["http://127.0.0.1:8080/v1/", "http://127.0.0.1:8080/v1"],
    ["https://api.test/openai/v1", "https://api.test/openai/v1"],
    ["https://api.test/v1beta/openai", "https://api.test/v1beta/openai"],
    ["https://api.test/v1/chat/completions", "https://api.test/v1"],
    ["https://api.test/prefix", "https://api.test/prefix/v1"],
    ["https://api.test/v1?api-version=2", "https://api.test/v1?api-version=2"],
  ];
  for (const [given, wanted] of cases) assert.equal(normalizeBaseUrl(given), wanted);
  for (const bad of ["", "nonsense", "ftp://x/v1", "http://user:pw@host/v1", "file:///etc"]) {
    assert.throws(() => normalizeBaseUrl(bad), ConfigError, bad);
  }
  assert.throws(
    () => normalizeBaseUrl("http://user:hunter2@host/v1"),
    (e: Error) => !e.message.includes("hunter2"),
  );
  assert.deepEqual(addressOf("https://api.test/v1"), { host: "api.test", port: 443 });
});
