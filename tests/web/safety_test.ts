import assert from "node:assert/strict";
import { type Page, startWeb, type WebServer } from "../helpers/web_server.ts";
import { OPEN_WEB, rig, type RigOptions, unframed } from "./_rig.ts";

const SECRET = "TOPSECRET";
const secret = { "/": `<p>${SECRET}</p>`, "/x": `<p>${SECRET}</p>` };

/** Both layers, and each of them alone. */
const LAYERS: readonly (readonly [name: string, options: RigOptions])[] = [
  ["both layers", {}],
  ["the policy says yes to everything", { open: true }],
  ["workers have all permissions", { inherit: true }],
];

function each(name: string, body: (options: RigOptions) => Promise<void>): void {
  for (const [layer, options] of LAYERS) Deno.test(`${name}: ${layer}`, () => body(options));
}

/** Each call is an error, and nothing was asked for. */
async function refused(options: RigOptions, calls: readonly unknown[], web: WebServer | null): Promise<void> {
  using run = rig(options);
  for (const args of calls) {
    const { content, isError } = await run.call("web_fetch", args);
    assert.equal(isError, true, content);
    assert.match(content, /^Error: [^\n]+$/, JSON.stringify(args));
    assert.doesNotMatch(content, new RegExp(SECRET));
    if (web) assert.deepEqual(web.paths(), []);
  }
}

each("a loopback address in any spelling is not asked for", async (options) => {
  await using web = startWeb(secret);
  const hosts = [
    "127.0.0.1",
    "127.1",
    "2130706433",
    "0x7f000001",
    "0177.0.0.1",
    "0x7f.1",
    "127.0.0.1.",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[0:0:0:0:0:ffff:7f00:1]",
    "[64:ff9b::7f00:1]",
    "１２７.０.０.１",
    "127。0。0。1",
  ];
  await refused(options, hosts.map((host) => ({ url: `http://${host}:${web.port}/` })), web);
});

each("a name that resolves to this machine is not asked for", async (options) => {
  await using web = startWeb(secret);
  const addresses = ["127.0.0.1", "::1", "::ffff:127.0.0.1", "10.1.2.3", "192.168.0.1", "fd00::1", "rubbish"];
  const names = Object.fromEntries(addresses.map((address, i) => [`harmless${i}.example.com`, [address]]));
  const calls = Object.keys(names).map((name) => ({ url: `http://${name}:${web.port}/` }));
  await refused({ ...options, names }, calls, web);
});

each("localhost and names below it are not asked for", async (options) => {
  await using web = startWeb(secret);
  const names = { localhost: ["127.0.0.1"], "a.localhost": ["127.0.0.1"] };
  const hosts = ["localhost", "LOCALHOST", "localhost.", "a.localhost"];
  await refused({ ...options, names }, hosts.map((host) => ({ url: `http://${host}:${web.port}/` })), web);
});

each("metadata and link-local addresses are not asked for, whoever says yes", async (options) => {
  const urls = [
    "http://169.254.169.254/latest/meta-data/",
    "http://169.254.169.254:80/",
    "http://[fd00:ec2::254]/latest/",
    "http://[fe80::1]/",
    "http://2852039166/",
    "http://[::ffff:a9fe:a9fe]/",
    "http://metadata.example.com/",
    "http://224.0.0.1/",
    "http://0.0.0.0/",
    "http://100.100.100.200/",
  ];
  const names = { "metadata.example.com": ["169.254.169.254"] };
  await refused({ ...options, names, confirm: "yes" }, urls.map((url) => ({ url })), null);
});

each("other schemes, credentials and broken URLs are not asked for", async (options) => {
  await using web = startWeb(secret);
  const urls = [
    "file:///etc/passwd",
    "FILE://localhost/etc/passwd",
    "ftp://127.0.0.1/",
    "data:text/plain,x",
    "blob:null/1",
    "javascript:1",
    "/etc/passwd",
    `http://user@127.0.0.1:${web.port}/`,
    `http://example.com:pw@127.0.0.1:${web.port}/`,
    "http://",
  ];
  await refused({ ...options, confirm: "yes" }, urls.flatMap((url) => [{ url }, { id: url }]), web);
});

Deno.test("a redirect to this machine is not followed", async () => {
  for (const inherit of [false, true]) await redirects({ inherit });
});

