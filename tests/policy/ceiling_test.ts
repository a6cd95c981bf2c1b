import assert from "node:assert/strict";
import { cidrText, without } from "../../src/policy/_cidr.ts";
import { parseIPv4 } from "../../src/policy/_address.ts";
import {
  type CeilingFlags,
  type CeilingInput,
  compileCeiling,
  HOST_ENVIRONMENT,
} from "../../src/policy/compile.ts";
import { ToolPolicy } from "../../src/policy/tool_policy.ts";
import { PRESETS } from "../../src/provider/presets.ts";
import { PASSED } from "../../src/sandbox/environment.ts";
import type { Tool } from "../../src/tool.ts";
import { makeWorktree } from "../helpers/worktree.ts";
import {
  allTools,
  ask,
  delegate,
  fileEdit,
  fileRead,
  fileWrite,
  git,
  inputOf,
  listDir,
  runCommand,
  tool,
  webFetch,
} from "./_fixtures.ts";

const PROVIDER = { host: "api.example.com", port: 443 };

function ceiling(
  tools: readonly Tool[],
  over: Record<string, unknown> = {},
  more: Partial<CeilingInput> = {},
  mode = "build",
): CeilingFlags {
  const policyInput = inputOf(over, { mode });
  return compileCeiling(tools, {
    policy: new ToolPolicy(policyInput),
    policyInput,
    yes: false,
    interactive: false,
    providerAddress: PROVIDER,
    sourceRoots: ["/app"],
    stateDir: "/home/u/.local/state/polyglav",
    configDir: "/home/u/.config/polyglav",
    ...more,
  });
}

const HOST_WRITES = [
  "/w/.polyglav/sessions",
  "/w/.polyglav/journal",
  "/w/.polyglav/.gitignore",
  "/home/u/.local/state/polyglav",
];
const HOST_READS = ["/w", "/app", "/home/u/.config/polyglav", "/home/u/.local/state/polyglav"];

Deno.test("ceiling: tools that read give a process that reads the worktree and what it needs itself", () => {
  const flags = ceiling([fileRead, listDir]);
  assert.deepEqual(flags.read, HOST_READS);
  assert.deepEqual(flags.write, HOST_WRITES);
  assert.deepEqual([flags.net, flags.denyNet, flags.run, flags.sys], [["api.example.com:443"], [], [], []]);
});

Deno.test("ceiling: tools that write add the worktree, and take away what no rule lets them write", () => {
  const flags = ceiling([fileRead, fileWrite]);
  assert.deepEqual(flags.write, ["/w", ...HOST_WRITES]);
  assert.ok(flags.denyWrite.includes("/w/.git"));
  assert.ok(flags.denyWrite.includes("/w/.polyglav/config.json"));
  assert.ok(!flags.denyWrite.some((path) => "/w/.polyglav/sessions".startsWith(`${path}/`)));
});

Deno.test("ceiling: in plan mode nothing but the program's own files can be written, and no shell started", () => {
  for (const yes of [false, true]) {
    const flags = ceiling(allTools, { tool_permission: { bash: "allow", vcs: "allow" } }, { yes }, "plan");
    assert.deepEqual(flags.write, HOST_WRITES);
    assert.deepEqual(flags.run, ["/usr/bin/git"]);
  }
});

Deno.test("ceiling: a yes to everything may reach outside, but not what is denied", () => {
  const over = {
    path_rules: [{ path: "/vault", access: "read", action: "deny" }, {
      path: "build",
      access: "write",
      action: "deny",
    }, { path: "dist/x", access: "write", action: "deny" }],
  };
  for (const more of [{ yes: true }, { interactive: true }]) {
    const flags = ceiling([fileRead, fileEdit], over, more);
    assert.equal(flags.read, true);
    assert.equal(flags.write, true);
    assert.deepEqual(flags.denyRead, ["/vault"]);
    assert.deepEqual(flags.denyWrite, ["/w/.git", "/w/dist/x"]);
  }
});

Deno.test("ceiling: a yes reaches no further than the tools that are there", () => {
  const flags = ceiling([fileRead], {}, { yes: true });
  assert.deepEqual(flags.write, HOST_WRITES);
  const denied = ceiling([fileRead, fileWrite], { tool_permission: { edit: "deny", read: "deny" } }, {
    yes: true,
  });
  assert.deepEqual(denied.read, HOST_READS);
  assert.deepEqual(denied.write, HOST_WRITES);
});

