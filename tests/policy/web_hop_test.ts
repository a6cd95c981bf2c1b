import assert from "node:assert/strict";
import { PolicyDenied } from "../../src/errors.ts";
import type { PolicyInput } from "../../src/policy/tool_policy.ts";
import { compileHop, decideAddresses, decideHop } from "../../src/policy/web_hop.ts";
import { inputOf } from "./_fixtures.ts";

const input = (web: Partial<{ hosts: string[]; private: boolean }> = {}, more: Partial<PolicyInput> = {}) =>
  inputOf({ web: { hosts: [], private: false, ...web } }, more);

Deno.test("hop: what a worker gets for each kind of address", () => {
  for (
    const [addresses, settings, consented, net, opened] of [
      [["8.8.8.8"], {}, false, ["8.8.8.8:80"], []],
      [["10.0.0.1"], {}, false, null, []],
      [["10.0.0.1"], {}, true, ["10.0.0.1:80"], ["10.0.0.1"]],
      [["10.0.0.1", "8.8.8.8"], {}, false, ["8.8.8.8:80"], []],
      [["10.0.0.1", "8.8.8.8"], {}, true, ["8.8.8.8:80", "10.0.0.1:80"], ["10.0.0.1"]],
      [["169.254.169.254"], {}, true, null, []],
      [["169.254.169.254", "10.0.0.1"], {}, true, ["10.0.0.1:80"], ["10.0.0.1"]],
      [["169.254.169.254"], { private: true }, false, ["169.254.169.254:80"], "all"],
      [["::1"], { private: true }, false, ["[::1]:80"], "all"],
      [[], { private: true }, true, null, []],
      [["nonsense"], {}, true, null, []],
      [["1.1.1.1", "1.1.1.2", "1.1.1.3", "1.1.1.4", "1.1.1.5"], {}, false, [
        "1.1.1.1:80",
        "1.1.1.2:80",
        "1.1.1.3:80",
        "1.1.1.4:80",
      ], []],
    ] as const
  ) {
    for (const open of [false, true]) {
      const compile = () => compileHop("http://x.example/p", addresses, input(settings, { open }), consented);
      if (net === null) assert.throws(compile, PolicyDenied);
      else {
        const scope = compile();
        assert.deepEqual(scope.permissions, { read: [], write: [], run: [], env: [], net });
        assert.deepEqual(scope.opened, opened);
        assert.deepEqual([scope.url, scope.host, scope.port], ["http://x.example/p", "x.example", 80]);
      }
    }
  }
});

Deno.test("hop: URLs that are refused compile to nothing, whoever said yes", () => {
  for (const url of ["file:///x", "http://u@x.example/", "http://metadata.google.internal/", "nonsense"]) {
    assert.throws(() => compileHop(url, ["8.8.8.8"], input({}, { open: true }), true), PolicyDenied);
  }
  assert.throws(
    () => compileHop("http://y.example/", ["8.8.8.8"], input({ hosts: ["x.example"] }), true),
    PolicyDenied,
  );
});

Deno.test("hop: a configured host is beside hosts and private, but keeps its scheme", () => {
  const strict = input({ hosts: ["x.example"] }), configured = { configured: true };
  assert.equal(decideHop("http://127.0.0.1:8080/", strict, configured).action, "allow");
  assert.equal(decideHop("ftp://127.0.0.1/", strict, configured).action, "deny");
  const verdict = decideHop("http://s.example/", strict, configured);
  assert.equal(decideAddresses(verdict, ["10.0.0.1"], strict, configured).action, "allow");
  assert.deepEqual(
    compileHop("http://s.example/", ["10.0.0.1"], strict, false, configured).permissions.net,
    ["10.0.0.1:80"],
  );
});

Deno.test("hop: the reason tells a redirect, without query and secrets", () => {
  const { action, reason } = decideHop("http://127.0.0.1/in?token=SECRET", input(), {
    from: "http://x.example/a?key=SECRET#f",
  });
  assert.equal(action, "ask");
  assert.equal(
    reason,
    "http://x.example/a redirects to http://127.0.0.1/in: 127.0.0.1 is this machine or a private network",
  );
  const verdict = decideHop("http://y.example/?s=SECRET", input());
  const found = decideAddresses(verdict, ["10.0.0.1"], input(), { from: "http://x.example/" });
  assert.equal(found.action, "ask");
  assert.doesNotMatch(found.reason, /SECRET/);
});

Deno.test("hop: of a name's addresses the best one decides", () => {
  const verdict = decideHop("http://x.example/", input());
  for (
    const [addresses, action] of [
      [["8.8.8.8", "10.0.0.1", "169.254.1.1"], "allow"],
      [["169.254.1.1", "10.0.0.1"], "ask"],
      [["169.254.1.1"], "deny"],
      [[], "deny"],
    ] as const
  ) assert.equal(decideAddresses(verdict, addresses, input()).action, action);
});
