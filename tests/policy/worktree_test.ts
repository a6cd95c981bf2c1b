import assert from "node:assert/strict";
import { isShare, windowsProblem } from "../../src/policy/_windows.ts";
import { absolutePath, locate, type PathBase, systemLinks, textProblem } from "../../src/policy/worktree.ts";
import { makeWorktree, type TestTree } from "../helpers/worktree.ts";

function baseOf(tree: TestTree): PathBase {
  return { worktree: tree.work, home: tree.home, ...systemLinks };
}

const LINKS = {
  "in": "real",
  "a-link.txt": "real/a.txt",
  "out": "../outside",
  "out-file": "../outside/secret.txt",
  "deep/out": "../../outside",
  "absolute": "/",
  "dangling-in": "real/later.txt",
  "dangling-out": "../outside/later.txt",
  "dangling-folder": "../outside/no/such/folder",
  "chain1": "chain2",
  "chain2": "chain3",
  "chain3": "../outside/later.txt",
  "loop": "loop",
  "loop1": "loop2",
  "loop2": "loop1",
  "real/up": "..",
  "self": ".",
};

const rows: readonly (readonly [path: string, canonical: string, inside: boolean])[] = [
  ["real/a.txt", "work/real/a.txt", true],
  ["./real/./a.txt", "work/real/a.txt", true],
  ["real/../real/a.txt", "work/real/a.txt", true],
  ["real//a.txt", "work/real/a.txt", true],
  [".", "work", true],
  ["..", "", false],
  ["../work", "work", true],
  ["../work/real", "work/real", true],
  ["../workshop/a", "workshop/a", false],
  ["../outside/secret.txt", "outside/secret.txt", false],
  ["new/folder/file.txt", "work/new/folder/file.txt", true],
  ["real/a.txt/below-a-file", "work/real/a.txt/below-a-file", true],
  ["in/a.txt", "work/real/a.txt", true],
  ["in/new.txt", "work/real/new.txt", true],
  ["a-link.txt", "work/real/a.txt", true],
  ["out", "outside", false],
  ["out/secret.txt", "outside/secret.txt", false],
  ["out/new/x.txt", "outside/new/x.txt", false],
  ["out-file", "outside/secret.txt", false],
  ["deep/out/secret.txt", "outside/secret.txt", false],
  ["dangling-in", "work/real/later.txt", true],
  ["dangling-out", "outside/later.txt", false],
  ["dangling-out/below", "outside/later.txt/below", false],
  ["dangling-folder/x", "outside/no/such/folder/x", false],
  ["chain1", "outside/later.txt", false],
  ["real/up/real/up/real/a.txt", "work/real/a.txt", true],
  ["self/self/out/secret.txt", "outside/secret.txt", false],
  ["missing/../out/secret.txt", "outside/secret.txt", false],
  ["missing/../dangling-out", "outside/later.txt", false],
  // `..` is read as text, as Deno's own file calls do
  ["out/../real/a.txt", "work/real/a.txt", true],
  ["~", "home", false],
  ["~/notes", "home/notes", false],
  ["~/../work/real/a.txt", "work/real/a.txt", true],
  ["./~/x", "work/~/x", true],
  ["~user/x", "work/~user/x", true],
  ["a b\t\u00e9\n'\"$(x)", "work/a b\t\u00e9\n'\"$(x)", true],
];

Deno.test("worktree: where paths lead", async (t) => {
  using tree = makeWorktree({
    files: { "real/a.txt": "a" },
    outside: { "secret.txt": "s" },
    links: LINKS,
  });
  for (const [path, canonical, inside] of rows) {
    await t.step(JSON.stringify(path), () => {
      const place = locate(path, baseOf(tree));
      assert.ok(!("problem" in place), JSON.stringify(place));
      assert.equal(place.path, canonical === "" ? tree.root : `${tree.root}/${canonical}`);
      assert.equal(place.inside, inside);
      assert.equal(place.unseen, null);
    });
  }
  await t.step("absolute paths to the same places", () => {
    for (const [path, canonical, inside] of rows) {
      if (path.startsWith("~")) continue;
      const place = locate(`${tree.work}/${path}`, baseOf(tree));
      assert.ok(!("problem" in place));
      assert.equal(place.path, canonical === "" ? tree.root : `${tree.root}/${canonical}`);
      assert.equal(place.inside, inside);
    }
  });
  await t.step("links in a circle are refused", () => {
    for (const path of ["loop", "loop/x", "loop1", "loop2/a/b"]) {
      assert.ok("problem" in locate(path, baseOf(tree)), path);
    }
  });
  await t.step("a link to the root leads out", () => {
    const place = locate("absolute/etc", baseOf(tree));
    assert.ok(!("problem" in place) && !place.inside);
  });
});

Deno.test("worktree: a long chain of dangling links ends", () => {
  using tree = makeWorktree();
  for (let i = 0; i < 60; i++) Deno.symlinkSync(`l${i + 1}`, `${tree.work}/l${i}`);
  assert.ok("problem" in locate("l0", baseOf(tree)));
});

Deno.test("worktree: a worktree reached by a link is compared by what it is", () => {
  using tree = makeWorktree({ files: { "a.txt": "a" } });
  Deno.symlinkSync(tree.work, `${tree.root}/alias`);
  const place = locate(`${tree.root}/alias/a.txt`, baseOf(tree));
  assert.ok(!("problem" in place) && place.inside);
  assert.equal(place.path, `${tree.work}/a.txt`);
});