Deno.test("ceiling: a rule that opens .git again is not taken back by the ceiling", () => {
  for (const path of [".git", ".git/info/exclude", "**", "*.md", "/**"]) {
    const flags = ceiling([fileWrite], { path_rules: [{ path, access: "write", action: "allow" }] });
    assert.ok(!flags.denyWrite.includes("/w/.git"), path);
  }
  for (const path of ["src/**", "/data", "docs/*.md"]) {
    const flags = ceiling([fileWrite], { path_rules: [{ path, access: "write", action: "allow" }] });
    assert.ok(flags.denyWrite.includes("/w/.git"), path);
  }
});

Deno.test("ceiling: a rule never takes away what the program needs itself", () => {
  const rules = ["/", "/home/u", "/app", "/w", "~/.config", ".polyglav", "/home/u/.local/state/polyglav"];
  const path_rules = rules.flatMap((path) => [
    { path, access: "read", action: "deny" },
    { path, access: "write", action: "deny" },
  ]);
  const flags = ceiling([fileRead, fileWrite], { path_rules }, { yes: true });
  for (const [denied, needed] of [[flags.denyRead, HOST_READS], [flags.denyWrite, HOST_WRITES]] as const) {
    for (const place of needed) {
      assert.ok(
        !denied.some((path) => path === "/" || place === path || place.startsWith(`${path}/`)),
        place,
      );
    }
  }
});

Deno.test("ceiling: places that rules open outside are in it, up to the first wildcard", () => {
  const path_rules = [
    { path: "/data/*.csv", access: "read", action: "allow" },
    { path: "~/out/", access: "write", action: "allow" },
    { path: "/**", access: "read", action: "ask" },
    { path: "*.txt", access: "read", action: "allow" },
  ];
  const flags = ceiling([fileRead, fileWrite], { path_rules });
  assert.deepEqual(flags.read, [...HOST_READS, "/data", "/home/u/out"]);
  assert.deepEqual(flags.write, ["/w", ...HOST_WRITES, "/home/u/out"]);
});

Deno.test("ceiling: a rule that opens everything cannot be written down as a list", () => {
  const flags = ceiling([fileRead, fileWrite], {
    path_rules: [{ path: "/**", access: "read", action: "allow" }],
  });
  assert.equal(flags.read, true);
  assert.deepEqual(flags.write, ["/w", ...HOST_WRITES]);
});

const reach: readonly (readonly [string, Record<string, unknown>, Partial<CeilingInput>, boolean])[] = [
  ["bash asks and nobody answers", {}, {}, false],
  ["bash asks and --yes answers", {}, { yes: true }, true],
  ["bash asks and a person answers", {}, { interactive: true }, true],
  ["bash is allowed", { tool_permission: { bash: "allow" } }, {}, true],
  ["bash is denied", { tool_permission: { bash: "deny" } }, { yes: true }, false],
  ["the name is denied", { tool_permission: { bash: "allow" }, tools: { allow: [], deny: ["bash"] } }, {
    yes: true,
  }, false],
  [
    "other names are allowed",
    { tool_permission: { bash: "allow" }, tools: { allow: ["file_read"], deny: [] } },
    { yes: true },
    false,
  ],
  [
    "a lead may grant it",
    { tool_permission: { bash: "deny" }, grant_permission: { bash: "allow" } },
    {},
    true,
  ],
  [
    "a person would have to grant it",
    { tool_permission: { bash: "deny" }, grant_permission: { bash: "ask" } },
    {},
    false,
  ],
  ["a person may grant it", { tool_permission: { bash: "deny" }, grant_permission: { bash: "ask" } }, {
    interactive: true,
  }, true],
  [
    "a grant would have to beat a name",
    { tools: { allow: [], deny: ["run_command"] }, grant_permission: { bash: "allow" } },
    { yes: true },
    false,
  ],
];
for (const [name, over, more, expected] of reach) {
  Deno.test(`ceiling: the shell is ${expected ? "in it" : "not in it"} when ${name}`, () => {
    assert.deepEqual(ceiling([runCommand], over, more).run, expected ? ["/bin/sh"] : []);
  });
}

Deno.test("ceiling: commands that run by themselves are in it, the shell only when somebody answers", () => {
  const over = { tool_permission: { bash: "ask", bash_auto: ["echo"] } };
  assert.ok(ceiling([runCommand], over).run.includes("/usr/bin/echo"));
  assert.deepEqual(
    ceiling([runCommand], { tool_permission: { bash: "allow", bash_allow: ["echo", "deno"] } }).run,
    ["/usr/bin/echo"],
  );
});

