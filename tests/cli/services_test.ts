import assert from "node:assert/strict";
import { ownServers, serviceOf } from "../../src/cli/_services.ts";
import { defaults } from "../../src/config/schema.ts";
import { makeWorktree } from "../helpers/worktree.ts";

function of(provider: string, url = "", env: Record<string, string> = {}, configDir = "/nowhere") {
  return serviceOf("search", {
    settings: { search: { provider, url } },
    env: (name) => env[name],
    configDir,
  });
}

Deno.test("where each search service is", () => {
  assert.deepEqual(of("duckduckgo"), { base: "https://lite.duckduckgo.com/", headers: {} });
  assert.deepEqual(of("searxng", "http://127.0.0.1:8888"), { base: "http://127.0.0.1:8888/", headers: {} });
  assert.deepEqual(of("searxng", "https://x.example/searx//?q=1#f"), {
    base: "https://x.example/searx/",
    headers: {},
  });
  assert.equal(of("none"), null);
  assert.equal(
    serviceOf("mail", {
      settings: { search: { provider: "brave", url: "" } },
      env: () => "k",
      configDir: "/",
    }),
    null,
  );
});

Deno.test("a searxng address that is none is told", () => {
  for (const url of ["", "searx.example.org", "file:///x", "http://u:p@x.example/"]) {
    assert.throws(() => of("searxng", url), /search\.(url|provider)/);
  }
});

Deno.test("keys come from the environment, else from providers.json", () => {
  using tree = makeWorktree();
  tree.write("home/providers.json", JSON.stringify({ tavily: { api_key: "from-file" }, brave: "also-file" }));
  Deno.chmodSync(`${tree.home}/providers.json`, 0o600);
  assert.deepEqual(of("brave", "", { BRAVE_API_KEY: " from-env " }, tree.home)?.headers, {
    "x-subscription-token": "from-env",
  });
  assert.deepEqual(of("brave", "", {}, tree.home)?.headers, { "x-subscription-token": "also-file" });
  assert.deepEqual(of("tavily", "", {}, tree.home)?.headers, { authorization: "Bearer from-file" });
  assert.throws(() => of("tavily"), /needs a key: set TAVILY_API_KEY/);
  assert.throws(() => of("brave", "", { BRAVE_API_KEY: "a\nb: c" }), /^(?!.*a\nb).*blanks/);
});

Deno.test("the user's own servers are known to the ceiling, well-known providers are not looked up", async () => {
  const settings = defaults();
  assert.deepEqual(await ownServers(settings, null), []);
  assert.deepEqual(await ownServers(settings, { host: "api.openai.com" }), []);
  assert.deepEqual(await ownServers(settings, { host: "10.0.0.8" }), ["10.0.0.8"]);
  assert.deepEqual(await ownServers(settings, { host: "localhost" }), ["localhost"]);
  const searxng = { ...settings, search: { provider: "searxng", url: "http://[fd00::5]:8888/" } };
  assert.deepEqual(await ownServers(searxng, null), ["fd00::5"]);
  assert.deepEqual(
    await ownServers({ ...searxng, search: { provider: "searxng", url: "broken" } }, null),
    [],
  );
});
