import assert from "node:assert/strict";
import type { PathRule } from "../../src/config/settings.ts";
import { ConfigError } from "../../src/errors.ts";
import { compileSegment, escapeGlob, expandBraces, fold, matches, namesOf } from "../../src/policy/_glob.ts";
import { compileRule, compileRules, guardRules, ruleFor, rulePath } from "../../src/policy/path_rules.ts";
import { systemLinks } from "../../src/policy/worktree.ts";
import { RuleSet } from "../../src/sandbox/_match.ts";
import { makeWorktree } from "../helpers/worktree.ts";

const base = {
  worktree: "/w/proj",
  home: "/home/u",
  configDir: "/home/u/.config/polyglav",
  realPath: (path: string) => path,
  readLink: () => {
    throw new TypeError("no link");
  },
};

function hits(pattern: string, path: string): boolean {
  const rule = compileRule({ path: pattern, access: "read", action: "deny" }, "r", false, base);
  return ruleFor([rule], "read", rulePath(path, base.worktree)) !== null;
}

const table: readonly (readonly [pattern: string, path: string, hit: boolean])[] = [
  // names at any depth
  ["*.pem", "/w/proj/a.pem", true],
  ["*.pem", "/w/proj/x/y/a.pem", true],
  ["*.pem", "/w/proj/A.PEM", true],
  ["*.pem", "/w/proj/a.pem.txt", false],
  ["*.pem", "/w/proj/x.pem/inner", true],
  ["*.pem", "/elsewhere/a.pem", true],
  [".env*", "/w/proj/.env", true],
  [".env*", "/w/proj/.environment/x", true],
  [".env*", "/w/proj/my.env", false],
  ["secret", "/w/proj/secret", true],
  ["secret", "/w/proj/secrets", false],
  ["secret/", "/w/proj/a/secret/b", true],
  ["proj", "/w/proj/a", false], // the worktree's own name is not below it
  ["w", "/w/proj/a", false],
  ["*", "/w/proj/a", true],
  ["*", "/w/proj", false],
  ["?", "/w/proj/a", true],
  ["?", "/w/proj/ab", false],
  ["?", "/w/proj/\u{1f600}", true],
  // anchored
  ["src/*.ts", "/w/proj/src/a.ts", true],
  ["src/*.ts", "/w/proj/src/x/a.ts", false],
  ["src/*.ts", "/w/proj/x/src/a.ts", false],
  ["./src/*.ts", "/w/proj/src/a.ts", true],
  ["src", "/w/proj/src/x/a.ts", true],
  ["src/", "/w/proj/src", true],
  ["src/x", "/w/proj/src/x/y/z", true],
  ["src/x", "/w/proj/src/xy", false],
  ["src/x/", "/w/proj/src/x/y", true],
  ["a/**/b", "/w/proj/a/b", true],
  ["a/**/b", "/w/proj/a/x/y/b", true],
  ["a/**/b", "/w/proj/a/x/y/c", false],
  ["a/**", "/w/proj/a", true],
  ["a/**", "/w/proj/a/x/y", true],
  ["a/**", "/w/proj/ab", false],
  ["**", "/w/proj/x", true],
  ["**", "/w/proj", true],
  ["**", "/w/other", false],
  ["**/b", "/w/proj/a/b", true],
  ["**/b", "/w/proj/b", true],
  ["**/b/c", "/w/proj/x/b/c/d", true],
  [".", "/w/proj/x", true],
  ["../other/*", "/w/other/a", true],
  ["../other/*", "/w/proj/a", false],
  // absolute and home
  ["/data/**", "/data/x", true],
  ["/data/**", "/w/proj/data/x", false],
  ["/data", "/database", false],
  ["/**", "/any/thing", true],
  ["/", "/any/thing", true],
  ["~/notes", "/home/u/notes/a", true],
  ["~", "/home/u/x", true],
  ["~/*.txt", "/home/u/a.txt", true],
  ["~/*.txt", "/home/u/x/a.txt", false],
  ["~x", "/w/proj/~x", true],
  // classes, braces, escapes
  ["[ab].txt", "/w/proj/a.txt", true],
  ["[!ab].txt", "/w/proj/a.txt", false],
  ["[^ab].txt", "/w/proj/c.txt", true],
  ["[A-C]x", "/w/proj/bx", true],
  ["[]]x", "/w/proj/]x", true],
  ["[a", "/w/proj/[a", true],
  ["a[/]b", "/w/proj/a[/]b", true],
  ["{a,b}.txt", "/w/proj/b.txt", true],
  ["{a,b}.txt", "/w/proj/c.txt", false],
  ["{src,lib/{x,y}}/*.ts", "/w/proj/lib/y/a.ts", true],
  ["{a}", "/w/proj/{a}", true],
  ["{,x}a", "/w/proj/a", true],
  ["\\*", "/w/proj/*", true],
  ["\\*", "/w/proj/a", false],
  ["a**b", "/w/proj/axxb", true],
  ["a**b", "/w/proj/ax/xb", false],
  // case and Unicode
  ["Stra\u00dfe", "/w/proj/STRASSE", true],
  ["caf\u00e9", "/w/proj/cafe\u0301", true],
  ["\u212aey", "/w/proj/key", true],
  ["\u017fecret", "/w/proj/SECRET", true],
  [".git", "/w/proj/.g\u200dit/x", true],
  [".git", "/w/proj/\ufeff.git", true],
];
for (const [pattern, path, hit] of table) {
  Deno.test(`path rules: ${JSON.stringify(pattern)} ${hit ? "covers" : "does not cover"} ${JSON.stringify(path)}`, () => {
    assert.equal(hits(pattern, path), hit);
  });
}