Deno.test("ceiling: a checked command may redirect, so the worktree can be written", () => {
  const over = { tool_permission: { bash: "allow", bash_allow: ["echo"] } };
  assert.deepEqual(ceiling([runCommand], over).write, ["/w", ...HOST_WRITES]);
  assert.deepEqual(ceiling([runCommand], { tool_permission: { bash: "allow" } }).write, HOST_WRITES);
});

Deno.test("ceiling: Deno is in no list of programs", () => {
  const subject = tool({
    name: "t",
    permission: "bash",
    access: ["run"],
    programs: () => ["deno", "make", "/usr/bin/deno"],
  });
  assert.deepEqual(ceiling([subject], { tool_permission: { bash: "allow" } }).run, ["/usr/bin/make"]);
});

Deno.test("ceiling: programs may be looked at, so that the program under it finds the same ones", () => {
  const flags = ceiling([git]);
  assert.ok((flags.read as string[]).includes("/usr/bin/git"));
});

Deno.test("ceiling: tools without access add nothing", () => {
  assert.deepEqual(ceiling([ask, delegate], {}, { yes: true }), ceiling([]));
});

// The network

const inRange = (ranges: readonly string[], text: string): boolean => {
  const address = parseIPv4(text)!;
  return ranges.filter((range) => !range.startsWith("[")).some((range) => {
    const [first, bits = "32"] = range.split("/"),
      size = 2 ** (32 - Number(bits)),
      start = parseIPv4(first!)!;
    return address >= start && address < start + size;
  });
};

Deno.test("ceiling: web tools open the network but for private addresses", () => {
  const { net, denyNet } = ceiling([webFetch]);
  assert.equal(net, true);
  for (
    const text of [
      "127.0.0.1",
      "10.1.2.3",
      "172.20.0.1",
      "192.168.1.1",
      "169.254.169.254",
      "100.64.0.1",
      "0.0.0.0",
      "224.0.0.1",
      "255.255.255.255",
    ]
  ) {
    assert.ok(inRange(denyNet, text), text);
  }
  for (const text of ["8.8.8.8", "172.32.0.1", "11.0.0.1", "223.0.0.1"]) {
    assert.ok(!inRange(denyNet, text), text);
  }
  for (const text of ["[::1]", "[::]", "[fd00:ec2::254]"]) assert.ok(denyNet.includes(text), text);
});

Deno.test("ceiling: a yes may open private addresses, but none that is forbidden", () => {
  const { denyNet } = ceiling([webFetch], {}, { yes: true });
  for (const text of ["127.0.0.1", "10.1.2.3", "192.168.1.1"]) assert.ok(!inRange(denyNet, text), text);
  for (const text of ["169.254.169.254", "0.0.0.0", "224.0.0.1"]) assert.ok(inRange(denyNet, text), text);
});

Deno.test("ceiling: web.private takes the ranges away, web deny the network", () => {
  assert.deepEqual(ceiling([webFetch], { web: { hosts: [], private: true } }).denyNet, []);
  const denied = ceiling([webFetch], { tool_permission: { web: "deny" } }, { yes: true });
  assert.deepEqual([denied.net, denied.denyNet], [["api.example.com:443"], []]);
});

for (const host of ["127.0.0.1", "localhost", "10.7.0.9"]) {
  Deno.test(`ceiling: a provider at ${host} stays reachable, its neighbours do not`, () => {
    const { denyNet } = ceiling([webFetch], {}, { providerAddress: { host, port: 11434 } });
    const own = host === "localhost" ? "127.0.0.1" : host;
    assert.ok(!inRange(denyNet, own));
    for (const text of ["127.0.0.2", "127.0.0.0", "10.7.0.8", "10.7.0.10", "10.255.0.1"]) {
      assert.ok(inRange(denyNet, text), text);
    }
    assert.equal(denyNet.includes("[::1]"), host !== "localhost");
  });
}

Deno.test("ceiling: what a private name resolves to stays reachable", () => {
  const { denyNet } = ceiling([webFetch], {}, {
    providerAddress: { host: "llm.corp", port: 80, addresses: ["192.168.3.4"] },
  });
  assert.ok(!inRange(denyNet, "192.168.3.4") && inRange(denyNet, "192.168.3.5"));
});

