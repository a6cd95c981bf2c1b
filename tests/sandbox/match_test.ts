import assert from "node:assert/strict";
import type { GuardRule } from "../../src/policy/types.ts";
import { RuleSet } from "../../src/sandbox/_match.ts";

/** Whether one rule matches a path; the worktree is /w. */
function matches(pattern: string, path: string): boolean {
  const rules: GuardRule[] = [{ pattern, access: "read", action: "deny" }];
  return new RuleSet(rules, ["/w"]).decide(path, "read").pattern !== null;
}

Deno.test("a pattern without a slash matches any name below the root, and what lies below it", () => {
  const yes = ["/w/.env", "/w/a/.env", "/w/.ENV", "/w/.env/x", "/w/a/.Env/b/c"];
  const no = ["/w/.envx", "/w/x.env", "/w/env", "/w"];
  for (const path of yes) assert.ok(matches(".env", path), path);
  for (const path of no) assert.ok(!matches(".env", path), path);
});

Deno.test("names of the root itself and above it do not count; outside every root nothing does", () => {
  const rules: GuardRule[] = [{ pattern: "secret*", access: "read", action: "deny" }];
  const set = new RuleSet(rules, ["/secrets/w", "/other"]);
  assert.equal(set.decide("/secrets/w/a", "read").action, "allow");
  assert.equal(set.decide("/secrets/w", "read").action, "allow");
  assert.equal(set.decide("/secrets/w/secret", "read").action, "deny");
  assert.equal(set.decide("/other/x/secret/y", "read").action, "deny");
  assert.equal(set.decide("/elsewhere/secret", "read").action, "allow");
});

Deno.test("stars, question marks, sets and braces", () => {
  const cases: [pattern: string, yes: string[], no: string[]][] = [
    ["*.pem", ["/w/a.pem", "/w/.pem", "/w/A.PEM", "/w/d/x.pem/y"], ["/w/pem", "/w/a.pem.txt"]],
    [".env*", ["/w/.env", "/w/.env.local", "/w/d/.environment"], ["/w/a.env"]],
    ["id_??a", ["/w/id_rsa", "/w/id_dsa"], ["/w/id_ecdsa", "/w/id_sa"]],
    ["a*b*c", ["/w/abc", "/w/axxbxxc", "/w/abcbc"], ["/w/abcd", "/w/acb"]],
    ["[a-c]x", ["/w/ax", "/w/Cx"], ["/w/dx", "/w/x"]],
    ["[!a-c]x", ["/w/dx"], ["/w/ax", "/w/x"]],
    ["[]a]", ["/w/]", "/w/a"], ["/w/b"]],
    ["[a", ["/w/[a"], ["/w/a"]],
    ["{a,b*,c{d,e}}", ["/w/a", "/w/bx", "/w/cd", "/w/ce"], ["/w/c", "/w/d", "/w/{a"]],
    ["{a}", ["/w/{a}"], ["/w/a"]],
    ["\\*", ["/w/*"], ["/w/x"]],
    ["x\\", ["/w/x\\"], ["/w/x"]],
    ["*", ["/w/a", "/w/.hidden"], ["/w"]],
  ];
  for (const [pattern, yes, no] of cases) {
    for (const path of yes) assert.ok(matches(pattern, path), `${pattern} should match ${path}`);
    for (const path of no) assert.ok(!matches(pattern, path), `${pattern} should not match ${path}`);
  }
});

Deno.test("absolute patterns, with ** for any number of names", () => {
  const cases: [pattern: string, yes: string[], no: string[]][] = [
    ["/w/.git", ["/w/.git", "/w/.git/hooks/x", "/w/.GIT/config"], ["/w/a/.git", "/w/.github", "/w"]],
    ["/w/.git/**", ["/w/.git/hooks/x", "/w/.git"], ["/w/a/.git/x", "/w"]],
    ["/w/**/.git/**", ["/w/.git/x", "/w/a/b/.git/x"], ["/w/a", "/x/.git/a"]],
    ["/w/*/secret", ["/w/a/secret", "/w/a/secret/b"], ["/w/secret", "/w/a/b/secret"]],
    ["/**/secret", ["/secret", "/x/y/secret", "/w/secret"], ["/w/secrets"]],
    ["/w/a/**/b/**/c", ["/w/a/b/c", "/w/a/x/b/y/z/c/d", "/w/a/b/b/c"], ["/w/a/b", "/w/a/c"]],
    ["/w/dir/", ["/w/dir", "/w/dir/x"], ["/w/dirx"]],
    ["/home/*/.ssh", ["/home/u/.ssh/id"], ["/home/.ssh"]],
    ["/", ["/w/a", "/"], []],
  ];
  for (const [pattern, yes, no] of cases) {
    for (const path of yes) assert.ok(matches(pattern, path), `${pattern} should match ${path}`);
    for (const path of no) assert.ok(!matches(pattern, path), `${pattern} should not match ${path}`);
  }
});

Deno.test("the last rule that matches decides, whatever the kind of its pattern", () => {
  const rules: GuardRule[] = [
    { pattern: ".env*", access: "read", action: "ask" },
    { pattern: ".env.example", access: "read", action: "allow" },
    { pattern: "/w/private/**", access: "read", action: "deny" },
    { pattern: "/w/private/open", access: "read", action: "allow" },
    { pattern: "*", access: "write", action: "deny" },
  ];
  const set = new RuleSet(rules, ["/w"]);
  const said = (path: string, access: "read" | "write" = "read") => set.decide(path, access).action;
  assert.equal(said("/w/.env"), "ask");
  assert.equal(said("/w/.env.example"), "allow");
  assert.equal(said("/w/private/.env.example"), "deny");
  assert.equal(said("/w/private/open/x"), "allow");
  assert.equal(said("/w/private/open/.env"), "allow");
  assert.equal(said("/w/a"), "allow");
  assert.equal(said("/w/a", "write"), "deny");
  // Asked again, the answers come from what was remembered of the directory.
  assert.equal(said("/w/.env"), "ask");
  assert.equal(said("/w/private/open/y"), "allow");
  assert.deepEqual(set.decide("/w/private/x", "read"), { action: "deny", pattern: "/w/private/**" });
});

Deno.test("letters of other cases, compositions and invisible code points are the same name", () => {
  for (const name of ["\u212aEY", "kEy", "k\u200cey", "\ufeffkey"]) {
    assert.ok(matches("key", `/w/${name}`), name);
  }
  assert.ok(matches("stra\u00dfe", "/w/STRASSE"));
  assert.ok(matches("caf\u00e9", "/w/CAFE\u0301"));
  assert.ok(matches("cafe\u0301", "/w/caf\u00e9"));
  assert.ok(!matches("cafe", "/w/caf\u00e9"));
});

Deno.test("a hostile pattern costs no more than pattern times path", () => {
  const name = "a".repeat(250), deep = `/w/${"a/".repeat(1500)}b`;
  assert.ok(!matches(`${"a*".repeat(120)}b`, `/w/${name}`));
  assert.ok(!matches(`/w/${"**/a/".repeat(200)}c`, deep));
  assert.throws(() => matches("{a,b}".repeat(12), "/w/a"), RangeError);
});