Deno.test("path rules: one that cannot be understood is an error", () => {
  const good: PathRule = { path: "a", access: "read", action: "deny" };
  const bad: unknown[] = [
    { ...good, path: "" },
    { ...good, path: "  " },
    { ...good, path: 5 },
    { ...good, path: "a\0" },
    { ...good, access: "list" },
    { ...good, action: "no" },
    { ...good, action: undefined },
    null,
    "a",
    { ...good, path: "{a,b}".repeat(9) },
  ];
  for (const rule of bad) {
    assert.throws(() => compileRules([rule as PathRule], base), ConfigError, JSON.stringify(rule));
  }
  assert.throws(() => compileRules({} as PathRule[], base), ConfigError);
  assert.throws(() => compileRules([good, bad[0] as PathRule], base), /path_rules\[1\]/);
});

Deno.test("path rules: a pattern through a link covers the place that the link leads to", () => {
  using tree = makeWorktree({ files: { "real/a.txt": "" }, links: { data: "real" } });
  const real = { ...base, ...systemLinks, worktree: tree.work, home: tree.home };
  const rule = compileRule({ path: "data/*.txt", access: "read", action: "deny" }, "r", false, real);
  for (const path of ["real/a.txt", "data/a.txt"]) {
    assert.ok(ruleFor([rule], "read", rulePath(`${tree.work}/${path}`, tree.work)), path);
  }
});

Deno.test("path rules: a worktree whose name holds wildcards is taken literally", () => {
  const odd = { ...base, worktree: "/w/[a]*{b,c}?" };
  const rule = compileRule({ path: "src/*.ts", access: "read", action: "deny" }, "r", false, odd);
  assert.ok(ruleFor([rule], "read", rulePath("/w/[a]*{b,c}?/src/a.ts", odd.worktree)));
  assert.equal(ruleFor([rule], "read", rulePath("/w/a/src/a.ts", odd.worktree)), null);
  assert.equal(ruleFor([rule], "read", rulePath("/w/[a]xb?/src/a.ts", odd.worktree)), null);
});