async function redirects(options: RigOptions): Promise<void> {
  await using target = startWeb(secret);
  await using web = startWeb({
    "/address": { status: 302, headers: { location: `${target.url}/` } },
    "/name": { status: 307, headers: { location: `http://inside.example.com:${target.port}/` } },
    "/scheme": { status: 302, headers: { location: "file:///etc/passwd" } },
    "/user": { status: 302, headers: { location: `http://u:p@127.0.0.1:${target.port}/` } },
    "/metadata": { status: 302, headers: { location: "http://169.254.169.254/" } },
    "/relative": { status: 302, headers: { location: `//127.0.0.1:${target.port}/` } },
  });
  // The first hop is private too: somebody says yes to it, and to nothing else.
  const names = { "start.example.com": ["127.0.0.1"], "inside.example.com": ["127.0.0.1"] };
  let asked = 0;
  using run = rig({ ...options, names, confirm: () => asked++ === 0 ? "yes" : "nobody" });
  for (const path of ["/address", "/name", "/scheme", "/user", "/metadata", "/relative"]) {
    asked = 0;
    const { content } = await run.call("web_fetch", { url: `http://start.example.com:${web.port}${path}` });
    assert.match(content, /^Error: [^\n]+$/);
    assert.doesNotMatch(content, new RegExp(SECRET));
  }
  assert.equal(web.hits.length, 6);
  assert.deepEqual(target.paths(), []);
}

Deno.test("consent covers the host that was named, not another port of it", async () => {
  await using target = startWeb(secret);
  await using web = startWeb({
    "/same": { status: 302, headers: { location: "/page" } },
    "/page": "<p>here</p>",
    "/other": { status: 302, headers: { location: `${target.url}/` } },
  });
  let answers = ["yes", "nobody"] as const;
  using run = rig({ confirm: () => run.asked.length === 1 ? answers[0] : answers[1] });
  assert.equal(unframed((await run.call("web_fetch", { url: `${web.url}/same` })).content), "here");
  assert.equal(run.asked.length, 1);
  run.asked.length = 0;
  const { content, outcome, decision } = await run.call("web_fetch", { url: `${web.url}/other` });
  assert.match(
    content,
    /^Error: web_fetch needs approval and nobody is here to give it: .*\/other redirects to .* private network \[web\.private\]$/,
  );
  assert.equal(outcome, "declined");
  assert.equal(decision?.rule, "web.private");
  assert.equal(run.asked.length, 2);
  assert.deepEqual(target.paths(), []);
  answers = ["yes", "yes"] as never;
  run.asked.length = 0;
  assert.equal(await run.read(`${web.url}/other`), SECRET);
});

Deno.test("a public name that turns out to be private asks, and the audit has both", async () => {
  await using web = startWeb({ "/": "<p>inside</p>" });
  const names = { "intranet.example.com": ["127.0.0.1"] };
  const url = `http://intranet.example.com:${web.port}/`;
  using nobody = rig({ names });
  const { content, outcome } = await nobody.call("web_fetch", { url });
  assert.match(content, /^Error: web_fetch needs approval .*intranet\.example\.com \(127\.0\.0\.1\)/);
  assert.equal(outcome, "declined");
  assert.deepEqual(nobody.audit.map(({ action, decision, rule }) => [action, decision, rule]), [
    ["allow", "granted", "tool_permission.read"],
    ["ask", "declined", "web.private"],
  ]);
  assert.deepEqual(web.paths(), []);
  using yes = rig({ names, confirm: "yes" });
  assert.equal(await yes.read(url), "inside");
  assert.deepEqual(yes.audit.map(({ decision }) => decision), ["granted", "granted"]);
});

Deno.test("a person who cancels ends the turn, one who says no declines the call", async () => {
  const names = { "intranet.example.com": ["127.0.0.1"] };
  using cancel = rig({ names, confirm: "cancel" });
  const cancelled = await cancel.call("web_fetch", { url: "http://intranet.example.com/" });
  assert.deepEqual([cancelled.outcome, cancelled.cancelled], ["declined", true]);
  using no = rig({ names, confirm: "no" });
  const declined = await no.call("web_fetch", { url: "http://intranet.example.com/" });
  assert.deepEqual([declined.outcome, declined.cancelled], ["declined", false]);
});