Deno.test("ceiling: no provider, no network; an IPv6 one stands in brackets", () => {
  assert.deepEqual(ceiling([fileRead], {}, { providerAddress: null }).net, []);
  assert.deepEqual(ceiling([fileRead], {}, { providerAddress: { host: "::1", port: 81 } }).net, ["[::1]:81"]);
});

Deno.test("ceiling: a range without an address is covered by ranges that hold everything else", () => {
  const ranges = without([parseIPv4("10.0.0.0")!, 8], parseIPv4("10.1.2.3")!).map(cidrText);
  assert.equal(ranges.length, 24);
  assert.ok(!inRange(ranges, "10.1.2.3"));
  for (const text of ["10.0.0.0", "10.1.2.2", "10.1.2.4", "10.255.255.255", "10.1.3.3"]) {
    assert.ok(inRange(ranges, text), text);
  }
  for (const text of ["9.255.255.255", "11.0.0.0"]) assert.ok(!inRange(ranges, text), text);
  assert.deepEqual(without([5, 32], 5), []);
  assert.deepEqual(without([0, 8], parseIPv4("9.0.0.0")!), [[0, 8]]);
  assert.equal(cidrText([parseIPv4("192.168.0.1")!, 32]), "192.168.0.1");
});

Deno.test("ceiling: the environment holds what children and providers need, and not everything", () => {
  for (const name of PASSED) assert.ok(HOST_ENVIRONMENT.includes(name), name);
  for (const { keyVariables } of PRESETS) {
    for (const name of keyVariables) assert.ok(HOST_ENVIRONMENT.includes(name), name);
  }
  for (
    const name of ["AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "SSH_AUTH_SOCK", "DENO_PERMISSION_BROKER_PATH"]
  ) {
    assert.ok(!HOST_ENVIRONMENT.includes(name), name);
  }
});

Deno.test("ceiling: Deno itself takes the flags, and they hold", async () => {
  using tree = makeWorktree();
  const flags = ceiling([webFetch], {}, { providerAddress: { host: "127.0.0.1", port: 9 } });
  const script = `${tree.root}/probe.ts`,
    hosts = ["127.0.0.1:9", "127.0.0.2:9", "10.0.0.1:9", "169.254.169.254:80", "[::1]:9"];
  Deno.writeTextFileSync(
    script,
    `const results: string[] = [];
     for (const host of ${JSON.stringify(hosts)}) {
       const [hostname, port] = [host.slice(0, host.lastIndexOf(":")).replace(/[\\[\\]]/g, ""), Number(host.split(":").at(-1))];
       try { (await Deno.connect({ hostname, port })).close(); results.push("open"); }
       catch (error) { results.push(error instanceof Deno.errors.NotCapable ? "denied" : "tried"); }
     }
     console.log(results.join(" "));`,
  );
  // Only addresses of this machine are tried without a denial in the way.
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--no-prompt",
      "--no-config",
      "--allow-net",
      `--deny-net=${flags.denyNet.join(",")}`,
      script,
    ],
    env: { NO_COLOR: "1" },
  }).output();
  assert.equal(code, 0, new TextDecoder().decode(stderr));
  const [own, ...others] = new TextDecoder().decode(stdout).trim().split(" ");
  assert.notEqual(own, "denied");
  assert.deepEqual(others, Array(4).fill("denied"));
});

Deno.test("ceiling: the user's own servers stay open beside web tools", () => {
  const closed = ceiling([webFetch]).denyNet;
  for (const range of ["127.0.0.0/8", "10.0.0.0/8", "[::1]"]) assert.ok(closed.includes(range));
  const { net, denyNet } = ceiling([webFetch], {}, { ownServers: ["localhost", "searx.corp", "10.0.0.1"] });
  assert.equal(net, true);
  assert.ok(!denyNet.includes("[::1]"));
  const covers = (range: string, address: string) => {
    const [first, bits] = range.split("/") as [string, string];
    const size = 2 ** (32 - Number(bits ?? 32)), start = parseIPv4(first)!, value = parseIPv4(address)!;
    return value >= start && value < start + size;
  };
  const denied = (address: string) =>
    denyNet.some((range) => !range.startsWith("[") && covers(range, address));
  for (const address of ["127.0.0.1", "10.0.0.1"]) assert.equal(denied(address), false, address);
  for (const address of ["127.0.0.2", "10.0.0.2", "10.255.255.255", "192.168.0.1", "169.254.169.254"]) {
    assert.equal(denied(address), true, address);
  }
});