Deno.test("path rules: an escaped name matches itself alone", () => {
  for (const name of ["*", "?", "[a]", "{a,b}", "\\", "a\\*b", "[!x]", "]"]) {
    const pattern = escapeGlob(name);
    assert.deepEqual(expandBraces(pattern), [pattern]);
    assert.ok(matches([compileSegment(pattern)], namesOf(name)), name);
    assert.ok(!matches([compileSegment(pattern)], namesOf("a")), name);
  }
});

Deno.test("path rules: a hostile pattern takes no time that grows with its wildcards", () => {
  const name = "a".repeat(250), path = Array(200).fill(name).join("/");
  const stars = compileSegment("*a".repeat(100) + "b");
  assert.ok(!matches([stars], namesOf(name)));
  const deep = Array(40).fill("**").flatMap((segment) => [segment, "*a*"]).map(compileSegment);
  assert.ok(!matches([...deep, compileSegment("z")], namesOf(path)));
  assert.throws(() => expandBraces("{a,b}".repeat(20)), RangeError);
  assert.equal(expandBraces("{".repeat(2000)).length, 1);
});

Deno.test("path rules: folding is stable", () => {
  for (
    const text of ["a", "\u00c4", "\u1e9e", "\u0130", "\u03c2", "\ufb01x", "\u212a", "e\u0301", "\u{10400}"]
  ) {
    assert.equal(fold(fold(text)), fold(text), text);
    assert.equal(fold(text.toUpperCase()), fold(text), text);
  }
});

Deno.test("path rules: the guard's own matcher comes to the same answers", () => {
  const patterns = [...new Set(table.map(([pattern]) => pattern))];
  const paths = [...new Set(table.map(([, path]) => path))].filter((path) => path.startsWith("/w/proj"));
  let compared = 0;
  for (const action of ["deny", "ask", "allow"] as const) {
    for (const pattern of patterns) {
      const rules = compileRules([{ path: pattern, access: "read", action }], base);
      const guard = new RuleSet(guardRules(rules, base.worktree), [base.worktree]);
      for (const path of paths) {
        const ours = ruleFor(rules, "read", rulePath(path, base.worktree));
        assert.equal(guard.decide(path, "read").action, ours?.rule.action ?? "allow", `${pattern} ${path}`);
        compared++;
      }
    }
  }
  assert.ok(compared > 5000);
});

Deno.test("path rules: random rules and paths, judged by both matchers", () => {
  let state = 7;
  const pick = <T>(list: readonly T[]): T => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return list[Math.floor(state / 65536) % list.length]!;
  };
  const bits = ["a", "b", "*", "?", "**", "[ab]", "[!a]", ".x", "A", "{a,b}", "{*,c}"];
  for (let i = 0; i < 400; i++) {
    const user = Array.from({ length: 3 }, (): PathRule => {
      const segments = Array.from({ length: pick([1, 2, 3]) }, () => pick(bits) + pick(["", "", pick(bits)]));
      return {
        path: pick(["", "", "/w/proj/", "./", "**/"]) + segments.join("/") + pick(["", "", "/"]),
        access: pick(["read", "write"]),
        action: pick(["allow", "ask", "deny"]),
      };
    });
    const rules = compileRules(user, base),
      guard = new RuleSet(guardRules(rules, base.worktree), [base.worktree]);
    for (let j = 0; j < 20; j++) {
      const path = `/w/proj/${
        Array.from({ length: pick([1, 2, 3, 4]) }, () => pick(["a", "b", "c", "ab", ".x", "B", "ax", "bb"]))
          .join("/")
      }`;
      for (const access of ["read", "write"] as const) {
        const ours = ruleFor(rules, access, rulePath(path, base.worktree));
        assert.equal(
          guard.decide(path, access).action,
          ours?.rule.action ?? "allow",
          JSON.stringify({ user, path, access }),
        );
      }
    }
  }
});