Deno.test("a denied redirect counts as denied", async () => {
  await using web = startWeb({ "/": { status: 302, headers: { location: "http://169.254.169.254/" } } });
  using run = rig({ confirm: "yes" });
  const { outcome, decision } = await run.call("web_fetch", { url: `${web.url}/` });
  assert.deepEqual([outcome, decision?.action, decision?.rule], ["denied", "deny", "web.private"]);
  assert.equal(run.audit.at(-1)?.decision, "denied");
});

Deno.test("a name that changes its address between question and request gets the address that was checked", async () => {
  await using web = startWeb(secret);
  await using decoy = startWeb({ "/": "<p>decoy</p>" }, "127.0.0.2");
  let turn = 0;
  const names = { "rebind.example.com": () => turn++ === 0 ? ["127.0.0.2"] : ["127.0.0.1"] };
  using run = rig({ settings: { web: OPEN_WEB }, names });
  assert.equal(await run.read(`http://rebind.example.com:${decoy.port}/`), "decoy");
  assert.equal(turn, 1);
  assert.deepEqual(web.paths(), []);
});

Deno.test("of several addresses only those are asked that may be", async () => {
  await using web = startWeb(secret);
  // TEST-NET is private to the policy, and nothing answers at a public address here: so this asks, and then fails.
  const names = { "mixed.example.com": ["127.0.0.1", "169.254.169.254"] };
  using run = rig({ names, confirm: "yes" });
  assert.equal(await run.read(`http://mixed.example.com:${web.port}/`), SECRET);
  using none = rig({ names: { "mixed.example.com": ["169.254.169.254"] }, confirm: "yes" });
  const { outcome } = await none.call("web_fetch", { url: `http://mixed.example.com:${web.port}/` });
  assert.equal(outcome, "denied");
});

each("web.hosts is the whole web, for redirects too", async (options) => {
  await using other = startWeb(secret);
  await using web = startWeb(({ path }): Page =>
    path === "/away"
      ? { status: 302, headers: { location: `http://other.example.com:${other.port}/` } }
      : { body: "listed" }
  );
  const names = { "docs.example.com": ["127.0.0.1"], "other.example.com": ["127.0.0.1"] };
  const settings = { web: { hosts: ["docs.example.com"], private: true } };
  using run = rig({ ...options, names, settings });
  assert.equal(await run.read(`http://docs.example.com:${web.port}/`), "listed");
  for (const url of [`http://docs.example.com:${web.port}/away`, `http://other.example.com:${other.port}/`]) {
    assert.match(
      (await run.call("web_fetch", { url })).content,
      /^Error: .*other\.example\.com is not in web\.hosts/,
    );
  }
  assert.deepEqual(other.paths(), []);
});

Deno.test("web: deny removes both tools, web: ask asks before anything is resolved", async () => {
  const deny = { tool_permission: { read: "allow", web: "deny" } } as const;
  using run = rig({ settings: { ...deny, web: OPEN_WEB } });
  for (
    const [name, args] of [["web_fetch", { url: "http://x.example/" }], ["web_search", {
      query: "x",
    }]] as const
  ) {
    assert.match((await run.call(name, args)).content, /^Error: tool "web_\w+" is disabled by tool policy/);
  }
  using ask = rig({ settings: { tool_permission: { read: "allow", web: "ask" }, web: OPEN_WEB } });
  assert.match((await ask.call("web_fetch", { url: "http://x.example/" })).content, /needs approval/);
});

Deno.test("consent to the web as such is no consent to a private address", async () => {
  await using web = startWeb(secret);
  const names = { "harmless.example.com": ["127.0.0.1"] };
  let asked = 0;
  using run = rig({
    settings: { tool_permission: { read: "allow", web: "ask" } },
    names,
    confirm: () => asked++ === 0 ? "yes" : "no",
  });
  const { content } = await run.call("web_fetch", { url: `http://harmless.example.com:${web.port}/` });
  assert.match(content, /^Error: web_fetch was declined: /);
  assert.equal(asked, 2);
  assert.deepEqual(web.paths(), []);
});

Deno.test("plan mode reads the web", async () => {
  await using web = startWeb({ "/": "plan" });
  using run = rig({ mode: "plan", settings: { web: OPEN_WEB } });
  assert.equal(await run.read(`${web.url}/`), "plan");
});