Deno.test("worktree: a folder that may not be looked into counts as outside", () => {
  const denied = () => {
    throw new Deno.errors.PermissionDenied("no");
  };
  const place = locate("a/b", { worktree: "/w", home: "/h", realPath: denied, readLink: denied });
  assert.ok(!("problem" in place) && !place.inside && place.unseen !== null);
});

Deno.test("worktree: an error that nobody expects is a refusal, not an exception", () => {
  for (const error of [new Error("File name too long (os error 36)"), new TypeError("x"), "text", null]) {
    const broken = () => {
      throw error;
    };
    const place = locate("a", { worktree: "/w", home: "/h", realPath: broken, readLink: broken });
    assert.ok("problem" in place);
  }
});

Deno.test("worktree: texts that are no paths", () => {
  for (
    const path of [
      "",
      "a\0b",
      "\0",
      "\ud800",
      "a".repeat(256),
      "\u00e9".repeat(128),
      "a/".repeat(2049),
      5,
      null,
      undefined,
      {},
      [],
    ]
  ) {
    assert.notEqual(textProblem(path), null, JSON.stringify(path)?.slice(0, 40));
  }
  for (
    const path of [
      "a",
      " ",
      "a".repeat(255),
      "\u00e9".repeat(127),
      "\u{1f600}".repeat(60),
      "a\nb",
      "-",
      "...",
    ]
  ) {
    assert.equal(textProblem(path), null, path);
  }
});

Deno.test("worktree: every path that was ever refused names its reason in one line", () => {
  for (const path of ["", "a\0b", "a".repeat(300), 7]) {
    const place = locate(path, { worktree: "/w", home: "/h", ...systemLinks });
    assert.ok("problem" in place && /^[^\n]+$/.test(place.problem));
  }
});

Deno.test("worktree: absolute paths are texts only", () => {
  const base = { worktree: "/w/x", home: "/home/u" };
  const table = {
    "a": "/w/x/a",
    "/a/../b": "/b",
    "~": "/home/u",
    "~/": "/home/u",
    "~//etc": "/home/u/etc",
    "../..": "/",
    "../../../..": "/",
  };
  for (const [path, expected] of Object.entries(table)) {
    assert.equal(absolutePath(path, base), expected, path);
  }
});

Deno.test("worktree: under a process that may read the worktree alone, what leads out is found out", async () => {
  using tree = makeWorktree({
    files: { "real/a.txt": "a" },
    outside: { "secret.txt": "s" },
    links: LINKS,
  });
  const script = `${tree.root}/probe.ts`;
  const module = new URL("../../src/policy/worktree.ts", import.meta.url).href;
  Deno.writeTextFileSync(
    script,
    `import { locate, systemLinks } from ${JSON.stringify(module)};
     const [worktree, home, ...paths] = Deno.args;
     console.log(JSON.stringify(paths.map((path) => locate(path, { worktree, home, ...systemLinks }))));`,
  );
  const paths = rows.map(([path]) => path).filter((path) => !path.includes("\n"));
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--no-prompt",
      "--no-config",
      `--allow-read=${tree.work}`,
      script,
      tree.work,
      tree.home,
      ...paths,
      "loop1",
    ],
    env: { NO_COLOR: "1" },
  }).output();
  assert.equal(code, 0, new TextDecoder().decode(stderr));
  const places = JSON.parse(new TextDecoder().decode(stdout)) as ReturnType<typeof locate>[];
  assert.ok("problem" in places.pop()!);
  places.forEach((place, index) => {
    const row = rows.find(([path]) => path === paths[index])!;
    assert.ok(!("problem" in place), row[0]);
    assert.equal(place.inside, row[2], `${row[0]}: ${JSON.stringify(place)}`);
    if (row[2]) assert.equal(place.path, `${tree.root}/${row[1]}`);
  });
});

const windows: readonly (readonly [path: string, refused: boolean])[] = [
  ["C:\\work\\a.txt", false],
  ["c:/work/a.txt", false],
  ["src\\a.txt", false],
  [".\\..\\a", false],
  ["\\\\server\\share\\a", false],
  ["\\\\?\\C:\\work\\a", true],
  ["\\\\.\\PhysicalDrive0", true],
  ["//?/C:/work", true],
  ["\\??\\C:\\work", true],
  ["C:a.txt", true],
  ["C:", true],
  ["a.txt:stream", true],
  ["a.txt::$DATA", true],
  [".git::$INDEX_ALLOCATION/config", true],
  ["C:\\work\\a.txt:evil", true],
  ["nul", true],
  ["NUL.txt", true],
  ["src/Con", true],
  ["com1", true],
  ["COM\u00b9", true],
  ["lpt9.log.txt", true],
  ["conin$", true],
  ["aux .txt", true],
  ["console.log", false],
  ["com10", false],
  ["null", false],
  [".git.", true],
  [".git ", true],
  [".git . .", true],
  ["a./b", true],
  ["...", true],
  ["a*b", true],
  ["a?b", true],
  ["a|b", true],
  ["a\u0001b", true],
  [".gitignore", false],
  ["a b", false],
];
for (const [path, refused] of windows) {
  Deno.test(`worktree on Windows: ${JSON.stringify(path)} is ${refused ? "refused" : "a path"}`, () => {
    assert.equal(windowsProblem(path) !== null, refused, String(windowsProblem(path)));
  });
}

Deno.test("worktree on Windows: shares are told from other paths", () => {
  for (const share of ["\\\\server\\share", "//server/share/a", "\\/server/x"]) {
    assert.ok(isShare(share), share);
  }
  for (const path of ["C:\\a", "/a", "a", "\\a", "\\\\?\\C:\\a"]) assert.ok(!isShare(path), path);
});
